"""The state of a monitor as JSON: a new day costs one window, and day by day gives what judging at once does."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pulens.errors import InputError, shown
from pulens.types import Floats
from pulens.watching.answer import Pulse, WatchLife
from pulens.watching.cells import CellCounts
from pulens.watching.fit import Fit
from pulens.watching.judging import Judgement, ReducedWindow
from pulens.watching.monitor import AGES, KnownPrior, Monitor, WatchSettings
from pulens.watching.segments import controlled
from pulens.watching.shift import Shift

FORMAT = 1


def state_text(pulse: Pulse) -> str:
    """All that the next day needs, in the same bytes for the same windows."""
    told = _told(pulse)
    if pulse.segments or pulse.unjudged:
        told["segments"] = {name: _told(one) for name, one in pulse.segments.items()}
        told["unjudged"] = dict(pulse.unjudged)
    return json.dumps(told, allow_nan=False)


def _told(pulse: Pulse) -> dict[str, Any]:
    lives = []
    for life in pulse.lives:
        judgement = life.judgement
        lives.append(
            {
                "accepted_from": life.accepted_from,
                "because": life.because,
                "prior": None if judgement.monitor.prior is None else judgement.monitor.prior.to_dict(),
                "windows": [_window(judgement, place) for place in range(len(judgement.windows))],
                "log_totals": {
                    name: [_plain(value) for value in run.log_totals] for name, run in judgement.runs.items()
                },
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
            "confirmed": _sparse(pulse.life.judgement.confirmed),
        },
        "edges": monitor.edges.tolist(),
        "lives": lives,
    }


def read_state(path: str | Path) -> Pulse:
    """The monitor that a state file tells, with all that was judged."""
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a readable state of a watch: {error}.") from error
    if not isinstance(told, dict) or told.get("pulens_watch_state") != FORMAT:
        seen = told.get("pulens_watch_state") if isinstance(told, dict) else told
        raise InputError(
            f"{path}: a state of format {shown(seen)}; this version reads format {FORMAT}. Judge everything anew into "
            "another state file."
        )
    try:
        apart = {str(name): _pulse(one) for name, one in told.get("segments", {}).items()}
        unjudged = {str(name): str(reason) for name, reason in told.get("unjudged", {}).items()}
        return controlled(replace(_pulse(told), segments=apart, unjudged=unjudged))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: a damaged state of a watch: {error}. Judge everything anew (--rejudge).") from error


def _pulse(told: Mapping[str, Any]) -> Pulse:
    settings = WatchSettings(**told["settings"])
    edges = np.array(told["edges"], float)
    reference = told["reference"]
    labelled = np.array(reference["labelled"], float)
    first = [np.array(window, float) for window in reference["windows"]]
    lives: list[WatchLife] = []
    windows, together = first, bool(reference["together"])
    for one in told["lives"]:
        prior = None if one["prior"] is None else KnownPrior(**one["prior"])
        monitor = Monitor.of(settings, edges, labelled, windows, prior, together=together)
        judged = tuple(_reduced(window, edges.size) for window in one["windows"])
        measured = {str(window["name"]): _measured(window) for window in one["windows"]}
        confirmed = _dense(reference.get("confirmed"), edges.size)
        judgement = Judgement(monitor, judged, one["log_totals"], measured, confirmed=confirmed)
        lives.append(WatchLife(judgement, one["accepted_from"], one["because"]))
        if one["accepted_from"] is not None:
            names = [window.name for window in judged]
            windows = [window.counts.population for window in judged[names.index(one["accepted_from"]) :]]
            together = False
    if not lives:
        raise InputError("a state without a life")
    digest, asked = str(reference["digest"]), str(reference["class_prior"])
    return Pulse(tuple(lives), reference_windows=tuple(first), digest=digest, asked=asked)


def _numbers(counts: Floats) -> list[float]:
    """Counts, as whole numbers where they are: half the length of the file."""
    whole = counts.astype(np.int64)
    found: list[float] = (whole if np.array_equal(whole, counts) else counts).tolist()
    return found


def _sparse(confirmed: Floats | None) -> list[list[float]] | None:
    """Labelled rows by age and cell, of which most are none."""
    if confirmed is None:
        return None
    ages, cells = np.nonzero(confirmed)
    return [[int(age), int(cell), float(confirmed[age, cell])] for age, cell in zip(ages, cells, strict=True)]


def _dense(told: Any, cells: int) -> Floats | None:
    if told is None:
        return None
    found = np.zeros((len(AGES), cells))
    for age, cell, count in told:
        found[int(age), int(cell)] = float(count)
    return found


def _window(judgement: Judgement, place: int) -> dict[str, Any]:
    window, shift, fit = judgement.windows[place], judgement.shifts[place], judgement.fits[place]
    return {
        "name": window.name,
        "population_digest": window.population_digest,
        "labelled_digest": window.labelled_digest,
        "population": _numbers(window.counts.population),
        "labelled": _numbers(window.counts.labelled),
        "shift": [shift.value, shift.error],
        "fit": None if fit is None else [fit.p_value, fit.whitened.tolist()],
        "outside": window.counts.outside,
        "across": [list(one) for one in window.counts.across],
    } | ({} if window.confirmed is None else {"confirmed": _sparse(window.confirmed)})


def _reduced(told: Mapping[str, Any], cells: int) -> ReducedWindow:
    population, labelled = np.array(told["population"], float), np.array(told["labelled"], float)
    if population.shape != (cells,) or labelled.shape != (cells,):
        raise InputError(f"the window {shown(told['name'])} needs {cells} counts")
    across = tuple((float(rows), int(first), int(last)) for rows, first, last in told["across"])
    counts = CellCounts(population, labelled, float(told["outside"]), across)
    digests = str(told["population_digest"]), str(told["labelled_digest"])
    return ReducedWindow(str(told["name"]), counts, *digests, _dense(told.get("confirmed"), cells))


def _measured(told: Mapping[str, Any]) -> tuple[Shift, Fit | None]:
    fit = told["fit"]
    return Shift(*map(float, told["shift"])), None if fit is None else Fit(float(fit[0]), np.array(fit[1], float))


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
