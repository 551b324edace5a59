"""Forests on disk: arrays as npz, everything else as JSON. Nothing is ever unpickled."""

from __future__ import annotations

import json
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pulens._version import __version__
from pulens.errors import InputError
from pulens.learners._growth import Tree
from pulens.learners._impurity import NodeRisk
from pulens.whole_files import whole_folder

FORMAT = 1
TREES, FACTS = "trees.npz", "learner.json"


def save(learner: Any, path: Path) -> Path:
    """Write a folder, whole or not at all; a folder that holds something else is never overwritten."""
    if path.exists() and not (path.is_dir() and ((path / FACTS).exists() or not any(path.iterdir()))):
        raise InputError(f"{path} exists and is not a saved learner. Choose another folder.")
    facts = {
        "format": FORMAT,
        "pulens": __version__,
        "learner": type(learner).__name__,
        "parameters": {name: _plain(name, value) for name, value in learner.get_params(deep=False).items()},
        "fitted": {
            "class_prior_": learner.class_prior_,
            "n_features_in_": int(learner.n_features_in_),
            "labelled": int(learner.risk_.labelled),
            "unlabelled": int(learner.risk_.unlabelled),
        },
        "feature_names": [str(name) for name in getattr(learner, "feature_names_in_", ())],
    }
    text = json.dumps(facts, indent=2, allow_nan=False) + "\n"
    arrays: dict[str, Any] = {
        field.name: np.concatenate([getattr(tree, field.name) for tree in learner.trees_]) for field in fields(Tree)
    }
    arrays["nodes"] = np.array([tree.feature.size for tree in learner.trees_])
    with whole_folder(path) as temporary:
        np.savez_compressed(temporary / TREES, **arrays)
        (temporary / FACTS).write_text(text, encoding="utf-8")
    return path


def restore(learner: Any, facts: dict[str, Any], folder: Path) -> Any:
    """Put the stored forest into an unfitted learner with the stored parameters."""
    try:
        with np.load(folder / TREES, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        ends = np.cumsum(arrays["nodes"])[:-1]
        parts = {field.name: np.split(arrays[field.name], ends) for field in fields(Tree)}
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{folder / TREES} could not be read: {error}.") from error
    learner.trees_ = [Tree(**dict(zip(parts, values, strict=True))) for values in zip(*parts.values(), strict=True)]
    fitted = facts["fitted"]
    learner.class_prior_, learner.n_features_in_ = fitted["class_prior_"], fitted["n_features_in_"]
    learner.risk_ = NodeRisk(
        fitted["labelled"], fitted["unlabelled"], fitted["class_prior_"], learner.risk, learner.loss
    )
    learner.classes_ = np.array([0, 1])
    if facts["feature_names"]:
        learner.feature_names_in_ = np.array(facts["feature_names"], dtype=object)
    return learner


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise InputError(f"{name}={value!r} cannot be written as JSON; set it to a plain value before saving.")
