"""pulens synthesise"""

from __future__ import annotations

from typing import Any

import click

from pulens.cli._options import NUMBER, offers, written_options
from pulens.errors import InputError, listed

TRUTH = ("part", "row", "is_positive")


@click.command(name="synthesise")
@click.argument("file")
@click.option("--target", required=True, help="Column of true classes.")
@click.option("--positive", multiple=True, required=True, help="Class that is positive; repeat it to join classes.")
@click.option(
    "-o",
    "--out",
    "out_path",
    required=True,
    metavar="PATH",
    help="File for training rows with PU labels; - for standard output.",
)
@click.option(
    "--truth",
    "truth_path",
    metavar="PATH",
    help="File for the truth: part, row of FILE, label and is_positive of each row.",
)
@click.option("--validation", "validation_path", metavar="PATH", help="File for validation rows with PU labels.")
@click.option("--test", "test_path", metavar="PATH", help="File for test rows, without labels.")
@click.option("--json", "json_path", metavar="PATH", help="File for the facts: class priors, counts, configuration.")
@click.option("--label", default="label", show_default=True, help="Name of the column of PU labels that is written.")
@offers(
    "scenario*",
    shown="target positive out_path truth_path validation_path test_path class_prior label_frequency labelled "
    "mechanism seed",
    scenario="single-set: labels within one sample. case-control: labelled rows and a sample of the population.",
)
@click.option("--label-frequency", type=NUMBER, help="Share of positives that get a label.  [default: 0.1]")
@click.option("--labelled", type=int, help="Number of labelled rows, instead.")
@click.option("--mechanism", default="S1", show_default=True, help="S1 to S4, scenario-1, scenario-2, or a full name.")
@click.option(
    "--feature", multiple=True, help="Column that a biased mechanism looks at.  [default: all but the target]"
)
@click.option("--label-noise", type=NUMBER, default=0.0, show_default=True, help="Share of labels on negatives.")
@click.option("--class-prior", type=NUMBER, help="Thin one class to reach this share of positives.")
@click.option(
    "--unlabelled",
    type=click.Choice(["disjoint", "whole-pool"]),
    default="disjoint",
    show_default=True,
    help="whole-pool: the published generator, which leaves labelled rows among the unlabelled ones.",
)
@click.option("--validation-share", type=NUMBER, default=0.0, show_default=True, help="Share of rows for validation.")
@click.option("--test-share", type=NUMBER, default=0.0, show_default=True, help="Share of rows for testing.")
@click.option("--seed", default=0, show_default=True, help="Random seed.")
@written_options
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
    format: str | None,
    delimiter: Any,
    **options: Any,
) -> None:
    """Turn a table with true classes into PU data, and keep the truth in a file of its own.

    FILE is a CSV, TSV, JSON Lines, Parquet, Arrow or Excel file, or - for standard input. What is written has the
    format that its file's ending tells: .csv, .tsv, .jsonl, .parquet, .arrow. The column of true classes is left out
    of what is written for learners.

    \b
    Examples:
      pulens synthesise mail.csv --target class --positive spam --label-frequency 0.2 --out pu.csv --truth truth.csv
      pulens synthesise mail.csv --target class --positive spam --mechanism S2 --scenario single-set --out pu.csv
    """
    import numpy as np

    from pulens.cli._write import check_targets, to_json, write_all
    from pulens.inputs.tables.whole import read_table
    from pulens.inputs.tables.writing import format_out, table_bytes
    from pulens.learning.labelling import find
    from pulens.learning.synthesis import synthesise

    tables = {"--out": out_path, "--validation": validation_path, "--test": test_path, "--truth": truth_path}
    check_targets({**tables, "--json": json_path}, file)
    kinds = {path: format_out(path) for path in tables.values() if path is not None}

    table = read_table(file, delimiter, format)
    classes = np.array(table.classes(target))
    columns = [name for name in table.names if name != target]
    _check_names(label, target, columns, feature, truth_path)
    for name in feature:
        table.column(name)  # a name that is wrong is told even where no mechanism looks at features
    if find(options["mechanism"]).reads == "nothing":
        X = np.zeros((classes.size, 1))
    else:
        X = table.numbers(feature or columns)
    made = synthesise(X, classes, positive=list(positive), **options)

    rows = _rows_of_files(table, columns, label, made, tables)
    contents = {path: table_bytes(kinds[path], columns) for path, columns in rows.items()}
    if json_path is not None:
        contents[json_path] = f"{to_json(made.to_dict())}\n".encode()
    write_all(contents)
    if "-" not in contents:
        from pulens.report.lines import wrapped

        train = made.train
        words = f"Wrote {train.n_labelled:,} labelled and {train.n_unlabelled:,} unlabelled rows to {out_path}"
        priors = f"class prior {train.class_prior:.3f}, {train.unlabelled_prior:.3f} among the unlabelled rows"
        click.echo("\n".join(wrapped(f"{words} ({train.scenario}; {priors}).")))
        for notice in made.notices:
            click.echo("\n".join(wrapped(f"{notice}")))


def _check_names(
    label: str, target: str, columns: list[str], features: tuple[str, ...], truth_path: str | None
) -> None:
    """Refuse names under which two columns would stand, and the class as something that labels may follow."""
    if not label.strip():
        raise InputError(f"--label must be the name of a column to write, got {label!r}.")
    if label in columns:
        raise InputError(f"the table has a column {label!r} already: choose another name for the labels with --label.")
    if truth_path is not None and label in TRUTH:
        raise InputError(
            f"--label {label!r} is a column of the truth already, which has {listed(TRUTH)}: choose another name."
        )
    if target in features:
        raise InputError(f"--feature {target!r} is the column of true classes (--target): name columns of features.")


def _rows_of_files(
    table: Any, columns: list[str], label: str, made: Any, paths: dict[str, str | None]
) -> dict[str, dict[str, Any]]:
    """The columns of every file that was asked for, by its path."""
    rows = {str(paths["--out"]): _labelled(table, columns, label, made.train)}
    validation, test, truth = paths["--validation"], paths["--test"], paths["--truth"]
    if validation is not None:
        drawn = _drawn(validation, "--validation-share", made.validation)
        rows[validation] = _labelled(table, columns, label, drawn)
    if test is not None:
        rows[test] = table.taken(columns, _drawn(test, "--test-share", made.test).rows)
    if truth is not None:
        rows[truth] = _truth(made, label)
    return rows


def _drawn(path: str, option: str, part: Any) -> Any:
    if part is None:
        raise InputError(f"{path}: there are no such rows: set {option} above 0.")
    return part


def _labelled(table: Any, columns: list[str], label: str, part: Any) -> dict[str, Any]:
    return {**table.taken(columns, part.rows), label: part.labels.tolist()}


def _truth(made: Any, label: str) -> dict[str, list[Any]]:
    """One row per row of each part; rows are counted from 1, as data rows of the file."""
    result: dict[str, list[Any]] = {"part": [], "row": [], label: [], "is_positive": []}
    for name in ("train", "validation", "test"):
        part = getattr(made, name)
        if part is None:
            continue
        labels = getattr(part, "labels", None)
        result["part"] += [name] * len(part.rows)
        result["row"] += (part.rows + 1).tolist()
        result[label] += [None] * len(part.rows) if labels is None else labels.tolist()
        result["is_positive"] += getattr(made.truth, name).astype(int).tolist()
    return result
