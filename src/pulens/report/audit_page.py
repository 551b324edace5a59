"""An audit as one self-contained page: numbers on one axis per metric, strata, labelling curve, forecast."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.audits.estimates import estimated_positives
from pulens.audits.limits import stratum_limits
from pulens.report.audit_summary import (
    AuditRow,
    AuditSummary,
    audit_verdict,
    limits,
    number,
    range_words,
    summarise_audit,
)
from pulens.report.axis import Axis, ends_of, plain
from pulens.report.html import render
from pulens.report.words import title_of

if TYPE_CHECKING:
    from pulens.audits import AuditResult
    from pulens.audits.forecast import AuditForecast
    from pulens.audits.plan import AuditPlan
    from pulens.estimate import Estimate

SCRIPTS = ("words.js", "chart.js", "figures.js", "labelling_curve.js", "audit.js", "theme.js")
WHOLE = Axis(0.0, 1.0)


def audit_page(
    result: AuditResult,
    *,
    title: str | None = None,
    recovered: Mapping[str, Estimate] | None = None,
    forecast: AuditForecast | None = None,
    plan: AuditPlan | None = None,
    more: str = "",
) -> str:
    """The whole page as text; everything that users typed is escaped.

    >>> from pulens.audits import from_counts
    >>> result = from_counts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)
    >>> "<title>&lt;b&gt; · pulens</title>" in audit_page(result, title="<b>")
    True
    """
    summary = summarise_audit(result, recovered=recovered, more=more)
    edges = None if plan is None else plan.strata.edges
    curve = labelling_curve_data(result, edges)
    return render(
        "audit.html.j2",
        SCRIPTS,
        {"curve": curve, "forecast": None if forecast is None else _forecast(result, forecast)},
        title=title or "Audit",
        checked=summary.checked,
        verdict=audit_verdict(result),
        labelling=summary.labelling,
        notices=result.notices,
        table=columns_table(summary),
        strata=_strata(result, edges),
        has_curve=curve is not None,
        curve_words=summary.curve_words,
        has_forecast=forecast is not None,
        more=more,
        provenance=_provenance(result, plan),
    )


def columns_table(summary: AuditSummary) -> dict[str, Any]:
    """The table of numbers as the template takes it."""
    return {
        "has_recovered": summary.has_recovered,
        "contradicted": summary.contradicted,
        "rows": [
            {
                "title": row.title,
                "one": number(row.assuming_nothing),
                "one_limits": limits(row.assuming_nothing),
                "recovered": number(row.recovered),
                "picture": _picture(replace(row, recovered=None) if summary.contradicted else row),
            }
            for row in summary.rows
        ],
    }


def _picture(row: AuditRow) -> dict[str, Any] | None:
    """Where bars and dots lie, in per cent of an axis around all of them."""
    one = row.assuming_nothing
    beside = math.nan if row.recovered is None else row.recovered.value
    numbers = [*([] if one is None else ends_of(one.value, one.interval)), beside]
    if all(map(math.isnan, numbers)):
        return None
    axis = Axis.around(numbers, finest=0.01)
    return {
        "one": None if one is None or one.interval is None else axis.picture(one.value, one.interval),
        "recovered": "" if math.isnan(beside) else axis.at(beside),
        "from": axis.ticks[0],
        "to": axis.ticks[1],
    }


def _strata(result: AuditResult, edges: tuple[float, ...] | None) -> dict[str, Any]:
    counts = result.counts
    shares = np.divide(
        estimated_positives(counts), counts.rows, out=np.full(counts.strata, np.nan), where=counts.rows > 0
    )
    widest = max(int(counts.rows.max(initial=1)), 1)
    rows = []
    for place in range(counts.strata):
        size, checked = int(counts.rows[place]), int(counts.checked[place])
        found, undecided = int(counts.found[place]), int(counts.undecided[place])
        low = stratum_limits(size, checked, found, confidence=result.confidence)[0] / max(size, 1)
        high = stratum_limits(size, checked, found + undecided, confidence=result.confidence)[1] / max(size, 1)
        share = float(shares[place])
        value = "not checked" if math.isnan(share) else f"{share:.3f}"
        rows.append(
            {
                "range": range_words(place, counts.strata, edges),
                "flagged": place < counts.flagged,
                "size": f"{size:,}",
                "wide": f"{100 * size / widest:.1f}",
                "checked": f"{checked:,}",
                "fraction": f"{checked / size:.1%}" if size else "",
                "found": f"{found:,}",
                "undecided": f"{undecided:,}" if undecided else "",
                "labelled": f"{int(counts.labelled[place]):,}",
                "low": WHOLE.at(low),
                "high": WHOLE.at(high),
                "at": "" if math.isnan(share) else WHOLE.at(share),
                "share_words": f"{value} ({low:.3f} to {high:.3f})",
            }
        )
    return {"name": "scores" if result.score_ranges else "cell", "rows": rows}


def labelling_curve_data(result: AuditResult, edges: tuple[float, ...] | None = None) -> dict[str, Any] | None:
    """The labelling curve with its band, as the script draws it; ``None`` where there is none."""
    if result.labelling is None or not result.score_ranges:
        return None
    curve, counts = result.labelling.curve, result.counts
    told = curve.to_dict()["strata"]
    if curve.relative:
        random = 1.0
    else:
        found = float(np.nansum(estimated_positives(counts)))
        labelled = float(counts.labelled.sum())
        random = labelled / (labelled + found) if labelled + found else 0.0
    return {
        "names": [range_words(place, counts.strata, edges) for place in range(counts.strata)],
        "value": [one["value"] for one in told],
        "low": [one["low"] for one in told],
        "high": [one["high"] for one in told],
        "random": random,
        "relative": curve.relative,
    }


def _forecast(result: AuditResult, forecast: AuditForecast) -> dict[str, Any]:
    """The widths of the first guess there is: after checking there is one."""
    widths = next(iter(forecast.widths.values()))
    names = [name for name in ("precision", "recall", "f1", "class_prior") if name in widths]
    spent = int(result.counts.checked.sum())
    ahead = [place for place, budget in enumerate(forecast.budgets) if budget > spent]
    return {
        "budgets": [spent, *(forecast.budgets[place] for place in ahead)],
        "widths": {
            name: [_width_now(result, name), *(plain(widths[name][place]) for place in ahead)] for name in names
        },
        "titles": {name: "Class prior" if name == "class_prior" else title_of(name) for name in names},
        "spent": spent,
    }


def _width_now(result: AuditResult, name: str) -> float | None:
    interval = result.estimates[name].interval
    return None if interval is None else plain(interval.width)


def _provenance(result: AuditResult, plan: AuditPlan | None) -> list[tuple[str, str]]:
    """What made these numbers, so that somebody else can make them again."""
    told = [("Scenario", str(result.counts.scenario))]
    if result.threshold is not None:
        choice = "" if plan is None else f" ({plan.threshold_choice}, fixed before rows were checked)"
        told.append(("Threshold", f"{result.threshold:.6g}{choice}"))
    kind = "at every moment (anytime)" if result.anytime else result.interval
    told.append(("Intervals", f"{result.confidence:.0%}, {kind}"))
    if plan is None:
        return told
    told += [("Rows planned", f"{plan.budget:,} in {len(plan.batches)} batch{'es' if len(plan.batches) > 1 else ''}")]
    told += [("Goal", plan.goal), ("Seed", str(plan.seed))]
    told += [("Table", plan.source)] if plan.source else []
    return [*told, ("Digest of the counts", plan.digest)]
