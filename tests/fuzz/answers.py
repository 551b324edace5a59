"""What must hold for any answer in JSON: numbers within their intervals, intervals within what a metric can be."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator
from typing import Any

from pulens.metrics import METRICS

SLACK = 1e-9
SHARES = ("p_value", "adjusted_p_value", "probability", "class_prior", "unlabelled_prior", "confidence")


def parse(content: bytes) -> Any:
    """JSON and nothing that only some readers take for it."""
    return json.loads(content, parse_constant=_not_json)


def _not_json(word: str) -> Any:
    raise AssertionError(f"{word} is not JSON")


def wrong_numbers(answer: Any, place: str = "", metric: str | None = None, *, ranges: bool = True) -> Iterator[str]:
    """Values outside their interval, ends the wrong way round, numbers beyond what the metric can be."""
    if isinstance(answer, dict):
        yield from _wrong_interval(answer, place)
        if ranges:
            yield from _beyond_range(answer, place, metric)
        for name, inner in answer.items():
            yield from wrong_numbers(inner, f"{place}/{name}", name if name in METRICS else metric, ranges=ranges)
    elif isinstance(answer, list):
        for number, inner in enumerate(answer):
            inner_metric = metric
            if isinstance(inner, dict) and inner.get("metric") in METRICS:
                inner_metric = inner["metric"]
            yield from wrong_numbers(inner, f"{place}/{number}", inner_metric, ranges=ranges)


def _wrong_interval(answer: dict[str, Any], place: str) -> Iterator[str]:
    around = [answer, answer.get("interval"), *_mappings(answer.get("sources"))]
    value = answer.get("value", answer.get("clipped"))
    for interval in around:
        if not isinstance(interval, dict) or not (_number(interval.get("low")) and _number(interval.get("high"))):
            continue
        low, high = interval["low"], interval["high"]
        slack = SLACK * max(1.0, abs(low), abs(high))
        if low > high + slack:
            yield f"{place}: an interval from {low} to {high}"
        if "clipped" in answer and interval is answer:
            continue  # the ends of a bin of scores
        if _number(value) and not low - slack <= value <= high + slack:
            yield f"{place}: {value} outside {low} to {high}"


def _beyond_range(answer: dict[str, Any], place: str, metric: str | None) -> Iterator[str]:
    for name in SHARES:
        if _number(answer.get(name)) and not -SLACK <= answer[name] <= 1 + SLACK:
            yield f"{place}: {name} is {answer[name]}"
    if metric is None or "/differences/" in place:
        return
    facts = METRICS[metric]
    for result in (answer, answer.get("interval"), *_mappings(answer.get("sources"))):
        for name in ("value", "low", "high"):
            number = result.get(name) if isinstance(result, dict) else None
            if _number(number) and not facts.lowest - SLACK <= number <= facts.highest + SLACK:
                yield f"{place}: {name} of {metric} is {number}, beyond {facts.lowest} to {facts.highest}"


def _mappings(result: Any) -> list[Any]:
    return list(result.values()) if isinstance(result, dict) else []


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def differences(first: Any, second: Any, place: str = "") -> Iterator[str]:
    """Where two answers hold other numbers; words may name other files."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in sorted(first.keys() | second.keys()):
            if (name in first) != (name in second):
                yield f"{place}/{name} stands in one of them only"
            else:
                yield from differences(first[name], second[name], f"{place}/{name}")
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from differences(one, other, f"{place}/{number}")
    elif _number(first) and _number(second):
        if not math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9):
            yield f"{place}: {first} and {second}"
    elif (type(first) is not type(second) or isinstance(first, list | bool)) and first != second:
        yield f"{place}: {str(first)[:80]} and {str(second)[:80]}"


@contextlib.contextmanager
def unbounded_metrics() -> Iterator[None]:
    """Metrics that may be anything: what they say before it is cut to what is possible."""
    before = {name: (facts.lowest, facts.highest) for name, facts in METRICS.items()}
    for facts in METRICS.values():
        object.__setattr__(facts, "lowest", -math.inf)
        object.__setattr__(facts, "highest", math.inf)
    try:
        yield
    finally:
        for name, (lowest, highest) in before.items():
            object.__setattr__(METRICS[name], "lowest", lowest)
            object.__setattr__(METRICS[name], "highest", highest)
