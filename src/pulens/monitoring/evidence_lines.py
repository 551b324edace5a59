"""Alarms for life: a likelihood ratio of "changed once, some time" against "never", mixed over every start and over
every level of day-to-day noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pulens.monitoring.noise import NoiseLevels
from pulens.special import betaln, ndtr
from pulens.types import Floats, Places

LIFE = 40.0  # half of the budget is spent in so many windows, and some is always left
#: How large a change is expected to be: variances of its size, in variances of a typical window, and their chances.
SPREADS: Mapping[float, float] = {4.0: 1.0}
#: The same of the share of positives by days, with its chances: of windows of L days sqrt(L) times as much.
SHARE_SPREADS: Mapping[float, float] = {0.7: 0.9, 7.0: 0.1}
RISING = 0.9  # the chance that a change of the share of positives is a rise


def start_weights(windows: int, life: float = LIFE) -> Floats:
    """How much of the budget each possible start has: life/((j-1+life)(j+life)), which sums to t/(t+life).

    >>> float(round(start_weights(40).sum(), 12))
    0.5
    """
    j = np.arange(1, windows + 1)
    result: Floats = life / ((j - 1 + life) * (j + life))
    return result


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
        result: Floats = np.exp(self.log_weights - np.logaddexp.reduce(self.log_weights))
        return result

    def among_first(self, count: int) -> Starts:
        """The same, of the first this many starts alone."""
        return Starts(self.log_total, self.log_weights[:count], self.levels[:count], self.variances[:count])

    @property
    def heaviest(self) -> int:
        return int(np.argmax(self.log_weights))

    def likely(self, share: float = 0.9) -> Places:
        """The smallest set of starts that holds a share of the weight, in order of time."""
        order = np.argsort(-self.log_weights, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self.shares[order]), share - 1e-12)) + 1
        return np.sort(order[:enough])


class RunningEvidence:
    r"""Windows one after the other, compared with the reference and with earlier windows, for every possible start.

    Under one level of noise the windows are a first-order autoregression plus the rows' own error, about a mean that
    nobody knows; a Kalman filter turns them into independent errors, and likewise the mean and the step of each start
    j. With D_j the step that fits best and V_j its variance,

    .. math:: \log LR_j = -\tfrac k2 \log(1 + \tau^2/V_j) + \tfrac{|D_j|^2}{2} (1/V_j - 1/(V_j + \tau^2))

    and M = sum_j pi_j LR_j + H/(t+H). Levels are weighed by how likely they make all windows so far if nothing
    changed: the weighted mean of M is then the likelihood ratio of "changed" against "never" with the noise averaged
    over on both sides, and has mean 1 while nothing changes. Weights beforehand may differ between the two sides
    (``log_changed`` of the levels): each level's part is then multiplied by how much more likely it is where something
    changed, and the mean stays 1.

    Of one coordinate a rise may be expected rather than a fall, with the chance u (``rising``). A change of about 0
    then is none: sizes t have the density of a normal distribution times t^2/tau^2 on each side (the moment prior of
    Johnson and Rossell, 2010), whose mode is sqrt(2) tau. With the step normal with mean m and variance s^2 after the
    windows, LR_j is multiplied by 2 (u E[t^2; t > 0] + (1 - u) E[t^2; t < 0])/tau^2, and

    .. math:: E[t^2; t > 0] = (m^2 + s^2) \Phi(m/s) + m s \varphi(m/s)

    >>> none = NoiseLevels(np.zeros(1), np.zeros(1), np.zeros(1), 0.001)
    >>> evidence = RunningEvidence(none, windows=1, coordinates=1, life=50.0)
    >>> evidence.add_reference(np.zeros(1), 0.0001)
    >>> evidence.add(np.array([0.25]), 0.001)
    >>> round(float(evidence.starts().log_total), 6)
    17.582849
    """

    def __init__(
        self,
        noise: NoiseLevels,
        *,
        windows: int,
        coordinates: int,
        telling: int | None = None,
        life: float = LIFE,
        spreads: Mapping[float, float] = SPREADS,
        rising: float | None = None,
    ) -> None:
        """``telling`` is how many of the coordinates say something about noise; all unless said otherwise.

        ``spreads`` are tau^2, variances of a change's size in variances of a typical window, with their chances;
        ``rising`` is the chance that it is a rise, and says that no size is about 0.
        """
        levels = noise.variances.size
        self.rising = rising
        self.noise, self.life, self.count = noise, life, 0
        self.telling = coordinates if telling is None else telling
        self.spreads = spreads
        self.typical = (noise.typical + noise.variances)[:, None]
        self.shared = noise.variances[:, None].copy()  # variance of the noise before the next window is seen
        self.of_value = np.zeros((levels, coordinates))  # expected next: of the values, of a mean of one, of each step
        self.of_mean = np.zeros((levels, 1))
        self.of_step = np.zeros((levels, windows))
        self.value_mean = np.zeros((levels, coordinates))  # sums of products of errors over their variance
        self.mean_mean = np.zeros((levels, 1))
        self.value_step = np.zeros((levels, windows, coordinates))
        self.mean_step = np.zeros((levels, windows))
        self.step_step = np.zeros((levels, windows))
        self.misfit = np.zeros(levels)

    def add_reference(self, value: Floats, variance: float, windows: float | None = None) -> None:
        """A window of the reference; ``windows`` says that it is all of it, and of how many windows."""
        if windows is None:
            self._see(value, variance, 0)
            return
        total = variance + self.noise.variances[:, None] / windows
        self._sum(np.broadcast_to(value, self.of_value.shape), np.ones_like(self.of_mean), total)

    def add(self, value: Floats, variance: float) -> None:
        """A window that is watched: a change may begin with it."""
        self.count += 1
        self._see(value, variance, self.count)

    def _see(self, value: Floats, variance: float, starts: int) -> None:
        total = self.shared + variance
        gain, r = self.shared / total, self.noise.correlations[:, None]
        error, of_one = value - self.of_value, 1 - self.of_mean
        self._sum(error, of_one, total)
        if starts:
            step = 1 - self.of_step[:, :starts]
            over = step / total
            self.value_step[:, :starts] += over[:, :, None] * error[:, None, :]
            self.mean_step[:, :starts] += over * of_one
            self.step_step[:, :starts] += over * step
            self.of_step[:, :starts] = r * (self.of_step[:, :starts] + gain * step)
        self.of_value = r * (self.of_value + gain * error)
        self.of_mean = r * (self.of_mean + gain * of_one)
        self.shared = r**2 * self.shared * (1 - gain) + (1 - r**2) * self.noise.variances[:, None]

    def _sum(self, error: Floats, of_one: Floats, total: Floats) -> None:
        self.value_mean += error * of_one / total
        self.mean_mean += of_one**2 / total
        known = error[:, : self.telling]
        self.misfit += self.telling * np.log(total[:, 0]) + np.sum(known**2, axis=1) / total[:, 0]

    def noise_weights(self) -> Floats:
        """Log of how likely each level of noise is after all windows so far if nothing changed."""
        mean = self.mean_mean[:, 0]
        fitted = np.sum(self.value_mean[:, : self.telling] ** 2, axis=1) / mean
        result = self.noise.log_weights - (self.misfit - fitted + self.telling * np.log(mean)) / 2
        return np.asarray(result - np.logaddexp.reduce(result))

    def starts(self, added: Floats | None = None) -> Starts:
        """What is known now; ``added`` is a further variance of each start's level."""
        count = self.count
        across = self.mean_step[:, :count] / self.mean_mean
        information = self.step_step[:, :count] - across * self.mean_step[:, :count]
        steps = self.value_step[:, :count] - across[:, :, None] * self.value_mean[:, None, :]
        levels = steps / information[:, :, None]
        variances = 1 / information if added is None else 1 / information + added
        log_ratio = log_ratios(levels, variances, self.spreads, self.rising, self.typical)
        of_levels = self.noise_weights() + self.noise.log_changed
        weighed = of_levels[:, None] + log_ratio
        mixed = np.logaddexp.reduce(weighed, axis=0)
        shares = np.exp(weighed - mixed)
        level = np.sum(shares[:, :, None] * levels, axis=0)
        apart = np.mean(np.sum(shares[:, :, None] * (levels - level) ** 2, axis=0), axis=1)
        later = float(np.logaddexp.reduce(of_levels))
        return _mixed(mixed, level, np.sum(shares * variances, axis=0) + apart, self.life, later)


def log_ratios(
    levels: Floats,
    variances: Floats,
    spreads: Mapping[float, float] = SPREADS,
    rising: float | None = None,
    typical: float | Floats = 1.0,
) -> Floats:
    """Log of LR_j of steps (last axis: coordinates) that fit best and their variances; see :class:`RunningEvidence`.

    >>> steps, variances = np.array([[0.25], [0.0]]), np.full(2, 0.0011)
    >>> log_ratios(steps, variances, {4.0: 1.0}, None, 0.001).round(6)
    array([21.514675, -0.766965])
    >>> log_ratios(steps, variances, {4.0: 1.0}, 0.9, 0.001).round(6)
    array([24.387633, -2.300896])
    """
    parts = [
        np.log(chance) + _of_size(levels, variances, spread * typical, rising) for spread, chance in spreads.items()
    ]
    return np.asarray(np.logaddexp.reduce(parts))


def _of_size(levels: Floats, variances: Floats, spread: float | Floats, rising: float | None) -> Floats:
    kept = spread / (spread + variances)
    result = np.sum(levels**2, axis=-1) / 2 * kept / variances
    result -= levels.shape[-1] / 2 * np.log1p(spread / variances)
    if rising is None:
        return np.asarray(result)
    mean, error = levels[..., 0] * kept, np.sqrt(variances * kept)
    squares, standard = mean**2 + error**2, mean / error
    up = squares * ndtr(standard) + mean * error * np.exp(-(standard**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(result + np.log(2 * (rising * up + (1 - rising) * (squares - up)) / spread))


def _mixed(log_ratio: Floats, levels: Floats, variances: Floats, life: float, log_later: float = 0.0) -> Starts:
    """``log_later`` is the log of the likelihood ratio of a change that has not begun."""
    count = log_ratio.size
    log_weights = np.log(start_weights(count, life)) + log_ratio
    total = float(np.logaddexp.reduce(np.append(log_weights, np.log(life / (count + life)) + log_later)))
    return Starts(total, log_weights, levels, variances)


def recall_starts(hits: Floats, sizes: Floats, reference: tuple[float, float], *, life: float = LIFE) -> Starts:
    """The same for own positives found at the threshold: Beta-binomial of windows j..t, alone against continued.

    >>> found = recall_starts(np.array([2.0, 1, 2]), np.full(3, 10.0), (58, 100), life=50.0)
    >>> round(float(found.log_total), 6)
    2.889109
    """
    hit, size = (np.concatenate([[0.0], np.cumsum(values)]) for values in (hits, sizes))
    result, all_found = hit[-1] - hit[:-1], size[-1] - size[:-1]
    missed = all_found - result
    a, b = reference[0] + hit[:-1] + 0.5, reference[1] - reference[0] + size[:-1] - hit[:-1] + 0.5
    alone = betaln(result + 0.5, missed + 0.5) - betaln(0.5, 0.5)
    log_ratio = alone - (betaln(a + result, b + missed) - betaln(a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        level = result / all_found
        variance = (result + 0.5) * (missed + 0.5) / ((all_found + 1) ** 2 * (all_found + 2))
    return _mixed(log_ratio, level[:, None], variance, life)
