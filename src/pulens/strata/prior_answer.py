"""The class priors of cells as an answer of their own: each cell's, what its rows say alone, and that of all rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pulens.answer import Answer, ShownAsText
from pulens.estimate import Interval, with_interval
from pulens.notice import Notice
from pulens.priors import ClassPrior
from pulens.strata.answer import prior_interval
from pulens.strata.evidence import StratifiedEvidence


@dataclass(frozen=True, slots=True)
class CellPriorRow(Answer):
    """One cell: its rows, its class prior after borrowing from the others, and what its own rows say."""

    _keys = ("cell=name", "labelled", "unlabelled", "class_prior=_with_interval", "alone")

    name: str
    labelled: float
    unlabelled: float
    value: float  # nan without rows of the population
    interval: Interval | None
    alone: ClassPrior | None

    @property
    def _with_interval(self) -> dict[str, Any]:
        return with_interval(self.value, self.interval)


@dataclass(frozen=True, repr=False)
class PriorsWithin(Answer, ShownAsText):
    """Class priors of cells, and of all rows; prints itself."""

    _keys = ("columns", "class_prior", "cells", "notices")

    columns: tuple[str, ...]
    class_prior: ClassPrior
    cells: tuple[CellPriorRow, ...]

    def __str__(self) -> str:
        words = " and ".join(self.columns)
        width = max(len(words), *(len(row.name) for row in self.cells))
        lines = [str(self.class_prior), ""]
        lines.append(f"{words:<{width}}{'labelled':>10}{'unlabelled':>12}{'class prior':>24}{'by itself':>24}")
        for row in self.cells:
            own = "no rows" if math.isnan(row.value) else f"{row.value:.3f}{_ends(row.interval)}"
            alone = "too few rows" if row.alone is None else f"{row.alone.value:.3f}{_ends(row.alone.interval)}"
            lines.append(f"{row.name:<{width}}{row.labelled:>10,.6g}{row.unlabelled:>12,.10g}{own:>24}{alone:>24}")
        for notice in self.notices:
            lines += ["", f"{notice.severity.name.lower()}: {notice}"]
        return "\n".join(lines)

    @property
    def notices(self) -> tuple[Notice, ...]:
        return self.class_prior.notices


def priors_within(evidence: StratifiedEvidence) -> PriorsWithin:
    """The class priors of counted cells."""
    cells, totals = evidence.cells, evidence.cells.totals
    values = evidence.cell_priors
    own = evidence.priors.own or (None,) * len(cells)
    rows = [
        CellPriorRow(
            name,
            float(totals[index, 0]),
            float(totals[index, 1]),
            float(values[index]),
            prior_interval(evidence, index),
            own[index],
        )
        for index, name in enumerate(cells.names)
    ]
    return PriorsWithin(cells.columns, evidence.class_prior, tuple(rows))


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f" {interval}"
