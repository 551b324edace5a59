"""pulens score"""

from __future__ import annotations

import click


@click.command(name="score")
@click.argument("model")
@click.argument("file")
@click.option(
    "--out", default="-", show_default=True, metavar="PATH", help="CSV file of scores; - for standard output."
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

    from pulens.cli._write import write_text
    from pulens.errors import InputError
    from pulens.inputs.columns import LabelCoding
    from pulens.inputs.features import read_features
    from pulens.learners import load

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
    with warnings.catch_warnings():  # columns were matched by name just above
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        scores = learner.predict_proba(table.values)[:, 1]
    if table.labels is None:
        lines = ["score", *(f"{score:.9g}" for score in scores)]
    else:
        lines = ["label,score", *(f"{code},{score:.9g}" for code, score in zip(table.labels, scores, strict=True))]
    write_text(out, "\n".join(lines))
