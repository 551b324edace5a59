"""Every number of every function in every design, as ``float.hex``: what a change of the inside must not move.

``python tests/ledger/ledger.py`` says what differs from ``numbers.txt``, ``python tests/ledger/ledger.py --write``
writes it anew. A commit that changes ``numbers.txt`` says so and why. A name (or several) as argument restricts both to
the functions of that name: ``python tests/ledger/ledger.py compare decide``.

The command compares to the bit, the test (``closely``) as far as processors agree.

A line is ``function/design/class prior/scenario/threshold/number`` and its numbers: value, low and high of an estimate.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars

import pulens
from pulens import calibration
from pulens.errors import PulensError
from pulens.estimate import Estimate, Interval

NUMBERS = Path(__file__).with_name("numbers.txt")
SCENARIOS = ("single-set", "case-control")
DESIGNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "strata": {"labelled_within": "site"},
    "clusters": {"cluster": "person"},
    "both": {"labelled_within": "site", "cluster": "person"},
}
#: Class priors of all rows, and of strata.
PRIORS: dict[str, dict[str, Any]] = {
    "exact": {"class_prior": 0.35},
    "drawn": {"audit": (14, 60)},
    "range": {"class_prior": (0.3, 0.45)},
}
PRIORS_OF_STRATA: dict[str, dict[str, Any]] = {
    "exact": {"class_prior": {"n": 0.25, "s": 0.4, "e": 0.5}},
    "drawn": {"audit": {"n": (6, 40), "s": (9, 40), "e": (12, 40)}},
    "range": {"class_prior": {"n": (0.2, 0.3), "s": 0.4, "e": (0.45, 0.6)}},
}
PRIORS_OF_SEGMENTS: dict[str, dict[str, Any]] = {
    "exact": {"class_prior": {"a": 0.3, "b": 0.35, "c": 0.4}},
    "drawn": {"audit": (14, 60), "same_prior": True},
    "range": {"class_prior": {"a": (0.25, 0.4), "b": 0.35, "c": (0.35, 0.5)}},
}
PRIORS_OF_SEGMENTS_IN_STRATA: dict[str, dict[str, Any]] = {
    kind: {name: dict.fromkeys("abc", by_stratum) for name, by_stratum in said.items()}
    for kind, said in PRIORS_OF_STRATA.items()
}
REDRAWS = {"redraws": 200, "seed": 1}
THRESHOLD = 0.6
Numbers = Iterator[tuple[str, list[float]]]


def rows(size: int = 480, seed: int = 7) -> polars.DataFrame:
    """Rows of three sites and 60 persons; scores are probabilities with ties, ``other`` a second model's."""
    rng = np.random.default_rng(seed)
    site = rng.choice(["n", "s", "e"], size, p=[0.5, 0.3, 0.2])
    person = rng.integers(0, 60, size)
    positive = rng.random(size) < np.select([site == "n", site == "s"], [0.25, 0.4], 0.5)
    label = positive & (rng.random(size) < np.select([site == "n", site == "s"], [0.7, 0.4], 0.5))
    shift = rng.normal(0, 0.3, 60)[person]
    score, other = (1 / (1 + np.exp(-rng.normal(gap * positive - 0.9 + shift))) for gap in (1.9, 1.5))
    columns = {"label": label * 1, "score": score.round(2), "other": other.round(2), "site": site}
    return polars.DataFrame({**columns, "person": person, "group": rng.choice(["a", "b", "c"], size)})


ROWS = rows()


def of(result: Any) -> list[float]:
    """The numbers of an estimate, an interval or anything with a value and two ends."""
    if isinstance(result, Estimate):
        return [result.value, *(of(result.interval))]
    if result is None:
        return []
    if isinstance(result, Interval):
        return [result.low, result.high]
    return [float(each) for each in np.ravel(result)]


def of_each(result: Mapping[str, Estimate], before: str = "") -> Numbers:
    for name in result:
        yield before + name, of(result[name])


def evaluations(asked: dict[str, Any], threshold: float | None) -> Numbers:
    result = pulens.evaluate(ROWS, threshold=threshold, labelling="random", **REDRAWS, **asked)
    yield "threshold", [result.threshold, *of(result.threshold_interval)]
    yield "class prior", [result.class_prior.value, result.class_prior.unlabelled, *of(result.class_prior.interval)]
    yield from of_each(result)
    if threshold is None:
        return
    yield from of_each(result.at(0.4).estimates, "at .4, ")
    yield from of_each(result.top(40), "top 40, ")
    curve = result.decision_curve(ratios=[0.1, 0.3, 0.5])
    yield "decision curve", of(np.concatenate([curve.model, curve.low, curve.high]))
    if result.cells is not None:
        for cell in result.cells:
            yield f"cell {cell.name}", [cell.class_prior, *of(cell.prior_interval), cell.recall]
    if result.clusters is not None:
        yield "clusters", of([*result.clusters.clusters, math_or_nan(result.clusters.design_effect)])


def comparisons(asked: dict[str, Any], threshold: float | None) -> Numbers:
    costs: dict[str, Any] = {"cost_ratio": 0.3} if threshold is None else {"threshold": threshold}
    names = ["roc_auc", "average_precision", "net_benefit" if threshold is None else "f1"]
    result = pulens.compare(
        ROWS, score=["score", "other"], metrics=names, **costs, **REDRAWS, **asked, labelling="random"
    )
    for metric, each in result.estimates.items():
        yield from of_each(each, f"{metric}, ")
    for metric, pairs in result.differences.items():
        for pair in pairs:
            more = [pair.probability, pair.p_value, pair.adjusted_p_value]
            yield f"{metric}, difference", [pair.value, *of(pair.interval), *more]
    for metric, order in result.order.items():
        yield f"{metric}, order", of([each.class_prior for each in order.crossings])
        yield from ((f"{metric}, order, {model}", of(each[::16])) for model, each in order.values.items())


def calibrations(asked: dict[str, Any], threshold: float | None) -> Numbers:
    for name in ("brier_score", "calibration_in_the_large"):
        yield name, of(getattr(calibration, name)(ROWS, **asked, labelling="random"))
    if asked.get("class_prior") != PRIORS_OF_STRATA["range"]["class_prior"]:  # hundreds of fits, each as in the others
        line = calibration.calibration_slope(ROWS, **asked, labelling="random")
        yield "slope", [*of(line.intercept), *of(line.slope)]
    result = calibration.reliability(ROWS, **REDRAWS, **asked, labelling="random")
    error = result.error
    yield "expected error", [*of(error), error.corrected, error.noise_floor, error.p_value]
    for place, each in enumerate(result.bins):
        yield f"bin {place}", [each.population, each.confidence, each.fraction, *of(each.interval)]


def decisions(asked: dict[str, Any], threshold: float | None) -> Numbers:
    wanted: dict[str, Any] = (
        {"cost_miss": 5, "cost_alarm": 1} if threshold is None else {"recall_at_least": 0.6, "capacity": 150}
    )
    result = pulens.decide(ROWS, **wanted, **REDRAWS, **asked, labelling="random")
    yield "threshold", of([math_or_nan(result.threshold)])
    for name in ("cost", "flagged", "recall", "precision"):
        yield name, of(getattr(result, name))
    yield from of_each(result.saving, "saving, ")
    yield "priors", of(result.priors)
    yield "useful ratios", of(result.useful_ratios)
    if result.optimism is not None:
        yield "optimism", [result.optimism]
    if result.hits is not None:
        yield "hits", of([math_or_nan(each) for each in result.hits])


def math_or_nan(number: float | None) -> float:
    return float("nan") if number is None else number


def segments(asked: dict[str, Any], threshold: float | None) -> Numbers:
    result = pulens.evaluate_by(ROWS, "group", threshold=threshold, **REDRAWS, **asked, labelling="random")
    for name, segment in result.segments.items():
        yield from of_each(segment.estimates, f"{name}, ")


def gaps(asked: dict[str, Any], threshold: float | None) -> Numbers:
    for metric in ("recall", "precision") if threshold is not None else ("roc_auc",):
        result = pulens.gaps_by(ROWS, "group", metric, threshold=threshold, **asked, labelling="random")
        for group in result.groups:
            yield f"{metric}, {group.name}", of(group.estimate)
        for gap in (*result.differences, *result.against_rest):
            yield f"{metric}, {gap.first} - {gap.second}", [gap.value, gap.low, gap.high]
        yield f"{metric}, equal", of([math_or_nan(result.critical_value), math_or_nan(result.p_value_equal)])


def reviews() -> dict[str, Any]:
    """A log of 90 unlabelled rows that were drawn and checked."""
    rng = np.random.default_rng(3)
    free = np.flatnonzero(ROWS["label"].to_numpy() == 0)
    rows = rng.choice(free, 90, replace=False)
    answers = rng.random(90) < 0.6 * ROWS["score"].to_numpy()[rows]
    return {"row": rows, "answer": answers * 1, "probability": np.full(90, 90 / free.size)}


def with_negatives() -> polars.DataFrame:
    """The rows with 40 of the unlabelled ones known to be negative, and weights."""
    free = np.flatnonzero(ROWS["label"].to_numpy() == 0)
    label = ROWS["label"].to_numpy().copy()
    label[free[np.argsort(ROWS["score"].to_numpy()[free], kind="stable")[:40]]] = -1
    return ROWS.with_columns(label=label, weight=1.0 + np.arange(label.size) % 3)


def window(day: int, share: float) -> pulens.Tally:
    rng = np.random.default_rng([5, day])
    positive = rng.random(200) < share
    return pulens.Tally.from_arrays((positive & (rng.random(200) < 0.4)) * 1, rng.normal(1.5 * positive).round(1))


def watched(**asked: Any) -> Numbers:
    reference = {f"2026-03-{day:02d}": window(day, 0.2) for day in range(1, 13)}
    windows = {f"2026-04-{day:02d}": window(40 + day, 0.2 if day < 4 else 0.5) for day in range(1, 7)}
    result = pulens.watch(reference, windows, threshold=0.8, labelling="random", **asked)
    for name in windows:
        for line in ("prior", "precision", "recall", "f1"):
            yield f"{name}, {line}", of(getattr(result[name], line, None))
    for alarm in result.alarms:
        yield f"alarm, {alarm.line}", of(alarm.interval)


def evaluated(source: polars.DataFrame = ROWS, **asked: Any) -> Numbers:
    result = pulens.evaluate(source, labelling="random", **REDRAWS, **asked)
    yield "class prior", [result.class_prior.value, result.class_prior.unlabelled, *of(result.class_prior.interval)]
    yield from of_each(result)
    if result.audit is not None:
        yield from of_each(result.audit.estimates, "audit, ")


def compared(**asked: Any) -> Numbers:
    result = pulens.compare(ROWS, score=["score", "other"], **REDRAWS, **asked, labelling="random")
    for metric, pairs in result.differences.items():
        for pair in pairs:
            yield f"{metric}, difference", [pair.value, *of(pair.interval), pair.p_value]


def doubted(**asked: Any) -> Numbers:
    result = pulens.evaluate(ROWS, labelling="random", threshold=THRESHOLD, **REDRAWS, **asked)
    for metric in ("recall", "precision", "roc_auc"):
        each = result.sensitivity(metric, factor=2)
        yield f"sensitivity, {metric}", [each.value, *of(each.possible), *of(each.interval)]
    yield "bounds", [*of(result.bounds().roc_auc), *of(result.bounds().metric("precision", threshold=THRESHOLD))]


STRATA, BOTH = DESIGNS["strata"], DESIGNS["both"]
OTHERS: dict[str, Callable[[], Numbers]] = {
    "noise": lambda: evaluated(class_prior=0.3, label_noise=0.05, threshold=THRESHOLD),
    "noise, clusters": lambda: evaluated(class_prior=0.3, label_noise=0.05, cluster="person"),
    "noise, strata": lambda: evaluated(**PRIORS_OF_STRATA["exact"], label_noise=0.05, threshold=THRESHOLD, **STRATA),
    "noise, both": lambda: evaluated(**PRIORS_OF_STRATA["drawn"], label_noise=0.05, threshold=THRESHOLD, **BOTH),
    "negatives": lambda: evaluated(with_negatives(), class_prior=0.3, threshold=THRESHOLD),
    "negatives, clusters": lambda: evaluated(with_negatives(), class_prior=(0.3, 0.4), cluster="person"),
    "negatives, strata": lambda: evaluated(with_negatives(), **PRIORS_OF_STRATA["range"], **STRATA),
    "weights, case-control": lambda: evaluated(
        with_negatives(), audit=(14, 60), scenario="case-control", weight="weight", threshold=THRESHOLD
    ),
    "estimated": lambda: evaluated(threshold=THRESHOLD),
    "estimated, clusters": lambda: evaluated(threshold=THRESHOLD, cluster="person"),
    "one prior, strata": lambda: evaluated(class_prior=0.35, threshold=THRESHOLD, **STRATA),
    "one range, equal split, both": lambda: evaluated(
        class_prior=(0.3, 0.4), split="equal", threshold=THRESHOLD, **BOTH
    ),
    "reviews": lambda: evaluated(reviews=reviews(), threshold=THRESHOLD),
    "reviews, strata": lambda: evaluated(reviews=reviews(), threshold=THRESHOLD, **STRATA),
    "reviews, clusters": lambda: evaluated(reviews=reviews(), threshold=THRESHOLD, cluster="person"),
    "reviews, both": lambda: evaluated(reviews=reviews(), threshold=THRESHOLD, **BOTH),
    "compare, noise": lambda: compared(class_prior=0.3, label_noise=0.05, threshold=THRESHOLD),
    "compare, first rows": lambda: compared(class_prior=0.3, k=40),
    "compare, first rows, clusters": lambda: compared(class_prior=0.3, k=40, cluster="person"),
    "compare, noise, strata": lambda: compared(**PRIORS_OF_STRATA["exact"], label_noise=0.05, **STRATA),
    "compare, noise, both": lambda: compared(**PRIORS_OF_STRATA["exact"], label_noise=0.05, **BOTH),
    "compare, reviews": lambda: compared(reviews=reviews(), threshold=THRESHOLD),
    "doubt": lambda: doubted(class_prior=(0.3, 0.4)),
    "doubt, clusters": lambda: doubted(class_prior=0.35, cluster="person"),
    "doubt, strata": lambda: doubted(**PRIORS_OF_STRATA["exact"], **STRATA),
    "watch": lambda: watched(class_prior=0.2),
    "watch, audit": lambda: watched(audit=(20, 100)),
}
FUNCTIONS: dict[str, Callable[[dict[str, Any], float | None], Numbers]] = {
    "evaluate": evaluations,
    "compare": comparisons,
    "calibrate": calibrations,
    "decide": decisions,
    "segments": segments,
    "gaps": gaps,
}
NAMES = (*FUNCTIONS, "others")


def cases(names: Iterable[str] = NAMES) -> Iterator[tuple[str, Callable[[], Numbers]]]:
    """Every case by its name, with what counts it."""
    for function, design, prior, scenario in product(FUNCTIONS, DESIGNS, PRIORS, SCENARIOS):
        if function not in names:
            continue
        priors = PRIORS_OF_STRATA if "labelled_within" in DESIGNS[design] else PRIORS
        if function in ("segments", "gaps") and "labelled_within" in DESIGNS[design]:
            priors = PRIORS_OF_SEGMENTS_IN_STRATA
        elif function in ("segments", "gaps") and scenario == "case-control":
            priors = PRIORS_OF_SEGMENTS
        asked = {**DESIGNS[design], **priors[prior], "scenario": scenario}
        for how, threshold in {"given": THRESHOLD, "chosen": None}.items():
            if function != "calibrate" or threshold is not None:  # calibration knows no threshold
                yield f"{function}/{design}/{prior}/{scenario}/{how}", partial(FUNCTIONS[function], asked, threshold)
    if "others" in names:
        yield from ((f"others/{name}", numbers) for name, numbers in OTHERS.items())


def lines_of(name: str, numbers: Callable[[], Numbers]) -> list[str]:
    try:
        result = list(numbers())
    except PulensError as refusal:
        return [f"{name}: refused, {type(refusal).__name__}"]
    return [f"{name}/{what}: {' '.join(float(number).hex() for number in each)}" for what, each in result]


def counted(names: Iterable[str] = NAMES) -> list[str]:
    return [line for name, numbers in cases(names) for line in lines_of(name, numbers)]


def differing(then: Iterable[str], now: Iterable[str], *, closely: bool = False) -> list[str]:
    """What differs between two ledgers, a line each, with the largest distance of its numbers."""
    old, new = (dict(line.split(": ", 1) for line in lines) for lines in (then, now))
    result = []
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name) and not (closely and is_close(old.get(name), new.get(name))):
            result.append(f"{name}: {distance(old.get(name), new.get(name))}")
    return result


def is_close(then: str | None, now: str | None) -> bool:
    """Equal but for what another processor's last digits do to sums, and to quantiles that are searched for."""
    try:
        old, new = ([float.fromhex(each) for each in (line or "none").split()] for line in (then, now))
    except ValueError:
        return False
    return len(old) == len(new) and bool(np.allclose(old, new, rtol=1e-8, atol=1e-12, equal_nan=True))


def distance(then: str | None, now: str | None) -> str:
    if then is None or now is None:
        return "is new" if then is None else "is gone"
    try:
        old, new = ([float.fromhex(each) for each in line.split()] for line in (then, now))
    except ValueError:
        return f"was {then!r}, is {now!r}"
    if len(old) != len(new):
        return f"had {len(old)} numbers, has {len(new)}"
    with np.errstate(invalid="ignore"):
        return f"differs by up to {np.nanmax(np.abs(np.array(old) - np.array(new))):.3g}"


def main(arguments: list[str]) -> int:
    named = [each for each in arguments if not each.startswith("--")] or list(NAMES)
    kept = NUMBERS.read_text().splitlines() if NUMBERS.exists() else []
    then = [line for line in kept if line.split("/")[0] in named]
    now = counted(named)
    result = differing(then, now)
    sys.stdout.write("\n".join([*result, f"{len(result)} of {len(now)} lines differ", ""]))
    if "--write" in arguments:
        others = [line for line in kept if line.split("/")[0] not in named]
        order = list(NAMES)
        every = sorted([*others, *now], key=lambda line: order.index(line.split("/")[0]))
        NUMBERS.write_text("\n".join(every) + "\n")
    return int(bool(result))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
