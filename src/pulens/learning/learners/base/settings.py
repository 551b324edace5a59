"""Settings of a learner: declared with the range that makes sense, and looked at before anything is trained."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from pulens.errors import InputError, listed, shown
from pulens.scalars import is_among

LIMITS, OWN = "limits", "own"  # where a field's metadata has them
LARGEST_WHOLE = 2**63 - 1  # that arrays and random generators hold
LARGEST_NUMBER = sys.float_info.max


@dataclass(frozen=True)
class Limits:
    """Values that a setting may have; None sets no limit."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    among: tuple[str, ...] | None = None

    def hold(self, value: Any) -> bool:
        """Whether a value keeps them."""
        return not (
            (self.least is not None and value < self.least)
            or (self.above is not None and value <= self.above)
            or (self.most is not None and value > self.most)
        )

    def __str__(self) -> str:
        if self.most is None:
            return f"above {self.above:g}" if self.above is not None else f"at least {self.least:g}"
        if self.above is not None:
            return f"above {self.above:g} and at most {self.most:g}"
        return f"between {self.least:g} and {self.most:g}" if self.least is not None else f"at most {self.most:g}"


NOT_NEGATIVE, ANYTHING = Limits(least=0), Limits()


def setting(
    default: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    among: tuple[str, ...] | None = None,
    own: Any = None,
) -> Any:
    """A field of a learner with limits; numbers of this package's learners without any are at least 0.

    ``own`` is the method's own value, which ``None`` stands for: so a value that was given is distinguished from it.

    >>> from dataclasses import dataclass
    >>> from pulens.learners import NNPU
    >>> @dataclass(kw_only=True, eq=False, repr=False)
    ... class Mine(NNPU):
    ...     share: float = setting(0.5, least=0, most=1)
    >>> check_settings(Mine(share=1.5))
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: share must be between 0 and 1, got 1.5.
    """
    return field(default=default, metadata={LIMITS: Limits(least, above, most, among), OWN: own})


def settled(learner: Any, name: str) -> Any:
    """The value of a setting: as given, or the method's own.

    >>> from pulens.learners import NNPU
    >>> settled(NNPU(), "loss"), settled(NNPU(loss="logistic"), "loss")
    ('sigmoid', 'logistic')
    """
    value = getattr(learner, name)
    return own_settings(learner).get(name) if value is None and is_dataclass(learner) else value


def own_settings(learner: Any) -> dict[str, Any]:
    """The method's own values of settings that may be left to it."""
    return {one.name: one.metadata[OWN] for one in fields(learner) if one.metadata.get(OWN) is not None}


def limits_of(kind: type, name: str) -> Limits:
    """The limits of a setting: those that its class declares, or that the one which it builds on does."""
    ours = False
    for base in kind.__mro__:
        declared = base.__dict__.get("__dataclass_fields__", {}).get(name)
        if declared is None:
            continue
        if LIMITS in declared.metadata:
            result: Limits = declared.metadata[LIMITS]
            return result
        ours = ours or base.__module__.startswith("pulens.")
    # what settings of others may be below zero is theirs to say
    return NOT_NEGATIVE if ours else ANYTHING


def check_settings(learner: Any) -> None:
    """Refuse values that no training could mean, with the name, the value and what is allowed.

    >>> from pulens.learners import NNPU
    >>> check_settings(NNPU(batch_size=0))
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: batch_size must be a whole number of at least 1, got 0.
    """
    assert is_dataclass(learner)
    passes = []  # none are declared where a method's stages have a length of their own
    for one in fields(learner):
        # a file without postponed annotations declares the class int where ours declare the word
        kind = one.type.__name__ if isinstance(one.type, type) else str(one.type)
        value, kinds = getattr(learner, one.name), kind.split(" | ")
        if value is None and "None" in kinds:
            continue
        _check_value(one.name, value, kinds, limits_of(type(learner), one.name))
        if "int" in kinds and one.name.endswith(("epochs", "episodes")):
            passes.append(int(value))
    if passes and sum(passes) < 1:
        raise InputError("nothing would be trained: epochs must be a whole number of at least 1, got 0.")


def _check_value(name: str, value: Any, kinds: list[str], limits: Limits) -> None:
    if "int" in kinds:
        _check_whole_number(name, value, limits)
    elif "float" in kinds:
        _check_number(name, value, limits)
    elif "bool" in kinds and not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {shown(value)}.")
    elif limits.among is not None and not is_among(value, limits.among):
        raise InputError(f"{name} must be one of {listed(limits.among)}, got {shown(value)}.")


def _check_whole_number(name: str, value: Any, limits: Limits) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not limits.hold(value):
        allowed = "" if limits == ANYTHING else f" {'of ' if limits.most is None else ''}{limits}"
        raise InputError(f"{name} must be a whole number{allowed}, got {shown(value)}.")
    if abs(value) > LARGEST_WHOLE:
        raise InputError(f"{name} must be a whole number of at most {LARGEST_WHOLE:,}, got {shown(value)}.")


def _check_number(name: str, value: Any, limits: Limits) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    # a whole number of hundreds of digits is beyond all floats, and asking whether it is finite fails
    if not number or not abs(value) <= LARGEST_NUMBER:
        raise InputError(f"{name} must be a number, got {shown(value)}.")
    if not limits.hold(value):
        raise InputError(f"{name} must be {limits}, got {value!r}.")
