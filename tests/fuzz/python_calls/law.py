"""The law: one quantity is one number, whichever door, source or order of rows it comes from.

Every check takes a case (rows and what is assumed of them), asks for the same numbers in two ways, and says where they
differ: values and ends of intervals, to a relative 1e-9. Intervals that are drawn use the same seed and the same number
of draws.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import pulens
from pulens.errors import PulensError
from python_calls import worlds
from python_calls.libraries import has, library

CLOSE = 1e-9
Numbers = dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class Case:
    """Rows, what is assumed of them, and the threshold that is asked about.

    ``labelling`` is how an evaluation takes labels; the other doors take them for random.
    """

    world: worlds.World
    threshold: float
    assumed: Mapping[str, Any] = field(default_factory=dict)
    drawn: Mapping[str, Any] = field(default_factory=dict)
    labelling: str = "random"

    def evaluate(self, **more: Any) -> Any:
        return self.evaluate_rows(self.world.labels, self.world.scores, **more)

    def evaluate_rows(self, *rows: Any, **more: Any) -> Any:
        return pulens.evaluate(*rows, **self.options, labelling=self.labelling, **more)

    @property
    def options(self) -> dict[str, Any]:
        return {"threshold": self.threshold, **self.assumed, **self.drawn}

    @property
    def has_given_prior(self) -> bool:
        return "class_prior" in self.assumed or "unlabelled_prior" in self.assumed

    def told(self) -> str:
        rows, labelled = self.world.labels.size, int((self.world.labels == 1).sum())
        asked = f"threshold {self.threshold}, {self.assumed}, {self.drawn}, {self.labelling} labels"
        return f"{rows} rows, {labelled} labelled, {asked}"


def draw(chance: random.Random, sizes: tuple[int, ...] = (40, 90, 160)) -> Case:
    """A case of ordinary rows; class priors fit them about as often as not."""
    world = worlds.draw(chance, sizes=sizes, ordinary=True)
    known = ({"class_prior": world.prior}, {"class_prior": (0.8 * world.prior, world.prior)})
    unknown = ({}, {"audit": (3, 20)}, {"class_prior": chance.choice((0.2, 0.6))}, {"unlabelled_prior": 0.15})
    assumed = {"scenario": chance.choice(("single-set", "case-control")), **chance.choice((*known, *known, *unknown))}
    if chance.random() < 0.15 and "audit" not in assumed:
        assumed["label_noise"] = 0.05
    threshold = float(chance.choice(np.unique(world.scores).tolist()))
    drawn = {"redraws": 100, "seed": chance.choice((0, 3)), "confidence": chance.choice((0.8, 0.95))}
    return Case(world, threshold, assumed, drawn, chance.choice(("random", "practice")))


def ends_of(result: Any) -> tuple[float, float, float]:
    interval = getattr(result, "interval", None)
    low, high = (math.nan, math.nan) if interval is None else (interval.low, interval.high)
    return result.value, low, high


def numbers_of(estimates: Any) -> Numbers:
    return {name: ends_of(result) for name, result in estimates.items()}


def told_numbers(told: Mapping[str, Any]) -> Numbers:
    """From plain values, as JSON has them: null is no number."""
    plain = {}
    for name, result in told.items():
        plain[name] = tuple(math.nan if result.get(key) is None else result[key] for key in ("value", "low", "high"))
    return plain  # type: ignore[return-value]


def differences(
    first: Numbers, second: Numbers, ways: str, *, values_only: bool = False, withheld: bool = False
) -> Iterator[str]:
    """Where numbers of the same name are not the same; ``withheld`` if one of them may be left unsaid."""
    for name in first.keys() & second.keys():
        parts = list(zip(("value", "low", "high"), first[name], second[name], strict=True))
        for part, one, other in parts[:1] if values_only else parts:
            if (math.isnan(one) and math.isnan(other)) or (withheld and (math.isnan(one) or math.isnan(other))):
                continue
            if not math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE):
                yield f"{ways}: {part} of {name} is {one!r} and {other!r}"


def order_of_rows(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    order = np.array(chance.sample(range(case.world.labels.size), case.world.labels.size))
    other = replace(case, world=case.world.take(order))
    yield from differences(numbers_of(case.evaluate().estimates), numbers_of(other.evaluate().estimates), "order")


def order_with_clusters(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    order = np.array(chance.sample(range(case.world.labels.size), case.world.labels.size))
    other = replace(case, world=case.world.take(order))
    result = [each.evaluate(cluster=each.world.clusters).estimates for each in (case, other)]
    yield from differences(numbers_of(result[0]), numbers_of(result[1]), "order with clusters")


def increasing_scores(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """Only ranks matter where the class prior is given."""
    if not case.has_given_prior:
        return
    scores, places = np.unique(case.world.scores, return_inverse=True)
    ranks = np.arange(scores.size, dtype=float) ** 3 - 7.0
    moved = replace(case.world, scores=ranks[places])
    at = float(ranks[np.searchsorted(scores, case.threshold)])
    other = replace(case, world=moved, threshold=at)
    yield from differences(numbers_of(case.evaluate().estimates), numbers_of(other.evaluate().estimates), "ranks")


def weights_of_one(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    weights = np.ones(case.world.labels.size, chance.choice((int, float)))
    result = case.evaluate(weights=weights).estimates
    yield from differences(numbers_of(case.evaluate().estimates), numbers_of(result), "weights of 1")


def weights_of_nothing(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """Rows of weight 0 are no rows."""
    world = case.world
    extra = np.array([1e6, -1e6, float(world.scores.mean())])
    more = replace(
        world,
        labels=np.append(world.labels, [1, 0, 0]),
        scores=np.append(world.scores, extra),
    )
    weights = np.append(np.ones(world.labels.size), [0, 0, 0])
    result = replace(case, world=more).evaluate(weights=weights).estimates
    yield from differences(numbers_of(case.evaluate().estimates), numbers_of(result), "rows of weight 0")


def weight_of_two(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """A row that weighs 2 is the row twice; estimates of the class prior draw rows, and are left out."""
    if not case.has_given_prior:
        return
    weights = np.array([chance.choice((1, 2)) for _ in range(case.world.labels.size)])
    twice = case.world.take(np.repeat(np.arange(weights.size), weights))
    result = case.evaluate(weights=weights).estimates
    yield from differences(numbers_of(replace(case, world=twice).evaluate().estimates), numbers_of(result), "twice")


def at_a_threshold(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    result = case.evaluate()
    there = numbers_of(result.at(case.threshold).estimates)
    yield from differences(numbers_of(result.estimates), there, "evaluate and at")


def no_interval(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    alone = replace(case, drawn={**case.drawn, "confidence": None}).evaluate().estimates
    result = numbers_of(case.evaluate().estimates)
    # what is too wide to be said depends on the interval
    yield from differences(result, numbers_of(alone), "confidence=None", values_only=True, withheld=True)


def metric_functions(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    result = case.evaluate()
    names = chance.sample(sorted({*result.estimates, "roc_auc", "recall", "precision"}), 3)
    options = {name: value for name, value in case.options.items() if name not in ("redraws", "seed", "confidence")}
    for name in names:
        if name not in result.estimates:
            continue
        facts = pulens.metrics.METRICS[name]
        given = {key: value for key, value in options.items() if key != "threshold" or facts.needs_threshold}
        value = getattr(pulens.metrics, name)(case.world.labels, case.world.scores, **given)
        alone = {name: (float(getattr(value, "value", value)), math.nan, math.nan)}
        first = numbers_of({name: result.estimates[name]})
        yield from differences(first, alone, "evaluate and metrics", values_only=True, withheld=True)


def decided(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """What a decision says of its threshold is what an evaluation says of it."""
    asked: Any = chance.choice(
        (
            {"cost_miss": 5, "cost_alarm": 1},
            {"capacity": max(2, case.world.labels.size // 5)},
            {"recall_at_least": 0.3},
            {"precision_at_least": 0.3},
        )
    )
    extra: dict[str, Any] = {}
    if chance.random() < 0.3:
        extra["cluster"] = case.world.clusters
    options = {name: value for name, value in case.options.items() if name != "threshold"}
    decision = pulens.decide(case.world.labels, case.world.scores, **options, **asked, **extra, labelling="random")
    if decision.threshold is None or not math.isfinite(decision.threshold):
        return
    there = case.evaluate(**extra).at(decision.threshold).estimates
    named = {"recall": decision.recall, "precision": decision.precision, "predicted_positive_rate": decision.flagged}
    first = numbers_of({name: result for name, result in named.items() if result is not None and name in there})
    second = numbers_of({name: there[name] for name in first})
    # intervals of a decision allow for the choice of its threshold
    yield from differences(first, second, f"decide {asked} and at", values_only=True)


def capacity_is_no_choice(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """A capacity says how many rows are flagged, whatever their labels: nothing is chosen by them."""
    options = {name: value for name, value in case.options.items() if name != "threshold"}
    asked = {"capacity": max(2, case.world.labels.size // 4)}
    decision = pulens.decide(case.world.labels, case.world.scores, **options, **asked, labelling="random")
    if decision.threshold is None or not math.isfinite(decision.threshold):
        return
    there = case.evaluate().at(decision.threshold).estimates
    named = {"recall": decision.recall, "precision": decision.precision}
    first = numbers_of({name: result for name, result in named.items() if result is not None and name in there})
    yield from differences(first, numbers_of({name: there[name] for name in first}), "decide by capacity and at")


def cut_range(case: Case, result: Any) -> dict[str, Any]:
    """The range of class priors that is left where the scores of all models rule out a part of what was given."""
    if not isinstance(case.assumed.get("class_prior"), tuple):
        return {}
    reach = result.class_prior.interval
    return {"class_prior": (reach.low, reach.high)}


def compared(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """An estimate of the class prior reads all models, and is left out; a range is cut by all of them."""
    if not case.has_given_prior:
        return
    scores = {"a": case.world.scores, "b": np.round(case.world.scores, 1)}
    options = {**case.options, "metrics": ["roc_auc", "recall", "precision", "average_precision"]}
    if chance.random() < 0.3:
        options["cluster"] = case.world.clusters
    result = pulens.compare(case.world.labels, scores, **options, labelling="random")
    told = {name: each["estimates"]["a"] for name, each in result.to_dict()["metrics"].items() if "estimates" in each}
    extra = {"cluster": options["cluster"]} if "cluster" in options else {}
    whole = replace(case, assumed={**case.assumed, **cut_range(case, result)}).evaluate(**extra)
    second = {**numbers_of(whole.estimates), **numbers_of(whole.at(case.threshold).estimates)}
    yield from differences(told_numbers(told), second, "compare and evaluate")


def segments_of_one(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    table = library("pyarrow").table({**case.world.columns(), "one": ["x"] * case.world.labels.size})
    extra = {"cluster": "patient"} if chance.random() < 0.3 else {}
    result = pulens.evaluate_by(table, "one", **case.options, **extra, labelling=case.labelling).to_dict()
    if not result["segments"]:
        return
    whole = case.evaluate_rows(table, **extra)
    second = {**numbers_of(whole.at(case.threshold).estimates), **numbers_of(whole.estimates)}
    yield from differences(told_numbers(result["segments"][0]["estimates"]), second, "one segment and evaluate")


def one_cell(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """Labels that are random within the one cell of all rows are random."""
    extra = {"cluster": case.world.clusters} if chance.random() < 0.3 else {}
    cell = np.zeros(case.world.labels.size, int)
    plain, within = case.evaluate(**extra), case.evaluate(labelled_within=cell, **extra)
    yield from differences(numbers_of(plain.estimates), numbers_of(within.estimates), "one cell and none")


def clusters_of_one_row(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """Clusters of one row each are none."""
    plain = case.evaluate()
    alone = case.evaluate(cluster=np.arange(case.world.labels.size))
    yield from differences(numbers_of(plain.estimates), numbers_of(alone.estimates), "clusters of one row")


def in_a_frame(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    result = case.evaluate()
    frame = result.to_frame(backend="pandas" if has("pandas") else "pyarrow")
    rows = frame.to_dict("records") if has("pandas") else frame.to_pylist()
    framed = {row["metric"]: tuple(float(row[name]) for name in ("value", "low", "high")) for row in rows}
    yield from differences(numbers_of(result.estimates), framed, "to_frame")  # type: ignore[arg-type]


def in_json(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    result = case.evaluate()
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    yield from differences(numbers_of(result.estimates), told_numbers(told["estimates"]), "to_dict")


def on_the_page(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    result = case.evaluate()
    content = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', result.to_html(), re.S)
    if content is None:
        return
    metrics = json.loads(content.group(1)).get("metrics") or {}
    rows = metrics.items() if isinstance(metrics, dict) else ((row.get("name"), row) for row in metrics)
    told = {name: row for name, row in rows if isinstance(row, dict) and "value" in row}
    yield from differences(numbers_of(result.estimates), told_numbers(told), "page")


def sources(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """Arrays, tables and files of the same rows."""
    columns = {name: values for name, values in case.world.columns().items() if name in ("label", "score", "patient")}
    arrow = library("pyarrow").table(columns)
    tables: list[Any] = [arrow]
    if has("pandas"):
        tables.append(library("pandas").DataFrame(columns))
    if has("polars"):
        tables.append(library("polars").DataFrame(columns))
    library("pyarrow.parquet").write_table(arrow, folder / "rows.parquet")
    library("pyarrow.csv").write_csv(arrow, folder / "rows.csv")
    tables += [str(folder / "rows.parquet"), folder / "rows.csv"]
    first = numbers_of(case.evaluate().estimates)
    table = chance.choice(tables)
    result = case.evaluate_rows(table).estimates
    yield from differences(first, numbers_of(result), f"arrays and {type(table).__name__}")


def counted_before(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """A file of counts stands for its rows."""
    from pulens.cli import main

    columns = {name: values for name, values in case.world.columns().items() if name in ("label", "score")}
    library("pyarrow.csv").write_csv(library("pyarrow").table(columns), folder / "rows.csv")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            main(["tally", str(folder / "rows.csv"), "--out", str(folder / "rows.tally")])
    except SystemExit as end:
        if end.code:
            raise AssertionError("rows could not be counted into a file") from end
    result = case.evaluate_rows(folder / "rows.tally").estimates
    yield from differences(numbers_of(case.evaluate().estimates), numbers_of(result), "rows and tally")


def net_benefit(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    extra: dict[str, Any] = {"cluster": case.world.clusters} if chance.random() < 0.5 else {}
    if chance.random() < 0.3:
        extra["labelled_within"] = case.world.groups
    if chance.random() < 0.3:
        extra["worlds"] = 2.0
    result = case.evaluate(**extra)
    known, curve = result.at(case.threshold)["net_benefit"], result.decision_curve(ratios=[0.5])
    if known.undefined_because or curve.low is None:
        return
    drawn = float(curve.model[0]), float(curve.low[0]), float(curve.high[0])
    first, second = {"net_benefit": ends_of(known)}, {"net_benefit": drawn}
    yield from differences(first, second, "at and decision_curve")


def other_way_to_say_the_prior(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    result = case.evaluate()
    # which of the two is known decides what chance explains, and so which possible world is the nearest
    if not isinstance(case.assumed.get("class_prior"), float) or result.contradiction is not None:
        return
    rest = {name: value for name, value in case.assumed.items() if name != "class_prior"}
    again = replace(case, assumed={**rest, "unlabelled_prior": result.class_prior.unlabelled}).evaluate()
    first, second = numbers_of(result.estimates), numbers_of(again.estimates)
    yield from differences(first, second, "class_prior and unlabelled_prior", values_only=True)


def groups_and_their_rows(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """A group of a table is an evaluation of its rows, where its class prior is said."""
    if not isinstance(case.assumed.get("unlabelled_prior"), float):
        return
    table = library("pyarrow").table(case.world.columns())
    told = pulens.evaluate_by(table, "group", same_prior=True, **case.options, labelling="random").to_dict()["segments"]
    for line in told:
        own = replace(case, world=case.world.take(case.world.groups == line["segment"])).evaluate()
        second = {**numbers_of(own.at(case.threshold).estimates), **numbers_of(own.estimates)}
        yield from differences(told_numbers(line["estimates"]), second, f"group {line['segment']} and its rows")


def watched(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    """The reference of a watch is evaluated as any rows are, and the order of rows says nothing."""
    case = replace(case, world=worlds.draw(chance, sizes=worlds.LARGE, ordinary=True))
    columns = {name: case.world.columns()[name] for name in ("label", "score")}
    half = case.world.labels.size // 2
    order = np.array(chance.sample(range(half), half))
    told = []
    for rows in (np.arange(half), order):
        parts = [{name: part[rows + more] for name, part in columns.items()} for more in (0, half)]
        tables = [library("pyarrow").table(part) for part in parts]
        options = {name: value for name, value in case.options.items() if name not in ("redraws", "seed")}
        told.append(pulens.watch(tables[0], {"may": tables[1]}, labelling="random", **options).to_dict())
    reference = told[0]["reference"]
    there = replace(case, world=case.world.take(np.arange(half))).evaluate().at(case.threshold)
    if case.has_given_prior and "label_noise" not in case.assumed and not there["recall"].undefined_because:
        recall = {"recall": (reference["recall"], math.nan, math.nan)}
        yield from differences(recall, numbers_of({"recall": there["recall"]}), "watch and at", values_only=True)
    windows = [
        {name: each for name, each in one["windows"][0].items() if isinstance(each, dict) and "low" in each}
        for one in told
    ]
    yield from differences(*map(told_numbers, windows), "watch, order")  # type: ignore[misc]


def first_rows(case: Case, chance: random.Random, folder: Path) -> Iterator[str]:
    k = chance.choice((1, 3, 10))
    result = case.evaluate()
    for name, known in result.top(k).estimates.items():
        if name not in pulens.metrics.METRICS or "k" not in pulens.metrics.METRICS[name].parameters:
            continue
        value = getattr(pulens.metrics, name)(case.world.labels, case.world.scores, k=k, **case.assumed)
        alone = {name: (float(getattr(value, "value", value)), math.nan, math.nan)}
        yield from differences(numbers_of({name: known}), alone, "top and metrics", values_only=True, withheld=True)


Law = Callable[[Case, random.Random, Path], Iterator[str]]
OF_EVALUATIONS: tuple[Law, ...] = (
    order_of_rows,
    order_with_clusters,
    increasing_scores,
    weights_of_one,
    weights_of_nothing,
    weight_of_two,
    at_a_threshold,
    no_interval,
    clusters_of_one_row,
    in_a_frame,
    in_json,
    sources,
    counted_before,
    other_way_to_say_the_prior,
    segments_of_one,
)
OF_RANDOM_LABELS: tuple[Law, ...] = (  # the other doors take labels for random
    metric_functions,
    decided,
    capacity_is_no_choice,
    compared,
    one_cell,
    on_the_page,
    net_benefit,
    groups_and_their_rows,
    watched,
    first_rows,
)
LAWS = (*OF_EVALUATIONS, *OF_RANDOM_LABELS)


def broken(chance: random.Random, folder: Path, words: list[str]) -> list[str]:
    """What two of the laws, on rows drawn for them, say is wrong; ``words`` are told what was asked."""
    drawn = draw(chance)
    wrong: list[str] = []
    words[1] = ""
    for law in chance.sample(LAWS, 2):
        case = drawn if law in OF_EVALUATIONS else replace(drawn, labelling="random")
        words[1] += f"{law.__name__}({case.told()}) "
        try:
            wrong += law(case, chance, folder)
        except PulensError:  # refused by one door: said in words, and no number that could differ
            continue
    return wrong
