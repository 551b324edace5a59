"""Accepting an alarm: a life ends, and its last windows are the next reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pulens.errors import InputError, listed, nearest, shown
from pulens.monitoring.answer import Pulse, WatchLife
from pulens.monitoring.judging import Judgement
from pulens.monitoring.monitor import KnownPrior, Monitor

FEWEST_WINDOWS = 10
FEWEST_ROWS = 1000


def accepted(pulse: Pulse, window: str, because: str = "") -> Pulse:
    """Windows from this one on become the population of a new reference; labelled positives stay.

    The class prior becomes that of these windows with its doubt, and the chance of a false alarm starts again.
    """
    judgement = pulse.life.judgement
    names = [one.name for one in judgement.windows]
    if str(window) not in names:
        raise InputError(
            f"no window {shown(str(window))} can be accepted in this life; it has {listed(names)}."
            f"{nearest(window, names)}"
        )
    chosen = [one.counts.population for one in judgement.windows[names.index(str(window)) :]]
    rows = float(np.sum(chosen))
    if len(chosen) < FEWEST_WINDOWS and rows < FEWEST_ROWS:
        raise InputError(
            f"from {window} on there are {len(chosen)} windows with {rows:,.0f} rows, too few for a reference: "
            f"{FEWEST_WINDOWS} windows or {FEWEST_ROWS:,} rows are the least. Wait, or accept from an earlier window."
        )
    old = judgement.monitor
    together = np.sum(chosen, axis=0)
    prior = None
    if old.prior is not None:
        noise, variance = old.settings.label_noise, old.prior.variance
        found = [
            reading.rate("prior", reading.parts(together), noise=noise, prior_variance=variance)
            for reading in old.readings
        ]
        value, is_range = found[0].value, old.prior.low < old.prior.high
        low, high = (found[1].low, found[-1].high) if is_range else (value, value)
        error = found[0].error if old.labels is None else (found[0].high - found[0].low) / 2 / 1.96
        prior = KnownPrior(value, low, high, 0.0 if is_range else error**2, f"accepted at {window}")
    known, as_before = old.reference.labelled, old.positives
    monitor = Monitor.of(old.settings, old.edges, known, chosen, prior, together=False, days=old.days, kept=as_before)
    ended = replace(pulse.life, accepted_from=str(window), because=because)
    next_life = WatchLife(Judgement(monitor, (), {}, confirmed=judgement.confirmed, is_later_life=True))
    return replace(pulse, lives=(*pulse.lives[:-1], ended, next_life))
