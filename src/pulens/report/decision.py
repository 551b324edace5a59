"""Decisions as plain text: what to do, what it costs, and what would change it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pulens.decisions.actions import RULED_OUT
from pulens.decisions.demands import PRECISION, RECALL
from pulens.estimate import Estimate
from pulens.report.lines import assumed_of, folded, titled, wrapped
from pulens.report.words import amount, percent, prior_in_short

if TYPE_CHECKING:
    from pulens.evaluation.decide import Decision

NAME = 24  # columns of what a number is
SENTENCES = 1  # on what would change the choice, in short
RARELY = 0.005
CERTAINTY = {"command": "--capacity-certainty 0.95", "python": "capacity_certainty=0.95"}
REGRET = {"command": "--choose regret", "python": 'choose="regret"', "both": '--choose regret, choose="regret"'}
CERTAINTY["both"] = f"{CERTAINTY['command']} ({CERTAINTY['python']} in Python)"


def decision_text(decision: Decision, way: str = "python", *, explain: bool = False) -> str:
    """What to do, what it costs and brings, what would change it, and the worst warning."""
    lines = [line for sentence in decision_sentences(decision, way) for line in wrapped(sentence, 0)]
    if decision.threshold is not None:
        table = [row for tell in (_money, _alarms, _hits, _rates) for row in tell(decision)]
        lines += ["", *(line for name, words in table for line in wrapped(f"{name:<{NAME}}{words}", NAME))]
        changes = [*_regret(decision, way), *_priors(decision), *_optimism(decision)]
        kept = changes if explain else changes[:SENTENCES]
        lines += ["", *(line for sentence in kept for line in wrapped(sentence, 0))] if kept else []
        lines += ["", *_head(decision)]
    return "\n".join([*lines, *folded(decision.notices, way, explain=explain)])


def decision_sentences(decision: Decision, way: str = "both") -> list[str]:
    """What to do, under which condition, and which demand limits it."""
    if decision.threshold is None:
        why = decision.collision or ""
        return [f"No threshold meets the demands. {why[:1].upper()}{why[1:]}"]
    return [*_flag(decision), *_binding(decision), *_capacity(decision, way), *_floors(decision)]


def score(threshold: float) -> str:
    """A threshold as people say it."""
    return f"{threshold:.6g}" if math.isfinite(threshold) else "none"


def _flag(decision: Decision) -> list[str]:
    """What to do, and under which condition: a class prior in doubt may make another threshold the cheapest."""
    by = {"cost": "lowest cost", "regret": "smallest regret", "capacity": "as many as the capacity allows"}
    by |= {RECALL: "fewest rows that keep the recall", PRECISION: "most rows that keep the precision"}
    what = "Flag no row"
    if decision.flag != "none":
        what = f"Flag scores of {score(decision.threshold or 0.0)} and above"
    line = f"{what} ({by[decision.choice]}{_if_the_prior(decision)})."
    if any(notice.code == RULED_OUT.code for notice in decision.notices):
        prior = decision.evidence.class_prior.value
        line = f"Do not act on this: these rows rule out class prior {prior:.4g} with random labels. {line}"
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


def _with(value: str, ends: tuple[str, str] | None) -> str:
    return value if ends is None else f"{value} ({ends[0]} to {ends[1]})"


def _amount(result: Estimate) -> str:
    interval = result.interval
    return _with(amount(result.value), None if interval is None else (amount(interval.low), amount(interval.high)))


def _money(decision: Decision) -> list[tuple[str, str]]:
    if decision.cost is None:
        return []
    cost = decision.cost.value
    none, all_ = (cost + decision.saving[way].value for way in ("flag none", "flag all"))
    others = f"flagging none {amount(none)}, all {amount(all_)}"
    return [("cost per 1,000 rows", f"{_amount(decision.cost)}; {others}")]


def _alarms(decision: Decision) -> list[tuple[str, str]]:
    if decision.flagged is None:
        return []
    share = decision.flagged
    ends = None if share.interval is None else (percent(share.interval.low), percent(share.interval.high))
    line = f"{_with(percent(share.value), ends)} of rows"
    if decision.flags_per_volume is not None:
        line += f": {decision.flags_per_volume:,.0f} of every {decision.volume:,.10g}"
    if decision.unused >= 1:
        line += f"; tied scores leave {decision.unused:,.10g} places unused"
    return [("flagged", line)]


def _capacity(decision: Decision, way: str) -> list[str]:
    """How often a volume has more flagged rows than can be checked, unless a certainty was demanded."""
    chance = decision.chance_above_capacity
    if chance is None or decision.capacity is None or chance < RARELY:
        return []
    most = f"{decision.capacity.rows:,.10g}"
    times = f"{10 * chance:.0f} times in 10" if chance >= 0.1 else f"{100 * chance:.0f} times in 100"
    return [
        f"The capacity is kept on average: {times} there will be more than {most} flagged rows."
        + (f" To keep to it: {CERTAINTY[way]}." if way in CERTAINTY else "")
    ]


def _hits(decision: Decision) -> list[tuple[str, str]]:
    hits = decision.hits
    if hits is None:
        return []
    of = f"of {hits.of:,.0f} flagged"
    if math.isnan(hits.expected):
        return [("expected positives", f"{hits.low:,.0f} to {hits.high:,.0f} {of}")]
    ends = None if hits.low is None else (f"{hits.low:,.0f}", f"{hits.high:,.0f}")
    return [("expected positives", f"{_with(f'{hits.expected:,.0f}', ends)} {of}")]


def _rates(decision: Decision) -> list[tuple[str, str]]:
    result = [(name, each) for name, each in ((RECALL, decision.recall), (PRECISION, decision.precision)) if each]
    return [(name, _rate(each)) for name, each in result]


def _rate(result: Estimate) -> str:
    if result.undefined_because:
        return f"undefined: {result.undefined_because}"
    ends = None if result.interval is None else (f"{result.interval.low:.3f}", f"{result.interval.high:.3f}")
    if result.withheld_because and ends is not None:
        return f"{ends[0]} to {ends[1]}"
    return _with(f"{result.value:.3f}", ends)


def _floors(decision: Decision) -> list[str]:
    sure = "" if decision.confidence is None else f" with {decision.confidence:.0%} confidence"
    return [f"{name.capitalize()} is at least {floor:g}{sure}." for name, floor in decision.floors.items()]


def _priors(decision: Decision) -> list[str]:
    if decision.priors is None:
        return []
    low, high = decision.priors
    return [f"Still optimal if the class prior is between {low:.3g} and {high:.3g}."]


def _regret(decision: Decision, way: str = "both") -> list[str]:
    """What the choice costs where the class prior is at an end of its range; an end where it is the best is silent."""
    parts = [
        f"If the class prior is really {each.class_prior:.3g}, this costs {amount(each.cost_above_best)} more per "
        f"1,000 rows than the best threshold there, {score(each.threshold)}."
        for each in decision.regret
        if each.cost_above_best > 1e-9
    ]
    over = decision.regret_over_range
    if parts and decision.choice == "cost" and over is not None and over.safest_regret < over.largest * (1 - 1e-9):
        safest = f"At {score(over.safest)}" if math.isfinite(over.safest) else "Flagging none"
        parts.append(f"{safest} it would cost at most {amount(1000 * over.safest_regret)} more ({REGRET[way]}).")
    return [" ".join(parts)] if parts else []


def _optimism(decision: Decision) -> list[str]:
    if decision.optimism is None or decision.optimism <= 0:
        return []
    rounded = amount(float(f"{decision.optimism:.2g}"))
    return [f"The threshold was chosen on these rows, so its cost is understated by about {rounded}."]


def _binding(decision: Decision) -> list[str]:
    names = {"capacity": "Capacity is the limit: with no cap", RECALL: "The recall demanded is the limit: without it"}
    names[PRECISION] = "The precision demanded is the limit: without it"
    return [
        f"{names[name]}, {_at(threshold)} would save {amount(saved)} per 1,000 rows."
        for name, (threshold, saved) in decision.without.items()
    ]


def _at(threshold: float) -> str:
    return score(threshold) if math.isfinite(threshold) else "flagging none"


def _head(decision: Decision) -> list[str]:
    counted = decision.evidence.counted
    lines = titled("rows", str(counted.tally.totals))
    lines += titled("class prior", prior_in_short(counted.class_prior))
    if decision.within is not None and len(decision.within.cells) > 1:
        lines += titled("within", f"labels random within {decision.within.cells.words} only")
    if decision.clusters is not None:
        lines += titled("clusters", str(decision.clusters))
    return lines + titled("assumes", assumed_of(counted.scenario, decision.labelling, "decide"))
