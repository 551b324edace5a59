"""Do audits hold where labels are real? As many rows as an afternoon allows are checked, and judged by the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

from pulens.audits.counts import CheckedRows
from pulens.audits.result import AuditResult
from pulens.counts.tally import Tally
from pulens.research.benchmark.wild import WildProblem
from pulens.research.studies._stored import store_path
from pulens.research.studies._study import Claim, Outcome, Study, Workbench
from pulens.research.studies._wild import FEW, on_all_cores, percent, ruled, wild_problems, write_rows

BUDGETS = (60, 100, 200)
METRICS = ("class_prior", "precision", "recall", "f1", "roc_auc", "average_precision")
HEADS = ("class prior", "precision", "recall", "F1", "ROC AUC", "AP")
QUICK_AUDITS, AUDITS = 2, 6  # of each run and budget


@dataclass(frozen=True, slots=True)
class WildAudit:
    """One number of one audit beside the truth; ``labels`` is what its test says of the labelling."""

    family: str
    name: str
    model: str
    rows: int
    metric: str
    truth: float
    low: float
    high: float
    labels: str

    @property
    def holds(self) -> bool:
        return self.low - 1e-9 <= self.truth <= self.high + 1e-9

    @property
    def width(self) -> float:
        return self.high - self.low


def run(bench: Workbench) -> Outcome:
    """Audits of every data set, at the threshold that flags as many rows as are positive."""
    problems = wild_problems(bench)
    audits = QUICK_AUDITS if bench.quick else AUDITS
    bench.progress(f"{len(problems)} runs, {audits} audits of {', '.join(map(str, BUDGETS))} rows each")
    work = partial(audited, audits=audits, seed=bench.seed)
    rows = [row for own in on_all_cores(work, problems) for row in own]
    store = store_path(bench, "wild-audits", ".jsonl")
    if store is not None:
        write_rows(store, map(asdict, rows))
    return outcome_of(rows, () if store is None else (store,))


def audited(problem: WildProblem, audits: int, seed: int) -> list[WildAudit]:
    """A few audits of one data set for each number of rows; a number that an audit withholds is left out."""
    truths = {**problem.truths(), "class_prior": problem.class_prior}
    found = []
    for budget in BUDGETS:
        for place in range(audits):
            answer = audit_of(problem, budget, seed * 1000 + place)
            verdict = answer.labelling
            said = "not tested" if verdict is None or verdict.undefined_because else "not contradicted"
            if verdict is not None and verdict.contradicted:
                said = "favour high scores" if verdict.z < 0 else "favour low scores"
            for metric in METRICS:
                own = answer.class_prior if metric == "class_prior" else answer.estimates.get(metric)
                if own is None or own.interval is None:
                    continue
                told = problem.family, problem.name, problem.model, budget, metric
                low, high = float(own.interval.low), float(own.interval.high)
                found.append(WildAudit(*told, float(truths[metric]), low, high, said))
    return found


def audit_of(problem: WildProblem, budget: int, seed: int) -> AuditResult:
    """Plan an audit, and answer every row with the truth."""
    from pulens.evaluation.audit import plan_audit

    labels = problem.labelled.astype(int)
    plan = plan_audit(
        labels,
        problem.scores,
        threshold=problem.threshold,
        budget=min(budget, int((labels == 0).sum())),
        scenario=str(problem.scenario),
        seed=seed,
    )
    answers = problem.truth[[int(name) for name in plan.rows.name]].astype(np.int64)
    strata = len(plan.strata)
    checked = np.bincount(plan.rows.stratum, minlength=strata)
    positive = np.bincount(plan.rows.stratum, answers, minlength=strata).astype(np.int64)
    return AuditResult(
        counts=plan.counts_of(checked, positive, np.zeros(strata, np.int64)),
        checked_rows=CheckedRows(stratum=plan.rows.stratum, score=plan.rows.score, answer=answers),
        tally=Tally.from_arrays(labels, problem.scores),
        threshold=plan.threshold,
        seed=seed,
    )


def by_family(rows: Sequence[WildAudit], value: Callable[[WildAudit], float]) -> float:
    """The mean over a family, then over families.

    >>> rows = [WildAudit(f, "x", "m", 60, "f1", 0.5, low, 0.6, "") for f, low in (("a", 0.1), ("a", 0.3), ("b", 0.4))]
    >>> round(by_family(rows, lambda row: row.width), 3)
    0.3
    """
    families: dict[str, list[float]] = {}
    for row in rows:
        families.setdefault(row.family, []).append(value(row))
    return fmean(fmean(own) for own in families.values()) if families else float("nan")


def outcome_of(rows: Sequence[WildAudit], files: tuple[Path, ...] = ()) -> Outcome:
    """Tables and claims of audits."""
    lines, held = [], {}
    for budget in BUDGETS:
        own = [[row for row in rows if (row.rows, row.metric) == (budget, metric)] for metric in METRICS]
        held[budget] = [by_family(some, lambda row: row.holds) for some in own]
        lines.append((f"{budget} rows: hold", [percent(value) for value in held[budget]]))
        lowest = [_lowest(some) for some in own]
        lines.append((f"   lowest family of {FEW} audits", [percent(value) for value in lowest]))
        lines.append(("   mean width", [f"{by_family(some, lambda row: row.width):.3f}" for some in own]))
    many = len({(row.family, row.name, row.model) for row in rows})
    first = ruled(f"{many} runs, families alike: percent of 95% intervals that hold", HEADS, lines)
    every = [value for own in held.values() for value in own]
    claim = Claim(
        "Every number holds in 93 to 98% of audits",
        "reproduced" if min(every) >= 0.93 else "differs",
        f"{percent(min(every))} to {percent(max(every))}%",
    )
    return Outcome((first, _families(rows), _labelling(rows)), (claim,), files)


def _lowest(rows: Sequence[WildAudit]) -> float:
    families = {row.family for row in rows}
    held = [[row.holds for row in rows if row.family == family] for family in families]
    return min((fmean(own) for own in held if len(own) >= FEW), default=float("nan"))


def _families(rows: Sequence[WildAudit]) -> str:
    lines = []
    for family in sorted({row.family for row in rows}):
        cells = []
        for metric in METRICS:
            own = [row for row in rows if (row.family, row.metric, row.rows) == (family, metric, 100)]
            cells.append(f"{percent(fmean(r.holds for r in own))} {fmean(r.width for r in own):.2f}" if own else "-")
        lines.append((family, cells))
    return ruled("By family, 100 rows: percent that hold, and the mean width", HEADS, lines)


def _labelling(rows: Sequence[WildAudit]) -> str:
    said = ("favour high scores", "favour low scores", "not contradicted", "not tested")
    lines = []
    for family in ("all families", *sorted({row.family for row in rows})):
        cells = []
        for budget in BUDGETS:
            own = [r for r in rows if (r.rows, r.metric) == (budget, "f1") and family in ("all families", r.family)]
            shares = [by_family(own, lambda row, words=words: row.labels == words) for words in said]  # type: ignore[misc]
            cells.append(" ".join(f"{percent(share):>3}" for share in shares).rjust(16))
        lines.append((family, cells))
    title = f"What the labelling test says, percent of audits: {', '.join(said)}"
    return ruled(title, [f"{budget} rows" for budget in BUDGETS], lines)


STUDY = Study("Audits on real labels, judged by a truth", "pulens' own, docs/research/wild.md", run)
