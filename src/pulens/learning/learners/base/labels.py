"""PU labels as a learner takes them: 1 for labelled positives, 0 for unlabelled rows, and no known negatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from pulens.counts.sample import NEGATIVE
from pulens.errors import InputError, listed
from pulens.inputs.arrays import plain_values
from pulens.inputs.columns import LabelCoding


def label_codes(y: Any, rows: int, *, positive: Any, who: str, negatives: bool = False) -> NDArray[np.int8]:
    """One code per row, 1 or 0; where ``negatives`` are asked for (true classes), -1 too.

    >>> label_codes([1, None, 0], 3, positive=None, who="NNPU")
    array([1, 0, 0], dtype=int8)
    """
    if y is None:
        raise InputError(f"{who} requires y to be passed, but the target y is None.")
    try:
        values = column_or_1d(plain_values(y), warn=True)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from error
    if len(values) != rows:
        raise InputError(f"there are {rows:,} rows but {len(values):,} labels.")
    if values.dtype.kind == "f" and (values != np.round(values)).any() and not np.isnan(values).any():
        raise InputError(
            f"Unknown label type: continuous. Labels must say who is labelled, got numbers such as {values[0]!r}."
        )
    try:
        codes = LabelCoding(positive).encode(values, is_whole=False)
    except InputError as error:
        if len(np.unique(values.astype(str))) <= 2:
            raise
        raise InputError(
            f"Only binary classification is supported. The type of the target is multiclass: {error}"
        ) from error
    if not negatives:
        refuse_known_negatives(codes, who)
    return codes


def refuse_known_negatives(codes: NDArray[Any], learner: str) -> None:
    """Refuse them, whatever they mean: here -1 is a known negative, in most other PU libraries an unlabelled row."""
    result = int(np.count_nonzero(codes == NEGATIVE))
    if result:
        raise InputError(
            f"{learner} learns from positive and unlabelled rows only, got {result:,} labels of -1, which mean known "
            "negative here. If they mean unlabelled, as in most PU libraries, mark them 0 or say positive=1 "
            "(--positive 1 on the command line): everything else is then unlabelled. If they are known negatives, "
            "leave these rows out."
        )


def check_both_kinds(
    codes: NDArray[np.int8],
    positive: Sequence[Any] | None,
    label: str | None,
    held: Callable[[], Iterable[Any]],
    file: str | None = None,
) -> int:
    """The labelled rows, or an error that says what the column of labels holds where there are none, or only such."""
    labelled = int((codes == 1).sum())
    if 0 < labelled < codes.size:
        return labelled
    wrong = f"has the label value {listed(positive)}" if positive else "is labelled positive (1)"
    if labelled:
        wrong = "is unlabelled" if positive else "is unlabelled (0 or empty)"
    values = dict.fromkeys("" if value is None else str(value) for value in held())
    raise InputError(
        f"{'' if file is None else f'{file}: '}no row of column {label!r} {wrong}, and learning needs labelled and "
        f"unlabelled rows. The column holds {listed(values)}: say with --positive which value means "
        "labelled positive, or with --label which column has the labels (positive=, label= in Python)."
    )
