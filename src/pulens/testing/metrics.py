"""What a metric promises by the facts it declares, tried on random tables and rankings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.metrics import Metric, measure, raw_value
from pulens.recovery import recover_at
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.contingency import Contingency

TABLES, RANKINGS = 400, 12
TOLERANCE = 1e-9


def check_metric(metric: Metric, *, rewards_hits: bool = True, seed: int = 0) -> None:
    """Raise an ``AssertionError`` that lists every promise the metric breaks; nothing happens if it keeps them all.

    ``rewards_hits=False`` leaves out one promise that not every number makes: that finding more positives at the same
    false alarms is never worse.

    >>> from pulens.metrics import Metric
    >>> check_metric(Metric(lambda table: table.true_positive, "How many positives are found"))
    Traceback (most recent call last):
    ...
    AssertionError: this metric breaks 2 promises:
    - values lie between 0 and 1 (lowest, highest): found 19.5
    - values do not depend on the size of the population: 19.5 of a thousand times as many rows is 1.95e+04
    """
    rng = np.random.default_rng(seed)
    broken = list(_facts(metric))
    if not broken:
        checks = {"threshold": _threshold, "ranking": _ranking, "counts": _counts}
        broken += checks[metric.reads](metric, rng)
        if metric.reads == "threshold" and rewards_hits:
            broken += _rewards_hits(metric, rng)
    if not broken:
        broken += [*_free_of_the_prior(metric, rng), *_as_a_function(metric)]
    if broken:
        promises = "a promise" if len(broken) == 1 else f"{len(broken)} promises"
        raise AssertionError("\n- ".join([f"this metric breaks {promises}:", *broken]))


def _facts(metric: Metric) -> Iterator[str]:
    if metric.reads not in ("threshold", "ranking", "counts"):
        yield f"reads is 'threshold', 'ranking' or 'counts': it is {metric.reads!r}"
    if not metric.summary or metric.summary.endswith("."):
        yield f"summary is a phrase without a full stop: it is {metric.summary!r}"
    if not metric.lowest < metric.highest:
        yield f"lowest lies below highest: they are {metric.lowest:g} and {metric.highest:g}"


def _tables(rng: np.random.Generator, size: float = 1.0) -> Contingency:
    """Many tables, the extreme ones too: nothing found, everything called positive."""
    hits, alarms = rng.random((2, TABLES))
    hits[:4], alarms[:4] = (0, 0, 1, 1), (0, 1, 0, 1)
    priors = rng.uniform(0.001, 0.999, TABLES)
    return Contingency(np.zeros(TABLES), hits, alarms, 100 * priors * size, 100 * (1 - priors) * size)


def _threshold(metric: Metric, rng: np.random.Generator) -> Iterator[str]:
    state = rng.bit_generator.state
    table = _tables(rng)
    before = table.true_positive_rate.copy(), table.false_positive_rate.copy()
    values = np.asarray(metric.compute(table))
    if values.shape != (TABLES,):
        yield f"compute gives one value per table: {TABLES} tables gave an array of shape {values.shape}"
        return
    if any((a != b).any() for a, b in zip(before, (table.true_positive_rate, table.false_positive_rate), strict=True)):
        yield "compute leaves the table as it was: the rates were changed"
    yield from _in_range(metric, values)
    alone = [np.asarray(metric.compute(table[i : i + 1])).ravel()[0] for i in range(40)]
    if not np.array_equal(values[:40], alone, equal_nan=True):
        yield "a table's value does not depend on the tables next to it"
    rng.bit_generator.state = state
    larger = np.asarray(metric.compute(_tables(rng, size=1000.0)))
    moved = _first_apart(values, larger)
    if moved is not None:
        yield (
            f"values do not depend on the size of the population: {values[moved]:.3g} of a thousand times as many rows "
            f"is {larger[moved]:.3g}"
        )


def _in_range(metric: Metric, values: Any) -> Iterator[str]:
    known = values[~np.isnan(values)]
    outside = known[(known < metric.lowest - TOLERANCE) | (known > metric.highest + TOLERANCE)]
    if outside.size:
        yield f"values lie between {metric.lowest:g} and {metric.highest:g} (lowest, highest): found {outside[0]:.3g}"
    if known.size < np.size(values) and not metric.undefined_because:
        yield "undefined_because says why a value is nan: some are, and it is empty"


def _first_apart(first: Any, second: Any) -> int | None:
    apart = ~np.isclose(first, second, rtol=1e-6, atol=TOLERANCE, equal_nan=True)
    return int(np.argmax(apart)) if apart.any() else None


def _rewards_hits(metric: Metric, rng: np.random.Generator) -> Iterator[str]:
    hits = np.sort(rng.random((TABLES, 2)), axis=1)
    alarms, priors = rng.random(TABLES), rng.uniform(0.01, 0.99, TABLES)
    fewer, more = (
        np.asarray(metric.compute(Contingency(np.zeros(TABLES), hits[:, side], alarms, priors, 1 - priors)))
        for side in (0, 1)
    )
    gain = (more - fewer) if metric.higher_is_better else (fewer - more)
    if (gain[~np.isnan(gain)] < -TOLERANCE).any():
        yield (
            "finding more positives at the same false alarms is never worse: here it is, so either higher_is_better is "
            "the wrong way round, or say rewards_hits=False"
        )


def _rankings(rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
    """Labels and scores, with ties."""
    for _ in range(RANKINGS):
        labels = np.r_[1, 0, rng.random(28) < 0.3].astype(np.int8)
        yield labels, np.round(rng.normal(labels), 1)


def _ranking(metric: Metric, rng: np.random.Generator) -> Iterator[str]:
    values: list[float] = []
    stretched: list[float] = []
    for labels, scores in _rankings(rng):
        for into, these in ((values, scores), (stretched, np.sinh(scores))):
            into.append(raw_value(metric, Tally.from_arrays(labels, these), Assumptions(0.1)))
    moved = _first_apart(values, stretched)
    if moved is not None:
        yield (
            "a ranking is read without looking at the gaps between scores: stretching them changed "
            f"{values[moved]:.3g} to {stretched[moved]:.3g}"
        )


def _counts(metric: Metric, rng: np.random.Generator) -> Iterator[str]:
    result = [
        raw_value(metric, Tally.from_arrays(labels, scores), Assumptions(0.1), float(np.median(scores)))
        for labels, scores in _rankings(rng)
    ]
    yield from _in_range(metric, np.array(result))


def _free_of_the_prior(metric: Metric, rng: np.random.Generator) -> Iterator[str]:
    if metric.needs_class_prior and not metric.ignores_class_prior:
        return
    for labels, scores in _rankings(rng):
        tally, middle = Tally.from_arrays(labels, scores), float(np.median(scores))
        priors = (Assumptions(0.005), Assumptions(0.05))
        if metric.reads == "threshold" and not all(
            recover_at(tally, each, middle).is_possible.all() for each in priors
        ):
            continue  # clipped rates do depend on the class prior
        low, high = (raw_value(metric, tally, each, middle) for each in priors)
        if _first_apart([low], [high]) is not None:
            yield f"needs_class_prior is False, so the class prior changes nothing: it changed {low:.3g} to {high:.3g}"
            return


def _as_a_function(metric: Metric) -> Iterator[str]:
    labels, scores = [1, 1, 0, 0, 0], [0.9, 0.6, 0.7, 0.2, 0.1]
    function = measure(metric, "metric")
    try:
        function(labels, scores, class_prior=0.5, threshold=0.5 if metric.needs_threshold else None)
    except (PulensError, TypeError, ValueError, IndexError) as error:
        yield f"it can be called with labels and scores: {type(error).__name__}: {error}"
