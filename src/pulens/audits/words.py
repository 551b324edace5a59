"""A plan in words: strata, rows to check, and what they will be worth."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pulens.audits.formulas import in_words

if TYPE_CHECKING:
    from pulens.audits.forecast import AuditForecast
    from pulens.audits.plan import AuditPlan


def plan_text(plan: AuditPlan) -> str:
    """What a person reads before checking rows."""
    strata = plan.strata
    head = (
        f"{plan.budget:,} of {int(strata.rows.sum()):,} unlabelled rows to check, threshold {plan.threshold:.6g} "
        f"({plan.threshold_choice}), goal {plan.goal}, {plan.scenario}, seed {plan.seed}"
    )
    lines = [head, "", *strata_lines(plan), "", *forecast_lines(plan.forecast, plan.budget)]
    return "\n".join([*lines, *(f"{one.severity.name}: {one}" for one in plan.notices)])


def strata_lines(plan: AuditPlan) -> list[str]:
    """One line for each range of scores."""
    strata = plan.strata
    table = [("scores", "unlabelled", "labelled", "to check", "one in")]
    ends = [None, *strata.edges, None]
    for place, (upper, lower) in enumerate(pairwise(ends)):
        low = "" if lower is None else f"{lower:.6g} and more"
        range_ = low if upper is None else f"below {upper:.6g}" if lower is None else f"{lower:.6g} to {upper:.6g}"
        mark = " (flagged)" if place < strata.flagged else ""
        many = int(plan.allocation[place])
        share = f"{strata.rows[place] / many:,.1f}" if many else "-"
        cells = (f"{int(strata.rows[place]):,}", f"{int(strata.labelled[place]):,}", f"{many:,}", share)
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
        shown = _about(low) if _about(low) == _about(high) else f"{_about(low)} to {_about(high)}"
        sharper = ""
        if metric in forecast.if_random:
            half = forecast.if_random[metric][forecast.budgets.index(rows)] / 2
            sharper = f", to about {_about(half)} if labels are random"
        name = in_words(metric)
        lines.append(f"With {rows:,} rows: {name} known to about {shown} either way whatever the labelling{sharper}.")
    return lines


def _about(number: float) -> str:
    """Two digits after the point, without the zero before it, as such numbers are read.

    >>> _about(0.0931), _about(0.004)
    ('.09', '.004')
    """
    return (f"{number:.2f}" if number >= 0.01 else f"{number:.3f}").removeprefix("0")
