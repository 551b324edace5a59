"""Learners that train networks on disk: weights as safetensors, everything else as JSON. Nothing is ever unpickled."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from pulens.atomic_write import whole_folder
from pulens.errors import InputError, MissingDependencyError, PulensError, listed
from pulens.learning.learners.base.rescues import KINDS, Rescue
from pulens.learning.learners.saving.checks import (
    check_attribute,
    check_prior,
    check_width,
    damaged,
    in_words,
    is_number,
    short,
    unreadable,
)
from pulens.learning.learners.saving.folder import FACTS, WEIGHTS, check_target, described

# what fit leaves behind besides the network
FITTED = ("cut_", "class_prior_", "best_epoch_", "history_", "row_shape_", "n_features_in_", "facts_")
FOUND = ("mean_", "deviation_", "columns_")
RESCUES = "rescues_"
LARGEST = 3.4028234663852886e38  # of single precision, which tables are held in
NEEDED = ("cut_", "class_prior_", "row_shape_")  # a network learner cannot do without


def save(learner: Any, path: Path) -> Path:
    """Write a folder, whole or not at all; a folder that holds something else is never overwritten."""
    check_target(path)
    parameters = {field.name: getattr(learner, field.name) for field in fields(learner)}
    if not isinstance(parameters["backbone"], str):
        parameters["backbone"] = None  # code cannot be written down; load() is told it again
    written = (*FITTED, *FOUND, *getattr(learner, "facts_", ()))
    fitted = {name: getattr(learner, name) for name in written if hasattr(learner, name)}
    fitted[RESCUES] = [astuple(one) for one in getattr(learner, RESCUES, ())]
    text = json.dumps(described(learner, parameters, fitted), indent=2, allow_nan=False) + "\n"
    with whole_folder(path) as temporary:
        _write_tensors(learner.network_, temporary / WEIGHTS)
        for name in learner._program.kept:
            _write_tensors(getattr(learner, f"{name}_"), temporary / f"{name}.safetensors")
        (temporary / FACTS).write_text(text, encoding="utf-8")
    return path


def _write_tensors(network: Any, temporary: Path) -> None:
    """Through Python's own writing: safetensors says of a full disk only that something went wrong."""
    temporary.write_bytes(find_safetensors().save(network.state_dict()))


def restore_networks(learner: Any, facts: dict[str, Any], folder: Path) -> None:
    """Put the stored weights into an unfitted learner with the stored parameters."""
    from pulens.learning.learners.stack.modules import builder_of

    missing = [name for name in NEEDED if name not in facts["fitted"]]
    if missing:
        raise InputError(
            f"{folder / FACTS} is damaged: {', '.join(missing)} missing. Train and save the learner again."
        )
    extra = facts["fitted"].get("facts_", [])
    if not isinstance(extra, list):
        raise damaged(folder / FACTS, f"facts_ must be a list of names, got {short(extra)}")
    for name in (*FITTED, *FOUND, *(check_attribute(folder / FACTS, learner, name) for name in extra)):
        if name in facts["fitted"]:
            value = facts["fitted"][name]
            setattr(learner, name, tuple(value) if name == "row_shape_" and isinstance(value, list) else value)
    if RESCUES in facts["fitted"]:  # not written by earlier versions
        learner.rescues_ = _rescues(facts["fitted"][RESCUES], folder / FACTS)
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


def _rescues(stored: Any, place: Path) -> tuple[Rescue, ...]:
    """What fit did beside the method, as it was written down."""
    pairs = stored if isinstance(stored, list) else [stored]
    for pair in pairs:
        words = isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)
        if not words or pair[0] not in KINDS:
            raise damaged(place, f"{RESCUES} must be pairs of a kind ({listed(KINDS)}) and words, got {short(pair)}")
    return tuple(Rescue(*pair) for pair in pairs)


def _check_settings(learner: Any, folder: Path) -> None:
    """What training would refuse was never trained with."""
    from pulens.learning.learners.base.settings import check_settings

    place = folder / FACTS
    try:
        check_settings(learner)
    except InputError as error:
        raise damaged(place, str(error)) from error
    if not isinstance(learner.device, str):
        raise damaged(place, f"device must be a word, got {short(learner.device)}")
    scaled = {name for name in ("mean_", "deviation_") if hasattr(learner, name)}
    wanted = learner.standardise
    if wanted is None:  # tables are scaled, pictures are not
        wanted = len(learner.row_shape_) == 1 if _is_shape(learner.row_shape_) else bool(scaled)
    if scaled != ({"mean_", "deviation_"} if wanted else set()):
        raise damaged(place, f"standardise is {learner.standardise}, with {sorted(scaled)} next to it")


def _check_numbers(learner: Any, folder: Path) -> None:
    """Refuse what would score every row as nan, or rows of another width."""
    place, shape = folder / FACTS, learner.row_shape_
    if not _is_shape(shape):
        raise damaged(place, f"row_shape_ must be whole numbers above 0, got {short(shape)}")
    width = check_width(place, "the product of row_shape_", math.prod(shape))
    if getattr(learner, "n_features_in_", shape[0]) not in shape[:2]:  # grey pictures came without their one channel
        raise damaged(place, f"n_features_in_ is {short(learner.n_features_in_)}, and row_shape_ {shape}")
    check_prior(place, learner.class_prior_)
    wrong = None if is_number(learner.cut_) else f"cut_ is {short(learner.cut_)}"
    for name in ("mean_", "deviation_"):
        values = getattr(learner, name, None)
        if values is not None:
            wrong = _wrong_scale(name, _flat(values), width) or wrong
    if wrong is not None:
        raise damaged(place, wrong)


def _is_shape(value: Any) -> bool:
    """Whether it is sizes of a row: whole numbers above 0, at least one."""
    if not isinstance(value, tuple) or not value:
        return False
    return all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in value)


def _wrong_scale(name: str, values: list[Any], width: int) -> str | None:
    """What keeps rows of a width from being standardised with these numbers, if anything does."""
    if len(values) != width or not all(map(is_number, values)):
        return f"{name} is not {width} finite numbers"
    if max(map(abs, values)) > LARGEST:
        return f"{name} holds {max(values, key=abs)!r}, and the rows it was taken from are single precision numbers"
    if name == "deviation_" and min(values) <= 0:
        return f"deviation_ holds {min(values)!r}, and only numbers above 0 can be divided by"
    return None


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
    from pulens.learning.learners.stack.networks import built

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
            raise InputError(f"{file} is damaged: {name} holds numbers that are not finite. Train the learner again.")
    return module.eval()


def _check_shapes(build: Callable[[], Any], file: Path) -> None:
    """Compare what is stored with the network before one number of it is made room for."""
    import torch
    from safetensors import safe_open

    try:
        with safe_open(str(file), framework="pt") as stored:
            result = {name: tuple(stored.get_slice(name).get_shape()) for name in stored.keys()}  # noqa: SIM118
    except Exception as error:  # safetensors has no error of its own to catch
        raise unreadable(file, error) from error
    try:
        with torch.device("meta"):
            made = build().state_dict()
    except PulensError as error:
        raise damaged(file, str(error)) from error
    if {name: tuple(values.shape) for name, values in made.items()} != result:
        names = sorted(
            name for name in {*made, *result} if name not in made or tuple(made[name].shape) != result.get(name)
        )
        raise damaged(file, f"it does not hold the network that {FACTS} describes: {listed(names, limit=3)} differ")


def find_safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError:
        raise MissingDependencyError("safetensors", purpose="saving and loading learners", extra="torch") from None
    return safetensors.torch
