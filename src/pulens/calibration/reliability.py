"""Reliability diagrams without negatives: promised against recovered share of positives, bin by bin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any

import numpy as np

from pulens.answer import Answer, ShownAsText
from pulens.cached import cached_method
from pulens.calibration._replicated import design_effects
from pulens.calibration._within import fractions_within
from pulens.calibration.binning import check_redraws
from pulens.calibration.expected_error import CalibrationError, error_of_bins
from pulens.calibration.masses import BinCounts, MassMap, choose_edges, count_bins
from pulens.calibration.statistic import of_rows
from pulens.calibration.verdict import bin_p_values
from pulens.confidence import check_confidence
from pulens.counts.tally import Totals
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.kernels.holm import holm
from pulens.inference.kernels.quantiles import one_tail, quantile_of_columns
from pulens.inference.kernels.resampling import check_seed
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import PRIOR_IN_METHOD, PriorUncertainty
from pulens.notice import Notice
from pulens.selection import moved_ends, told_under
from pulens.strata import WeightedEvidence
from pulens.types import Floats

KINDS = ("labelled", "unlabelled", "negative")


@dataclass(frozen=True, slots=True)
class ReliabilityBin(Answer):
    """One bin (low, high]: what the model promises, what is found, and how sure we are.

    ``fraction`` is the recovered share of positives as it comes out, ``clipped`` the same within [0, 1]; both are
    nan in a bin without rows of the population. ``gap`` is the mass of positives less the mass promised: below
    zero the model is overconfident here.
    """

    _keys = ("low", "high", "middle", *KINDS, "population", "confidence", "fraction", "clipped", "gap", "interval")

    low: float
    high: float
    labelled: float
    unlabelled: float
    negative: float
    population: float
    confidence: float
    fraction: float
    interval: Interval | None
    gap: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def clipped(self) -> float:
        return min(max(self.fraction, 0.0), 1.0) if not math.isnan(self.fraction) else math.nan

    @property
    def verdict(self) -> str:
        """``"overconfident"`` or ``"underconfident"`` where the interval of this bin alone excludes the promise."""
        if self.interval is None or self.confidence in self.interval:
            return ""
        return "overconfident" if self.confidence > self.interval.high else "underconfident"


@dataclass(frozen=True, slots=True, repr=False)
class Reliability(ShownAsText):
    """A reliability diagram: its bins, the calibration error they add up to, and what to know before using it."""

    bins: tuple[ReliabilityBin, ...]
    error: CalibrationError
    class_prior: float
    mean_score: float
    target_population: str

    @property
    def notices(self) -> tuple[Notice, ...]:
        return self.error.notices

    @property
    def verdicts(self) -> tuple[str, ...]:
        """For each bin ``"overconfident"`` or ``"underconfident"`` where it is, corrected by Holm for all bins."""
        corrected = holm(bin_p_values(self))
        pairs = zip(self.bins, corrected, strict=True)
        return tuple(
            one.verdict if one.interval is not None and p < 1 - (one.interval.confidence or 1) else ""
            for one, p in pairs
        )

    @property
    def points(self) -> tuple[ReliabilityBin, ...]:
        """The bins that have a point in the diagram: those with rows of the population."""
        return tuple(one for one in self.bins if not math.isnan(one.fraction))

    def to_dict(self) -> dict[str, Any]:
        return {
            "error": self.error.to_dict(),
            "class_prior": self.class_prior,
            "mean_score": self.mean_score,
            "target_population": self.target_population,
            "bins": [
                {**one.to_dict(), "verdict": verdict} for one, verdict in zip(self.bins, self.verdicts, strict=True)
            ],
        }

    def __str__(self) -> str:
        lines = [
            str(self.error),
            f"mean score {self.mean_score:.4f}, class prior {self.class_prior:.4f} ({self.target_population})",
            f"{'bin':<20}{'labelled':>9}{'unlabelled':>11}{'predicted':>10}{'actual':>8}{'interval':>18}",
        ]
        for one, verdict in zip(self.bins, self.verdicts, strict=True):
            name = f"({one.low:.4f}, {one.high:.4f}]"
            counts = f"{name:<20}{one.labelled:>9,.10g}{one.unlabelled:>11,.10g}"
            if math.isnan(one.fraction):
                lines.append(f"{counts}{'no rows':>10}")
                continue
            doubt = "" if one.interval is None else f"{one.interval.low:.3f} to {one.interval.high:.3f}"
            lines.append(f"{counts}{one.confidence:>10.4f}{one.clipped:>8.4f}{doubt:>18} {verdict}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from pulens.report.reliability import reliability_html

        return reliability_html(self)

    def plot(self, axes: Any = None, **style: Any) -> Any:
        """Draw the diagram with a histogram of scores below it; returns the axes."""
        from pulens.plots.reliability import draw_reliability

        return draw_reliability(self, axes=axes, **style)


@of_rows
def reliability(
    evidence: Evidence,
    *,
    binning: str = "mass",
    bins: int | str | None = None,
    confidence: float = 0.95,
    redraws: int = 1000,
    seed: int = 0,
) -> Reliability:
    r"""The reliability diagram of the PU-ECE paper, appendix G.

    Each bin with rows of the population has the point :math:`(\bar f_b, \hat y_b)`: the mean score and the recovered
    share of positives :math:`\hat y_b = \pi p_{b,P}/p_{b,U}`. A bin without such rows has no point; its positives
    still count in the error. The interval of each share comes from redraws of the bin's rates (Beta with half a row
    added, so that a bin without labelled rows is not taken to be surely empty of positives).

    Returns
    -------
    Reliability
        Bins with predicted and actual shares of positives, and the calibration error.

    Examples
    --------
    >>> labels, scores = [1, 1, 1, 0, 0, 0, 0, 0, 0], [.2, .6, 1., 0., .2, .4, .6, .8, 1.]
    >>> options = {"class_prior": 0.5, "scenario": "case-control", "labelling": "random"}
    >>> diagram = reliability(labels, scores, bins=5, binning="width", **options)
    >>> [(round(one.confidence, 3), round(one.fraction, 3)) for one in diagram.bins]
    [(0.1, 0.5), (0.4, 0.0), (0.6, 1.0), (0.8, 0.0), (1.0, 1.0)]

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> diagram = reliability(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2, bins=3)
    >>> [(round(one.confidence, 2), round(one.fraction, 2)) for one in diagram.bins]
    [(0.01, 0.0), (0.06, 0.07), (0.52, 0.53)]
    """
    edges = choose_edges(evidence, binning=binning, bins=bins)
    counted = count_bins(evidence.tally, edges)
    return reliability_of_bins(evidence, counted, binning=binning, confidence=confidence, redraws=redraws, seed=seed)


@singledispatch
def _fraction_limits(
    evidence: Evidence, counted: BinCounts, share: Floats, doubt: PriorUncertainty, drawn: Any
) -> tuple[Any, Any, str]:
    """Limits of each bin's share of positives, and what the interval's method says beyond how it is drawn."""
    low, high = fraction_intervals(counted, doubt, share, effects=design_effects(evidence, counted), **drawn)
    inside = np.clip(np.nan_to_num(share), 0.0, 1.0)
    tilted, tail = partial(_shares_of, edges=counted.edges), one_tail(drawn["confidence"])
    return *moved_ends(evidence, inside, (low, high), tilted, tail, at_threshold=True, locally=True), ""


@_fraction_limits.register
def _(
    evidence: WeightedEvidence, counted: BinCounts, share: Floats, doubt: PriorUncertainty, drawn: Any
) -> tuple[Any, Any, str]:
    return *fractions_within(evidence, counted, share, drawn["confidence"], drawn["seed"]), " of each cell"


def reliability_of_bins(
    evidence: Evidence,
    counted: BinCounts,
    *,
    binning: str = "mass",
    confidence: float = 0.95,
    redraws: int = 1000,
    seed: int = 0,
) -> Reliability:
    """The diagram of rows already counted in bins."""
    confidence = check_confidence(confidence)
    error = error_of_bins(evidence, counted, binning=binning, confidence=confidence, redraws=redraws, seed=seed)
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    population, positive = counted.population_mass(masses), counted.positive_mass(masses)
    promised = counted.score_mass(masses)
    filled = population > 0
    share, mean = (
        np.divide(mass, population, out=np.full(counted.bins, np.nan), where=filled) for mass in (positive, promised)
    )
    doubt = PriorUncertainty(evidence)
    drawn: Any = {"confidence": confidence, "redraws": redraws, "seed": seed}
    method = "redrawn bin rates" + PRIOR_IN_METHOD[doubt.treatment]
    low, high, each = _fraction_limits(evidence, counted, share, doubt, drawn)
    method += each
    known = check_redraws(redraws) > 1 and not evidence.has_too_few_clusters
    rows = count_bins(evidence.counted.tally, counted.edges).counts
    bins = tuple(
        ReliabilityBin(
            float(counted.edges[b]),
            float(counted.edges[b + 1]),
            float(rows[0, b]),
            float(rows[1, b]),
            float(rows[2, b]),
            float(population[b]),
            float(mean[b]),
            float(share[b]),
            told_under(_within_limits(share[b], low[b], high[b], confidence, method), evidence)
            if known and filled[b]
            else None,
            float(positive[b] - promised[b]),
        )
        for b in range(counted.bins)
    )
    return Reliability(bins, error, masses.class_prior, float(promised.sum()), evidence.target_population)


def _within_limits(share: float, low: float, high: float, confidence: float, method: str) -> Interval:
    """An interval of a share within [0, 1] that holds it as far as it is one."""
    own = min(max(float(share), 0.0), 1.0)
    return Interval(max(min(float(low), own), 0.0), min(max(float(high), own), 1.0), confidence, method)


def _shares_of(evidence: Evidence, edges: Floats) -> Floats:
    """The share of positives in each bin, within [0, 1]; 0 in one without rows."""
    masses, counted = MassMap.of(evidence.tally.totals, evidence.assumptions), count_bins(evidence.tally, edges)
    positive, population = counted.positive_mass(masses), counted.population_mass(masses)
    share = np.divide(positive, population, out=np.zeros(counted.bins), where=population > 0)
    return np.asarray(np.clip(share, 0.0, 1.0))


def fraction_intervals(
    counted: BinCounts,
    doubt: PriorUncertainty,
    shares: Floats,
    *,
    confidence: float,
    redraws: int,
    seed: int,
    effects: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Interval of each bin's share of positives within [0, 1], from redraws of the bin's rates.

    ``shares`` are the values, which the intervals hold; the doubt about the class prior enters as everywhere
    (:mod:`pulens.inference.policy`): drawn once per redraw for all bins, or a hull over its range. With design
    ``effects`` (kind, bin), of rows that belong together, this many rows count as one.
    """
    redraws, rng = check_redraws(redraws), np.random.default_rng(check_seed(seed))
    counts, index = counted.counts, slice(None)
    # bins with the same counts have the same interval
    if redraws * counted.bins > _MOST_REDRAWN_BINS and effects is None:
        counts, index = np.unique(counts, axis=1, return_inverse=True)  # type: ignore[assignment]
    times = np.ones((3, 1)) if effects is None else effects
    rates = [
        _redraw_rates(inside / each, total / each, redraws, rng) if total else np.zeros((redraws, counts.shape[1]))
        for inside, total, each in zip(counts, counted.totals, times, strict=True)
    ]
    bins = _FractionsOfBins(np.stack(rates), counted.totals, doubt, rng)
    low, high, _ = ends_in_doubt(bins, doubt, confidence, (1 - confidence) / 2)
    low, high = low[index], high[index]
    return np.clip(np.fmin(low, shares), 0.0, 1.0), np.clip(np.fmax(high, shares), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class _FractionsOfBins(IntervalMethod):
    """Shares of positives of all bins at once: arrays with a place for each bin."""

    rates: Floats  # kind of row, redraw, bin
    totals: Totals
    doubt: PriorUncertainty
    rng: np.random.Generator

    method = "percentiles of redrawn rates"

    def _redrawn(self, priors: Floats) -> Floats:
        """Share of positives of each bin (columns) in each redraw, with the class prior of that redraw."""
        tried, own_map = np.unique(priors, return_inverse=True)
        maps = [MassMap.of(self.totals, self.doubt.evidence.assumptions_at(prior)) for prior in tried.tolist()]
        positive, population = np.zeros((2, *self.rates.shape[1:]))
        for kind, rate in enumerate(self.rates):
            positive += np.array([one.positive[kind] for one in maps])[own_map, None] * rate
            population += np.array([one.population[kind] for one in maps])[own_map, None] * rate
        return np.asarray(np.divide(positive, population, out=np.zeros(population.shape), where=population > 0))

    @cached_method()
    def _at(self, prior: float) -> Floats:
        return self._redrawn(np.array([prior]))

    def value(self, prior: float) -> Any:
        return np.median(self._at(prior), axis=0)

    def ends(self, prior: float | None, tail: Any) -> Limits:
        from pulens.special import ndtri

        if np.ndim(tail):  # a tail of its own for each bin
            assert prior is not None
            result = np.sort(self._at(prior), axis=0)
            return quantile_of_columns(result, tail), quantile_of_columns(result, 1 - tail)
        priors = np.array([prior])
        if prior is None:
            redraws = self.rates.shape[1]
            normal = self.rng.permutation(ndtri((np.arange(redraws) + 0.5) / redraws))
            priors = self.doubt.possible(self.doubt.drawn(normal))
        low, high = np.quantile(self._redrawn(priors), [tail, 1 - tail], axis=0)
        return low, high

    def spread(self, shares: Sequence[float], confidence: float) -> Any:
        return np.max([self._at(share).std(axis=0) for share in shares], axis=0)


def _redraw_rates(inside: Floats, rows: Any, redraws: int, rng: np.random.Generator) -> Floats:
    """Rates of bins from Jeffreys' law, given their counts."""
    total = np.broadcast_to(rows, inside.shape)
    many = (inside > _NORMAL_FROM) & (total - inside > _NORMAL_FROM)
    rates = np.empty((redraws, inside.size))
    alpha, beta = inside + 0.5, np.maximum(total - inside, 0.0) + 0.5
    if (~many).any():
        rates[:, ~many] = rng.beta(alpha[~many], beta[~many], (redraws, int((~many).sum())))
    if many.any():  # thousands of rows: the law is normal to within a part in a thousand, and much cheaper to draw
        mean = alpha[many] / (alpha[many] + beta[many])
        deviation = np.sqrt(mean * (1 - mean) / (total[many] + 2))
        rates[:, many] = mean + deviation * rng.standard_normal((redraws, int(many.sum())))
    return rates


_NORMAL_FROM = 2000
_MOST_REDRAWN_BINS = 2_000_000
