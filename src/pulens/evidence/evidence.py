"""Everything that an answer rests on: the counts, the class prior, the label noise, the scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

from pulens.cached import cached_method
from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.estimate import Estimate
from pulens.inference.kernels.jackknife import FEWEST_BUCKETS, ClusterCounts
from pulens.keywords import check_kinds
from pulens.notice import Notice
from pulens.priors import ClassPrior
from pulens.recovery import Recovery
from pulens.recovery.assumptions import Assumptions
from pulens.scalars import real
from pulens.scenario import Scenario


@dataclass(frozen=True)
class Evidence:
    """What was observed and what is assumed. It owns its recovery, which is derived once.

    ``prior_held`` says which share stays when the numbers of labelled and unlabelled rows are redrawn: that among
    the unlabelled rows, that in the population, or that of labelled rows among the positives (the label frequency).
    It matters in the single-set scenario only.
    """

    tally: Tally
    class_prior: ClassPrior
    label_noise: float = 0.0
    scenario: Scenario = Scenario.SINGLE_SET
    prior_held: Literal["unlabelled", "population", "frequency"] = "unlabelled"
    buckets: BucketTally | None = None  # the same rows by bucket of clusters, where some belong together
    #: how positives are taken to have come by their labels
    labelling: Literal["random", "practice"] = field(default="random", kw_only=True)
    #: whether each row was named as a cluster of its own, which leaves rows as independent as they are without names
    is_apart: bool = field(default=False, kw_only=True)

    @cached_property
    def assumptions(self) -> Assumptions:
        """At the class prior's own value."""
        return self.assumptions_at(self.class_prior.unlabelled)

    @cached_method(real)
    def assumptions_at(self, unlabelled_prior: float) -> Assumptions:
        """At another share of positives among the unlabelled rows; every metric asks for the same few."""
        return Assumptions(unlabelled_prior, self.label_noise, self.recovery_scenario)

    def at_prior(self, setting: Any) -> tuple[Evidence, float]:
        """The evidence at a setting of the class prior, and the share that is among its unlabelled rows.

        ``None`` is the class prior's own value.
        """
        return self, self.class_prior.unlabelled if setting is None else setting

    def rows_at(self, setting: Any) -> tuple[Tally, Assumptions]:
        """What a number is read off at a setting of the class prior."""
        return self.tally, self.assumptions_at(self.at_prior(setting)[1])

    @property
    def recovery_scenario(self) -> Scenario:
        """The scenario as given, unless the class prior is given as 0: every row's class is then known.

        Rows that are all labelled are the only population such data describe that holds both classes.
        """
        prior = self.class_prior
        return Scenario.SINGLE_SET if prior.is_exact and prior.unlabelled == 0 else self.scenario

    @cached_property
    def recovery(self) -> Recovery:
        """The linear map from observed to true rates."""
        return Recovery.of(self.tally.totals, self.assumptions)

    @property
    def target_population(self) -> str:
        return self.recovery.target_population

    @property
    def explains_any_rows(self) -> bool:
        """Whether no rows can rule out how labels are taken to have come about."""
        return self.labelling == "practice"

    @property
    def can_be_ruled_out(self) -> bool:
        """Whether labels are taken for random among all rows, which the rows themselves may contradict."""
        return True

    @property
    def facets(self) -> frozenset[str]:
        """What its design has beyond independent rows of one sample, as the table of combinations names it."""
        has = {"clusters": self.buckets is not None, "noise": self.label_noise > 0}
        return frozenset(name for name, is_there in has.items() if is_there)

    @property
    def within(self) -> Any:
        """The strata within which labels are random, where these rows stand for them."""
        return None

    @property
    def labels(self) -> Any:
        """How labels favour some positives; ``None`` where they are a random draw."""
        return None

    @property
    def counted(self) -> Evidence:
        """The rows as they were counted: weights of strata are not rows."""
        return self

    @property
    def masses(self) -> Evidence:
        """What numbers are read off: the tally in which labelled rows stand for all positives."""
        return self

    @property
    def as_read(self) -> Evidence:
        """The rows that numbers are read off, whatever else is known of how they came about."""
        return self

    @property
    def labelling_words(self) -> str:
        """How positives are taken to have been labelled."""
        return "random"

    @property
    def by_itself(self) -> Evidence:
        """Of rows that were taken for one cell those rows; else the evidence itself."""
        return self

    def of_other_rows(self, rows: Evidence) -> Evidence:
        """Other rows as this evidence takes them: those of one cell within it, and else as they are."""
        return rows

    @cached_property
    def by_bucket(self) -> ClusterCounts | None:
        """The rows of every bucket of clusters, stratum by stratum, where some belong together."""
        return None if self.buckets is None else ClusterCounts((self.buckets,))

    @property
    def has_too_few_clusters(self) -> bool:
        """Whether rows belong together in so few clusters that no interval can be found."""
        return self.by_bucket is not None and self.by_bucket.fewest < FEWEST_BUCKETS

    def mapped(self, change: Callable[[Any], Any]) -> Evidence:
        """The same rows under other scores, which rise with the old ones."""
        tally = self.counted.tally.mapped(change)
        buckets = self.counted.buckets
        return self.with_tally(tally, None if buckets is None else buckets.mapped(tally, change))

    @property
    def notices(self) -> list[Notice]:
        """What the design has to say beside the class prior's own notices."""
        return []

    def annotated(self, result: Estimate, intervals: Any = None, **parameters: Any) -> Estimate:
        """An estimate read off these rows, with what the design has to say of it."""
        return result

    def with_class_prior(self, class_prior: ClassPrior) -> Evidence:
        """The same rows at another class prior of all of them."""
        return replace(self, class_prior=class_prior)

    def with_tally(self, tally: Tally, buckets: BucketTally | None = None) -> Evidence:
        """The same assumptions about other counts, such as a redrawn tally."""
        check_kinds(Evidence.with_tally, {"tally": tally, "buckets": buckets})
        return replace(self, tally=tally, buckets=buckets)

    def with_rows_of(self, other: Evidence) -> Evidence:
        """The same assumptions about the rows of other evidence of this design, such as those under other scores."""
        return self.with_tally(other.tally, other.buckets)

    def __getstate__(self) -> dict[str, Any]:
        """What travels in a copy or a pickle: what was given, not what was derived from it."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
