"""How evaluation without negatives fared on an archive, within a given number of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulens.research.benchmark.analyse import judgement
from pulens.research.benchmark.analyse.conditions import Condition, newest
from pulens.research.benchmark.archive import Archive

Row = Mapping[str, Any]
FEWER = 200  # redraws where the class prior is estimated in each


@dataclass(frozen=True)
class Judged:
    """Summaries over the runs of one condition; each is a list of rows for a table."""

    coverage: tuple[Row, ...]  # of intervals, by prior and metric
    epochs: tuple[Row, ...]  # what each criterion's choice of epoch cost
    learners: tuple[Row, ...]  # what each way to choose a learner cost, on the runs with the known prior
    sampled_learners: tuple[Row, ...]  # the same on the runs whose class prior was estimated too, where they are fewer
    runs: int  # with the class prior known
    sampled: int  # of them, with the class prior estimated as well
    by_run: Mapping[str, tuple[Row, ...]]  # key -> judgements with the known prior; also of runs told the truth
    redraws: int  # of theirs


def judge_within(archive: Archive, condition: Condition, most: int | None = 300, redraws: int = 500) -> Judged:
    """Judge all runs of a condition with the class prior known, and at most this many with an estimated one.

    Estimating the class prior is what takes time: there at most :data:`FEWER` redraws are made, and runs are taken
    whole seeds at a time, so that learners stay comparable; ``None`` takes all.
    """
    mine = newest(row for row in archive.done if condition.holds(row))[0]
    competing = [row for row in mine if not row["uses_truth"]]
    sample = competing if most is None else within(competing, most)
    known = judgement.judge(archive, prior="known", redraws=redraws, rows=mine)
    estimated = judgement.judge(archive, prior="estimated", redraws=min(redraws, FEWER), rows=sample)
    told = [row for row in known if not row["uses_truth"]]
    is_part = len(sample) < len(competing)
    whole = told if is_part else told + estimated
    chosen = {row["key"] for row in sample}
    both = [row for row in told if row["key"] in chosen] + estimated
    return Judged(
        tuple(judgement.coverage(told + estimated, by=("prior", "metric"))),
        tuple(judgement.epoch_regret(archive, rows=mine)),
        tuple(judgement.learner_regret(archive, whole, rows=mine)),
        tuple(judgement.learner_regret(archive, both, rows=sample)) if is_part else (),
        len(competing),
        len(sample),
        gathered(known),
        redraws,
    )


def gathered(judged: Sequence[Row]) -> dict[str, tuple[Row, ...]]:
    """Judgements by the key of their run."""
    result: dict[str, list[Row]] = {}
    for row in judged:
        result.setdefault(row["key"], []).append(row)
    return {key: tuple(own) for key, own in result.items()}


def within(rows: Sequence[Row], most: int) -> list[Row]:
    """Runs of whole (data set, seed) groups, seeds in turn over the data sets, until there are enough.

    >>> rows = [{"dataset": d, "seed": s, "learner": m} for d in "xy" for s in (1, 2) for m in "ab"]
    >>> [(row["dataset"], row["seed"]) for row in within(rows, 4)]
    [('x', 1), ('x', 1), ('y', 1), ('y', 1)]
    """
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["dataset"], row["seed"]), []).append(row)
    turn: dict[str, int] = {}
    order = []
    for dataset, seed in sorted(groups):
        turn[dataset] = turn.get(dataset, -1) + 1
        order.append((turn[dataset], dataset, seed))
    result: list[Row] = []
    for _, dataset, seed in sorted(order):
        if result and len(result) + len(groups[dataset, seed]) > most:
            break
        result += groups[dataset, seed]
    return result
