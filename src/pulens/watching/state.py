"""The state of a monitor as JSON: a new day costs one window, and day by day gives what judging at once does."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pulens.errors import InputError, shown
from pulens.watching.answer import Pulse, WatchLife
from pulens.watching.cells import CellCounts
from pulens.watching.judging import Judgement, ReducedWindow
from pulens.watching.monitor import KnownPrior, Monitor, WatchSettings

FORMAT = 1


def state_text(pulse: Pulse) -> str:
    """All that the next day needs, in the same bytes for the same windows."""
    lives = []
    for life in pulse.lives:
        judgement = life.judgement
        lives.append(
            {
                "accepted_from": life.accepted_from,
                "because": life.because,
                "prior": None if judgement.monitor.prior is None else judgement.monitor.prior.to_dict(),
                "windows": [_window(window) for window in judgement.windows],
                "log_totals": {
                    name: [_plain(value) for value in run.log_totals] for name, run in judgement.runs.items()
                },
            }
        )
    monitor = pulse.lives[0].judgement.monitor
    told = {
        "pulens_watch_state": FORMAT,
        "settings": monitor.settings.to_dict(),
        "reference": {
            "digest": pulse.digest,
            "labelled": monitor.reference.labelled.tolist(),
            "windows": [window.tolist() for window in pulse.reference_windows],
            "together": monitor.reference.together,
        },
        "edges": monitor.edges.tolist(),
        "lives": lives,
    }
    return json.dumps(told, allow_nan=False)


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
        return _pulse(told)
    except (KeyError, TypeError, ValueError, IndexError) as error:
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
        lives.append(WatchLife(Judgement(monitor, judged, one["log_totals"]), one["accepted_from"], one["because"]))
        if one["accepted_from"] is not None:
            names = [window.name for window in judged]
            windows = [window.counts.population for window in judged[names.index(one["accepted_from"]) :]]
            together = False
    if not lives:
        raise InputError("a state without a life")
    return Pulse(tuple(lives), digest=str(reference["digest"]), reference_windows=tuple(first))


def _window(window: ReducedWindow) -> dict[str, Any]:
    return {
        "name": window.name,
        "population_digest": window.population_digest,
        "labelled_digest": window.labelled_digest,
        "population": window.counts.population.tolist(),
        "labelled": window.counts.labelled.tolist(),
        "outside": window.counts.outside,
        "across": [list(one) for one in window.counts.across],
    }


def _reduced(told: Mapping[str, Any], cells: int) -> ReducedWindow:
    population, labelled = np.array(told["population"], float), np.array(told["labelled"], float)
    if population.shape != (cells,) or labelled.shape != (cells,):
        raise InputError(f"the window {shown(told['name'])} needs {cells} counts")
    across = tuple((float(rows), int(first), int(last)) for rows, first, last in told["across"])
    counts = CellCounts(population, labelled, float(told["outside"]), across)
    return ReducedWindow(str(told["name"]), counts, str(told["population_digest"]), str(told["labelled_digest"]))


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
