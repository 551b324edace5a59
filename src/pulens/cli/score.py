"""pulens score"""

from __future__ import annotations

from typing import Any

import click


@click.command(name="score")
@click.argument("model")
@click.argument("file")
@click.option(
    "--out",
    default="-",
    show_default=True,
    metavar="PATH",
    help="File of scores, in the format its ending tells: .csv, .tsv, .jsonl, .parquet, .arrow; - for the screen.",
)
@click.option("--label", default=None, help="Column of labels to copy beside the scores.")
@click.option("--positive", multiple=True, help="Label value that means labelled positive; others are unlabelled.")
@click.option("--format", type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow"]), help="File format.")
@click.option("--delimiter", help="Field separator of a CSV file, when it is not a comma.")
def command(
    model: str,
    file: str,
    out: str,
    label: str | None,
    positive: tuple[str, ...],
    format: str | None,
    delimiter: str | None,
) -> None:
    """Score the rows of a table with a learner that `pulens train` wrote to the folder MODEL.

    The score is the learner's probability of being positive: 0.5 is where it changes its mind. With --label the result
    can go straight to `pulens evaluate`.

    \b
    Examples:
      pulens score model new-claims.csv --out scores.csv
      pulens score model claims.csv --label status --positive confirmed --out scores.csv
    """
    import warnings

    from pulens.cli._write import check_targets, write_all
    from pulens.errors import InputError, OtherVersionWarning, listed
    from pulens.inputs.columns import LabelCoding
    from pulens.inputs.features import label_values, read_features
    from pulens.inputs.tables.writing import format_out, table_bytes
    from pulens.learners import load

    check_targets({"--out": out}, file, folders=(model,))
    kind = format_out(out)
    if positive and label is None:
        raise InputError(f"--positive {positive[0]!r} says what labels mean: name their column with --label.")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", OtherVersionWarning)
        learner = load(model)
    columns = getattr(learner, "columns_", None) or [str(name) for name in getattr(learner, "feature_names_in_", ())]
    if not columns:
        raise InputError(f"{model} was trained on an array without column names; score it from Python.")
    table = read_features(
        file,
        features=columns,
        label=label,
        coding=LabelCoding(positive or None),
        format=format,
        delimiter=delimiter,
    )
    if positive and table.labels is not None and not (table.labels == 1).any():
        held = listed(label_values(file, str(label), format=format, delimiter=delimiter))
        click.echo(
            f"pulens: no row of column {label!r} has the label value {listed(positive)}; the column holds {held}.",
            err=True,
        )
    scores = _scored(learner, table.values, model, file)
    for one in told:
        click.echo(f"pulens: {one.message}", err=True)
    written = [f"{score:.9g}" for score in scores] if kind in ("csv", "tsv") else scores.tolist()
    columns_out = {} if table.labels is None else {"label": table.labels.tolist()}
    write_all({out: table_bytes(kind, {**columns_out, "score": written})})


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
                f"{model} cannot score {file}: {type(error).__name__}: {said}. The model is damaged, or wants other "
                "rows: train it anew, or score it from Python."
            ) from error
    unknown = np.flatnonzero(~np.isfinite(scores))
    if unknown.size:
        raise InputError(
            f"{model} gives no number for {unknown.size:,} of {len(scores):,} rows, the first of them data row "
            f"{unknown[0] + 1:,}: the model is damaged, or a feature is too large. Train it anew, or repair the row."
        )
    return scores
