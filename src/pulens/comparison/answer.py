"""The answer of a comparison: estimates, differences, order, and a verdict in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from os import PathLike
from typing import TYPE_CHECKING, Any

from pulens.answer import Answer, ShownAsText, written
from pulens.comparison.bands import Bands
from pulens.comparison.order import Order
from pulens.comparison.paired import Difference
from pulens.comparison.reviewed import ReviewedComparison
from pulens.comparison.worth import Worth
from pulens.counts.tally import Totals
from pulens.errors import UnknownNameError, listed, nearest, shown, spoken
from pulens.estimate import Estimate
from pulens.evaluation.clustering import Clustering
from pulens.evidence import Evidence, few_clusters
from pulens.frozen import FrozenMapping
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.prior_uncertainty import PriorUncertainty
from pulens.keywords import typed
from pulens.metrics import METRICS, among
from pulens.notice import Notice, Severity, worst_first
from pulens.priors import ClassPrior
from pulens.scalars import is_among
from pulens.scenario import Scenario

if TYPE_CHECKING:
    from pulens.strata import StratifiedEvidence


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Answer, ShownAsText):
    """Which model is best, by how much, how sure that is, and whether the class prior decides.

    ``estimates[metric][model]``, ``differences[metric]`` (all pairs) and ``order[metric]`` hold the numbers; the
    verdict is about the first metric.
    """

    #: What completion offers.
    _offered = (
        *("class_prior", "difference", "differences", "estimates", "leader", "metric", "models", "notices"),
        *("order", "plot", "reviewed", "rivals", "to_dict", "to_frame", "to_html", "verdict", "winner", "worth"),
    )

    _keys = (
        *("models", "verdict", "winner", "metric", "class_prior", "class_prior_by?=prior_by", "scenario", "labelling"),
        *("label_noise=evidence.label_noise", "within?", "confidence", "redraws", "clusters", "warnings=notices"),
        *("counts=_counts", "metrics=_by_metric", "worth?", "k?", "reviewed?"),
    )

    models: tuple[str, ...]
    evidence: Evidence  # of the first model; the assumptions are the same for all
    resampling: Resampling
    estimates: Mapping[str, Mapping[str, Estimate]]
    differences: Mapping[str, tuple[Difference, ...]]
    order: Mapping[str, Order]
    higher_is_better: Mapping[str, bool]
    reviewed: ReviewedComparison | None = None  # by rows that people checked, nothing assumed about labels
    worth: Worth | None = None  # at a cost ratio: where two models are worth the same
    k: float | None = None  # rows of the list that were looked at
    #: the class prior by each model's scores, where it was estimated; the lowest is taken for all
    prior_by: Mapping[str, float] = field(default_factory=FrozenMapping)
    bands: Bands | None = None  # how sure each model's number is along the class prior, where rows are independent
    labelling: str = "random"  # how positives are taken to have come by their labels
    within: tuple[str, ...] = ()  # columns within whose values labels are random, where that is not among all rows

    @property
    def totals(self) -> Totals:
        return self.evidence.tally.totals

    @property
    def clusters(self) -> Clustering | None:
        """How many clusters the rows belong to; ``None`` if none were named."""
        return Clustering.of(self.evidence)

    @property
    def class_prior(self) -> ClassPrior:
        return self.evidence.class_prior

    @property
    def scenario(self) -> Scenario:
        return self.evidence.scenario

    @property
    def confidence(self) -> float:
        return self.resampling.confidence

    @property
    def redraws(self) -> int:
        """How often the rows were redrawn."""
        return self.resampling.redraws

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What to know before using the numbers, worst first."""
        result = (*self.class_prior.notices, *few_clusters(self.evidence))
        if self.worth is not None:
            result = (*result, *self.worth.notices)
        if self.contradicted:
            result = (Notice(Severity.SERIOUS, "labels-not-random", contradiction(self)), *result)
        return worst_first(result)

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Models whose scores rule out that labels are a random draw of the positives at this class prior."""
        return tuple(
            model
            for model in self.models
            if any(result[model].basis == "possible worlds" for result in self.estimates.values())
        )

    @property
    def metric(self) -> str:
        """The metric that the verdict is about."""
        return next(iter(self.estimates))

    def _named(self, metric: str | None) -> str:
        return self.metric if metric is None else among(self.estimates, metric)

    def leader(self, metric: str | None = None) -> str:
        """The model with the best value, whether or not the data can tell it from the others."""
        name = self._named(metric)
        sign = 1 if self.higher_is_better[name] else -1

        def wins(model: str) -> float:
            total = 0.0
            for pair in self.differences[name]:
                if model in (pair.first, pair.second) and not pair.undefined_because:
                    lead = sign * pair.value * (1 if model == pair.first else -1)
                    total += (lead > 0) - (lead < 0)
            return total

        return max(self.models, key=wins)

    def rivals(self, metric: str | None = None) -> tuple[str, ...]:
        """Models that the data cannot tell from the leader."""
        name = self._named(metric)
        best = self.leader(name)
        return tuple(
            pair.second if pair.first == best else pair.first
            for pair in self.differences[name]
            if best in (pair.first, pair.second) and not pair.is_clear(self.confidence)
        )

    @property
    def winner(self) -> str | None:
        """The model that is better than every other, all pairs considered; none if the data cannot tell."""
        return None if self.rivals() else self.leader()

    @property
    def verdict(self) -> str:
        """One sentence or two: who is better by the first metric, or that the data cannot tell."""
        return verdict(self)

    def difference(self, first: str, second: str, metric: str | None = None) -> Difference:
        """One pair, in the order asked for."""
        for pair in self.differences[self._named(metric)]:
            if is_among((first, second), ((pair.first, pair.second), (pair.second, pair.first))):
                return pair if pair.first == first else _turned(pair)
        unknown = second if is_among(first, self.models) else first
        raise UnknownNameError(
            f"there is no pair of {shown(first)} and {shown(second)}; the models are {listed(self.models)}."
            f"{nearest(unknown, self.models)}"
        )

    @property
    def _counts(self) -> Mapping[str, float]:
        return dict(zip(("labelled", "unlabelled", "known_negative"), self.totals, strict=True))

    @property
    def _by_metric(self) -> Mapping[str, Any]:
        return {
            name: {"estimates": estimates, "differences": self.differences[name], "order": self.order[name]}
            for name, estimates in self.estimates.items()
        }

    def __str__(self) -> str:
        from pulens.report.comparison import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from pulens.report.comparison import comparison_html

        return comparison_html(self)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per metric and pair of models as a table of Polars, pandas or PyArrow, the
        library of the rows unless one is named.

        Differences are ``first`` minus ``second`` with the ends of their interval; ``probability``, ``p_value`` and
        ``adjusted_p_value`` are those of :class:`Difference`, ``clear`` whether the difference is clear.
        """
        from pulens.inputs.frames import frame_of

        pairs = [pair for result in self.differences.values() for pair in result]
        ends = [(nan, nan) if pair.interval is None else (pair.interval.low, pair.interval.high) for pair in pairs]
        columns: dict[str, list[Any]] = {
            **{name: [getattr(pair, name) for pair in pairs] for name in ("metric", "first", "second", "value")},
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
            **{name: [getattr(pair, name) for pair in pairs] for name in ("probability", "p_value")},
            "adjusted_p_value": [pair.adjusted_p_value for pair in pairs],
            "clear": [pair.is_clear(self.confidence) for pair in pairs],
        }
        return frame_of(columns, backend, self)

    @typed
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page: verdict, differences, order over the class prior; written to ``path`` if given."""
        from pulens.report.comparison_page import comparison_page

        return written(path, comparison_page(self, title=title))

    def plot(self, axes: Any = None, metric: str | None = None) -> Any:
        """Draw the differences and the order over the class prior; returns both axes."""
        from pulens.plots.comparison import draw_comparison

        return draw_comparison(self, axes=axes, metric=self._named(metric))


def estimates_of_prior(models: Sequence[str], resolved: Sequence[Evidence | StratifiedEvidence]) -> Mapping[str, float]:
    """The class prior estimated from each model's scores; empty where it was given."""
    priors = [result.class_prior for result in resolved]
    if not all(prior.method.startswith("estimated") for prior in priors):
        return FrozenMapping()
    return FrozenMapping({model: prior.value for model, prior in zip(models, priors, strict=True)})


def _turned(pair: Difference) -> Difference:
    from dataclasses import replace

    from pulens.estimate import Interval

    turned = pair.interval
    if turned is not None:
        turned = Interval(-turned.high, -turned.low, turned.confidence, turned.method)
    return replace(
        pair, first=pair.second, second=pair.first, value=-pair.value, interval=turned, probability=1 - pair.probability
    )


def contradiction(comparison: Comparison) -> str:
    """How the scores contradict the class prior with random labels, and what that means for differences."""
    return (
        f"These numbers do not fit together: with {100 * comparison.class_prior.value:.3g}% positives, labels cannot "
        f"be a random draw (by the scores of {listed(comparison.contradicted)}). The differences assume it, "
        "and favour the model whose scores the labels followed."
    )


def verdict(comparison: Comparison, named: str | None = None) -> str:
    """The sentence; ``named`` is how it calls the metric, by default by its title."""
    result = _verdict(comparison, named)
    return f"{contradiction(comparison)} If it were: {result}" if comparison.contradicted else result


def _verdict(comparison: Comparison, named: str | None) -> str:
    best, rivals = comparison.leader(), comparison.rivals()
    metric = named or _title(comparison.metric)
    order, treatment = comparison.order[comparison.metric], PriorUncertainty(comparison.evidence).treatment
    # a prior that is drawn is rarely at the ends of its interval: a winner found all the same is one
    if order.winner_crossings and (treatment == "range" or (treatment == "drawn" and rivals)):
        changes = "; ".join(str(crossing) for crossing in order.winner_crossings)
        return f"Which model is better by {metric} depends on the class prior: {changes}."
    if rivals:
        pair = comparison.difference(best, rivals[0])
        if pair.undefined_because:
            return f"The models cannot be compared by {metric}: {pair.undefined_because}."
        others = spoken(rivals)
        example = f" ({best} - {rivals[0]})" if len(rivals) > 1 else f" ({best} - {others})"
        return (
            f"No clear difference between {best} and {others}: {metric} differs by {pair.value:+.3f}{example}, "
            f"{comparison.confidence:.0%} interval {pair.interval.low:+.3f} to {pair.interval.high:+.3f}."  # type: ignore[union-attr]
        )
    runner_up = min(
        (comparison.difference(best, other) for other in comparison.models if other != best),
        key=lambda pair: abs(pair.value),
    )
    over = runner_up.second if len(comparison.models) == 2 else f"every other model, {runner_up.second} the nearest"
    p_value = runner_up.adjusted_p_value
    shown_p = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
    return (
        f"{best} is better than {over}: {metric} differs by {runner_up.value:+.3f} "
        f"({comparison.confidence:.0%} interval {runner_up.interval.low:+.3f} to {runner_up.interval.high:+.3f}, "  # type: ignore[union-attr]
        f"{shown_p}{' after Holm' if len(comparison.models) > 2 else ''})"
        f"{_about_the_prior(comparison, best)}."
    )


def _title(metric: str) -> str:
    """A metric within a sentence: ROC AUC, F1, average precision."""
    own = METRICS[metric].title if metric in METRICS else ""
    return own or metric.replace("_", " ")


def _about_the_prior(comparison: Comparison, best: str) -> str:
    metric = comparison.metric
    order = comparison.order[metric]
    low, high = order.class_priors[0], order.class_priors[-1]
    if not comparison.class_prior.is_exact and not order.winner_crossings:
        return f", at every class prior from {low:.3g} to {high:.3g}"
    if order.winner_crossings:
        return "; at another class prior the order could change: " + "; ".join(map(str, order.winner_crossings))
    return ", at every class prior that the data allow" if best in order.winners else ""
