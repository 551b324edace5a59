"""Which rows a person should check: strata, how many rows in each, and the rows in the order to check them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.answer import ShownAsText
from pulens.audits.allocation import FEWEST_ROWS, allocate
from pulens.audits.counts import AuditCounts, Counts
from pulens.audits.drawing import queue_order
from pulens.audits.strata import Strata
from pulens.counts.tally import Tally
from pulens.frozen import FrozenMapping
from pulens.inputs.drawn import DrawnRows
from pulens.notice import Notice, Severity
from pulens.scenario import Scenario

if TYPE_CHECKING:
    from pulens.audits.forecast import AuditForecast, RowsNeeded

FEW_ROWS = 25  # budgets below it leave most intervals nearly [0, 1]
FEW_LABELLED = 5  # labelled rows below it say nothing about labelling


@dataclass(frozen=True, eq=False)
class PlannedRows:
    """Rows in the order to check them: what tells each apart (its number, or its id), stratum, score and batch.

    ``kept`` are columns of the table that a person sees; ``carried`` what a queue written before said of a row.
    """

    name: tuple[str, ...]
    stratum: NDArray[np.intp]
    score: NDArray[np.float64]
    batch: NDArray[np.intp]
    kept: Mapping[str, tuple[Any, ...]] = field(default_factory=FrozenMapping)
    carried: Mapping[str, Mapping[str, Any]] = field(default_factory=FrozenMapping)

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditPlan(ShownAsText):
    """Strata, the rows to check and what they will be worth; made by :func:`pulens.plan_audit`.

    ``allocation`` are the rows to check in each stratum, ``batches`` the same for every time rows were asked for.
    ``tally`` counts all rows of the table, thinned where it is long. Printing a plan shows strata and forecast,
    ``write("queue.csv")`` writes the rows with an empty column ``answer``, and beside them what reading them needs.
    """

    #: What completion offers.
    _offered = (
        *("allocation", "budget", "counts", "enlarged", "forecast", "goal", "notices", "power", "probability"),
        *("rows", "rows_for", "scenario", "seed", "strata", "threshold", "to_dict", "write"),
    )

    strata: Strata
    batches: tuple[Counts, ...]
    rows: PlannedRows
    tally: Tally
    goal: str = "all"
    scenario: Scenario = Scenario.SINGLE_SET
    seed: int = 0
    label_noise: float = 0.0
    positives: float | None = None
    threshold_choice: str = "given"
    source: str = ""
    id: str | None = None
    reading: Mapping[str, Any] = field(default_factory=FrozenMapping)
    show_scores: bool = False

    @property
    def threshold(self) -> float:
        return self.strata.threshold

    @cached_property
    def allocation(self) -> Counts:
        """Rows to check in each stratum, in all batches together."""
        result: Counts = np.sum(self.batches, axis=0).astype(np.int64)
        return result

    @property
    def budget(self) -> int:
        """Rows to check in all."""
        return int(self.allocation.sum())

    @property
    def probability(self) -> NDArray[np.float64]:
        """Each stratum's chance that one of its rows is in the queue."""
        rows = self.strata.rows
        return np.divide(self.allocation, rows, out=np.ones(len(rows)), where=rows > 0)

    @property
    def counts(self) -> AuditCounts:
        """What an audit knows before anybody looked."""
        nothing = np.zeros(len(self.strata), np.int64)
        return self.counts_of(nothing, nothing, nothing)

    def counts_of(self, checked: Counts, result: Counts, undecided: Counts) -> AuditCounts:
        return AuditCounts(
            rows=self.strata.rows,
            checked=checked,
            found=result,
            undecided=undecided,
            labelled=self.strata.labelled,
            known_negative=self.strata.known_negative,
            flagged=self.strata.flagged,
            scenario=self.scenario,
        )

    @property
    def digest(self) -> str:
        """A fingerprint of edges, unlabelled and labelled rows: it changes when the table does."""
        return digest_of_strata(self.strata)

    @cached_property
    def forecast(self) -> AuditForecast:
        """How wide intervals will be, for this and other numbers of rows; simulated when it is first asked for."""
        from pulens.audits.forecast import BUDGETS, forecast_of

        budgets = sorted({*BUDGETS, self.budget})
        return forecast_of(self.counts, goal=self.goal, positives=self.positives, budgets=budgets, seed=self.seed)

    def rows_for(self, metric: str = "f1", *, width: float) -> RowsNeeded:
        """How many rows to check until the interval of a metric is about so wide, whatever the labelling."""
        return self.forecast.rows_for(metric, width=width)

    def power(self, *, favours: Literal["high", "low"] = "high", factor: float = 3.0) -> float:
        """The chance that these rows show it when labels favour the better half of the positives this many times."""
        from pulens.audits.allocation import guesses
        from pulens.audits.labelling_power import power_of_test

        strata = self.strata
        labelled = int(strata.labelled.sum())
        if not labelled:
            return 0.0
        guess = np.mean(guesses(strata.rows, strata.labelled, strata.flagged, self.positives), axis=0)
        return power_of_test(
            strata.rows, self.allocation, guess, labelled, favours=favours, factor=factor, seed=self.seed
        )

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a person should know before checking rows."""
        return tuple(_notices(self))

    def enlarged(self, counts: Counts, drawn: DrawnRows, carried: Mapping[str, Mapping[str, Any]]) -> AuditPlan:
        """The plan with one more batch: ``counts`` rows in all, of which those drawn hold the rows planned before."""
        before = self.allocation
        fresh = np.asarray(counts, np.int64) - before
        held = set(self.rows.name)
        names = names_of(drawn)
        indices = [
            [index for index in np.flatnonzero(drawn.stratum == which).tolist() if names[index] not in held][:new]
            for which, new in enumerate(fresh.tolist())
        ]
        fresh = np.array([len(result) for result in indices], np.int64)
        strata, order = queue_order(fresh, self.seed, len(self.batches) + 1)
        added = [indices[which][index] for which, index in zip(strata.tolist(), order.tolist(), strict=True)]
        shown_before = dict.fromkeys(names)
        where = {name: index for index, name in enumerate(names)}
        kept = {
            column: tuple(values[where[name]] if name in shown_before else None for name in self.rows.name)
            + tuple(values[index] for index in added)
            for column, values in drawn.kept.items()
        }
        rows = PlannedRows(
            self.rows.name + tuple(names[index] for index in added),
            np.concatenate([self.rows.stratum, strata]).astype(np.intp),
            np.concatenate([self.rows.score, drawn.score[added]]),
            np.concatenate([self.rows.batch, np.full(len(added), len(self.batches) + 1)]).astype(np.intp),
            FrozenMapping(kept),
            FrozenMapping(carried),
        )
        return replace(self, batches=(*self.batches, fresh), rows=rows)

    def allocated(self, budget: int) -> Counts:
        """Rows in each stratum for a larger number of rows, with those planned already as lower limits."""
        strata = self.strata
        given = {"positives": self.positives, "at_least": self.allocation}
        return allocate(strata.rows, strata.labelled, strata.flagged, budget, self.goal, **given)  # type: ignore[arg-type]

    def write(self, path: str | PathLike[str]) -> None:
        """Write the queue (CSV, TSV, Parquet or Excel by its ending) and ``NAME.audit.json``, both or neither."""
        from pulens.audits.queue import write_queue

        write_queue(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON: the plan without its rows, and the forecast."""
        from pulens.audits.queue import strata_to_dict

        return {
            "threshold": self.threshold,
            "threshold_choice": self.threshold_choice,
            "goal": self.goal,
            "scenario": str(self.scenario),
            "seed": self.seed,
            "budget": self.budget,
            "source": self.source,
            "digest": self.digest,
            "strata": strata_to_dict(self),
            "forecast": self.forecast.to_dict(),
            "notices": [{"severity": one.severity.name.lower(), "message": str(one)} for one in self.notices],
        }

    def __str__(self) -> str:
        from pulens.audits.words import plan_text

        return plan_text(self)

    def __repr__(self) -> str:  # a forecast takes a second, and debuggers ask for this at every step
        return f"AuditPlan({self.budget:,} of {int(self.strata.rows.sum()):,} rows in {len(self.strata)} strata)"


def planned(drawn: DrawnRows, allocation: Counts, seed: int) -> PlannedRows:
    """The first batch, in the order to check it."""
    counts = np.bincount(drawn.stratum, minlength=len(allocation))
    begins = np.cumsum(counts) - counts
    strata, indices = queue_order(counts, seed)
    order = (begins[strata] + indices).tolist()
    names = names_of(drawn)
    return PlannedRows(
        tuple(names[index] for index in order),
        strata.astype(np.intp),
        drawn.score[order],
        np.ones(len(order), np.intp),
        FrozenMapping({name: tuple(values[index] for index in order) for name, values in drawn.kept.items()}),
    )


def names_of(drawn: DrawnRows) -> list[str]:
    """What identifies rows: their ids or their numbers, as text."""
    if drawn.ids is not None:
        return list(drawn.ids)
    assert drawn.place is not None
    return [str(index) for index in drawn.place.tolist()]


def digest_of_strata(strata: Strata) -> str:
    told = [list(strata.edges), strata.rows.tolist(), strata.labelled.tolist()]
    return hashlib.sha256(json.dumps(told, separators=(",", ":")).encode()).hexdigest()


def _notices(plan: AuditPlan) -> list[Notice]:
    strata, result = plan.strata, []

    def note(code: str, words: str) -> None:
        result.append(Notice(Severity.NOTE, code, words))

    if plan.budget >= strata.rows.sum():
        note(
            "every-row", f"Every one of the {plan.budget:,} unlabelled rows is in the queue: nothing is left to chance."
        )
    elif plan.budget < FEW_ROWS:
        note(
            "few-rows",
            f"{plan.budget} rows are few: most intervals will be nearly [0, 1]. {FEWEST_ROWS} is the least that is "
            "planned for, 100 or more say something.",
        )
    labelled = int(strata.labelled.sum())
    if labelled < FEW_LABELLED:
        note(
            "few-labelled",
            f"{labelled} labelled row{'s are' if labelled != 1 else ' is'} too few to say anything about how labels "
            "came about: the answers will be read without that assumption only.",
        )
    flagged = int(strata.rows[: strata.flagged].sum())
    if flagged == 0:
        note("none-flagged", f"No unlabelled row scores {plan.threshold:g} or more: precision cannot be found.")
    elif flagged == strata.rows.sum():
        note("all-flagged", f"Every unlabelled row scores {plan.threshold:g} or more: nothing lies below to be missed.")
    return result
