"""Learners around scikit-learn classifiers on disk: models by skops, everything else as JSON. Nothing is unpickled."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pulens.atomic_write import whole_folder
from pulens.errors import InputError, MissingDependencyError, OtherVersionWarning, listed
from pulens.learning.learners.saving.checks import (
    check_attribute,
    check_number,
    check_packed,
    check_prior,
    check_width,
    damaged,
    unreadable,
)
from pulens.learning.learners.saving.folder import FACTS, MODELS, check_target, described
from pulens.learning.learners.saving.repacked import repacked

ELSEWHERE = ("classes_", "feature_names_in_", "n_features_in_")  # said in the JSON, or always the same
VERSION = re.compile(r"[0-9]+(\.[0-9]+)+[0-9A-Za-z.+]*", re.ASCII)


def save(learner: Any, path: Path) -> Path:
    """Write a folder, whole or not at all; a folder that holds something else is never overwritten."""
    check_target(path)
    skops = find_skops()
    parameters = learner.get_params(deep=False)
    fitted = {name: value for name, value in vars(learner).items() if name.endswith("_") and name not in ELSEWHERE}
    facts = described(learner, {**parameters, "estimator": None}, {"n_features_in_": int(learner.n_features_in_)})
    text = json.dumps(facts, indent=2, allow_nan=False) + "\n"
    with whole_folder(path) as temporary:
        try:
            packed = repacked(skops.dumps({"estimator": parameters["estimator"], "fitted": fitted}))
            (temporary / MODELS).write_bytes(packed)
        except OSError:  # a full disk is said in whole_folder's words
            raise
        except Exception as error:  # whatever a classifier of somebody's own may raise
            raise InputError(
                f"{parameters['estimator']!r} cannot be saved: {error}. Models of scikit-learn and of libraries that "
                "keep its rules can."
            ) from error
        (temporary / FACTS).write_text(text, encoding="utf-8")
    return path


def restore_models(learner: Any, facts: dict[str, Any], folder: Path, trusted: Sequence[str]) -> None:
    """Put the stored models into an unfitted learner with the stored parameters."""
    skops, file = find_skops(), folder / MODELS
    check_packed(file)
    try:
        unknown = sorted(set(skops.get_untrusted_types(file=file)) - set(trusted))
        stored = None if unknown else _loaded(skops, file, trusted)
    except InputError:
        raise
    except Exception as error:  # skops builds what it is told to, and each class fails in its own way
        raise unreadable(file, error) from error
    if stored is None:
        raise InputError(
            f"{file} holds {listed(unknown)}, which a file made in bad faith could misuse. If you know where the "
            f"file comes from: load(path, trusted={unknown})."
        )
    try:
        learner.set_params(estimator=stored["estimator"])
        for name, value in stored["fitted"].items():
            setattr(learner, check_attribute(file, learner, name), value)
        learner.n_features_in_ = facts["fitted"]["n_features_in_"]
    except (KeyError, TypeError, AttributeError) as error:
        raise damaged(folder, f"{error} is missing") from error
    check_width(folder / FACTS, "n_features_in_", learner.n_features_in_)
    for name in ("cut_", "label_frequency_"):
        if getattr(learner, name, None) is not None:
            check_number(file, name, getattr(learner, name))
    check_prior(file, getattr(learner, "class_prior_", None))


def _loaded(skops: Any, file: Path, trusted: Sequence[str]) -> Any:
    """What is stored, if this scikit-learn or another that is named wrote it: saving always names it."""
    import sklearn
    from sklearn.exceptions import InconsistentVersionWarning

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", InconsistentVersionWarning)
        stored = skops.load(file, trusted=list(trusted))
    others = {one.message for one in told if isinstance(one.message, InconsistentVersionWarning)}
    for other in others:
        if not VERSION.fullmatch(str(other.original_sklearn_version)):  # "pre-0.18" where none is named
            raise damaged(file, f"a {other.estimator_name} in it does not say which scikit-learn wrote it")
    versions = sorted({str(other.original_sklearn_version) for other in others})
    if versions:
        warnings.warn(
            f"{file} was written by scikit-learn {listed(versions)}, and this is {sklearn.__version__}: its scores may "
            "differ. Train the learner again, or score with the version that wrote it.",
            OtherVersionWarning,
            stacklevel=2,
        )
    return stored


def find_skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise MissingDependencyError(
            "skops", purpose="saving and loading learners around scikit-learn classifiers", extra="skops"
        ) from None
    return skops.io
