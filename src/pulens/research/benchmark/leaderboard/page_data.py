"""What the page knows: tables for every condition, selection and metric, and thinned details of single runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pulens.errors import InputError
from pulens.research.benchmark.analyse import bayesian, costs, paired, tables
from pulens.research.benchmark.analyse.cells import METRICS, is_defined
from pulens.research.benchmark.analyse.conditions import Condition, conditions_of, newest
from pulens.research.benchmark.analyse.failures import KINDS, score_view
from pulens.research.benchmark.analyse.judgement import judge
from pulens.research.benchmark.archive import CURVE, Archive
from pulens.research.benchmark.archive.measured import is_share, sign_of
from pulens.research.benchmark.leaderboard.board import (
    ROPE,
    SELECTION_TITLES,
    Board,
    ShownLearner,
    facts_of,
    from_rows,
    published_beside,
    selections_of,
)
from pulens.research.benchmark.leaderboard.judged import Judged, gathered, within

Row = Mapping[str, Any]
Json = dict[str, Any]
DETAILED = 2200  # runs whose curves and densities the page holds
POINTS = 25  # of a learning curve
BINS = 24  # of a score density
LEVEL = 0.05  # of tests, after correction
SIGNS = {"better": 1, "tie": 0, "worse": -1}
SCALE = 100_000  # metrics are sent as whole numbers: a thousandth of a point
WITHOUT_NEGATIVES = ("accuracy", "f1", "precision", "recall", "roc_auc")  # estimated for every run, beside the truth
ESTIMATES = 10_000  # their scale: a hundredth of a point


Details = Callable[[Row], Json | None]  # what somebody has at hand of a run that the archive itself says less of


def page_data(
    archive: Archive,
    start: Board,
    detailed: int = DETAILED,
    judged: Judged | None = None,
    details: Details = lambda row: None,
) -> Json:
    """Everything the page's script reads; what PU labels say of single runs only where runs were judged at all."""
    facts = facts_of(archive.done)
    names = sorted(facts, key=lambda name: (facts[name].uses_truth, facts[name].title.lower()))
    datasets = sorted({row["dataset"] for row in archive.done})
    conditions = conditions_of(archive.done)
    selections = selections_of(archive)
    learners, places = _places(names), _places(datasets)
    metrics = list(dict.fromkeys((*METRICS, start.metric)))
    boards = {}
    for place, condition in enumerate(conditions):
        shown = _selections_shown(condition, selections, start, len(conditions))
        for result in _boards(archive, start, condition, metrics, shown):
            boards[f"{place}|{result.selection}|{result.metric}"] = _board_data(result, learners, places)
    runs, of = _runs(archive, start, conditions, learners, places, selections, detailed, details)
    reasons = _without_negatives(archive, runs, judged)
    return {
        "learners": [_learner_data(facts[name]) for name in names],
        "datasets": datasets,
        "metrics": metrics,
        "plain": [name for name in metrics if not is_share(name)],  # shown as they are, not in percent
        "lower": [name for name in metrics if sign_of(name) < 0],  # of which less is better
        "selections": selections,
        "selection_titles": {name: SELECTION_TITLES[name] for name in selections},
        "conditions": _conditions_data(conditions),
        "start": {
            "condition": [one.name for one in conditions].index(start.condition.name),
            "selection": start.selection,
            "metric": start.metric,
        },
        "reference": None if start.reference is None else learners[start.reference],
        "rope": ROPE,
        "scale": SCALE,
        "kinds": list(KINDS),
        "boards": boards,
        "costs": [_costs(archive, one, learners, places) for one in conditions],
        "published": _published(archive, learners, places),
        "estimated": [[name, name] for name in WITHOUT_NEGATIVES] if any("pu" in run for run in runs) else [],
        "estimates": ESTIMATES,
        "reasons": reasons,
        "runs": runs,
        "runs_of": of,
    }


def _places(names: Sequence[str]) -> dict[str, int]:
    """Where each name stands: the page refers to learners and data sets by number."""
    return {name: place for place, name in enumerate(names)}


def _learner_data(facts: ShownLearner) -> Json:
    return {
        "name": facts.name,
        "title": facts.title,
        "marked": facts.marked,
        "family": facts.family,
        "truth": facts.uses_truth,
        "support": facts.needs_support,
        "prior": facts.told_class_prior,
    }


def _conditions_data(conditions: Sequence[Condition]) -> list[Json]:
    """Conditions with the place of their setting, the same where only the labels differ."""
    settings = list(dict.fromkeys(one.setting for one in conditions))
    return [
        {
            "name": one.name,
            "words": one.words,
            "alias": one.alias,
            "parameters": one.further[0],
            "frequency": one.label_frequency,
            "setting": settings.index(one.setting),
            "usual": one.is_conventional,
        }
        for one in conditions
    ]


def _selections_shown(condition: Condition, selections: Sequence[str], start: Board, conditions: int) -> list[str]:
    """Every selection where the page opens; elsewhere those most asked for, or large archives make large pages."""
    if condition.name == start.condition.name or conditions <= 3:
        return list(selections)
    return [name for name in selections if name in ("own", "oracle_f1", start.selection)]


def _boards(
    archive: Archive, start: Board, condition: Condition, metrics: Sequence[str], selections: Sequence[str]
) -> Iterator[Board]:
    """The tables of a condition, of selections that any of its runs has; the one at the start is there already."""
    for selection in selections:
        rows = [row for row in archive.results(selection, start.metric) if condition.holds(row)]
        for metric in metrics if rows else ():
            if (condition.name, metric, selection) == (start.condition.name, start.metric, start.selection):
                yield start
            else:
                yield from_rows(rows, condition, metric, selection, start.reference)


def _board_data(result: Board, learners: Mapping[str, int], datasets: Mapping[str, int]) -> Json:
    """One table and its tests, as arrays over learners and data sets; null where there is nothing."""

    def grid() -> list[list[Any]]:
        return [[None] * len(datasets) for _ in learners]

    mean, sd, n, p, verdict, beliefs = (grid() for _ in range(6))
    for (learner, dataset), one in tables.summaries(result.cells).items():
        a, b = learners[learner], datasets[dataset]
        mean[a][b], n[a][b] = _whole(one.mean), one.n
        sd[a][b] = _whole(one.sd) if one.n > 1 else None
    for test in result.tests:
        a, b = learners[test.learner], datasets[test.dataset]
        p[a][b], verdict[a][b] = _short(test.corrected), SIGNS[test.verdict()]
        values = paired.differences(result.compared, test.learner, test.against, test.dataset)
        if values.size > 1:
            belief = bayesian.on_one_dataset(values, ROPE)
            beliefs[a][b] = [_thousandths(belief.better), _thousandths(belief.equal)]
    over: list[Any] = [None] * len(learners)
    for name, belief in result.beliefs.items():
        over[learners[name]] = [_thousandths(belief.better), _thousandths(belief.equal)]
    wilcoxon: list[Any] = [None] * len(learners)
    for name, (sets, raw, corrected) in result.wilcoxon.items():
        sign = int(np.sign(_lead(result, name))) if corrected < LEVEL else 0
        wilcoxon[learners[name]] = [sets, _short(raw), _short(corrected), sign]
    records: list[Any] = [None] * len(learners)
    for record in result.records:
        records[learners[record.learner]] = [record.wins, record.ties, record.losses]
    return {
        "seeds": result.seeds,
        "oracle": [learners[name] for name, facts in result.learners.items() if facts.selected_with_truth],
        "mean": mean,
        "sd": sd,
        "n": n,
        "undefined": [[learners[a], datasets[b], count] for (a, b), count in result.undefined.items()],
        "p": p,
        "verdict": verdict,
        "belief": beliefs,
        "over": over,
        "wilcoxon": wilcoxon,
        "records": records,
        "ranking": _ranking(result, learners),
    }


def _lead(result: Board, learner: str) -> float:
    """Median over data sets of the mean difference from the reference."""
    pairs = [paired.differences(result.compared, learner, str(result.reference), one) for one in result.datasets]
    return float(np.median([pair.mean() for pair in pairs if pair.size]))


def _ranking(result: Board, learners: Mapping[str, int]) -> Json:
    if result.ranking is None:
        return {"why": result.no_ranking_because}
    ranking = result.ranking
    place = {name: at for at, name in enumerate(ranking.learners)}
    return {
        "learners": [learners[name] for name in ranking.learners],
        "ranks": [round(value, 4) for value in ranking.ranks],
        "difference": round(ranking.critical_difference, 4),
        "groups": [[place[group[0]], place[group[-1]]] for group in ranking.groups],
        "p": _short(ranking.p_value),
        "f_p": _short(ranking.iman_davenport_p_value),
        "datasets": len(ranking.datasets),
    }


def _costs(archive: Archive, condition: Condition, learners: Mapping[str, int], datasets: Mapping[str, int]) -> Json:
    """Mean seconds and MiB of a run by learner, data set and device; the device with most runs comes first."""
    rows = newest(row for row in archive.results("own") if condition.holds(row))[0]
    known = costs.costs(rows, "accuracy")  # every run has one
    devices = costs.devices(known)
    cells = []
    for one in known:
        place = learners[one.learner], datasets[one.dataset], devices.index(one.device)
        cells.append([*place, _short(one.seconds), _short(one.memory / 2**20)])
    return {"cells": cells, "devices": devices}


def _without_negatives(archive: Archive, runs: Sequence[Json], judged: Judged | None) -> list[str]:
    """Put into every run what its PU labels say at the epoch of its own criterion, the class prior being known.

    ``pu`` has estimate, low and high of each metric one after the other, and 1 or 0 for an interval that held; or a
    single number, the place of the reason for which there is no answer.
    """
    if judged is None:
        return []
    keys = {run["key"] for run in runs} - set(judged.by_run)
    others = [row for row in archive.done if row["key"] in keys]
    known = {**judged.by_run, **gathered(judge(archive, rows=others, redraws=judged.redraws))}
    reasons: dict[str, int] = {}
    for run in runs:
        said = {row["metric"]: row for row in known.get(run["key"], ())}
        if said:
            run["pu"] = [_said(said[name], reasons) for name in WITHOUT_NEGATIVES]
    return list(reasons)


def _said(row: Row, reasons: dict[str, int]) -> list[int]:
    if row["reason"] is not None:
        return [reasons.setdefault(row["reason"], len(reasons))]
    return [*(round(ESTIMATES * row[name]) for name in ("estimate", "low", "high")), int(row["held"])]


def _published(archive: Archive, learners: Mapping[str, int], datasets: Mapping[str, int]) -> list[list[int | None]]:
    """Places of learners and data sets that the published table has, and what it says of them."""
    known = published_beside(sorted({(row["learner"], row["dataset"]) for row in archive.done}))
    return [[learners[learner], datasets[dataset], _whole(value)] for (learner, dataset), value in known.items()]


def _runs(
    archive: Archive,
    start: Board,
    conditions: Sequence[Condition],
    learners: Mapping[str, int],
    datasets: Mapping[str, int],
    selections: Sequence[str],
    most: int,
    details: Details,
) -> tuple[list[Json], int]:
    """Details of runs: all of the condition where the page opens if they are not too many, then of the others."""
    ordered = sorted(conditions, key=lambda one: one.name != start.condition.name)
    result: list[Json] = []
    for condition in ordered:
        mine = [row for row in archive.done if condition.holds(row)]
        room = most - len(result)
        if room <= 0:
            break
        place = next(at for at, one in enumerate(conditions) if one.name == condition.name)
        for row in mine if len(mine) <= room else within(mine, room):
            about = {"c": place, "m": learners[row["learner"]], "d": datasets[row["dataset"]]}
            own = details(row) or run_detail(archive, row, selections, start.selection, start.metric)
            result.append(about | own)
    return result, len(archive.done)


def run_detail(archive: Archive, row: Row, selections: Sequence[str], selection: str, metric: str = METRICS[0]) -> Json:
    """One run: metrics at every epoch that some selection chose, a thinned curve, and densities of its scores."""
    key = row["key"]
    chosen = {name: choice for name in selections if (choice := archive.choice(key, name)) is not None}
    epochs = sorted({choice["epoch"] for choice in chosen.values()})
    at = {choice["epoch"]: choice for choice in chosen.values()}
    if metric not in METRICS:
        for name, choice in chosen.items():
            at[choice["epoch"]] = choice | {metric: archive.metric(key, metric, name)}
    result = {
        "key": key,
        "s": row["seed"],
        "epochs": epochs,
        "values": [[_whole(at[epoch][name]) for name in dict.fromkeys((*METRICS, metric))] for epoch in epochs],
        "chosen": [epochs.index(chosen[name]["epoch"]) if name in chosen else None for name in selections],
        "own": row["own_selection"],
        "trained": row["epochs"],
        "seconds": _short(row["seconds"]),
        "curve": _curve(archive, row, epochs),
    }
    if row["notices"]:
        result["notices"] = list(row["notices"])
    result["density"] = None
    if not chosen.keys() & {selection, "own"}:
        result["undrawn"] = f"This run made no choice by its own criterion, {row['own_selection']}: no scores to draw."
        return result
    try:
        result["density"] = _density(archive, key, selection if selection in chosen else "own")
    except InputError:
        result["undrawn"] = f"Scores of this run were not kept: {archive.no_scores}"
    return result


def _curve(archive: Archive, row: Row, keep: Sequence[int]) -> Json | None:
    """At most this many epochs, evenly spaced, and those that were chosen."""
    curve = archive.curve(row["key"])
    epochs = curve["epoch"].astype(int)
    if epochs.size < 2:
        return None
    kept = set(np.unique(np.linspace(0, epochs.size - 1, POINTS).round().astype(int)).tolist())
    kept |= {int(place) for place in np.flatnonzero(np.isin(epochs, list(keep)))}
    places = sorted(kept)
    criterion = row["own_selection"] if row["own_selection"] in CURVE else "proxy_accuracy"
    return {
        "epoch": [int(epochs[place]) for place in places],
        "name": criterion,
        "criterion": [_short(curve[criterion][place], 4) for place in places],
        "accuracy": [_thousandths(curve["test_accuracy"][place]) for place in places],
        "f1": [_thousandths(curve["test_f1"][place]) for place in places],
    }


def _density(archive: Archive, key: str, selection: str) -> Json:
    view = score_view(archive, key, selection, BINS)
    return {
        "low": _short(float(view.edges[0]), 4),
        "high": _short(float(view.edges[-1]), 4),
        "shares": [[_thousandths(x) for x in view.counts[kind] / max(view.counts[kind].sum(), 1)] for kind in KINDS],
        "above": [_thousandths(view.above[kind]) for kind in KINDS],
        "quartiles": [[_short(value) for value in view.quartiles[kind]] for kind in KINDS],
        "overlap": _thousandths(view.overlap),
    }


def _whole(value: float | None) -> int | None:
    return round(SCALE * value) if value is not None and is_defined(value) else None


def _thousandths(value: float) -> int | None:
    return round(1000 * float(value)) if math.isfinite(value) else None


def _short(value: float | None, digits: int = 3) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")
