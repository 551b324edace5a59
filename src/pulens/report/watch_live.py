"""What a page needs for numbers at another class prior: parts of every window, moments of the reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.monitoring.judging import FEWEST_ROWS
from pulens.monitoring.numbers import FARTHEST
from pulens.report.page_data import packed

if TYPE_CHECKING:
    from pulens.monitoring import Pulse, WatchedWindow
    from pulens.monitoring.judging import Judgement
    from pulens.monitoring.monitor import Monitor
    from pulens.monitoring.rates import Parts
    from pulens.types import Floats

MOST_TRACK = 0.95  # of the way to the prior at which labels begin to say nothing


def live_data(pulse: Pulse) -> dict[str, Any] | None:
    """Everything that the slider of a watch's page reads; None where no number rests on a class prior."""
    monitor = pulse.life.judgement.monitor
    windows = list(pulse.windows.values())
    if monitor.prior is None or not windows:
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
        "shifts": [window.shift.value for window in windows],
        "own": own_data(pulse),
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


def own_data(pulse: Pulse) -> dict[str, list[float]]:
    """By the place of each window that its own positives judge on request: the seven means that d is made of.

    Where positives moved, even the change of the share needs the class prior, so that d, its error and all that follows
    are found again at each (:func:`pulens.monitoring.rates.with_own_positives`). The means are those of the weight over
    the window, over its own positives, over the reference's population and over its labelled rows, and the shares
    flagged R, q0, q1; after them the upper triangle of their covariance, each row's influence squared and summed.
    """
    judgement = pulse.life.judgement
    if judgement.monitor.settings.positives != "window" or judgement.monitor.flagged is None:
        return {}
    places = enumerate(pulse.windows.values())
    return {str(place): _own_row(judgement, place) for place, one in places if one.positives == "window"}


def _own_row(judgement: Judgement, place: int) -> list[float]:
    reference, w = judgement.monitor.reference, judgement.monitor.reference.weights
    f = np.asarray(judgement.monitor.flagged, np.float64)
    window, own = judgement.windows[place].counts.population, judgement.own_labelled(place)
    rows, size = float(window.sum()), float(own.sum())
    means = [float(window @ w) / rows, float(own @ w) / size, 0.0, 1.0]
    shares = [float(own @ f) / size, float(reference.q @ f), float(window @ f) / rows]

    def influence(columns: dict[int, Floats], count: float) -> Floats:
        result = np.zeros((w.size, 7))
        for column, values in columns.items():
            result[:, column] = values / count
        return result

    of_window = influence({0: w - means[0], 6: f - shares[2]}, rows)
    of_own = influence({1: w - means[1], 4: f - shares[0]}, size)
    of_population = influence({2: w, 5: f - shares[1]}, reference.rows)
    of_labelled = influence({3: w - 1}, reference.n_labelled)
    half = reference.p / 2
    terms = [(half, of_own)]
    if reference.together:  # labelled rows are rows of the population too, here and there
        terms += [(own, of_window + of_own), (window - own + half, of_window)]
        terms += [(reference.labelled, of_population + of_labelled)]
        terms += [(reference.population - reference.labelled, of_population)]
    else:
        terms += [(own, of_own), (window + half, of_window)]
        terms += [(reference.population, of_population), (reference.labelled, of_labelled)]
    covariance = np.sum([(counts[:, None] * each).T @ each for counts, each in terms], axis=0)
    return [*means, *shares, *covariance[np.triu_indices(7)].tolist()]


def _is_fixed(window: WatchedWindow) -> bool:
    """Whether a window is withheld at any class prior: too few rows, or more positives than rows."""
    return window.trust == "withheld" and (window.rows < FEWEST_ROWS or window.shift.value > 1)
