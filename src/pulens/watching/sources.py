"""Windows from whatever they lie in: tallies, files in natural order of names, one table with a column of time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from glob import glob, has_magic
from pathlib import Path
from typing import Any
from unicodedata import decimal

import numpy as np

from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError, listed, shown
from pulens.inputs import read_tallies, read_tally
from pulens.scenario import Scenario
from pulens.watching.cells import population_above

PERIODS = ("hour", "day", "week", "month")
Named = list[tuple[str, Tally]]


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that orders names as people do: day-9 before day-10.

    >>> sorted(["day-10", "day-9"], key=natural)
    ['day-9', 'day-10']
    """
    parts = re.split(r"(\d+)", name)
    return [(0, *_size(part)) if part.isdecimal() else (1, 0, part) for part in parts if part]


def _size(digits: str) -> tuple[int, str]:
    """Orders whole numbers however long they are: Python reads some thousands of digits at most."""
    plain = "".join(str(decimal(digit)) for digit in digits).lstrip("0")
    return len(plain), plain


def named_tallies(source: Any, what: str, **reading: Any) -> Named:
    """Names and tallies of a reference or of windows: a tally, a mapping, a sequence, a file, a glob."""
    if isinstance(source, Mapping):
        return [(str(name), read_tally(one, allow_one_kind=True, **reading)) for name, one in source.items()]
    if isinstance(source, str | Path) and has_magic(str(source)) and not Path(source).exists():
        files = sorted(glob(str(source), recursive=True), key=lambda name: (natural(name), name))
        if not files:
            raise InputError(f"{source}: no file of the {what} has such a name.")
        return [pair for one in files for pair in named_tallies(one, what, **reading)]
    if isinstance(source, list | tuple):
        if not source:
            raise InputError(f"the {what} is an empty list: give at least one tally or file.")
        found: Named = []
        for place, one in enumerate(source, start=1):
            own = named_tallies(one, what, **reading)
            found += own if isinstance(one, str | Path) else [(str(place), own[0][1])]
        return found
    name = Path(str(source)).name.split(".")[0] if isinstance(source, str | Path) else what
    return [(name, read_tally(source, allow_one_kind=True, **reading))]


def tallies_over_time(
    source: Any, time: str, by: str | None, reference_until: Any, **reading: Any
) -> tuple[Named, Named]:
    """One pass over a table with a column of time: the reference's windows, and those after it."""
    if by is not None and by not in PERIODS:
        raise PulensError(f"by must be one of {', '.join(PERIODS)}, got {shown(by)}: it says how long a window is.")
    if reference_until is None:
        raise PulensError("say where the reference ends: reference_until, the last day (or window) that belongs to it.")
    counted = read_tallies(source, group_by=time, **reading)
    if any(value is None for value in counted):
        raise InputError(f"column {shown(time)} holds rows without a time: leave them out with where.")
    windows: dict[str, Tally] = {}
    for value, tally in counted.items():
        name = _period(value, by, time)
        windows[name] = windows[name] + tally if name in windows else tally
    return _split(windows, _period(reference_until, by, "reference_until"), time)


def _split(windows: Mapping[str, Tally], last: str, time: str) -> tuple[Named, Named]:
    """The windows up to the last one of the reference, and those after it."""
    names = sorted(windows, key=lambda name: (natural(name), name))
    before = [name for name in names if natural(name) <= natural(last)]
    after = [name for name in names if natural(name) > natural(last)]
    if not before or not after:
        which = "no window is left after" if before else "no window of the reference lies up to"
        raise InputError(f"{which} reference_until={last!r}: column {shown(time)} runs from {names[0]} to {names[-1]}.")
    return [(name, windows[name]) for name in before], [(name, windows[name]) for name in after]


def _name(value: Any) -> str:
    if isinstance(value, datetime) or hasattr(value, "to_pydatetime"):
        return str(value).removesuffix(" 00:00:00")
    return value.isoformat() if isinstance(value, date) else str(value)


def _period(value: Any, by: str | None, column: str) -> str:
    """The name of the window that a time lies in; weeks begin on Monday."""
    if by is None:
        return _name(value)
    try:
        moment = datetime.fromisoformat(_name(value))
    except ValueError:
        raise InputError(
            f"{shown(column)} must hold dates or times such as 2026-05-04 or 2026-05-04 13:00, got {shown(value)}."
        ) from None
    if by == "hour":
        return moment.strftime("%Y-%m-%d %H:00")
    if by == "month":
        return moment.strftime("%Y-%m")
    day = moment.date()
    return (day - timedelta(days=day.weekday()) if by == "week" else day).isoformat()


def digests(tally: Tally, scenario: Scenario) -> tuple[str, str]:
    """Fingerprints of the population and of the labelled rows, apart: labels may grow, the population may not."""
    found = []
    for counts in (population_above(tally, scenario), np.asarray(tally.labelled, np.float64)):
        steps = np.diff(counts, prepend=0.0)
        kept = steps > 0
        text = hashlib.sha256()
        text.update(np.ascontiguousarray(tally.thresholds[kept], np.float64).tobytes())
        text.update(np.ascontiguousarray(steps[kept]).tobytes())
        found.append(text.hexdigest()[:32])
    return found[0], found[1]


def combined(parts: Iterable[str]) -> str:
    """One fingerprint of several, in any order."""
    return hashlib.sha256("".join(sorted(parts)).encode()).hexdigest()[:32]


def check_apart(reference: Sequence[tuple[str, str]], windows: Sequence[tuple[str, str]]) -> None:
    """Refuse names and populations that occur twice; pairs are names and digests ('' where too coarse to tell)."""
    names = [name for name, _ in windows]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"two windows have the name {shown(twice[0])}: names tell windows apart and order them.")
    seen = {digest: f"the reference {name}" for name, digest in reference if digest}
    for name, digest in windows:
        if digest and digest in seen:
            raise InputError(
                f"the window {shown(name)} has exactly the rows of {seen[digest]}: rows must be counted once. Leave "
                f"one of them out; there are {listed(names)}."
            )
        seen[digest] = f"the window {name}"
