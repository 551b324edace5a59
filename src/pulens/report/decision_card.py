"""What flagging costs, as a card of a page: a choice at one cost ratio, and what the script needs to move it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pulens.decisions.actions import Actions
from pulens.decisions.costs import Costs
from pulens.decisions.floors import recall_floor, rows_for_recall
from pulens.errors import PulensError
from pulens.evaluation.decide import Decision, decide
from pulens.evaluation.operating import cost_at, kth_score
from pulens.evidence import Evidence
from pulens.report.words import amount, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pulens.decisions.curve import DecisionCurve
    from pulens.estimate import Estimate
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.top import Top
    from pulens.inference.kernels.resampling import Resampling

ROUND_NUMBERS = tuple(digit * 10.0**power for power in range(5) for digit in (1, 2, 5))
HIGHEST_RATIO = 0.95
USUAL_FLOOR = 0.8  # of recall, as a point that the page names


def usual_costs(class_prior: float) -> Costs:
    """Where nobody said costs: a false alarm costs 1, and a miss the round number nearest to where flagging all and
    flagging none cost the same, which is where a model matters most.

    >>> usual_costs(0.15)
    Costs(miss=5.0, alarm=1.0, flag=0.0, hit=0.0)
    """
    odds = (1 - class_prior) / max(class_prior, 1e-6)
    return Costs(miss=min(ROUND_NUMBERS, key=lambda each: abs(math.log(each / max(odds, 1e-6)))), alarm=1.0)


def evaluation_card(evaluation: Evaluation, tops: Sequence[Top] = ()) -> dict[str, Any] | None:
    """Of an evaluation: the cheapest threshold at the usual costs next to its own; ``None`` where none is known."""
    if evaluation.masses is not evaluation.evidence or evaluation.evidence.buckets is not None:
        return None  # costs are known for labels that are a random draw
    evidence, costs = evaluation.evidence, usual_costs(evaluation.class_prior.value)
    try:
        decision = evaluation.decide(cost_miss=costs.miss, cost_alarm=costs.alarm)
        curve = evaluation.decision_curve() if math.isfinite(evaluation.threshold) else None
    except PulensError:
        return None
    result = card(decision, evaluation.threshold, curve, evaluation.resampling, in_money=False)
    if result is not None:
        result["points"] = _points(evidence, evaluation, tops)
    return result


def _points(evidence: Evidence, evaluation: Evaluation, tops: Sequence[Top]) -> list[dict[str, Any]]:
    """Thresholds that people name, beside the cheapest one, which the page finds itself."""
    result = [{"name": "best F1", "threshold": evaluation.best_threshold("f1")}]
    confidence = 0.95 if evaluation.resampling is None else evaluation.resampling.confidence
    if evidence.tally.totals.labelled >= rows_for_recall(USUAL_FLOOR, confidence) and not evidence.label_noise:
        allowed = recall_floor(evidence, USUAL_FLOOR, confidence)[1:]
        if allowed.any():
            at = float(evidence.tally.thresholds[int(allowed.argmax())])
            result.append({"name": f"recall {USUAL_FLOOR:g}, {confidence:.0%} sure", "threshold": at})
    for top in tops:
        result.append({"name": f"first {top.k:,.10g} rows", "threshold": kth_score(evidence, int(top.k))})
    return result


def decision_of_usual_costs(decision: Decision, resampling: Resampling | None) -> Decision | None:
    """Where only capacity or floors decided: what costs would choose within the same limits."""
    costs = usual_costs(decision.evidence.class_prior.value)
    limits: dict[str, Any] = {f"{name}_at_least": floor for name, floor in decision.floors.items()}
    if decision.capacity is not None:
        limits |= {"capacity": f"{100 * decision.capacity.share!r}%", "volume": decision.volume}
    asked: dict[str, Any] = {"confidence": None if resampling is None and not decision.floors else 0.95}
    if resampling is not None:
        asked = {"confidence": resampling.confidence, "redraws": resampling.redraws, "seed": resampling.seed}
    try:
        told: Any = {"labelling": "random", **limits, **asked}  # what is said of labels is in the evidence
        result = decide(decision.evidence, cost_miss=costs.miss, cost_alarm=costs.alarm, **told)
    except PulensError:
        return None
    return None if result.threshold is None else result


def card(
    decision: Decision,
    in_use: float,
    curve: DecisionCurve | None,
    resampling: Resampling | None,
    *,
    in_money: bool,
) -> dict[str, Any] | None:
    """Plain values for the template and the script; ``None`` where flags never pay or demands collide."""
    from pulens.special import ndtri

    costs, evidence = decision.costs, decision.evidence
    if costs is None or decision.cost is None or not costs.ratio < HIGHEST_RATIO or decision.allowed is None:
        return None
    prior = float(decision.evidence.class_prior.value)
    low, high = min(prior / 8, costs.ratio / 4), max(min(4 * prior, 0.9), min(4 * costs.ratio, 0.9), 0.02)
    cheapest_flag = costs.flag / (costs.miss + costs.hit)  # below it a false alarm would have to bring something
    # rows that belong together, or have the weights of their cells, are not independent: then the page has no intervals
    # of its own
    apart = resampling if type(evidence) is Evidence and evidence.buckets is None else None
    used = decision.cost if in_use == decision.threshold else cost_at(evidence, costs, in_use, apart)
    none, everybody = (decision.cost.value + decision.saving[way].value for way in ("flag none", "flag all"))
    assert decision.threshold is not None
    return {
        "costs": {"miss": costs.miss, "alarm": costs.alarm, "flag": costs.flag, "hit": costs.hit} if in_money else None,
        "ratio": costs.ratio,
        "track": [max(low, cheapest_flag, 1e-6), min(high, HIGHEST_RATIO)],
        "allowed": {
            "none": decision.allowed.none,
            "highest": _plain(decision.allowed.highest),
            "lowest": _plain(decision.allowed.lowest),
        },
        "doubt": None if apart is None else {"tail": apart.tail, "z": float(ndtri(apart.tail))},
        "home": {
            "threshold": _plain(decision.threshold),
            "flagged": None if decision.flagged is None else decision.flagged.value,
            "choice": _ends(decision.cost),
            "use": _ends(used),
            "none": none,
            "all": everybody,
            "priors": None if decision.priors is None else list(decision.priors),
            "useful": None if decision.useful_ratios is None else list(decision.useful_ratios),
        },
        "words": _words(decision, costs, none, everybody, in_money=in_money),
        "curve": None if curve is None else curve.to_dict() | {"confidence": curve.confidence},
        "points": [],
        "rows": _rows(decision, in_use, used, none, everybody),
        "unit": "" if in_money else " in false alarms",
    }


def _rows(decision: Decision, in_use: float, used: Estimate, none: float, everybody: float) -> list[dict[str, str]]:
    """The table of what could be done, as it stands before anything is moved."""
    assert decision.cost is not None
    assert decision.threshold is not None
    assert decision.flagged is not None
    points = Actions.at(decision.evidence, in_use, decision.evidence.class_prior.unlabelled)
    known = (
        ("choice", "the cheapest threshold", decision.threshold, decision.flagged.value, decision.cost),
        ("use", "the threshold in use", in_use, float(points.flagged[0]), used),
        ("none", "flag no row", math.inf, 0.0, none),
        ("all", "flag every row", math.inf, 1.0, everybody),
    )
    rows = []
    for way, title, threshold, flagged, cost in known:
        value, reach = (cost, None) if isinstance(cost, float) else (cost.value, cost.interval)
        ends = "" if reach is None else f"{amount(reach.low)} to {amount(reach.high)}"
        at = f"{threshold:.4g}" if math.isfinite(threshold) else "–"
        rows.append({"way": way, "title": title, "threshold": at, "flagged": percent(flagged)})
        rows[-1] |= {"cost": amount(value), "interval": ends}
    return rows


def _words(decision: Decision, costs: Costs, none: float, everybody: float, *, in_money: bool) -> list[str]:
    """What the card says while nothing is moved; the script says it for other settings in the same words."""
    assert decision.cost is not None
    assert decision.threshold is not None
    said = (
        f"a miss costs {amount(costs.miss)} and a false alarm {amount(costs.alarm)}"
        if in_money
        else f"a miss costs as much as {amount(costs.miss / costs.alarm)} false alarms"
    )
    what = f"flag scores of {decision.threshold:.4g} and above" if math.isfinite(decision.threshold) else "flag no row"
    reach = decision.cost.interval
    ends = "" if reach is None else f" [{amount(reach.low)}, {amount(reach.high)}]"
    lines = [
        f"If {said} (cost ratio {costs.ratio:.3g}), the cheapest is to {what}: {amount(decision.cost.value)}{ends} per "
        f"1,000 rows, against {amount(none)} for flagging none and {amount(everybody)} for flagging all."
    ]
    if decision.priors is not None:
        low, high = decision.priors
        lines.append(f"It stays the cheapest for class priors from {low:.3g} to {high:.3g}.")
    return lines


def _ends(result: Estimate) -> dict[str, float | None]:
    interval = result.interval
    return {
        "value": _plain(result.value),
        "low": None if interval is None else _plain(interval.low),
        "high": None if interval is None else _plain(interval.high),
    }


def _plain(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
