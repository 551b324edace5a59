"""The share of positives among the unlabelled rows and in the population: two numbers, never confused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pulens.answer import Answer, ShownAsText
from pulens.counts.tally import Totals
from pulens.errors import AssumptionError
from pulens.estimate import Interval
from pulens.keywords import check_kinds
from pulens.notice import Notice
from pulens.priors._estimator import Trace
from pulens.priors.distribution import PriorDistribution
from pulens.recovery.assumptions import check_label_noise
from pulens.scenario import Scenario


def population_prior(unlabelled: float, totals: Totals, scenario: Scenario, label_noise: float = 0.0) -> float:
    r"""Class prior of the population from the share of positives among the unlabelled rows.

    Equal in case-control. In the single set the labelled positives belong to the population:
    :math:`\pi = (\beta n_L + \alpha n_U) / n`.

    >>> population_prior(0.2, Totals(100, 900, 0), Scenario.SINGLE_SET)
    0.28
    """
    if scenario is Scenario.CASE_CONTROL:
        return unlabelled
    check_kinds(population_prior, {"totals": totals})
    label_noise = check_label_noise(label_noise)
    return ((1 - label_noise) * totals.labelled + unlabelled * totals.unlabelled) / totals.rows


def unlabelled_prior(population: float, totals: Totals, scenario: Scenario, label_noise: float = 0.0) -> float:
    """Share of positives among the unlabelled rows from the class prior of the population.

    >>> round(unlabelled_prior(0.28, Totals(100, 900, 0), Scenario.SINGLE_SET), 12)
    0.2
    """
    if scenario is Scenario.CASE_CONTROL:
        return population
    check_kinds(unlabelled_prior, {"totals": totals})
    label_noise = check_label_noise(label_noise)
    known = (1 - label_noise) * totals.labelled / totals.rows
    if totals.unlabelled == 0:
        return 0.0
    share = (population - known) * totals.rows / totals.unlabelled
    if share < 0 and share > -1e-12:  # a class prior equal to the labelled share, up to rounding
        share = 0.0
    if share < 0:
        raise AssumptionError(
            f"class_prior {population!r} is impossible in the single-set scenario: the labelled positives alone make "
            f"up {known:.6g} of all rows. Give a class prior of at least that, say unlabelled_prior= if you meant "
            "the share among the unlabelled rows, or scenario='case-control' (--scenario case-control) if the "
            "labelled rows were collected separately and the unlabelled rows alone are the sample of the population."
        )
    if share >= 1:
        raise AssumptionError(
            f"class_prior {population!r} is impossible in the single-set scenario: even if every unlabelled row were "
            f"positive it could not be above {known + totals.unlabelled / totals.rows:.6g}."
        )
    return share


class Implied(NamedTuple):
    """What is known of a segment's class prior next to its own labelled rows, when one label frequency holds for all.

    ``interval`` is that of the share of positives among the segment's unlabelled rows with the number of its labelled
    rows held, and ``elsewhere`` the number of labelled rows in other segments: what redraws of the segment need,
    which draw its own labelled rows again.
    """

    interval: Interval
    elsewhere: float


@dataclass(frozen=True, slots=True, repr=False)
class ClassPrior(Answer, ShownAsText):
    """The class prior, how sure we are of it, and where it came from.

    ``value`` and ``interval`` are about the population, ``unlabelled`` and ``unlabelled_interval`` of the
    unlabelled rows alone. An interval without a confidence is a range of possibilities. ``feasible`` holds every
    class prior that the data cannot exclude: an estimate is only as good as its assumption, the feasible range
    needs none but that labelled rows are a random sample of positives. ``feasible_uneven`` does without that too, as
    long as high scores were not labelled more than three times as often.

    >>> print(ClassPrior(0.28, 0.2, method="given"))
    class prior 0.28 (given)
    """

    _keys = (
        *("value", "low=interval.low", "high=interval.high", "confidence=interval.confidence", "method"),
        *("unlabelled_prior=unlabelled", "unlabelled_low=unlabelled_interval.low"),
        *("unlabelled_high=unlabelled_interval.high", "standard_error", "feasible_low=feasible.low"),
        *("feasible_high=feasible.high", "feasible_high_uneven=feasible_uneven.high", "assumption"),
    )

    value: float
    unlabelled: float
    method: str
    interval: Interval | None = None
    unlabelled_interval: Interval | None = None
    assumption: str = ""
    notices: tuple[Notice, ...] = ()
    feasible: Interval | None = None
    unlabelled_feasible: Interval | None = None
    standard_error: float | None = None  # of ``unlabelled``
    distribution: PriorDistribution | None = field(default=None, repr=False, compare=False)  # of ``unlabelled``
    trace: Trace | None = field(default=None, repr=False, compare=False)
    implied: Implied | None = field(default=None, repr=False)
    feasible_uneven: Interval | None = None
    unlabelled_feasible_uneven: Interval | None = None

    @property
    def drawn_interval(self) -> Interval | None:
        """The doubt about ``unlabelled`` that redraws of the rows do not bring along by themselves."""
        return self.unlabelled_interval if self.implied is None else self.implied.interval

    @property
    def least_unlabelled(self) -> float:
        """The smallest share of positives among the unlabelled rows still believed: the interval's lower end."""
        return self.unlabelled if self.unlabelled_interval is None else self.unlabelled_interval.low

    @property
    def is_exact(self) -> bool:
        return self.unlabelled_interval is None or self.unlabelled_interval.width == 0

    def __str__(self) -> str:
        doubt = "" if self.interval is None else f" {self.interval}"
        return f"class prior {self.value:.4g}{doubt} ({self.method})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(str(self))}</code>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve the value was read off, with its interval and the feasible range; returns the axes."""
        from pulens.plots.prior import draw_prior

        return draw_prior(self, ax=ax)
