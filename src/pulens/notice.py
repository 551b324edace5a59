"""Things a person should know about an answer before using it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Severity(IntEnum):
    """How much a notice should worry the reader; worst is highest."""

    NOTE = 0
    WARNING = 1
    SERIOUS = 2


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence or two: what was seen, its likely cause, the way out.

    >>> print(Notice(Severity.WARNING, "few-labelled", "Only 9 labelled positives."))
    Only 9 labelled positives.
    """

    severity: Severity
    code: str
    message: str

    def __str__(self) -> str:
        return self.message


def worst_first(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Order notices for reading; equal ones keep their order, repeated ones are said once.

    >>> note, alarm = Notice(Severity.NOTE, "a", "a"), Notice(Severity.SERIOUS, "b", "b")
    >>> [notice.code for notice in worst_first([note, alarm, note])]
    ['b', 'a']
    """
    return tuple(sorted(dict.fromkeys(notices), key=lambda notice: -notice.severity))
