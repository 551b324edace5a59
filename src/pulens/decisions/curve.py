"""Net benefit over the cost ratio, with a band that holds at all ratios together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from pulens.answer import Answer, ShownAsText
from pulens.containers import numbers
from pulens.decisions.actions import RULED_OUT, Actions
from pulens.decisions.linear import Form, LinearAtThresholds, net_benefit_form
from pulens.decisions.within import LinearWithin
from pulens.errors import InputError, shown
from pulens.estimate import Estimate
from pulens.evidence import Evidence, IntervalOptions
from pulens.inference.kernels.quantiles import seeded_levels
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.kernels.simultaneous import LargestOf
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, PriorUncertainty
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.possible_worlds import DEFAULT_MULTIPLE, Contradiction, find_contradiction
from pulens.metrics.parts.rests_on import is_estimated
from pulens.metrics.parts.top_of_list import is_unlabelled_list
from pulens.metrics.parts.withholding import withhold
from pulens.notice import Notice, Severity
from pulens.scalars import is_among
from pulens.selection import estimator_of, under_labelling
from pulens.special import ndtr, stdtrit
from pulens.strata import WeightedEvidence, as_one_cell, uncertainty_of, within_cells
from pulens.types import Booleans, Floats

POINTS, MOST_POINTS = 20, 64
EVEN_POINTS = 4096  # normal vectors behind the band
FIRST_ROWS = 10
USUAL = Resampling()
NET_BENEFIT = "net_benefit"
NEAREST = replace(
    RULED_OUT,
    message="These rows rule out random labels at this class prior: net benefit assumes labelling as near to "
    "random as they allow, and its range is not of chance. pulens evaluate says what would fit.",
)


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(Answer, ShownAsText):
    """Net benefit of a model against the cost ratio, beside flagging all; flagging none is 0.

    ``low`` and ``high`` hold the true curve at all ratios together where ``simultaneous`` is true. ``best`` is the
    highest net benefit that any threshold shows: it is chosen on these rows at every ratio, and is optimistic. Where an
    estimated class prior leaves a number open, only its band is given: the number is nan, null in JSON. Where the rows
    rule out random labels, the curve is that of the nearest possible world, as in an evaluation, and has no ``best``.
    ``uncorrected`` is what tools draw that count every unlabelled row as a negative: too low by the hidden hits.
    """

    _keys = (
        *("ratios", "model", "flag_all", "low", "high", "best", "uncorrected", "simultaneous"),
        "warnings=notices",
    )

    ratios: Floats
    model: Floats
    flag_all: Floats
    low: Floats | None
    high: Floats | None
    simultaneous: bool
    thresholds: Floats
    best: Floats | None = None
    confidence: float | None = None
    notices: tuple[Notice, ...] = ()
    uncorrected: Floats | None = None

    def __str__(self) -> str:
        lines = ["ratio     model   flag all" + ("" if self.low is None else "   band")]
        for index, ratio in enumerate(self.ratios):
            band = ""
            if self.low is not None and self.high is not None:
                band = f"   {self.low[index]:.4f} to {self.high[index]:.4f}"
            model, everybody = (
                " open " if np.isnan(values[index]) else f"{values[index]:.4f}"
                for values in (self.model, self.flag_all)
            )
            lines.append(f"{ratio:.4f}  {model}    {everybody}{band}")
        return "\n".join([*lines, *(f"{each.severity.name.lower()}: {each}" for each in self.notices)])

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with its band, and flag all and none; returns the axes."""
        from pulens.plots.decision import draw_decision_curve

        return draw_decision_curve(self, ax=ax)


def decision_curve(
    evidence: Evidence,
    *,
    threshold: float | None = None,
    ratios: Any = None,
    scores_are: str | None = None,
    resampling: Resampling | None = USUAL,
    worlds: float = DEFAULT_MULTIPLE,
) -> DecisionCurve:
    """The classical curve of a model whose scores are probabilities, or one threshold over all cost ratios.

    With ``scores_are="probability"`` the threshold at each ratio is the ratio itself (Vickers and Elkin 2006); scores
    must then be chances of being positive, not of being labelled. Otherwise give the ``threshold`` in use. The band
    holds at all ratios together; of one ratio it is the interval that an evaluation gives net benefit. ``worlds`` says
    how far the possible worlds reach where the rows rule out random labels, as in :func:`pulens.evaluate`.

    >>> from pulens.evidence import gather
    >>> labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2]
    >>> evidence = gather(labels, scores, unlabelled_prior=0.2, scenario="case-control")
    >>> decision_curve(evidence, threshold=0.45, ratios=[0.1, 0.2]).model.round(4).tolist()
    [0.1556, 0.1]
    """
    if scores_are is not None and not is_among(scores_are, ("probability",)):
        raise InputError(f"scores_are of a decision curve must be 'probability' or None, got {shown(scores_are)}.")
    if (scores_are is None) == (threshold is None):
        raise InputError("say scores_are='probability' for thresholds that follow the ratio, or give one threshold=.")
    tally = evidence.tally
    if scores_are and (float(tally.thresholds[0]) > 1 or float(tally.thresholds[-1]) < 0):
        raise InputError("scores of a decision curve must be probabilities, from 0 to 1. pulens calibrate makes them.")
    actions = Actions.of(evidence)
    grid = _default(evidence, actions, threshold) if ratios is None else _check(ratios)
    indices = grid if threshold is None else np.full(grid.size, float(threshold))
    counted = np.array([tuple(tally.at(float(index))) for index in indices])
    above = counted[:, 0], counted[:, 1], counted[:, 2]
    prior = float(actions.class_prior)
    odds = grid / (1 - grid)
    where = np.searchsorted(-np.asarray(tally.thresholds, float), -indices, side="right")
    hits, flagged = actions.hits[where], actions.flagged[where]
    model = (1 + odds) * hits - odds * flagged
    best = None if scores_are else np.array([((1 + w) * actions.hits - w * actions.flagged).max() for w in odds])
    own, ruled_out = _alone(evidence, worlds)
    estimated = is_estimated(evidence.class_prior)
    result = _estimates(own, grid, indices, resampling, ruled_out) if estimated or ruled_out is not None else []
    if ruled_out is not None:
        model, best = np.array([one.value for one in result]), None
    low, high = None, None
    if resampling is not None:
        linear = LinearAtThresholds(evidence, net_benefit_form(grid), above)
        low, high = _ends(result) if ruled_out is not None else _around(model, linear, own, grid, indices, resampling)
    everybody = prior - odds * (1 - prior)
    if estimated:
        left_open = _left_open(result)
        model = np.where(left_open, np.nan, model)
        best = None if best is None else np.where(left_open, np.nan, best)
        all_rows = np.full(grid.size, -np.inf)
        everybody = np.where(_left_open(_estimates(own, grid, all_rows, resampling, ruled_out)), np.nan, everybody)
    notices = _of_probabilities(evidence, prior) if scores_are else ()
    if ruled_out is not None:
        notices = (NEAREST, *notices)
    drawn = PriorUncertainty(evidence).treatment == "drawn"
    as_negatives = (above[0] - odds * (above[1] + above[2])) / tally.totals.rows
    holds_at_once = low is not None and not drawn
    return DecisionCurve(
        grid,
        model,
        everybody,
        low,
        high,
        holds_at_once,
        indices,
        best,
        None if resampling is None else resampling.confidence,
        notices,
        as_negatives,
    )


def _alone(evidence: Evidence, worlds: float) -> tuple[Evidence, Contradiction | None]:
    """The evidence, of a single cell that cell's, and what its rows rule out."""
    own = evidence.by_itself
    return own, find_contradiction(own, worlds) if own.can_be_ruled_out else None


def _around(
    model: Floats, linear: LinearAtThresholds, own: Evidence, grid: Floats, indices: Floats, resampling: Resampling
) -> tuple[Floats, Floats] | tuple[None, None]:
    """The band around a curve; none where there are too few clusters or rows for one."""
    if own.has_too_few_clusters:
        return None, None
    together = own if own.buckets is None else WeightedEvidence.of(as_one_cell(own, IntervalOptions()))
    low: Floats | None
    high: Floats | None
    if grid.size == 1:
        low, high = _ends(_estimates(own, grid, indices, resampling))
    elif isinstance(together, WeightedEvidence):
        within, known = (
            LinearWithin(together, linear.form, indices),
            uncertainty_of(together, float(np.median(indices))),
        )
        settings = known.over(PRIORS_IN_RANGE) if known.treatment == "range" else [None]
        covariances = [within.covariance(setting) for setting in settings]
        reach = max(_largest_deviation(each, resampling.confidence) for each in covariances)
        wider = replace(resampling, confidence=1 - 2 * float(ndtr(-reach)))
        low, high = _ends(_estimates(own, grid, indices, wider))
    else:
        low, high = _band(linear, resampling.confidence, indices)
    if low is None or high is None or not np.isfinite([low, high]).all():
        return None, None
    return np.minimum(low, model), np.maximum(high, model)


def _ends(result: Sequence[Estimate]) -> tuple[Floats, Floats] | tuple[None, None]:
    """The intervals that an evaluation gives; none where one of them is missing."""
    ends = [(np.nan, np.nan) if one.interval is None else (one.interval.low, one.interval.high) for one in result]
    low, high = np.array(ends).T
    return (low, high) if np.isfinite(ends).all() else (None, None)


def _left_open(result: Sequence[Estimate]) -> Booleans:
    """Where an evaluation would withhold net benefit: an estimated class prior leaves it open."""
    return np.array([withhold(one, METRICS[NET_BENEFIT]).withheld_because is not None for one in result])


def _estimates(
    evidence: Evidence,
    grid: Floats,
    indices: Floats,
    resampling: Resampling | None,
    contradiction: Contradiction | None = None,
) -> list[Estimate]:
    """Net benefit at each ratio and its threshold, as an evaluation gives it."""
    doubts: Any = None if resampling is None else estimator_of(evidence, resampling)
    asked: dict[str, Any] = {"doubts": doubts, "contradiction": contradiction}

    def one(ratio: float, index: float) -> Estimate:
        result = estimate(NET_BENEFIT, METRICS[NET_BENEFIT], evidence, threshold=index, cost_ratio=ratio, **asked)
        return within_cells(result, evidence.within, doubts, cost_ratio=ratio)

    return [one(ratio, index) for ratio, index in zip(grid.tolist(), indices.tolist(), strict=True)]


def _band(linear: LinearAtThresholds, confidence: float, indices: Floats) -> tuple[Floats, Floats]:
    """MOVER ends at the tail at which all of them hold together."""
    evidence = linear.evidence
    own = evidence.class_prior.unlabelled
    reach = _reach(linear, confidence)
    freedom = max(evidence.tally.totals.labelled - 1, 1.0)
    tail = float(ndtr(-abs(stdtrit(freedom, ndtr(reach)))))
    doubt = PriorUncertainty(evidence)

    def tilted(rows: Evidence) -> LinearAtThresholds:
        counted = np.array([tuple(rows.tally.at(index)) for index in indices.tolist()])
        return LinearAtThresholds(rows, linear.form, (counted[:, 0], counted[:, 1], counted[:, 2]))

    construction = under_labelling(evidence, tilted, at_threshold=True)
    if doubt.treatment == "drawn":
        return construction.ends(None, tail)
    shares = doubt.over(PRIORS_IN_RANGE) if doubt.treatment == "range" else [own]
    ends = [construction.ends(share, tail) for share in shares]
    return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)


def _reach(construction: LinearAtThresholds, confidence: float) -> float:
    """How many standard errors hold all numbers together.

    Those of one threshold are linear in its hits and its flagged share alone: two numbers, for which no points in space
    are needed.
    """
    evidence, own, above = construction.evidence, construction.evidence.class_prior.unlabelled, construction.above
    if any(np.ptp(kind) > 0 for kind in above):
        return _largest_deviation(construction.covariance(own), confidence)
    labelled, unlabelled, negative = (np.repeat(kind[:1], 2) for kind in above)
    each = Form(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    both = LinearAtThresholds(evidence, each, (labelled, unlabelled, negative))
    (of_hits, shared), (_, of_flagged) = both.covariance(own)
    first = np.sqrt(max(of_hits, 0.0))
    second = shared / first if first > 0 else 0.0
    rest = np.sqrt(max(of_flagged - second**2, 0.0))
    hits, flagged = (np.broadcast_to(part, above[0].shape) for part in construction.form[:2])
    rows = np.stack([hits * first + flagged * second, flagged * rest], axis=1)
    return LargestOf.in_a_plane(rows).quantile(confidence)


def _largest_deviation(covariance: Floats, confidence: float) -> float:
    """The point below which the largest deviation of a normal vector with this correlation stays so often."""
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.multiply.outer(spread, spread))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return float(np.quantile(np.abs(_normal_points(spread.size) @ root.T).max(axis=1), confidence))


@lru_cache(maxsize=8)
def _normal_points(size: int) -> Floats:
    """Normal vectors that fill space evenly: a Latin hypercube without correlation, always the same."""
    from pulens.special import ndtri

    columns = seeded_levels(EVEN_POINTS, max(size, 2), 0)[0]  # a single one has nothing to be uncorrelated with
    return np.asarray(ndtri(np.stack(columns[:size], axis=1)))


def _default(evidence: Evidence, actions: Actions, threshold: float | None) -> Floats:
    """Evenly in log odds, from an eighth of the class prior to where ten labelled rows are flagged."""
    prior = min(max(float(actions.class_prior), 1e-6), 0.9)
    low = prior / 8
    high = min(4 * prior, 0.9)
    if threshold is None:
        labelled = np.asarray(evidence.tally.labelled, float)
        index = min(int(np.searchsorted(labelled, FIRST_ROWS)), labelled.size - 1)
        high = min(float(evidence.tally.thresholds[index]), 0.99)
    high = max(high, 1.5 * low)
    odds = np.linspace(np.log(low / (1 - low)), np.log(high / (1 - high)), POINTS)
    return np.asarray(1 / (1 + np.exp(-odds)))


def _check(ratios: Any) -> Floats:
    result = numbers(ratios)
    if result is None:
        raise InputError(f"cost ratios must lie strictly between 0 and 1, got {shown(ratios)}.")
    grid = np.atleast_1d(result)
    bad = ~((grid > 0) & (grid < 1))
    if bad.any():
        raise InputError(f"cost ratios must lie strictly between 0 and 1, got {shown(grid[bad][0].item())}.")
    if grid.ndim != 1 or not 0 < grid.size <= MOST_POINTS:
        raise InputError(f"a decision curve takes 1 to {MOST_POINTS} cost ratios, got an array of shape {grid.shape}.")
    return np.unique(grid)


def _of_probabilities(evidence: Evidence, prior: float) -> tuple[Notice, ...]:
    """Whether the scores can be chances of being positive: their mean over the list should be near the class prior."""
    labelled, unlabelled, negative = (np.asarray(kind, float) for kind in evidence.tally.increments())
    apart = is_unlabelled_list(evidence.tally, evidence.assumptions)
    rows = unlabelled if apart else labelled + unlabelled + negative
    mean = float(rows @ np.asarray(evidence.tally.thresholds, float)) / float(rows.sum())
    if prior / 2 <= mean <= 2 * prior:
        return ()
    said = (
        f"The mean score is {mean:.3g} and the class prior {prior:.3g}: these are not probabilities of being positive "
        "(a model trained on labels gives probabilities of being labelled). pulens calibrate repairs them."
    )
    return (Notice(Severity.WARNING, "not-probabilities", said),)
