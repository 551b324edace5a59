"""What works by itself and not together: every refused combination, with the reason and the way out, in one table.

A door that meets one calls :func:`refuse_together`; docs/concepts/limits.md prints :func:`table_lines`.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from pulens.errors import AssumptionError


class Refused(NamedTuple):
    """Two things that were asked for together; ``this`` and ``beside`` name them as the documentation does."""

    this: str
    beside: str
    why: str
    instead: str


PRACTICE = "labels as uneven as in practice (`--labelling practice`)"
CELLS, CLUSTERS, REVIEWS = "cells (`--within`)", "several rows per person (`--cluster`)", "checked rows (`--reviews`)"

COMBINATIONS = {
    "cells-gaps": Refused(
        CELLS,
        "gaps between groups (`--gaps`)",
        "a gap's interval is found from the rows of both groups, and those of cells have weights",
        "`--group-by` without `--gaps`: an evaluation of every group within its cells",
    ),
    "cells-sensitivity": Refused(
        CELLS,
        "sensitivity (`--sensitivity`), robustness",
        "a preference for high scores is known for labels drawn from all rows, not from each cell at a rate of its own",
        "`evaluation.pooled`, which leaves the cells out, or one cell at a time (`--where`)",
    ),
    "cells-bounds": Refused(
        CELLS,
        "bounds (`--bounds`)",
        "a band on curves takes labelled rows for equally weighted draws, and those of cells have weights",
        "`evaluation.pooled`, which leaves the cells out, or one cell at a time (`--where`)",
    ),
    "cells-queries": Refused(
        CELLS,
        "first rows of each query (`--per`)",
        "queries are averaged, and cells of labelling are added up over all of them",
        "one cell at a time (`--where`)",
    ),
    "clusters-bounds": Refused(
        CLUSTERS,
        "bounds (`--bounds`)",
        "bands of ranks take rows for independent",
        "leave the bounds out: evaluations allow for rows that belong together",
    ),
    "clusters-watch": Refused(
        CLUSTERS,
        "windows over time (`pulens watch`)",
        "lines allow for what clusters add, as far as ten or more windows of the reference scatter by it; the interval "
        "of one window and the recall line would take rows for independent",
        "`pulens watch` without it, with 30 or more windows as reference, and `pulens evaluate --cluster` on a window",
    ),
    "practice-cells": Refused(
        PRACTICE,
        CELLS,
        "within cells labels are taken to be a random draw",
        "leave one of them out",
    ),
    "practice-reviews": Refused(
        PRACTICE,
        REVIEWS,
        "what checked rows prove needs no assumption about labelling, and what is recovered takes labels for random",
        "leave `--labelling` out: the checked rows lead",
    ),
    "practice-noise": Refused(
        PRACTICE,
        "label noise (`--label-noise`)",
        "the data sets that it was learned on have no wrong labels",
        "leave one of them out",
    ),
    "reviews-queries": Refused(
        REVIEWS,
        "first rows of each query (`--per`)",
        "the rows that were checked were drawn from all queries together",
        "leave one of them out",
    ),
    "reviews-segments": Refused(
        REVIEWS,
        "segments (`--group-by`)",
        "the rows that were checked were drawn from all of them together",
        "one segment at a time (`--where`)",
    ),
}


def refuse_together(which: str, kind: type[Exception] = AssumptionError) -> NoReturn:
    """Refuse a combination in the words of the table.

    >>> refuse_together("clusters-bounds")
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: several rows per person (--cluster) cannot be combined with bounds (--bounds): ...
    """
    result = COMBINATIONS[which]
    said = f"{result.this} cannot be combined with {result.beside}: {result.why}. Instead: {result.instead}."
    raise kind(said.replace("`", ""))


def table_lines() -> list[str]:
    """The table as Markdown, for the page about limits.

    >>> table_lines()[0]
    '| this | together with | because | instead |'
    """
    lines = ["| this | together with | because | instead |", "| --- | --- | --- | --- |"]
    return [*lines, *(f"| {' | '.join(result)} |" for result in COMBINATIONS.values())]
