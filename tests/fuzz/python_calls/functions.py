"""Calls of every public function: rows in some container, options that are usual or odd."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pulens
from python_calls import learning, worlds
from python_calls.call import PythonCall
from python_calls.containers import clothed
from python_calls.libraries import has, library
from python_calls.values import USUAL, for_option, odd

READING = ("positive", "negative", "unlabelled", "weights", "score", "label", "weight", "where", "tolerance", "format")
SLOW = ("redraws",)  # options whose default would take long
MOST_OPTIONS = 3
RARELY = ("score", "weight", "label", "where", "tolerance", "split", "combine", "audit", "positive", "unlabelled")


def told(name: str, value: Any) -> str:
    try:
        words = repr(value)
    except Exception:
        words = f"<{type(value).__name__}>"
    return f"{name}={words[:60] + '...' if len(words) > 60 else words}"


def options_of(function: Callable[..., Any], *, but: Sequence[str] = ()) -> list[str]:
    """Names of options, those of reading among them where the function hands them on."""
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        names += [name for name in READING if name not in names]
    return [name for name in names if name not in but]


def some_options(chance: random.Random, names: Sequence[str], share_of_odd: float = 0.4) -> dict[str, Any]:
    kept = chance.sample(list(names), min(len(names), chance.choice((0, 1, 1, 2, MOST_OPTIONS))))
    known = [name for name in kept if share_of_odd > 0 or (name in USUAL and name not in RARELY)]
    return {name: for_option(chance, name, share_of_odd) for name in known}


def of_rows(
    chance: random.Random,
    kind: str,
    function: Callable[..., Any],
    usual: dict[str, Any] | None = None,
    *,
    follow: int = 2,
    shares: bool = False,
    sizes: tuple[int, ...] = worlds.SIZES,
) -> PythonCall:
    """A function of labels and scores."""
    world = worlds.draw(chance, sizes=sizes)
    scores = 1 / (1 + np.exp(-np.clip(world.scores, -30, 30))) if shares else world.scores
    # most calls hold one odd thing: what is refused for one reason never meets the next
    odd_rows, odd_options = chance.choice(((0.0, 0.0), (0.0, 0.0), (0.35, 0.0), (0.0, 0.45), (0.1, 0.2)))
    labels, held = (clothed(chance, rows, odd_rows) for rows in (world.labels, scores))
    options = dict(usual or {})
    options.update(some_options(chance, options_of(function), odd_options))
    names = options_of(function)
    if "redraws" in names and "redraws" not in options:
        options["redraws"] = 100
    plain: dict[str, Any] = {}
    words = [labels.name, held.name]
    faithful = labels.faithful and held.faithful
    for name, rows in (("weights", world.weights), ("cluster", world.clusters), ("labelled_within", world.groups)):
        taken = name in names or (name == "cluster" and "weights" in names and kind != "read_tally")
        if taken and chance.random() < 0.12:
            own = clothed(chance, rows, odd_rows)
            options[name], plain[name] = own.rows, rows
            faithful = faithful and own.faithful
            words.append(f"{name}: {own.name}")
    if world.has_negatives and "negative" in READING and chance.random() < 0.8:
        options.setdefault("negative", -1)
    shown = ", ".join([*words, *(told(name, value) for name, value in options.items() if name not in plain)])
    twin = None
    if faithful and not any(hasattr(value, "__next__") for value in options.values()):  # those are read once only
        twin = functools.partial(function, world.labels, scores, **{**options, **plain})
    return PythonCall(kind, function, (labels.rows, held.rows), options, f"{kind}({shown})", twin, follow)


def table_of(chance: random.Random, columns: dict[str, Any], folder: Path) -> tuple[str, Any]:
    """The rows as some kind of table, now and then a damaged one."""
    kinds = ["pandas", "pyarrow", "csv"] + (["polars"] if has("polars") else [])
    kind = chance.choice(kinds if chance.random() < 0.95 else ["mapping", "list of rows"])
    if chance.random() < 0.15:
        name = chance.choice(("label", "score", "group", "patient", "day"))
        rows = clothed(chance, columns[name], 0.9)
        columns = {**columns, name: rows.rows}
        kind = chance.choice(("pandas", "pyarrow", "mapping"))
        try:
            made = _table(kind, columns, folder)
        except Exception:  # a library's own limits
            made = _table("mapping", columns, folder)
        return f"{kind} with {name} as {rows.name}", made
    if chance.random() < 0.08:
        return "no table", odd(chance)
    return kind, _table(kind, columns, folder)


def _table(kind: str, columns: dict[str, Any], folder: Path) -> Any:
    if kind == "pandas":
        return library("pandas").DataFrame(columns)
    if kind == "polars":
        return library("polars").DataFrame(columns)
    if kind == "pyarrow":
        return library("pyarrow").table(columns)
    if kind == "csv":
        path = folder / "rows.csv"
        library("pandas").DataFrame(columns).to_csv(path, index=False)
        return str(path)
    if kind == "list of rows":
        names = list(columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return columns


def of_table(
    chance: random.Random,
    kind: str,
    function: Callable[..., Any],
    folder: Path,
    arguments: Sequence[Any] = (),
    usual: dict[str, Any] | None = None,
    *,
    follow: int = 2,
    sizes: tuple[int, ...] = worlds.SIZES,
) -> PythonCall:
    """A function of a table."""
    world = worlds.draw(chance, sizes=sizes)
    columns = world.columns()
    name, table = table_of(chance, columns, folder)
    names = options_of(function)
    options = {**(usual or {}), **some_options(chance, names, chance.choice((0.0, 0.0, 0.4)))}
    if "redraws" in options_of(function) or "redraws" in _handed_on(function):
        options.setdefault("redraws", 100)
    if world.has_negatives:
        options.setdefault("negative", -1)
    for option, column in (("cluster", "patient"), ("labelled_within", "group"), ("weight", "weight")):
        if chance.random() < 0.08 and (option in names or "weights" in names):
            options[option] = column
    shown = ", ".join([name, *map(repr, arguments), *(told(option, value) for option, value in options.items())])
    return PythonCall(kind, function, (table, *arguments), options, f"{kind}({shown})", None, follow)


def _handed_on(function: Callable[..., Any]) -> tuple[str, ...]:
    return SLOW if getattr(function, "__name__", "") in ("evaluate_by", "gaps_by") else ()


def of_numbers(chance: random.Random, kind: str, function: Callable[..., Any]) -> PythonCall:
    """A function of numbers alone: each is usual or odd."""
    given: dict[str, Any] = {}
    for each in inspect.signature(function).parameters.values():
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            continue
        if each.default is each.empty:
            given[each.name] = for_option(chance, each.name, 0.35)
        elif chance.random() < 0.3:
            given[each.name] = for_option(chance, each.name, 0.5)
    shown = ", ".join(told(name, value) for name, value in given.items())
    return PythonCall(kind, function, (), given, f"{kind}({shown})")


def prior(chance: random.Random) -> dict[str, Any]:
    """Some way to say the class prior, or none."""
    return chance.choice(
        (
            {},
            {"class_prior": 0.6},
            {"class_prior": 0.9},
            {"class_prior": (0.5, 0.7)},
            {"unlabelled_prior": 0.1},
            {"unlabelled_prior": (0.1, 0.3)},
            {"class_prior": 0.3, "scenario": "case-control"},
        )
    )


def evaluate(chance: random.Random, folder: Path) -> PythonCall:
    return of_rows(chance, "evaluate", pulens.evaluate, prior(chance), follow=3)


def evaluate_table(chance: random.Random, folder: Path) -> PythonCall:
    return of_table(chance, "evaluate table", pulens.evaluate, folder, (), prior(chance), follow=3)


def decide(chance: random.Random, folder: Path) -> PythonCall:
    asked = chance.choice(
        ({"cost_miss": 5, "cost_alarm": 1}, {"capacity": 5}, {"recall_at_least": 0.5}, {"precision_at_least": 0.3}, {})
    )
    return of_rows(chance, "decide", pulens.decide, {**prior(chance), **asked})


def compare(chance: random.Random, folder: Path) -> PythonCall:
    if chance.random() < 0.5:
        return of_table(chance, "compare", pulens.compare, folder, (), {**prior(chance), "score": ["score", "other"]})
    world = worlds.draw(chance)
    columns = world.columns()
    first, second = (clothed(chance, columns[name], 0.3) for name in ("score", "other"))
    labels = clothed(chance, world.labels, 0.2)
    scores: Any = {"score": first.rows, "other": second.rows}
    if chance.random() < 0.2:
        scores = odd(chance)
    options = {"redraws": 100, **prior(chance), **some_options(chance, options_of(pulens.compare))}
    words = ", ".join([labels.name, first.name, second.name, *(told(name, each) for name, each in options.items())])
    return PythonCall("compare", pulens.compare, (labels.rows, scores), options, f"compare({words})")


def evaluate_by(chance: random.Random, folder: Path) -> PythonCall:
    return of_table(chance, "evaluate_by", pulens.evaluate_by, folder, ("group",), prior(chance), sizes=worlds.LARGE)


def gaps_by(chance: random.Random, folder: Path) -> PythonCall:
    usual = {"threshold": 0.5}
    return of_table(chance, "gaps_by", pulens.gaps_by, folder, ("group",), usual)


def bounds(chance: random.Random, folder: Path) -> PythonCall:
    return of_rows(chance, "bounds", pulens.bounds, prior(chance))


def estimate_prior(chance: random.Random, folder: Path) -> PythonCall:
    method = {"method": chance.choice(pulens.priors.names())} if chance.random() < 0.6 else {}
    return of_rows(chance, "estimate_prior", pulens.estimate_prior, method, sizes=worlds.LARGE)


def estimate_prior_and_noise(chance: random.Random, folder: Path) -> PythonCall:
    return of_rows(chance, "estimate_prior_and_noise", pulens.estimate_prior_and_noise, sizes=worlds.LARGE)


def estimate_prior_within(chance: random.Random, folder: Path) -> PythonCall:
    usual = {"labelled_within": "group"}
    function = pulens.estimate_prior_within
    return of_table(chance, "estimate_prior_within", function, folder, (), usual, sizes=worlds.LARGE)


def metric(chance: random.Random, folder: Path) -> PythonCall:
    name = chance.choice(pulens.metrics.names())
    facts = pulens.metrics.METRICS[name]
    usual: dict[str, Any] = dict(chance.choice(({"class_prior": 0.7}, {"unlabelled_prior": 0.1}, {})))
    if facts.needs_threshold or chance.random() < 0.1:
        usual["threshold"] = for_option(chance, "threshold", 0.2)
    for parameter in facts.parameters:
        if chance.random() < 0.4:
            usual[parameter] = for_option(chance, parameter, 0.5)
    call = of_rows(chance, f"metrics.{name}", getattr(pulens.metrics, name), usual, shares=chance.random() < 0.3)
    return PythonCall("metrics", call.function, call.arguments, call.options, call.words, call.twin, 1)


CALIBRATION_OF_ROWS = (
    "brier_score",
    "calibration_in_the_large",
    "calibration_slope",
    "expected_calibration_error",
    "log_loss",
    "recalibrate",
    "reliability",
)
CALIBRATION_OF_NUMBERS = (
    "best_evaluation_bound",
    "best_training_bound",
    "evaluation_bound",
    "training_bound",
    "information_bound",
    "optimal_bins",
    "prior_error_bound",
    "sample_size_for_error",
)


def calibration(chance: random.Random, folder: Path) -> PythonCall:
    name = chance.choice(CALIBRATION_OF_ROWS)
    function = getattr(pulens.calibration, name)
    call = of_rows(chance, f"calibration.{name}", function, {"unlabelled_prior": 0.2}, shares=chance.random() < 0.9)
    return PythonCall("calibration", call.function, call.arguments, call.options, call.words, call.twin)


def calibration_numbers(chance: random.Random, folder: Path) -> PythonCall:
    name = chance.choice(CALIBRATION_OF_NUMBERS)
    call = of_numbers(chance, f"calibration.{name}", getattr(pulens.calibration, name))
    return PythonCall("calibration numbers", call.function, call.arguments, call.options, call.words)


def classwise(chance: random.Random, folder: Path) -> PythonCall:
    rng = np.random.default_rng(chance.getrandbits(32))
    rows = chance.choice((5, 30, 80))
    scores = rng.dirichlet(np.ones(3), rows)
    labels = np.where(rng.random(rows) < 0.4, np.array(["a", "b", "c"])[rng.integers(0, 3, rows)], "")
    function = pulens.calibration.classwise_calibration_error
    options: dict[str, Any] = {"classes": ["a", "b", "c"], "class_prior": [0.3, 0.3, 0.4]}
    options.update(some_options(chance, options_of(function), 0.6))
    held = labels if chance.random() < 0.7 else clothed(chance, labels, 0.9).rows
    given = scores if chance.random() < 0.7 else odd(chance)
    words = ", ".join(told(name, value) for name, value in options.items())
    return PythonCall("calibration", function, (held, given), options, f"classwise_calibration_error({words})")


def prior_numbers(chance: random.Random, folder: Path) -> PythonCall:
    return of_numbers(chance, "priors.rows_to_audit", pulens.priors.rows_to_audit)


def bucket_rows(chance: random.Random, folder: Path) -> PythonCall:
    world = worlds.draw(chance)
    parts = [clothed(chance, rows, 0.25) for rows in (world.labels, world.scores, world.clusters)]
    words = ", ".join(part.name for part in parts)
    options = {"cluster": parts[2].rows, **some_options(chance, options_of(pulens.read_buckets), 0.3)}
    rows = parts[0].rows, parts[1].rows
    words = ", ".join([words, *(told(name, value) for name, value in options.items() if name != "cluster")])
    return PythonCall("read_buckets", pulens.read_buckets, rows, options, f"read_buckets({words})")


def tally(chance: random.Random, folder: Path) -> PythonCall:
    from pulens.inputs import read_sample, read_tally

    return of_rows(chance, "read_tally", chance.choice((read_tally, read_sample)))


def reviews(chance: random.Random, folder: Path) -> PythonCall:
    world = worlds.draw(chance, sizes=(25, 60, 120))
    free = np.flatnonzero(world.labels == 0)
    if not free.size:
        return evaluate(chance, folder)
    some = np.array(chance.sample(free.tolist(), max(1, free.size // 2)))
    log: Any = {
        "row": some,
        "answer": (world.scores[some] > 1).astype(int),
        "probability": np.full(some.size, some.size / free.size),
    }
    if chance.random() < 0.3:
        name = chance.choice(tuple(log))
        log = {**log, name: clothed(chance, log[name], 0.9).rows}
    elif chance.random() < 0.1:
        log = odd(chance)
    function = chance.choice((pulens.evaluate, pulens.read_reviews, pulens.join_reviews, pulens.compare))
    scores: Any = world.scores
    if function is pulens.compare:
        scores = {"a": world.scores, "b": -world.scores}
    options = {"reviews": log, **some_options(chance, options_of(function), chance.choice((0.0, 0.4)))}
    if "threshold" in options_of(function):
        options.setdefault("threshold", 0.5)
    if "redraws" in options_of(function):
        options.setdefault("redraws", 100)
    words = ", ".join(told(name, value) for name, value in options.items())
    return PythonCall("reviews", function, (world.labels, scores), options, f"{function.__name__}({words})")


def audit(chance: random.Random, folder: Path) -> PythonCall:
    usual = chance.choice(({"budget": 10}, {"width": 0.3}, {}))
    if chance.random() < 0.8:
        usual = {**usual, "threshold": 0.5}
    if chance.random() < 0.5:
        return of_rows(chance, "plan_audit", pulens.plan_audit, usual)
    return of_table(chance, "plan_audit", pulens.plan_audit, folder, (), {**usual, "id": "id"})


def audit_read(chance: random.Random, folder: Path) -> PythonCall:
    path: Any = folder / "queue.csv"
    path.write_text("row,answer,probability\n0,yes,0.5\n1,no,0.5\n" if chance.random() < 0.7 else "\x00,\n1")
    if chance.random() < 0.3:
        path = odd(chance)
    function = chance.choice((pulens.read_audit, pulens.more_audit))
    options = some_options(chance, options_of(function), 0.5)
    if function is pulens.more_audit:
        options.setdefault("budget", 5)
    words = ", ".join([told("path", path), *(told(name, value) for name, value in options.items())])
    return PythonCall("audit files", function, (path,), options, f"{function.__name__}({words})")


def audit_counts(chance: random.Random, folder: Path) -> PythonCall:
    from pulens.audits import agreement_of, from_counts

    if chance.random() < 0.3:
        first, second = (clothed(chance, np.array([1, 0, 1, 1, 0]), 0.5) for _ in range(2))
        options = some_options(chance, options_of(agreement_of), 0.5)
        words = f"agreement_of({first.name}, {second.name})"
        return PythonCall("audits", agreement_of, (first.rows, second.rows), options, words)
    given: dict[str, Any] = {"rows": [100, 50], "checked": [10, 20], "found": [2, 15], "flagged": 1}
    for name in chance.sample(options_of(from_counts), 2):
        given[name] = for_option(chance, name, 0.5)
    words = ", ".join(told(name, value) for name, value in given.items())
    return PythonCall("audits", from_counts, (), given, f"from_counts({words})")


def watch(chance: random.Random, folder: Path) -> PythonCall:
    if chance.random() < 0.7:
        usual = {"time": "day", "by": "month", "reference_until": "2026-01", "threshold": 0.5}
        return of_table(chance, "watch", pulens.watch, folder, (), usual, sizes=worlds.LARGE)
    columns = [worlds.draw(chance, sizes=worlds.LARGE).columns() for _ in range(2)]
    tables = [table_of(chance, each, folder)[1] for each in columns]
    options = some_options(chance, options_of(pulens.watch), 0.4)
    options.pop("state", None)
    windows: Any = {"may": tables[1]} if chance.random() < 0.7 else odd(chance)
    words = ", ".join(told(name, value) for name, value in options.items())
    return PythonCall("watch", pulens.watch, (tables[0], windows), options, f"watch(two tables, {words})")


def synthesise(chance: random.Random, folder: Path) -> PythonCall:
    world = worlds.draw(chance)
    features = np.stack([world.scores, world.weights], axis=1)
    X: Any = features if chance.random() < 0.7 else clothed(chance, world.scores, 0.7).rows
    y = clothed(chance, (world.labels == 1).astype(int), 0.3)
    function = pulens.synthesise
    names = options_of(function, but=READING)
    options = {"label_frequency": 0.5, **some_options(chance, names, chance.choice((0.0, 0.4)))}
    words = ", ".join([y.name, *(told(name, value) for name, value in options.items())])
    return PythonCall("synthesise", function, (X, y.rows), options, f"synthesise({words})")


class Fixed:
    """An estimator that says what it was told to say, in some shape."""

    def __init__(self, answers: Any, classes: Any, way: str) -> None:
        self.classes_ = classes
        setattr(self, way, lambda X: answers)


def sklearn(chance: random.Random, folder: Path) -> PythonCall:
    from pulens import sklearn as faces

    world = worlds.draw(chance, sizes=(12, 40, 90))
    share = 1 / (1 + np.exp(-np.clip(world.scores, -30, 30)))
    answers = chance.choice(
        (
            np.stack([1 - share, share], axis=1),
            np.stack([share, 1 - share], axis=1),
            share.reshape(-1, 1),
            np.stack([share] * 3, axis=1),
            share,
            share[:-1],
            share.tolist(),
            None,
        )
    )
    classes = chance.choice((np.array([0, 1]), np.array([1, 0]), np.array(["a", "b"]), np.array([0, 1, 2]), None, [1]))
    way = chance.choice(("predict_proba", "predict_proba", "decision_function", "decision_function", "predict"))
    y = clothed(chance, np.where(world.labels == 1, 1, 0), 0.2)
    estimator: Any = Fixed(answers, classes, way) if chance.random() < 0.9 else odd(chance)
    features = np.zeros((share.size, 1))
    names = ("threshold", "positive", "scenario", "label_noise")
    options = {"unlabelled_prior": 0.2, **some_options(chance, names, chance.choice((0.0, 0.4)))}
    words = ", ".join([way, told("classes", classes), y.name, *(told(name, each) for name, each in options.items())])
    if chance.random() < 0.6:
        name = chance.choice((*pulens.metrics.names(), "no such metric"))
        if name in pulens.metrics.METRICS and pulens.metrics.METRICS[name].needs_threshold:
            options.setdefault("threshold", 0.5)
        weights = None if chance.random() < 0.8 else clothed(chance, world.weights, 0.3).rows

        def score() -> Any:
            return faces.scorer(name, **options)(estimator, features, y.rows, weights)

        return PythonCall("sklearn", score, (), {}, f"scorer({name!r}, {words})", follow=0)
    display = chance.choice((faces.RocCurveDisplay, faces.PrecisionRecallDisplay))
    ways: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
        (display.from_estimator, (estimator, features, y.rows)),
        (display.from_predictions, (y.rows, clothed(chance, share, 0.3).rows)),
    )
    function, arguments = chance.choice(ways)
    return PythonCall("sklearn", function, arguments, options, f"{display.__name__}({words})", follow=0)


def calibrated(chance: random.Random, folder: Path) -> PythonCall:
    """The calibrated classifier over a plain one."""
    from sklearn.linear_model import LogisticRegression

    world = worlds.draw(chance, sizes=(25, 60, 120))
    features = np.stack([np.clip(world.scores, -9, 9), world.weights], axis=1)
    y = clothed(chance, (world.labels == 1).astype(int), 0.3)
    options = {"class_prior": 0.4, **some_options(chance, ("method", "scenario", "folds", "seed"), 0.4)}
    words = ", ".join([y.name, *(told(name, each) for name, each in options.items())])

    def fitted() -> Any:
        try:
            made = pulens.calibration.PUCalibratedClassifier(LogisticRegression(), **options)
        except TypeError as error:  # Python's own word about a name that does not exist
            raise pulens.PulensError(str(error)) from error
        return made.fit(features, y.rows).predict_proba(features)

    return PythonCall("sklearn", fitted, (), {}, f"PUCalibratedClassifier({words})", follow=0)


def cells_of_table(chance: random.Random, folder: Path) -> PythonCall:
    given = [chance.choice((for_option(chance, "threshold", 0.5), odd(chance))) for _ in range(5)]
    words = ", ".join(told("", each) for each in given)
    return PythonCall("Contingency", pulens.Contingency.from_cells, tuple(given), {}, f"from_cells({words})", follow=1)


KINDS: dict[str, tuple[int, Callable[[random.Random, Path], PythonCall]]] = {
    "evaluate": (18, evaluate),
    "evaluate table": (6, evaluate_table),
    "decide": (7, decide),
    "compare": (5, compare),
    "evaluate_by": (4, evaluate_by),
    "gaps_by": (4, gaps_by),
    "bounds": (4, bounds),
    "estimate_prior": (4, estimate_prior),
    "estimate_prior_and_noise": (1, estimate_prior_and_noise),
    "estimate_prior_within": (2, estimate_prior_within),
    "metrics": (12, metric),
    "calibration": (7, calibration),
    "calibration numbers": (3, calibration_numbers),
    "classwise": (1, classwise),
    "prior numbers": (1, prior_numbers),
    "buckets": (2, bucket_rows),
    "tally": (2, tally),
    "reviews": (4, reviews),
    "plan_audit": (2, audit),
    "audit files": (2, audit_read),
    "audits": (2, audit_counts),
    "watch": (3, watch),
    "synthesise": (2, synthesise),
    "sklearn": (5, sklearn),
    "calibrated": (1, calibrated),
    "Contingency": (1, cells_of_table),
    "learner": (3, learning.learner),
    "fit": (1, learning.fit),
}
