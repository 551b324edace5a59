"""Alarms for life: a likelihood ratio of "changed once, some time" against "never", mixed over every start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, logsumexp

from pulens.types import Floats, Places
from pulens.watching.noise import lasting

LIFE = 50.0  # half of the budget is spent in so many windows, and some is always left
SPREAD = 4.0  # how large a change is expected to be: variance of the level, in variances of a typical window


def start_weights(windows: int, life: float = LIFE) -> Floats:
    """How much of the budget each possible start has: life/((j-1+life)(j+life)), which sums to t/(t+life).

    >>> float(round(start_weights(50).sum(), 12))
    0.5
    """
    j = np.arange(1, windows + 1)
    found: Floats = life / ((j - 1 + life) * (j + life))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """After a window: the log of the running total, and the log weight, level and variance of each possible start."""

    log_total: float
    log_weights: Floats
    levels: Floats
    variances: Floats

    @property
    def shares(self) -> Floats:
        """The weight of each start among all."""
        found: Floats = np.exp(self.log_weights - logsumexp(self.log_weights))
        return found

    def among_first(self, count: int) -> Starts:
        """The same, of the first so many starts alone."""
        return Starts(self.log_total, self.log_weights[:count], self.levels[:count], self.variances[:count])

    @property
    def heaviest(self) -> int:
        return int(np.argmax(self.log_weights))

    def likely(self, share: float = 0.9) -> Places:
        """The smallest set of starts that holds a share of the weight, in order of time."""
        order = np.argsort(-self.log_weights, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self.shares[order]), share - 1e-12)) + 1
        return np.sort(order[:enough])


@dataclass(frozen=True, slots=True)
class Alike:
    """Noise that neighbouring windows share: its autocorrelation, its part of a window's variance, and how many windows
    the reference is made of."""

    correlation: float
    part: float
    reference_windows: float

    def inflation(self, windows: Floats) -> Floats:
        """How much larger the variance of a mean of so many windows is than if they were independent."""
        found: Floats = 1 + self.part * (lasting(np.maximum(windows, 1.0), self.correlation) - 1)
        return found


def starts_after(
    values: Floats,
    variances: Floats,
    reference_variance: float,
    spread: float,
    *,
    life: float = LIFE,
    added: Floats | None = None,
    alike: Alike | None = None,
) -> Starts:
    r"""Compare windows j..t with the reference and windows before j, for every j.

    .. math:: \log LR_j = -\tfrac k2 \log(1 + \tau^2/V_j) + \tfrac{|D_j|^2}{2} (1/V_j - 1/(V_j + \tau^2))

    and M = sum_j pi_j LR_j + H/(t+H), whose mean is 1 while nothing changes, so that it ever reaches 1/alpha with
    chance alpha at most (Ville). ``values`` has one row per window and a column per coordinate; ``spread`` is tau^2;
    ``added`` is a further variance of each start's level; ``alike`` says that neighbouring windows share their noise.

    >>> found = starts_after(np.array([[0.25]]), np.array([0.001]), 0.0001, 0.004)
    >>> round(float(found.log_total), 6)
    17.582849
    """
    k = values.shape[1]
    precision = 1 / variances
    sums = np.concatenate([[0.0], np.cumsum(precision)])
    totals = np.concatenate([np.zeros((1, k)), np.cumsum(values * precision[:, None], axis=0)])
    since, before = sums[-1] - sums[:-1], sums[:-1]
    with np.errstate(divide="ignore"):
        fixed = np.inf if reference_variance == 0 else 1 / reference_variance
    level = (totals[-1] - totals[:-1]) / since[:, None]
    base = totals[:-1] / (fixed + before)[:, None]
    gaps = level - base
    own: Floats = 1 / since
    earlier: Floats = 1 / (fixed + before)
    if alike is not None:
        place = np.arange(values.shape[0], dtype=np.float64)
        own = own * alike.inflation(values.shape[0] - place)
        earlier = earlier * alike.inflation(alike.reference_windows + place)
    spreads = own + earlier
    if added is not None:
        spreads = spreads + added
    squared = np.sum(gaps * gaps, axis=1)
    log_ratio = -k / 2 * np.log1p(spread / spreads) + squared / 2 * (1 / spreads - 1 / (spreads + spread))
    return _mixed(log_ratio, gaps, spreads, life)


def _mixed(log_ratio: Floats, levels: Floats, variances: Floats, life: float) -> Starts:
    count = log_ratio.size
    log_weights = np.log(start_weights(count, life)) + log_ratio
    total = float(logsumexp(np.append(log_weights, np.log(life / (count + life)))))
    return Starts(total, log_weights, levels, variances)


def recall_starts(hits: Floats, sizes: Floats, reference: tuple[float, float], *, life: float = LIFE) -> Starts:
    """The same for own positives found at the threshold: Beta-binomial of windows j..t, alone against continued.

    >>> found = recall_starts(np.array([2.0, 1, 2]), np.full(3, 10.0), (58, 100))
    >>> round(float(found.log_total), 6)
    2.889109
    """
    hit, size = (np.concatenate([[0.0], np.cumsum(values)]) for values in (hits, sizes))
    found, all_found = hit[-1] - hit[:-1], size[-1] - size[:-1]
    missed = all_found - found
    a, b = reference[0] + hit[:-1] + 0.5, reference[1] - reference[0] + size[:-1] - hit[:-1] + 0.5
    alone = betaln(found + 0.5, missed + 0.5) - betaln(0.5, 0.5)
    log_ratio = alone - (betaln(a + found, b + missed) - betaln(a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        level = found / all_found
        variance = (found + 0.5) * (missed + 0.5) / ((all_found + 1) ** 2 * (all_found + 2))
    return _mixed(log_ratio, level[:, None], variance, life)
