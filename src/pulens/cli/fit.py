"""pulens fit"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import asked, offers, targets, written_options

if TYPE_CHECKING:
    from pulens.learning.fitting import JudgedModel

POSITIVE = "Label value of labelled positives; all other rows are unlabelled."
SCENARIO = "single-set: labelled rows were found within this table. case-control: they were collected separately."
AUDIT = "K positives were found among R randomly chosen unlabelled rows: sets the class prior."


@click.command(name="fit")
@click.argument("file", shell_complete=complete_file)
@offers(
    "label* positive* id* features drop* cluster* COLUMN_KINDS",
    positive=POSITIVE,
    id="Column that identifies rows: kept, not learned from.",
    cluster="Column of groups whose rows are alike (a patient, a customer): kept in one fold, not learned from.",
)
@written_options
@offers(
    "class_prior* audit* scenario learner* settings folds threshold INTERVALS labelling out* scores_path* column "
    "all_metrics explain* html_path* markdown_path json_path quiet",
    audit=AUDIT,
    scenario=SCENARIO,
    out={"metavar": "FOLDER", "help": "Where to write the model, trained on all rows."},
    scores_path={
        "flags": ("--scores",),
        "metavar": "PATH",
        "help": "Write all rows with out-of-fold scores, folds and predictions: .csv, .tsv, .jsonl, .parquet, .arrow.",
    },
    column="Name of the column of scores in --scores.",
)
def command(file: str, learner: str, out: str | None, scores_path: str | None, column: str, **given: Any) -> None:
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
    from pulens.cli._output import answer_texts, is_shown, page_title, working
    from pulens.cli._plainly import plainly_warned
    from pulens.cli._settings import read_settings
    from pulens.cli._write import all_or_none, as_files, check_targets
    from pulens.inputs.tables.writing import format_out
    from pulens.learning.fitting import fit

    facts = check_method(learner)
    written = {**targets(given), "--scores": scores_path}
    check_targets(written, file)
    check_beside_folder(written, out, [file])
    if out is not None:
        check_model_folder(out, facts)
    if scores_path is not None:
        format_out(scores_path)
        _check_new_columns(file, column, given)
    check_feature_names(given["label"], given["features"], given["drop"])
    model = facts.learner(**read_settings(facts.learner, {**NETWORK, **given, "class_prior": None}))
    said = asked(fit, given, method=model, **column_settings(given))
    with working("Reading rows", quiet=given["quiet"]) as tell, plainly_warned():
        result = fit(file, tell=tell, **said)
        dict(result.evaluation.estimates)
    typed = _typed_next(scores_path or UNWRITTEN, column, result.evaluation.threshold)
    texts = answer_texts(
        result.evaluation,
        {**given, "scores_are": "probability"},
        f"{type(model).__name__} on {page_title(file, {})}",
        more={"fit": result.describe()},
        typed=typed,
    )
    contents = as_files(texts)
    if scores_path is not None:
        contents[scores_path] = _scored_bytes(result, file, scores_path, column, given)
    with all_or_none(contents):
        if out is not None:
            result.save(out)
    if is_shown({**given, "scores_path": scores_path}):
        _show(result, typed, out, scores_path, given)


UNWRITTEN = "scored.csv"  # what next steps call the file of scores that nobody asked for
NETWORK = {"backbone": "mlp", "standardise": True, "device": "auto"}


def _show(result: JudgedModel, typed: Any, out: str | None, scores_path: str | None, given: dict[str, Any]) -> None:
    from pulens.cli._terminal import show_evaluation

    unwritten = f"First write the scored rows: add --scores {UNWRITTEN} to this command."
    more = [] if scores_path is None else [("wrote", scores_path)]
    if out is not None:
        more.append(("new rows", f"pulens score {_quoted(out)} <new.csv> --out scores.csv"))
    show_evaluation(
        result.evaluation,
        typed,
        model=result.in_short,
        first=unwritten if scores_path is None else "",
        more=more,
        all_metrics=given["all_metrics"],
        explain=given["explain"],
    )


def _quoted(word: str) -> str:
    from shlex import quote

    return quote(word)


def _typed_next(scored: str, column: str, threshold: float) -> tuple[tuple[str, ...], ...]:
    """What to type next begins with the scored table, not with the training; the threshold has the table's digits."""
    from pulens.cli._typed import typed_command

    kept = ("--label", "--positive", "--class-prior", "--audit", "--scenario", "--cluster")
    words = [word for word in typed_command(click.get_current_context())[3:] if word[0] in kept]
    named = [] if column == "score" else [("--score", column)]
    digits = f"{threshold:.9g}" if scored.endswith(("csv", "tsv")) else repr(threshold)
    return (("pulens",), ("evaluate",), (scored,), *words, *named, ("--threshold", digits))


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


def _scored_bytes(result: JudgedModel, file: str, path: str, column: str, given: dict[str, Any]) -> bytes:
    from pulens.inputs.tables.whole import read_table
    from pulens.inputs.tables.writing import format_out, table_bytes

    kind = format_out(path)
    table = read_table(file, given["delimiter"], given["format"])
    scores = [f"{score:.9g}" for score in result.scores] if kind in ("csv", "tsv") else result.scores.tolist()
    new = {
        column: scores,
        "fold": (result.fold + 1).tolist(),
        "predicted": (result.scores >= result.evaluation.threshold).astype(int).tolist(),
    }
    return table_bytes(kind, dict(zip(table.names, table.columns, strict=True)) | new)
