"""The door of the comparison: rows, redraws, differences, order, verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np

from pulens.comparison.answer import Comparison, estimates_of_prior
from pulens.comparison.bands import Bands
from pulens.comparison.clustered import (
    ClusteredModels,
    differences_of_clusters,
    model_of_clusters,
    read_clustered_models,
)
from pulens.comparison.joint import JointCounts, read_models
from pulens.comparison.order import Order, largest_credible_prior, order_by_prior
from pulens.comparison.paired import Difference, DifferenceOfRedraws, two_sided_p
from pulens.comparison.parameters import given_parameters, refuse_first_rows_within, with_parameters
from pulens.comparison.redraws import PairedRedraws
from pulens.comparison.reviewed import reviewed_comparison
from pulens.comparison.worth import Worth, crossovers
from pulens.counts.tally import Tally
from pulens.errors import PulensError, listed
from pulens.estimate import Estimate, Interval
from pulens.evaluation.evaluate import best_threshold
from pulens.evidence import NOT_USED, Design, Evidence, IntervalOptions
from pulens.evidence.review_options import ReviewOptions
from pulens.frozen import FrozenMapping
from pulens.inference.kernels.holm import holm
from pulens.inference.kernels.redraws import BootstrapCounts
from pulens.inference.kernels.resampling import DEFAULT_REDRAWS, Resampling
from pulens.inference.measured import depends_on_class_prior
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_draws import PriorDraws
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, PriorUncertainty, holding
from pulens.inference.replicates import Replicates
from pulens.inputs import ROWS
from pulens.inputs.frames import keeps_library
from pulens.inputs.reading import said
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
from pulens.selection.shifts import value_at
from pulens.selection.tilted import TiltedEvidence
from pulens.types import Clusters, Column, Floats, LabelValues, Places, RowsLike, Strata, Values

LEAST_SHARE = 1e-3  # of the largest prior that may be true: at 0 there are no positives to find
LEAST_DEFINED = 0.9  # of the redraws, for a difference to have an interval
PRIORS_TRACED = 65  # when the order is traced
PRIORS_TILTED = 9  # and at which the labelling is asked what it moves there


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is to be compared: metrics by name, a threshold for each model, the assumptions."""

    rows: JointCounts | ClusteredModels
    metrics: Mapping[str, Metric]
    thresholds: Mapping[str, float]
    evidence: Evidence  # of the first model: counts differ between models, but not the numbers of rows
    resampling: Resampling
    uneven: Practice | Favouring | None = None  # how labels favour easy positives

    def value(self, metric: Metric, model: str, unlabelled_prior: float) -> float:
        read = self.read[model]
        (prior,) = self._draws.moved(unlabelled_prior, tuple(read.counted.tally.totals))
        return float(value_at(read, self._raw(metric, model), float(prior)))

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

    def traced(self, metric: Metric, low: float, high: float) -> Callable[[str, float], float]:
        """A model's value at any share from low to high; what the labelling moves is linear between a few."""
        if self.uneven is None:
            return partial(self.value, metric)
        counted, nodes = replace(self, uneven=None), np.linspace(low, high, PRIORS_TILTED)
        moved = {}
        for model, read in self.read.items():
            few = read.coarse if isinstance(read, TiltedEvidence) else read
            raw = self._raw(metric, model)
            moved[model] = np.array(
                [
                    value_at(few, raw, at) - raw(few.counted.tally, few.counted.assumptions_at(at))
                    for at in nodes.tolist()
                ]
            )
        return lambda model, prior: counted.value(metric, model, prior) + float(np.interp(prior, nodes, moved[model]))

    def _raw(self, metric: Metric, model: str) -> Callable[[Tally, Assumptions], float]:
        """Not clipped: two models beyond the possible still have an order."""
        threshold = self.thresholds[model] if metric.needs_threshold else None
        return partial(raw_value, metric, threshold=threshold)

    @cached_property
    def read(self) -> dict[str, Evidence]:
        """What each model's numbers are read off."""
        return {name: read_under(own, self.uneven) for name, own in self.evidences(self.rows.tallies()).items()}

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
        together = self.uneven.correlations_of_models(self.rows.agreement())
        return correlated_levels(draws, together, self.resampling.seed)

    def _shifts(
        self, metric: Metric, model: str, prior: float, levels: Floats, observed: float
    ) -> tuple[float, Floats]:
        """What the labelling in the middle adds to a model's number, which is ``observed``, and draws of it to that."""
        raw, read = self._raw(metric, model), self.read[model]
        middle = observed - raw(read.counted.tally, read.counted.assumptions_at(prior))
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

    @property
    def _draws(self) -> PriorDraws:
        return PriorDraws(self.evidence)

    def evidences(self, tallies: Sequence[Tally]) -> dict[str, Evidence]:
        """Of each model, with the class prior that all share."""
        rows = self.rows
        buckets = rows.buckets if isinstance(rows, ClusteredModels) else (None,) * len(tallies)
        each = zip(rows.names, tallies, buckets, strict=True)
        return {name: self.evidence.with_tally(tally, held) for name, tally, held in each}

    @property
    def middle(self) -> float:
        return self.evidence.class_prior.unlabelled

    @property
    def reach(self) -> tuple[float, float] | None:
        """The range of unlabelled priors, kept off 0, where a population without positives has few metrics."""
        interval = self.evidence.class_prior.unlabelled_interval
        if interval is None or interval.width == 0:
            return None
        return max(interval.low, LEAST_SHARE * interval.high), interval.high

    def doubt(self, metric: Metric) -> PriorUncertainty:
        """How doubt about the class prior enters the metric."""
        return PriorUncertainty(self.evidence, depends_on_class_prior(metric, self.evidence.label_noise))

    def settings(self, metric: Metric) -> list[float | None]:
        """The unlabelled priors at which the metric has to be known; ``None`` where each redraw has its own."""
        treatment = self.doubt(metric).treatment
        if treatment == "range" and self.reach is not None:
            return sorted({self.middle, *np.linspace(*self.reach, PRIORS_IN_RANGE).tolist()})
        return [None if treatment == "drawn" else self.middle]

    def own(self, metric: Metric) -> int:
        """The place of the class prior's own value among the settings."""
        result = self.settings(metric)
        return result.index(self.middle) if len(result) > 1 else 0

    def observed(self, metric: Metric) -> Floats:
        """The metric at its settings (rows) for every model (columns)."""
        priors = [self.middle if prior is None else prior for prior in self.settings(metric)]
        return np.array([[self.value(metric, model, prior) for model in self.rows.names] for prior in priors])

    def recovered(self, above: Floats, setting: float | None, numbers: Places | None) -> Replicates:
        counts, totals = above[:, 0], above[:, 0, -2]
        kinds = totals[:, 0], totals[:, 1], totals[:, 2]
        share: Any = setting
        if setting is None:
            share = self.middle if numbers is None else self.drawn[numbers]
        priors = np.broadcast_to(self._draws.moved(share, kinds), len(totals))
        rates = counts / np.where(totals > 0, totals, 1.0)[:, None]
        redrawn = BootstrapCounts(rates[..., 0], rates[..., 1], rates[..., 2], kinds, np.zeros(len(totals)))
        evidence = self.evidence
        return Replicates(redrawn, priors, evidence.label_noise, evidence.recovery_scenario, of_rows=True)

    @cached_property
    def drawn(self) -> Floats:
        """A prior for each redraw, common to all models: it belongs to the rows, so its error cancels where theirs do.

        Spread evenly over its distribution, in random order, so that the draws add no noise of their own.
        """
        from pulens.special import ndtri

        doubt, size = PriorUncertainty(self.evidence), self.resampling.redraws
        order = np.random.default_rng([self.resampling.seed, size]).permutation(size)
        shares = doubt.possible(doubt.drawn(ndtri((order + 0.5) / size)))
        least = 0.0 if self.reach is None else LEAST_SHARE * self.reach[1]
        return np.maximum(np.broadcast_to(shares, (size,)), least)


@keeps_library
@forwards_keywords(ROWS, ("table", "where", "cluster"))
def compare(
    labels: RowsLike,
    scores: Values | Mapping[str, Values] | None = None,
    *,
    score: Column | Sequence[Column] | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Clusters | None = None,
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
    **reading: Any,
) -> Comparison:
    """Say which of several models is best on the same rows, how sure that is, and where the class prior decides.

    Parameters
    ----------
    labels, scores
        Labels as in :func:`pulens.evaluate`, and a mapping of each model's name to its scores. Or a table or the
        path of a file, with ``score=["a", "b"]`` naming the columns of scores.
    score, label
        Columns of scores, one for each model, and of labels, where the first argument is a table, file or database;
        labels are in ``"label"`` unless given.
    positive, negative, unlabelled
        Label values that mean labelled positive, known negative and unlabelled, each a value or a list.
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
    reading |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    question = IntervalOptions.among(locals())
    resampling = question.resampling
    cost_ratio = None if cost_ratio is None else check_cost_ratio(cost_ratio)
    if resampling is None:
        raise PulensError(
            "a comparison needs a confidence, such as 0.95: without intervals there is nothing to decide by."
        )
    if reading.get("cluster") is None:
        reading.pop("cluster", None)
    design = Design.among(locals(), reading)
    checked = design.second_phase
    uneven = said_of_labels(labelling, design.refused_beside("practice"))
    chosen = with_parameters(
        _metrics(metrics, has_threshold=threshold is not None),
        named=metrics is not None,
        ranks="cluster" not in reading and uneven is None,
        cost_ratio=cost_ratio,
        k=k,
    )
    needing = metrics if cost_ratio is None else None  # a cost ratio finds thresholds by itself
    if labelled_within is not None:
        refuse_first_rows_within(k)
        at = partial(_thresholds, threshold, metrics=needing)
        return _within_cells(labels, scores, labelled_within, question, chosen, at, split, reading, checked, cost_ratio)
    design.check_priors(question)
    rows: JointCounts | ClusteredModels
    rows = (read_models if "cluster" not in reading else read_clustered_models)(labels, scores, **reading)
    reviewed = reviewed_comparison(
        labels,
        scores,
        _thresholds(threshold, rows.names, needing),
        checked,
        reading,
        scenario=scenario,
        confidence=confidence,
        seed=seed,
    )
    question = _with_prior(question, chosen, None if reviewed is None else reviewed.class_prior)
    tallies = rows.tallies()
    evidence, prior_by = _evidence(rows, question)
    evidence = read_under(evidence, uneven).counted
    asked = _Asked(rows, chosen, _thresholds(threshold, rows.names, needing), evidence, resampling, uneven)
    if threshold is None and cost_ratio is not None:
        asked = replace(asked, thresholds=_worth_most(asked, tallies, cost_ratio))
    result = (_by_redraws if isinstance(rows, JointCounts) else _by_clusters)(asked, tallies, resampling)
    result = {name: tuple(asked.as_said(pair) for pair in pairs) for name, pairs in result.items()}
    return Comparison(
        rows.names,
        asked.evidence,
        resampling,
        _estimates(asked, tallies, resampling),
        FrozenMapping(result),
        FrozenMapping({n: _order(asked, n, tallies) for n in chosen}),
        FrozenMapping({n: metric.higher_is_better for n, metric in chosen.items()}),
        reviewed,
        worth=_worth(asked, tallies, cost_ratio, resampling, is_chosen=threshold is None),
        k=None if k is None else rows_of(k, RankedList.of(tallies[0], asked.evidence.assumptions).rows, "a comparison"),
        prior_by=prior_by,
        bands=_bands(asked, tallies, resampling),
        labelling=labelling_of(next(iter(asked.read.values()))),
    )


def _bands(asked: _Asked, tallies: Sequence[Tally], resampling: Resampling) -> Bands | None:
    """What the bands of a chart follow from; not where rows belong together, or there is nothing to suppose."""
    if isinstance(asked.rows, ClusteredModels) or not asked.evidence.tally.totals.unlabelled:
        return None
    return Bands(asked.evidences(tallies), asked.thresholds, asked.metrics, resampling, asked.uneven)


def _within_cells(
    labels: Any,
    scores: Any,
    within: Any,
    question: IntervalOptions,
    metrics: Mapping[str, Metric],
    thresholds: Any,
    split: str | None,
    reading: dict[str, Any],
    checked: ReviewOptions,
    cost_ratio: float | None,
) -> Comparison:
    """A comparison whose labels are random within cells only, with what checked rows show."""
    from pulens.comparison.within import compare_within

    reviewed, resampling = None, question.resampling
    assert resampling is not None  # a comparison has a confidence
    if not checked.is_silent:
        names = list(scores) if isinstance(scores, Mapping) else list(reading.get("score") or ())
        reviewed = reviewed_comparison(
            labels,
            scores,
            thresholds(tuple(map(str, names))),
            checked,
            dict(reading),
            scenario=question.scenario,
            confidence=resampling.confidence,
            seed=resampling.seed,
        )
        question = _with_prior(question, metrics, None if reviewed is None else reviewed.class_prior)
    compared = compare_within(
        labels, scores, within, question, metrics, thresholds, split or "estimated", reading, cost_ratio
    )
    return replace(compared, reviewed=reviewed)


def _worth_most(asked: _Asked, tallies: Sequence[Tally], cost_ratio: float) -> dict[str, float]:
    """Each model's threshold with the highest net benefit on these rows."""
    result = asked.evidences(tallies).items()
    return {model: best_threshold(evidence, "net_benefit", cost_ratio=cost_ratio) for model, evidence in result}


def _worth(
    asked: _Asked, tallies: Sequence[Tally], cost_ratio: float | None, resampling: Resampling, *, is_chosen: bool
) -> Worth | None:
    if cost_ratio is None:
        return None
    joint = asked.rows.joint if isinstance(asked.rows, JointCounts) else None
    pairs = crossovers(joint, asked.evidences(tallies), asked.thresholds, cost_ratio, resampling.confidence)
    return Worth(cost_ratio, FrozenMapping(asked.thresholds), is_chosen, pairs)


def _by_redraws(asked: _Asked, tallies: Sequence[Tally], resampling: Resampling) -> dict[str, tuple[Difference, ...]]:
    """The differences of all pairs from joint redraws of the rows."""
    assert isinstance(asked.rows, JointCounts)
    paired, by_name = asked.rows.paired(asked.evidence.scenario), dict(zip(asked.rows.names, tallies, strict=True))
    counted = replace(asked, uneven=None)
    random = {name: counted.observed(metric) for name, metric in asked.metrics.items()}
    redraws = PairedRedraws(counted, paired, by_name, resampling).found(random)
    observed = {name: asked.observed(metric) for name, metric in asked.metrics.items()}
    redraws = {
        name: asked.with_labelling(metric, observed[name], redraws[name]) for name, metric in asked.metrics.items()
    }
    return differences(asked, observed, redraws)


def _by_clusters(asked: _Asked, tallies: Sequence[Tally], resampling: Resampling) -> dict[str, tuple[Difference, ...]]:
    """The differences of all pairs without each bucket of clusters."""
    evidences = asked.evidences(tallies)
    return {
        name: differences_of_clusters(
            name,
            metric,
            {
                model: model_of_clusters(metric, each, asked.thresholds[model], asked.doubt(metric), resampling)
                for model, each in evidences.items()
            },
            asked.doubt(metric),
            resampling.confidence,
            shifts=asked.shifts_of_pairs(metric),
        )
        for name, metric in asked.metrics.items()
    }


def _with_prior(question: IntervalOptions, chosen: Mapping[str, Metric], audited: ClassPrior | None) -> IntervalOptions:
    """A class prior where none was said: that of the checked rows, or any where no metric needs one."""
    if not question.is_silent_on_prior:
        return question
    if audited is not None:
        return replace(question, class_prior=audited)
    unused = all(metric.ignores_class_prior for metric in chosen.values())
    return replace(question, unlabelled_prior=NOT_USED) if unused else question


def _evidence(rows: JointCounts | ClusteredModels, question: IntervalOptions) -> tuple[Evidence, Mapping[str, float]]:
    """One class prior for all models: given, audited, or the lowest of the estimates from each model's scores.

    Beside it, where it was estimated, what each model's scores say of it.
    """
    if isinstance(rows, ClusteredModels):
        resolved = [question.resolve_clusters(counted) for counted in rows.buckets]
    else:
        resolved = [question.settle(tally) for tally in rows.tallies()]
    told = estimates_of_prior(rows.names, resolved)
    lowest = lowest_possible_prior(resolved)
    return lowest.with_tally(resolved[0].tally, resolved[0].buckets), told


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


def _estimates(asked: _Asked, tallies: Sequence[Tally], resampling: Resampling) -> Mapping[str, Mapping[str, Estimate]]:
    """Each model's metrics as :func:`pulens.evaluate` gives them, with the class prior that all models share."""
    evidences = asked.read
    doubts = {name: estimator_of(evidence, resampling) for name, evidence in evidences.items()}
    contradictions = {
        name: None if evidence.explains_any_rows else find_contradiction(evidence)
        for name, evidence in evidences.items()
    }

    def found(name: str, metric: Metric, model: str) -> Estimate:
        at = asked.thresholds[model] if metric.needs_threshold else None
        told = estimate(
            name,
            find(name),
            evidences[model],
            threshold=at,
            doubts=doubts[model],
            contradiction=contradictions[model],
            **given_parameters(name, metric),
        )
        return withhold(told, find(name))

    return FrozenMapping(
        {
            name: FrozenMapping({model: found(name, metric, model) for model in asked.rows.names})
            for name, metric in asked.metrics.items()
        }
    )


def differences(
    asked: Any, observed: Mapping[str, Floats], redraws: Mapping[str, Floats]
) -> dict[str, tuple[Difference, ...]]:
    """Of every metric all pairs of models, from numbers of the rows (settings by models) and of redraws of them."""
    return {name: _differences(asked, name, observed[name], redraws[name]) for name in asked.metrics}


def _differences(asked: Any, name: str, observed: Floats, redraws: Floats) -> tuple[Difference, ...]:
    """All pairs of models; over a range a claim must hold at every prior tried, so the worst p-value counts."""
    metric, n_labelled, confidence = asked.metrics[name], asked.rows.n_labelled, asked.resampling.confidence
    doubt, middle = asked.doubt(metric), asked.own(metric)
    sign = 1 if metric.higher_is_better else -1
    pairs = list(combinations(range(len(asked.rows.names)), 2))
    parts: list[tuple[float, Interval | None, float, float]] = []
    for first, second in pairs:
        gaps = redraws[:, :, first] - redraws[:, :, second]
        seen = observed[:, first] - observed[:, second]
        value = float(seen[middle])
        by_prior = [column[~np.isnan(column)] for column in gaps.T]
        if math.isnan(value) or any(column.size < LEAST_DEFINED * len(gaps) for column in by_prior):
            parts.append((math.nan, None, math.nan, 1.0))
            continue
        pair = DifferenceOfRedraws(seen, by_prior, n_labelled, middle)
        spread = pair.spread(range(seen.size), confidence)
        low, high, method = ends_in_doubt(pair, doubt, confidence)
        low, high = holding(value, low, high)
        # a difference whose sign turns within the range of priors, or from the rows to their redraws, is none
        turns = len({np.sign(value), *(np.sign(np.mean(column)) for column in by_prior)}) > 1
        length = float(np.ptp(seen[~np.isnan(seen)])) / spread if spread > 0 else 0.0
        p_value = 1.0 if turns else max(two_sided_p(column, n_labelled, length) for column in by_prior)
        at_middle = sign * by_prior[middle]
        better = float(np.mean(at_middle > 0) + np.mean(at_middle == 0) / 2)
        parts.append((value, Interval(low, high, confidence, method), better, p_value))
    adjusted = holm([part[3] for part in parts])
    names = asked.rows.names
    reason = metric.undefined_because or "it is undefined in too many redraws"
    return tuple(
        Difference(name, names[i], names[j], *part, corrected, reason if part[1] is None else None)
        for (i, j), part, corrected in zip(pairs, parts, adjusted, strict=True)
    )


def _order(asked: _Asked, name: str, tallies: Sequence[Tally]) -> Order:
    """Over the range that was given, or over all class priors that the data allow."""
    metric, noise = asked.metrics[name], asked.evidence.label_noise
    if asked.reach is None:
        # the prior belongs to the rows, not to a model: what one model rules out is out for all
        high = min(largest_credible_prior(tally, 1 - noise) for tally in tallies)
        low, high = 0.001, max(high, asked.middle, 0.002)
    else:
        low, high = asked.reach
    totals = tallies[0].totals
    return order_by_prior(
        name,
        asked.traced(metric, low, high),
        asked.rows.names,
        np.linspace(low, high, PRIORS_TRACED),
        lambda prior: population_prior(prior, totals, asked.evidence.scenario, noise),
        higher_is_better=metric.higher_is_better,
    )
