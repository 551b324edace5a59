"""What is asked of a table inside an engine: its columns, some of its rows, and what is counted with them."""

from __future__ import annotations

from dataclasses import dataclass

from pulens.inputs.columns import Columns, crossed
from pulens.inputs.periods import Period


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One for all engines; ``where`` is an SQL condition on the rows."""

    columns: Columns
    group_by: str | tuple[str, ...] | None = None
    where: str | None = None
    beside: tuple[str, ...] = ()  # further columns of numbers
    kept: tuple[str, ...] = ()  # columns that are handed over as they are
    cluster: str | None = None
    periods: tuple[Period, ...] = ()  # of time, by which rows are cut into windows

    @property
    def segments(self) -> tuple[str, ...]:
        """The columns that make segments, of which several cross."""
        return crossed(self.group_by)

    @property
    def counted(self) -> tuple[str, ...]:
        """All columns that are counted, or by which rows are."""
        return (*self.columns.names, *self.beside, *self.segments, *([] if self.cluster is None else [self.cluster]))
