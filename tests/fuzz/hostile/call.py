"""What one hostile call is: the words after ``pulens``, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Call:
    """Words for the command line, to be run in a folder that holds its files.

    ``makes`` names what an answer may leave in the folder, ``changes`` the entries that it may write to, ``codes`` the
    ways in which it may end. ``alike`` holds other roads to the same answer: for each road its calls in order, the last
    of which writes the JSON file that must hold the same numbers as ``out.json``.
    """

    kind: str
    words: list[str]
    makes: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    codes: frozenset[int] = frozenset({0, 2})
    repeats: bool = True  # whether a second run gives the same bytes
    standard_input: bytes = b""
    alike: list[tuple[list[list[str]], str]] = field(default_factory=list)
