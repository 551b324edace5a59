"""The first rows of a list in a report: a sentence, a table, and what the page needs to follow its sliders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.metrics import leading
from pulens.metrics.parts.top_of_list import RankedList, discounts
from pulens.report.lines import wrapped
from pulens.report.page_data import in_scenario
from pulens.report.summary import MARK
from pulens.report.words import percent, title_of
from pulens.scenario import Scenario

if TYPE_CHECKING:
    from pulens.estimate import Estimate
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.top import Top


def top_rows(top: Top) -> list[dict[str, str]]:
    """A row for each measure: those that people ask for first in front."""
    first = leading("top")
    names = sorted(top, key=lambda name: first.index(name) if name in first else len(first))
    return [
        {"name": name, "title": title_of(name), "value": _value(top[name]), "interval": _interval(top[name])}
        for name in names
    ]


def _value(result: Estimate) -> str:
    if result.withheld_because:
        return MARK
    return "undefined" if result.undefined_because else f"{result.value:.3f}"


def _interval(result: Estimate) -> str:
    interval = result.interval
    return "" if interval is None or interval.width == 0 else f"{interval.low:.3f} to {interval.high:.3f}"


def top_places(tops: Sequence[Top]) -> list[dict[str, Any]]:
    """What the page's template shows of each place of the list."""
    return [
        {
            "title": f"The first {top.k:,.10g} of {top.of:,.10g} rows",
            "sentence": top.sentence,
            "rows": top_rows(top),
            "few": top.few_words,
        }
        for top in tops
    ]


def top_data(evaluation: Evaluation, tops: Sequence[Top]) -> list[dict[str, Any]]:
    """For each place and scenario the mean weight of each kind of rows: measures are linear in them, so exact.

    Within cells rows have weights of their own, and the page keeps the report's numbers only.
    """
    scenarios = Scenario if evaluation.within is None else ()
    return [
        {
            "k": top.k,
            "sentence": top.sentence,
            "hits": None if top.hits is None else [_plain(top.hits.expected), top.hits.low, top.hits.high],
            "values": {name: _plain(result.value) for name, result in top.items()},
            "scenarios": {str(scenario): _weights(evaluation, scenario, top.k) for scenario in scenarios},
        }
        for top in tops
    ]


def ladder_rows(steps: Sequence[Top]) -> list[dict[str, str]]:
    """A row for each number of rows to check: how many positives to expect, and which share of all they are."""
    result = []
    for step in steps:
        interval = "" if step.hits is None or step.hits.low is None else _reach(step.hits.low, step.hits.high)
        is_open = step.hits is not None and math.isnan(step.hits.expected)
        hits = "unknown" if step.hits is None else MARK if is_open else f"{step.hits.expected:,.0f}"
        result.append(
            {
                "k": f"{step.k:,.10g}",
                "hits": hits,
                "interval": interval,
                "recall": _percent(step["recall_at_k"]),
            }
        )
    return result


def top_lines(tops: Sequence[Top]) -> list[str]:
    """The same rows for a terminal, and where a number rests on a handful of labelled rows."""
    if not tops:
        return []
    lines = [f"{'first rows':>12}{'positives expected':>22}{'interval':>18}{'share of all positives':>26}"]
    for top, row in zip(tops, ladder_rows(tops), strict=True):
        lines.append(f"{row['k']:>12}{row['hits']:>22}{row['interval']:>18}{row['recall']:>26}")
        lines += wrapped(f"{'':<6}{top.few_words}", 6) if top.few_words else []
    return lines


def _reach(low: float, high: float | None) -> str:
    ends = f"{low:,.0f}", f"{high:,.0f}"
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _percent(result: Estimate) -> str:
    return "undefined" if result.undefined_because else percent(result.value)


def _weights(evaluation: Evaluation, scenario: Scenario, k: float) -> dict[str, Any] | None:
    """Of membership among the first k and of the discount there; ``None`` where the list is shorter."""
    evidence = in_scenario(evaluation.evidence, scenario)
    ranked = RankedList.of(evidence.tally, evidence.assumptions)
    if k > ranked.rows:
        return None
    given = {"member": ranked.membership(k)}
    if not evidence.tally.is_weighted:
        given["discount"] = ranked.weights(discounts(k))
    means = {
        name: [
            float(kind @ weights) / total if total else 0.0
            for kind, total in zip(ranked.kinds, ranked.totals, strict=True)
        ]
        for name, weights in given.items()
    }
    return {"of": ranked.rows, **means, **_places(ranked, k)}


def _places(ranked: RankedList, k: float) -> dict[str, Any]:
    """What counts at other places of the list need, so that the page's fit together as Python's do."""
    totals = np.array(ranked.totals, float)
    held = np.where(totals > 0, totals, 1.0)
    places, between = (
        [[place, *shares] for place, shares in zip(each, (ranked.among(np.array(each)).T / held).tolist(), strict=True)]
        for each in ranked.places_with(k)
    )
    return {"places": places, "between": between, "totals": totals.tolist(), "proves": ranked.proves_labelled}


def _plain(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
