"""From a run's facts to rows: the table, the split, PU labels for training, validation and test; the truth apart.

The split and the chance behind labels depend on the seed alone: all learners see the same rows, and with more labels
the labelled rows of fewer labels are still labelled.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.atomic_write import whole_file
from pulens.errors import AssumptionError
from pulens.learning.labelling import auxiliary_log_odds, find
from pulens.learning.synthesis.checks import check_parameters, check_recipe
from pulens.learning.synthesis.clues import Clues
from pulens.learning.synthesis.door import label_part
from pulens.learning.synthesis.draws import split
from pulens.research.benchmark import datasets
from pulens.research.benchmark.plan import Run
from pulens.scenario import check_scenario
from pulens.types import Booleans, Places


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """All rows of a data set as float32, their true classes, and which of them are the official test rows."""

    X: NDArray[np.float32]
    y: Booleans
    test: Booleans | None


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Distinct rows on which a run is judged: their truth, and who carries which PU label.

    A row may be both labelled and unlabelled (the whole pool is unlabelled), or neither (disjoint samples leave some
    out).
    """

    rows: Places
    truth: Booleans
    labelled: Booleans
    unlabelled: Booleans


SUPPORT_ROWS = 500  # as LaGAM's authors use


@dataclass(frozen=True, eq=False)
class PreparedRun:
    """What a run is trained and judged on. ``rows`` and ``labels`` are all that a PU learner is given."""

    run: Run
    rows: Places
    labels: NDArray[np.int8]
    pool: Places  # distinct training rows
    pool_truth: Booleans  # for the reference that is told the truth, and for nobody else
    validation: JudgedRows
    test: JudgedRows
    class_prior: float  # of the population: counted, before labels were drawn
    label_frequency: float  # realised
    notices: tuple[str, ...] = ()

    def support(self) -> tuple[Places, NDArray[np.int8]]:
        """Training rows with true labels for learners that ask for some: at most 500, at most a twentieth of them.

        Both classes in their proportion, but at least two rows of each; such a learner does not train on them besides.
        """
        rng = np.random.default_rng([self.run.seed, 500])
        wanted = min(SUPPORT_ROWS, self.pool.size // 20)
        chosen = []
        for own in (self.pool[self.pool_truth], self.pool[~self.pool_truth]):
            chosen.append(rng.permutation(own)[: max(2, round(wanted * own.size / self.pool.size))])
        return np.concatenate(chosen), np.repeat(np.array([1, -1], np.int8), [len(own) for own in chosen])


@lru_cache(maxsize=2)
def load_table(dataset: str, rows: int | None = None, options: tuple[tuple[str, Any], ...] = ()) -> LabelledTable:
    """The data set as one table; with ``rows`` a fixed random part of it, classes in proportion."""
    data = datasets.load(dataset, **dict(options))
    assert data.y is not None
    X, y, test = data.prepared(), data.y, None
    if data.X_test is not None:
        assert data.y_test is not None
        X, y = np.concatenate([X, data.prepared(data.X_test)]), np.concatenate([y, data.y_test])
        test = np.arange(len(y)) >= len(data.y)
    return part_of(LabelledTable(np.ascontiguousarray(X, np.float32), y, test), rows)


def part_of(table: LabelledTable, rows: int | None) -> LabelledTable:
    """A fixed random part of a table, classes and official test rows in proportion; all of it without ``rows``."""
    y, test = table.y, table.test
    if rows is None or rows >= len(y):
        return table
    kinds = y if test is None else y + 2 * test
    rng = np.random.default_rng(0)
    kept = np.sort(
        np.concatenate(
            [
                rng.permutation(np.flatnonzero(kinds == kind))[: round(rows * float((kinds == kind).mean()))]
                for kind in np.unique(kinds)
            ]
        )
    )
    return LabelledTable(table.X[kept], y[kept], None if test is None else test[kept])


def table_of(run: Run) -> LabelledTable:
    return load_table(run.dataset, run.rows, tuple(sorted(run.dataset_options.items())))


def split_of(run: Run, table: LabelledTable) -> tuple[Places, Places, Places]:
    """Training pool, validation rows and test rows; the same for all runs with this data set and seed."""
    rng = np.random.default_rng(np.random.SeedSequence(run.seed).spawn(4)[0])
    if table.test is None:
        pool, test = split(table.y, run.test_share, rng)
    else:
        pool, test = np.flatnonzero(~table.test), np.flatnonzero(table.test)
    stay, held = split(table.y[pool], run.validation_share, rng)
    return pool[stay], pool[held], test


def scaled(X: NDArray[np.float32], pool: Places) -> NDArray[np.float32]:
    """Columns with mean 0 and deviation 1 on the training pool; no other row is looked at."""
    mean, deviation = X[pool].mean(0, dtype=np.float64), X[pool].std(0, dtype=np.float64)
    result: NDArray[np.float32] = ((X - mean) / np.where(deviation > 0, deviation, 1.0)).astype(np.float32)
    return result


def prepare(run: Run, table: LabelledTable, cache: Path | None = None) -> PreparedRun:
    """Split, label, count."""
    pool, held, test = split_of(run, table)
    rule = find(run.mechanism)
    scenario = check_scenario(run.scenario)
    recipe = check_recipe(scenario, rule, run.label_frequency, None, 0.0, run.unlabelled, None)
    # what judges intervals must be two independent samples, whatever the training sample repeats
    fair = check_recipe(scenario, rule, run.label_frequency, None, 0.0, "disjoint", None)
    settings = check_parameters(run.mechanism, rule, dict(run.parameters))
    source: Any = Clues(_looks(run, table, pool), table.y, pool, rule, None, settings, run.seed)
    if rule.reads == "log_odds":
        source = _KnownOdds(rule, settings, _log_odds(run, table, pool, cache))
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(run.seed).spawn(4)[1:]]
    train = label_part(table.X, table.y, pool, recipe, source, streams[0])[0]
    judged = {}
    for name, part, used, rng in (("validation", held, recipe, streams[1]), ("test", test, fair, streams[2])):
        made = label_part(table.X, table.y, part, used, source, rng)[0]
        labelled, unlabelled = made.rows[made.labels == 1], made.rows[made.labels == 0]
        judged[name] = JudgedRows(part, table.y[part], np.isin(part, labelled), np.isin(part, unlabelled))
    if not judged["validation"].labelled.any():
        raise AssumptionError(
            f"{run}: none of the {held.size} validation rows is labelled, so no epoch can be selected. Raise "
            "validation_share or label_frequency."
        )
    if train.n_labelled == 0:
        raise AssumptionError(f"{run}: no training row is labelled. Raise label_frequency.")
    notices = []
    few = int(judged["validation"].labelled.sum())
    if few < 10:
        notices.append(f"epochs were selected with {few} labelled validation row{'s' if few > 1 else ''}")
    return PreparedRun(
        run,
        train.rows,
        train.labels,
        pool,
        table.y[pool],
        judged["validation"],
        judged["test"],
        float(table.y[pool].mean()),
        train.label_frequency,
        tuple(notices),
    )


class _KnownOdds:
    """Chooses by log-odds that were computed before, for all rows at once."""

    def __init__(self, rule: Any, settings: dict[str, Any], odds: NDArray[np.float64]) -> None:
        self.rule, self.settings, self.odds = rule, settings, odds

    def choose(self, places: Places, count: int, rng: np.random.Generator) -> Places:
        result: Places = places[self.rule.choose(self.odds[places], count, rng, **self.settings)]
        return result


def _looks(run: Run, table: LabelledTable, pool: Places) -> Any:
    return scaled(table.X, pool) if run.standardise else table.X


def _log_odds(run: Run, table: LabelledTable, pool: Places, cache: Path | None) -> NDArray[np.float64]:
    """The auxiliary posterior of biased labels; kept on disk, since every learner of the plan needs it again."""
    facts: list[Any] = [run.dataset, run.rows, run.seed, run.test_share, run.validation_share, run.standardise]
    if run.data_options:
        facts.append(run.data_options)
    name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]
    place = None if cache is None else cache / f"odds-{run.dataset}-{name}.npy"
    if place is not None and (stored := _stored_odds(place, len(table.y))) is not None:
        return stored
    odds = auxiliary_log_odds(_looks(run, table, pool)[pool], table.y[pool], _looks(run, table, pool))
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(place) as temporary, temporary.open("wb") as file:
            np.save(file, odds)
    return odds


def _stored_odds(place: Path, rows: int) -> NDArray[np.float64] | None:
    """Odds computed before; None where there are none, or a damaged file that is computed again."""
    try:
        stored = np.load(place, mmap_mode="r", allow_pickle=False)  # makes no room for what is not there
    except Exception:  # what is only kept to save time can be computed again, whatever is wrong with it
        return None
    if not isinstance(stored, np.ndarray) or stored.shape != (rows,) or stored.dtype.kind != "f":
        return None
    odds: NDArray[np.float64] = np.array(stored)
    return odds if not np.isnan(odds).any() else None
