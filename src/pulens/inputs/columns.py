"""What columns mean: which label value is which kind of row, and which numbers may be scores and weights."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.containers import plain_array
from pulens.counts.exactness import LARGEST_WHOLE, first_too_long, too_long
from pulens.counts.kernels import extremes
from pulens.counts.sample import LABELLED, NEGATIVE, UNLABELLED
from pulens.counts.tally import MOST_ROWS
from pulens.errors import InputError, listed, nearest, shown
from pulens.inputs.tables.dialect import way_out_of
from pulens.keywords import check_column, names_of
from pulens.scalars import is_among, is_missing, plain_scalar

LARGEST_WEIGHT = 1e12
SMALLEST_WEIGHT = 1e-9
NULL = "(null)"  # how a missing value reads among the texts of crossed columns
CROSSED = " / "  # between them

RowName = Callable[[int], str]

TEXT_OF = "pulens_text_"  # begins the names of columns that an engine adds for itself


def array_row(index: int) -> str:
    return f"row {index} (counting from 0)"


def file_row(index: int) -> str:
    return f"data row {index + 1}"


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns to read."""

    score: str = "score"
    label: str = "label"
    weight: str | None = None

    def __post_init__(self) -> None:
        for role in self.roles:
            check_column(role, getattr(self, role))

    @property
    def roles(self) -> tuple[str, ...]:
        """The arguments that set the names."""
        return ("label", "score") if self.weight is None else ("label", "score", "weight")

    @property
    def names(self) -> tuple[str, ...]:
        return (self.label, self.score) if self.weight is None else (self.label, self.score, self.weight)


def _as_tuple(values: Any) -> tuple[Any, ...]:
    values = plain_scalar(values)
    if values is None:
        return ()
    if isinstance(values, str | bytes) or not isinstance(values, Collection):
        return (values,)
    return tuple(plain_scalar(value) for value in values)


DECLARE_NEGATIVES = (
    "Say negative=-1 or unlabelled=-1 (--negative -1 or --unlabelled -1 on the command line): the results differ "
    "widely."
)


class LabelCoding:
    """Which label values mean labelled positive, known negative and unlabelled.

    Without a declaration labels are 1, 0 and -1 (or booleans), null counts as unlabelled, and anything else is
    an error that lists what was found. With ``positive=`` declared everything else, null too, is unlabelled,
    unless ``negative=`` or ``unlabelled=`` say more. With ``unlabelled=`` declared every value must be: one that is
    declared nothing is an error. ``negative=`` and ``unlabelled=`` may stand alone: 1 is then the labelled
    positive. Numbers and their text (``1`` and ``"1"``) are the same.

    Rows of 1 and -1 with no 0 and no null among them are refused until the caller says what -1 means: here it is a
    known negative, in most other PU libraries an unlabelled row.

    >>> LabelCoding(positive="fraud").encode(["fraud", None, "ok"])
    array([1, 0, 0], dtype=int8)
    >>> LabelCoding(unlabelled=-1).encode([1, -1, -1])
    array([1, 0, 0], dtype=int8)
    """

    def __init__(self, positive: Any = None, negative: Any = None, unlabelled: Any = None) -> None:
        self.positive = _as_tuple(positive)
        given = {LABELLED: self.positive, UNLABELLED: _as_tuple(unlabelled), NEGATIVE: _as_tuple(negative)}
        self._is_declared = any(given.values())
        self._is_closed = not given[LABELLED] or bool(given[UNLABELLED])
        self._negative_is_said = bool(given[NEGATIVE])
        self._codes: dict[Any, int] = {}
        for code, values in given.items():
            for value in values:
                if not is_hashable(value):
                    raise InputError(f"a label value must be text or a number, got {shown(value)}.")
                if self._codes.setdefault(_key(value), code) != code:
                    raise InputError(f"the label value {shown(value)} was declared to mean two different things.")
        if given[LABELLED]:
            return
        usual: dict[int, tuple[Any, ...]] = {LABELLED: (1, "true")}
        if not given[UNLABELLED]:  # whoever says what is unlabelled has said it all
            usual |= {UNLABELLED: (0, "false")} | ({} if given[NEGATIVE] else {NEGATIVE: (-1,)})
        for code, values in usual.items():
            for value in values:  # what was declared comes first
                self._codes.setdefault(_key(value), code)
        if self._codes[_key(1)] != LABELLED:
            raise InputError(
                "the label value 1 was declared to mean something else than labelled positive: say which value does "
                "(positive=..., or --positive on the command line)."
            )

    def encode(
        self, values: Any, *, row_name: RowName = array_row, first_row: int = 0, is_whole: bool = True
    ) -> NDArray[np.int8]:
        """Label codes of raw values of any type.

        ``is_whole=False`` says that these are not all rows: the caller owes :meth:`check_whole` the codes of all.
        """
        codes = self._encode(values, row_name, first_row)
        if is_whole:
            self.check_whole(codes)
        return codes

    def check_whole(self, codes: NDArray[np.int8], way_out: str = DECLARE_NEGATIVES) -> None:
        """Refuse -1 beside no unlabelled row, unless the caller said what it means."""
        if self._negative_is_said or not (codes == NEGATIVE).any() or (codes == UNLABELLED).any():
            return
        raise InputError(
            "the labels hold -1 and neither 0 nor null: is -1 a known negative, as it is here beside 0, or an "
            f"unlabelled row, as in most PU libraries? {way_out}"
        )

    def _encode(self, values: Any, row_name: RowName, first_row: int) -> NDArray[np.int8]:
        array = one_per_row(values)
        if array.ndim != 1 and (not hasattr(values, "__len__") or np.ndim(values) == 0):
            raise InputError(f"labels must be an array or a list with one value per row, got {shown(values)}.")
        if array.ndim != 1:  # such as lists of one length
            try:
                array = np.fromiter(values, object, len(values))
            except ValueError:  # such as a table, which gives its columns
                raise InputError(f"labels must hold one value per row, got {type(values).__name__}.") from None
        if array.dtype.kind == "V":
            raise InputError("labels are an array with fields: take one of them, labels['name'].")
        if array.dtype.kind == "b" and not self._is_declared:
            return array.astype(np.int8)
        if array.dtype.kind in "iu" and not self._is_declared:
            allowed = (array == LABELLED) | (array == UNLABELLED)
            if array.dtype.kind == "i":
                allowed |= array == NEGATIVE
            if allowed.all():
                return array.astype(np.int8)
        if array.dtype.kind not in "OUS":
            return self._encode_numbers(array, row_name, first_row)
        return self._encode_objects(array.tolist(), row_name, first_row)

    def _encode_numbers(self, array: NDArray[Any], row_name: RowName, first_row: int) -> NDArray[np.int8]:
        distinct, place = np.unique(array, return_inverse=True)
        codes = [self._code_of(value) for value in distinct.tolist()]
        self._refuse_undeclared(
            [value for value, code in zip(distinct.tolist(), codes, strict=True) if code is None],
            lambda value: int(np.flatnonzero(array == value)[0]),
            row_name,
            first_row,
        )
        return np.array(codes, np.int8)[place]

    def _encode_objects(self, values: list[Any], row_name: RowName, first_row: int) -> NDArray[np.int8]:
        known: dict[Any, int | None] = {}
        try:
            distinct = dict.fromkeys(values)
        except TypeError:  # an object or a list, which nothing could be equal to
            row, value = next((row, value) for row, value in enumerate(values) if not is_hashable(value))
            raise InputError(
                f"label values must be text or numbers, got {shown(value)} in {row_name(first_row + row)}. Take one "
                "field out of it first, or name another column."
            ) from None
        for value in distinct:
            known[value] = self._code_of(value)
        self._refuse_undeclared(
            [value for value, code in known.items() if code is None],
            lambda value: next(row for row, one in enumerate(values) if one is value or is_among(one, (value,))),
            row_name,
            first_row,
        )
        return np.fromiter((known[value] for value in values), np.int8, len(values))

    def _code_of(self, value: Any) -> int | None:
        """The code of one raw value; ``None`` when the caller never said what it means."""
        if is_null(value):
            return UNLABELLED
        return self._codes.get(_key(value), None if self._is_closed else UNLABELLED)

    def _refuse_undeclared(
        self, undeclared: list[Any], find: Callable[[Any], int], row_name: RowName, first_row: int
    ) -> None:
        if not undeclared:
            return
        row = row_name(first_row + find(undeclared[0]))
        said = "declared neither positive nor negative nor unlabelled"
        meaning = "labels must be 1 (labelled positive), 0 or null (unlabelled) or -1 (known negative)"
        way_out = (
            "Say which value means labelled positive (positive=..., or --positive on the command line); everything "
            "else then counts as unlabelled."
        )
        if self._is_declared:
            meaning = f"these values were {said}" if len(undeclared) > 1 else f"this value was {said}"
            way_out = (
                "Declare every value (positive=..., negative=..., unlabelled=..., each a value or a list; --positive, "
                "--negative, --unlabelled on the command line), or positive= alone: everything else then counts as "
                "unlabelled."
            )
        raise InputError(
            f"undeclared label value{'s' if len(undeclared) > 1 else ''} {listed(undeclared)}, first in {row}: "
            f"{meaning}. {way_out}"
        )


def is_hashable(value: Any) -> bool:
    """Whether a value can be one of several: a list in a cell cannot."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def one_per_row(values: Any) -> NDArray[Any]:
    """Values as an array; a list with text or objects stays a list of objects.

    An array of text would give every row the room of the longest one: gigabytes for a single long cell.

    >>> one_per_row(["a", 2]), one_per_row([1, 2])
    (array(['a', 2], dtype=object), array([1, 2]))
    """
    if isinstance(values, list):
        kinds = set(map(type, values))
        if any(hasattr(kind, "shape") for kind in kinds):  # arrays and tensors that hold one value each
            values = [plain_scalar(value) for value in values]
            kinds = set(map(type, values))
        if kinds & {str, bytes, dict, type(None)}:
            return np.fromiter(values, object, len(values))
    if hasattr(values, "detach"):
        return plain_array(values)
    try:
        return np.asarray(values)
    except (ValueError, TypeError, RuntimeError):  # lists of several lengths, or of tensors of several numbers
        return np.fromiter(values, object, len(values))


def is_null(value: Any) -> bool:
    """None, an empty text, nan and the nulls of frame libraries."""
    return (isinstance(value, str) and value == "") or is_missing(value)


def _key(value: Any) -> Any:
    """Numbers and their text are the same label value; so are the spellings of true and false."""
    if isinstance(value, bool | np.bool_):
        return float(value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        text = value.strip()
        try:
            number = float(text)
        except ValueError:
            return text.lower() if text.lower() in ("true", "false") else text
        return number if math.isfinite(number) else text
    return value


def check_scores(
    values: Any, name: str = "scores", *, row_name: RowName = array_row, first_row: int = 0, keep_apart: bool = True
) -> NDArray[np.floating[Any]]:
    """Finite floating point numbers, one per row; float32 stays float32.

    With ``keep_apart`` whole and decimal numbers beyond 2^53 are refused, which a double cannot tell apart.

    >>> check_scores([1, 0.5])
    array([1. , 0.5])
    """
    array = one_per_row(values)
    scores = _to_floats(array, name, row_name, first_row)
    low, high = extremes(scores) if scores.size else (0.0, 0.0)
    if keep_apart and max(-float(low), float(high)) >= LARGEST_WHOLE:
        # numbers of several types in one list became floats on the way
        place = first_too_long(np.array(values, object) if isinstance(values, list) else array)
        if place is not None:
            raise InputError(too_long(name, values[place], f" in {row_name(first_row + place)}"))
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = np.flatnonzero(~np.isfinite(scores))
        raise InputError(
            f"{name} must be finite numbers, got {float(scores[bad[0]])!r} in {row_name(first_row + int(bad[0]))} "
            f"({bad.size:,} such row{'s' if bad.size > 1 else ''}). Drop or repair these rows "
            "first."
        )
    return scores


def check_weights(
    values: Any, name: str = "weights", *, row_name: RowName = array_row, first_row: int = 0
) -> NDArray[np.float64]:
    """Finite numbers of at least zero, one per row."""
    numbers = check_scores(values, name, row_name=row_name, first_row=first_row, keep_apart=False)
    weights = numbers.astype(np.float64, copy=False)
    if weights.size and weights.min() < 0:
        bad = np.flatnonzero(weights < 0)
        raise InputError(
            f"{name} must be at least 0, got {float(weights[bad[0]])!r} in {row_name(first_row + int(bad[0]))} "
            f"({bad.size:,} such row{'s' if bad.size > 1 else ''}). A weight is the number of rows that a row "
            "counts for."
        )
    largest = float(weights.max(initial=0.0))
    if largest > LARGEST_WEIGHT or 0 < largest < SMALLEST_WEIGHT:
        place = row_name(first_row + int(weights.argmax()))
        raise _weights_out_of_range(name, f"the largest is {largest!r} in {place}")
    return weights


def check_total_weights(totals: Iterable[float], name: str = "weights") -> None:
    """The same of sums that an engine added up without showing its rows."""
    for total in totals:
        if not total <= MOST_ROWS or 0 < total < SMALLEST_WEIGHT:
            raise _weights_out_of_range(name, f"those of one kind of row add up to {float(total)!r}")


def _weights_out_of_range(name: str, seen: str) -> InputError:
    return InputError(
        f"{name} must lie between {SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}: {seen}. A weight is the number of rows "
        "that a row counts for, and intervals narrow as it grows: divide weights by their mean, or leave "
        "them out."
    )


def _to_floats(array: NDArray[Any], name: str, row_name: RowName, first_row: int) -> NDArray[np.floating[Any]]:
    if array.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, one number per row, got an array of shape {array.shape}. "
            "Of a two-column predict_proba take the column of the positive class: probabilities[:, 1]."
        )
    if array.dtype.kind == "f":
        if array.dtype.itemsize in (4, 8) and array.dtype.isnative:
            return array
        return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    if array.dtype.kind in "iub":
        return array.astype(np.float64)
    if array.dtype.kind in "OUS":
        return _parse_floats(array, name, row_name, first_row)
    raise InputError(f"{name} must be numbers, got an array of type {array.dtype}.")


def _parse_floats(array: NDArray[Any], name: str, row_name: RowName, first_row: int) -> NDArray[np.float64]:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    parsed = np.empty(array.size)
    for index, value in enumerate(array.tolist()):
        if is_null(value):
            raise InputError(
                f"{name} must be numbers, but {row_name(first_row + index)} has none. Drop or repair rows without "
                "a number first."
            )
        try:
            parsed[index] = float(value)
        except (TypeError, ValueError):
            hint = way_out_of(value) if isinstance(value, str) else ""
            where = row_name(first_row + index)
            raise InputError(f"{name} must be numbers, got {shown(value)} in {where}.{hint}") from None
        except OverflowError:
            raise InputError(
                f"{name} must be finite numbers, got {shown(value)} in {row_name(first_row + index)}, which is too "
                "large for floating point. Drop or repair such rows first."
            ) from None
    return parsed


def crossed(group_by: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The columns that identify rows.

    >>> crossed(None), crossed("site"), crossed(("site", "sex"))
    ((), ('site',), ('site', 'sex'))
    """
    if group_by is None:
        return ()
    return names_of("group_by", group_by)


def find_column(wanted: str, available: Iterable[str], *, delimiter: str | None = None) -> str:
    """The column's own name, or an error that lists the columns there are and the nearest one.

    ``delimiter`` is what the names were separated by, for files where that is a matter of choice.
    """
    names = list(available)
    many = sum(is_among(wanted, [name]) for name in names)
    if many == 1:
        return wanted
    if many > 1:
        raise InputError(f"there are {many} columns named {shown(wanted)}. Rename all but one.")
    if delimiter is not None and (hint := another_separator(names, delimiter)):
        raise InputError(f"there is no column {shown(wanted)}: {hint}")
    names = [name for name in names if not str(name).startswith(TEXT_OF)]
    raise InputError(
        f"there is no column {shown(wanted)}; the columns are {listed(names, limit=30)}.{nearest(wanted, names)}"
    )


def another_separator(names: Sequence[str], delimiter: str) -> str:
    """What to say of a first line that is one column and holds another separator; empty if it does not."""
    for other, way_out in _OTHER_DELIMITERS.items() if len(names) == 1 else ():
        if other in names[0]:
            return (
                f"with the separator {delimiter!r} the first line is one column, {shown(names[0])}. If columns are "
                f"separated by {other!r}, say so: {way_out}."
            )
    return ""


def find_columns(
    wanted: Iterable[str], available: Iterable[str], *, delimiter: str | None = None, roles: Iterable[str] = ()
) -> list[str]:
    """The columns' own names, or an error that names all that are missing at once, each with what sets it.

    ``roles`` are the arguments that name the first of them, such as ``label`` and ``score``.

    >>> find_columns(["label", "score"], ["p", "status"], roles=["label", "score"])
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: there is neither a column 'label' (set by label= or --label) nor 'score' (score= or
    --score); the columns are 'p', 'status'. Perhaps score='p'.
    """
    asked, names = list(wanted), list(available)
    missing = [name for name in dict.fromkeys(asked) if name not in names]
    set_by = dict(reversed(list(zip(asked, roles, strict=False))))
    if (delimiter is not None and len(names) == 1) or not missing or not any(name in set_by for name in missing):
        return [find_column(name, names, delimiter=delimiter) for name in asked]
    told = [f"{shown(name)}{_set_by(set_by.get(name), first=not place)}" for place, name in enumerate(missing)]
    said = f"no column {told[0]}" if len(told) == 1 else f"neither a column {' nor '.join(told)}"
    near = [nearest(name, names) for name in missing]
    hint = near[0] if len(missing) == 1 else ""
    if len(missing) > 1:
        hint = "".join(f" For {shown(name)}:{one}" for name, one in zip(missing, near, strict=True) if one)
    hint = hint or _likely([set_by[name] for name in missing if name in set_by], names)
    raise InputError(f"there is {said}; the columns are {listed(names, limit=12)}.{hint}")


#: What columns of scores and of labels are often called, here as on the one page.
_OFTEN = {
    "score": re.compile(r"score|prob|pred|risk|p_?hat|logit|^p$|^s$", re.IGNORECASE),
    "label": re.compile(r"label|confirmed|target|^y$|^class|positive|outcome", re.IGNORECASE),
}


def _likely(roles: Iterable[str], names: Iterable[str]) -> str:
    """Which columns may have been meant, by what such columns are often called.

    >>> _likely(["label", "score"], ["claim", "risk_v1", "risk_v2", "outcome"])
    " Perhaps label='outcome' and score='risk_v1' (or 'risk_v2')."
    """
    all_names, told = [str(name) for name in names], []
    for role in roles:
        found = [name for name in all_names if role in _OFTEN and _OFTEN[role].search(name)]
        if 0 < len(found) <= MOST_LIKELY:
            first, *others = map(shown, found)
            told.append(f"{role}={first}" + (f" (or {' or '.join(others)})" if others else ""))
    return f" Perhaps {' and '.join(told)}." if told else ""


def _set_by(role: str | None, *, first: bool) -> str:
    if role is None:
        return ""
    option = f"--{role.replace('_', '-')}"
    return f" ({'set by ' if first else ''}{role}= or {option})"


MOST_LIKELY = 3  # columns named in a hint
_OTHER_DELIMITERS = {
    ";": "delimiter=';' (--delimiter ';' on the command line)",
    "\t": "format='tsv' (--format tsv on the command line)",
    "|": "delimiter='|' (--delimiter '|' on the command line)",
    ",": "delimiter=',' (--delimiter , on the command line)",
}
