"""PU-ECE: the expected calibration error without negatives, with its noise floor and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pulens.cached import cached_method
from pulens.calibration._gaps import BinGaps, ErrorTerms, ReplicatedGaps, error_terms, noise_floor, norm_of
from pulens.calibration._replicated import gaps_of, times_as_noisy
from pulens.calibration._within import uncertainty_of_scores
from pulens.calibration.binning import check_redraws
from pulens.calibration.masses import BinCounts, MassMap, choose_edges, count_bins
from pulens.calibration.statistic import of_rows
from pulens.confidence import check_confidence
from pulens.errors import PulensError, shown
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence, few_clusters
from pulens.inference.kernels.quantiles import one_tail
from pulens.inference.kernels.resampling import check_seed
from pulens.inference.method import IntervalMethod, Limits
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import (
    SHARES_TRIED,
    KnownOfPrior,
    PriorUncertainty,
    holding,
    key_of_setting,
)
from pulens.notice import Notice, Severity, worst_first
from pulens.priors.known_negatives import notice_of_recovery
from pulens.recovery.feasibility import CHANCE_LIMIT
from pulens.scalars import real
from pulens.selection import told_under, under_labelling
from pulens.types import Floats

FEW_LABELLED = 30
LARGEST_DISTANCE, HALVINGS = 8.0, 11  # of a test, in standard errors: its p-value to a part in a hundred


@dataclass(frozen=True, slots=True)
class CalibrationError(Estimate):
    """A calibration error with what is needed to read it: the noise floor and the value freed of bias.

    ``value`` is the paper's estimate and is biased upwards: even a perfectly calibrated model scores about
    ``noise_floor`` at these sizes. ``corrected`` removes most of that bias. ``overconfidence`` and
    ``underconfidence`` are the two parts of the value: bins that promise too many positives, and too few. ``p_value``
    is one minus the highest confidence at which the interval excludes 0, the error of a calibrated model.
    """

    noise_floor: float = math.nan
    corrected: float = math.nan
    overconfidence: float = math.nan
    underconfidence: float = math.nan
    binning: str = "mass"
    bins: int = 0
    filled_bins: int = 0
    norm: float = 1
    p_value: float = math.nan
    notices: tuple[Notice, ...] = field(default=())

    @property
    def is_noise(self) -> bool:
        """Whether the data cannot tell the model from a perfectly calibrated one."""
        return self.interval is not None and self.interval.low == 0

    def __str__(self) -> str:
        doubt = "" if self.interval is None else f" {self.interval}"
        return (
            f"{self.metric} {self.value:.3f}, corrected {self.corrected:.3f}{doubt}, noise floor {self.noise_floor:.3f}"
        )

    def to_dict(self) -> dict[str, Any]:
        names = ("noise_floor", "corrected", "overconfidence", "underconfidence", "binning", "bins", "filled_bins")
        # by name: super() without arguments does not work in a dataclass with slots
        return {
            **Estimate.to_dict(self),
            **{name: getattr(self, name) for name in names},
            "norm": "max" if math.isinf(self.norm) else self.norm,
            "p_value": None if math.isnan(self.p_value) else self.p_value,
            "warnings": [str(notice) for notice in self.notices],
        }


@of_rows
def expected_calibration_error(
    evidence: Evidence,
    *,
    binning: str = "mass",
    bins: int | str | None = None,
    norm: float | str = 1,
    confidence: float = 0.95,
    redraws: int = 1000,
    seed: int = 0,
) -> CalibrationError:
    r"""How far a model's probabilities are from the truth on average, from positives and unlabelled rows.

    .. math::
       ECE_{PU} = \sum_{b=1}^{B} \left| \frac{\pi}{n_P}\sum_m 1[f(x^P_m) \in I_b]
                  - \frac{1}{n_U}\sum_m f(x^U_m)\,1[f(x^U_m) \in I_b] \right|

    The PU-ECE paper, section 3.1, in the form that also holds for bins without unlabelled rows. In the single-set
    scenario labelled and unlabelled rows together are the sample of the population, and known negatives belong to
    it; with label noise the positives of each bin are recovered as in Jain et al. 2017.

    Parameters
    ----------
    norm
        1 for the expected error, 2 for the root of the mean square, any larger number, or ``"max"``.

    Returns
    -------
    CalibrationError
        The error, corrected for its bias, with its interval and the error that chance alone would show.

    Notes
    -----
    The interval is about the error of the binned model, with these bins: from below it learns the sign of each gap
    on one half of the rows and applies it to the other, averaged over all halves; from above it takes the value with
    the bootstrap's bias correction. Where the class prior is in doubt the interval is the hull over it
    (:mod:`pulens.inference.prior_uncertainty`), at the confidence asked for.

    Examples
    --------
    >>> labels, scores = [1] * 4 + [0] * 10, [.3, .3, .8, .95] + [.3] * 4 + [.55] * 3 + [.8] * 3
    >>> options = {"class_prior": 0.4, "scenario": "case-control", "labelling": "random"}
    >>> error = expected_calibration_error(labels, scores, bins=5, **options)
    >>> round(error.value, 6), error.filled_bins
    (0.485, 3)

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(expected_calibration_error(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2))
    expected_calibration_error 0.092, corrected 0.070 [0.000, 0.177], noise floor 0.048
    """
    edges = choose_edges(evidence, binning=binning, bins=bins)
    counted = count_bins(evidence.tally, edges)
    return error_of_bins(
        evidence, counted, binning=binning, norm=norm, confidence=confidence, redraws=redraws, seed=seed
    )


def error_of_bins(evidence: Evidence, counted: BinCounts, **options: Any) -> CalibrationError:
    """The calibration error of rows already counted in bins."""
    return error_of_samples([(evidence, counted)], **options)


def error_of_samples(
    samples: Sequence[tuple[Evidence, BinCounts]],
    *,
    binning: str = "mass",
    norm: float | str = 1,
    confidence: float = 0.95,
    redraws: int = 1000,
    seed: int = 0,
) -> CalibrationError:
    """The mean calibration error of independent samples, each with its own bins; usually there is one.

    All samples share the assumptions of the first.
    """
    evidence = samples[0][0]
    doubt = uncertainty_of_scores(evidence)
    own = doubt.setting(None)
    power = check_norm(norm)
    tail = one_tail(check_confidence(confidence))
    known = _ErrorOfBins(samples, power)
    value, corrected, low, high, _ = known.at(own, tail)
    edges = [counted.edges for _, counted in samples]

    def of_bins(rows: Sequence[Evidence]) -> IntervalMethod:
        if all(one is given for one, (given, _) in zip(rows, samples, strict=True)):
            return known
        pairs = zip(rows, edges, strict=True)
        return _ErrorOfBins([(one, count_bins(one.tally, each)) for one, each in pairs], power)

    error = under_labelling([one for one, _ in samples], of_bins)
    if error is not known:
        low, high = error.ends(own, tail)
        low, high = holding(value, max(low, 0.0), high)
    sources = {"sample": Interval(low, high, confidence, error.method)}
    method, reach = error.method, doubt.own if isinstance(doubt, PriorUncertainty) else None
    if reach is not None or doubt.treatment == "range":
        tried = [known.at(prior, tail).value for prior in doubt.over(SHARES_TRIED)]
        sure = None if reach is None else reach.confidence
        over = Interval(*holding(value, min(tried), max(tried)), sure, "range over the class prior")
        sources["class prior"] = over
        low, high, method = ends_in_doubt(error, doubt, confidence)
    interval = told_under(Interval(*holding(value, max(low, 0.0), high), confidence, method), evidence)
    p_value = _p_value(error, doubt)
    if evidence.has_too_few_clusters:
        interval, sources, p_value = None, {}, math.nan
    rng = np.random.default_rng(check_seed(seed))
    purity = 1 - evidence.label_noise
    maps = [MassMap.of(one.tally.totals, one.assumptions) for one, _ in samples]
    gaps = [BinGaps.of(counted, masses).gap for (_, counted), masses in zip(samples, maps, strict=True)]
    floors = [
        noise_floor(counted, masses, purity, redraws=check_redraws(redraws), rng=rng, norm=power)
        * times_as_noisy(one, counted)
        for (one, counted), masses in zip(samples, maps, strict=True)
    ]
    counted, masses = samples[0][1], maps[0]
    result = CalibrationError(
        "expected_calibration_error",
        value,
        interval,
        sources=sources,
        noise_floor=float(np.mean(floors)),
        corrected=corrected,
        overconfidence=float(np.mean([np.maximum(-gap, 0).sum() for gap in gaps])),
        underconfidence=float(np.mean([np.maximum(gap, 0).sum() for gap in gaps])),
        binning=binning,
        bins=counted.bins,
        filled_bins=int(np.count_nonzero(counted.population_mass(masses) > 0)),
        norm=power,
        p_value=p_value,
    )
    return replace(result, notices=_notices(result, evidence, counted, masses))


def _p_value(error: IntervalMethod, doubt: KnownOfPrior) -> float:
    """One minus the highest confidence at which the interval excludes 0, by halving between 0 and 8 standard errors."""
    from pulens.special import ndtr

    few, many = 0.0, LARGEST_DISTANCE
    for _ in range(HALVINGS):
        middle = (few + many) / 2
        excludes = ends_in_doubt(error, doubt, float(1 - 2 * ndtr(-middle)))[0] > 0
        few, many = (middle, many) if excludes else (few, middle)
    return float(2 * ndtr(-few))


class _MeanError(NamedTuple):
    """The mean error over samples at one class prior, with the ends of its interval."""

    value: float
    corrected: float
    low: float
    high: float
    spread: float  # the larger of the standard errors of the interval's two ends


@dataclass(frozen=True, eq=False)
class _ErrorOfBins(IntervalMethod):
    """The error is no smooth function of the class prior: its doubt enters by a hull, never by draws.

    Its value, as the policy sees it, is the corrected one: that of the paper is biased upwards. Within strata the
    standard errors of gaps hold what draws of the class priors add.
    """

    samples: Sequence[tuple[Evidence, BinCounts]]
    norm: float

    method = "split-sign below, bias-corrected above"
    shares_tried = SHARES_TRIED

    @property
    def is_smooth(self) -> bool:  # type: ignore[override]
        return self.samples[0][0].within is not None

    @cached_method(lambda prior, tail: (key_of_setting(prior), tail))
    def at(self, prior: Any, tail: float) -> _MeanError:
        from pulens.special import ndtri

        return _mean_error(self._gaps(prior), self.norm, -float(ndtri(tail)))

    @cached_method(key_of_setting)
    def _gaps(self, prior: Any) -> list[_GapsOfSample]:
        return [_GapsOfSample.of(*sample, prior) for sample in self.samples]

    def value(self, prior: Any) -> float:
        return self.at(prior, one_tail(0.95)).corrected  # the same at any confidence

    def ends(self, prior: Any, tail: float) -> Limits:
        result = self.at(prior, tail)
        return result.low, result.high

    def least(self, prior: Any, tail: float, local: float) -> float:
        """The lower end where the positives of each bin may be off by a share of this size, independently."""
        from pulens.special import ndtri

        return _mean_error(self._varied(prior, local), self.norm, -float(ndtri(tail))).low

    @cached_method(lambda prior, local: (key_of_setting(prior), local))
    def _varied(self, prior: Any, local: float) -> list[_GapsOfSample]:
        return [one.varied(local) for one in self._gaps(prior)]

    def spread(self, shares: Sequence[Any], confidence: float) -> float:
        return max(self.at(share, one_tail(confidence)).spread for share in shares)


def check_norm(norm: float | str) -> float:
    if isinstance(norm, str) and norm == "max":
        return math.inf
    number = real(norm)
    if not number >= 1:
        raise PulensError(
            f"norm must be a number of at least 1, or 'max' for the largest gap of a bin, got {shown(norm)}."
        )
    return number


class _GapsOfSample(NamedTuple):
    """Gaps of a sample's bins at one class prior, costly with clusters, and what follows at any confidence."""

    gaps: BinGaps | ReplicatedGaps
    terms: ErrorTerms
    population: Floats
    positive: Floats

    def varied(self, local: float) -> _GapsOfSample:
        """With the positives of each bin in doubt by this share of them."""
        gaps = self.gaps.varied(local * np.maximum(self.positive, 0.0))
        return self._replace(gaps=gaps, terms=error_terms(gaps))

    @classmethod
    def of(cls, evidence: Evidence, counted: BinCounts, setting: Any) -> _GapsOfSample:
        own, share = evidence.at_prior(setting)
        if own is not evidence:  # strata weigh otherwise at other class priors
            counted = count_bins(own.tally, counted.edges)
        masses = MassMap.of(own.tally.totals, own.assumptions_at(share))
        gaps = gaps_of(own, counted, masses, share)
        return cls(gaps, error_terms(gaps), counted.population_mass(masses), counted.positive_mass(masses))


def _mean_error(samples: Sequence[_GapsOfSample], norm: float, quantile: float) -> _MeanError:
    """Value, corrected value and interval of the mean over samples, at a class prior that they share."""
    result = []
    for gaps, terms, population, _ in samples:
        if norm != 1:
            value, corrected, high = _other_norm(gaps, population, norm, quantile)
            reach = (high - value) / quantile if quantile else 0.0
            result.append(terms._replace(value=value, corrected=corrected, overstated=value, upper_error=reach))
        else:
            result.append(terms)
    mean = ErrorTerms(*np.mean(result, axis=0).tolist())
    # samples are independent of each other, so their errors add up in quadrature
    shrink = 1 / math.sqrt(len(result))
    below, above = (
        quantile * shrink * math.sqrt(float(np.mean([getattr(terms, name) ** 2 for terms in result])))
        for name in ("standard_error", "upper_error")
    )
    # the mean of |y - f| is at most any other mean of it, so the lower end holds for every norm
    low, high = holding(mean.value, mean.understated - below, mean.overstated + above)
    # a value above 1, which only a wrong class prior gives, is shown as it is and stays inside
    low, high = max(low, 0.0), max(min(high, 1.0), mean.value)
    spread = max(below, above) / quantile if quantile else 0.0  # a confidence next to nothing has no quantile
    return _MeanError(mean.value, max(mean.corrected, 0.0), low, high, spread)


def _other_norm(
    gaps: BinGaps | ReplicatedGaps, population: Floats, norm: float, quantile: float
) -> tuple[float, float, float]:
    """Value, corrected value and upper end in a norm other than 1, by the delta method."""
    filled = population > 0
    value = norm_of(gaps.gap, population, norm)
    shrunk = np.abs(gaps.gap)
    noisy = gaps.deviation > 0
    standard = shrunk[noisy] / gaps.deviation[noisy]
    shrunk[noisy] -= 2 * gaps.deviation[noisy] * np.exp(-(standard**2) / 2) / math.sqrt(2 * math.pi)
    corrected = norm_of(np.maximum(shrunk, 0.0), population, norm)
    if math.isinf(norm):
        from pulens.special import ndtri

        tail = (1 - math.erf(quantile / math.sqrt(2))) / max(int(filled.sum()), 1)  # all bins at once
        reach = np.abs(gaps.gap) + float(ndtri(1 - tail / 2)) * gaps.deviation
        return value, corrected, float((reach[filled] / population[filled]).max(initial=0.0))
    slope = np.zeros_like(gaps.gap)
    if value > 0:
        share = np.abs(gaps.gap[filled]) / population[filled]
        share /= share.max()  # of the largest, as in norm_of
        total = population[filled] @ share**norm
        slope[filled] = np.sign(gaps.gap[filled]) * share ** (norm - 1) * total ** (1 / norm - 1)
    return value, corrected, value + quantile * math.sqrt(gaps.variance_of_sum(slope))


def _notices(result: CalibrationError, evidence: Evidence, counted: BinCounts, masses: MassMap) -> tuple[Notice, ...]:
    notices = [*evidence.class_prior.notices, *notice_of_recovery(evidence.tally, evidence.scenario)]
    notices += [*few_clusters(evidence.counted), *evidence.notices]
    rows = evidence.tally.totals.unlabelled if masses.unlabelled_only else evidence.tally.totals.rows
    if result.binning == "mass" and rows < 2 * result.bins:
        notices.append(
            Notice(
                Severity.WARNING,
                "too-many-bins",
                f"{result.bins:,} bins for {rows:,.10g} rows: the theory asks for at least two rows per bin. "
                "Give fewer bins.",
            )
        )
    if (labelled := evidence.counted.tally.totals.labelled) < FEW_LABELLED:
        notices.append(
            Notice(
                Severity.WARNING,
                "few-labelled",
                f"Only {labelled:g} labelled positives: the error's interval was tried from {FEW_LABELLED} on.",
            )
        )
    if result.is_noise:
        notices.append(
            Notice(
                Severity.NOTE,
                "within-noise",
                f"The expected calibration error of {result.value:.4f} alone does not show miscalibration: a perfectly "
                f"calibrated model would show {result.noise_floor:.4f} at these sizes.",
            )
        )
    population = counted.population_mass(masses)
    stray = float(counted.positive_mass(masses)[population <= 0].sum())
    if stray > 0:
        notices.append(
            Notice(
                Severity.NOTE,
                "bins-without-population",
                f"Bins that hold labelled positives but no row of the population add {stray:.4f} to the error"
                f"{'' if result.norm == 1 else ' in the norm 1 and are left out of this one'}.",
            )
        )
    fewest = MassMap.of(evidence.tally.totals, evidence.assumptions_at(evidence.class_prior.least_unlabelled))
    share, excess = _excess(counted, masses)[0], _excess(counted, fewest)[1]
    if not evidence.explains_any_rows and excess > CHANCE_LIMIT * times_as_noisy(evidence, counted):
        notices.append(
            Notice(
                Severity.WARNING,
                "impossible-fraction",
                f"A bin's recovered share of positives is {share:.3f}, {min(excess, 99):.0f} standard errors above "
                "1. Likely causes: the class prior is too high, or positives with high scores were labelled more "
                "often.",
            )
        )
    return worst_first(notices)


def _excess(counted: BinCounts, masses: MassMap) -> tuple[float, float]:
    """The largest share of positives above 1 and how many standard errors above it lies."""
    population, positive = counted.population_mass(masses), counted.positive_mass(masses)
    filled = population > 0
    if not filled.any():
        return 0.0, 0.0
    certain = replace(counted, sums=counted.counts, squares=counted.counts)  # as if every score were 1
    deviation = BinGaps.of(certain, masses).deviation[filled]
    excess = (positive - population)[filled]
    standard = np.divide(excess, deviation, out=np.zeros_like(excess), where=deviation > 0)
    index = int(np.argmax(standard))
    return float((positive[filled] / population[filled])[index]), float(standard[index])
