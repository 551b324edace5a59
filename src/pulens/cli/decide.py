"""pulens decide"""

from __future__ import annotations

import sys
from typing import Any

import click

from pulens.cli._cells import cell_arguments, cell_options
from pulens.cli._complete import complete_file
from pulens.cli._options import (
    Number,
    Whole,
    assumption_options,
    audit_options,
    cluster_option,
    engine_arguments,
    engine_options,
    interval_options,
    offers,
    reading_arguments,
    reading_options,
)


class CostPerRow(Number):
    """A cost per row; a column of amounts is refused with the reason."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return float(value)
        except ValueError:
            from pulens.decisions.costs import ROW_BY_ROW

            self.fail(f"must be a number, got {value!r}. {ROW_BY_ROW}", param, ctx)


@click.command(name="decide")
@click.argument("file", shell_complete=complete_file)
@reading_options
@engine_options
@cluster_option
@cell_options
@click.option("--cost-miss", type=CostPerRow(), help="What a missed positive costs.")
@click.option("--cost-alarm", type=CostPerRow(), help="What a false alarm costs; see --cost-flag for every alarm.")
@click.option("--cost-flag", type=CostPerRow(), help="What each flagged row costs, right or wrong.")
@click.option("--benefit-hit", type=CostPerRow(), help="What a hit brings.")
@click.option("--capacity", metavar="ROWS, SHARE or 5%", help="How many rows can be checked.")
@click.option("--volume", type=Whole(), help="Rows that arrive together, such as per day; the capacity is for these.")
@click.option(
    "--capacity-certainty", type=Number(), help="Probability with which a volume must have no more alarms than that."
)
@click.option("--recall-at-least", type=Number(), help="Lowest recall allowed, at the confidence level.")
@click.option("--precision-at-least", type=Number(), help="Lowest precision allowed, at the confidence level.")
@click.option(
    "--choose",
    type=click.Choice(["cost", "regret"]),
    default="cost",
    show_default=True,
    help="cost: cheapest; regret: smallest loss if the class prior is at either end of its range.",
)
@assumption_options
@audit_options
@interval_options
@click.option("--sql", is_flag=True, help="Print the WHERE line that gives the rows to flag, and nothing else.")
@offers("explain", "html_path", "json_path", "quiet")
def command(
    file: str,
    sql: bool,
    explain: bool,
    html_path: str | None,
    json_path: str | None,
    quiet: bool,
    **given: Any,
) -> None:
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
    from pulens.cli._output import page_title, working
    from pulens.cli._write import check_targets, to_json, write_texts
    from pulens.doors.decide import decide
    from pulens.report.decision import decision_text
    from pulens.report.decision_page import decision_page

    check_targets({"--html": html_path, "--json": json_path}, file)
    reading = {**reading_arguments(given), **engine_arguments(given)}
    cells = cell_arguments(given, given["class_prior"])
    clusters = given.pop("cluster")
    asked = {name: value for name, value in given.items() if name not in reading} | cells
    asked |= {} if clusters is None else {"cluster": clusters}
    with working("Deciding", quiet=quiet):
        decision = decide(file, **asked, **reading)
    # an error before anything is written
    shown = decision.where(given["score"]) if sql else decision_text(decision, "command", explain=explain)
    texts = (
        {}
        if html_path is None
        else {html_path: decision_page(decision, title=page_title(file, given), column=given["score"])}
    )
    if json_path is not None:
        texts[json_path] = to_json(decision.to_dict())
    write_texts(texts)
    if not quiet and json_path != "-":
        click.echo(shown)
        if not sql and decision.flag == "rows":
            click.echo("\nnext: the same command with --sql gives the condition for a query (WHERE ...)")
    if decision.threshold is None:
        sys.exit(1)
