"""Reading a saved learner, of whatever kind: looked at before it is used, and nothing is ever unpickled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from pulens.errors import InputError
from pulens.keywords import typed
from pulens.learning.learners.saving.checks import (
    check_answer,
    check_names,
    check_threads,
    check_width,
    damaged,
    in_words,
)
from pulens.learning.learners.saving.folder import COLUMNS, FACTS, read_facts


@typed
def load(path: str | Path, *, backbone: Any = None, trusted: Sequence[str] = ()) -> Any:
    """Read a learner that :meth:`save` wrote; with the columns of a table before it, it is a ``Pipeline``.

    ``backbone`` is needed when the learner was trained with a module or function of your own: code is not stored.
    ``trusted`` names types that a stored scikit-learn model may be made of, beside those that are safe to load from
    anybody; the error without it names them.
    """
    folder = Path(path)
    facts = read_facts(folder)
    # a mistake in a network of the user's own is shown as it is
    with in_words(folder) if backbone is None else nullcontext():
        learner = _loaded(folder, facts, backbone, trusted)
        if not (folder / COLUMNS).exists():
            return learner
        from pulens.learning.learners.tables.pipeline import restored_pipeline

        return restored_pipeline(folder, learner)


def _loaded(folder: Path, facts: dict[str, Any], backbone: Any, trusted: Sequence[str]) -> Any:
    from pulens.learning.learners import find

    learner_class = find(facts["learner"])  # says what is not installed, before anything needs it
    # JSON knows no tuples
    parameters = {key: tuple(value) if isinstance(value, list) else value for key, value in facts["parameters"].items()}
    if parameters.get("backbone", "") is None:
        if backbone is None:
            raise InputError(
                f"{folder} was trained with a network of your own, whose code is not stored. Give it again: "
                "load(path, backbone=...)."
            )
        parameters["backbone"] = backbone
    try:
        learner = learner_class(**parameters)
    except TypeError as error:
        raise damaged(folder / FACTS, str(error)) from error
    check_threads(folder / FACTS, learner)
    if "estimator" in parameters:  # around a scikit-learn classifier
        from pulens.learning.learners.saving.models import restore_models

        restore_models(learner, facts, folder, trusted)
    elif "backbone" in parameters:
        from pulens.learning.learners.saving.networks import restore_networks

        restore_networks(learner, facts, folder)
    else:
        from pulens.learning.learners.saving.arrays import restore

        restore(learner, facts, folder)
    learner.classes_ = np.array([0, 1])
    width = _width(learner, facts, folder)
    if facts["feature_names"]:
        learner.feature_names_in_ = np.array(facts["feature_names"], dtype=object)
    # a classifier of the user's own may want other rows than numbers, a network was tried when it was read
    categories = hasattr(learner, "encoding_") and learner.encoding_.has_categories  # no row of zeros has any
    if getattr(learner, "estimator", None) is None and not hasattr(learner, "network_") and not categories:
        check_answer(folder, learner, width)
    return learner


def _width(learner: Any, facts: dict[str, Any], folder: Path) -> int:
    """The number of features, which names of columns must agree with."""
    width = math.prod(learner.row_shape_) if hasattr(learner, "row_shape_") else learner.n_features_in_
    check_width(folder / FACTS, "the number of features", width)
    check_names(folder / FACTS, "feature_names", facts["feature_names"], width)
    check_names(folder / FACTS, "columns_", getattr(learner, "columns_", []), width)
    return int(width)
