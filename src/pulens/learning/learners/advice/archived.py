"""A small table of archived runs: what each learner reached on each data set, condition by condition.

``benchmarks/advise.py --build`` makes it from archives of runs, of which it holds means over seeds only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

KINDS = ("table", "text", "picture")
TABLE = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class Circumstances:
    """What is known of some data before anything is trained on them."""

    kind: str
    rows: int
    labelled: int
    scenario: str
    class_prior: float | None  # None: not known
    prior_known: bool  # whether learners are told it, or estimate it


@dataclass(frozen=True)
class ArchivedCell:
    """Mean test accuracies of learners that were run on the same rows of a data set, with the same labels."""

    source: str
    data_set: str
    condition: Circumstances
    seeds: int
    accuracy: Mapping[str, float]

    @property
    def losses(self) -> dict[str, float]:
        """What each learner loses against the best of them."""
        best = max(self.accuracy.values())
        return {learner: best - reached for learner, reached in self.accuracy.items()}


@dataclass(frozen=True)
class Archived:
    """All cells, how learners are called, and what was left out of the table and why."""

    cells: tuple[ArchivedCell, ...]
    titles: Mapping[str, str]
    calls: Mapping[str, str]
    sources: Mapping[str, str]
    source_of: Mapping[str, str]  # kind of data -> source
    left_out: Mapping[str, str]

    def of_kind(self, kind: str) -> tuple[ArchivedCell, ...]:
        """Cells to judge learners for a kind of data by: those of one source, so that all met the same rivals."""
        source = self.source_of[kind]
        return tuple(cell for cell in self.cells if cell.source == source)


def read_table(stored: Mapping[str, Any]) -> Archived:
    """The table from its plain form."""
    cells = tuple(
        ArchivedCell(
            result["source"],
            result["data_set"],
            Circumstances(
                result["kind"],
                result["rows"],
                result["labelled"],
                result["scenario"],
                result["class_prior"],
                result["prior_known"],
            ),
            result["seeds"],
            result["accuracy"],
        )
        for result in stored["cells"]
    )
    named = {name: stored[name] for name in ("titles", "calls", "sources", "source_of", "left_out")}
    return Archived(cells, **named)


@lru_cache(maxsize=1)
def archived() -> Archived:
    """The table that comes with the package.

    >>> sorted(archived().source_of) == sorted(KINDS)
    True
    """
    return read_table(json.loads(TABLE.read_text(encoding="utf-8")))
