"""The story in a page: rows, counts, class prior, tables, estimates."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from pulens import curves
from pulens.answer import ShownAsText, written
from pulens.counts.tally import Tally
from pulens.diagnostics import chosen_threshold, diagnose, hardly_known, impossible_areas, impossible_rate
from pulens.errors import AssumptionError, InputError, PulensError, shown
from pulens.estimate import Curve, Estimate, Interval, columns_of
from pulens.evaluation.clustering import Clustering
from pulens.evaluation.other_scenario import OtherScenario, other_scenario
from pulens.evidence import Design, Evidence, IntervalOptions
from pulens.evidence.combinations import refuse_together
from pulens.evidence.design import Gathered, gather_unstratified
from pulens.evidence.review_options import ReviewOptions
from pulens.frozen import FrozenMapping
from pulens.inference.intervals import Choice, MetricIntervals
from pulens.inference.kernels.resampling import DEFAULT_REDRAWS, Resampling
from pulens.inference.measured import Target
from pulens.inputs import ReadOptions
from pulens.inputs.frames import keeps_library
from pulens.inputs.queries import Queries, read_queries
from pulens.inputs.reading import RowKeywords
from pulens.keywords import check_keywords, forwards_keywords, typed
from pulens.metrics import METRICS, find, in_reading_order, look_up
from pulens.metrics.parts.binning import binning_notices
from pulens.metrics.parts.measure import check_threshold, estimate, value
from pulens.metrics.parts.possible_worlds import (
    DEFAULT_MULTIPLE,
    Contradiction,
    Labelling,
    check_multiple,
    find_contradiction,
    within_what_is_possible,
)
from pulens.metrics.parts.top_of_list import RankedList
from pulens.metrics.parts.withholding import withhold
from pulens.notice import Notice, Severity, worst_first
from pulens.priors import ClassPrior
from pulens.priors.given import GivenPrior
from pulens.recovery import recover, recover_at
from pulens.recovery.assumptions import UNCORRECTED
from pulens.recovery.contingency import Contingency
from pulens.scenario import DEFAULT_SCENARIO, Scenario
from pulens.selection import (
    Favouring,
    Practice,
    estimator_of,
    moved_by,
    read_under,
    said_of_labels,
)
from pulens.selection.favouring import (
    Direction,
    Robustness,
    Sensitivity,
    multiple_of,
    robustness,
    sensitivity,
    sensitivity_curve,
)
from pulens.selection.tilts import LEVELS as EVENLY
from pulens.types import Clusters, Column, RowsLike, Strata, Values

OF_SEGMENTS = ("same_prior", "class_prior_column", "metrics")  # arguments that go with group_by alone
FIXED = ("given", "fixed before the check")  # thresholds that the rows did not choose
#: notices that say labels are not random among all rows: no news where they are random within cells only
OF_ALL_ROWS = ("prior-not-feasible", "not-a-mixture")
MOST_ERRORS = 1e6  # times those of the rows: beyond, an interval holds all that anything could be

if TYPE_CHECKING:  # audits and cells are loaded for those who ask for them
    from pulens.audits import AuditResult, Identified
    from pulens.decisions.curve import DecisionCurve
    from pulens.evaluation.bounds import Bounds
    from pulens.evaluation.decide import Decision
    from pulens.evaluation.reviews import Reviewed
    from pulens.evaluation.top import Top, TopOfQueries
    from pulens.groups.segments import Evaluations
    from pulens.strata import CellTable, StratifiedEvidence


@dataclass(frozen=True, slots=True, repr=False)
class OperatingPoint(ShownAsText):
    """What happens at one threshold: the recovered table and every metric read off it."""

    threshold: float
    table: Contingency
    estimates: Mapping[str, Estimate]

    def __getitem__(self, name: str) -> Estimate:
        return look_up(self.estimates, name)

    def __str__(self) -> str:
        return "\n".join([f"at threshold {self.threshold:.6g}", *(f"  {e}" for e in self.estimates.values())])

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per metric as a table of Polars, pandas or PyArrow, whichever is there or named."""
        from pulens.inputs.frames import frame_of

        return frame_of(columns_of(self.estimates), backend, self)

    def to_dict(self) -> dict[str, Any]:
        cells = ("true_positive", "false_positive", "false_negative", "true_negative")
        return {
            "threshold": self.threshold if math.isfinite(self.threshold) else None,
            "table": {cell: float(getattr(self.table, cell)[0]) for cell in cells},
            "estimates": {name: result.to_dict() for name, result in self.estimates.items()},
        }


@dataclass(frozen=True, repr=False)
class Evaluation(ShownAsText):
    """How good a classifier is on positives versus negatives, from positives and unlabelled rows.

    ``estimates`` holds the recovered values, ``uncorrected`` those of labelled against unlabelled rows, which
    count every unlabelled row as a negative.
    """

    #: What completion offers.
    _offered = (
        *("at", "audit", "best_threshold", "bounds", "class_prior", "decide", "estimates", "if_random", "labelling"),
        *("notices", "plot", "precision_recall", "robustness", "roc", "sensitivity", "threshold", "to_dict"),
        *("to_frame", "to_html", "top"),
    )

    read: Evidence  # the rows with what is taken of their labels: all that depends on the design is asked of it
    threshold: float
    threshold_choice: str
    resampling: Resampling | None = None
    worlds: float = DEFAULT_MULTIPLE
    audit: AuditResult | None = None  # what checked rows prove, without any assumption about labelling
    identified: Identified | None = None  # where rows were left out of the check: what is only bounded
    pooled: Evaluation | None = None  # where labels are random only within strata: the numbers without strata
    queries: Queries | None = None  # where ranks can be taken within queries
    beside: tuple[Notice, ...] = ()  # what whoever made the scores has to say about them
    if_random: Evaluation | None = None  # where labels favour some positives: the numbers if they were a random draw

    @property
    def evidence(self) -> Evidence:
        """The rows as they were counted."""
        return self.read.counted

    @property
    def within(self) -> StratifiedEvidence | None:
        """The strata, where labels are random only within them."""
        result: StratifiedEvidence | None = self.read.within
        return result

    @property
    def uneven(self) -> Practice | Favouring | None:
        """How labels favour easy positives; ``None`` where they are a random draw."""
        result: Practice | Favouring | None = self.read.labels
        return result

    @property
    def tally(self) -> Tally:
        return self.evidence.tally

    @property
    def class_prior(self) -> ClassPrior:
        return self.evidence.class_prior

    @property
    def scenario(self) -> Scenario:
        return self.evidence.scenario

    @property
    def target_population(self) -> str:
        return self.evidence.target_population

    def __getitem__(self, name: str) -> Estimate:
        """A recovered number by its metric's name: ``estimates[name]``, with help for a name that is none.

        Where an estimated class prior leaves a number open it has an interval and no value: that is nan, and
        ``withheld_because`` says why.

        >>> rows = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2]
        >>> evaluation = evaluate(*rows, class_prior=0.5, threshold=5, labelling="random")
        >>> round(evaluation["recall"].value, 3)
        0.667
        >>> evaluation["auc"]
        Traceback (most recent call last):
        ...
        pulens.errors.UnknownNameError: there is no metric 'auc'. Did you mean 'roc_auc'?
        """
        return look_up(self.estimates, name)

    def __contains__(self, name: object) -> bool:
        return name in self.estimates

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    @cached_property
    def estimates(self) -> Mapping[str, Estimate]:
        return _Estimates(self._masses, self.threshold, self._intervals, self._contradiction)

    @property
    def _masses(self) -> Evidence:
        """What numbers are read off: the rows as counted, or the tally that strata or the labelling weight."""
        return self.read.masses

    @typed
    def with_errors_times(self, factor: float) -> Evaluation:
        """The same numbers with errors of the rows a factor as large: for scores that were themselves drawn."""
        if not 1 <= factor <= MOST_ERRORS:
            raise PulensError(f"factor must be a number from 1 to {MOST_ERRORS:g}, got {factor:g}.")
        if self.resampling is None:
            return self
        random = None if self.if_random is None else self.if_random.with_errors_times(factor)
        return replace(self, resampling=replace(self.resampling, factor=factor), if_random=random)

    def standing_at(self, threshold: float, choice: str) -> Evaluation:
        """The same at a threshold, with how it was chosen."""
        random = None if self.if_random is None else self.if_random.standing_at(threshold, choice)
        return replace(self, threshold=threshold, threshold_choice=choice, if_random=random)

    def moved_by_labelling(self, metric: str) -> float:
        """How far plausible labelling spreads a metric, as a standard deviation; below 0 where a tilt lowers it."""
        facts = find(metric)

        def at(tally: Tally, assumptions: Any) -> float:
            return value(facts, tally, assumptions, self.threshold)

        moved = moved_by(self.read, at, self.class_prior.unlabelled, EVENLY, at_threshold=facts.reads != "ranking")
        return math.copysign(float(np.std(moved)), float(moved[-1] - moved[0]))

    @property
    def labelling(self) -> str:
        """How positives are taken to have been labelled: practice, random, random within cells, or up to a factor.

        >>> rows = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2]
        >>> evaluate(*rows, class_prior=0.5).labelling, evaluate(*rows, class_prior=0.5, labelling=3).labelling
        ('practice', 'high scores up to 3 times as likely')
        """
        return self.read.labelling_words

    @property
    def _explains_any_rows(self) -> bool:
        """Whether no rows can rule out how labels are taken to have come about."""
        return self.uneven is not None and self.uneven.explains_any_rows

    @cached_property
    def cells(self) -> CellTable | None:
        """A row per cell within which labels are random: rows, class prior, recall, label rate, share of positives."""
        if self.within is None or self.pooled is None:
            return None
        from pulens.strata import cell_table

        without = replace(self.pooled, resampling=None)  # values are all that is asked of it here
        return cell_table(self.within, self.threshold, self._intervals, self.estimates, without.estimates)

    @cached_property
    def _contradiction(self) -> Contradiction | None:
        return find_contradiction(self.evidence, self.worlds) if self.read.can_be_ruled_out else None

    @property
    def contradiction(self) -> Labelling | None:
        """Where the data rule random labels out at this class prior: what would explain them; otherwise ``None``."""
        return None if self._contradiction is None else self._contradiction.labelling

    @cached_property
    def threshold_interval(self) -> Interval | None:
        """How far the threshold would move if it were chosen on other such rows; ``None`` if it was given."""
        return None if self._intervals is None else self._intervals.of_threshold()

    @cached_property
    def clusters(self) -> Clustering | None:
        """Of rows that belong together: how many clusters, and what they cost the first metric; otherwise ``None``."""
        if self.evidence.buckets is None:
            return None
        first = next(iter(self.estimates))
        metric, tally = METRICS[first], self.tally

        def at(prior: float) -> float:
            return value(metric, tally, self.evidence.assumptions_at(prior), self.threshold)

        effect = None if self._intervals is None else self._intervals.design_effect(Target(metric, at, self.threshold))
        return Clustering.of(self.evidence, first, effect)

    @cached_property
    def _intervals(self) -> MetricIntervals | None:
        """What finds the intervals of metrics; ``None`` where none are wanted."""
        if self.resampling is None:
            return None
        choice = None if self.threshold_choice in FIXED else Choice(METRICS["f1"], self.threshold)
        return estimator_of(self.read, self.resampling, choice)

    @cached_property
    def uncorrected(self) -> Mapping[str, Estimate]:
        return _Estimates(_uncorrected(self.evidence), self.threshold)

    @cached_property
    def other_scenario(self) -> OtherScenario | None:
        """Which numbers would move had the labelled rows come about the other way; ``None`` without unlabelled rows."""
        return other_scenario(self.evidence, self.estimates, self.threshold) if self.read.can_be_ruled_out else None

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """What a person should know before using the numbers, worst first."""
        result = [*self.beside, *self._of_audit, *self.evidence.class_prior.notices]
        result += binning_notices(self.estimates, self.tally)
        result += [*self._trouble(), *self._diagnosed(self.estimates.get("recall"))]
        if self.other_scenario is not None:
            result += self.other_scenario.notices
        result += self.read.notices
        if self.threshold_choice not in FIXED:
            result.append(chosen_threshold(self.threshold, self.threshold_choice, self.threshold_interval))
        return worst_first(result)

    @cached_property
    def alarms(self) -> tuple[Notice, ...]:
        """The notices that are more than a note, without the work that notes alone need."""
        result = [*self.beside, *self._of_audit, *self.evidence.class_prior.notices]
        result += [*self._trouble(beyond_chance=True), *self._diagnosed()]
        return worst_first(notice for notice in result if notice.severity > Severity.NOTE)

    @cached_property
    def _of_audit(self) -> list[Notice]:
        """What the checked rows say against the recovered numbers, and about themselves."""
        if self.audit is None:
            return []
        from pulens.evaluation.reviews import contradiction

        against = contradiction(self.audit)
        return [*([] if against is None else [against]), *self.audit.notices]

    def _diagnosed(self, recall: Estimate | None = None) -> list[Notice]:
        """What the counts show, without what is about labels random among all rows where they need not be."""
        result = diagnose(self.evidence, None if self._explains_any_rows else recall)
        return [notice for notice in result if self.read.can_be_ruled_out or notice.code not in OF_ALL_ROWS]

    def _trouble(self, *, beyond_chance: bool = False) -> list[Notice]:
        """Numbers that cannot be, unless they are those of a possible world, and labels that say little."""
        result = hardly_known(self.evidence)
        if self.read.can_be_ruled_out:
            result = [*impossible_rate(self.evidence, beyond_chance=beyond_chance), *result]
        areas = [] if self.contradiction is not None or self._explains_any_rows else impossible_areas(self._masses)
        return [*areas, *result]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before using the numbers, worst first."""
        return tuple(str(notice) for notice in self.notices)

    @cached_property
    def table(self) -> Contingency:
        """Recovered contingency tables at every threshold."""
        return recover(self._masses.tally, self._masses.assumptions)

    @property
    def roc(self) -> Curve:
        return curves.roc_curve(self.table)

    @property
    def precision_recall(self) -> Curve:
        return curves.precision_recall_curve(self.table)

    @property
    def detection_error(self) -> Curve:
        return curves.detection_error_curve(self.table)

    @property
    def gain(self) -> Curve:
        return curves.gain_curve(self.table)

    @property
    def uncorrected_roc(self) -> Curve:
        """Labelled against unlabelled rows: what a tool that knows nothing of PU data draws."""
        return curves.roc_curve(recover(self.tally, UNCORRECTED))

    @property
    def uncorrected_precision_recall(self) -> Curve:
        return curves.precision_recall_curve(recover(self.tally, UNCORRECTED))

    def at(self, threshold: float | None = None, **demands: Any) -> OperatingPoint:
        """Every metric of "predicted positive when score >= threshold".

        Instead of a threshold, what makes one: costs, ``capacity=``, ``recall_at_least=``, ``precision_at_least=`` (as
        in :func:`pulens.decide`) or ``top=k``, the score of the k-th row of the list. Intervals are those of a
        threshold fixed beforehand; :meth:`decide` has those that allow for the choice.

        >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5)
        >>> evaluation.at(top=2).threshold, evaluation.at(capacity=4).threshold
        (8.0, 7.0)
        """
        if threshold is not None and demands:
            raise PulensError(f"a threshold and {next(iter(demands))}= both set the threshold: give one of them.")
        number = check_threshold(self.best_threshold(**demands) if demands else threshold)
        every = _Estimates(self._masses, number, self._intervals, self._contradiction)
        result = {name: every.of(name) for name, metric in METRICS.items() if metric.reads == "threshold"}
        nearest = None if self._contradiction is None else self._contradiction.table(number)
        table = recover_at(self._masses.tally, self._masses.assumptions, number) if nearest is None else nearest
        return OperatingPoint(number, table, FrozenMapping(result))

    def best_threshold(self, metric: str | None = None, **parameters: Any) -> float:
        """The threshold at which a metric (by default F1) is best; the highest one if several are.

        Costs, ``capacity=``, ``recall_at_least=``, ``precision_at_least=`` (as in :func:`pulens.decide`) and ``top=k``
        say a threshold without a metric.

        >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5)
        >>> evaluation.best_threshold("net_benefit", cost_ratio=0.1)
        4.0
        >>> evaluation.best_threshold(cost_miss=9, cost_alarm=1)
        4.0
        """
        from pulens.evaluation.operating import DEMANDS, demanded_threshold

        if metric is None and any(name in DEMANDS for name in parameters):
            return demanded_threshold(self, parameters)
        named = {} if metric is None else {"metric": metric}
        return best_threshold(self._masses, **named, **parameters)

    def _random_labels(self, which: str = "") -> Evaluation:
        """The evaluation that takes labels for random: what is derived for those starts from it."""
        if self.within is not None and which:
            refuse_together(which)
        return self if self.if_random is None else self.if_random

    def decide(self, **demands: Any) -> Decision:
        """The threshold for costs, a capacity or floors: the arguments of :func:`pulens.decide` but those of reading.

        >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5)
        >>> evaluation.decide(cost_miss=500, cost_alarm=20, redraws=100).threshold
        4.0
        """
        from pulens.evaluation.decide import decide

        own = self.resampling
        asked: dict[str, Any] = {} if own is None else {"redraws": own.redraws, "seed": own.seed}
        asked["labelling"] = "random"  # what is said of labels is in the evidence
        return decide(self.read, **{"confidence": None if own is None else own.confidence, **asked, **demands})

    def decision_curve(self, *, ratios: Any = None, scores_are: str | None = None) -> DecisionCurve:
        """Net benefit against the cost ratio with a band: of this threshold, or of scores that are probabilities.

        >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5, threshold=5,
        ...                       labelling="random")
        >>> evaluation.decision_curve(ratios=[0.2, 0.4]).model.round(4).tolist()
        [0.2604, 0.1389]
        """
        from pulens.decisions.curve import decision_curve

        threshold = self.threshold if scores_are is None else None
        asked: dict[str, Any] = {"ratios": ratios, "scores_are": scores_are, "resampling": self.resampling}
        return decision_curve(self.read, threshold=threshold, worlds=self.worlds, **asked)

    @overload
    def top(self, k: Any, *, per: None = None) -> Top: ...
    @overload
    def top(self, k: Any, *, per: str) -> TopOfQueries: ...
    def top(self, k: Any, *, per: str | None = None) -> Top | TopOfQueries:
        """Measures of the first k rows of the list; k counts rows, or is a share such as ``0.01`` or ``"1%"``.

        With ``per``, the column that :func:`pulens.evaluate` was told by the same name: the first k rows of each query,
        averaged over positives and over queries (:mod:`pulens.metrics.parts.top_per_query`).

        >>> rows = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2]
        >>> evaluation = evaluate(*rows, class_prior=0.5, labelling="random")
        >>> round(evaluation.top(4)["recall_at_k"].value, 6)
        0.666667
        """
        from pulens.evaluation.top import top_of_queries

        if per is not None:
            own = self._random_labels("cells-queries")
            asked: dict[str, Any] = {"resampling": own.resampling, "contradiction": own._contradiction}
            return top_of_queries(own.evidence, self._queries(per), k, **asked)
        return self._top(k)

    def _top(self, k: Any, only: Collection[str] | None = None) -> Top:
        from pulens.evaluation.top import top

        asked: dict[str, Any] = {"doubts": self._intervals, "contradiction": self._contradiction}
        result = top(self._masses, k, only=only, **asked)
        if self._masses is self.evidence:
            return result
        rows = RankedList.of(self.tally, self.evidence.assumptions)  # weights are not rows
        return replace(result, labelled=float(rows.kinds[0] @ rows.membership(result.k)))

    def ladder(self) -> tuple[Top, ...]:
        """How many positives to expect of checking the first 20, 50, 100 … rows, up to a fifth of the list.

        Precision and recall of each, without the measures of ranks that :meth:`top` has.

        >>> labels, scores = [1, 0, 0, 1, 0] * 50, [k / 250 for k in range(250)]
        >>> [each.k for each in evaluate(labels, scores, class_prior=0.5, confidence=None).ladder()]
        [20.0, 50.0]
        """
        from pulens.evaluation.top import ladder_of

        rows = RankedList.of(self._masses.tally, self._masses.assumptions).rows
        return tuple(self._top(k, only=()) for k in ladder_of(rows))

    def _queries(self, per: str) -> Queries:
        if self.queries is None:
            raise PulensError(
                f"per={shown(per)}: rows were counted without their queries. Say it where they are read: "
                f"pulens.evaluate(..., per={shown(per)}), or pulens evaluate --top ... --per COLUMN."
            )
        if per != self.queries.column:
            raise PulensError(f"per={shown(per)}: queries are identified by {self.queries.column!r}.")
        return self.queries

    def bounds(self, *, band: str = "dkw-two-sample", approach: str = "positives", confidence: float = 0.95) -> Bounds:
        """What curves and metrics can be, given a band on the ranks of the labelled rows: Claesen et al. (2015)."""
        from pulens.evaluation.bounds import bounds

        own = self._random_labels("cells-bounds")
        return bounds(own.evidence, band=band, approach=approach, confidence=confidence)

    def sensitivity(self, metric: str, *, factor: float, favours: Direction = "high", **options: Any) -> Sensitivity:
        """The range of a metric if positives with high scores were labelled up to ``factor`` times as often.

        Metrics at a threshold take this evaluation's own, unless ``threshold`` gives another.

        >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5, threshold=5)
        >>> print(evaluation.sensitivity("recall", factor=2).possible)
        [0.500, 0.667]
        """
        own = self._random_labels("cells-sensitivity")
        asked = {"factor": factor, "favours": favours, "doubts": own._intervals, **self._at_own(metric, options)}
        return sensitivity(own.evidence, metric, **asked)

    def sensitivity_curve(self, metric: str, *, factors: Any = None, **options: Any) -> tuple[Curve, Curve]:
        """Lowest and highest value of a metric against the factor by which labelling favours high scores."""
        own = self._random_labels("cells-sensitivity")
        return sensitivity_curve(own.evidence, metric, factors=factors, **self._at_own(metric, options))

    def robustness(self, statement: str, *, favours: Direction = "high", **options: Any) -> Robustness:
        """The smallest factor at which a statement such as ``"precision > 0.8"`` would fail.

        >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5, threshold=5)
        >>> round(evaluation.robustness("recall > 0.5").factor, 6)
        2.0
        """
        own = self._random_labels("cells-sensitivity")
        metric = statement.split()[0] if isinstance(statement, str) and statement.split() else ""
        return robustness(own.evidence, statement, favours=favours, **self._at_own(metric, options))

    def _at_own(self, metric: str, options: dict[str, Any]) -> dict[str, Any]:
        reads = METRICS[metric].reads if isinstance(metric, str) and metric in METRICS else "threshold"
        return options if reads == "ranking" or "threshold" in options else {"threshold": self.threshold, **options}

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON; the verdict and the assumptions are those of every other rendering."""
        from pulens.report.summary import summarise

        random = {name: {"value": _finite(result.value)} for name, result in self._values_if_random.items()}
        return {
            **summarise(self).to_dict(),
            "class_prior": self.class_prior.to_dict(),
            "scenario": str(self.scenario),
            "other_scenario": None if self.other_scenario is None else self.other_scenario.to_dict(),
            "target_population": self.target_population,
            "label_noise": self.evidence.label_noise,
            "counts": self._counts,
            "clusters": None if self.clusters is None else self.clusters.to_dict(),
            "labelling": self.labelling,
            "contradiction": None if self.contradiction is None else self.contradiction.to_dict(),
            **({} if self.if_random is None else {"if_random": random}),
            "threshold": self.threshold if math.isfinite(self.threshold) else None,
            "threshold_choice": self.threshold_choice,
            "threshold_interval": None if self.threshold_interval is None else self.threshold_interval.to_dict(),
            "estimates": {name: result.to_dict() for name, result in self.estimates.items()},
            "uncorrected": {name: result.to_dict() for name, result in self.uncorrected.items()},
            "warnings": list(self.warnings),
            **({} if self.audit is None else {"audit": self.audit.to_dict()}),
            **({} if self.identified is None else {"identified": self.identified.to_dict()}),
            **({} if self.cells is None else {"within": self.cells.to_dict()}),
        }

    @property
    def _counts(self) -> dict[str, float]:
        labelled, unlabelled, negative = self.tally.totals
        rows = {"labelled": labelled, "unlabelled": unlabelled, "known_negative": negative}
        return {**rows, "distinct_scores": len(self.tally)}

    @cached_property
    def _values_if_random(self) -> Mapping[str, Estimate]:
        """The numbers if labels were a random draw, without intervals; empty where they are taken for one."""
        return {} if self.if_random is None else replace(self.if_random, resampling=None).estimates

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per metric as a table of Polars, pandas or PyArrow, whichever is there or named.

        Columns are the metric, its recovered ``value`` with the ends of its interval (nan where there are none), the
        ``uncorrected`` value, the ``threshold`` of metrics at one, and why a number is undefined.

        >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5, threshold=5)
        >>> evaluation.to_frame("polars").columns
        ['metric', 'value', 'low', 'high', 'uncorrected', 'threshold', 'undefined_because']
        """
        from pulens.inputs.frames import frame_of

        columns = columns_of(self.estimates)
        rest = {name: columns.pop(name) for name in ("threshold", "undefined_because")}
        uncorrected = [self.uncorrected[name].value for name in self.estimates]
        return frame_of({**columns, "uncorrected": uncorrected, **rest}, backend, self)

    def __getstate__(self) -> dict[str, Any]:
        """What travels in a copy or a pickle: evidence and the answers found so far, not the redraws behind them."""
        return {name: value for name, value in self.__dict__.items() if name != "_intervals"}

    def __str__(self) -> str:
        from pulens.report.text import evaluation_text

        return evaluation_text(self)

    def explain(self) -> str:
        """Every metric, what the numbers assume, all notes and next steps, as text.

        >>> found = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2], class_prior=0.5, threshold=5)
        >>> "Cohen's kappa" in found.explain(), "Cohen's kappa" in str(found)
        (True, False)
        """
        from pulens.report.text import evaluation_text

        return evaluation_text(self, explain=True)

    def _repr_html_(self) -> str:
        from pulens.report.notebook import evaluation_html

        return evaluation_html(self)

    @typed
    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str | None = None,
        scores_are: str | None = None,
        top: Any = (),
    ) -> str:
        """One self-contained page with sliders for the class prior and the threshold; written to ``path`` if given.

        Say ``scores_are="probability"`` (or ``"logit"``) to have a reliability diagram on it, and ``top=200`` (or
        several, ``top=[50, "1%"]``) to have it lead with the first rows of the list.
        """
        from pulens.report import evaluation_page

        return written(path, evaluation_page(self, title=title, scores_are=scores_are, tops=self._tops(top)))

    def _tops(self, top: Any) -> list[Top]:
        return [self.top(k) for k in (top if isinstance(top, list | tuple) else [top])]

    @typed
    def to_markdown(self, path: str | PathLike[str] | None = None, *, title: str | None = None, top: Any = ()) -> str:
        """Verdict, warnings, tables and assumptions as Markdown, ``top`` rows first; written to ``path`` if given."""
        from pulens.report import evaluation_markdown

        return written(path, evaluation_markdown(self, title=title, tops=self._tops(top)))

    def plot(self, axes: Any = None) -> Any:
        """Draw the ROC and precision-recall curves, the uncorrected ones behind them; returns the axes."""
        from pulens.plots import draw_evaluation

        return draw_evaluation(self, axes=axes)


class SegmentKeywords(RowKeywords, total=False):
    """What is said of rows, and what :func:`pulens.evaluate_by` takes beyond ``evaluate``."""

    same_prior: bool
    class_prior_column: Column | None
    metrics: str | Sequence[str]


@overload
def evaluate(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    group_by: None = None,
    class_prior: GivenPrior | ClassPrior | str | Mapping[Any, Any] | None = None,
    unlabelled_prior: GivenPrior | Mapping[Any, Any] | None = None,
    label_noise: float = 0.0,
    scenario: str = DEFAULT_SCENARIO,
    threshold: float | None = None,
    weights: Values | None = None,
    confidence: float | None = 0.95,
    redraws: int = DEFAULT_REDRAWS,
    seed: int = 0,
    audit: object = None,
    worlds: float = DEFAULT_MULTIPLE,
    combine: bool = False,
    reviews: RowsLike | None = None,
    reviewed_above: float | None = None,
    reviewed_below_share: float | None = None,
    id: str | None = None,
    labelled_within: Strata | None = None,
    split: str | None = None,
    per: Clusters | None = None,
    labelling: str | float | Practice | None = None,
    **reading: Unpack[RowKeywords],
) -> Evaluation: ...


@overload
def evaluate(labels: Any, scores: None = None, *, group_by: str, **options: Any) -> Evaluations: ...


@keeps_library  # type: ignore[misc]  # the second overload leaves the types of its options to evaluate_by
@forwards_keywords(ReadOptions, OF_SEGMENTS)
def evaluate(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    group_by: str | None = None,
    class_prior: GivenPrior | ClassPrior | str | Mapping[Any, Any] | None = None,
    unlabelled_prior: GivenPrior | Mapping[Any, Any] | None = None,
    label_noise: float = 0.0,
    scenario: str = DEFAULT_SCENARIO,
    threshold: float | None = None,
    weights: Values | None = None,
    confidence: float | None = 0.95,
    redraws: int = DEFAULT_REDRAWS,
    seed: int = 0,
    audit: object = None,
    worlds: float = DEFAULT_MULTIPLE,
    combine: bool = False,
    reviews: RowsLike | None = None,
    reviewed_above: float | None = None,
    reviewed_below_share: float | None = None,
    id: str | None = None,
    labelled_within: Strata | None = None,
    split: str | None = None,
    per: Clusters | None = None,
    labelling: str | float | Practice | None = None,
    **reading: Unpack[SegmentKeywords],
) -> Evaluation | Evaluations:
    r"""Recover how a classifier performs on positives versus negatives from positive and unlabelled rows.

    Parameters
    ----------
    labels
        1 for labelled positives, 0 (or null) for unlabelled rows, -1 for known negatives. Or a table, the path of a
        file or the address of a database (:func:`pulens.inputs.read_tally`). Labels of 1 and -1 alone are refused until
        ``unlabelled=-1`` or ``negative=-1`` says what -1 means.
    scores
        One number per row; higher means more positive. Left out for a table, file or database.
    score, label
        Columns of scores and labels of a table, file or database; ``"score"`` and ``"label"`` unless given.
    positive, negative, unlabelled
        Label values that mean labelled positive, known negative and unlabelled, each a value or a list.
    class_prior
        Share of positives in the population: a number, a range ``(low, high)``, or the name of an estimator
        (:func:`pulens.estimate_prior`). By default ``"auto"``, which estimates it from these rows.
    unlabelled_prior
        Share of positives among the unlabelled rows, instead of ``class_prior``.
    label_noise
        Share of labelled rows that are really negative.
    scenario
        ``"single-set"``: rows were labelled out of one sample, and the unlabelled ones are what is left.
        ``"case-control"``: the labelled rows were collected separately, and the unlabelled ones alone are a sample of
        the population.
    threshold
        Rows with ``score >= threshold`` are predicted positive. By default the threshold with the best recovered F1.
    weights
        How many rows each row stands for.
    cluster
        Column of clusters whose rows are alike (a patient, a customer, a query), or one id per row for arrays:
        intervals allow for it (:mod:`pulens.inference.clustered`), values do not change.
    group_by
        Column of segments: the answer is then that of :func:`pulens.evaluate_by`, one evaluation per value, whose
        ``same_prior``, ``class_prior_column`` and ``metrics`` may be given too.
    confidence
        Level of the intervals; ``None`` for none.
    redraws, seed
        How many times counts are redrawn for intervals that have no closed form, and where chance starts: the same
        seed gives the same numbers.
    audit
        Positives found and rows checked among randomly chosen unlabelled rows, ``(13, 200)``: decides the class prior
        by itself, with an exact interval. It does not make labels random that are not.
    combine
        Sharpen the audit by an estimate of the class prior, ``class_prior="auto"`` or another; both must then be right.
    worlds
        Where the data rule random labels out at this class prior, numbers are those of the nearest possible world, with
        the range over labelling that favours high scores up to this many times as much
        (docs/research/sensitivity.md).
    reviews, reviewed_above, reviewed_below_share, id
        Rows that people checked: the queue of ``pulens audit plan``, its answer, or a log with chances; see
        :func:`pulens.read_reviews`. The answer's ``audit`` holds what they prove without any assumption about
        labelling; checked rows count as unlabelled ones that were looked at, and settle the class prior unless
        another was given.
    labelled_within
        A column (or several, which cross) within whose values labels are a random draw of the positives, though
        their rate differs between values: clinics, channels, months. Beside arrays, one value per row. Then
        ``class_prior`` may be a mapping from cell to number, range or ``ClassPrior``; a number or range is that of all
        rows and is split among cells; without one each cell's is estimated, and small cells borrow from the others.
        ``audit`` may map cells to (positives, checked). ``evaluation.cells`` has a row per cell and
        ``evaluation.pooled`` the numbers without cells. See docs/guides/groups.md.
    split
        How one class prior of all rows divides among the cells: ``"estimated"`` (the default) as estimates from the
        cells' scores say, ``"equal"`` the same share in every cell.
    per
        The column of queries (users, targets, searches) within which ``evaluation.top(10, per=...)`` takes ranks;
        beside arrays one query per row, and the name is then ``"query"``.
    labelling
        How positives came to be labelled. ``"practice"``, the default: labels favour easy positives as much as they
        do in real data sets with a known truth (:mod:`pulens.selection`), on which intervals are calibrated.
        ``"random"``: a random draw of the positives; right where labels were drawn by chance. A number such as ``3``:
        high scores were up to 3 times as likely to be labelled. With ``labelled_within`` or ``label_noise`` the
        default is ``"random"``; ``reviews`` need no assumption about labelling. ``evaluation.labelling`` says which
        it was, and ``evaluation.if_random`` holds the numbers under random labels.

    The recovery solves :math:`\eta_{pu} = \alpha\gamma + (1-\alpha)\eta` and
    :math:`\gamma_{pu} = \beta\gamma + (1-\beta)\eta` at every threshold (Jain and
    others 2017, equations 1 to 4).

    Returns
    -------
    Evaluation
        Estimates with intervals, curves, notices and next steps; with ``group_by`` an ``Evaluations``.

    Examples
    --------
    >>> labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2]
    >>> evaluation = evaluate(labels, scores, class_prior=0.5, labelling="random")
    >>> round(evaluation.estimates["roc_auc"].value, 6), round(evaluation.uncorrected["roc_auc"].value, 6)
    (0.625, 0.6)
    >>> round(evaluation.at(0.5)["recall"].value, 6)
    0.666667

    A table is taken as it is, with the names of its columns:

    >>> import polars
    >>> claims = polars.DataFrame({"risk": [.9, .8, .7, .6, .4, .3, .2, .1] * 20,
    ...                            "outcome": (["fraud", "", "fraud"] + [""] * 5) * 20})
    >>> found = evaluate(claims, score="risk", label="outcome", positive="fraud", class_prior=0.3, redraws=100)
    >>> found.threshold
    0.7
    """
    if group_by is not None:
        return _by_segment(labels, scores, group_by, dict(locals()))
    for name in OF_SEGMENTS:
        if reading.get(name):
            raise InputError(f"{name}= is for segments: name their column with group_by=.")
    of_rows: dict[str, Any] = {name: value for name, value in reading.items() if name not in OF_SEGMENTS}
    question = IntervalOptions.among(locals())
    resampling, multiple = question.resampling, check_multiple(worlds)
    design = Design.among(locals(), of_rows)
    said = ReadOptions(weights=weights, **of_rows)
    if labelling is None and isinstance(labels, Evidence):  # was said where the rows were read
        labelling = labels.labels
    uneven = said_of_labels(labelling, design.refused_beside("practice"))
    if "reviews" in design.facets:
        return _with_reviews(labels, scores, said, design, question, threshold, multiple)
    queries = None if per is None else read_queries(labels, scores, per, said)
    source = (labels, scores, question, said)
    if queries is not None:
        source = (queries.tallies.whole(), None, question, ReadOptions())
    if design.strata is None:
        rows = gather_unstratified(*source, design)
    else:
        from pulens.strata import gather_design

        rows = gather_design(*source, design)
    draft = replace(under_labels(rows.evidence, uneven, resampling, multiple, queries), beside=rows.notices)
    return _standing(draft, rows.pooled, threshold, "given")


def under_labels(
    evidence: Evidence,
    uneven: Practice | Favouring | None,
    resampling: Resampling | None,
    multiple: float,
    queries: Queries | None = None,
) -> Evaluation:
    """The evaluation, at no threshold yet, of rows with a class prior as it was settled.

    A range is cut to what random labels allow here, where it is known which rows belong together and how labels came
    about; labels that favour easy positives rule out no part of it.
    """
    evidence = evidence if evidence.labels is None else evidence.counted  # rows are tilted once
    random = Evaluation(within_what_is_possible(evidence), math.nan, "given", resampling, multiple, queries=queries)
    if uneven is None:
        return random
    if isinstance(uneven, Favouring):
        worlds = multiple_of(random.evidence, uneven) or multiple
        return replace(random, read=read_under(random.evidence, uneven), if_random=random, worlds=worlds)
    return replace(random, read=read_under(evidence, uneven), if_random=random)


def _with_reviews(
    labels: Any,
    scores: Any,
    said: ReadOptions,
    design: Design,
    question: IntervalOptions,
    threshold: float | None,
    multiple: float,
) -> Evaluation:
    """An evaluation with rows that people checked, alone or beside strata and clusters."""
    from pulens.evaluation.reviewed_groups import GroupedReviews
    from pulens.evaluation.reviews import fixed_threshold

    asked = design.second_phase
    design.check_priors(question)
    checked = _checked_rows(labels, scores, replace(said, cluster=None), asked, question)
    fixed = fixed_threshold(checked, threshold, asked.reviewed_above)
    choice = "given" if threshold is not None else "fixed before the check"
    if design.facets & {"cells", "clusters"}:
        known: dict[str, Any] = {"scenario": question.scenario, "rows": checked.rows}
        grouped = GroupedReviews.read(labels, scores, said, asked, design.strata, **known)
        rows = grouped.gathered(question, design.split)
    else:
        if question.is_silent_on_prior and checked.prior_of_audit is not None:
            question = replace(question, class_prior=checked.prior_of_audit)
        rows = Gathered(question.evidence(checked.tally))
    draft = replace(under_labels(rows.evidence, None, question.resampling, multiple), beside=rows.notices)
    result = _standing(draft, rows.pooled, fixed, choice)
    return replace(result, audit=checked.at(result.threshold), identified=checked.identified(result.threshold))


def _standing(draft: Evaluation, pooled: Evidence | None, threshold: float | None, choice: str) -> Evaluation:
    """The evaluation at a threshold, given or the one with the best F1, with the rows without strata as ``pooled``."""
    at, choice = (
        (best_threshold(draft._masses), "best F1 on these rows")
        if threshold is None
        else (check_threshold(threshold), choice)
    )
    result = draft.standing_at(at, choice)
    return result if pooled is None else replace(result, pooled=replace(result, read=pooled, beside=()))


def _checked_rows(
    labels: Any, scores: Any, reading: ReadOptions, asked: ReviewOptions, question: IntervalOptions
) -> Reviewed:
    if question.audit is not None:
        raise AssumptionError("audit= counts rows drawn at random, reviews= says which rows were checked: give one.")
    if question.label_noise and Scenario(question.scenario) is Scenario.SINGLE_SET:
        raise AssumptionError(
            f"label_noise={question.label_noise:g}: in the single set labelled rows count as positives along "
            "with the checked ones, and it is not known which are not. Put doubtful labelled rows among the unlabelled "
            "ones."
        )
    from pulens.evaluation.reviews import reviewed

    confidence = 0.95 if question.confidence is None else question.confidence
    result = reviewed(
        labels, scores, reading, asked, scenario=question.scenario, confidence=confidence, seed=question.seed
    )
    assert result is not None  # somebody spoke of reviews
    return result


def best_threshold(evidence: Evidence, metric: str = "f1", **parameters: Any) -> float:
    """The threshold at which a metric is best, among the scores that occur; the highest one if several are."""
    facts = find(metric)
    check_keywords("best_threshold", parameters, facts.parameters)
    if facts.reads != "threshold":
        raise PulensError(f"{metric!r} has no best threshold: it reads the whole ranking.")
    table = recover(evidence.tally, evidence.assumptions)[1:]
    values = np.where(table.is_possible, facts.compute(table, **parameters), np.nan)
    if np.isnan(values).all():
        return float(evidence.tally.thresholds[-1])
    index = np.nanargmax(values) if facts.higher_is_better else np.nanargmin(values)
    return float(table.thresholds[index])


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


class _Estimates(Mapping[str, Estimate]):
    """Every listed metric, rankings first; each is found when it is asked for, and kept."""

    def __init__(
        self,
        evidence: Evidence,
        threshold: float,
        doubts: MetricIntervals | None = None,
        contradiction: Contradiction | None = None,
    ) -> None:
        self._asked: dict[str, Any] = {"threshold": threshold, "doubts": doubts, "contradiction": contradiction}
        self._evidence = evidence
        self._found: dict[str, Estimate] = {}

    def __repr__(self) -> str:
        return "\n".join(map(str, self.values()))

    def __getitem__(self, name: str) -> Estimate:
        if name not in METRICS or not METRICS[name].listed:
            look_up({}, name)  # refuses
        return self.of(name)

    def of(self, name: str) -> Estimate:
        """The estimate of any metric, listed or not."""
        if name not in self._found:
            own = estimate(name, METRICS[name], self._evidence, **self._asked)
            self._found[name] = withhold(self._evidence.annotated(own, self._asked["doubts"]), METRICS[name])
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        shown = in_reading_order(name for name, metric in METRICS.items() if metric.listed)
        return iter(sorted(shown, key=lambda name: METRICS[name].reads != "ranking"))

    def __len__(self) -> int:
        return sum(metric.listed for metric in METRICS.values())

    def __reduce__(self) -> tuple[Any, ...]:  # what was drawn on the way stays behind
        return FrozenMapping, (dict(self),)


def _uncorrected(evidence: Evidence) -> Evidence:
    """Unlabelled rows counted as negatives."""
    prior = ClassPrior(0.0, 0.0, "unlabelled rows counted as negative")
    return replace(evidence, class_prior=prior, label_noise=0.0, scenario=Scenario.SINGLE_SET)


def _by_segment(source: Any, scores: Any, group_by: str, given: dict[str, Any]) -> Evaluations:
    """What :func:`pulens.evaluate_by` answers to the same arguments."""
    from inspect import signature

    from pulens.groups.segments import evaluate_by

    if scores is not None:
        raise InputError(
            "group_by= names a column of a table, file or database: give one, with score= and label= for its columns."
        )
    usual = {name: one.default for name, one in signature(evaluate).parameters.items()}
    options = {name: value for name, value in given.items() if name in usual and value is not usual[name]}
    for name in ("labels", "scores", "group_by", "reading"):
        options.pop(name, None)
    return evaluate_by(source, group_by, **options, **given["reading"])
