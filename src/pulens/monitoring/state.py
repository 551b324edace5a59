"""The state of a monitor as JSON: a new day costs one window, and day by day gives what judging at once does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pulens.answer import plain
from pulens.bounded_text import parse_json, read_bounded
from pulens.errors import InputError, PulensError, shown
from pulens.monitoring.answer import Pulse, WatchLife
from pulens.monitoring.cells import CellCounts
from pulens.monitoring.judging import Judgement, ReducedWindow
from pulens.monitoring.monitor import Monitor, WatchSettings
from pulens.monitoring.segments import controlled
from pulens.monitoring.state_parts import (
    LARGEST_OF_ALL,
    across_of,
    counts_of,
    list_of,
    mapping_of,
    names_of,
    number_of,
    numbers_of,
    prior_of,
    totals_of,
)
from pulens.types import Floats

FORMAT = 4
MOST_STATE_BYTES = 256 << 20  # a day takes two kilobytes or so
KINDS = ("population", "labelled")


def state_text(pulse: Pulse) -> str:
    """All that the next day needs, in the same bytes for the same windows."""
    told = _told(pulse)
    if pulse.segments or pulse.unjudged:
        told["segments"] = {name: _told(one) for name, one in pulse.segments.items()}
        told["unjudged"] = dict(pulse.unjudged)
    return json.dumps(told | {"checksum": sum_of(told)}, allow_nan=False)


def _told(pulse: Pulse) -> dict[str, Any]:
    lives = []
    for life in pulse.lives:
        judgement = life.judgement
        lives.append(
            {
                "accepted_from": life.accepted_from,
                "because": life.because,
                "prior": None if judgement.monitor.prior is None else judgement.monitor.prior.to_dict(),
                "windows": [_window(window) for window in judgement.windows],
                "log_totals": {name: plain(run.log_totals) for name, run in judgement.runs.items()},
            }
        )
    monitor = pulse.lives[0].judgement.monitor
    return {
        "pulens_watch_state": FORMAT,
        "settings": monitor.settings.to_dict(),
        "reference": {
            "digest": pulse.digest,
            "class_prior": pulse.asked,
            "labelled": _numbers(monitor.reference.labelled),
            "windows": [_numbers(window) for window in pulse.reference_windows],
            "together": monitor.reference.together,
            "days": monitor.days,
            "confirmed": _numbers(pulse.life.judgement.confirmed),
        },
        "edges": monitor.edges.tolist(),
        "lives": lives,
    }


def read_state(path: str | Path) -> Pulse:
    """The monitor that a state file tells, with all that was judged; every part of it is checked."""
    told = parse_json(read_bounded(path, most=MOST_STATE_BYTES), str(path))
    if not isinstance(told, dict) or told.get("pulens_watch_state") != FORMAT:
        seen = told.get("pulens_watch_state") if isinstance(told, dict) else told
        raise InputError(
            f"{path}: a state of format {shown(seen)}; this version reads format {FORMAT}. Judge every window again "
            "into another state file."
        )
    try:
        _check_sum(told)
        apart = {str(name): _pulse(one) for name, one in mapping_of(told.get("segments", {}), "segments").items()}
        unjudged = {str(name): str(why) for name, why in mapping_of(told.get("unjudged", {}), "unjudged").items()}
        return controlled(replace(_pulse(told), segments=apart, unjudged=unjudged))
    except (PulensError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else str(error).removesuffix(".")
        raise InputError(
            f"{path}: a damaged state of a watch: {said}. Put back the file that was written, or judge every window "
            "again (rejudge=True, or --rejudge; the false-alarm guarantee then starts afresh)."
        ) from error


def _check_sum(told: dict[str, Any]) -> None:
    """Refuse what is no longer what was written."""
    if "checksum" not in told:
        raise InputError("it has no checksum, so nothing shows that it is what was written")
    if told.pop("checksum") != sum_of(told):
        raise InputError("it was changed since it was written: its checksum differs")


def sum_of(told: Mapping[str, Any]) -> str:
    """A fingerprint of all that a state tells.

    >>> sum_of({"a": [1, 2.5]})
    '44f7b576a804f451'
    """
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _pulse(told: Mapping[str, Any]) -> Pulse:
    settings = WatchSettings(**told["settings"])
    edges = numbers_of(told["edges"], "edges", at_least=-LARGEST_OF_ALL, at_most=LARGEST_OF_ALL)
    if not edges.size or (np.diff(edges) <= 0).any():
        raise InputError("edges must rise")
    reference = told["reference"]
    labelled = counts_of(reference["labelled"], edges.size, "the reference")
    first = [counts_of(window, edges.size, "the reference") for window in list_of(reference["windows"], "windows")]
    lives: list[WatchLife] = []
    windows, together = first, bool(reference["together"])
    days = number_of(reference.get("days", 1.0), "days", at_least=1)
    for one in list_of(told["lives"], "lives"):
        if lives and lives[-1].accepted_from is None:
            raise InputError("a life begins where nothing was accepted")
        if not windows or any(not window.sum() for window in windows):
            raise InputError("a reference must have windows, and each of them rows")
        prior = None if one["prior"] is None else prior_of(one["prior"])
        kept = lives[-1].judgement.monitor.positives if lives else None
        monitor = Monitor.of(settings, edges, labelled, windows, prior, together=together, days=days, kept=kept)
        confirmed = _by_age(reference.get("confirmed"), edges.size)
        lives.append(_life(one, monitor, confirmed, is_later=bool(lives)))
        if lives[-1].accepted_from is not None:
            windows, together = _accepted_windows(lives[-1]), False
    if not lives or lives[-1].accepted_from is not None:
        raise InputError("a state without a life")
    digest, asked = str(reference["digest"]), str(reference["class_prior"])
    return Pulse(tuple(lives), reference_windows=tuple(first), digest=digest, asked=asked)


def _life(told: Mapping[str, Any], monitor: Monitor, confirmed: Floats | None, *, is_later: bool) -> WatchLife:
    judged = tuple(_reduced(window, monitor.edges.size) for window in list_of(told["windows"], "windows"))
    names_of(window.name for window in judged)
    totals = totals_of(told["log_totals"], len(judged))
    judgement = Judgement(monitor, judged, totals, confirmed=confirmed, is_later_life=is_later)
    because = told["because"]
    return WatchLife(judgement, told["accepted_from"], None if because is None else str(because))


def _accepted_windows(life: WatchLife) -> list[Floats]:
    """The windows from the accepted one on, which are the next reference."""
    judged = life.judgement.windows
    names = [window.name for window in judged]
    if life.accepted_from not in names:
        raise InputError(f"there is no window {shown(life.accepted_from)} that could have been accepted")
    return [window.counts.population for window in judged[names.index(life.accepted_from) :]]


def _numbers(counts: Floats | None) -> Any:
    """Counts, as whole numbers where they are: half the length of the file."""
    if counts is None:
        return None
    whole = counts.astype(np.int64)
    return (whole if np.array_equal(whole, counts) else counts).tolist()


def _by_age(told: Any, cells: int) -> Floats | None:
    """Labelled rows per cell that were confirmed within each of AGES."""
    if told is None:
        return None
    return np.array([counts_of(one, cells, "confirmed") for one in list_of(told, "confirmed")])


def _window(window: ReducedWindow) -> dict[str, Any]:
    return {
        "name": window.name,
        "population_digest": window.population_digest,
        "labelled_digest": window.labelled_digest,
        "population": _numbers(window.counts.population),
        "labelled": _numbers(window.counts.labelled),
        "outside": window.counts.outside,
        "across": [list(one) for one in window.counts.across],
        "confirmed": _numbers(window.confirmed),
    }


def _reduced(told: Mapping[str, Any], cells: int) -> ReducedWindow:
    name = str(told["name"])
    population, labelled = (counts_of(told[kind], cells, f"the window {shown(name)}") for kind in KINDS)
    if not population.sum():
        raise InputError(f"the window {shown(name)} has no rows")
    across = tuple(across_of(one, cells) for one in list_of(told["across"], "across"))
    counts = CellCounts(population, labelled, number_of(told["outside"], "outside", at_least=0), across)
    digests = str(told["population_digest"]), str(told["labelled_digest"])
    return ReducedWindow(name, counts, *digests, _by_age(told.get("confirmed"), cells))
