"""Do comparisons, decisions, calibration and groups hold where labels are real? Families are judged by the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pulens.research.benchmark.wild import WildAnswer, WildProblem, coverage
from pulens.research.benchmark.wild_answers import (
    claims,
    judge_calibration,
    judge_decision,
    judge_difference,
    judge_gap,
    judge_top,
    pairs_of,
)
from pulens.research.studies._stored import store_path
from pulens.research.studies._study import Claim, Outcome, Study, Workbench
from pulens.research.studies._wild import FEW, MODELS, on_all_cores, percent, ruled, wild_problems, write_rows
from pulens.research.studies.wild_coverage import learned_without, lowest_family, verdict_of
from pulens.selection.practice import Practice

PRACTICE, KIND, RANDOM = "practice", "its kind of labelling left out", "random"
HEADS = ("hold", "lowest", "width", "its kind", "lowest", "random", "width", "of")
JUDGES: Mapping[str, Callable[..., list[WildAnswer]]] = {
    "compare": judge_difference,
    "decide": judge_decision,
    "calibrate": judge_calibration,
    "groups": judge_gap,
    "top": judge_top,
}
EXCESS = "excess"  # of the chosen threshold's cost: a number without an interval
Answers = dict[tuple[str, str], list[WildAnswer]]  # by function and by what is taken of labels
Job = tuple[str, Any, Practice, Practice, int]


def run(bench: Workbench) -> Outcome:
    """Scores every data set, learns without each family and each kind, and makes the public calls."""
    problems = wild_problems(bench, MODELS)
    answers = judged(problems, *learned_without(bench, problems), bench.seed)
    store = store_path(bench, "wild-functions", ".jsonl")
    if store is not None:
        told = (
            {"function": function, "labels": way, **asdict(row)}
            for (function, way), own in answers.items()
            for row in own
        )
        write_rows(store, told)
    return Outcome(tables_of(answers), claims_of(answers), () if store is None else (store,))


def judged(
    problems: Sequence[WildProblem], without: Mapping[str, Practice], kindless: Mapping[str, Practice], seed: int
) -> Answers:
    """What every function says of every data set."""
    items: list[tuple[str, Any, str]] = [
        (name, one, one.family) for one in problems for name in JUDGES if name != "compare"
    ]
    items += [("compare", pair, pair[0].family) for pair in pairs_of(problems)]
    result: Answers = {}
    jobs = [(name, item, without[family], kindless[family], seed) for name, item, family in items]
    for (function, *_), found in zip(jobs, on_all_cores(judge_function, jobs), strict=True):
        for way, rows in found.items():
            result.setdefault((function, way), []).extend(rows)
    return result


def judge_function(job: Job) -> dict[str, list[WildAnswer]]:
    """One public call on one data set: labels as in practice, learned without its family or its kind, and random."""
    name, item, practice, kindless, seed = job
    ways: dict[str, Practice | str] = {PRACTICE: practice, KIND: kindless, RANDOM: "random"}
    return {way: JUDGES[name](item, labelling, seed=seed) for way, labelling in ways.items()}


def tables_of(answers: Answers) -> tuple[str, ...]:
    """How often intervals hold and floors are kept, and how often a model is named the better one."""
    lines: list[tuple[str, Sequence[str]]] = []
    for function in JUDGES:
        rows = {way: answers.get((function, way), []) for way in (PRACTICE, KIND, RANDOM)}
        facts = {way: coverage(own) for way, own in rows.items()}
        for metric in (name for name in facts[PRACTICE] if name != EXCESS):
            cells = []
            for way in (PRACTICE, KIND, RANDOM):
                own = facts[way].get(metric, {"holds": np.nan, "width": np.nan})
                cells.append(percent(own["holds"]))
                cells += [percent(lowest_family(rows[way], metric))] if way != RANDOM else []
                cells += [_width(metric, own["width"])] if way != KIND else []
            lines.append((f"{function}: {metric}", [*cells, str(sum(row.metric == metric for row in rows[PRACTICE]))]))
    first = ruled(
        "Percent of 95% intervals that hold and of floors that are kept, each family judged by the others; lowest of "
        f"families with {FEW} or more; mean widths.",
        HEADS,
        lines,
    )
    return first, _named(answers)


def _width(metric: str, width: float) -> str:
    return "" if metric.endswith("floor") or np.isnan(width) else f"{width:.3f}" if width < 2 else f"{width:.0f}"


def _named(answers: Answers) -> str:
    lines = []
    for way in (PRACTICE, KIND, RANDOM):
        for metric, own in claims(answers.get(("compare", way), [])).items():
            lines.append((f"{way}: {metric}", [percent(own[each]) for each in ("right", "wrong", "leads")]))
    head = "Percent of comparisons that name the better model with certainty, that name the worse one, and in which "
    return ruled(head + "the model with the better value is the better one.", ("right", "wrong", "leads"), lines)


def claims_of(answers: Answers) -> tuple[Claim, ...]:
    """What is asked of functions on families that were left out."""
    rows = {
        f"{function}: {metric}": [row for row in own if row.metric == metric]
        for (function, way), own in answers.items()
        if way == PRACTICE
        for metric in dict.fromkeys(row.metric for row in own)
        if metric != EXCESS
    }
    held = {name: next(iter(coverage(own).values()))["holds"] for name, own in rows.items()}
    lowest = {name: lowest_family(own, own[0].metric) for name, own in rows.items()}
    low = [f"{name} {percent(share)}" for name, share in held.items() if share < 0.93]
    few = [f"{name} {percent(share)}" for name, share in lowest.items() if share < 0.8]
    wrong = max(own["wrong"] for own in claims(answers[("compare", PRACTICE)]).values())
    return (
        Claim("Every number holds in 93% of families left out", verdict_of(not low), ", ".join(low) or "all"),
        Claim(
            f"No family of {FEW} runs or more is below 80%",
            verdict_of(not few, list(lowest.values())),
            ", ".join(few) or "none",
        ),
        Claim("A worse model is named the better one in at most 5%", verdict_of(wrong <= 0.05), percent(wrong)),
    )


STUDY = Study("Every function on real labels, judged by a truth", "pulens' own, docs/research/wild.md", run)
