"""What to do: a threshold from costs, capacity and promises, with what it costs and when it would be another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from pulens.answer import Answer, ShownAsText, plain, written
from pulens.confidence import check_confidence
from pulens.decisions.actions import RULED_OUT, Actions
from pulens.decisions.capacity import Capacity, chance_above, check_volume, lowest_with_certainty
from pulens.decisions.chosen import AtChosenThreshold, Rule, Value, errors_of_choice
from pulens.decisions.costs import Costs
from pulens.decisions.curve import DecisionCurve, decision_curve
from pulens.decisions.demands import CAPACITY, PRECISION, RECALL, Demands
from pulens.decisions.floors import (
    best_precision_floor,
    check_floor,
    labelled_rows,
    lowest_recall,
    precision_floor,
    recall_floor,
)
from pulens.decisions.hits import Prediction, predicted_hits
from pulens.decisions.linear import Form
from pulens.decisions.regret import RegretOverRange, regret_over_range
from pulens.decisions.stability import standing_priors
from pulens.decisions.within import linear_method, rows_worth
from pulens.diagnostics import impossible_rate
from pulens.errors import InputError, PulensError, shown
from pulens.estimate import Estimate, Interval
from pulens.evaluation.clustering import Clustering
from pulens.evidence import Design, Evidence, IntervalOptions, few_clusters
from pulens.inference.intervals import EstimatesIntervals
from pulens.inference.kernels.resampling import DEFAULT_REDRAWS, Resampling
from pulens.inference.measured import Target
from pulens.inference.method import IntervalMethod
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import PRIORS_IN_RANGE, holding
from pulens.inputs import ReadOptions
from pulens.inputs.reading import RowKeywords
from pulens.keywords import forwards_keywords, typed
from pulens.metrics import METRICS
from pulens.metrics.parts.confirmed import as_confirmed
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.measure import value as metric_value
from pulens.metrics.parts.possible_worlds import Contradiction, find_contradiction, within_what_is_possible
from pulens.metrics.parts.rests_on import BASIS, rests_on
from pulens.metrics.parts.withholding import withhold
from pulens.notice import Notice, Severity, worst_first
from pulens.priors import ClassPrior
from pulens.priors.given import GivenPrior
from pulens.scalars import is_among
from pulens.scenario import DEFAULT_SCENARIO
from pulens.selection import TiltedEvidence, estimator_of, labelling_of, read_as_said, told_under, under_labelling
from pulens.strata import (
    StratifiedEvidence,
    WeightedEvidence,
    as_one_cell,
    cell_notices,
    gather_design,
    interval_estimator,
    uncertainty_of,
)
from pulens.strata.priors import PriorSetting
from pulens.types import RowsLike, Strata, Values

PER = 1000.0  # rows that money is shown for
RATES: Mapping[str, Value] = {RECALL: lambda points: points.found, PRECISION: lambda points: points.precision}


class Regret(NamedTuple):
    """At another class prior: the cheapest threshold there, and what the chosen one costs more, per 1,000 rows."""

    class_prior: float
    threshold: float
    cost_above_best: float

    def to_dict(self) -> dict[str, Any]:
        return {**plain(self._asdict())}


class Allowance(NamedTuple):
    """What capacity and floors leave: whether no row may be flagged, and the highest and lowest threshold."""

    none: bool
    highest: float
    lowest: float


@dataclass(frozen=True, repr=False)
class Decision(Answer, ShownAsText):
    """A threshold, what it costs, and what would make it another; ``threshold`` is ``None`` where demands collide.

    An infinite threshold flags no row. Money is per 1,000 rows of the list.
    """

    #: What completion offers.
    _offered = (
        *("choice", "collision", "confidence", "cost", "curve", "flag", "flagged", "hits", "notices", "precision"),
        *("priors", "recall", "regret", "saving", "threshold", "to_dict", "to_html", "volume", "where"),
    )

    _keys = (
        *("threshold", "flag", "choice", "binds", "collision", "costs", "price_of_flag=costs.price_of_flag"),
        *("worth_of_hit=costs.worth_of_hit", "ratio=costs.ratio", "floors", "capacity=capacity.rows", "volume"),
        *("cost_per_1000=cost", "optimism", "saving", "recall", "precision", "hits", "priors", "regret"),
        *("useful_ratios", "curve", "confidence", "class_prior=evidence.counted.class_prior"),
        *("scenario=evidence.counted.scenario", "target_population=evidence.counted.target_population", "labelling"),
        *("label_noise=evidence.counted.label_noise", "warnings"),
    )

    evidence: Evidence
    threshold: float | None
    choice: str
    confidence: float | None
    costs: Costs | None = None
    capacity: Capacity | None = None
    floors: Mapping[str, float] = field(default_factory=dict)
    volume: float | None = None
    binds: tuple[str, ...] = ()
    without: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    cost: Estimate | None = None
    optimism: float | None = None
    saving: Mapping[str, Estimate] = field(default_factory=dict)
    flagged: Estimate | None = None
    recall: Estimate | None = None
    precision: Estimate | None = None
    chance_above_capacity: float | None = None
    unused: float = 0.0
    hits: Prediction | None = None
    priors: tuple[float, float] | None = None
    regret: tuple[Regret, ...] = ()
    regret_over_range: RegretOverRange | None = None  # per row
    useful_ratios: tuple[float, float] | None = None
    collision: str | None = None
    notices: tuple[Notice, ...] = ()
    allowed: Allowance | None = None

    @property
    def labelling(self) -> str:
        """How positives are taken to have come by their labels."""
        return labelling_of(self.evidence)

    @property
    def within(self) -> StratifiedEvidence | None:
        """The cells within which labels are random, or the one cell of rows that belong together."""
        result: StratifiedEvidence | None = self.evidence.within
        return result

    @property
    def clusters(self) -> Clustering | None:
        """How many clusters rows belong to; ``None`` where nobody said."""
        return Clustering.of(self.evidence.counted)

    @property
    def flag(self) -> str | None:
        """``"none"``, ``"rows"`` (those at or above the threshold), or ``None`` where no threshold is left."""
        if self.threshold is None:
            return None
        return "rows" if math.isfinite(self.threshold) else "none"

    @property
    def flags_per_volume(self) -> float | None:
        """Alarms to expect in one volume."""
        if self.volume is None or self.flagged is None:
            return None
        return self.volume * self.flagged.value

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(str(notice) for notice in self.notices)

    @cached_property
    def curve(self) -> DecisionCurve | None:
        """Net benefit of this threshold over other cost ratios; ``None`` where no row is flagged."""
        if self.threshold is None or not math.isfinite(self.threshold):
            return None
        resampling = None if self.confidence is None else Resampling(self.confidence)
        return decision_curve(self.evidence, threshold=self.threshold, resampling=resampling)

    @typed
    def where(self, column: str = "score") -> str:
        """The condition of an SQL query that gives the rows to flag.

        >>> decision = decide([1, 1, 0, 0], [4, 3, 2, 1], class_prior=0.5, cost_miss=10, cost_alarm=2, redraws=100)
        >>> decision.where("risk score")
        'WHERE "risk score" >= 3.0'
        """
        if self.threshold is None:
            raise PulensError(f"no threshold is left to write down: {self.collision}")
        if not math.isfinite(self.threshold):
            return "WHERE 1 = 0"
        is_plain = column.isidentifier() and column.isascii()
        name = column if is_plain else '"' + column.replace('"', '""') + '"'
        return f"WHERE {name} >= {self.threshold!r}"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        labelled, unlabelled, negative = self.evidence.counted.tally.totals  # weights of cells are not rows
        return {
            **super().to_dict(),
            "without": {
                name: {"threshold": plain(threshold), "cheaper_by_per_1000": saved}
                for name, (threshold, saved) in self.without.items()
            },
            "flagged": {
                "share": plain(self.flagged),
                "per_volume": self.flags_per_volume,
                "chance_above_capacity": self.chance_above_capacity,
            },
            "regret_over_range": None if self.regret_over_range is None else self.regret_over_range.to_dict(PER),
            "counts": {"labelled": labelled, "unlabelled": unlabelled, "known_negative": negative},
            **({} if self.clusters is None else {"clusters": self.clusters.to_dict()}),
            **_cells_told(self.within),
        }

    def __str__(self) -> str:
        from pulens.report.decision import decision_text

        return decision_text(self)

    @typed
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page with sliders for class prior, cost ratio and threshold; written to ``path``."""
        from pulens.report.decision_page import decision_page

        return written(path, decision_page(self, title=title))


@forwards_keywords(ReadOptions)
def decide(
    labels: RowsLike,
    scores: Values | None = None,
    *,
    cost_miss: float | None = None,
    cost_alarm: float | None = None,
    cost_flag: float | None = None,
    benefit_hit: float | None = None,
    capacity: float | str | None = None,
    volume: float | None = None,
    capacity_certainty: float | None = None,
    recall_at_least: float | None = None,
    precision_at_least: float | None = None,
    choose: Literal["cost", "regret"] = "cost",
    class_prior: GivenPrior | ClassPrior | str | Mapping[Any, Any] | None = None,
    unlabelled_prior: GivenPrior | Mapping[Any, Any] | None = None,
    label_noise: float = 0.0,
    scenario: str = DEFAULT_SCENARIO,
    weights: Values | None = None,
    confidence: float | None = 0.95,
    redraws: int = DEFAULT_REDRAWS,
    seed: int = 0,
    audit: object = None,
    combine: bool = False,
    labelled_within: Strata | None = None,
    split: str | None = None,
    labelling: str | float | None = None,
    **reading: Unpack[RowKeywords],
) -> Decision:
    r"""Choose a threshold by costs, by how many rows can be checked, and by the recall or precision required.

    Parameters
    ----------
    labels, scores
        Labels and scores as arrays; or a table, the path of a file or the address of a database, alone.
    score, label, positive, negative, unlabelled, cluster
        Columns of a table, and what its label values mean, as in :func:`pulens.evaluate`.
    cost_miss, cost_alarm, cost_flag, benefit_hit
        What a missed positive and a *false* alarm cost, what each flagged row costs, right or wrong, and what a hit
        brings. The threshold with the lowest expected cost is chosen.
    capacity, volume
        How many rows of a volume (a day, a week) can be looked at: ``capacity=50, volume=12000``. Without a volume a
        whole number counts rows of the list given; a fraction or ``"5%"`` is a share.
    capacity_certainty
        How sure one wants to be that a volume has no more alarms than the capacity.
    recall_at_least, precision_at_least
        Floors, to be kept with the confidence.
    choose
        ``"regret"``: where the class prior is a range, the threshold whose largest cost above the cheapest at either
        end is smallest.
    class_prior, unlabelled_prior, label_noise, scenario, weights, audit, combine, labelled_within, split
        As in :func:`pulens.evaluate`.
    labelling
        As in :func:`pulens.evaluate`: ``"practice"``, the default, or ``"random"``. With ``labelled_within`` or
        ``label_noise`` the default is ``"random"``.
    confidence, redraws, seed
        Level of the intervals, number of resamples behind them, and the random seed.

    Returns
    -------
    Decision
        The threshold with its cost, recall and precision; ``threshold`` is ``None`` where demands cannot all be met.

    Notes
    -----
    With the price of a flag :math:`\kappa` and the worth of a hit V the cost per row is
    :math:`c_M\pi + \kappa q - V\pi\gamma`; see docs/guides/thresholds.md.

    Examples
    --------
    >>> decision = decide(
    ...     [1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2], unlabelled_prior=0.2,
    ...     scenario="case-control", cost_miss=500, cost_alarm=20, redraws=100, labelling="random")
    >>> decision.threshold, round(decision.cost.value), [round(prior, 4) for prior in decision.priors]
    (0.45, 8000, [0.0231, 0.6077])

    A table is taken as it is, with the names of its columns:

    >>> import polars
    >>> claims = polars.DataFrame({"risk": [.9, .8, .7, .6, .4, .3, .2, .1] * 20,
    ...                            "outcome": (["fraud", "", "fraud"] + [""] * 5) * 20})
    >>> decide(claims, score="risk", label="outcome", positive="fraud", class_prior=0.3, cost_miss=500, cost_alarm=20,
    ...        redraws=100).threshold
    0.7
    """
    question = IntervalOptions.among(locals())
    given = Costs.given(cost_miss, cost_alarm, cost_flag, benefit_hit)
    floors = {
        RECALL: check_floor("recall_at_least", recall_at_least),
        PRECISION: check_floor("precision_at_least", precision_at_least),
    }
    kept = {name: floor for name, floor in floors.items() if floor is not None}
    if given is None and capacity is None and not kept:
        raise InputError(
            "there is nothing to decide by: give costs (cost_miss= and cost_alarm=), capacity=, recall_at_least= or "
            "precision_at_least=."
        )
    if not is_among(choose, ("cost", "regret")):
        raise InputError(f"choose must be 'cost' or 'regret', got {shown(choose)}.")
    if kept and confidence is None:
        raise InputError("a floor is kept with a confidence: confidence=None leaves none. Give confidence=0.95.")
    if capacity_certainty is not None:
        capacity_certainty = check_confidence(capacity_certainty)
    of = None if volume is None else check_volume(volume)
    read = ReadOptions(weights=weights, **reading)
    evidence = _evidence(labels, scores, question, read, labelled_within, split, labelling)
    asked = _Deciding(evidence, question.resampling, given, kept, capacity, of, capacity_certainty, choose == "regret")
    return asked.decision()


def _evidence(
    labels: Any,
    scores: Any,
    question: IntervalOptions,
    reading: ReadOptions,
    within: Any,
    split: str | None,
    labelling: object,
) -> Evidence:
    """What the decision is read off: one tally, or cells that stand for one."""
    design = Design(strata=within, split=split, cluster=reading.cluster)
    result = gather_design(labels, scores, question, reading, design).evidence
    read = read_as_said(result, labelling, within)
    if result.within is not None or isinstance(result, TiltedEvidence):
        return read
    if not read.explains_any_rows:  # a range of class priors is cut to what random labels allow
        read = read_as_said(within_what_is_possible(result), labelling, within)
    return read if read.buckets is None else WeightedEvidence.of(as_one_cell(read, question), read)


def _cells_told(within: StratifiedEvidence | None) -> dict[str, Any]:
    """The cells' class priors; rows that belong together have one cell, which is not told."""
    from pulens.strata import priors_within

    return {} if within is None or len(within.cells) == 1 else {"within": priors_within(within).to_dict()}


@dataclass(frozen=True)
class _Deciding:
    """What was asked of one evidence, and how the answer is put together."""

    evidence: Evidence
    resampling: Resampling | None
    costs: Costs | None
    floors: Mapping[str, float]
    capacity_given: Any
    volume: float | None
    certainty: float | None
    by_regret: bool

    @cached_property
    def points(self) -> Actions:
        return Actions.of(self.evidence)

    @cached_property
    def rows(self) -> float:
        """Rows of the list."""
        recovery = self.evidence.recovery
        return recovery.positive + recovery.negative

    @cached_property
    def capacity(self) -> Capacity | None:
        result = Capacity.given(self.capacity_given, self.volume, self.rows)
        if result is None and self.certainty is not None:
            raise InputError("capacity_certainty says how sure a capacity is to suffice: give capacity= too.")
        return result

    @cached_property
    def most_flagged(self) -> float:
        """The largest share of the list that may be flagged."""
        if self.capacity is None:
            return math.inf
        if self.certainty is None:
            return self.capacity.share
        index = int(np.flatnonzero(self.points.flagged <= self.capacity.share + 1e-12)[-1])
        worth = self._worth(index) / self.rows
        fewer = Capacity(self.capacity.share, self.capacity.rows * worth, max(round(self.capacity.volume * worth), 1))
        return lowest_with_certainty(
            self.points.flagged, self.capacity if worth == 1 else fewer, self.rows * worth, self.certainty
        )

    def _worth(self, index: int) -> float:
        """Independent rows that the list is worth for the share flagged there."""
        flagged, threshold = float(self.points.flagged[index]), float(self.points.thresholds[index])
        return rows_worth(self.evidence, self.rows, flagged, threshold)

    @cached_property
    def range(self) -> tuple[float, ...]:
        """Shares of positives among the unlabelled rows at the ends of the class prior's interval or range."""
        reach = self.evidence.class_prior.unlabelled_interval
        return () if reach is None or reach.width == 0 else (reach.low, reach.high)

    @cached_property
    def demands(self) -> Demands:
        masks: dict[str, Any] = {}
        if self.capacity is not None:
            masks[CAPACITY] = self.points.flagged <= self.most_flagged + 1e-12
        if RECALL in self.floors:
            tilted = isinstance(self.evidence, TiltedEvidence)
            limit = self._noisy_limit if self._is_weighted or tilted or self.evidence.label_noise else None
            limit = limit if self._contradiction is None else self._lowest_possible
            allowed = recall_floor(self.evidence, self.floors[RECALL], self._confidence, limit)
            masks[RECALL] = allowed & self._reaches(RECALL)
        if PRECISION in self.floors:
            allowed = precision_floor(self.evidence, self.floors[PRECISION], self._confidence)
            allowed &= self._reaches(PRECISION)
            if self.costs is not None and allowed.any():
                allowed[0] = True  # what flags nothing breaks no promise about what is flagged
            masks[PRECISION] = allowed
        if self.by_regret and not self._settings:
            raise InputError("choose='regret' needs a class prior that is a range: give class_prior=(low, high).")
        if self.by_regret and self.costs is None:
            raise InputError("choose='regret' compares costs: give cost_miss= and cost_alarm=.")
        return Demands(self.points, self.costs, masks, self._at_ends if self.by_regret else ())

    @cached_property
    def _settings(self) -> tuple[Any, ...]:
        """Settings of the class prior at the ends of its range: with the fewest and with the most positives."""
        known = uncertainty_of(self.evidence, float(np.median(self.points.thresholds[1:])))
        if self.within is None or known.treatment != "range":
            return self.range
        settings: Sequence[Any] = known.over(PRIORS_IN_RANGE)
        ordered = sorted(settings, key=lambda each: self.evidence.at_prior(each)[0].class_prior.value)
        return tuple(PriorSetting(each.shares) for each in (ordered[0], ordered[-1]))

    @cached_property
    def _at_ends(self) -> tuple[Actions, ...]:
        """All that could be done, at the ends of the class prior's range."""
        return tuple(Actions.of(*self.evidence.at_prior(setting)) for setting in self._settings)

    def _reaches(self, name: str) -> NDArray[np.bool_]:
        """Where the number that is shown is no lower than its floor."""
        rates = RATES[name](self.points)
        result = rates >= self.floors[name] - 1e-12
        if name == RECALL:
            return np.asarray(result)
        # where nothing of the population is flagged no promise is broken
        return np.asarray((result | np.isnan(rates)) & (self._contradiction is None))

    @cached_property
    def _contradiction(self) -> Contradiction | None:
        """Where these rows rule out random labels: rates are then those of possible worlds, as in an evaluation."""
        if self.evidence.explains_any_rows:
            return None
        if self.within is not None and len(self.within.cells) > 1:  # class priors that cells rule out are refused
            return None
        return find_contradiction(self.evidence.counted)

    @property
    def within(self) -> StratifiedEvidence | None:
        result: StratifiedEvidence | None = self.evidence.within
        return result

    def _lowest_possible(self, threshold: float) -> float:
        """The lowest recall of a possible world."""
        result = self._in_worlds(RECALL, threshold)
        return -math.inf if result is None or result.interval is None else result.interval.low

    def _in_worlds(self, name: str, threshold: float) -> Estimate | None:
        """Recall or precision where random labels are ruled out; ``None`` where they are not."""
        if self._contradiction is None:
            return None
        return self._contradiction.estimate(name, METRICS[name], threshold, {})

    @property
    def _confidence(self) -> float:
        return 0.95 if self.resampling is None else self.resampling.confidence

    @property
    def _is_weighted(self) -> bool:
        return self.within is not None

    def _noisy_limit(self, threshold: float) -> float:
        """The lower end of recall's own interval, one-sided, where labels are noisy.

        Within cells and with clusters that of the two-sided one: there one-sided ends held in nine of ten worlds only.
        """
        tail = (1 - self._confidence) / (2 if self._is_weighted else 1)
        settings: Sequence[Any] = [self.evidence.class_prior.unlabelled]
        if self._is_weighted:
            settings = uncertainty_of(self.evidence, threshold).over(PRIORS_IN_RANGE)
        return min(float(self._fixed(RECALL, threshold).ends(setting, tail)[0]) for setting in settings)

    def decision(self) -> Decision:
        collision = self.demands.collision()
        if collision is not None:
            return Decision(
                self.evidence, None, "none", self._shown_confidence, **self._asked_for, collision=self._said(collision)
            )
        allowed = self.demands.together()
        index = self.demands.choose(allowed)
        money = self._money(index)
        flagged = self._estimate("share flagged", Form(flagged=1.0), index, chosen=None)
        recall, precision = (self._rate(name, index, money.again) for name in (RECALL, PRECISION))
        told = self._told(PRECISION, index, precision)
        over = None
        if self.capacity is not None and self.volume is not None:
            worth = self._worth(index) / self.rows  # rows that belong together come in fewer independent pieces
            volume = self.volume if worth == 1 else max(round(self.volume * worth), 1)
            seen = self.points.flagged[index] * self.rows * worth
            over = float(chance_above(self.capacity.rows * worth, volume, seen, self.rows * worth))
        with_costs: dict[str, Any] = {}
        if self.costs is not None:
            with_costs["priors"] = standing_priors(self.evidence, self.points, index, allowed, self.costs)
            with_costs["regret"] = self._regret(index, allowed)
            if self.range:
                ends = self.range[0], self.range[1]
                over_range = regret_over_range(self.evidence, ends, index, allowed, self.costs)
                with_costs["regret_over_range"] = over_range
            if self.by_regret:
                with_costs["priors"] = None
        without = {name: self.demands.cheaper_without(name) for name in self.demands.masks}
        return Decision(
            self.evidence,
            float(self.points.thresholds[index]),
            self.demands.choice,
            self._shown_confidence,
            **self._asked_for,
            binds=self.demands.binds,
            without={name: (t, PER * saved) for name, result in without.items() if result for t, saved in [result]},
            cost=money.cost,
            optimism=money.optimism,
            saving=money.saving,
            flagged=flagged,
            recall=self._told(RECALL, index, recall),
            precision=told,
            chance_above_capacity=over,
            unused=self._unused(index),
            hits=self._hits(index, precision, told),
            useful_ratios=self._useful(index),
            notices=self._notices(index),
            allowed=_allowance(self.points.thresholds, allowed),
            **with_costs,
        )

    @property
    def _shown_confidence(self) -> float | None:
        return None if self.resampling is None else self.resampling.confidence

    @property
    def _asked_for(self) -> dict[str, Any]:
        return {"costs": self.costs, "capacity": self.capacity, "floors": self.floors, "volume": self.volume}

    def _said(self, names: tuple[str, ...]) -> str:
        """What collides, and what each demand would allow by itself."""
        result = []
        for name in names:
            allowed = self.demands.masks[name]
            if not allowed.any():
                return self._never(name)
            if name == RECALL:
                index = int(np.flatnonzero(allowed)[0])
                result.append(f"recall of at least {self.floors[name]:g} needs {self._alarms(index)}")
                continue
            index = int(np.flatnonzero(allowed)[-1])
            rate = self._rate(RECALL, index, None)
            shown_rate = "no positives" if rate is None else f"{rate.value:.0%}{_ends(rate)} of the positives"
            what = "the capacity" if name == CAPACITY else f"precision of at least {self.floors[name]:g}"
            result.append(f"{what} allows {self._alarms(index)}, which find {shown_rate}")
        return f"{' and '.join(names)} collide: {'; '.join(result)}."

    def _never(self, name: str) -> str:
        """What to say of a demand that no threshold meets."""
        if name == CAPACITY:
            assert self.certainty is not None  # flagging nothing is within any capacity, if nobody asks for certainty
            return (
                f"not even flagging nothing is {self.certainty:g} sure to stay within the capacity: {self.rows:,.10g} "
                "rows are too few to know how many of a volume would be flagged."
            )
        tally = self.evidence.tally
        possible = self._lowest_possible(float(tally.thresholds[-1]))
        if self._contradiction is not None and (name == PRECISION or not math.isfinite(possible)):
            prior = self.evidence.class_prior.value
            return (
                f"these rows rule out class prior {prior:.4g} with random labels, and no {name} can be guaranteed "
                "there. pulens evaluate says what would fit."
            )
        if self._contradiction is not None:
            seen = possible
        elif name == PRECISION:
            seen = best_precision_floor(self.evidence, self._confidence)
        elif self.evidence.label_noise or self.evidence.explains_any_rows:
            seen = self._noisy_limit(float(tally.thresholds[-1]))
        else:
            seen = float(lowest_recall(tally.totals.labelled, tally.totals.labelled, self._confidence))
        return (
            f"no threshold shows {name} of at least {self.floors[name]:g} with {self._confidence:.0%} confidence on "
            f"these rows; the best lower end seen is {seen:.3g}."
        )

    def _alarms(self, index: int) -> str:
        of = self.rows if self.volume is None else self.volume
        return f"{self.points.flagged[index] * of:,.0f} alarms of {of:,.10g} rows"

    def _money(self, index: int) -> _Money:
        if self.costs is None:
            return _Money(None, None, {}, None)
        costs = self.costs
        price, worth = costs.price_of_flag, costs.worth_of_hit
        again = None
        if self.resampling is not None:
            labelled = self.evidence.tally.totals.labelled
            least = 0.0
            if RECALL in self.floors:
                first = int(np.flatnonzero(self.demands.masks[RECALL])[0])
                least = float(self.evidence.tally.labelled[first - 1]) / labelled
            kept = self.demands.masks.get(PRECISION)
            ends = self._settings if self.by_regret else ()
            thresholds = np.asarray(self.evidence.tally.thresholds, float)
            rule = Rule(costs, thresholds, self.most_flagged, least, kept, ends)
            again = interval_estimator(self.evidence, self.resampling, rule)
        cost = Form(-worth, price, costs.miss)
        savings = {"flag none": Form(worth, -price), "flag all": Form(worth, -price, -worth, price)}
        name = "cost per 1,000 rows"
        saving = {
            way: self._estimate(f"saving against {way}", form, index, again, PER) for way, form in savings.items()
        }
        result = self._estimate(name, cost, index, again, PER)
        if costs.hit == 0 and result.interval is not None and result.interval.low < 0:  # nothing here brings money
            result = replace(result, interval=replace(result.interval, low=min(0.0, result.value)))
        optimism = None
        if again is not None:
            errors = errors_of_choice(again, cost.of, uncertainty_of(self.evidence, math.inf).own_setting)
            optimism = float(-PER * errors.mean()) if errors.size else 0.0
        return _Money(result, optimism, saving, again)

    def _estimate(
        self, name: str, form: Form, index: int, chosen: EstimatesIntervals | None, per: float = 1.0
    ) -> Estimate:
        """A linear number at a place, with its interval."""

        threshold = float(self.points.thresholds[index])

        def own(prior: Any) -> float:
            evidence, share = self.evidence.at_prior(prior)
            return float(form.of(Actions.at(evidence, threshold, share))[0])

        value = float(form.of(self.points)[index])
        interval = None
        if self.resampling is not None:
            construction = under_labelling(
                self.evidence, lambda rows: linear_method(rows, form, threshold), at_threshold=True
            )
            if chosen is not None:
                construction = AtChosenThreshold(chosen, construction, own, form.of)
            interval = self._interval(construction, value, threshold, per)
        taken = (self._labelling, *rests_on(METRICS[PRECISION], self.evidence.by_itself)[1:])
        return Estimate(name, per * value, interval, threshold=threshold, rests_on=taken)

    def _interval(
        self,
        construction: IntervalMethod,
        value: float,
        threshold: float,
        per: float = 1.0,
        lowest: float = -math.inf,
        highest: float = math.inf,
    ) -> Interval | None:
        assert self.resampling is not None
        confidence, tail = self.resampling.confidence, self.resampling.tail
        low, high, method = ends_in_doubt(construction, uncertainty_of(self.evidence, threshold), confidence, tail)
        low, high = holding(value, float(low), float(high))
        if math.isnan(low) or math.isnan(high):
            return None
        low, high = min(max(low, lowest), highest), min(max(high, lowest), highest)
        return told_under(Interval(per * low, per * high, confidence, method), self.evidence)

    @property
    def _labelling(self) -> str:
        if self.within is not None and len(self.within.cells) > 1:
            return f"random labelling within {self.within.cells.words}"
        return BASIS[self.evidence.labelling]

    def _fixed(self, name: str, threshold: float) -> IntervalMethod:
        return under_labelling(self.evidence, partial(self._fixed_of, name, threshold), at_threshold=True)

    def _fixed_of(self, name: str, threshold: float, rows: Evidence) -> IntervalMethod:
        assert self.resampling is not None
        estimator = interval_estimator(rows, self.resampling)

        def at(share: float) -> float:
            return metric_value(METRICS[name], rows.tally, rows.assumptions_at(share), threshold)

        return estimator.method(estimator.target(Target(METRICS[name], at, threshold)))

    def _as_evaluated(self, name: str, threshold: float) -> Estimate:
        """What an evaluation says at a threshold that was not chosen by these labels."""
        own = self.evidence.by_itself
        doubts = None if self.resampling is None else estimator_of(own, self.resampling)
        return estimate(name, METRICS[name], own, threshold=threshold, doubts=doubts)

    def _rate(self, name: str, index: int, chosen: EstimatesIntervals | None) -> Estimate | None:
        """Recall or precision at a place; ``None`` where nothing is flagged."""
        threshold = float(self.points.thresholds[index])
        if not math.isfinite(threshold):
            return None
        possible = self._in_worlds(name, threshold)
        if possible is not None:
            return possible
        of = RATES[name]
        value = float(of(self.points)[index])
        taken = (self._labelling, *rests_on(METRICS[name], self.evidence.by_itself)[1:])
        result = replace(self._as_evaluated(name, threshold), rests_on=taken)
        if chosen is not None and self.resampling is not None and not math.isnan(value):

            def own(prior: Any) -> float:
                evidence, share = self.evidence.at_prior(prior)
                return float(of(Actions.at(evidence, threshold, share))[0])

            construction = AtChosenThreshold(chosen, self._fixed(name, threshold), own, of)
            result = replace(result, interval=self._interval(construction, value, threshold, 1.0, 0.0, 1.0))
        return as_confirmed(result, METRICS[name], self.evidence.counted)

    def _told(self, name: str, index: int, rate: Estimate | None) -> Estimate | None:
        """Recall or precision without its value where an evaluation at the same threshold withholds it."""
        if rate is None or "class prior" not in rate.sources:
            return rate
        known = withhold(self._as_evaluated(name, float(self.points.thresholds[index])), METRICS[name])
        if not known.withheld_because:
            return rate
        return replace(rate, value=math.nan, withheld_because=known.withheld_because, landmarks={})

    def _regret(self, index: int, allowed: Any) -> tuple[Regret, ...]:
        assert self.costs is not None
        result = []
        for points in self._at_ends:
            costs = points.costs(self.costs)
            best = Demands(points, self.costs, {}).choose(allowed)
            there = float(points.thresholds[best])
            result.append(Regret(float(points.class_prior), there, PER * max(float(costs[index] - costs[best]), 0.0)))
        return tuple(result)

    def _unused(self, index: int) -> float:
        """Places of the capacity that ties leave empty, in rows of the list."""
        if self.capacity is None or self.demands.choice != CAPACITY:
            return 0.0
        free = math.floor(self.most_flagged * self.rows + 1e-9) - float(self.points.flagged[index]) * self.rows
        return max(0.0, round(free, 9))

    def _hits(self, index: int, precision: Estimate | None, told: Estimate | None) -> Prediction | None:
        """Hits among the alarms of one volume, or of the list: precision from its interval, then a binomial."""
        of = self.rows if self.volume is None else self.volume
        alarms = round(float(self.points.flagged[index]) * of)
        if precision is None or told is None or not alarms or precision.undefined_because:
            return None
        worth = self._worth(index) / self.rows
        if worth == 1 or alarms * worth < 1:
            return predicted_hits(alarms, precision).told(told)
        few = predicted_hits(max(round(alarms * worth), 1), precision)  # rows that belong together hit together
        low, high = (None if end is None else end * alarms / few.of for end in (few.low, few.high))
        return Prediction(alarms * precision.value, low, high, float(alarms)).told(told)

    def _useful(self, index: int) -> tuple[float, float] | None:
        """Cost ratios between which this threshold beats flagging all and flagging none."""
        flagged, hits = float(self.points.flagged[index]), float(self.points.hits[index])
        if not flagged > 0:
            return None
        low = (self.points.class_prior - hits) / (1 - flagged) if flagged < 1 else 0.0
        return max(float(low), 0.0), hits / flagged

    def _notices(self, index: int) -> tuple[Notice, ...]:
        result = list(self.evidence.class_prior.notices)
        if self.costs is not None and self.costs.price_of_flag >= self.costs.worth_of_hit:
            said = "An alarm costs as much as a hit is worth: flag none."
            result.append(Notice(Severity.NOTE, "flags-never-pay", said))
        if self.within is not None:
            result += [*few_clusters(self.within.evidence)]
            result += cell_notices(self.within) if len(self.within.cells) > 1 else []
        if (self.within is None or len(self.within.cells) == 1) and not self.evidence.explains_any_rows:
            result += impossible_rate(self.evidence if self.within is None else self.within.evidence)
        if self._contradiction is not None:
            result.append(RULED_OUT)
        if PRECISION in self.floors:
            said = "The precision floor holds if precision does not rise again at lower thresholds."
            result.append(Notice(Severity.NOTE, "precision-falls", said))
        if self.evidence.tally.binning is not None:
            said = "Scores were binned: only the lowest score of each bin was tried as a threshold."
            result.append(Notice(Severity.NOTE, "binned-thresholds", said))
        labelled = float(labelled_rows(self.evidence)[index - 1]) if index else 0.0
        if 0 < labelled < 5:
            said = f"Only {labelled:.0f} labelled rows are flagged: numbers about flagged rows depend on them."
            result.append(Notice(Severity.WARNING, "few-labelled-flagged", said))
        return worst_first(result)


class _Money(NamedTuple):
    cost: Estimate | None
    optimism: float | None
    saving: dict[str, Estimate]
    again: EstimatesIntervals | None


def _allowance(thresholds: Any, allowed: Any) -> Allowance:
    kept = thresholds[1:][allowed[1:]]
    ends = (float(kept[0]), float(kept[-1])) if kept.size else (math.nan, math.nan)
    return Allowance(bool(allowed[0]), *ends)


def _ends(result: Estimate) -> str:
    return "" if result.interval is None else f" ({result.interval.low:.0%} to {result.interval.high:.0%})"
