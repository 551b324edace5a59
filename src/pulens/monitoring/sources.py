"""Windows from whatever they lie in: tallies, files in natural order of names, one table with a column of time."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, reduce
from glob import glob, has_magic
from operator import add
from pathlib import Path
from typing import Any
from unicodedata import decimal

import numpy as np

from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError, listed, shown
from pulens.inputs import Period, last_day, read_tally, read_windows
from pulens.monitoring.cells import population_above
from pulens.scenario import Scenario

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
    if isinstance(source, str | Path) and has_magic(str(source)) and not os.path.exists(source):
        files = sorted(glob(str(source), recursive=True), key=lambda name: (natural(name), name))
        if not files:
            raise InputError(f"{source}: no file of the {what} has such a name.")
        return [pair for one in files for pair in named_tallies(one, what, **reading)]
    if isinstance(source, list | tuple):
        if not source:
            raise InputError(f"the {what} is an empty list: give at least one tally or file.")
        result: Named = []
        for index, one in enumerate(source, start=1):
            own = named_tallies(one, what, **reading)
            result += own if isinstance(one, str | Path) else [(str(index), own[0][1])]
        return result
    name = Path(str(source)).name.split(".")[0] if isinstance(source, str | Path) else what
    return [(name, read_tally(source, allow_one_kind=True, **reading))]


@dataclass(frozen=True, eq=False)
class Windows:
    """What was read: the reference's windows, those after it, and labelled rows by when they were confirmed.

    ``confirmed`` holds, for the name of a window, tallies of labelled rows by the days from the window's last day to
    their confirmation; it is None where nobody said when labels were confirmed.
    """

    reference: Named
    windows: Named
    confirmed: Mapping[str, Mapping[int, Tally]] | None = None

    @cached_property
    def whole(self) -> Tally:
        """The reference as one tally."""
        return reduce(add, [tally for _, tally in self.reference])

    @property
    def has_labelled(self) -> bool:
        """Whether the reference has labelled rows."""
        return any(tally.totals.labelled for _, tally in self.reference)


@dataclass(frozen=True, kw_only=True)
class TimeColumns:
    """How one table with a column of time is cut: into windows, and into segments that are watched apart."""

    time: str
    by: str | None = None
    reference_until: Any = None
    timezone: str = "UTC"
    group_by: tuple[str, ...] = ()
    confirmed_at: str | None = None

    @property
    def period(self) -> Period:
        return Period(self.time, self.by, self.timezone)


def tallies_over_time(source: Any, cut: TimeColumns, **reading: Any) -> tuple[Windows, dict[str, Windows | str]]:
    """One GROUP BY over a table with a column of time: all rows, and every segment, or why it cannot be watched."""
    period = cut.period
    if cut.reference_until is None:
        raise PulensError("say where the reference ends: reference_until, the last day (or window) that belongs to it.")
    asked = [period] if cut.confirmed_at is None else [period, Period(cut.confirmed_at, "day", cut.timezone)]
    counted = read_windows(source, periods=asked, group_by=cut.group_by, **reading)
    if any(key[1] is None for key in counted):
        raise InputError(f"column {shown(cut.time)} holds rows without a time: leave them out with where.")
    last = period.name(cut.reference_until)
    parts: dict[str, dict[str, dict[str | None, list[Tally]]]] = {}
    whole: dict[str, dict[str | None, list[Tally]]] = {}
    for (segment, window, *confirmed), tally in counted.items():
        when = confirmed[0] if confirmed else None
        whole.setdefault(str(window), {}).setdefault(when, []).append(tally)
        if segment is not None:
            parts.setdefault(segment, {}).setdefault(str(window), {}).setdefault(when, []).append(tally)
    result: dict[str, Windows | str] = {}
    everything = _split(whole, last, cut)
    for segment in sorted(parts, key=natural):
        try:
            result[segment] = _split(parts[segment], last, cut)
        except InputError as error:
            result[segment] = str(error)
    return everything, result


def _split(windows: Mapping[str, Mapping[str | None, list[Tally]]], last: str, cut: TimeColumns) -> Windows:
    """The windows up to the last one of the reference, and those after it."""
    names = sorted(windows, key=lambda name: (natural(name), name))
    before = [name for name in names if natural(name) <= natural(last)]
    after = [name for name in names if natural(name) > natural(last)]
    if not before or not after:
        which = "no window is left after" if before else "no window of the reference lies up to"
        raise InputError(
            f"{which} reference_until={last!r}: column {shown(cut.time)} runs from {names[0]} to {names[-1]}."
        )
    summed = {name: {when: _summed(each) for when, each in windows[name].items()} for name in names}
    tallies = {name: _summed(list(each.values())) for name, each in summed.items()}
    confirmed = None
    if cut.confirmed_at is not None:
        confirmed = {name: _by_delay(name, each, cut) for name, each in summed.items()}
    return Windows([(name, tallies[name]) for name in before], [(name, tallies[name]) for name in after], confirmed)


def _by_delay(name: str, confirmed: Mapping[str | None, Tally], cut: TimeColumns) -> dict[int, Tally]:
    """Labelled rows of a window by the days from its end to their confirmation; never confirmed ones are left out."""
    end = last_day(name)
    if end is None:
        raise InputError(
            f"confirmed_at={cut.confirmed_at!r} counts days from the end of a window, and the window {shown(name)} is "
            "not a day, week or month: say by='day' (or week, month)."
        )
    end = end + timedelta(days=6) if cut.by == "week" else end
    return {
        (date.fromisoformat(when) - end).days: tally
        for when, tally in confirmed.items()
        if when is not None and tally.totals.labelled
    }


def _summed(tallies: Sequence[Tally]) -> Tally:
    """Several tallies as one, without building those between."""
    if len(tallies) == 1:
        return tallies[0]
    steps = [tally.increments() for tally in tallies]
    labelled, unlabelled, negative = (np.concatenate([step[index] for step in steps]) for index in range(3))
    scores, reach = (np.concatenate([getattr(one, name) for one in tallies]) for name in ("thresholds", "highest"))
    binned = any(one.binning is not None for one in tallies)
    return Tally.from_increments(scores, labelled, unlabelled, negative, reach if binned else None)


def digests(tally: Tally, scenario: Scenario) -> tuple[str, str]:
    """Fingerprints of the population and of the labelled rows, apart: labels may grow, the population may not."""
    result = []
    for counts in (population_above(tally, scenario), np.asarray(tally.labelled, np.float64)):
        steps = np.diff(counts, prepend=0.0)
        kept = steps > 0
        text = hashlib.sha256()
        text.update(np.ascontiguousarray(tally.thresholds[kept], np.float64).tobytes())
        text.update(np.ascontiguousarray(steps[kept]).tobytes())
        result.append(text.hexdigest()[:32])
    return result[0], result[1]


def combined(parts: Iterable[str]) -> str:
    """One fingerprint of several, in any order."""
    return hashlib.sha256("".join(sorted(parts)).encode()).hexdigest()[:32]


def check_apart(reference: Sequence[tuple[str, str]], windows: Sequence[tuple[str, str]]) -> None:
    """Refuse names and populations that occur twice; pairs are names and digests ('' where too coarse to tell)."""
    names = [name for name, _ in windows]
    twice = sorted(name for name, many in Counter(names).items() if many > 1)
    if twice:
        raise InputError(f"two windows have the name {shown(twice[0])}: names identify windows and order them.")
    _check_later([name for name, _ in reference], names)
    seen = {digest: f"the reference {name}" for name, digest in reference if digest}
    for name, digest in windows:
        if digest and digest in seen:
            raise InputError(
                f"the window {shown(name)} has exactly the rows of {seen[digest]}: rows must be counted once. Leave "
                f"one of them out; there are {listed(names)}."
            )
        seen[digest] = f"the window {name}"


def _check_later(reference: Sequence[str], windows: Sequence[str]) -> None:
    """Refuse windows that lie within the time of the reference, where names tell times."""
    if not reference or any(last_day(name) is None for name in reference):
        return
    first, last = min(reference, key=natural), max(reference, key=natural)
    for name in windows:
        if last_day(name) is not None and natural(first) <= natural(name) <= natural(last):
            raise InputError(
                f"the window {shown(name)} lies within the time of the reference, {first} to {last}: rows must be "
                "counted once. Leave it out of one of them."
            )
