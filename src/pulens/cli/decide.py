"""pulens decide"""

from __future__ import annotations

import sys
from typing import Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import (
    Number,
    Whole,
    assumption_options,
    audit_options,
    engine_arguments,
    engine_options,
    interval_options,
    reading_arguments,
    reading_options,
)


@click.command(name="decide")
@click.argument("file", shell_complete=complete_file)
@reading_options
@engine_options
@click.option("--cost-miss", type=Number(), help="What a missed positive costs.")
@click.option("--cost-alarm", type=Number(), help="What a false alarm costs; see --cost-flag for every alarm.")
@click.option("--cost-flag", type=Number(), help="What each flagged row costs, right or wrong.")
@click.option("--benefit-hit", type=Number(), help="What a hit brings.")
@click.option("--capacity", metavar="ROWS, SHARE or 5%", help="How many rows can be looked at.")
@click.option("--volume", type=Whole(), help="Rows that come in together, of which the capacity is a part.")
@click.option("--capacity-certainty", type=Number(), help="How sure a volume must be to have no more alarms than that.")
@click.option("--recall-at-least", type=Number(), help="Recall to keep, with the confidence.")
@click.option("--precision-at-least", type=Number(), help="Precision to keep, with the confidence.")
@click.option(
    "--choose",
    type=click.Choice(["cost", "regret"]),
    default="cost",
    show_default=True,
    help="regret: the smallest cost above the cheapest at the ends of the class prior's range.",
)
@assumption_options
@audit_options
@interval_options
@click.option("--sql", is_flag=True, help="Print the WHERE line that gives the rows to flag, and nothing else.")
@click.option("--json", "json_path", metavar="PATH", help="Write the result as JSON; - for standard output.")
@click.option("--quiet", "-q", is_flag=True, help="Show nothing but errors; for scripts that only want files.")
def command(file: str, sql: bool, json_path: str | None, quiet: bool, **given: Any) -> None:
    """Choose a threshold by costs, capacity and promises.

    FILE is what pulens evaluate takes: a file of scores and labels, a folder or quoted glob, a .tally file, or a
    database with --table. Where demands cannot be met together no threshold is invented: the answer names them, and the
    exit code is 1.

    \b
    Examples:
      pulens decide scores.csv --cost-miss 500 --cost-alarm 20 --class-prior 0.15
      pulens decide scores.csv --cost-miss 500 --cost-alarm 20 --capacity 50 --volume 12000 --class-prior 0.1:0.2
      pulens decide scores.csv --recall-at-least 0.8 --class-prior 0.15
      pulens decide scores.csv --cost-miss 500 --cost-alarm 20 --class-prior 0.15 --sql
    """
    from pulens.cli._output import working
    from pulens.cli._write import check_targets, to_json, write_texts
    from pulens.doors.decide import decide

    check_targets({"--json": json_path}, file)
    reading = {**reading_arguments(given), **engine_arguments(given)}
    asked = {name: value for name, value in given.items() if name not in reading}
    with working("Deciding", quiet=quiet):
        decision = decide(file, **asked, **reading)
    shown = not quiet and json_path != "-"
    # before anything is written: there is no such line where no threshold is left
    words = "" if not shown else decision.where(given["score"]) if sql else str(decision)
    if json_path is not None:
        write_texts({json_path: to_json(decision.to_dict())})
    if shown:
        click.echo(words)
    if decision.threshold is None:
        sys.exit(1)
