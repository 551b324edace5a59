"""From the shift to precision, recall, F1 and accuracy of a window at the deployed threshold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.inference.kernels.mover import jeffreys_ends
from pulens.monitoring.shift import CellReference
from pulens.types import Booleans, Floats

TINY = 1e-30  # the step of a derivative by complex numbers: exact, since nothing is subtracted


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What the metrics of a window are made of: d, recall among labelled, flagged shares, and their covariance.

    ``values`` are (d, share flagged of P, of U0, of U1); ``covariance`` is that of the four. ``own`` is what needed for
    the numbers of the window's very rows; None where its own positives say the recall.
    """

    values: Floats
    covariance: Floats
    own: OwnRows | None = None


@dataclass(frozen=True, slots=True, eq=False)
class OwnRows:
    """What the doubt about a window's very rows needs: second moments of (w - d, 1, flagged), and the reference's part.

    Precision and F1 of a window's very rows are not those of the population it was drawn from: how many of its
    positives are flagged is chance too, and in small windows the larger part of the doubt.
    """

    among_labelled: Floats
    among_population: Floats
    rows: float
    of_reference: Floats  # the part of the covariance that is not the window's

    def variance(self, by_shift: float, rates: tuple[float, float], slopes: Floats, a0: float) -> float:
        r"""Variance of an estimate less the number of these very rows, as far as their rows go.

        A row adds s (w - d) - m_a (y - a_1) - m_h (y f - h), with s the estimate's slope in d, ``slopes`` (m_a, m_h)
        the metric's in the share of positives a_1 and of true positives h (``rates``); the flagged share is the same
        in both. Positives and negatives of the window are distributed as the reference's.
        """
        centre = slopes[0] * rates[0] + slopes[1] * rates[1]
        negatives = (self.among_population - a0 * self.among_labelled) / (1 - a0)
        of_positive = np.array([by_shift, centre - slopes[0], -slopes[1]])
        of_negative = np.array([by_shift, centre, 0.0])
        share = min(max(rates[0], 0.0), 1.0)
        among = max(float(of_positive @ self.among_labelled @ of_positive), 0.0)
        others = max(float(of_negative @ negatives @ of_negative), 0.0)
        return ((share + 0.5 / self.rows) * among + (1 - share) * others) / self.rows


def parts_of(reference: CellReference, window: Floats, flagged: Booleans, shift: float) -> Parts:
    """Each row's influence on (d, R, q0, q1), squared and summed; half a labelled row is added to the window."""
    rows, w, f = float(window.sum()), reference.weights, flagged.astype(np.float64)
    recall, q0, q1 = float(reference.p @ f), float(reference.q @ f), float(window @ f) / rows
    zero = np.zeros_like(w)
    of_window = np.column_stack([w - shift, zero, zero, f - q1]) / rows
    of_population = np.column_stack([-(1 - shift) * w, zero, f - q0, zero]) / reference.rows
    of_labelled = np.column_stack([-shift * (w - 1), f - recall, zero, zero]) / reference.n_labelled
    of_rows = _squared(window + reference.p / 2, of_window)
    if reference.together:
        rest = _squared(reference.labelled, of_population + of_labelled)
        rest = rest + _squared(reference.population - reference.labelled, of_population)
    else:
        rest = _squared(reference.population, of_population) + _squared(reference.labelled, of_labelled)
    columns = np.column_stack([w - shift, np.ones_like(w), f])
    own = OwnRows(_squared(reference.p, columns), _squared(reference.q, columns), rows, rest)
    return Parts(np.array([shift, recall, q0, q1]), of_rows + rest, own)


def with_own_positives(
    reference: CellReference, window: Floats, own: Floats, flagged: Booleans, class_prior: float
) -> Parts:
    r"""The same with a window's own labelled positives P1 in place of the reference's, where positives moved.

    .. math:: a_1 = (E_{U1} h - E_N h) / (E_{P1} h - E_N h), \quad E_N h = (E_{U0} h - a_0 E_P h)/(1 - a_0)

    so that even the change of the share needs the class prior; d stands for (a1 - a0)/(1 - a0) as before. In weights
    E_N is -a0/(1 - a0), and every row's influence follows from the two formulas.
    """
    w, f, rows, size = reference.weights, flagged.astype(np.float64), float(window.sum()), float(own.sum())
    mean, recall, odds = float(own @ w) / size, float(own @ f) / size, class_prior / (1 - class_prior)
    shift, q0, q1 = float(window @ w) / rows, float(reference.q @ f), float(window @ f) / rows
    prior = (shift + odds) / (mean + odds)
    slope, rest = 1 / ((mean + odds) * (1 - class_prior)), (1 - prior) / (1 - class_prior)
    zero = np.zeros_like(w)
    of_window = np.column_stack([slope * (w - shift), zero, zero, f - q1]) / rows
    of_own = np.column_stack([-slope * prior * (w - mean), f - recall, zero, zero]) / size
    of_population = np.column_stack([-slope * rest * w, zero, f - q0, zero]) / reference.rows
    of_labelled = np.column_stack([slope * rest * class_prior * (w - 1), zero, zero, zero]) / reference.n_labelled
    half = reference.p / 2
    if reference.together:  # labelled rows are rows of the population too, here and there
        result = _squared(own, of_window + of_own) + _squared(window - own + half, of_window)
        result = result + _squared(reference.labelled, of_population + of_labelled)
        result = result + _squared(reference.population - reference.labelled, of_population)
    else:
        result = _squared(own, of_own) + _squared(window + half, of_window)
        result = result + _squared(reference.population, of_population) + _squared(reference.labelled, of_labelled)
    result = result + _squared(half, of_own)
    return Parts(np.array([(prior - class_prior) / (1 - class_prior), recall, q0, q1]), result)


def _squared(counts: Floats, influence: Floats) -> Floats:
    result: Floats = (counts[:, None] * influence).T @ influence
    return result


def _true_recall(theta: Any, noise: float) -> Any:
    """Recall among positives, where a share of the labelled rows is really negative."""
    _, among_labelled, q0, _, a0 = theta
    if not noise:
        return among_labelled
    return (among_labelled * (1 - a0) - noise * q0) / (1 - noise - a0)


def _prior(theta: Any, noise: float) -> Any:
    return theta[4] + (1 - noise - theta[4]) * theta[0]


#: Metrics of the shares of positives, of true positives and of flagged rows.
METRICS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "precision": lambda prior, hit, q1: hit / q1,
    "f1": lambda prior, hit, q1: 2 * hit / (prior + q1),
    "accuracy": lambda prior, hit, q1: 1 - prior - q1 + 2 * hit,
}


@dataclass(frozen=True, slots=True)
class WindowRate:
    """A number held inside [0, 1], its standard error before that, and its interval.

    The error is about the population that the window was drawn from; the interval is wide enough for the window's very
    rows too.
    """

    value: float
    error: float
    low: float
    high: float


def rate_of(
    name: str, parts: Parts, class_prior: float, *, prior_variance: float = 0.0, noise: float = 0.0, z: float = 1.96
) -> WindowRate:
    """A metric by the delta method on its formula; true positives are held at the rows flagged, values in [0, 1].

    A value held at 0 or 1 keeps the width of its other side: what is impossible is not certain.

    >>> four = CellReference.of(np.array([1.0, 2, 5, 12]), np.array([40.0, 30, 20, 10]))
    >>> window = np.array([30.0, 30, 25, 15])
    >>> parts = parts_of(four, window, np.array([False, False, True, True]), 0.12593196518646102)
    >>> found = rate_of("precision", parts, 0.2)
    >>> round(found.value, 6), round(found.error, 6)
    (0.639084, 0.125654)
    """
    theta = np.append(parts.values, class_prior)
    if name == "f1":  # whose formula has no sense below a share of 0
        theta[0] = max(theta[0], -class_prior / (1 - noise - class_prior))

    def formula(theta: Any) -> Any:
        prior, recall = _prior(theta, noise), _true_recall(theta, noise)
        if name in METRICS:
            return METRICS[name](prior, prior * recall, theta[3])
        return prior if name == "prior" else recall

    def all_true(theta: Any) -> Any:
        """Of windows whose flagged rows are all true positives."""
        return METRICS[name](_prior(theta, noise), theta[3], theta[3])

    prior, recall, q1 = float(_prior(theta, noise)), float(_true_recall(theta, noise)), float(theta[3])
    free, slopes = float(formula(theta)), _slopes(formula, theta)
    variance = _variance(slopes, parts.covariance, prior_variance)
    error, wide = float(np.sqrt(max(variance, 0.0))), variance
    if parts.own is not None and name in METRICS:  # an estimate less the number of the window's very rows
        by_rows = _slopes(lambda rates: METRICS[name](rates[0], rates[1], q1), np.array([prior, prior * recall]))
        own = parts.own.variance(float(slopes[0]), (prior, prior * recall), by_rows, class_prior)
        wide = max(wide, own + _variance(slopes, parts.own.of_reference, prior_variance))
    reach = z * float(np.sqrt(max(wide, 0.0)))
    is_beyond = name in METRICS and prior * recall > q1  # more true positives than rows flagged
    value = min(max(float(all_true(theta)) if is_beyond else free, 0.0), 1.0)
    low, high = free - reach, free + reach
    if low >= 1:
        low = 1 - reach
    if high <= 0:
        high = reach
    if is_beyond:  # the share of positives is in doubt still, with all flagged ones true
        held = _variance(_slopes(all_true, theta), parts.covariance, prior_variance)
        reach = z * float(np.sqrt(max(held, 0.0)))
        low, high = min(low, value - reach), max(high, value + reach)
    low, high = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
    return WindowRate(value, error, min(low, value), max(high, value))


def _slopes(formula: Callable[[Any], Any], theta: Floats) -> Floats:
    """Derivatives in all that a metric is made of."""
    return np.asarray(np.imag(formula(theta[:, None] + np.eye(theta.size) * 1j * TINY)) / TINY)


def _variance(slopes: Floats, covariance: Floats, prior_variance: float) -> float:
    return float(slopes[:4] @ covariance @ slopes[:4]) + float(slopes[4]) ** 2 * prior_variance


def recall_among(hits: float, size: float, z_tail: float = 0.025) -> tuple[float, float, float]:
    """A share with its Jeffreys interval; at 0 and 1 the interval reaches the end.

    >>> [round(number, 4) for number in recall_among(17, 20)]
    [0.85, 0.6514, 0.9559]
    """
    low, high = jeffreys_ends(hits, size, z_tail)
    return hits / size, float(low), float(high)
