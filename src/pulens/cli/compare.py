"""pulens compare"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import SEVERAL, asked, files_read, offers, targets
from pulens.errors import PulensError

if TYPE_CHECKING:
    from pulens.comparison import Comparison


@click.command(name="compare")
@click.argument("file", shell_complete=complete_file)
@offers(
    "ROWS table where cluster* ASSUMPTIONS AUDIT REVIEWS WITHIN metrics* threshold* cost_ratio k* INTERVALS labelling* "
    "explain* html_path* json_path* quiet",
    score=SEVERAL
    | {"help": "Column of a model's scores, once for each model. Default for a joint tally: all of its scores."},
    metrics="Metric to compare by; the verdict is about the first.",
    threshold={
        "type": None,
        "multiple": True,
        "metavar": "NUMBER or MODEL=NUMBER",
        "help": "Predicted positive is score >= threshold; adds f1, accuracy, precision and recall.",
    },
    html_path="Write a self-contained page with the ranking of models.",
)
def command(file: str, **given: Any) -> None:
    """Say which of several models is better on the same rows, how sure that is, and where the class prior decides.

    FILE is a CSV, TSV, JSON Lines, Parquet, Arrow or Excel file, a folder or quoted glob of them, a joint .tally file,
    a database address with --table, or - for standard input.

    \b
    Examples:
      pulens compare scores.csv --score a --score b --class-prior 0.15
      pulens compare scores.csv --score a --score b --class-prior 0.1:0.2
      pulens compare scores.csv --score a --score b --class-prior 0.15 --top 200
      pulens compare scores.csv --score a --score b --class-prior 0.1:0.2 --threshold 0.5
      pulens compare scores.csv --score a --score b --class-prior 0.15 --cost-ratio 0.04
      pulens compare scores.csv --score a --score b --class-prior 0.15 --html models.html
      pulens compare scores.csv --score a --score b --class-prior 0.15 --json -
      pulens compare scores.csv --score a --score b --threshold 0.5 --reviews queue.csv
      pulens compare "lake/*.parquet" --score a --score b --where "day > '2024-01-01'"
    """
    from pulens.cli._output import deliver, working
    from pulens.cli._write import check_targets, to_json
    from pulens.comparison import compare
    from pulens.inputs.tallies import is_tally_file
    from pulens.report.comparison import comparison_text

    check_targets(targets(given), *files_read(file, given))
    if not given["score"] and not is_tally_file(file):
        raise PulensError("name each model's column of scores with --score: --score a --score b.")
    given["score"] = list(given["score"]) or None
    with working("Comparing the models", quiet=given["quiet"]):
        comparison = compare(file, **asked(compare, given, threshold=_thresholds(given["threshold"])))
    deliver(
        given,
        lambda: "\n".join([comparison_text(comparison, "command", explain=given["explain"]), *_next(comparison)]),
        html=comparison.to_html,
        json=lambda: to_json(comparison.to_dict()),
    )


def _next(comparison: Comparison) -> list[str]:
    """The check that would decide between the models, however labels were chosen."""
    from pulens.cli._typed import typed_command
    from pulens.report.lines import pasteable, wrapped
    from pulens.report.next_steps import another_command, rows_to_check

    rows = rows_to_check(comparison.totals.unlabelled)
    if not rows or comparison.reviewed is not None:
        return []
    typed = typed_command(click.get_current_context())
    kept = [words for words in typed if words[0] != "--threshold"]
    best = comparison.leader()
    at = next((result.threshold for name in comparison.estimates.values() if (result := name[best]).threshold), None)
    options = (() if at is None else ("--threshold", f"{at:g}")) + ("--budget", str(rows), "--out", "queue.csv")
    command = another_command(kept, ("audit", "plan"), options, score=best)
    after = "--threshold <number> --reviews queue.csv" if at is None else "--reviews queue.csv"
    return ["", *wrapped(f"next: check {rows} rows, then add {after} to this command:"), *pasteable(command)]


def _thresholds(given: tuple[str, ...]) -> Any:
    """One number for all models, or MODEL=NUMBER for each."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return _number(given[0])
    result = {}
    for text in given:
        model, equals, number = text.rpartition("=")
        if not equals:
            raise PulensError(f"--threshold must be one number, or MODEL=NUMBER for each model, got {text!r}.")
        result[model] = _number(number)
    return result


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise PulensError(f"--threshold must be a number or MODEL=NUMBER, got {text!r}.") from None
