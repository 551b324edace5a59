"""Fitted learners on disk: weights as safetensors, everything else as JSON. Nothing is ever unpickled."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pulens._version import __version__
from pulens.bounded_text import parse_json, read_bounded
from pulens.errors import InputError, MissingDependencyError, PulensError, listed
from pulens.learners.saving.checks import (
    check_answer,
    check_attribute,
    check_names,
    check_prior,
    check_threads,
    check_width,
    damaged,
    in_words,
    is_number,
    short,
    unreadable,
)
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
        _write_tensors(learner.network_, temporary / WEIGHTS)
        for name in learner._program.kept:
            _write_tensors(getattr(learner, f"{name}_"), temporary / f"{name}.safetensors")
        (temporary / FACTS).write_text(text, encoding="utf-8")
    return path


def _write_tensors(network: Any, file: Path) -> None:
    """Through Python's own writing: safetensors says of a full disk only that something went wrong."""
    file.write_bytes(find_safetensors().save(network.state_dict()))


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
    folder = Path(path)
    facts = _facts(folder)
    # a mistake in a network of the user's own is shown as it is
    with in_words(folder) if backbone is None else nullcontext():
        return _loaded(folder, facts, backbone, trusted)


def _loaded(folder: Path, facts: dict[str, Any], backbone: Any, trusted: Sequence[str]) -> Any:
    from pulens.learners import find

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
        from pulens.learners.saving.models import restore_models

        restore_models(learner, facts, folder, trusted)
    elif "backbone" in parameters:
        _restore_networks(learner, facts, folder)
    else:
        from pulens.learners.saving.arrays import restore

        restore(learner, facts, folder)
    learner.classes_ = np.array([0, 1])
    width = _width(learner, facts, folder)
    if facts["feature_names"]:
        learner.feature_names_in_ = np.array(facts["feature_names"], dtype=object)
    # a classifier of the user's own may want other rows than numbers, a network was tried when it was read
    if getattr(learner, "estimator", None) is None and not hasattr(learner, "network_"):
        check_answer(folder, learner, width)
    return learner


def _width(learner: Any, facts: dict[str, Any], folder: Path) -> int:
    """The number of features, which names of columns must agree with."""
    width = math.prod(learner.row_shape_) if hasattr(learner, "row_shape_") else learner.n_features_in_
    check_width(folder / FACTS, "the number of features", width)
    check_names(folder / FACTS, "feature_names", facts["feature_names"], width)
    check_names(folder / FACTS, "columns_", getattr(learner, "columns_", []), width)
    return int(width)


def _facts(folder: Path) -> dict[str, Any]:
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


def _restore_networks(learner: Any, facts: dict[str, Any], folder: Path) -> None:
    """Put the stored weights into an unfitted learner with the stored parameters."""
    from pulens.learners.stack.modules import builder_of

    missing = [name for name in NEEDED if name not in facts["fitted"]]
    if missing:
        raise InputError(f"{folder / FACTS} is damaged: {', '.join(missing)} missing. Train and save the learner anew.")
    extra = facts["fitted"].get("facts_", [])
    if not isinstance(extra, list):
        raise damaged(folder / FACTS, f"facts_ must be a list of names, got {short(extra)}")
    for name in (*FITTED, *FOUND, *(check_attribute(folder / FACTS, learner, name) for name in extra)):
        if name in facts["fitted"]:
            value = facts["fitted"][name]
            setattr(learner, name, tuple(value) if name == "row_shape_" and isinstance(value, list) else value)
    _check_settings(learner, folder)
    _check_numbers(learner, folder)
    builder = builder_of(learner.backbone, learner.row_shape_)
    ours = isinstance(learner.backbone, str)  # others may not be buildable without numbers, nor take a row of zeros
    learner.network_ = _network(builder, folder / WEIGHTS, ours)
    if ours:
        _try_network(learner, folder / WEIGHTS)
    builders = learner._program.builders(learner, learner.row_shape_, builder)
    for name in learner._program.kept:
        setattr(learner, f"{name}_", _network(builders[name], folder / f"{name}.safetensors", ours))


def _check_settings(learner: Any, folder: Path) -> None:
    """What training would refuse was never trained with."""
    from pulens.learners.base.settings import check_settings

    place = folder / FACTS
    try:
        check_settings(learner)
    except InputError as error:
        raise damaged(place, str(error)) from error
    if not isinstance(learner.device, str):
        raise damaged(place, f"device must be a word, got {short(learner.device)}")
    scaled = {name for name in ("mean_", "deviation_") if hasattr(learner, name)}
    if scaled != ({"mean_", "deviation_"} if learner.standardise else set()):
        raise damaged(place, f"standardise is {learner.standardise}, with {sorted(scaled)} beside it")


def _check_numbers(learner: Any, folder: Path) -> None:
    """Refuse what would score every row as nan, or rows of another width."""
    place, shape = folder / FACTS, learner.row_shape_
    sizes = isinstance(shape, tuple) and all(
        isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in shape
    )
    if not sizes or not shape:
        raise damaged(place, f"row_shape_ must be whole numbers above 0, got {short(shape)}")
    width = check_width(place, "the product of row_shape_", math.prod(shape))
    if getattr(learner, "n_features_in_", shape[0]) not in shape[:2]:  # grey pictures came without their one channel
        raise damaged(place, f"n_features_in_ is {short(learner.n_features_in_)}, and row_shape_ {shape}")
    check_prior(place, learner.class_prior_)
    wrong = None if is_number(learner.cut_) else f"cut_ is {short(learner.cut_)}"
    for name in ("mean_", "deviation_"):
        values = getattr(learner, name, None)
        if values is None:
            continue
        flat = _flat(values)
        if len(flat) != width or not all(map(is_number, flat)):
            wrong = f"{name} is not {width} finite numbers"
        elif name == "deviation_" and min(flat) <= 0:
            wrong = f"deviation_ holds {min(flat)!r}, and only numbers above 0 can be divided by"
    if wrong is not None:
        raise damaged(place, wrong)


def _flat(values: Any) -> list[Any]:
    """The numbers in lists of lists, as pictures have them."""
    return [number for part in values for number in _flat(part)] if isinstance(values, list) else [values]


def _try_network(learner: Any, file: Path) -> None:
    """One row of zeros, on the processor: weights may be finite and still too large to compute with."""
    import torch

    with in_words(file), torch.no_grad():
        logit = learner.network_(torch.zeros(1, *learner.row_shape_)).reshape(-1)
        if logit.numel() != 1 or not bool(logit.isfinite().all()):
            raise damaged(file, "it gives no number for a row of zeros")


def _network(build: Callable[[], Any], file: Path, ours: bool) -> Any:
    from pulens.learners.stack.networks import built

    tensors = find_safetensors()
    if ours:
        _check_shapes(build, file)
    module = built(build, 0)
    try:
        module.load_state_dict(tensors.load_file(str(file)))
    except Exception as error:  # safetensors and torch have no common error to catch
        raise unreadable(file, error) from error
    for name, tensor in module.state_dict().items():
        if not bool(tensor.isfinite().all()):
            raise InputError(f"{file} is damaged: {name} holds numbers that are not finite. Train the learner anew.")
    return module.eval()


def _check_shapes(build: Callable[[], Any], file: Path) -> None:
    """Compare what is stored with the network before one number of it is made room for."""
    import torch
    from safetensors import safe_open

    try:
        with safe_open(str(file), framework="pt") as stored:
            found = {name: tuple(stored.get_slice(name).get_shape()) for name in stored.keys()}  # noqa: SIM118
    except Exception as error:  # safetensors has no error of its own to catch
        raise unreadable(file, error) from error
    try:
        with torch.device("meta"):
            made = build().state_dict()
    except PulensError as error:
        raise damaged(file, str(error)) from error
    if {name: tuple(values.shape) for name, values in made.items()} != found:
        names = sorted(
            name for name in {*made, *found} if name not in made or tuple(made[name].shape) != found.get(name)
        )
        raise damaged(file, f"it does not hold the network that {FACTS} describes: {listed(names, limit=3)} differ")


def find_safetensors() -> Any:
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
