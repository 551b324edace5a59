"""Segments in which labels are random within strata only: the strata of every segment, added up by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pulens.counts.tallies import Tallies
from pulens.errors import AssumptionError, PulensError, shown
from pulens.evaluation.evaluate import Evaluation, best_threshold
from pulens.evidence import Design, IntervalOptions
from pulens.evidence.design import OF_CELLS, Gathered
from pulens.groups.grouped_rows import title_of
from pulens.inputs import ReadOptions, read_counts
from pulens.inputs.columns import CROSSED
from pulens.keywords import keywords_of
from pulens.strata import CellPriors, LabellingCells, StratifiedEvidence, WeightedEvidence, check_cells
from pulens.strata.gathering import gathered, settled
from pulens.strata.reading import columns_of


@dataclass(frozen=True, eq=False)
class StratifiedSegments:
    """Every segment's rows by stratum with their class priors; ``skipped`` says why some have none."""

    strata: Mapping[Any, StratifiedEvidence]
    questions: Mapping[Any, IntervalOptions]
    skipped: dict[Any, str]

    @classmethod
    def read(
        cls,
        source: Any,
        tallies: Tallies,
        question: IntervalOptions,
        design: Design,
        options: Mapping[str, Any],
        *,
        same_prior: bool = False,
    ) -> StratifiedSegments:
        """Of the segments that were counted: their rows by stratum as well, in a second pass."""
        reading = {name: value for name, value in options.items() if name in keywords_of(ReadOptions)}
        columns = columns_of(design.strata, ReadOptions(**reading))
        parts: dict[str, dict[str, Any]] = {}
        for key, counted in read_counts(source, group_by=(design.segments, *columns), **options).items():
            segment, *names = str(key).rsplit(CROSSED, len(columns))
            parts.setdefault(segment, {})[CROSSED.join(names)] = counted
        strata, questions, skipped = {}, {}, {}
        for segment in tallies:
            try:
                cells = LabellingCells.of(columns, parts[title_of(segment)])
                check_cells(cells)
                questions[segment] = question_of(segment, question, same_prior=same_prior)
                strata[segment] = settled(cells, questions[segment], design.split or "estimated")
            except PulensError as error:
                skipped[segment] = str(error)
        return cls(strata, questions, skipped)

    def gathered(self) -> Iterator[tuple[Any, Gathered]]:
        """The evidence of every segment; one that cannot be recovered is skipped."""
        for segment, rows in self.strata.items():
            try:
                yield segment, gathered(rows, self.questions[segment])
            except PulensError as error:
                self.skipped[segment] = str(error)

    def best_threshold(self) -> float:
        """With the best F1 on the rows of all segments: strata of segments are strata of all rows."""
        every = list(self.strata.values())
        cells = [each.cells for each in every]
        whole = LabellingCells(
            ("segment",),
            tuple(f"{index}{CROSSED}{name}" for index, one in enumerate(cells) for name in one.names),
            tuple(tally for one in cells for tally in one.tallies),
        )
        shares, caps = (np.concatenate([getattr(one.priors, name) for one in every]) for name in ("shares", "caps"))
        rows = StratifiedEvidence(
            whole, CellPriors(shares, "of all segments", caps), every[0].label_noise, every[0].scenario
        )
        return best_threshold(WeightedEvidence.of(rows))


def question_of(segment: Any, question: IntervalOptions, *, same_prior: bool) -> IntervalOptions:
    """What is assumed of one segment: its own class prior, or those of its strata, where such were given."""
    own: dict[str, Any] = {}
    for name in OF_CELLS:
        value = getattr(question, name)
        if isinstance(value, Mapping):
            by_title = {title_of(key): one for key, one in value.items()}
            if title_of(segment) not in by_title:
                raise AssumptionError(f"{name} was given for other segments, but not for {shown(segment)}.")
            own[name] = by_title[title_of(segment)]
        elif value is not None and not isinstance(value, str) and not same_prior:
            raise AssumptionError(
                f"{name}={value!r} is that of all rows, and segments whose labels are random within cells differ: give "
                "a mapping from segment to its class prior, or to a mapping from cell to class prior; or "
                "same_prior=True (--same-prior), which takes it for every segment."
            )
    return replace(question, **own)


def source_of(evaluation: Evaluation) -> Any:
    """Where the class priors of a segment's strata come from."""
    method = evaluation.class_prior.method
    return next((kind for kind in ("estimated", "audit") if method.startswith(kind)), "given")
