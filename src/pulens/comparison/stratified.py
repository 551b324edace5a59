"""Rows of several models where labels are random within strata only: redrawn together, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pulens.comparison.redraws import PairedRows
from pulens.counts.sample import PUSample
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError, shown
from pulens.inputs import ReadOptions, read_sample
from pulens.inputs.arrays import listed_values
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import in_order
from pulens.inputs.tallies import is_elsewhere, is_tally_file, segments_of
from pulens.keywords import names_of
from pulens.scalars import is_missing
from pulens.scenario import Scenario
from pulens.strata import LabellingCells, check_cells
from pulens.strata.reading import columns_of


@dataclass(frozen=True, eq=False)
class StratifiedRows:
    """Labels, cells and each model's scores, row by row."""

    labels: NDArray[np.int8]
    scores: Mapping[str, NDArray[Any]]
    codes: NDArray[np.int32]
    cells: tuple[Any, ...]
    columns: tuple[str, ...]

    joint: ClassVar[None] = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.scores)

    @property
    def counted(self) -> dict[str, LabellingCells]:
        rows = {cell: self.codes == code for code, cell in enumerate(self.cells)}
        result = {}
        for model, scores in self.scores.items():
            tallies = {
                cell: Tally.from_sample(PUSample(self.labels[mine], scores[mine])) for cell, mine in rows.items()
            }
            result[model] = LabellingCells.of(self.columns, tallies)
        check_cells(next(iter(result.values())))
        return result

    def paired(self, scenario: Scenario) -> PairedRows:
        """The rows to redraw: labelled ones within their cell and the list by itself, or all rows together."""
        apart: list[Any] = [slice(None)]
        if scenario is not Scenario.SINGLE_SET:
            apart = [np.flatnonzero((self.labels == 1) & (self.codes == code)) for code in range(len(self.cells))]
            apart += [np.flatnonzero(self.labels == kind) for kind in (0, -1)]
            apart = [rows for rows in apart if rows.size]
        kinds = np.select([self.labels == 1, self.labels == 0], [0, 1], 2).astype(np.int8)
        return PairedRows(self.names, np.ones(kinds.size, np.int64), kinds, self.codes, self.scores, apart)


def read_stratified(labels: Any, scores: Any, within: Any, **reading: Any) -> StratifiedRows:
    """Rows in memory: labels and a mapping of scores with a cell for each row, a frame, or a file with its columns."""
    columns = reading.pop("score", None)
    asked = ReadOptions(**reading)
    for name in ("weight", "weights", "table", "where", "tolerance"):
        if getattr(asked, name) is not None:
            raise InputError(
                f"{name}= is not known to a comparison within cells, which redraws rows one by one. Leave it out, or "
                "evaluate each model with labelled_within=."
            )
    if isinstance(scores, Mapping):
        named: tuple[str, ...] = ("cell",)
        samples = {str(name): read_sample(labels, values, **asked.rows) for name, values in scores.items()}
        segments = _segments_of_values(within)
    else:
        columns = () if columns is None else names_of("score", columns)
        _refuse_without_rows(labels, columns)
        named = columns_of(names_of("labelled_within", within), asked)
        samples = {name: read_sample(labels, **replace(asked, score=name).rows) for name in columns}
        is_file = isinstance(labels, str | Path)
        segments = _segments_of_file(labels, named, asked) if is_file else segments_of(labels, named)
    first = next(iter(samples.values()))
    if segments.size != first.labels.size:
        raise InputError(f"labelled_within holds {segments.size:,} cells for {first.labels.size:,} rows.")
    if len(samples) < 2:
        raise PulensError(f"a comparison needs at least two models, got {len(samples)}.")
    ordered = in_order(segments.names)
    index = {name: number for number, name in enumerate(ordered)}
    codes = np.array([index[name] for name in segments.names], np.int32)[segments.codes]
    scored = {name: sample.scores for name, sample in samples.items()}
    # redraws must not depend on the order in which the rows stand
    order = np.lexsort((*scored.values(), first.labels, codes))
    scored = {name: values[order] for name, values in scored.items()}
    return StratifiedRows(first.labels[order], scored, codes[order], tuple(ordered), named)


def _refuse_without_rows(source: Any, columns: tuple[str, ...]) -> None:
    if len(columns) < 2:
        raise PulensError(f"a comparison needs at least two columns of scores, got {shown(list(columns))}.")
    standard_input = isinstance(source, str) and source == "-"
    if standard_input or is_tally_file(source) or isinstance(source, Tally) or is_elsewhere(source):
        raise InputError(
            "a comparison within cells redraws rows one by one, and needs them in memory: a frame or a plain file. "
            "Counts, databases, folders and standard input have none."
        )


def _segments_of_values(within: Any) -> CodedSegments:
    """A cell for each row; None and nan are no cell."""
    values = listed_values(within)
    result = (None if is_missing(value) else value for value in values)
    return CodedSegments.of(np.fromiter(result, object, len(values)))


def _segments_of_file(path: Any, names: tuple[str, ...], reading: ReadOptions) -> CodedSegments:
    from pulens.inputs.columns import CROSSED, NULL, is_null
    from pulens.inputs.tables.whole import read_table

    table = read_table(path, format=reading.format, delimiter=reading.dialect)
    columns = [[None if is_null(value) else value for value in table.column(name)] for name in names]
    if len(columns) > 1:
        rows = zip(*columns, strict=True)
        columns = [[CROSSED.join(NULL if value is None else str(value) for value in row) for row in rows]]
    return CodedSegments.of_columns(columns)
