"""The parts of a state file: each as what it must be, or refused."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from pulens.counts.exactness import LARGEST_WHOLE
from pulens.errors import InputError, shown
from pulens.monitoring.monitor import OF_ANY_PRIOR, PARTS, KnownPrior
from pulens.types import Floats

LARGEST = 1e100  # of numbers that are multiplied with one another
LARGEST_OF_ALL = sys.float_info.max


def list_of(value: Any, what: str) -> list[Any]:
    """A list.

    >>> list_of({}, "lives")
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: lives must be a list, got {}
    """
    if not isinstance(value, list):
        raise InputError(f"{what} must be a list, got {shown(value)}")
    return value


def mapping_of(value: Any, what: str) -> dict[Any, Any]:
    """A mapping.

    >>> mapping_of({"north": 1}, "segments")
    {'north': 1}
    """
    if not isinstance(value, dict):
        raise InputError(f"{what} must be a mapping, got {shown(value)}")
    return value


def number_of(value: Any, what: str, *, at_least: float = -LARGEST, at_most: float = LARGEST) -> float:
    """A finite number of a range.

    >>> number_of(0.5, "share", at_least=0, at_most=1)
    0.5
    >>> number_of(10**400, "share")
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: share must be a finite number, got 1000000000000...00000000000
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= LARGEST_OF_ALL:
        raise InputError(f"{what} must be a finite number, got {shown(value)}")
    if not at_least <= value <= at_most:
        raise InputError(f"{what} must lie between {at_least:g} and {at_most:g}, got {shown(value)}")
    return float(value)


def numbers_of(values: Any, what: str, *, at_least: float = -LARGEST, at_most: float = LARGEST) -> Floats:
    """A list of finite numbers of a range."""
    given = list_of(values, what)
    if set(map(type, given)) <= {int, float}:  # a truth value is none; all at once, since there are many
        try:
            result = np.array(given, float)
        except OverflowError:  # a whole number of hundreds of digits
            result = np.full(1, np.nan)
        if ((result >= at_least) & (result <= at_most)).all():
            return result
    return np.array([number_of(one, what, at_least=at_least, at_most=at_most) for one in given], float)


def counts_of(values: Any, cells: int, what: str) -> Floats:
    """Rows in each cell: that many numbers of at least 0."""
    result = numbers_of(values, f"counts of {what}", at_least=0, at_most=LARGEST_WHOLE)
    if result.size != cells:
        raise InputError(f"{what} needs {cells} counts")
    return result


def across_of(value: Any, cells: int) -> tuple[float, int, int]:
    """Rows of a bin of scores that an edge cuts, its first and its last cell."""
    rows, first, last = numbers_of(value, "across", at_least=0, at_most=LARGEST_WHOLE)
    if not first < last < cells or first % 1 or last % 1:
        raise InputError(f"across must be rows, a first and a last cell of {cells}, got {shown(value)}")
    return float(rows), int(first), int(last)


def names_of(names: Iterable[str]) -> list[str]:
    """Names that identify windows."""
    result = list(names)
    if len(set(result)) < len(result):
        raise InputError("two windows have the same name")
    return result


def prior_of(told: Mapping[str, Any]) -> KnownPrior:
    """A class prior with its doubt."""
    given = dict(told)
    known = {one.name for one in fields(KnownPrior)}
    if not set(OF_ANY_PRIOR) <= set(given) <= known:
        raise InputError(f"a class prior must have a value, low, high, variance and source, got {shown(list(given))}")
    low, value, high = (number_of(given[name], name, at_least=0, at_most=1) for name in ("low", "value", "high"))
    if not low <= value <= high:
        raise InputError(f"the class prior {value:g} must lie between {low:g} and {high:g}")
    variance = number_of(given["variance"], "variance", at_least=0)
    ruled_out, recall = given.get("ruled_out"), given.get("possible_recall")
    if recall is not None:
        recall = tuple(float(each) for each in numbers_of(recall, "possible_recall", at_least=0, at_most=1))
        if len(recall) != 3:
            raise InputError(f"possible_recall must be a value and two ends, got {shown(list(recall))}")
    return KnownPrior(
        value, low, high, variance, str(given["source"]), None if ruled_out is None else str(ruled_out), recall
    )


def totals_of(told: Any, windows: int) -> dict[str, list[float | None]]:
    """The log of each line's running total after the windows, as far as there was one."""
    if not isinstance(told, dict) or set(told) - set(PARTS):
        raise InputError(f"log_totals must tell of lines ({', '.join(PARTS)}), got {shown(told)}")
    result = {
        name: [None if one is None else number_of(one, "log_totals") for one in list_of(values, "log_totals")]
        for name, values in told.items()
    }
    if any(len(values) > windows for values in result.values()):
        raise InputError(f"log_totals tell of more than the {windows} windows there are")
    return result
