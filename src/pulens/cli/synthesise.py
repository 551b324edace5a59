"""pulens synthesise"""

from __future__ import annotations

from typing import Any

import click

from pulens.cli._options import Number


@click.command(name="synthesise")
@click.argument("file")
@click.option("--target", required=True, help="Column of true classes.")
@click.option("--positive", multiple=True, required=True, help="Class that is positive; repeat it to join classes.")
@click.option("--out", "out_path", required=True, help="Where training rows with PU labels go (CSV, - for the screen).")
@click.option(
    "--truth", "truth_path", help="Where the truth goes: part, row of FILE, label and is_positive of each row."
)
@click.option("--validation", "validation_path", help="Where validation rows with PU labels go.")
@click.option("--test", "test_path", help="Where test rows go, without labels.")
@click.option("--json", "json_path", help="Where the facts go: class priors, counts, configuration.")
@click.option("--label", default="label", show_default=True, help="Name of the column of PU labels that is written.")
@click.option(
    "--scenario",
    type=click.Choice(["case-control", "single-set"]),
    default="case-control",
    show_default=True,
    help="case-control: labelled rows and a sample of the population. single-set: labels within one sample.",
)
@click.option("--label-frequency", type=Number(), help="Share of positives that get a label.  [default: 0.1]")
@click.option("--labelled", type=int, help="Number of labelled rows, instead.")
@click.option("--mechanism", default="S1", show_default=True, help="S1 to S4, scenario-1, scenario-2, or a full name.")
@click.option(
    "--feature", multiple=True, help="Column that a biased mechanism looks at.  [default: all but the target]"
)
@click.option("--label-noise", type=Number(), default=0.0, show_default=True, help="Share of labels on negatives.")
@click.option("--class-prior", type=Number(), help="Thin one class to reach this share of positives.")
@click.option(
    "--unlabelled",
    type=click.Choice(["disjoint", "whole-pool"]),
    default="disjoint",
    show_default=True,
    help="whole-pool: the published generator, which leaves labelled rows among the unlabelled ones.",
)
@click.option("--validation-share", type=Number(), default=0.0, show_default=True)
@click.option("--test-share", type=Number(), default=0.0, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--delimiter", help="Field separator of a CSV file, when it is not a comma.")
def command(
    file: str,
    target: str,
    positive: tuple[str, ...],
    out_path: str,
    truth_path: str | None,
    validation_path: str | None,
    test_path: str | None,
    json_path: str | None,
    label: str,
    feature: tuple[str, ...],
    delimiter: str | None,
    **options: Any,
) -> None:
    """Turn a table with true classes into PU data, and keep the truth in a file of its own.

    FILE is a CSV, TSV or Parquet file, or - for standard input. The column of true classes is left out of what is
    written for learners.

    \b
    Examples:
      pulens synthesise mail.csv --target class --positive spam --label-frequency 0.2 --out pu.csv --truth truth.csv
      pulens synthesise mail.csv --target class --positive spam --mechanism S2 --scenario single-set --out pu.csv
    """
    import numpy as np

    from pulens.cli._table import as_csv, read_table
    from pulens.cli._write import to_json, write_text
    from pulens.errors import InputError
    from pulens.labelling import find
    from pulens.synthesis import synthesise

    table = read_table(file, delimiter)
    classes = np.array(table.column(target))
    columns = [name for name in table.names if name != target]
    if label in columns:
        raise InputError(f"the table has a column {label!r} already: choose another name for the labels with --label.")
    if find(options["mechanism"]).reads == "nothing":
        X = np.zeros((classes.size, 1))
    else:
        X = table.numbers(feature or columns)
    made = synthesise(X, classes, positive=list(positive), **options)
    for path, share in ((validation_path, "--validation-share"), (test_path, "--test-share")):
        part = made.validation if share == "--validation-share" else made.test
        if path is not None and part is None:
            raise InputError(f"{path}: there are no such rows: set {share} above 0.")

    kept = [table.names.index(name) for name in columns]

    def written(rows: Any, labels: Any = None) -> str:
        body = ([table.rows[row][place] for place in kept] for row in rows)
        if labels is None:
            return as_csv(columns, body)
        return as_csv([*columns, label], ([*cells, int(one)] for cells, one in zip(body, labels, strict=True)))

    texts = {out_path: written(made.train.rows, made.train.labels)}
    if validation_path is not None and made.validation is not None:
        texts[validation_path] = written(made.validation.rows, made.validation.labels)
    if test_path is not None and made.test is not None:
        texts[test_path] = written(made.test.rows)
    if truth_path is not None:
        texts[truth_path] = as_csv(["part", "row", label, "is_positive"], _truth(made))
    if json_path is not None:
        texts[json_path] = to_json(made.to_dict())
    for path, text in texts.items():  # nothing is written before everything is made
        write_text(path, text)
    if "-" not in texts:
        click.echo(str(made))
        for notice in made.notices:
            click.echo(f"{notice}")


def _truth(made: Any) -> Any:
    """One line per row of each part; rows are counted from 1, as data rows of the file."""
    parts = (("train", made.train), ("validation", made.validation), ("test", made.test))
    for name, part in parts:
        if part is None:
            continue
        labels = getattr(part, "labels", None)
        for place, (row, truth) in enumerate(zip(part.rows, getattr(made.truth, name), strict=True)):
            yield name, int(row) + 1, "" if labels is None else int(labels[place]), int(truth)
