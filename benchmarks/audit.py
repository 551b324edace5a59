"""Audits in worlds whose hidden positives are known: coverage, widths, errors, the labelling test, forecasts, judges.

Coverage and widths; errors beside a simple
random sample of as many rows; how often the labelling test rejects; how the forecast width compares with the one that
came; what a judge does who errs in 5% of answers. Worlds are those of ``pulens.testing.audit_worlds``, half of them
not looked at while constants were chosen, and the proteins of Elkan and Noto (2008) where their file is found.

Usage: python benchmarks/audit.py [--worlds seen,unseen,proteins] [--audits 400] [--rows 50,100,200,400] [--seed 0]
       [--show coverage,errors,test,forecast,judges] [--goal all] [--only "rare"]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pulens.audits import AuditCounts, CheckedRows
from pulens.audits.allocation import allocate, thinly_checked
from pulens.audits.estimates import design_limits, point_values
from pulens.audits.forecast import forecast_of
from pulens.audits.judges import judged_estimates
from pulens.audits.labelling_test import labelling_of
from pulens.audits.strata import Strata, cut_strata
from pulens.counts.tally import Tally
from pulens.scenario import Scenario
from pulens.testing.audit_worlds import AUDIT_WORLDS, UNSEEN_AUDIT_WORLDS, AuditedTable

METRICS = ("class_prior", "precision", "recall", "f1", "matthews_correlation")
SHOWN = ("class_prior", "precision", "recall", "f1")
PARTS = ("coverage", "errors", "test", "forecast", "judges")
PROTEINS = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "elkan_noto_protein.npz"
ERROR = 0.05  # of a judge's answers


class Proteins:
    """The one table with real labels, as a world: its rows are fixed, only the audit is drawn."""

    name, random_labels, labelled = "proteins (real labels)", False, 2_453

    def __init__(self, path: Path) -> None:
        from scipy import sparse
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import KFold, cross_val_predict
        from sklearn.pipeline import make_pipeline

        file = np.load(path)
        rows = sparse.csr_matrix((file["data"].astype(float), file["indices"], file["indptr"]), shape=file["shape"])
        model = make_pipeline(TfidfTransformer(), LogisticRegression(C=10, max_iter=2_000))
        folds = KFold(5, shuffle=True, random_state=1)
        scores = cross_val_predict(model, rows, file["s"], cv=folds, method="decision_function")
        labelled = file["s"] == 1
        order = np.argsort(-scores[~labelled], kind="stable")
        unlabelled = scores[~labelled][order]
        positive = (file["y"][~labelled] == 1)[order]
        threshold = float(unlabelled[round(0.05 * unlabelled.size) - 1])
        self.table = AuditedTable(scores[labelled], unlabelled, positive, threshold, Scenario.CASE_CONTROL)

    def draw(self, rng: np.random.Generator) -> AuditedTable:
        return self.table


class Audit(NamedTuple):
    table: AuditedTable
    tally: Tally
    strata: Strata
    counts: AuditCounts
    rows: CheckedRows
    truth: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", default="seen,unseen,proteins")
    parser.add_argument("--only", default="", help="worlds whose name holds these words")
    parser.add_argument("--audits", type=int, default=400)
    parser.add_argument("--rows", default="50,100,200,400")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--goal", default="all")
    parser.add_argument("--draws", type=int, default=4_000, help="for each interval of column one")
    parser.add_argument("--show", default=",".join(PARTS))
    asked = parser.parse_args()
    parts, budgets = set(asked.show.split(",")), [int(rows) for rows in asked.rows.split(",")]
    for world in worlds(asked.worlds.split(","), asked.only):
        for budget in budgets:
            print(f"\n{world.name}, {budget} rows, {asked.audits} audits, goal {asked.goal}", flush=True)
            audits = [one_audit(world, budget, asked.goal, [asked.seed, place]) for place in range(asked.audits)]
            for part in PARTS:
                if part in parts:
                    SECTIONS[part](world, budget, audits, asked)


def worlds(groups: list[str], only: str) -> Iterator[Any]:
    for world in (*(AUDIT_WORLDS if "seen" in groups else ()), *(UNSEEN_AUDIT_WORLDS if "unseen" in groups else ())):
        if only in world.name:
            yield world
    if "proteins" in groups and only in Proteins.name:
        if PROTEINS.exists():
            yield Proteins(PROTEINS)
        else:
            print(f"proteins left out: {PROTEINS.name} was not found beside the repository, in shared/data")


def one_audit(world: Any, budget: int, goal: str, seed: list[int]) -> Audit:
    rng = np.random.default_rng(seed)
    table = world.draw(rng)
    labels = np.concatenate([np.ones(table.labelled.size, np.int8), np.zeros(table.unlabelled.size, np.int8)])
    tally = Tally.from_arrays(labels, np.concatenate([table.labelled, table.unlabelled]))
    strata, plan = design(tally, table.threshold, budget, goal)
    starts = np.concatenate([[0], np.cumsum(strata.rows)[:-1]])  # unlabelled rows come highest score first
    places = [
        start + rng.permutation(size)[:taken] for start, size, taken in zip(starts, strata.rows, plan, strict=True)
    ]
    stratum = np.repeat(np.arange(len(strata)), plan)
    chosen = np.concatenate(places)
    rows = CheckedRows(stratum=stratum, score=table.unlabelled[chosen], answer=table.positive[chosen].astype(np.int64))
    return Audit(table, tally, strata, counted(strata, plan, rows, table.scenario), rows, truth_of(table))


def design(tally: Tally, threshold: float, budget: int, goal: str) -> tuple[Strata, Any]:
    for ranges in (4, 3, 2, 1):
        strata = cut_strata(tally, threshold, ranges)
        plan = allocate(strata.rows, strata.labelled, strata.flagged, budget, goal)
        if not thinly_checked(strata.rows, plan, strata.flagged):
            break
    return strata, plan


def counted(strata: Strata, plan: Any, rows: CheckedRows, scenario: Scenario) -> AuditCounts:
    result = np.bincount(rows.stratum, rows.answer, minlength=len(strata)).astype(np.int64)
    return AuditCounts(
        rows=strata.rows,
        checked=plan,
        found=result,
        labelled=strata.labelled,
        known_negative=strata.known_negative,
        flagged=strata.flagged,
        scenario=scenario,
    )


def truth_of(table: AuditedTable) -> dict[str, float]:
    truth = table.truth()
    return truth | {"matthews_correlation": truth["matthews"]}


def held(truth: float, low: float, high: float) -> bool:
    return bool(low - 1e-9 <= truth <= high + 1e-9)


def coverage(world: Any, budget: int, audits: list[Audit], asked: argparse.Namespace) -> None:
    for kind in ("balanced", "strict"):
        hits, widths = defaultdict(list), defaultdict(list)
        for audit in audits:
            limits = design_limits(audit.counts, metrics=METRICS, interval=kind, draws=asked.draws, seed=asked.seed)
            for name, (low, high) in limits.items():
                if np.isfinite(audit.truth[name]):
                    hits[name].append(held(audit.truth[name], low[0], high[0]))
                    widths[name].append(high[0] - low[0])
        print(f"  column one, {kind:9s}" + table_line(METRICS, hits, widths), flush=True)


def table_line(names: tuple[str, ...], hits: Any, widths: Any) -> str:
    return "  ".join(f"{name[:11]} {100 * np.mean(hits[name]):5.1f}% ({np.mean(widths[name]):.3f})" for name in names)


def errors(world: Any, budget: int, audits: list[Audit], asked: argparse.Namespace) -> None:
    ours, random = defaultdict(list), defaultdict(list)
    for place, audit in enumerate(audits):
        rng = np.random.default_rng([asked.seed, place, 1])
        mine, theirs = point_values(audit.counts), _simple_random(audit, budget, rng)
        for name in SHOWN:
            if np.isfinite(audit.truth[name]):
                # a metric that is undefined is taken as 0, as a user would have to
                ours[name].append(np.nan_to_num(mine[name]) - audit.truth[name])
                random[name].append(np.nan_to_num(theirs[name]) - audit.truth[name])
    shown = "  ".join(f"{name[:11]} {_root(random[name]):.4f} / {_root(ours[name]):.4f}" for name in SHOWN)
    print(f"  error, random rows / audit: {shown}", flush=True)


def _root(of: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(of))))


def _simple_random(audit: Audit, budget: int, rng: np.random.Generator) -> dict[str, float]:
    table = audit.table
    rows = rng.permutation(table.unlabelled.size)[:budget]
    above = table.unlabelled[rows] >= table.threshold
    share = table.unlabelled.size / rows.size
    margins = point_margins(audit.counts)
    hits = table.positive[rows][above].sum() * share + margins[0]
    missed = table.positive[rows][~above].sum() * share + margins[1]
    flagged = above.sum() * share + margins[2]  # as a user who looks at random rows only would say precision
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "class_prior": (hits + missed) / margins[3],
            "precision": np.float64(hits) / flagged,
            "recall": np.float64(hits) / (hits + missed),
            "f1": np.float64(2 * hits) / (flagged + hits + missed),
        }


def point_margins(counts: AuditCounts) -> tuple[float, float, float, float]:
    if counts.scenario is Scenario.CASE_CONTROL:
        return 0.0, 0.0, 0.0, float(counts.rows.sum())
    above, every = float(counts.labelled[: counts.flagged].sum()), float(counts.labelled.sum())
    return above, every - above, above, float(counts.rows.sum()) + every


def test(world: Any, budget: int, audits: list[Audit], asked: argparse.Namespace) -> None:
    rejected, power, low = [], [], []
    whole = []
    for audit in audits[: max(len(audits) // 2, min(len(audits), 100))]:
        verdict = labelling_of(audit.counts, audit.rows, audit.tally, seed=asked.seed)
        rejected.append(verdict.contradicted)
        low.append(verdict.z < 0)
        power.append(verdict.power)
        if not verdict.curve.relative:
            whole.append(_curve_held(audit, verdict.curve))
    band = f", whole band of e(s) holds in {100 * np.mean(whole):.1f}%" if whole else ""
    what = "level" if world.random_labels else "power"
    print(
        f"  labelling test: rejected {np.mean(rejected):.3f} ({what}, {len(rejected)} audits), found lower in "
        f"{np.mean(low):.2f}; it foretold a power of {np.mean(power):.2f} against high 3:1{band}",
        flush=True,
    )


def _curve_held(audit: Audit, curve: Any) -> bool:
    counts, ends = audit.counts, np.cumsum(audit.counts.rows)
    hidden = np.diff(np.concatenate([[0], np.cumsum(audit.table.positive)[ends - 1]]))
    true = counts.labelled / np.maximum(counts.labelled + hidden, 1)
    return all(held(value, rate.low, rate.high) for value, rate in zip(true, curve, strict=True))


def forecast(world: Any, budget: int, audits: list[Audit], asked: argparse.Namespace) -> None:
    came = defaultdict(list)
    for audit in audits[:40]:
        limits = design_limits(audit.counts, metrics=SHOWN, draws=asked.draws, seed=asked.seed)
        for name, (low, high) in limits.items():
            came[name].append(high[0] - low[0])
    ratios = defaultdict(list)
    for audit in audits[:3]:
        none = np.zeros_like(audit.counts.rows)
        before = AuditCounts(
            rows=audit.counts.rows,
            checked=none,
            found=none,
            labelled=audit.counts.labelled,
            flagged=audit.counts.flagged,
            scenario=audit.counts.scenario,
        )
        made = forecast_of(before, goal=asked.goal, budgets=[budget], seed=asked.seed)
        for name in SHOWN:
            real = np.mean(came[name])
            lines = [by[name][0] for by in made.widths.values()]
            ratios[name].append(
                min(lines, key=lambda line: abs(np.log((line + 1e-6) / (real + 1e-6)))) / max(real, 1e-6)
            )
    shown = "  ".join(f"{name[:11]} {np.mean(ratios[name]):.2f}" for name in SHOWN)
    print(f"  forecast width (nearer line) over the width that came: {shown}", flush=True)


def judges(world: Any, budget: int, audits: list[Audit], asked: argparse.Namespace) -> None:
    for errors, told in (
        ((ERROR, ERROR), None),
        ((ERROR, ERROR), (ERROR, ERROR)),
        ((0.01, ERROR), None),
        ((0.01, ERROR), (0.01, ERROR)),
    ):
        hits, widths, bias = defaultdict(list), defaultdict(list), defaultdict(list)
        for place, audit in enumerate(audits[: max(len(audits) // 4, min(len(audits), 50))]):
            rng = np.random.default_rng([asked.seed, place, 2])
            luck = rng.random(len(audit.rows))
            answer = np.where(audit.rows.answer == 1, luck >= errors[1], luck < errors[0]).astype(np.int64)
            rows = CheckedRows(stratum=audit.rows.stratum, score=audit.rows.score, answer=answer)
            counts = counted(audit.strata, audit.counts.checked, rows, audit.table.scenario)
            result = judged_estimates(counts, told or (0.0, 0.0), draws=asked.draws, seed=asked.seed)
            for name in SHOWN:
                if not np.isfinite(audit.truth[name]):
                    continue
                interval = result[name].interval
                hits[name].append(held(audit.truth[name], interval.low, interval.high))
                widths[name].append(interval.width)
                bias[name].append(np.nan_to_num(result[name].value) - audit.truth[name])
        wrong = "  ".join(f"{name[:11]} {np.mean(bias[name]):+.3f}" for name in SHOWN)
        print(
            f"  judge errs {errors[0]:.0%} of negatives, {errors[1]:.0%} of positives, {'told' if told else 'silent'}: "
            + table_line(SHOWN, hits, widths)
            + f"; bias {wrong}",
            flush=True,
        )


SECTIONS = {
    "coverage": coverage,
    "errors": errors,
    "test": test,
    "forecast": forecast,
    "judges": judges,
}

if __name__ == "__main__":
    main()
