"""Fitted learners on disk: weights as safetensors, everything else as JSON. Nothing is ever unpickled."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pulens._version import __version__
from pulens.errors import InputError, MissingDependencyError, listed
from pulens.whole_files import check_replaceable, whole_folder

FORMAT = 1
WEIGHTS, FACTS = "weights.safetensors", "learner.json"
ARRAYS, MODELS = "arrays.npz", "models.skops"
PARTS = (WEIGHTS, FACTS, ARRAYS, MODELS)
# what fit leaves behind besides the network
FITTED = ("cut_", "class_prior_", "best_epoch_", "history_", "row_shape_", "n_features_in_", "facts_")
FOUND = ("mean_", "deviation_", "columns_")
NEEDED = ("cut_", "class_prior_", "row_shape_")  # a network learner cannot do without


def check_target(path: Path) -> None:
    """Refuse to overwrite anything but an empty folder, or one that holds a saved learner and nothing else."""
    check_replaceable(path)
    if not path.exists():
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


def save(learner: Any, path: Path) -> Path:
    """Write a folder, whole or not at all; a folder that holds something else is never overwritten."""
    check_target(path)
    parameters = {field.name: getattr(learner, field.name) for field in fields(learner)}
    if not isinstance(parameters["backbone"], str):
        parameters["backbone"] = None  # code cannot be written down; load() is told it again
    written = (*FITTED, *FOUND, *getattr(learner, "facts_", ()))
    fitted = {name: getattr(learner, name) for name in written if hasattr(learner, name)}
    text = json.dumps(described(learner, parameters, fitted), indent=2, allow_nan=False) + "\n"
    with whole_folder(path) as temporary:
        _tensors().save_file(learner.network_.state_dict(), str(temporary / WEIGHTS))
        for name in learner._program.kept:
            _tensors().save_file(getattr(learner, f"{name}_").state_dict(), str(temporary / f"{name}.safetensors"))
        (temporary / FACTS).write_text(text, encoding="utf-8")
    return path


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


def load(path: str | Path, *, backbone: Any = None, trusted: Sequence[str] = ()) -> Any:
    """Read a learner that :meth:`save` wrote.

    ``backbone`` is needed when the learner was trained with a module or function of your own: code is not stored.
    ``trusted`` names types that a stored scikit-learn model may be made of, beside those that are safe to load from
    anybody; the error without it names them.
    """
    from pulens.learners import find

    folder = Path(path)
    facts = _facts(folder)
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
        raise InputError(f"{folder / FACTS} is damaged: {error}. Train and save the learner anew.") from error
    if "estimator" in parameters:  # around a scikit-learn classifier
        from pulens.learners._model_saving import restore_models

        restore_models(learner, facts, folder, trusted)
    elif "backbone" in parameters:
        _restore_networks(learner, facts, folder)
    else:
        from pulens.learners._array_saving import restore

        restore(learner, facts, folder)
    learner.classes_ = np.array([0, 1])
    if facts["feature_names"]:
        learner.feature_names_in_ = np.array(facts["feature_names"], dtype=object)
    return learner


def _facts(folder: Path) -> dict[str, Any]:
    """What is written about the learner, of the right form."""
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} is not a saved learner: there is no {FACTS} in it.") from None
    except (json.JSONDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{folder / FACTS} could not be read: {error}.") from error
    if not isinstance(facts, dict):
        raise InputError(f"{folder / FACTS} is not a saved learner's: it holds a {type(facts).__name__}.")
    if facts.get("format") != FORMAT:
        raise InputError(f"{folder / FACTS} has format {facts.get('format')!r}, this version of pulens reads {FORMAT}.")
    for name, kind in {"learner": str, "parameters": dict, "fitted": dict, "feature_names": list}.items():
        if not isinstance(facts.get(name), kind):
            raise InputError(f"{folder / FACTS} is damaged: {name} is missing or of the wrong kind.")
    return facts


def _restore_networks(learner: Any, facts: dict[str, Any], folder: Path) -> None:
    """Put the stored weights into an unfitted learner with the stored parameters."""
    from pulens.learners._estimator import _builder

    missing = [name for name in NEEDED if name not in facts["fitted"]]
    if missing:
        raise InputError(f"{folder / FACTS} is damaged: {', '.join(missing)} missing. Train and save the learner anew.")
    for name in (*FITTED, *FOUND, *facts["fitted"].get("facts_", ())):
        if name in facts["fitted"]:
            value = facts["fitted"][name]
            setattr(learner, name, tuple(value) if name == "row_shape_" else value)
    _check_numbers(learner, folder)
    builder = _builder(learner.backbone, learner.row_shape_)
    learner.network_ = _network(builder, folder / WEIGHTS)
    builders = learner._program.builders(learner, learner.row_shape_, builder)
    for name in learner._program.kept:
        setattr(learner, f"{name}_", _network(builders[name], folder / f"{name}.safetensors"))


def _check_numbers(learner: Any, folder: Path) -> None:
    """Refuse what would score every row as nan, or rows of another width."""
    wrong = None if _are_numbers([learner.cut_]) else f"cut_ is {learner.cut_!r}"
    for name in ("mean_", "deviation_"):
        values = getattr(learner, name, None)
        if values is None:
            continue
        width = int(np.prod(learner.row_shape_))
        if not isinstance(values, list) or len(values) != width or not _are_numbers(values):
            wrong = f"{name} is not {width} finite numbers"
        elif name == "deviation_" and min(values) <= 0:
            wrong = f"deviation_ holds {min(values)!r}, and only numbers above 0 can be divided by"
    if wrong is not None:
        raise InputError(f"{folder / FACTS} is damaged: {wrong}. Train and save the learner anew.")


def _are_numbers(values: Any) -> bool:
    return all(isinstance(value, int | float) and np.isfinite(value) for value in values)


def _network(build: Callable[[], Any], file: Path) -> Any:
    from pulens.learners._network import built

    module = built(build, 0)
    try:
        module.load_state_dict(_tensors().load_file(str(file)))
    except MissingDependencyError:
        raise
    except Exception as error:  # safetensors and torch have no common error to catch
        raise InputError(f"{file} could not be read: {error}") from error
    for name, tensor in module.state_dict().items():
        if not bool(tensor.isfinite().all()):
            raise InputError(f"{file} is damaged: {name} holds numbers that are not finite. Train the learner anew.")
    return module.eval()


def _tensors() -> Any:
    try:
        import safetensors.torch
    except ImportError:
        raise MissingDependencyError("safetensors", purpose="saving and loading learners", extra="torch") from None
    return safetensors.torch


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
