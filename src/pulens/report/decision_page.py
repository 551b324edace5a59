"""A decision as one self-contained page: what to do, what it costs, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pulens.inference.kernels.resampling import Resampling
from pulens.notice import Severity
from pulens.report.decision import decision_sentences
from pulens.report.decision_card import card, decision_of_usual_costs
from pulens.report.html import render
from pulens.report.page_data import counted_data, largest_possible_prior, prior_data, track_end
from pulens.report.summary import MARK
from pulens.report.thinning import thin
from pulens.report.words import amount, assumed, counts_of, percent, prior_words

if TYPE_CHECKING:
    from pulens.estimate import Estimate, Interval
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
    sentences = decision_sentences(decision)
    return render(
        "decision.html.j2",
        SCRIPTS if result is not None else ("words.js", "theme.js"),
        data,
        title=title or "Decision",
        counts=counts_of(evidence.counted),
        sentences=sentences,
        where="" if decision.threshold is None else decision.where(column),
        prior_sentence=prior_words(evidence.counted),
        population=evidence.target_population,
        interval_name="" if decision.confidence is None else f"{decision.confidence:.0%} interval",
        prior_interval_name=_prior_interval_name(interval),
        tiles=_tiles(decision),
        card=result,
        has_costs=decision.costs is not None,
        assumptions=assumed(evidence, evidence.labelling),
        alarming=[notice for notice in decision.notices if notice.severity > Severity.NOTE],
        notes=[notice for notice in decision.notices if notice.severity == Severity.NOTE],
        thinning="" if result is None else _thinning(data["thinning"]),
    )


def _card(decision: Decision) -> dict[str, Any] | None:
    """The choice at the costs that were given, or, where none were, at usual ones within the same limits."""
    assert decision.threshold is not None
    resampling = None if decision.confidence is None else Resampling(confidence=decision.confidence)
    costed: Decision | None = decision
    if decision.costs is None:
        costed = decision_of_usual_costs(decision, resampling)
    if costed is None:
        return None
    return card(costed, decision.threshold, decision.curve, resampling, in_money=decision.costs is not None)


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


def _prior_interval_name(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return "range" if interval.confidence is None else f"{interval.confidence:.0%} interval"


def _tiles(decision: Decision) -> list[dict[str, str]]:
    """The numbers people ask for first, at the threshold."""
    result = []
    if decision.cost is not None:
        result.append(_tile("cost", "Cost per 1,000 rows", decision.cost, amount, "Expected, at the costs given"))
    if decision.flagged is not None:
        result.append(_tile("flagged", "Rows flagged", decision.flagged, percent, "Alarms, right or wrong"))
    if decision.hits is not None:
        hits = decision.hits
        reach = "" if hits.low is None else f"{hits.low:,.0f} to {hits.high:,.0f}"
        words = f"Positives to expect among {hits.of:,.10g} flagged rows"
        result.append(
            {"name": "hits", "title": "Hits", "value": _known(hits.expected), "interval": reach, "means": words}
        )
    for name, rate, words in (
        ("recall", decision.recall, "Of the positives, how many are flagged"),
        ("precision", decision.precision, "Of the rows flagged, how many are positive"),
    ):
        if rate is not None:
            result.append(_tile(name, name.capitalize(), rate, percent, words))
    return result


def _tile(name: str, title: str, result: Estimate, shown: Callable[[float], str], means: str) -> dict[str, str]:
    interval = result.interval
    ends = "" if interval is None else f"{shown(interval.low)} to {shown(interval.high)}"
    value = MARK if result.withheld_because else shown(result.value)
    return {"name": name, "title": title, "value": value, "interval": ends, "means": means}


def _known(hits: float) -> str:
    return MARK if math.isnan(hits) else f"{hits:,.0f}"
