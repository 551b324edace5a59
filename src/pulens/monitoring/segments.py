"""Segments watched apart, with one promise for all of them together.

Half of the chance of a false alarm is for all rows together, half for the segments. ``family`` divides their half by
their number: the promise then holds for any alarm of any segment. ``fdr`` is e-BH (Wang and Ramdas, 2022): after each
window the segments with the k largest running totals alarm, for the largest k with M_(k) >= S/(k alpha); of those that
alarm the expected share that did not change is then at most alpha, whatever depends on what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pulens.monitoring.answer import Pulse
from pulens.monitoring.monitor import PARTS, WatchSettings
from pulens.monitoring.sources import natural
from pulens.types import Floats

#: Of the chance of a false alarm, for the segments; the rest is for all rows together.
FOR_SEGMENTS = 0.5


def settings_apart(settings: WatchSettings, count: int) -> tuple[WatchSettings, WatchSettings]:
    """The settings of the watch of all rows, and of each of this many segments."""
    own = settings.alpha * FOR_SEGMENTS
    whole = replace(settings, alpha=settings.alpha - own)
    return whole, replace(settings, alpha=own / count if settings.control == "family" else own)


def shared_bars(log_totals: Floats, alpha: float) -> Floats:
    """The log of what running totals must reach after each window, by e-BH: S/(k alpha) with k segments that do.

    ``log_totals`` has a row per segment and a column per window.

    >>> np.exp(shared_bars(np.log([[250.0], [150.0], [1.0], [1.0]]), 0.02)).round()
    array([100.])
    """
    count = log_totals.shape[0]
    falling = -np.sort(-log_totals, axis=0)
    bars = np.log(count / alpha) - np.log(np.arange(1, count + 1))
    reached = falling >= bars[:, None]
    # the largest k that holds, or one where none does
    k = np.where(reached.any(axis=0), count - np.argmax(reached[::-1], axis=0), 1)
    result: Floats = bars[k - 1]
    return result


def controlled(pulse: Pulse) -> Pulse:
    """The same answer with the bars that its segments share; they depend on all of them."""
    if not pulse.segments or pulse.life.judgement.monitor.settings.control != "fdr":
        return pulse
    judgements = {name: one.life.judgement for name, one in pulse.segments.items()}
    names = sorted({window.name for each in judgements.values() for window in each.windows}, key=natural)
    indices = {name: index for index, name in enumerate(names)}
    bars: dict[str, dict[str, Floats]] = {name: {} for name in judgements}
    totals: dict[str, dict[str, list[float]]] = {name: {} for name in judgements}
    for line in PARTS:
        log_totals = np.zeros((len(judgements), len(names)))  # a segment without windows has a total of one
        for row, (name, each) in enumerate(judgements.items()):
            run = each.runs.get(line)
            if run is not None:
                totals[name][line] = run.log_totals.tolist()
                log_totals[row] = _held(run.log_totals, [indices[window.name] for window in each.windows], len(names))
        settings = next(iter(judgements.values())).monitor.settings
        at = shared_bars(log_totals, settings.level(line))
        for name, each in judgements.items():
            if line in each.runs:
                bars[name][line] = at[[indices[window.name] for window in each.windows]]
    return replace(
        pulse, segments={name: _with_bars(one, totals[name], bars[name]) for name, one in pulse.segments.items()}
    )


def _held(log_totals: Floats, indices: Sequence[int], count: int) -> Floats:
    """Totals on the days of all segments: the last known one where a segment has no window, one before the first."""
    result = np.full(count, np.nan)
    result[indices] = log_totals
    known = np.maximum.accumulate(np.where(np.isnan(result), -1, np.arange(count)))
    return np.where(known >= 0, result[np.maximum(known, 0)], 0.0)


def _with_bars(pulse: Pulse, totals: Mapping[str, Sequence[float]], bars: Mapping[str, Floats]) -> Pulse:
    """Totals do not depend on bars and are kept; what follows from an alarm is found again."""
    old = pulse.life.judgement
    judgement = replace(old, known=totals, bars=bars)
    judgement.__dict__.update({name: old.__dict__[name] for name in ("shifts", "fits") if name in old.__dict__})
    return replace(pulse, lives=(*pulse.lives[:-1], replace(pulse.life, judgement=judgement)))
