"""Which label values there are, for whoever named one that no row has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pulens.errors import InputError, nearest, shown
from pulens.inputs.arrays import plain_values
from pulens.inputs.columns import is_hashable, is_null, one_per_row
from pulens.inputs.reading import ReadOptions

MOST_ROWS = 5_000_000  # of a file that are looked at
MOST_VALUES = 6  # in the message


def explain_unmatched(source: Any, scores: Any, reading: ReadOptions, error: InputError) -> InputError:
    """The error that no row is labelled, with the values that there are; as it was where they cannot be looked up."""
    if reading.positive is None:
        return error
    try:
        several = isinstance(reading.positive, Iterable) and not isinstance(reading.positive, str | bytes)
        wanted = list(reading.positive) if several else [reading.positive]
        result = _counted(source, scores, reading)
    except Exception:  # the rows were read once, but may be a stream
        return error
    if not result:
        return error
    name = "the labels hold" if scores is not None else f"column {shown(reading.label)} holds"
    values = ", ".join(
        f"{'empty' if value is None else shown(value)} ({many:,})" for value, many in result.most_common(MOST_VALUES)
    )
    more = f" and {len(result) - MOST_VALUES:,} more values" if len(result) > MOST_VALUES else ""
    texts = [value for value in result if value is not None]
    return InputError(f"no label is {_either(wanted)}: {name} {values}{more}.{_hint(wanted, texts)}")


def _either(wanted: list[Any]) -> str:
    return " or ".join(shown(value) for value in wanted[:4])


def _hint(wanted: list[Any], texts: list[str]) -> str:
    """The value that was probably meant: one that contains the word, or that is spelt much like it."""
    for word in map(str, wanted):
        inside = [text for text in texts if word.lower() in text.lower() or text.lower() in word.lower()]
        if len(inside) == 1:
            return f" Did you mean {inside[0]!r}?"
        if near := nearest(word, texts):
            return near
    return ""


def _counted(source: Any, scores: Any, reading: ReadOptions) -> Counter[str | None]:
    result: Counter[str | None] = Counter()
    for values in _columns(source, scores, reading):
        for value, many in Counter(value if is_hashable(value) else None for value in values).items():
            result[None if is_null(value) else str(value)] += many
        if result.total() > MOST_ROWS:
            break
    return result


def _columns(source: Any, scores: Any, reading: ReadOptions) -> Any:
    """The raw labels, piece by piece."""
    if scores is not None:
        return [one_per_row(plain_values(source)).tolist()]
    if isinstance(source, str | Path):
        return _of_file(str(source), reading)
    from pulens.inputs.frames import open_frame

    return [open_frame(source, reading.label)[reading.label].to_list()]


def _of_file(path: str, reading: ReadOptions) -> Any:
    from pulens.inputs.tables.chunks import read_chunks
    from pulens.inputs.tables.formats import format_of
    from pulens.inputs.tables.found_files import expand
    from pulens.inputs.tables.streams import open_stream

    for one in expand(path):
        with ExitStack() as stack:
            kind = format_of(str(one), reading.format)
            for (column,) in read_chunks(open_stream(str(one), stack), kind, (reading.label,), reading.dialect):
                yield list(column)
