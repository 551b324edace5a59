"""pulens fit"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._columns import typed_column_options
from pulens.cli._complete import complete_file
from pulens.cli._options import Whole, offers, page_options, written_options

if TYPE_CHECKING:
    from pulens.learning.fitting import JudgedModel

POSITIVE = "Label value of labelled positives; all other rows are unlabelled."
SCENARIO = "single-set: labelled rows were found within this table. case-control: they were collected separately."
AUDIT = "K positives were found among R randomly chosen unlabelled rows: sets the class prior."


@click.command(name="fit")
@click.argument("file", shell_complete=complete_file)
@offers(
    *("label", "positive", "id", "features", "drop", "cluster"),
    positive=POSITIVE,
    id="Column that identifies rows: kept, not learned from.",
    cluster="Column of groups whose rows are alike (a patient, a customer): kept in one fold, not learned from.",
)
@typed_column_options
@written_options
@offers("class_prior", "audit", "scenario", "learner", "settings", audit=AUDIT, scenario=SCENARIO)
@click.option(
    "--folds",
    type=Whole(),
    default=5,
    show_default=True,
    help="Number of folds; each is scored by a model of the others.",
)
@offers("threshold", "confidence", "redraws", "seed", "labelling")
@offers(out={"metavar": "FOLDER", "help": "Where to write the model, trained on all rows."})
@click.option(
    "--scores",
    "scores_path",
    metavar="PATH",
    help="Write all rows with out-of-fold scores, folds and predictions: .csv, .tsv, .jsonl, .parquet, .arrow.",
)
@click.option("--column", default="score", show_default=True, help="Name of the column of scores in --scores.")
@page_options
def command(
    file: str,
    learner: str,
    out: str | None,
    scores_path: str | None,
    column: str,
    html_path: str | None,
    markdown_path: str | None,
    json_path: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Train on a table with labels in some rows, and show how good the model is on rows that it had not seen.

    Columns of numbers, truth values, dates (2026-12-31) and categories are taken as they are, with gaps; identifiers
    and free text are left out, and told. Every row is scored by a model of the other folds, those scores are judged as
    by `pulens evaluate`, and --out gets the model of all rows.

    \b
    Examples:
      pulens fit customers.csv --label status --positive confirmed --id customer_id --html report.html --out model
      pulens fit claims.parquet --class-prior 0.05:0.15 --scores scored.csv
      pulens fit visits.csv --cluster patient --audit 13/200 --out model
    """
    from pulens.cli._columns import (
        check_beside_folder,
        check_feature_names,
        check_method,
        check_model_folder,
        column_settings,
    )
    from pulens.cli._output import answer_texts, page_title, working
    from pulens.cli._plainly import plainly_warned
    from pulens.cli._settings import read_settings
    from pulens.cli._write import all_or_none, as_files, check_targets
    from pulens.inputs.tables.writing import format_out
    from pulens.learning.fitting import fit

    facts = check_method(learner)
    paths = {"html": html_path, "markdown": markdown_path, "json": json_path}
    targets = {f"--{form}": path for form, path in paths.items()} | {"--scores": scores_path}
    check_targets(targets, file)
    check_beside_folder(targets, out, [file])
    if out is not None:
        check_model_folder(out, facts)
    if scores_path is not None:
        format_out(scores_path)
        _check_new_columns(file, column, given)
    check_feature_names(given["label"], given["features"], given["drop"])
    typed = _typed_next(scores_path or UNWRITTEN, column, given)
    model = facts.learner(**read_settings(facts.learner, {**NETWORK, **given, "class_prior": None}))
    with working("Reading rows", quiet=quiet) as tell, plainly_warned():
        found = fit(
            file,
            label=given["label"],
            positive=list(given["positive"]) or None,
            id=given["id"],
            features=given["features"] or None,
            drop=given["drop"],
            cluster=given["cluster"],
            method=model,
            tell=tell,
            **column_settings(given),
            **{name: given[name] for name in PASSED},
        )
        dict(found.evaluation.estimates)
    texts = answer_texts(
        found.evaluation,
        paths,
        f"{type(model).__name__} on {page_title(file, {})}",
        quiet=quiet,
        scores_are="probability",
        more={"fit": found.describe()},
        typed=typed,
    )
    contents = as_files(texts)
    if scores_path is not None:
        contents[scores_path] = _scored_bytes(found, file, scores_path, column, given)
    with all_or_none(contents):
        if out is not None:
            found.save(out)
    if not quiet and "-" not in (json_path, markdown_path, scores_path):
        _show(found, typed, out, scores_path)


PASSED = (
    "class_prior", "audit", "scenario", "folds", "seed", "threshold", "confidence", "redraws", "labelling", "delimiter",
    "format",
)  # fmt: skip
UNWRITTEN = "scored.csv"  # what next steps call the file of scores that nobody asked for
NETWORK = {"backbone": "mlp", "standardise": True, "device": "auto"}


def _show(found: JudgedModel, typed: Any, out: str | None, scores_path: str | None) -> None:
    from rich.console import Console

    from pulens.cli._terminal import show_evaluation

    console = Console()
    console.print(f"{found.sentence}\n", highlight=False, markup=False)
    show_evaluation(found.evaluation, console, typed)
    unwritten = f"Next steps read scored rows: add --scores {UNWRITTEN} to write them."
    written = f"Scored rows written to {scores_path}." if scores_path else unwritten
    console.print(f"\n{written}", highlight=False, markup=False)
    if out is not None:
        console.print(f"\nThe model is in {out}; score new rows with:", highlight=False, markup=False)
        console.print(
            f"  pulens score {_quoted(out)} new.csv --out scores.csv", highlight=False, markup=False, soft_wrap=True
        )


def _quoted(word: str) -> str:
    from shlex import quote

    return quote(word)


def _typed_next(scored: str, column: str, given: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """What to type next begins with the scored table, not with the training."""
    from pulens.cli._typed import typed_command

    kept = ("--label", "--positive", "--class-prior", "--audit", "--scenario", "--cluster", "--threshold")
    words = [word for word in typed_command(click.get_current_context())[3:] if word[0] in kept]
    named = [] if column == "score" else [("--score", column)]
    return (("pulens",), ("evaluate",), (scored,), *words, *named)


def _check_new_columns(file: str, column: str, given: dict[str, Any]) -> None:
    """Refuse before the work a scored table whose new columns have names that are taken."""
    from pulens.errors import InputError
    from pulens.inputs.tables.chunks import column_names
    from pulens.inputs.tables.formats import format_of

    if not column.strip() or column in ("fold", "predicted"):
        raise InputError(f"--column must name the column of scores, got {column!r}, such as --column score.")
    if file == "-":
        return
    names = column_names(file, format_of(file, given["format"]), given["delimiter"])
    taken = [name for name in (column, "fold", "predicted") if name in names]
    if taken:
        way_out = "name the new one with --column" if taken[0] == column else "rename it first"
        raise InputError(f"the table has a column {taken[0]!r} already, which --scores would write: {way_out}.")


def _scored_bytes(found: JudgedModel, file: str, path: str, column: str, given: dict[str, Any]) -> bytes:
    from pulens.inputs.tables.whole import read_table
    from pulens.inputs.tables.writing import format_out, table_bytes

    kind = format_out(path)
    table = read_table(file, given["delimiter"], given["format"])
    scores = [f"{score:.9g}" for score in found.scores] if kind in ("csv", "tsv") else found.scores.tolist()
    new = {
        column: scores,
        "fold": (found.fold + 1).tolist(),
        "predicted": (found.scores >= found.evaluation.threshold).astype(int).tolist(),
    }
    return table_bytes(kind, dict(zip(table.names, table.columns, strict=True)) | new)
