"""Text that a spreadsheet would take for a formula, written so that it stays text and can be read back as it was.

A cell that begins with = + - @, a tab or the end of a line gets an apostrophe in front, unless it is a number; so does
one that begins with apostrophes before such a sign, so that taking one away on reading always gives the text back.
"""

from __future__ import annotations

import re
from typing import Any

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FORMULA = re.compile("'*[ \u00a0]*[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might run this text, or a text with apostrophes in front might be taken for a made one.

    >>> is_formula("=1+1"), is_formula("-5"), is_formula("'=1"), is_formula("O'Hara")
    (True, False, True, False)
    """
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def inert(value: Any) -> Any:
    """A cell as it may stand in a text file that somebody opens with a spreadsheet.

    >>> inert("=HYPERLINK(1)"), inert("-0.5"), inert("-"), inert("a=b"), inert(3)
    ("'=HYPERLINK(1)", '-0.5', "'-", 'a=b', 3)
    """
    return f"'{value}" if isinstance(value, str) and is_formula(value) else value


def restored(value: Any) -> Any:
    """The cell that :func:`inert` was given.

    >>> [restored(inert(text)) for text in ("=1+1", "'=1", "''@", "'tis", "-7", "+")]
    ['=1+1', "'=1", "''@", "'tis", '-7', '+']
    """
    if isinstance(value, str) and value.startswith("'") and is_formula(value):
        return value[1:]
    return value
