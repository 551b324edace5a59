"""The folder of a saved learner: what may be overwritten, and what is written about a learner besides its arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pulens._version import __version__
from pulens.atomic_write import check_replaceable, words_for
from pulens.bounded_text import parse_json, read_bounded
from pulens.errors import InputError, listed

FORMAT = 1
WEIGHTS, FACTS = "weights.safetensors", "learner.json"
ARRAYS, MODELS = "arrays.npz", "models.skops"
COLUMNS = "columns.json"  # of a learner behind the columns of a table
PARTS = (WEIGHTS, FACTS, ARRAYS, MODELS, COLUMNS)


def check_target(path: Path) -> None:
    """Refuse to overwrite anything but an empty folder, or one that holds a saved learner and nothing else."""
    check_replaceable(path)
    with words_for(path):  # a name may be too long for any file
        exists = path.exists()
    if not exists:
        return
    if not path.is_dir():
        raise InputError(f"{path} exists and is not a folder. Choose another name.")
    others = sorted(entry.name for entry in path.iterdir() if not _is_part(entry))
    if others:
        raise InputError(
            f"{path} is not a saved learner and nothing else: it holds {listed(others)}, which would be lost. Choose "
            "another folder, or move it away."
        )


def _is_part(entry: Path) -> bool:
    """Whether a file was written by saving a learner, by its name."""
    return entry.is_file() and (entry.name in PARTS or entry.suffix == ".safetensors")


def described(learner: Any, parameters: dict[str, Any], fitted: dict[str, Any]) -> dict[str, Any]:
    """What is written about a learner besides its arrays."""
    return {
        "format": FORMAT,
        "pulens": __version__,
        "learner": type(learner).__name__,
        "parameters": {name: _plain(name, value) for name, value in parameters.items()},
        "fitted": {name: _plain(name, value) for name, value in fitted.items()},
        "feature_names": [str(name) for name in getattr(learner, "feature_names_in_", ())],
    }


def read_facts(folder: Path) -> dict[str, Any]:
    """What is written about the learner, of the right form."""
    if not (folder / FACTS).exists():
        raise InputError(f"{folder} is not a saved learner: there is no {FACTS} in it.")
    facts = parse_json(read_bounded(folder / FACTS), f"{folder / FACTS} could not be read")
    if not isinstance(facts, dict):
        raise InputError(f"{folder / FACTS} is not a saved learner's: it holds a {type(facts).__name__}.")
    if facts.get("format") != FORMAT:
        raise InputError(f"{folder / FACTS} has format {facts.get('format')!r}, this version of pulens reads {FORMAT}.")
    for name, kind in {"learner": str, "parameters": dict, "fitted": dict, "feature_names": list}.items():
        if not isinstance(facts.get(name), kind):
            raise InputError(f"{folder / FACTS} is damaged: {name} is missing or of the wrong kind.")
    return facts


def _plain(name: str, value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, np.generic):
        value = value.item()
    if name == "history_":  # a criterion may have been undefined in some epoch
        return [
            {key: None if isinstance(number, float) and number != number else number for key, number in entry.items()}
            for entry in value
        ]
    if hasattr(value, "value") and name == "class_prior":
        value = value.value
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    raise InputError(f"{name}={value!r} cannot be written as JSON; set it to a plain value before saving.")
