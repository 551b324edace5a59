"""What misses, false alarms, flags and hits cost; only the price of a flag and the worth of a hit matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pulens.errors import InputError, shown
from pulens.scalars import real

LARGEST_COST = 1e100  # sums of squares must stay numbers
#: why a column of amounts is no cost: with chance p_i of being positive a row is worth flagging if p_i exceeds its own
#: ratio kappa_i / V_i, an order of p_i V_i - kappa_i and not of scores
ROW_BY_ROW = (
    "Amounts that differ from row to row are not taken: the cheapest rule is then no threshold on the score, and "
    "counts per score hold no amounts. Give the mean amount of the labelled rows if amounts and scores are unrelated; "
    "or calibrate the scores, and flag a row if its chance of being positive exceeds its own price over its own worth."
)
NAMES = ("cost_miss", "cost_alarm", "cost_flag", "benefit_hit")


@dataclass(frozen=True, slots=True)
class Costs:
    r"""Costs per row: of a miss, of a false alarm, of each flagged row right or wrong; and the gain of a hit.

    The expected cost per row of the list is :math:`c_M\pi + \kappa q - V\pi\gamma` with the price of a flag
    :math:`\kappa = c_A + c_F` and the worth of a hit :math:`V = c_M + c_A + b`; flagging a row pays when its chance of
    being positive exceeds :math:`\kappa/V` (Elkan 2001).

    >>> costs = Costs(miss=500.0, alarm=20.0)
    >>> costs.price_of_flag, costs.worth_of_hit, round(costs.ratio, 4)
    (20.0, 520.0, 0.0385)
    """

    miss: float = 0.0
    alarm: float = 0.0
    flag: float = 0.0
    hit: float = 0.0

    @property
    def price_of_flag(self) -> float:
        return self.alarm + self.flag

    @property
    def worth_of_hit(self) -> float:
        return self.miss + self.alarm + self.hit

    @property
    def ratio(self) -> float:
        """The chance of being positive above which flagging a row pays."""
        return self.price_of_flag / self.worth_of_hit

    def to_dict(self) -> dict[str, float]:
        return dict(zip(NAMES, (self.miss, self.alarm, self.flag, self.hit), strict=True))

    @classmethod
    def given(cls, miss: Any, alarm: Any, flag: Any, hit: Any) -> Costs | None:
        """Costs as they were given, checked; ``None`` if none was."""
        if miss is None and alarm is None and flag is None and hit is None:
            return None
        numbers = [_check(name, value) for name, value in zip(NAMES, (miss, alarm, flag, hit), strict=True)]
        result = cls(*numbers)
        if result.miss + result.hit == 0:
            raise InputError(
                "only alarms cost something here, so flagging no row would always be the cheapest: give cost_miss= (or "
                "benefit_hit=) too."
            )
        if result.price_of_flag == 0:
            raise InputError(
                "only misses cost something here, so flagging every row would always be the cheapest: give cost_alarm= "
                "(of a false alarm) or cost_flag= (of each flagged row) too."
            )
        return result


def _check(name: str, value: Any) -> float:
    if value is None:
        return 0.0
    number = real(value)
    if not 0 <= number <= LARGEST_COST:
        more = ""
        if isinstance(value, str) or hasattr(value, "__len__"):
            more = f" {ROW_BY_ROW}"
        raise InputError(
            f"{name} must be a number of at least 0 and at most {LARGEST_COST:g}, got {shown(value)}.{more}"
        )
    return number
