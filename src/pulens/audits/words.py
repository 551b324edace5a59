"""A plan in words: strata, rows to check, and how precise the answers will be."""

from __future__ import annotations

from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING

from pulens.audits.formulas import in_words

if TYPE_CHECKING:
    from pulens.audits.forecast import AuditForecast
    from pulens.audits.plan import AuditPlan


WIDTH = 80
GOALS = {"all": "precision, recall, F1 and the class prior"}


def plan_text(plan: AuditPlan) -> str:
    """What a person reads before checking rows."""
    strata = plan.strata
    head = (
        f"{plan.budget:,} of {int(strata.rows.sum()):,} unlabelled rows to check, at threshold {plan.threshold:.6g} "
        f"({plan.threshold_choice}); goal: {GOALS.get(plan.goal, in_words(plan.goal))}; seed {plan.seed}."
    )
    lines = [*_lines(head), "", *strata_lines(plan), "", *forecast_lines(plan.forecast, plan.budget)]
    for one in plan.notices:
        lines += ["", *_lines(f"{one.severity.name.lower()}: {one}")]
    return "\n".join(lines)


def _lines(words: str) -> list[str]:
    return wrap(words, WIDTH, break_on_hyphens=False, break_long_words=False)


def strata_lines(plan: AuditPlan) -> list[str]:
    """One line for each range of scores."""
    strata = plan.strata
    table = [("scores", "unlabelled", "labelled", "to check", "one in")]
    ends = [None, *strata.edges, None]
    for index, (upper, lower) in enumerate(pairwise(ends)):
        low = "" if lower is None else f"{lower:.6g} and more"
        range_ = low if upper is None else f"below {upper:.6g}" if lower is None else f"{lower:.6g} to {upper:.6g}"
        mark = " (flagged)" if index < strata.flagged else ""
        many = int(plan.allocation[index])
        share = f"{strata.rows[index] / many:,.0f}" if many else "-"
        cells = (f"{int(strata.rows[index]):,}", f"{int(strata.labelled[index]):,}", f"{many:,}", share)
        table.append(((range_ or "all") + mark, *cells))
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in table
    ]


def forecast_lines(forecast: AuditForecast, budget: int, metric: str = "f1") -> list[str]:
    """How well a metric will be known with the rows planned, and with fewer and more of them."""
    wanted = dict.fromkeys([budget, *(other for other in (50, 400) if other in forecast.budgets)])
    lines = []
    for rows in wanted:
        if rows not in forecast.budgets:
            continue
        low, high = (width / 2 for width in forecast.width(metric, rows))
        shown = _about(high) if _about(low) == _about(high) else f"{_about(low)} to {_about(high)}"
        lines.append(f"With {rows:,} rows: {in_words(metric)} known to ± {shown}.")
    return lines


def _about(number: float) -> str:
    """Two digits after the point, or three where two would be zeros.

    >>> _about(0.0931), _about(0.004)
    ('0.09', '0.004')
    """
    return f"{number:.2f}" if number >= 0.01 else f"{number:.3f}"
