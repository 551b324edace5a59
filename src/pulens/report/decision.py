"""Decisions as plain text: what to do, what it costs, and what would change it."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from pulens.decisions.actions import RULED_OUT
from pulens.decisions.demands import PRECISION, RECALL
from pulens.estimate import Estimate
from pulens.report.words import amount, percent

if TYPE_CHECKING:
    from pulens.doors.decide import Decision

WIDTH = 100


def decision_text(decision: Decision) -> str:
    """Ten lines at most, then the warnings, worst first."""
    lines = [
        part for line in decision_sentences(decision) for part in textwrap.wrap(line, WIDTH, subsequent_indent="  ")
    ]
    for notice in decision.notices:
        lines += ["", *textwrap.wrap(f"{notice.severity.name.lower()}: {notice}", WIDTH, subsequent_indent="  ")]
    return "\n".join(lines)


def decision_sentences(decision: Decision) -> list[str]:
    """What to do first, then what it costs and brings, and what would change it."""
    if decision.threshold is None:
        return [f"No threshold is left: {decision.collision}"]
    told = (_flag, _money, _alarms, _hits, _rates, _floors, _priors, _regret, _binding, _prior)
    return [line for tell in told for line in tell(decision)]


def score(threshold: float) -> str:
    """A threshold as people say it."""
    return f"{threshold:.6g}" if math.isfinite(threshold) else "none"


def _flag(decision: Decision) -> list[str]:
    """What to do, and under which condition: a class prior in doubt may make another threshold the cheapest."""
    by = {"cost": "lowest cost", "regret": "smallest regret", "capacity": "as many as the capacity allows"}
    by |= {RECALL: "fewest alarms that keep the recall", PRECISION: "most rows that keep the precision"}
    what = "Flag no row"
    if decision.flag != "none":
        what = f"Flag scores of {score(decision.threshold or 0.0)} and above"
    line = f"{what} ({by[decision.choice]}{_if_the_prior(decision)})."
    if any(notice.code == RULED_OUT.code for notice in decision.notices):
        prior = decision.evidence.class_prior.value
        line = f"Not to be acted on: these rows rule out class prior {prior:.4g} with random labels. {line}"
    return [line]


def _if_the_prior(decision: Decision) -> str:
    """Where the class prior is a range: whether the choice stays over it, and where the cheapest goes."""
    over, given = decision.regret_over_range, decision.evidence.class_prior.interval
    if over is None or given is None:
        return ""
    ends = f"{given.low:.4g} to {given.high:.4g}"
    if decision.choice != "cost":
        return f" over class priors from {ends}" if decision.choice == "regret" else ""
    if over.largest <= 1e-12:
        return f" at every class prior from {ends}"
    low, high = (score(each) if math.isfinite(each) else "flagging none" for each in over.cheapest)
    moved = f"is {low}" if low == high else f"goes from {low} to {high}"
    return f" if the class prior is {decision.evidence.class_prior.value:.4g}; from {ends} the cheapest {moved}"


def _amount(found: Estimate) -> str:
    ends = "" if found.interval is None else f" [{found.interval.low:,.5g}, {found.interval.high:,.5g}]"
    return f"{found.value:,.6g}{ends}"


def _money(decision: Decision) -> list[str]:
    if decision.cost is None:
        return []
    cost = decision.cost.value
    none, all_ = (cost + decision.saving[way].value for way in ("flag none", "flag all"))
    line = f"Cost per 1,000 rows: {_amount(decision.cost)}; flagging none {none:,.6g}, flagging all {all_:,.6g}"
    if decision.optimism is not None and decision.optimism > 0:
        rounded = float(f"{decision.optimism:.2g}")
        line += f" (choosing on these rows flatters it by about {rounded:,.6g})"
    return [f"{line}."]


def _alarms(decision: Decision) -> list[str]:
    if decision.flagged is None:
        return []
    share = decision.flagged
    ends = "" if share.interval is None else f" [{percent(share.interval.low)}, {percent(share.interval.high)}]"
    line = f"Alarms: {percent(share.value)}{ends} of rows"
    if decision.flags_per_volume is not None:
        line += f", {decision.flags_per_volume:,.0f} in {decision.volume:,.10g}"
    if decision.chance_above_capacity is not None and decision.capacity is not None:
        line += f"; more than {decision.capacity.rows:,.10g} with chance {decision.chance_above_capacity:.2g}"
    if decision.unused >= 1:
        line += f"; ties leave {decision.unused:,.10g} places of these rows unused"
    return [f"{line}."]


def _hits(decision: Decision) -> list[str]:
    return [] if decision.hits is None else [f"Hits to come (a prediction): {decision.hits}."]


def _rates(decision: Decision) -> list[str]:
    found = [each for each in (decision.recall, decision.precision) if each is not None]
    return [f"There {' and '.join(map(str, found))}."] if found else []


def _floors(decision: Decision) -> list[str]:
    sure = "" if decision.confidence is None else f", {decision.confidence:.0%} sure"
    return [f"Promised: {name} at least {floor:g}{sure}." for name, floor in decision.floors.items()]


def _priors(decision: Decision) -> list[str]:
    if decision.priors is None:
        return []
    low, high = decision.priors
    return [f"It stays the choice for class priors from {low:.4g} to {high:.4g}."]


def _regret(decision: Decision) -> list[str]:
    parts = [
        f"{amount(each.cost_above_best)} above the cheapest ({score(each.threshold)}) at {each.class_prior:.4g}"
        for each in decision.regret
    ]
    if not parts:
        return []
    over = decision.regret_over_range
    line = f"Regret per 1,000 rows at the ends of the class prior: {'; '.join(parts)}."
    if decision.choice == "cost" and over is not None and over.safest_regret < over.largest * (1 - 1e-9):
        safest = score(over.safest) if math.isfinite(over.safest) else "flagging none"
        line += f" {safest} would cost at most {1000 * over.safest_regret:,.4g} too much (--choose regret)."
    return [line]


def _binding(decision: Decision) -> list[str]:
    lines = []
    for name, (threshold, saved) in decision.without.items():
        lines.append(f"{name} binds: without it {score(threshold)} would be cheaper by {amount(saved)} per 1,000 rows.")
    return lines


def _prior(decision: Decision) -> list[str]:
    told = decision.counted
    lines = [f"Of {told.target_population}; {told.class_prior}. Today's scores."]
    if decision.within is not None and len(decision.within.cells) > 1:
        lines.append(f"Labels random within {decision.within.cells.words} only.")
    return lines + ([] if decision.clusters is None else [f"{decision.clusters}."])
