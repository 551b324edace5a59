"""Evaluation without negatives, itself judged: what PU labels would have said of every run, beside the truth.

Everything is computed from archived tallies. The truth is that of the same test rows, of which the PU sample is a part:
an interval for the population that holds its level covers this truth at least as often.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pulens.errors import InputError, PulensError, listed
from pulens.evidence import Evidence, resolve_class_prior
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.resampling import Resampling
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.research.benchmark.analyse.conditions import by_condition, selects_with_truth
from pulens.research.benchmark.archive import Archive
from pulens.scenario import check_scenario

# metrics whose truth the archive's choices hold
TRUTH = ("roc_auc", "accuracy", "precision", "recall", "f1", "macro_f1", "average_precision")
QUICK = ("roc_auc", "accuracy", "precision", "recall", "f1")  # closed forms and draws of two numbers: no redrawn tally
PRIORS = ("known", "estimated")
SELECTIONS = ("proxy_accuracy", "proxy_roc_auc", "loss", "last", "own")
Row = dict[str, Any]
ABOUT = (
    "key",
    "learner",
    "title",
    "dataset",
    "kind",
    "mechanism_alias",
    "label_frequency",
    "seed",
    "uses_truth",
    "needs_support",
)


def judge(
    archive: Archive,
    *,
    selection: str = "own",
    prior: str = "known",
    metrics: Sequence[str] = QUICK,
    confidence: float = 0.95,
    redraws: int = 500,
    rows: Iterable[Mapping[str, Any]] | None = None,
) -> list[Row]:
    """What the estimates of this package say of every run from the PU labels of its test rows, and whether they held.

    ``prior="known"``: the class prior of the test rows is given. ``"estimated"``: it too comes from the PU labels.
    Each row has ``estimate``, ``low``, ``high``, ``truth``, ``error`` (estimate minus truth), ``held`` and
    ``class_prior`` as used; where no estimate can be made it has the ``reason`` instead. ``rows`` limits it to some
    runs of ``archive.done``.
    """
    unknown = [name for name in metrics if name not in TRUTH]
    if unknown or prior not in PRIORS:
        raise InputError(
            f"metrics are among {listed(TRUTH)} and prior is one of {listed(PRIORS)}, got {listed(metrics)} and "
            f"{prior!r}."
        )
    resampling = Resampling(confidence, redraws, threads=1)
    result = []
    for run in archive.done if rows is None else rows:
        chosen = archive.choice(run["key"], selection)
        if chosen is None:
            continue
        about = {name: run[name] for name in ABOUT} | {"selection": selection, "prior": prior, "epoch": chosen["epoch"]}
        about["mechanism_alias"] = run["mechanism_alias"] or run["mechanism"]
        try:
            evidence = _evidence(archive, run, selection, prior)
        except PulensError as error:
            result += [{**about, "metric": name, "reason": str(error)} for name in metrics]
            continue
        doubts = IntervalEstimator(evidence, resampling)
        for name in metrics:
            answer = estimate(name, METRICS[name], evidence, threshold=0.0, doubts=doubts)
            result.append({**about, "metric": name, **_beside(answer, chosen[name], evidence)})
    return result


def _evidence(archive: Archive, run: Mapping[str, Any], selection: str, prior: str) -> Evidence:
    tally = archive.tally(run["key"], "test", selection)
    scenario = check_scenario(run["scenario"])
    positives, rows = run["test_positives"], run["test_rows"]
    if positives is None or not rows or not 0 <= positives <= rows:
        raise InputError(f"run {run['key']} says that {positives} of its {rows} test rows are positive.")
    known = positives / rows
    resolved = resolve_class_prior(tally, scenario, known if prior == "known" else "auto", None, 0.0)
    return Evidence(tally, resolved, 0.0, scenario)


def _beside(answer: Any, truth: float, evidence: Evidence) -> Row:
    interval = answer.interval
    if math.isnan(answer.value) or interval is None or truth is None or math.isnan(truth):
        reason = answer.undefined_because or "the metric is undefined for this run"
        return {"estimate": answer.value, "truth": truth, "reason": reason}
    slack = 1e-9  # of sums of floats
    return {
        "estimate": answer.value,
        "low": interval.low,
        "high": interval.high,
        "truth": truth,
        "error": answer.value - truth,
        "held": interval.low - slack <= truth <= interval.high + slack,
        "class_prior": evidence.class_prior.value,
        "reason": None,
    }


def coverage(judged: Sequence[Row], by: Sequence[str] = ("prior", "mechanism_alias", "metric")) -> list[Row]:
    """How often intervals held, how wide they were and how far estimates were off, for every combination of ``by``."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in judged:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    result = []
    for place, rows in sorted(groups.items(), key=_missing_last):
        told = [row for row in rows if row["reason"] is None]
        summary: Row = {**dict(zip(by, place, strict=True)), "runs": len(rows), "without_answer": len(rows) - len(told)}
        if told:
            errors = np.array([row["error"] for row in told])
            summary |= {
                "held": float(np.mean([row["held"] for row in told])),
                "width": float(np.median([row["high"] - row["low"] for row in told])),
                "bias": float(errors.mean()),
                "error": float(np.abs(errors).mean()),
            }
        result.append(summary)
    return result


def _missing_last(item: tuple[tuple[Any, ...], Any]) -> tuple[tuple[bool, Any], ...]:
    """A key for sorting groups by values that some runs do not have."""
    return tuple((value is None, value) for value in item[0])


def epoch_regret(
    archive: Archive, metric: str = "test_accuracy", *, rows: Iterable[Mapping[str, Any]] | None = None
) -> list[Row]:
    """What each criterion's choice of epoch cost, compared with the best epoch of the run on the test rows.

    ``regret`` is the mean loss of the metric, ``best`` the share of runs whose best epoch was chosen, over this many
    ``runs``. Runs with a single epoch have nothing to choose and are left out; so are, of ``own``, runs whose own
    criterion reads true labels. ``rows`` limits it to some runs of ``archive.done``.
    """
    exact = {"test_accuracy": "accuracy", "test_f1": "f1", "test_roc_auc": "roc_auc"}
    if metric not in exact:
        raise InputError(f"metric must be one of {listed(exact)}, got {metric!r}.")
    lost: dict[str, list[float]] = {}
    for run in archive.done if rows is None else rows:
        curve = archive.curve(run["key"])[metric]
        if curve.size < 2 or np.isnan(curve).all():
            continue
        for selection in (*SELECTIONS, "oracle_accuracy", "oracle_f1", "oracle_macro_f1"):
            if selection == "own" and selects_with_truth(run["own_selection"]):
                continue
            chosen = archive.choice(run["key"], selection)
            reached = None if chosen is None else chosen[exact[metric]]
            if reached is not None and not math.isnan(reached):
                gap = float(np.nanmax(curve)) - reached
                lost.setdefault(selection, []).append(max(0.0, gap))  # curves are rounded to single precision
    return [
        {
            "selection": selection,
            "uses_truth": selects_with_truth(selection),
            "runs": len(values),
            "regret": float(np.mean(values)),
            "worst": float(np.max(values)),
            "best": float(np.mean(np.array(values) < 1e-6)),
        }
        for selection, values in sorted(lost.items(), key=lambda item: np.mean(item[1]))
    ]


def learner_regret(
    archive: Archive,
    judged: Sequence[Row],
    metric: str = "accuracy",
    *,
    rows: Iterable[Mapping[str, Any]] | None = None,
) -> list[Row]:
    """What choosing the learner by PU labels cost, by each way of choosing.

    A choice is among the learners of one data set, seed and whole condition (mechanism and its parameters, label
    frequency, scenario, unlabelled rows, prior policy, shares): at least two of them. Ways: the criterion's value on
    validation rows (``validation proxy_accuracy``, ``validation proxy_roc_auc``), beside the truth at the epoch that
    this criterion chose; and the recovered metrics of the test rows (``test roc_auc``, ...) as ``judged`` holds them,
    beside the truth at the epoch of the learner's own criterion. ``regret`` is the mean loss of the true metric against
    the best learner, ``rank_correlation`` Spearman's between the order by that way and the true one. Learners that are
    told the truth, in training or by their own criterion, do not compete. ``rows`` limits it to some runs of
    ``archive.done``.
    """
    places = _choices(archive.done if rows is None else rows)
    keys = {key for group in places.values() for key in group}
    truth = {name: _truth(archive, keys, name, metric) for name in ("own", "proxy_accuracy", "proxy_roc_auc")}
    result = []
    for name in ("proxy_accuracy", "proxy_roc_auc"):
        values = {key: chosen["value"] for key in keys if (chosen := archive.choice(key, name)) is not None}
        result.append(_regret_of(f"validation {name}", values, truth[name], places))
    own = [row for row in judged if row["key"] in keys]
    result += [_regret_of(way, values, truth["own"], places) for way, values in _recovered(own).items()]
    return sorted((row for row in result if row["choices"]), key=lambda row: row["way"])


def _choices(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], list[str]]:
    """Keys of the runs among which a learner is chosen: of one condition, data set and seed, told nothing true."""
    result: dict[tuple[Any, ...], list[str]] = {}
    for condition, own in by_condition(rows).items():
        for row in own:
            if not row["uses_truth"] and not selects_with_truth(row["own_selection"]):
                result.setdefault((condition, row["dataset"], row["seed"]), []).append(row["key"])
    return result


def _recovered(judged: Iterable[Row]) -> dict[str, dict[str, float]]:
    """Estimates at the epoch of the learner's own criterion, by metric and class prior and then by run."""
    result: dict[str, dict[str, float]] = {}
    for row in judged:
        if row["selection"] == "own" and row["reason"] is None:
            result.setdefault(f"test {row['metric']} ({row['prior']} prior)", {})[row["key"]] = row["estimate"]
    return result


def _truth(archive: Archive, keys: Iterable[str], selection: str, metric: str) -> dict[str, float]:
    """The true metric of the test rows at the epoch that a selection chose, of runs that have both."""
    chosen = {key: archive.choice(key, selection) for key in keys}
    return {key: one[metric] for key, one in chosen.items() if one is not None and not math.isnan(one[metric])}


def _regret_of(
    way: str, values: Mapping[str, float], truth: Mapping[str, float], places: Mapping[tuple[Any, ...], Sequence[str]]
) -> Row:
    from scipy.stats import rankdata

    lost, agreement = [], []
    for keys in places.values():
        there = [key for key in keys if key in truth and not math.isnan(values.get(key, math.nan))]
        if len(there) < 2:
            continue
        by_way, real = np.array([values[key] for key in there]), np.array([truth[key] for key in there])
        best = by_way == by_way.max()
        lost.append(float(real.max() - real[best].mean()))  # among equals one would draw
        if np.ptp(by_way) > 0 and np.ptp(real) > 0:
            agreement.append(float(np.corrcoef(rankdata(by_way), rankdata(real))[0, 1]))
    return {
        "way": way,
        "choices": len(lost),
        "regret": float(np.mean(lost)) if lost else math.nan,
        "rank_correlation": float(np.mean(agreement)) if agreement else math.nan,
    }
