"""What comparisons, decisions, calibration and groups say of data sets with real labels, beside the truth.

Every function takes data sets of :mod:`pulens.research.benchmark.wild` and a labelling, makes the public call with the
true class prior, and gives rows of :class:`~pulens.research.benchmark.wild.WildAnswer`: ``coverage`` and ``by_family``
read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pulens.errors import PulensError
from pulens.research.benchmark.wild import METRICS, WildAnswer, WildProblem

Labelling = Any  # "random", or a distribution that was learned on other families
FEWEST_LABELLED = 10  # rows of a group that is looked at
TOPS = (0.01, 0.1)  # of the list
FEWEST_IN_BIN = 20  # rows of which the share of positives is looked at


def pairs_of(problems: Sequence[WildProblem]) -> Iterator[tuple[WildProblem, WildProblem]]:
    """The two models of every data set that has two."""
    by_set: dict[tuple[str, str], list[WildProblem]] = {}
    for each in problems:
        by_set.setdefault((each.family, each.name), []).append(each)
    yield from ((own[0], own[1]) for own in by_set.values() if len(own) > 1)


def judge_difference(pair: tuple[WildProblem, WildProblem], labelling: Labelling, **options: Any) -> list[WildAnswer]:
    """The difference of two models, each at its own threshold; ``model`` says what the comparison claims.

    That is ``right`` or ``wrong`` where it names a better model with certainty, and ``open`` where it does not.
    """
    from pulens.comparison import compare

    first, second = pair
    answer = compare(
        first.labelled.astype(int),
        {first.model: first.scores, second.model: second.scores},
        class_prior=first.class_prior,
        scenario=str(first.scenario),
        threshold={first.model: first.threshold, second.model: second.threshold},
        metrics=METRICS,
        labelling=labelling,
        **options,
    )
    truths = first.truths(), second.truths()
    result = []
    for metric in METRICS:
        own, truth = answer.differences[metric][0], truths[0][metric] - truths[1][metric]
        if own.interval is None:
            continue
        claim = "open"
        if own.is_clear(answer.confidence):
            claim = "right" if own.value * truth > 0 else "wrong"
        seen = _uncorrected(first, metric) - _uncorrected(second, metric)
        told = (truth, own.value, own.interval.low, own.interval.high, seen)
        result.append(WildAnswer(first.family, first.name, claim, metric, int(first.labelled.sum()), *map(float, told)))
    return result


def _uncorrected(problem: WildProblem, metric: str) -> float:
    """The number with every unlabelled row counted as a negative."""
    from pulens.evaluation.evaluate import evaluate

    asked: dict[str, Any] = {"class_prior": problem.class_prior, "threshold": problem.threshold, "confidence": None}
    rows = problem.labelled.astype(int), problem.scores
    return evaluate(*rows, scenario=str(problem.scenario), labelling="random", **asked).uncorrected[metric].value


def claims(judged: Sequence[WildAnswer]) -> dict[str, dict[str, float]]:
    """Of differences, per metric and families alike: how often the better model was named with certainty, and wrongly.

    ``leads`` says how often the model with the better value, certain or not, really is the better one.
    """
    result = {}
    for metric in dict.fromkeys(row.metric for row in judged):
        rows = [row for row in judged if row.metric == metric]
        families = [[row for row in rows if row.family == family] for family in dict.fromkeys(r.family for r in rows)]

        def share(of: Callable[[WildAnswer], bool], families: list[list[WildAnswer]] = families) -> float:
            return float(np.mean([np.mean([of(row) for row in family]) for family in families]))

        result[metric] = {
            "right": share(lambda row: row.model == "right"),
            "wrong": share(lambda row: row.model == "wrong"),
            "leads": share(lambda row: row.value * row.truth > 0),
            "leads_uncorrected": share(lambda row: row.uncorrected * row.truth > 0),
        }
    return result


def judge_decision(problem: WildProblem, labelling: Labelling, **options: Any) -> list[WildAnswer]:
    """The cheapest threshold where a miss costs as much as alarms on a row in each 1/class prior, and two floors.

    ``cost`` is what the chosen threshold costs per 1,000 rows, ``excess`` how much more than the truly best one costs;
    of a floor the truth is what its threshold reaches, which holds from the floor on. A floor that no threshold is
    shown to keep gives no row.
    """
    from pulens.evaluation.decide import decide

    prior = problem.class_prior
    rows = problem.labelled.astype(int), problem.scores
    asked: dict[str, Any] = {"class_prior": prior, "scenario": str(problem.scenario), "labelling": labelling, **options}
    result = []

    def told(metric: str, truth: float, value: float, low: float, high: float) -> None:
        result.append(_row(problem, metric, int(problem.labelled.sum()), truth, value, low, high))

    scores, truth = problem.scores[problem.population], problem.truth[problem.population]
    chosen = decide(*rows, cost_miss=1 / prior, cost_alarm=1.0, **asked)

    def cost_at(threshold: float) -> float:
        flagged = scores >= threshold
        return 1000 * float(np.mean((truth & ~flagged) / prior + (flagged & ~truth)))

    if chosen.threshold is not None and chosen.cost is not None and chosen.cost.interval is not None:
        own, ends = cost_at(chosen.threshold), chosen.cost.interval
        told("cost", own, chosen.cost.value, ends.low, ends.high)
        tried = np.unique(np.quantile(scores, np.linspace(0, 1, 201)))
        best = min(cost_at(float(each)) for each in [*tried, np.inf])
        told("excess", own - best, 0.0, 0.0, float("inf"))
    for name, floor in (("recall", 0.7), ("precision", min(1.5 * prior, 0.9))):
        try:
            kept = decide(*rows, **{**asked, f"{name}_at_least": floor})
        except PulensError:  # too few labelled rows to show any
            continue
        if kept.threshold is not None:
            told(f"{name} floor", problem.truths(kept.threshold)[name], floor, floor, 1.0)
    return result


def judge_calibration(problem: WildProblem, labelling: Labelling, **options: Any) -> list[WildAnswer]:
    """Probabilities from a recalibration under the same labelling: their error, and every bin's share of positives.

    ``calibration error`` is that of the bins; ``bin`` are the shares of positives in bins of twenty rows or more.
    """
    from pulens.calibration import calibration_in_the_large, recalibrate, reliability

    asked: dict[str, Any] = {
        "class_prior": problem.class_prior,
        "scenario": str(problem.scenario),
        "labelling": labelling,
    }
    labels = problem.labelled.astype(int)
    try:
        map_ = recalibrate(labels, problem.scores, method="platt", **asked).map
    except PulensError:
        return []
    promised = np.asarray(map_(problem.scores), float)
    diagram = reliability(labels, promised, binning="mass", bins=10, **asked, **options)
    scores, truth = promised[problem.population], problem.truth[problem.population]
    edges = np.array([diagram.bins[0].low, *(one.high for one in diagram.bins)])
    which = np.clip(np.searchsorted(edges, scores, side="left") - 1, 0, edges.size - 2)
    rows = np.bincount(which, minlength=edges.size - 1)
    held, said = (np.bincount(which, each, edges.size - 1) for each in (truth.astype(float), scores))
    labelled = int(problem.labelled.sum())

    def row(metric: str, truth: float, value: float, interval: Any) -> WildAnswer:
        low, high = (value, value) if interval is None else (interval.low, interval.high)
        return _row(problem, metric, labelled, truth, value, low, high)

    error, large = diagram.error, calibration_in_the_large(labels, promised, **asked)
    actual = float(np.abs(held - said).sum() / scores.size)
    result = [row("calibration error", actual, error.corrected, error.interval)]
    result.append(row("in the large", float(scores.mean() - truth.mean()), large.value, large.interval))
    for one, many, positives in zip(diagram.bins, rows, held, strict=True):
        if many >= FEWEST_IN_BIN and one.interval is not None:
            result.append(row("bin", float(positives / many), one.clipped, one.interval))
    return result


def judge_gap(problem: WildProblem, labelling: Labelling, **options: Any) -> list[WildAnswer]:
    """Recall and precision of the two halves of a data set at its threshold, and the gaps between them."""
    from pulens.groups.segments import evaluate_by

    if problem.side is None:
        return []
    names = np.where(problem.side, "upper", "lower")
    halves = [names[problem.population] == name for name in ("lower", "upper")]
    truth, flagged = problem.truth[problem.population], problem.scores[problem.population] >= problem.threshold
    priors = [float(truth[half].mean()) if half.any() else 0.0 for half in halves]
    labelled = [int(problem.labelled[names == name].sum()) for name in ("lower", "upper")]
    if min(labelled) < FEWEST_LABELLED or not all(0 < prior < 1 for prior in priors):
        return []
    import pandas

    frame = pandas.DataFrame({"score": problem.scores, "label": problem.labelled.astype(int), "half": names})
    asked: dict[str, Any] = {"threshold": problem.threshold, "scenario": str(problem.scenario), **options}
    given = dict(zip(("lower", "upper"), priors, strict=True))
    metrics = ("recall", "precision")
    answer = evaluate_by(frame, "half", class_prior=given, metrics=metrics, labelling=labelling, **asked)
    result = []
    for metric in metrics:
        over = [truth, flagged][metric == "precision"]
        rates = [float((truth & flagged)[half].sum() / max(over[half].sum(), 1)) for half in halves]
        for name, rate, many in zip(("lower", "upper"), rates, labelled, strict=True):
            own = answer.segments[name].estimates[metric] if name in answer.segments else None
            if own is not None and own.interval is not None:
                ends = own.value, own.interval.low, own.interval.high
                result.append(_row(problem, f"{metric} of a group", many, rate, *ends))
        gaps = answer.gaps(metric)
        for gap in gaps.differences:
            sign = 1 if gap.first == "upper" else -1
            truth_of = sign * (rates[1] - rates[0])
            result.append(_row(problem, f"{metric} gap", min(labelled), truth_of, gap.value, gap.low, gap.high))
    return result


def judge_top(problem: WildProblem, labelling: Labelling, **options: Any) -> list[WildAnswer]:
    """Precision, recall and positives of the first rows of the list, of which rows that share a score count alike."""
    from pulens.evaluation.evaluate import evaluate

    asked: dict[str, Any] = {"class_prior": problem.class_prior, "scenario": str(problem.scenario), **options}
    answer = evaluate(
        problem.labelled.astype(int), problem.scores, threshold=problem.threshold, labelling=labelling, **asked
    )
    scores, truth = problem.scores[problem.population], problem.truth[problem.population]
    labelled, result = int(problem.labelled.sum()), []
    for share in TOPS:
        found = answer.top(max(1, round(share * scores.size)))
        kth = np.sort(scores)[::-1][int(found.k) - 1]
        above, level = scores > kth, scores == kth
        hits = float(truth[above].sum() + truth[level].mean() * (found.k - above.sum()))
        for name, true in (("precision_at_k", hits / found.k), ("recall_at_k", hits / float(truth.sum()))):
            own = found[name]
            if own.interval is not None:
                ends = own.value, own.interval.low, own.interval.high
                result.append(_row(problem, f"{name}, first {share:.0%}", labelled, true, *ends))
        if found.hits is not None and found.hits.low is not None and found.hits.high is not None:
            ends = found.hits.expected, found.hits.low, found.hits.high
            result.append(_row(problem, f"positives among the first {share:.0%}", labelled, hits, *ends))
    return result


def _row(
    problem: WildProblem, metric: str, labelled: int, truth: float, value: float, low: float, high: float
) -> WildAnswer:
    of = problem.family, problem.name, problem.model, metric
    return WildAnswer(*of, labelled, truth, value, low, high, float("nan"))
