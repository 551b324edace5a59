"""Learners without networks on disk: arrays as npz, everything else as JSON. Nothing is ever unpickled.

A learner says in ``_stored()`` which facts and arrays make it up, and takes them back in
``_restore(facts, arrays, folder)``, where it looks at them first.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from pulens.atomic_write import whole_folder
from pulens.learning.learners.saving.checks import check_packed, check_width, damaged, unreadable
from pulens.learning.learners.saving.folder import ARRAYS, FACTS, check_target, described


def save(learner: Any, path: Path) -> Path:
    """Write a folder, whole or not at all; a folder that holds something else is never overwritten."""
    check_target(path)
    fitted, arrays = learner._stored()
    fitted = {"n_features_in_": int(learner.n_features_in_), **fitted}
    text = json.dumps(described(learner, learner.get_params(deep=False), fitted), indent=2, allow_nan=False) + "\n"
    with whole_folder(path) as temporary:
        np.savez_compressed(temporary / ARRAYS, **arrays)
        (temporary / FACTS).write_text(text, encoding="utf-8")
    return path


def restore(learner: Any, facts: dict[str, Any], folder: Path) -> None:
    """Put what is stored into an unfitted learner with the stored parameters."""
    file = folder / ARRAYS
    check_packed(file)
    fitted = dict(facts["fitted"])
    learner.n_features_in_ = check_width(folder / FACTS, "n_features_in_", fitted.pop("n_features_in_", None))
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise unreadable(file, error) from error
    try:
        learner._restore(fitted, arrays, folder)
    except KeyError as error:
        raise damaged(folder, f"{error} is missing") from error
