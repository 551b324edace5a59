"""A decision as one self-contained page: what to do, what it costs, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pulens.report.axis import plain
from pulens.report.decision import CERTAINTY, decision_sentences
from pulens.report.html import interval_name_of, render
from pulens.report.lines import assumed_of
from pulens.report.page_data import counted_data, largest_possible_prior, prior_data, track_end
from pulens.report.summary import MARK
from pulens.report.thinning import thin
from pulens.report.words import amount, assumed, counts_of, percent, prior_words

if TYPE_CHECKING:
    from pulens.estimate import Estimate
    from pulens.evaluation.decide import Decision

SCRIPTS = (
    *(
        "words.js",
        "page_state.js",
        "recovery.js",
        "prior.js",
        "chart.js",
        "figures.js",
        "decision.js",
        "decision_card.js",
    ),
    *("decision_page.js", "theme.js"),
)

HIGHEST_RATIO = 0.95


def decision_page(decision: Decision, *, title: str | None = None, column: str = "score") -> str:
    """The whole page as text.

    >>> from pulens import decide
    >>> page = decision_page(decide([1, 1, 0, 0], [4, 3, 2, 1], class_prior=0.5, cost_miss=10, cost_alarm=2,
    ...                             redraws=100))
    >>> "Flag scores of 3 and above" in page
    True
    """
    evidence = decision.evidence
    interval = evidence.class_prior.interval
    result = None if decision.threshold is None else _card(decision)
    data = {"decision": result, **({} if result is None else _data(decision))}
    sentences = decision_sentences(decision, "page")
    return render(
        "decision.html.j2",
        SCRIPTS if result is not None else ("words.js", "theme.js"),
        data,
        title=title or "Decision",
        counts=counts_of(evidence.counted),
        sentences=sentences,
        certainty=CERTAINTY["both"] if decision_sentences(decision) != sentences else "",
        where="" if decision.threshold is None else decision.where(column),
        assumes=assumed_of(evidence.counted.scenario, decision.labelling, "decide"),
        prior_sentence=prior_words(evidence.counted),
        population=evidence.target_population,
        interval_name="" if decision.confidence is None else f"{decision.confidence:.0%} interval",
        prior_interval_name=interval_name_of(interval),
        tiles=_tiles(decision),
        card=result,
        assumptions=assumed(evidence, evidence.labelling),
        notices=decision.notices,
        thinning="" if result is None else _thinning(data["thinning"]),
    )


def _card(decision: Decision) -> dict[str, Any] | None:
    """What the table and the script need to move the cost ratio; ``None`` where no costs were given or no flag pays."""
    costs = decision.costs
    if costs is None or decision.cost is None or not costs.ratio < HIGHEST_RATIO or decision.allowed is None:
        return None
    prior, cost = float(decision.evidence.class_prior.value), decision.cost
    low, high = min(prior / 8, costs.ratio / 4), max(min(4 * prior, 0.9), min(4 * costs.ratio, 0.9), 0.02)
    cheapest_flag = costs.flag / (costs.miss + costs.hit)  # below it a false alarm would have to bring something
    none, everybody = (cost.value + decision.saving[way].value for way in ("flag none", "flag all"))
    curve = decision.curve
    return {
        "costs": {"miss": costs.miss, "alarm": costs.alarm, "flag": costs.flag, "hit": costs.hit},
        "ratio": costs.ratio,
        "track": [max(low, cheapest_flag, 1e-6), min(high, HIGHEST_RATIO)],
        "allowed": {
            "none": decision.allowed.none,
            "highest": plain(decision.allowed.highest),
            "lowest": plain(decision.allowed.lowest),
        },
        "home": {
            "threshold": plain(decision.threshold or 0.0),
            "cost": {"value": cost.value, "low": None, "high": None}
            | ({} if cost.interval is None else {"low": cost.interval.low, "high": cost.interval.high}),
        },
        "words": _words(decision, none, everybody),
        "curve": None if curve is None else curve.to_dict() | {"confidence": curve.confidence},
        "rows": _rows(decision, none, everybody),
    }


def _rows(decision: Decision, none: float, everybody: float) -> list[dict[str, str]]:
    """The table of what could be done, as it is before anything is moved; a threshold moved to comes third."""
    assert decision.cost is not None
    assert decision.flagged is not None
    cost = decision.cost
    known = (
        ("choice", "the cheapest threshold", decision.threshold or 0.0, decision.flagged.value, cost.value),
        ("use", "the threshold of the slider", decision.threshold or 0.0, decision.flagged.value, cost.value),
        ("none", "flag no row", math.inf, 0.0, none),
        ("all", "flag every row", math.inf, 1.0, everybody),
    )
    ends = "" if cost.interval is None else f"{amount(cost.interval.low)} to {amount(cost.interval.high)}"
    return [
        {
            "way": way,
            "title": title,
            "threshold": f"{threshold:.6g}" if math.isfinite(threshold) else "–",
            "flagged": percent(flagged),
            "cost": amount(value),
            "interval": ends if way == "choice" else "",
        }
        for way, title, threshold, flagged, value in known
    ]


def _words(decision: Decision, none: float, everybody: float) -> str:
    """What the card says while nothing is moved; the script says it for other settings in the same words."""
    assert decision.cost is not None
    assert decision.costs is not None
    threshold, costs = decision.threshold or 0.0, decision.costs
    what = f"flag scores of {threshold:.6g} and above" if math.isfinite(threshold) else "flag no row"
    reach = decision.cost.interval
    ends = "" if reach is None else f" ({amount(reach.low)} to {amount(reach.high)})"
    return (
        f"If a miss costs {amount(costs.miss)} and a false alarm {amount(costs.alarm)} (cost ratio {costs.ratio:.3g}), "
        f"the cheapest is to {what}: {amount(decision.cost.value)}{ends} per 1,000 rows, against {amount(none)} for "
        f"flagging none and {amount(everybody)} for flagging all."
    )


def _data(decision: Decision) -> dict[str, Any]:
    """Counts and class prior, as pages of evaluations carry them."""
    evidence = decision.evidence
    assert decision.threshold is not None
    thinned = thin(evidence.tally, keep=(decision.threshold, *(regret.threshold for regret in decision.regret)))
    limit = largest_possible_prior(evidence, thinned.tally)
    return {
        "totals": evidence.tally.totals._asdict(),
        "scenario": str(evidence.recovery_scenario),
        "label_noise": evidence.label_noise,
        **counted_data(evidence.tally, thinned),
        "prior": prior_data(evidence, limit, track_end(evidence, limit)),
        "threshold": None
        if decision.threshold is None or not math.isfinite(decision.threshold)
        else decision.threshold,
        "volume": decision.volume,
        "rows": evidence.recovery.positive + evidence.recovery.negative,
        "thinning": {"kept": len(thinned.tally), "of": thinned.distinct_scores},
    }


def _thinning(thinning: dict[str, int]) -> str:
    if thinning["kept"] == thinning["of"]:
        return f"All {thinning['of']:,} distinct scores are in this page, so what it finds by itself is exact."
    return (
        f"This page holds {thinning['kept']:,} of {thinning['of']:,} distinct scores: the report's numbers are exact, "
        "and a cheapest threshold that the page finds by itself is the cheapest of these."
    )


def _tiles(decision: Decision) -> list[dict[str, str]]:
    """The numbers people ask for first, at the threshold."""
    result = []
    if decision.cost is not None:
        result.append(_tile("cost", "Cost per 1,000 rows", decision.cost, amount, "Expected, at the costs given"))
    if decision.flagged is not None:
        result.append(_tile("flagged", "Flagged", decision.flagged, percent, "Of all rows"))
    if decision.hits is not None:
        hits = decision.hits
        reach = "" if hits.low is None else f"{hits.low:,.0f} to {hits.high:,.0f}"
        means = f"Among {hits.of:,.10g} flagged rows"
        named = {"name": "hits", "title": "Expected positives", "value": _known(hits.expected)}
        result.append({**named, "interval": reach, "means": means})
    for name, rate, words in (
        ("recall", decision.recall, "Of the positives, how many are flagged"),
        ("precision", decision.precision, "Of the rows flagged, how many are positive"),
    ):
        if rate is not None:
            result.append(_tile(name, name.capitalize(), rate, _three, words))
    return result


def _tile(name: str, title: str, result: Estimate, shown: Callable[[float], str], means: str) -> dict[str, str]:
    interval = result.interval
    ends = "" if interval is None else f"{shown(interval.low)} to {shown(interval.high)}"
    value = MARK if result.withheld_because else shown(result.value)
    return {"name": name, "title": title, "value": value, "interval": ends, "means": means}


def _three(share: float) -> str:
    """A rate with the digits that the terminal gives it."""
    return f"{share:.3f}"


def _known(hits: float) -> str:
    return MARK if math.isnan(hits) else f"{hits:,.0f}"
