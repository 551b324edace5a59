"""What stands below an audit's table when asked for: two judges, and judges who err."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pulens.report.audit_summary import SHOWN, limits, number

if TYPE_CHECKING:
    from pulens.audits.judges import Agreement
    from pulens.estimate import Estimate
    from pulens.evaluation.audit import QueueResult

WIDTH = 80


def judges_text(result: QueueResult) -> list[str]:
    """One block of text for each thing that was asked for."""
    blocks = []
    if result.agreement is not None:
        blocks.append("\n".join(textwrap.wrap(f"{result.agreement}{_way_out(result.agreement)}", WIDTH)))
    if result.reviewer_errors is not None:
        blocks.append(_table(f"Assuming nothing about labelling, if {result.reviewer_errors}:", result.judged))
    return blocks


def _way_out(agreement: Agreement) -> str:
    """The option that allows for the most false positives that the answers leave possible."""
    most = math.ceil(1000 * agreement.false_positive_rate[1] - 1e-9) / 1000
    if most >= 0.5:
        return " That leaves no limit for such errors: have more rows judged by both."
    return f" To allow for it: --reviewer-errors 0:{most:.3f},0"


def _table(head: str, result: Mapping[str, Estimate]) -> str:
    lines = textwrap.wrap(head, WIDTH)
    for name in SHOWN:
        if name in result:
            lines.append(f"  {name:<22}{number(result[name]):>9}{limits(result[name]):>24}")
    reasons = dict.fromkeys(one.undefined_because for one in result.values() if one.undefined_because)
    for reason in reasons:
        lines += textwrap.wrap(f"undefined: {reason}", WIDTH, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(lines)
