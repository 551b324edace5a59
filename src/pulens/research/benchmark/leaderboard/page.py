"""The leaderboard as one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulens.learning.learners import titles
from pulens.report.html import render
from pulens.research.benchmark.analyse import tables
from pulens.research.benchmark.analyse.conditions import mechanism_words, selects_with_truth
from pulens.research.benchmark.archive import Archive
from pulens.research.benchmark.archive.measured import sign_of
from pulens.research.benchmark.leaderboard.board import MARKS, Board
from pulens.research.benchmark.leaderboard.judged import Judged
from pulens.research.benchmark.leaderboard.page_data import DETAILED, Details, page_data

SCRIPTS = (
    *("words.js", "chart.js", "figures.js", "sorting.js", "leaderboard_paint.js", "leaderboard_charts.js"),
    *("leaderboard.js", "theme.js"),
)


def leaderboard_page(
    archive: Archive,
    result: Board,
    judged: Judged | None = None,
    *,
    title: str = "Leaderboard",
    detailed: int = DETAILED,
    details: Details = lambda row: None,
) -> str:
    """The whole page as text, opening with the given board.

    ``detailed`` limits the runs it has curves of; ``details`` are some that are known from elsewhere.
    """
    data = page_data(archive, result, detailed, judged, details)
    return render(
        "leaderboard.html.j2",
        SCRIPTS,
        data,
        title=title,
        board=result,
        rows=_rows(result),
        sentence=_sentence(result),
        oracle=selects_with_truth(result.selection),
        selection=result.selection_words.partition(": ")[2],
        seeds=result.seeds,
        done=len(archive.done),
        failed=_failed(archive),
        failures=len(archive.failed),
        data_about=data,
        marks=MARKS,
        judged=judged,
        has_frequencies=_has_frequencies(data),
        has_bias=_has_bias(data),
        mechanisms={one["alias"]: mechanism_words(one["alias"]) for one in data["conditions"]},
        absent=_absent(data["learners"]),
    )


def _has_frequencies(data: Mapping[str, Any]) -> bool:
    """Whether labels at random occur with several label frequencies, all else being the same."""
    places = [(one["setting"], one["parameters"]) for one in data["conditions"] if one["alias"] == "S1"]
    return len(places) > len(set(places))


def _has_bias(data: Mapping[str, Any]) -> bool:
    """Whether some label frequency occurs with random and with biased labels, all else being the same."""
    seen: dict[tuple[int, float], set[str]] = {}
    for one in data["conditions"]:
        seen.setdefault((one["setting"], one["frequency"]), set()).add(one["alias"])
    return any("S1" in aliases and len(aliases) > 1 for aliases in seen.values())


def _absent(shown: Sequence[Mapping[str, Any]]) -> list[str]:
    """Learners that pulens has and this archive has no runs of: a reader should not take them for forgotten."""
    there = {one["name"] for one in shown}
    return sorted((title for name, title in titles().items() if name not in there), key=str.lower)


def _rows(result: Board) -> list[dict[str, Any]]:
    """The table as the page opens: also for readers without scripts."""
    summaries = tables.summaries(result.cells)
    return [
        {
            "title": result.learners[name].marked,
            "family": result.learners[name].family,
            "cells": [
                (
                    "" if (one := summaries.get((name, d))) is None else one.shown(result.factor),
                    result.other_seeds.get((name, d)),
                )
                for d in result.datasets
            ],
        }
        for name in result.order
    ]


def _sentence(result: Board) -> str:
    """Who leads and whether that means anything."""
    competing = [name for name in result.order if not result.learners[name].uses_truth]
    if not competing:
        return "Only learners that are told the truth have runs here."
    sets = "one data set" if len(result.datasets) == 1 else f"{len(result.datasets)} data sets"
    everywhere = [name for name in competing if all((name, one) in result.cells for one in result.datasets)]
    end, side = ("lowest", "below") if sign_of(result.metric) < 0 else ("highest", "above")
    lead = (everywhere or competing)[0]
    name = result.learners[lead].marked
    words = f"{name} has the {end} mean {result.metric} over {sets}"
    if not everywhere:
        words = f"{name} is furthest {side} the average {result.metric} of the data sets it was run on"
    elif len(everywhere) < len(competing):
        words += f" among the {len(everywhere)} of {len(competing)} learners that were run on all of them"
    ranking = result.ranking
    if ranking is None:
        return f"{words}; there is too little to rank learners by."
    best = ranking.learners[0]
    together = next((group for group in ranking.groups if best in group), (best,))
    whose = "its rank" if best == lead else f"the best mean rank, of {result.learners[best].marked},"
    if len(together) == 1:
        return f"{words}; {whose} stands clear of all others."
    equal = "one other" if len(together) == 2 else f"{len(together) - 1} others"
    return f"{words}; {whose} cannot be distinguished from {equal} of {len(ranking.learners)}."


def _failed(archive: Archive) -> list[dict[str, Any]]:
    """Failed runs gathered by learner, data set and reason."""
    gathered: dict[tuple[str, str, str], list[int]] = {}
    for row in archive.failed:
        place = row["title"] or row["learner"], row["dataset"], " ".join((row["reason"] or "no reason given").split())
        gathered.setdefault(place, []).append(row["seed"])
    return [
        {
            "learner": learner,
            "dataset": dataset,
            "reason": reason[:400],
            "seeds": sorted(set(seeds)),
            "runs": len(seeds),
        }
        for (learner, dataset, reason), seeds in sorted(gathered.items())
    ]
