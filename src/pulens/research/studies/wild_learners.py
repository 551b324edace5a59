"""Which learners gain where labels are real: species records, diagnoses, reviews, comments, judged by a truth."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from pulens.atomic_write import write_whole
from pulens.errors import PulensError
from pulens.learning.learners import advise
from pulens.research.benchmark.wild import family_of, wild_folder, worlds
from pulens.research.studies._stored import store_path
from pulens.research.studies._study import Claim, Outcome, Study, Verdict, Workbench
from pulens.research.studies._wild import on_all_cores
from pulens.research.studies._wild_learners import (
    METRICS,
    NAMES,
    WildRun,
    by_family,
    complete,
    read_runs,
    regrets,
    run_world,
)

BATCH = 64  # runs between two writes of what --out keeps
QUICK = ("logistic regression", "boosting", "PUBagging", "ElkanNoto")
CALLS = {
    "boosted_pu": "BoostedPU",
    "pu_bagging": "PUBagging",
    "puet": "PUET",
    "nnpu": "NNPU",
    "upu": "UPU",
    "vpu": "VPU",
}
CALLS |= {"elkan_noto": "ElkanNoto", "weighted_elkan_noto": "WeightedElkanNoto"}
CALLS |= {"pu_bagging around boosting": "PUBagging, boosting", "naive boosting at the quantile": "boosting"}


def run(bench: Workbench) -> Outcome:
    """Trains what ``--out`` does not hold yet; ``--quick`` takes one data set of each family and four learners."""
    store = store_path(bench, "wild-learners", ".jsonl")
    runs = read_runs(store)
    done = {(one.world, one.learner) for one in runs}
    listed = list(worlds(wild_folder()))
    if bench.quick:
        listed = list({family_of(world): (path, world) for path, world in reversed(listed)}.values())[::-1]
    names = QUICK if bench.quick else NAMES
    jobs = [(*one, name, bench.seed) for name in names for one in listed if (one[1]["world"], name) not in done]
    for begin in range(0, len(jobs), BATCH):
        bench.progress(f"{begin} of {len(jobs)} runs")
        runs += on_all_cores(_run, jobs[begin : begin + BATCH])
        if store is not None:
            write_whole(store, "\n".join(one.to_line() for one in runs))
    return outcome_of(runs)


def _run(job: tuple[Path, dict[str, Any], str, int]) -> WildRun:
    return run_world(*job)


def outcome_of(runs: Sequence[WildRun]) -> Outcome:
    """Tables and claims of runs, on the data sets that all learners among them have."""
    kept = complete(runs)
    if not kept:
        raise PulensError("no data set has runs of every learner: run the study again to go on.")
    names = [name for name in NAMES if any(run.learner == name for run in kept)]
    names.sort(key=lambda name: -by_family([run for run in kept if run.learner == name], attrgetter("roc_auc")))
    sets, families = len({run.world for run in kept}), len({run.family for run in kept})
    lines = [
        f"{sets} data sets in {families} families, which count alike. In percent; F1 with as many rows flagged as are "
        "positive. Loss: mean ROC AUC lost against the best learner of each data set. Seconds: of a data set.",
        f"{'':<24}{'ROC AUC':>9}{'AP':>7}{'F1':>7}{'loss':>7}{'best on':>9}{'seconds':>9}",
    ]
    for name in names:
        own = [run for run in kept if run.learner == name]
        shown = [100 * by_family(own, attrgetter(metric)) for metric in METRICS]
        lost = regrets(kept, "roc_auc", name)
        first = sum(loss == 0 for _, loss in lost)
        lines.append(
            f"{name:<24}{shown[0]:>9.1f}{shown[1]:>7.1f}{shown[2]:>7.1f}{100 * _mean(lost):>7.1f}{first:>9}"
            f"{fmean(run.seconds for run in own):>9.1f}"
        )
    return Outcome(("\n".join(lines), _families(kept, names)), _claims(kept, names))


def _mean(lost: Sequence[tuple[str, float]]) -> float:
    families: dict[str, list[float]] = {}
    for family, loss in lost:
        families.setdefault(family, []).append(loss)
    return fmean(fmean(own) for own in families.values())


def _families(runs: Sequence[WildRun], names: Sequence[str]) -> str:
    """ROC AUC by family, the best learners beside each other."""
    shown = names[:6]
    lines = ["ROC AUC by family, in percent", f"{'':<36}" + "".join(f"{name[:19]:>20}" for name in shown)]
    for family in sorted({run.family for run in runs}):
        own = {n: [r.roc_auc for r in runs if (r.family, r.learner) == (family, n)] for n in shown}
        count = len(next(iter(own.values())))
        lines.append(f"{f'{family} ({count})':<36}" + "".join(f"{100 * fmean(own[name]):>20.1f}" for name in shown))
    return "\n".join(lines)


def _claims(runs: Sequence[WildRun], names: Sequence[str]) -> tuple[Claim, ...]:
    """Whether a PU learner gains on counting unlabelled rows as negatives, and what the package's advice loses."""
    result = []
    means = {name: by_family([r for r in runs if r.learner == name], attrgetter("roc_auc")) for name in names}
    if {"boosting", "BoostedPU"} <= means.keys():
        gain = 100 * (means["BoostedPU"] - means["boosting"])
        result.append(
            _claim("BoostedPU ranks better than boosting of labelled against unlabelled rows", gain > 0, gain)
        )
    if {"logistic regression", "NNPU"} <= means.keys():
        gain = 100 * (means["NNPU"] - means["logistic regression"])
        result.append(_claim("NNPU ranks better than logistic regression", gain > 0, gain))
    advised = [run for run in runs if _advised(run, names) is not None]
    if advised:
        lost = 100 * _mean(regrets(advised, "roc_auc", lambda run: str(_advised(run, names))))
        best = min(names, key=lambda name: _mean(regrets(runs, "roc_auc", name)))
        least = 100 * _mean(regrets(runs, "roc_auc", best))
        told = f"{lost:.1f} points of ROC AUC; always {best}: {least:.1f}"
        result.append(
            Claim("The learner that learners.advise names first loses at most 2 points", _verdict(lost <= 2), told)
        )
    return tuple(result)


def _advised(run: WildRun, names: Sequence[str]) -> str | None:
    """The learner that is advised first, if it has runs here: another one in its place would not judge the advice."""
    prior = max(run.class_prior, run.labelled / run.rows)
    told = advise(rows=run.rows, labelled=run.labelled, class_prior=prior, scenario=run.scenario, suggestions=1)
    first = CALLS.get(told.suggestions[0].learner)
    return first if first in names else None


def _verdict(holds: bool) -> Verdict:
    return "reproduced" if holds else "differs"


def _claim(statement: str, holds: bool, gain: float) -> Claim:
    return Claim(statement, _verdict(holds), f"{gain:+.1f} points of ROC AUC, families alike")


STUDY = Study("Learners on real labels, judged by a truth", "pulens' own, docs/research/wild.md", run)
