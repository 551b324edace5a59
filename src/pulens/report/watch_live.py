"""What a page needs for numbers at another class prior: parts of every window, moments of the reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.report.page_data import packed
from pulens.watching.judging import FEWEST_ROWS
from pulens.watching.numbers import FARTHEST

if TYPE_CHECKING:
    from pulens.types import Floats
    from pulens.watching import Pulse, WatchedWindow
    from pulens.watching.monitor import Monitor
    from pulens.watching.rates import Parts

MOST_TRACK = 0.95  # of the way to the prior at which labels begin to say nothing


def live_data(pulse: Pulse) -> dict[str, Any] | None:
    """Everything that the slider of a watch's page reads; None where no number rests on a class prior.

    Windows judged by their own positives on request need the class prior even for their change: no slider then.
    """
    monitor = pulse.life.judgement.monitor
    windows = list(pulse.windows.values())
    if monitor.prior is None or not windows or monitor.settings.positives == "window":
        return None
    settings, prior = monitor.settings, monitor.prior
    most = (1 - settings.label_noise) * MOST_TRACK
    reference = monitor.reference
    # in a single set the labelled positives are there, whatever else is
    least = (1 - settings.label_noise) * reference.n_labelled / reference.rows if reference.together else 0.0
    return {
        "value": prior.value,
        "low": prior.low,
        "high": prior.high,
        "exact": prior.low == prior.high and not prior.variance,
        "track": [least, min(most, max(3 * prior.value, prior.value + 0.1))],
        "least": least,
        "most": most,
        "world": world_of(monitor),
        "parts": packed(parts_table(windows), whole=False),
        "fixed": [_is_fixed(one) for one in windows],
    }


def world_of(monitor: Monitor) -> dict[str, Any]:
    """What all windows share: label noise, the reference's cells, moments of the weight and of being flagged."""
    reference = monitor.reference
    w, f = reference.weights, np.zeros(monitor.edges.size) if monitor.flagged is None else monitor.flagged * 1.0

    def moments(shares: Floats) -> list[float]:
        return [float(shares @ (w * w)), float(shares @ w), float(shares @ (w * f)), float(shares @ f)]

    at_none, at_all = (float(reference.covariance(w[:, None], shift)[0, 0]) for shift in (0.0, 1.0))
    between = float(reference.covariance(w[:, None], 0.0, 1.0)[0, 0])
    return {
        "noise": monitor.settings.label_noise,
        "z": monitor.settings.z,
        "farthest": FARTHEST,
        "moments": {"labelled": moments(reference.p), "population": moments(reference.q)},
        "cells": {"p": reference.p.tolist(), "q": reference.q.tolist(), "w": w.tolist()},
        "reference": [at_none, between, at_all],
    }


def parts_table(windows: Sequence[WatchedWindow]) -> Floats:
    """A row per window: d, R, q0, q1, rows, and the upper triangles of both covariances, as the page reads them."""
    return np.array([_row(one.parts, one.rows) for one in windows if one.parts is not None])


def _row(parts: Parts, rows: float) -> Floats:
    upper = np.triu_indices(4)
    rest = np.full(10, math.nan) if parts.own is None else parts.own.of_reference[upper]
    return np.concatenate([parts.values, [rows], parts.covariance[upper], rest])


def _is_fixed(window: WatchedWindow) -> bool:
    """Whether a window is withheld at any class prior: too few rows, or more positives than rows."""
    return window.trust == "withheld" and (window.rows < FEWEST_ROWS or window.shift.value > 1)
