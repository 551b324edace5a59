"""Settings of a network learner, looked at before anything is trained: a wrong one is an error, not a wrong model."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pulens.errors import InputError, listed
from pulens.learners.stack.optimiser import KINDS

# whole numbers of which none may be left: a batch, a pass, a layer without units
AT_LEAST_ONE = {
    "batch_size",
    "class_latent",
    "epochs_per_episode",
    "episodes",
    "fence_patience",
    "groups",
    "halve_every",
    "labelled_batch_size",
    "latent",
    "levels",
    "neighbours",
    "observation_latent",
    "patience",
    "pool_size",
    "projection_size",
    "steps_per_epoch",
    "support_batch_size",
    "trust_every",
}
COUNTED_FROM_THE_END = {"mix_layer"}  # -1 is a layer too
ABOVE_ZERO = ("learning_rate", "temperature", "subset")
SHARES = {
    "average_memory",
    "certain",
    "keep",
    "keep_at_end",
    "label_smoothing",
    "mean_decay",
    "memory",
    "subset",
    "teacher_decay",
}


def check_settings(learner: Any) -> None:
    """Refuse values that no training could mean, with the name, the value and what is allowed.

    >>> from pulens.learners import NNPU
    >>> check_settings(NNPU(batch_size=0))
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: batch_size must be a whole number of at least 1, got 0.
    """
    passes = []  # none are declared where a method's stages have a length of their own
    ours = _declared_here(type(learner))
    for field in fields(learner):
        # a file without postponed annotations declares the class int where ours declare the word
        kind = field.type.__name__ if isinstance(field.type, type) else str(field.type)
        value, kinds = getattr(learner, field.name), kind.split(" | ")
        if value is None and "None" in kinds:
            continue
        if "int" in kinds:
            _check_whole_number(field.name, value, bounded=field.name in ours)
            passes += [int(value)] if field.name.endswith(("epochs", "episodes")) else []
        elif "float" in kinds:
            _check_number(field.name, value, bounded=field.name in ours)
        elif "bool" in kinds and not isinstance(value, bool | np.bool_):
            raise InputError(f"{field.name} must be True or False, got {value!r}.")
    if learner.optimiser not in KINDS:
        raise InputError(f"optimiser must be one of {listed(KINDS)}, got {learner.optimiser!r}.")
    if passes and sum(passes) < 1:
        raise InputError("nothing would be trained: epochs must be a whole number of at least 1, got 0.")


def _declared_here(kind: type) -> set[str]:
    """Settings of this package's learners; what those of others may be below zero is theirs to say."""
    own = [base for base in kind.__mro__ if base.__module__.startswith("pulens.") and is_dataclass(base)]
    return {field.name for base in own for field in fields(base)}


def _check_whole_number(name: str, value: Any, *, bounded: bool) -> None:
    least = 1 if name in AT_LEAST_ONE else 0
    bounded = bounded and name not in COUNTED_FROM_THE_END
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or (bounded and value < least):
        raise InputError(f"{name} must be a whole number{f' of at least {least}' if bounded else ''}, got {value!r}.")


def _check_number(name: str, value: Any, *, bounded: bool) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise InputError(f"{name} must be a number, got {value!r}.")
    if not bounded:
        return
    if name.endswith(ABOVE_ZERO) and value <= 0:
        raise InputError(f"{name} must be above 0, got {value!r}.")
    if value < 0 or (name in SHARES and value > 1):
        allowed = "between 0 and 1" if name in SHARES else "at least 0"
        raise InputError(f"{name} must be {allowed}, got {value!r}.")
