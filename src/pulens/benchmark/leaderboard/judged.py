"""How evaluation without negatives fared on an archive, within a given number of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulens.benchmark import judgement
from pulens.benchmark.archive import Archive
from pulens.benchmark.leaderboard.conditions import Condition

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """Summaries over runs; each is a list of rows for a table."""

    coverage: tuple[Row, ...]  # of intervals, by prior and metric
    epochs: tuple[Row, ...]  # what each criterion's choice of epoch cost
    methods: tuple[Row, ...]  # what each way to choose a method cost
    runs: int
    of: int


def judge_within(archive: Archive, condition: Condition, most: int | None = 300, redraws: int = 200) -> Judged:
    """Judge at most so many runs of a condition, whole seeds at a time so that methods stay comparable.

    ``None`` judges all. What criteria cost in epochs is over the whole archive.
    """
    mine = [row for row in archive.done if condition.holds(row) and not row["uses_truth"]]
    chosen = mine if most is None else within(mine, most)
    judged: list[Row] = []
    for prior in judgement.PRIORS:
        judged += judgement.judge(archive, prior=prior, redraws=redraws, rows=chosen)
    return Judged(
        tuple(judgement.coverage(judged, by=("prior", "metric"))),  # type: ignore[arg-type]
        tuple(judgement.epoch_regret(archive)),
        tuple(judgement.method_regret(archive, judged)),  # type: ignore[arg-type]
        len(chosen),
        len(mine),
    )


def within(rows: Sequence[Row], most: int) -> list[Row]:
    """Runs of whole (data set, seed) groups, seeds in turn over the data sets, until there are enough.

    >>> rows = [{"dataset": d, "seed": s, "method": m} for d in "xy" for s in (1, 2) for m in "ab"]
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
    found: list[Row] = []
    for _, dataset, seed in sorted(order):
        if found and len(found) + len(groups[dataset, seed]) > most:
            break
        found += groups[dataset, seed]
    return found
