"""How a table was written: separator, decimal comma, separator of thousands, encoding, sheet. Said, never guessed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pulens.errors import InputError, shown

SPACES = " \u00a0\u202f"  # what stands between thousands in French and Scandinavian numbers
APOSTROPHES = "'\u2019"  # and in Swiss ones
DECIMALS, THOUSANDS = (".", ","), (".", ",", " ", "'", "_")
NAMES = ("delimiter", "decimal", "thousands", "encoding", "sheet")  # as arguments and, with dashes, as options


@dataclass(frozen=True)
class Dialect:
    """What a person says about the writing of a table.

    >>> Dialect(";", decimal=",", thousands=".").plain("1.234,5")
    '1234.5'
    """

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in DECIMALS:
            raise InputError(f"decimal must be '.' or ',', got {shown(self.decimal)}.")
        if self.thousands is not None and self.thousands not in THOUSANDS:
            allowed = "'.', ',', ' ', '_' or an apostrophe"
            raise InputError(f"thousands must be {allowed}, got {shown(self.thousands)}.")
        if self.thousands == self.decimal:
            raise InputError(f"decimal and thousands are both {self.decimal!r}: one character cannot mean two things.")
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise InputError(
                f"encoding must be the name of one, such as utf-8, utf-16 or windows-1252, got {shown(self.encoding)}."
            )

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as programs write them."""
        return self.decimal == "." and self.thousands is None

    @property
    def groups(self) -> str:
        """Characters that may stand between thousands."""
        return {" ": SPACES, "'": APOSTROPHES, None: ""}.get(self.thousands, self.thousands or "")

    @property
    def pattern(self) -> str:
        """A regular expression of the numbers that may be written so; empty groups of thousands are none."""
        point = re.escape(self.decimal)
        whole = r"[0-9]+" if not self.groups else rf"[1-9][0-9]{{0,2}}([{re.escape(self.groups)}][0-9]{{3}})+|[0-9]+"
        return rf"[+-]?(({whole})({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?"

    @cached_property
    def _number(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def plain(self, cell: str) -> str | None:
        """The number that a cell says, as programs write it; ``None`` where it says none in this writing."""
        text = cell.strip()
        if not self._number.fullmatch(text):
            return None
        return text.translate({ord(letter): None for letter in self.groups}).replace(self.decimal, ".")

    def numbers(self, values: Any, name: str, row_name: Callable[[int], str], first_row: int = 0) -> Any:
        """A column whose cells say numbers in this writing, as programs write them; empty cells stay as they are."""
        if self.is_plain or not isinstance(values, list):
            return values
        result = values.copy()
        for place, value in enumerate(values):
            if isinstance(value, str) and value.strip():
                result[place] = self._checked(value, name, row_name, first_row + place)
        return result

    def _checked(self, cell: str, name: str, row_name: Callable[[int], str], row: int) -> str:
        plain = self.plain(cell)
        if plain is None:
            grouped = "" if self.thousands is None else f" and thousands={self.thousands!r}"
            said = f"decimal={self.decimal!r}{grouped}"
            raise InputError(
                f"{name} must be numbers, got {shown(cell)} in {row_name(row)}, which is none with {said}."
                f"{way_out_of(cell, self)}"
            )
        return plain


PLAIN = Dialect()
Said = str | Dialect | None  # what travels under the name of the separator, which is often all that is said


def dialect_of(said: Said) -> Dialect:
    """The writing that was said; a separator alone leaves the rest as usual."""
    if isinstance(said, Dialect):
        return said
    return PLAIN if said is None else Dialect(said)


def written_as(
    delimiter: str | None, decimal: str | None, thousands: str | None, encoding: str | None, sheet: str | None
) -> Said:
    """What travels of five arguments.

    >>> written_as(";", None, None, None, None), written_as(None, ",", None, None, None).decimal
    (';', ',')
    """
    if decimal is None and thousands is None and encoding is None and sheet is None:
        return delimiter
    return Dialect(delimiter, decimal or ".", thousands, encoding, sheet)


def in_memory(said: Said) -> Dialect:
    """The writing of numbers in arrays and tables that hold text; what only files have is refused."""
    dialect = dialect_of(said)
    for name in ("encoding", "sheet"):
        if getattr(dialect, name) is not None:
            raise InputError(
                f"{name}={shown(getattr(dialect, name))} is about files, and the rows were not given as one."
            )
    return dialect


def refuse_written(said: Said, where: str) -> None:
    """Refuse what is said of the writing of texts where rows have types of their own."""
    if isinstance(said, Dialect):
        raise InputError(
            f"decimal=, thousands=, encoding= and sheet= are about files, and {where} has types of its own: cast the "
            "column to a number there, in a view or a query."
        )


def check_written(kind: str, said: Said) -> Dialect:
    """The writing of a file of some format; what is said of another format is refused rather than overlooked."""
    dialect = dialect_of(said)
    for name in ("decimal", "thousands", "encoding"):
        if kind not in ("csv", "tsv") and getattr(dialect, name) != getattr(PLAIN, name):
            raise InputError(
                f"{name}={getattr(dialect, name)!r} (--{name}) is about text in a CSV file, and this is {kind}, "
                "which says itself what its numbers are: leave it out."
            )
    if dialect.sheet is not None and kind != "xlsx":
        raise InputError(f"sheet={shown(dialect.sheet)} (--sheet) names a sheet of an Excel file, and this is {kind}.")
    return dialect


def way_out_of(cell: object, said: Dialect = PLAIN) -> str:
    """What to add so that a cell is read as the number it looks like, as the end of a message; empty if none helps.

    >>> way_out_of("0,75")
    " A decimal comma? Say decimal=',' (--decimal , on the command line)."
    >>> way_out_of("1.234,5")
    " Say decimal=',' and thousands='.' (--decimal , --thousands . on the command line)."
    >>> way_out_of("1,234")  # doctest: +NORMALIZE_WHITESPACE
    " Say decimal=',' (--decimal , on the command line) if that is 1.234 or thousands=',' (--thousands , on the command
    line) if that is 1234."
    >>> way_out_of("2024-01-31")
    ' That is a date, not a score: name another column.'
    """
    text = str(cell).strip()[:60]
    if is_date(text):
        return " That is a date, not a score: name another column."
    if text.endswith("%"):
        return " Take the percent sign out of the column first, and divide by 100."
    result: dict[str, tuple[str, str | None]] = {}  # by the number that it would be, the simplest writing
    for decimal, thousands in ((",", None), (".", None), *((one, group) for one in DECIMALS for group in THOUSANDS)):
        if thousands != decimal and (decimal, thousands) != (said.decimal, said.thousands):
            number = Dialect(decimal=decimal, thousands=thousands).plain(text)
            if number is not None:
                result.setdefault(number, (decimal, thousands))
    if len(result) > 1:
        told = [f"{_options(*writing)} if that is {number}" for number, writing in result.items()]
        return f" Say {' or '.join(told[:2])}."
    return "".join(_words(*writing) for writing in result.values())


def _words(decimal: str, thousands: str | None) -> str:
    what = " A decimal comma? Say" if (decimal, thousands) == (",", None) else " Say"
    return f"{what} {_options(decimal, thousands)}."


def _options(decimal: str, thousands: str | None) -> str:
    """What says a writing, in Python and on the command line."""
    named = {"decimal": decimal if decimal != "." else None, "thousands": thousands}
    given = {name: value for name, value in named.items() if value is not None}
    if not given:
        return "neither decimal= nor thousands= (--decimal, --thousands)"
    python = " and ".join(f"{name}={value!r}" for name, value in given.items())
    options = " ".join(f"--{name} {_quoted(value)}" for name, value in given.items())
    return f"{python} ({options} on the command line)"


def _quoted(value: str) -> str:
    return {" ": '" "', "'": '"\'"'}.get(value, value)


_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d{1,2}:\d{2}.*)?")


def is_date(cell: object) -> bool:
    """Whether a cell looks like a date, in whatever order.

    >>> is_date("31.12.2026"), is_date("0.5")
    (True, False)
    """
    return isinstance(cell, str) and bool(_DATE.fullmatch(cell.strip()[:60]))


def _is_encoding(name: str) -> bool:
    try:
        return bool(codecs.lookup(name)._is_text_encoding)  # others, such as zip, turn bytes into bytes
    except (LookupError, ValueError, TypeError):  # a name with a zero character
        return False
