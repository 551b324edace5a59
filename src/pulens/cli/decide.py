"""pulens decide"""

from __future__ import annotations

import sys
from typing import Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import asked, offers, targets


@click.command(name="decide")
@click.argument("file", shell_complete=complete_file)
@offers(
    "ROWS ENGINE cluster WITHIN cost_miss* cost_alarm* cost_flag benefit_hit capacity* volume capacity_certainty "
    "recall_at_least* precision_at_least* choose ASSUMPTIONS AUDIT INTERVALS sql* labelling* explain* html_path* "
    "json_path quiet"
)
def command(file: str, **given: Any) -> None:
    """Choose a threshold by costs, capacity and demands on recall and precision.

    FILE is what pulens evaluate takes: a file of scores and labels, a folder or quoted glob, a .tally file, or a
    database with --table. Where the demands cannot all be met, the answer says which, and the exit code is 1.

    \b
    Examples:
      pulens decide scores.csv --cost-miss 500 --cost-alarm 20 --class-prior 0.15
      pulens decide scores.csv --cost-miss 500 --cost-alarm 20 --capacity 50 --volume 12000 --class-prior 0.1:0.2 \\
        --html monday.html
      pulens decide scores.csv --recall-at-least 0.8 --class-prior 0.15
      pulens decide visits.csv --cost-miss 500 --cost-alarm 20 --class-prior 0.15 --within clinic --cluster patient
      pulens decide scores.csv --cost-miss 500 --cost-alarm 20 --class-prior 0.15 --sql
    """
    from pulens.cli._output import deliver, page_title, working
    from pulens.cli._write import check_targets, to_json
    from pulens.evaluation.decide import decide
    from pulens.report.decision import decision_text
    from pulens.report.decision_page import decision_page

    check_targets(targets(given), file)
    with working("Deciding", quiet=given["quiet"]):
        decision = decide(file, **asked(decide, given))
    next_line = "\n\nnext: the same command with --sql gives the condition for a query (WHERE ...)"

    def text() -> str:
        if given["sql"]:
            return decision.where(given["score"])
        return decision_text(decision, "command", explain=given["explain"]) + next_line * (decision.flag == "rows")

    deliver(
        given,
        text,
        html=lambda: decision_page(decision, title=page_title(file, given), column=given["score"]),
        json=lambda: to_json(decision.to_dict()),
    )
    if decision.threshold is None:
        sys.exit(1)
