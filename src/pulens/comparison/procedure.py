"""The door of the comparison: rows, redraws, differences, order, verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, TypeAlias, Unpack

import numpy as np

from pulens.comparison.answer import Comparison, estimates_of_prior
from pulens.comparison.bands import Bands
from pulens.comparison.clustered import ClusteredModels, differences_of_clusters, read_clustered_models
from pulens.comparison.joint import JointCounts, read_models
from pulens.comparison.order import Order, order_by_prior
from pulens.comparison.paired import Difference, DifferenceOfRedraws, two_sided_p
from pulens.comparison.parameters import given_parameters, refuse_first_rows_within, with_parameters
from pulens.comparison.redraws import PairedRedraws
from pulens.comparison.reviewed import reviewed_comparison
from pulens.comparison.shared_prior import SharedPrior, shared_prior
from pulens.comparison.stratified import StratifiedRows, read_stratified
from pulens.comparison.worth import Worth, crossovers
from pulens.counts.tally import Tally
from pulens.errors import PulensError, listed
from pulens.estimate import Estimate, Interval
from pulens.evaluation.evaluate import best_threshold
from pulens.evidence import NOT_USED, Design, Evidence, IntervalOptions
from pulens.frozen import FrozenMapping
from pulens.inference.kernels.holm import holm
from pulens.inference.kernels.resampling import DEFAULT_REDRAWS, Resampling
from pulens.inference.measured import Measured
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import holding
from pulens.inference.replicates import Replicates
from pulens.inputs import ROWS
from pulens.inputs.frames import keeps_library
from pulens.inputs.reading import ModelKeywords
from pulens.keywords import forwards_keywords, names_of
from pulens.metrics import find, leading
from pulens.metrics.at_threshold import check_cost_ratio
from pulens.metrics.parts.measure import check_threshold, estimate, raw_value
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.possible_worlds import find_contradiction, lowest_possible_prior
from pulens.metrics.parts.top_of_list import RankedList, rows_of
from pulens.metrics.parts.withholding import withhold
from pulens.priors import ClassPrior, population_prior
from pulens.priors.given import GivenPrior
from pulens.recovery.assumptions import Assumptions
from pulens.scenario import DEFAULT_SCENARIO
from pulens.selection import (
    Favouring,
    Practice,
    correlated_levels,
    estimator_of,
    labelling_of,
    moved_by,
    read_under,
    said_of_labels,
    told_under,
)
from pulens.selection.tilted import TiltedEvidence
from pulens.strata.gathering import resolved
from pulens.types import Column, Floats, Places, RowsLike, Strata, Values

LEAST_DEFINED = 0.9  # of the redraws, for a difference to have an interval
PRIORS_TILTED = 9  # at which the labelling is asked what it moves when the order is traced
Models: TypeAlias = JointCounts | StratifiedRows | ClusteredModels


@dataclass(frozen=True, eq=False)
class Request:
    """What is to be compared: metrics by name, a threshold for each model, the assumptions."""

    rows: Models
    metrics: Mapping[str, Metric]
    thresholds: Mapping[str, float]
    evidences: Mapping[str, Evidence]  # of each model, with the class prior that all share
    resampling: Resampling
    uneven: Practice | Favouring | None = None  # how labels favour easy positives

    @property
    def first(self) -> Evidence:
        """Counts differ between models, but not the numbers of rows."""
        return next(iter(self.evidences.values()))

    @cached_property
    def prior(self) -> SharedPrior:
        return shared_prior(self.first, self.evidences, self.resampling)

    @property
    def middle(self) -> float:
        return self.first.class_prior.unlabelled

    def settings(self, metric: Measured) -> Sequence[Any]:
        """Of the class prior; its own value comes first."""
        return self.prior.settings(metric)

    def recovered(self, above: Floats, setting: Any, numbers: Places | None) -> Replicates:
        return self.prior.recovered(above, setting, numbers)

    def value(self, metric: Metric, model: str, setting: Any) -> float:
        return float(self._raw(metric, model)(*self.read[model].rows_at(setting)))

    def as_said(self, pair: Difference) -> Difference:
        """A difference by what is said of labels: with what it rests on, and over all tilts up to a factor.

        One that may have either sign is not clear.
        """
        if pair.interval is None:
            return pair
        if not isinstance(self.uneven, Favouring):
            return replace(pair, interval=told_under(pair.interval, self.read[pair.first]))
        metric, ends = self.metrics[pair.metric], []
        for model in (pair.first, pair.second):
            raw, share = self._raw(metric, model), self.middle
            moved = moved_by(self.read[model], raw, share, np.linspace(0, 1, 5), at_threshold=False)
            ends.append((min(float(moved.min()), 0.0), max(float(moved.max()), 0.0)))
        low, high = pair.interval.low + ends[0][0] - ends[1][1], pair.interval.high + ends[0][1] - ends[1][0]
        interval = told_under(replace(pair.interval, low=low, high=high), self.read[pair.first])
        if low > 0 or high < 0:
            return replace(pair, interval=interval)
        return replace(pair, interval=interval, p_value=1.0, adjusted_p_value=1.0)

    def traced(self, metric: Metric, shares: Floats) -> Callable[[str, float], float]:
        """A model's value at any of these shares of positives; what the labelling moves is linear between a few."""
        if self.uneven is None:
            return lambda model, share: self.value(metric, model, self.prior.at(share))
        counted, nodes = replace(self, uneven=None), np.linspace(shares[0], shares[-1], PRIORS_TILTED)
        moved = {}
        for model, read in self.read.items():
            few = read.coarse if isinstance(read, TiltedEvidence) else read
            raw = self._raw(metric, model)
            moved[model] = np.array([raw(*few.rows_at(at)) - raw(*few.counted.rows_at(at)) for at in nodes.tolist()])
        return lambda model, prior: counted.value(metric, model, prior) + float(np.interp(prior, nodes, moved[model]))

    def _raw(self, metric: Metric, model: str) -> Callable[[Tally, Assumptions], float]:
        """Not clipped: two models beyond the possible still have an order."""
        threshold = self.thresholds[model] if metric.needs_threshold else None
        return partial(raw_value, metric, threshold=threshold)

    @cached_property
    def read(self) -> dict[str, Evidence]:
        """What each model's numbers are read off."""
        return {name: read_under(own, self.uneven) for name, own in self.evidences.items()}

    def with_labelling(self, metric: Metric, observed: Floats, redraws: Floats) -> Floats:
        """Redraws of the rows with a draw of the labelling in each: models on the same labels are tilted alike.

        What the labelling adds is the same for any redraw of the rows: the change that it makes to the rows at hand.
        """
        if not isinstance(self.uneven, Practice):
            return redraws
        levels, result = self._levels(len(redraws)), redraws.copy()
        for index, model in enumerate(self.rows.names):
            for at, setting in enumerate(self.settings(metric)):
                prior = self.middle if setting is None else setting
                middle, moved = self._shifts(metric, model, prior, levels[:, index], observed[at, index])
                result[:, at, index] += middle + moved
        return result

    def _levels(self, draws: int) -> Floats:
        assert isinstance(self.uneven, Practice)
        assert not isinstance(self.rows, StratifiedRows)
        together = self.uneven.correlations_of_models(self.rows.agreement())
        return correlated_levels(draws, together, self.resampling.seed)

    def _shifts(
        self, metric: Metric, model: str, prior: float, levels: Floats, observed: float
    ) -> tuple[float, Floats]:
        """What the labelling in the middle adds to a model's number, which is ``observed``, and draws of it to that."""
        raw, read = self._raw(metric, model), self.read[model]
        middle = observed - raw(*read.counted.rows_at(prior))
        return middle, moved_by(read, raw, prior, levels, at_threshold=metric.reads != "ranking")

    def shifts_of_pairs(self, metric: Metric) -> dict[tuple[str, str], Callable[[float], tuple[float, Floats]]] | None:
        """What the labelling adds to the difference of each pair of models, at a share among the unlabelled rows."""
        if not isinstance(self.uneven, Practice):
            return None
        levels, known = dict(zip(self.rows.names, self._levels(self.resampling.redraws).T, strict=True)), {}

        def of(model: str, prior: float) -> tuple[float, Floats]:
            if (model, prior) not in known:
                own = self.value(metric, model, prior)
                known[model, prior] = self._shifts(metric, model, prior, levels[model], own)
            return known[model, prior]

        def between(first: str, second: str, prior: float) -> tuple[float, Floats]:
            one, two = of(first, prior), of(second, prior)
            return one[0] - two[0], one[1] - two[1]

        return {pair: partial(between, *pair) for pair in combinations(self.rows.names, 2)}

    def observed(self, metric: Metric) -> Floats:
        """The metric at its settings (rows) for every model (columns)."""
        settings, models = self.settings(metric), self.rows.names
        return np.array([[self.value(metric, model, setting) for model in models] for setting in settings])


@keeps_library
@forwards_keywords(ROWS, ("table", "where", "cluster"))
def compare(
    labels: RowsLike,
    scores: Values | Mapping[str, Values] | None = None,
    *,
    score: Column | Sequence[Column] | None = None,
    class_prior: GivenPrior | ClassPrior | str | Mapping[Any, Any] | None = None,
    unlabelled_prior: GivenPrior | Mapping[Any, Any] | None = None,
    label_noise: float = 0.0,
    scenario: str = DEFAULT_SCENARIO,
    metrics: Sequence[str] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    cost_ratio: float | None = None,
    k: float | str | None = None,
    confidence: float = 0.95,
    redraws: int = DEFAULT_REDRAWS,
    seed: int = 0,
    audit: object = None,
    combine: bool = False,
    reviews: RowsLike | None = None,
    reviewed_above: float | None = None,
    reviewed_below_share: float | None = None,
    id: str | None = None,
    labelled_within: Strata | None = None,
    split: str | None = None,
    labelling: str | float | None = None,
    **reading: Unpack[ModelKeywords],
) -> Comparison:
    """Say which of several models is best on the same rows, how sure that is, and where the class prior decides.

    Parameters
    ----------
    labels, scores
        Labels as in :func:`pulens.evaluate`, and a mapping of each model's name to its scores. Or a table or the
        path of a file, with ``score=["a", "b"]`` naming the columns of scores.
    score, label, positive, negative, unlabelled
        Columns of scores, one for each model, and of labels of a table, and what label values mean, as in
        :func:`pulens.evaluate`.
    class_prior, unlabelled_prior, label_noise, scenario, audit, combine
        As in :func:`pulens.evaluate`. Over a range of class priors a difference counts only if it holds everywhere;
        a class prior with a confidence is drawn in every redraw, once for all models.
        An estimate is made from each model's scores, and the lowest is used for all: the class prior belongs to the
        rows, and the model that separates them best has the least to add to it.
    metrics
        Names of metrics, the most important first: the verdict is about it. By default ``roc_auc`` and
        ``average_precision``, and with a threshold also ``f1``, ``accuracy``, ``precision`` and ``recall``.
    threshold
        One for all models, or one for each by name.
    cost_ratio
        The price of a flag over the worth of a hit: compares by ``net_benefit`` first, and says at which class prior
        and at which cost ratio two models are worth the same. Without a threshold each model has the one at which it
        is worth most on these rows.
    k
        How many rows of the list are looked at, or a share such as ``"1%"``: compares by ``recall_at_k``,
        ``precision_at_k`` and ``ndcg_at_k``, or by those of the metrics named that take it.
    reviews, reviewed_above, reviewed_below_share, id
        Rows that people checked, as in :func:`pulens.evaluate`, with a threshold: ``reviewed`` then holds differences
        of F1, precision and recall that assume nothing about labels.
    confidence, redraws, seed
        Of the intervals: their level, how often the rows are redrawn, and the random numbers.
    labelled_within, split
        As in :func:`pulens.evaluate`: labels are random within cells only. Rows must be in memory, or in a plain file.
    labelling
        As in :func:`pulens.evaluate`: ``"practice"``, the default, or ``"random"``. Two models on the same labels are
        tilted alike (:func:`pulens.selection.correlated_levels`), so most of what uneven labels do to either cancels in
        their difference. With ``labelled_within``, ``label_noise`` or ``reviews`` the default is
        ``"random"``.
    cluster
        Which rows belong together, as in :func:`pulens.evaluate`: differences are then found without each bucket of
        clusters in turn, and nothing is redrawn.

    Returns
    -------
    Comparison
        The verdict, every model's estimates, the differences of all pairs, and the order over the class prior.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [200, 1000])
    >>> good, poor = rng.normal(1.5 * labels), rng.normal(0.5 * labels)
    >>> comparison = compare(labels, {"good": good, "poor": poor}, class_prior=0.25, redraws=200)
    >>> comparison.winner
    'good'

    A table is taken as it is, with the names of its columns:

    >>> import polars
    >>> claims = polars.DataFrame({"old": poor, "new": good, "outcome": np.where(labels, "fraud", "")})
    >>> compare(claims, score=["old", "new"], label="outcome", positive="fraud", class_prior=0.25, redraws=200).winner
    'new'
    """
    said = {**reading, **({} if score is None else {"score": score})}
    question = IntervalOptions.among(locals())
    resampling = question.resampling
    cost_ratio = None if cost_ratio is None else check_cost_ratio(cost_ratio)
    if resampling is None:
        raise PulensError(
            "a comparison needs a confidence, such as 0.95: without intervals there is nothing to decide by."
        )
    design = Design.among(locals(), said)
    uneven = said_of_labels(labelling, design.refused_beside("practice"))
    chosen = with_parameters(
        _metrics(metrics, has_threshold=threshold is not None),
        named=metrics is not None,
        ranks="cluster" not in said and uneven is None,
        cost_ratio=cost_ratio,
        k=k,
    )
    needing = metrics if cost_ratio is None else None  # a cost ratio finds thresholds by itself
    refuse_first_rows_within(k, design)
    design.check_priors(question)
    rows = _read(labels, scores, design, said)
    reviewed = reviewed_comparison(
        labels,
        scores,
        _thresholds(threshold, rows.names, needing),
        design.second_phase,
        said,
        scenario=scenario,
        confidence=confidence,
        seed=seed,
    )
    question = _with_prior(question, design, chosen, None if reviewed is None else reviewed.class_prior)
    evidences, prior_by = _evidences(rows, question, split, uneven)
    at = _thresholds(threshold, rows.names, needing)
    if threshold is None and cost_ratio is not None:  # each model's with the highest net benefit on these rows
        at = {model: best_threshold(own, "net_benefit", cost_ratio=cost_ratio) for model, own in evidences.items()}
    asked = Request(rows, chosen, at, evidences, resampling, uneven)
    result = (_by_clusters if isinstance(rows, ClusteredModels) else _by_redraws)(asked)
    result = {name: tuple(asked.as_said(pair) for pair in pairs) for name, pairs in result.items()}
    worth = None
    if cost_ratio is not None:
        pairs = crossovers(rows.joint, evidences, at, cost_ratio, confidence)
        worth = Worth(cost_ratio, FrozenMapping(at), threshold is None, pairs)
    first = asked.first
    return Comparison(
        rows.names,
        first.counted,
        resampling,
        _estimates(asked),
        FrozenMapping(result),
        FrozenMapping({name: _order(asked, name) for name in chosen}),
        FrozenMapping({name: metric.higher_is_better for name, metric in chosen.items()}),
        reviewed,
        worth=worth,
        k=None if k is None else rows_of(k, RankedList.of(first.tally, first.assumptions).rows, "a comparison"),
        prior_by=prior_by,
        bands=_bands(asked),
        labelling=labelling_of(next(iter(asked.read.values()))),
        within=() if first.within is None else first.within.cells.columns,
    )


def _read(labels: Any, scores: Any, design: Design, reading: Mapping[str, Any]) -> Models:
    """The rows as their design needs them: by combination of scores, one by one within strata, or by cluster."""
    if design.cluster is not None:
        return read_clustered_models(labels, scores, design.strata, **reading)
    if design.strata is not None:
        return read_stratified(labels, scores, design.strata, **reading)
    return read_models(labels, scores, **reading)


def _bands(asked: Request) -> Bands | None:
    """What the bands of a chart follow from; not where rows belong together, or there is nothing to suppose."""
    if asked.rows.joint is None or not asked.first.tally.totals.unlabelled:
        return None
    return Bands(asked.evidences, asked.thresholds, asked.metrics, asked.resampling, asked.uneven)


def _by_redraws(asked: Request) -> dict[str, tuple[Difference, ...]]:
    """The differences of all pairs from joint redraws of the rows."""
    assert not isinstance(asked.rows, ClusteredModels)
    paired = asked.rows.paired(asked.first.counted.scenario)
    tallies = {model: own.counted.tally for model, own in asked.evidences.items()}
    counted = replace(asked, uneven=None)
    random = {name: counted.observed(metric) for name, metric in asked.metrics.items()}
    redraws = PairedRedraws(counted, paired, tallies, asked.resampling).found(random)
    result = {}
    for name, metric in asked.metrics.items():
        observed = random[name] if asked.uneven is None else asked.observed(metric)
        result[name] = _differences(asked, name, observed, asked.with_labelling(metric, observed, redraws[name]))
    return result


def _by_clusters(asked: Request) -> dict[str, tuple[Difference, ...]]:
    """The differences of all pairs without each bucket of clusters."""
    return {
        name: differences_of_clusters(
            name, metric, asked.evidences, asked.thresholds, asked.resampling, asked.shifts_of_pairs(metric)
        )
        for name, metric in asked.metrics.items()
    }


def _with_prior(
    question: IntervalOptions, design: Design, chosen: Mapping[str, Metric], audited: ClassPrior | None
) -> IntervalOptions:
    """A class prior where none was said: that of the checked rows, or any where no metric needs one."""
    if not question.is_silent_on_prior:
        return question
    if audited is not None:
        return replace(question, class_prior=audited)
    unused = design.strata is None and all(metric.ignores_class_prior for metric in chosen.values())
    return replace(question, unlabelled_prior=NOT_USED) if unused else question


def _evidences(
    rows: Models, question: IntervalOptions, split: str | None, uneven: Practice | Favouring | None
) -> tuple[dict[str, Evidence], Mapping[str, float]]:
    """One class prior for all models: given, audited, or the lowest of the estimates from each model's scores.

    Beside it, where it was estimated, what each model's scores say of it.
    """
    each = {model: resolved(counted, question, split) for model, counted in rows.counted.items()}
    if uneven is not None and uneven.explains_any_rows:  # labels that favour easy positives rule out no class prior
        lowest = min(each.values(), key=lambda own: own.class_prior.unlabelled)
    else:
        lowest = lowest_possible_prior(each.values())
    lowest = lowest.with_rows_of(next(iter(each.values())))
    if uneven is not None:
        lowest = read_under(lowest, uneven).counted
    told = estimates_of_prior(rows.names, [one.counted for one in each.values()])
    return {model: lowest.with_rows_of(own) for model, own in each.items()}, told


def _metrics(names: Sequence[str] | None, *, has_threshold: bool) -> dict[str, Metric]:
    usual = [name for name in leading("comparison") if has_threshold or not find(name).needs_threshold]
    chosen = usual if names is None else names_of("metrics", names)
    if not chosen:
        raise PulensError("metrics is empty: name at least one, or leave it out for the usual ones.")
    return {name: find(name) for name in chosen}


def _thresholds(
    threshold: float | Mapping[str, float] | None, names: tuple[str, ...], metrics: Sequence[str] | None
) -> dict[str, float]:
    if threshold is None:
        asking = [
            name for name in (() if metrics is None else names_of("metrics", metrics)) if find(name).needs_threshold
        ]
        if asking:
            check_threshold(None, required_by=asking[0])
        return dict.fromkeys(names, math.nan)
    if not isinstance(threshold, Mapping):
        return dict.fromkeys(names, check_threshold(threshold))
    if set(threshold) != set(names):
        raise PulensError(f"threshold must name each model once: {listed(names)}; got {listed(threshold)}.")
    return {name: check_threshold(threshold[name]) for name in names}


def _estimates(asked: Request) -> Mapping[str, Mapping[str, Estimate]]:
    """Each model's metrics as :func:`pulens.evaluate` gives them, with the class prior that all models share."""
    estimators = {model: estimator_of(evidence, asked.resampling) for model, evidence in asked.read.items()}
    contradictions = {
        model: find_contradiction(evidence) if evidence.can_be_ruled_out else None
        for model, evidence in asked.read.items()
    }

    def found(name: str, metric: Metric, model: str) -> Estimate:
        evidence, given = asked.read[model], given_parameters(name, metric)
        known: Any = {"doubts": estimators[model], "contradiction": contradictions[model], **given}
        at = asked.thresholds[model] if metric.needs_threshold else None
        result = estimate(name, find(name), evidence, threshold=at, **known)
        return withhold(evidence.annotated(result, estimators[model], **given), find(name))

    return FrozenMapping(
        {
            name: FrozenMapping({model: found(name, metric, model) for model in asked.rows.names})
            for name, metric in asked.metrics.items()
        }
    )


def _differences(asked: Request, name: str, observed: Floats, redraws: Floats) -> tuple[Difference, ...]:
    """All pairs of models; over a range a claim must hold at every prior tried, so the worst p-value counts."""
    metric, confidence = asked.metrics[name], asked.resampling.confidence
    n_labelled = int(asked.first.counted.tally.totals.labelled)
    doubt = asked.prior.known(metric)
    sign = 1 if metric.higher_is_better else -1
    pairs = list(combinations(range(len(asked.rows.names)), 2))
    parts: list[tuple[float, Interval | None, float, float]] = []
    for first, second in pairs:
        gaps = redraws[:, :, first] - redraws[:, :, second]
        seen = observed[:, first] - observed[:, second]
        value = float(seen[0])
        by_prior = [column[~np.isnan(column)] for column in gaps.T]
        if math.isnan(value) or any(column.size < LEAST_DEFINED * len(gaps) for column in by_prior):
            parts.append((math.nan, None, math.nan, 1.0))
            continue
        pair = DifferenceOfRedraws(seen, by_prior, n_labelled)
        spread = pair.spread(range(seen.size), confidence)
        low, high, method = ends_in_doubt(pair, doubt, confidence)
        low, high = holding(value, low, high)
        # a difference whose sign turns within the range of priors, or from the rows to their redraws, is none
        turns = len({np.sign(value), *(np.sign(np.mean(column)) for column in by_prior)}) > 1
        length = float(np.ptp(seen[~np.isnan(seen)])) / spread if spread > 0 else 0.0
        p_value = 1.0 if turns else max(two_sided_p(column, n_labelled, length) for column in by_prior)
        at_middle = sign * by_prior[0]
        better = float(np.mean(at_middle > 0) + np.mean(at_middle == 0) / 2)
        parts.append((value, Interval(low, high, confidence, method), better, p_value))
    adjusted = holm([part[3] for part in parts])
    names = asked.rows.names
    reason = metric.undefined_because or "it is undefined in too many redraws"
    return tuple(
        Difference(name, names[i], names[j], *part, corrected, reason if part[1] is None else None)
        for (i, j), part, corrected in zip(pairs, parts, adjusted, strict=True)
    )


def _order(asked: Request, name: str) -> Order:
    """Over the range that was given, or over all class priors that the data allow."""
    metric, rows, shares = asked.metrics[name], asked.first.counted, asked.prior.traced()
    return order_by_prior(
        name,
        asked.traced(metric, shares),
        asked.rows.names,
        shares,
        lambda prior: population_prior(prior, rows.tally.totals, rows.scenario, rows.label_noise),
        higher_is_better=metric.higher_is_better,
    )
