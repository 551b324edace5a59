"""pulens score"""

from __future__ import annotations

from typing import Any

import click

from pulens.cli._options import offers, written_options
from pulens.cli.fit import POSITIVE


@click.command(name="score")
@click.argument("model")
@click.argument("file")
@offers(
    "out* label* positive*",
    out={
        "default": "-",
        "show_default": True,
        "help": "File of scores (.csv, .tsv, .jsonl, .parquet, .arrow); - for standard output.",
    },
    label={"default": None, "help": "Column of labels to copy to the output."},
    positive=POSITIVE,
)
@click.option("--id", "ids", multiple=True, metavar="COLUMN", help="Column to copy to the output; once for each.")
@click.option("--all-columns", is_flag=True, help="Copy every column of FILE to the output.")
@offers(
    "column* threshold*",
    shown="ids all_columns",
    threshold="Also write a column predicted: 1 where the score is at least this, else 0.",
)
@written_options
def command(
    model: str,
    file: str,
    out: str,
    label: str | None,
    positive: tuple[str, ...],
    ids: tuple[str, ...],
    all_columns: bool,
    column: str,
    threshold: float | None,
    format: str | None,
    delimiter: Any,
) -> None:
    """Score the rows of a table with a learner that `pulens train` or `pulens fit` wrote to the folder MODEL.

    The score is the learner's probability of being positive: 0.5 is where it changes its mind. With --label the result
    can go straight to `pulens evaluate`. Columns must be of the kinds that they were in training; a category never
    seen there is told, and scored as one of the rare ones.

    \b
    Examples:
      pulens score model new-claims.csv --out scores.csv
      pulens score model claims.csv --label status --positive confirmed --out scores.csv
      pulens score model new-customers.csv --id customer_id --threshold 0.5 --out calls.csv
    """
    from pulens.cli._write import check_targets, write_all
    from pulens.errors import InputError
    from pulens.inputs.tables.writing import format_out, table_bytes

    check_targets({"--out": out}, file, folders=(model,))
    kind = format_out(out)
    if positive and label is None:
        raise InputError(f"--positive {positive[0]!r} says what labels mean: name their column with --label.")
    learner, told = _loaded(model)
    asked = {"label": label, "positive": positive, "format": format, "delimiter": delimiter}
    values, labels, more = _rows(learner, model, file, asked)
    copied = _copied(file, ids, all_columns, asked)
    names = [*([] if labels is None else ["label"]), column, *([] if threshold is None else ["predicted"])]
    _check_names(names, copied, column)
    scores = _scored(learner, values, model, file)
    for one in (*told, *more):
        click.echo(f"pulens: {one}", err=True)
    written = [f"{score:.9g}" for score in scores] if kind in ("csv", "tsv") else scores.tolist()
    columns_out = {**copied, **({} if labels is None else {"label": labels.tolist()}), column: written}
    if threshold is not None:
        columns_out["predicted"] = (scores >= threshold).astype(int).tolist()
    write_all({out: table_bytes(kind, columns_out)})
    if out != "-":
        click.echo(f"Scored {len(scores):,} rows: column {column} of {out}.")


def _loaded(model: str) -> tuple[Any, list[str]]:
    """The learner, and what is to be said about who wrote it."""
    import warnings

    from pulens.errors import OtherVersionWarning
    from pulens.learning.learners import load

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", OtherVersionWarning)
        learner = load(model)
    return learner, [str(one.message) for one in told]


def _rows(learner: Any, model: str, file: str, asked: dict[str, Any]) -> tuple[Any, Any, list[str]]:
    """What the learner scores, label codes if they were asked for, and what is to be said about either."""
    from pulens.errors import listed
    from pulens.inputs.features import label_values

    read = _typed_rows if hasattr(learner, "named_steps") else _number_rows
    values, labels, told = read(learner, model, file, asked)
    if asked["positive"] and labels is not None and not (labels == 1).any():
        held = listed(label_values(file, str(asked["label"]), format=asked["format"], delimiter=asked["delimiter"]))
        wanted = listed(asked["positive"])
        told = [*told, f"no row of column {asked['label']!r} has the label value {wanted}; the column holds {held}."]
    return values, labels, told


def _number_rows(learner: Any, model: str, file: str, asked: dict[str, Any]) -> tuple[Any, Any, list[str]]:
    from pulens.errors import InputError
    from pulens.inputs.columns import LabelCoding
    from pulens.inputs.features import read_features

    columns = getattr(learner, "columns_", None) or [str(name) for name in getattr(learner, "feature_names_in_", ())]
    if not columns:
        raise InputError(f"{model} was trained on an array without column names; score it from Python.")
    table = read_features(
        file,
        features=columns,
        label=asked["label"],
        coding=LabelCoding(asked["positive"] or None),
        format=asked["format"],
        delimiter=asked["delimiter"],
    )
    return table.values, table.labels, []


def _typed_rows(learner: Any, model: str, file: str, asked: dict[str, Any]) -> tuple[Any, Any, list[str]]:
    """Columns of the kinds that they were in training, read from a file as a whole."""
    from pulens.errors import InputError
    from pulens.inputs.columns import LabelCoding, file_row, find_column
    from pulens.inputs.tables.formats import format_of
    from pulens.inputs.tables.streams import explained_file
    from pulens.inputs.tables.whole import read_table
    from pulens.inputs.typed_columns import raw_columns
    from pulens.learning.learners.tables.drift import drift_notices

    if file == "-":
        raise InputError("features cannot be read from standard input; give a file.")
    table = read_table(file, asked["delimiter"], asked["format"])
    with explained_file(file, format_of(file, asked["format"])):
        for name in learner[0].kinds:
            if len(learner[0].kinds) == 1 or name in table.names:
                find_column(name, table.names, delimiter=table.delimiter)
        typed = learner[0].typed_as_trained(raw_columns(table), row_name=file_row)
        labels = None
        if asked["label"] is not None:
            coding = LabelCoding(asked["positive"] or None)
            labels = coding.encode(table.column(asked["label"]), row_name=file_row, is_whole=False)
    return typed, labels, [str(notice) for notice in drift_notices(learner[0], typed)]


def _copied(file: str, ids: tuple[str, ...], all_columns: bool, asked: dict[str, Any]) -> dict[str, Any]:
    """Columns that go along."""
    from pulens.inputs.tables.whole import read_table

    if not ids and not all_columns:
        return {}
    table = read_table(file, asked["delimiter"], asked["format"])
    return {name: table.kept(name) for name in (table.names if all_columns else dict.fromkeys(ids))}


def _check_names(names: list[str], copied: dict[str, Any], column: str) -> None:
    """Refuse two columns of one name."""
    from pulens.errors import InputError

    if not column.strip():
        raise InputError(f"--column must name the column of scores, got {column!r}, such as --column score.")
    for name in names:
        if name in copied or names.count(name) > 1:
            way_out = "name the new one with --column" if name == column else "leave it out, or rename it first"
            raise InputError(f"there would be two columns {name!r}: {way_out}.")


def _scored(learner: Any, values: Any, model: str, file: str) -> Any:
    """The learner's probability for each row, every one a number."""
    import warnings

    import numpy as np

    from pulens.errors import InputError, PulensError

    # an overflow in anybody's arithmetic is told below by the rows that have no number
    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # columns were matched before
        try:
            scores = learner.predict_proba(values)[:, 1]
        except PulensError:
            raise
        except Exception as error:  # whatever a classifier of somebody's own, or a damaged one, may raise
            said = " ".join(str(error).split())[:200]
            raise InputError(
                f"{model} cannot score {file}: {type(error).__name__}: {said}. The model is damaged, or expects other "
                "columns: train it again, or score it from Python."
            ) from error
    unknown = np.flatnonzero(~np.isfinite(scores))
    if unknown.size:
        raise InputError(
            f"{model} gives no number for {unknown.size:,} of {len(scores):,} rows, the first of them data row "
            f"{unknown[0] + 1:,}: the model is damaged, or a feature is too large. Train it again, or repair the row."
        )
    return scores
