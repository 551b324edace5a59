"""One function that reads whatever the user has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pulens.counts.sample import LABELLED, PUSample
from pulens.errors import InputError, shown
from pulens.inputs.arrays import sample_from_arrays
from pulens.inputs.files import sample_from_file
from pulens.inputs.frames import is_frame, sample_from_frame
from pulens.inputs.reading import ReadOptions
from pulens.inputs.tables.dialect import in_memory
from pulens.keywords import typed


@typed
def read_sample(
    source: Any,
    scores: Any = None,
    *,
    weights: Any = None,
    score: Any = "score",
    label: Any = "label",
    weight: Any = None,
    positive: Any = None,
    negative: Any = None,
    unlabelled: Any = None,
    format: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    allow_one_kind: bool = False,
) -> PUSample:
    """Read labels and scores from arrays, a table or a file, and check every value.

    Parameters
    ----------
    source
        Labels, when ``scores`` is given too; otherwise a table (pandas, Polars, PyArrow) or the path of a CSV,
        TSV, JSON Lines, Parquet, Arrow or Excel file (``"-"`` for standard input).
    scores, weights
        One number per row. Higher scores mean more positive. A row of weight 2 stands for two rows.
    score, label, weight
        Column names, for tables and files.
    positive, negative, unlabelled
        Label values that mean labelled positive, known negative and unlabelled, when labels are not 1, 0, -1
        (:class:`LabelCoding`). Labels of 1 and -1 alone need ``unlabelled=-1`` or ``negative=-1``.
    format, delimiter, decimal, thousands, encoding, sheet
        How a file was written, where its ending does not tell: ``"csv"`` and so on, what separates columns, a decimal
        ``","``, what stands between thousands (``"."``, ``","``, ``" "``), an encoding such as ``"windows-1252"``, the
        sheet of an Excel file.
    allow_one_kind
        Accept rows that are all of one kind: a part of a larger whole.

    >>> print(read_sample([1, 0, 0], [0.9, 0.7, 0.2]))
    PUSample(1 labelled, 2 unlabelled)
    """
    asked = ReadOptions.among(locals())
    check_weights_given(scores, weights, weight)
    coding, columns, written = asked.coding, asked.columns, asked.dialect
    if scores is not None:
        sample = sample_from_arrays(source, scores, weights, coding=coding, dialect=in_memory(written))
    elif isinstance(source, str | Path):
        sample = sample_from_file(source, asked)
    elif is_frame(source):
        sample = sample_from_frame(source, columns, coding=coding, dialect=in_memory(written))
    else:
        raise InputError(
            f"give labels and scores, a table or the path of a file, got only an object of type "
            f"{type(source).__name__}."
        )
    if not allow_one_kind:
        try:
            check_rows(sample)
        except InputError as error:
            if not len(sample) or (sample.labels == LABELLED).any():
                raise
            from pulens.inputs.label_values import explain_unmatched

            raise explain_unmatched(source, scores, asked, error) from None
    return sample


def check_weights_given(scores: Any, weights: Any, weight: str | None) -> None:
    """Refuse weights that would not be looked at: an array beside a table, a column's name beside arrays."""
    if scores is None and weights is not None:
        raise InputError(
            "weights= goes with labels and scores given as arrays. For a table, file or database, name the column of "
            "weights: weight='...' (--weight on the command line)."
        )
    if scores is not None and weight is not None:
        raise InputError(
            f"weight={shown(weight)} names a column of a table, file or database. Labels and scores given as arrays "
            "take weights=, one number per row."
        )


def check_rows(sample: PUSample) -> None:
    """Refuse samples that say nothing: no rows, no labelled positive, nothing to compare it with."""
    counted = sample.labels if sample.weights is None else sample.labels[sample.weights > 0]
    check_kinds(len(sample), int((counted == LABELLED).sum()), counted.size)


def check_kinds(rows: float, labelled: float, counted: float) -> None:
    """The one rule for rows and for tallies; rows of weight zero are there but not counted."""
    if rows == 0:
        raise InputError("there are no rows.")
    if labelled == 0:
        raise InputError(
            f"there is no labelled positive among {rows:,.10g} rows, so recall cannot be known. Check which label "
            "value means labelled positive (positive=..., or --positive on the command line)."
        )
    if labelled == counted:
        raise InputError(
            f"all {rows:,.10g} rows are labelled positive: there is no unlabelled row (nor a known negative) to "
            "compare them with. Check which label value means labelled positive (positive=..., --positive)."
        )
