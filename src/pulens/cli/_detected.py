"""How a text table is written, read off its first lines as the one page does, and said."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
READ = 1 << 16  # bytes
LINES = 40
_COMMA = re.compile(r"[+-]?\d+,\d+")
_WHOLE = re.compile(r"[+-]?\d+")


def detect(given: dict[str, Any]) -> Iterator[str]:
    """Fill in what a command was not told about the writing of its table, and say what is not the usual."""
    path = next((given[name] for name in ("file", "source", "reference") if given.get(name)), None)
    if path is None or given["delimiter"] is not None or given["decimal"] is not None:
        return
    head = _head(str(path), given)
    if not head:
        return
    separator = separator_of(head)
    score = given.get("score")
    decimal = "," if separator != "," and has_decimal_commas(head, separator, _named(score)) else None
    if given["thousands"] == decimal:  # what stands between thousands was said, so this cannot be
        decimal = None
    if separator == "," and decimal is None:
        return
    given["delimiter"] = None if separator == "," else separator
    given["decimal"] = decimal
    options = [("--delimiter", separator)] * (separator != ",") + [("--decimal", ",")] * (decimal is not None)
    commas = "" if decimal is None else " and decimal commas"
    typed = " ".join(f"{name} {_quoted(value)}" for name, value in options)
    yield f"{path}: columns separated by {SEPARATORS[separator]}{commas} (detected; to say so: {typed})."


def separator_of(lines: Sequence[str]) -> str:
    """The candidate that cuts the first lines into the same number of fields, more than one; else a comma.

    >>> separator_of(["score;label", "0,5;1", "0,25;0"])
    ';'
    >>> separator_of(["score", "0.5"])
    ','
    """
    best, most = ",", 0.0
    for separator in SEPARATORS:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        if widths and widths[0] > 1:
            same = sum(width == widths[0] for width in widths) / len(widths)
            score = same * 1000 + min(widths[0], 900)
            if score > most:
                best, most = separator, score
    return best


def has_decimal_commas(lines: Sequence[str], separator: str, columns: Sequence[str]) -> bool:
    """Whether the numbers of these columns (of any column, if none of them is there) have decimal commas.

    >>> has_decimal_commas(["a;score", "x,y;0,5", "z;1"], ";", ["score"])
    True
    >>> has_decimal_commas(["a;score", "0,5;0.5"], ";", ["score"])
    False
    """
    names, *rows = csv.reader(lines, delimiter=separator)
    named = [place for place, name in enumerate(names) if name.strip() in columns] or range(len(names))
    return any(_are_comma_numbers([row[place].strip() for row in rows if len(row) == len(names)]) for place in named)


def _are_comma_numbers(cells: list[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return any(map(_COMMA.fullmatch, filled)) and all(_COMMA.fullmatch(one) or _WHOLE.fullmatch(one) for one in filled)


def _head(path: str, given: dict[str, Any]) -> list[str]:
    """The first lines of a CSV file that can be read twice; of a folder or glob, of its first file."""
    from pulens.inputs.addresses import is_address
    from pulens.inputs.tables.formats import format_of
    from pulens.inputs.tables.found_files import expand
    from pulens.inputs.tables.streams import as_text, open_stream

    if path == "-" or is_address(path) or given.get("table"):
        return []
    try:
        first = expand(path)[0]
        if not first.is_file() or format_of(first, given["format"]) != "csv":
            return []
        with ExitStack() as stack, as_text(open_stream(first, stack), given["encoding"]) as text:
            lines = text.read(READ).splitlines()
    except Exception:  # whoever reads the file says what is wrong with it
        return []
    return [line for line in lines[: max(1, min(LINES, len(lines) - 1))] if line]  # the last may be cut


def _named(score: Any) -> list[str]:
    return [] if score is None else [score] if isinstance(score, str) else list(score)


def _quoted(value: str) -> str:
    return {";": "';'", "\t": "$'\\t'", "|": "'|'"}.get(value, value)
