"""What is called 80% holds the truth 80% of the time: small worlds, seeded, with limits on either side.

An interval that became too narrow misses the truth too often, one that became too wide hardly ever misses it. 80% and
not 95%, because misses are what tells the two apart. ``make test`` draws 60 sets of every world, which notice an
interval of half or twice its width; ``make everything`` up to 400, which notice a quarter. The large study is
``benchmarks/coverage.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit

import pulens
import pulens.metrics
from pulens import calibration
from pulens.priors import estimate_prior
from pulens.testing import RankingWorld, another_study, logistic_world

CONFIDENCE = 0.8
AT_THRESHOLD = ("precision", "recall", "f1")
CASE_CONTROL = RankingWorld("gaussian", 0.85, 0.3, labelled=60, unlabelled=600)
SINGLE_SET = RankingWorld("gaussian", 0.85, 0.3, labelled=60, unlabelled=540, scenario="single-set")
EASY = RankingWorld("gaussian", 0.95, 0.3, labelled=200, unlabelled=1000)
FEW = 60  # sets of a world in `make test`
PROBABILITIES = logistic_world(-0.5, 1.5, 0.3)


class Limits(NamedTuple):
    """Ends of many intervals, and the truth."""

    low: np.ndarray
    high: np.ndarray
    truth: float

    def coverage(self, stretched: float = 1.0) -> float:
        """How often the truth is held, if every interval were so many times as wide."""
        middle, half = (self.low + self.high) / 2, stretched * (self.high - self.low) / 2
        return float(np.mean((middle - half <= self.truth) & (self.truth <= middle + half)))

    @property
    def width(self) -> float:
        return float(np.mean(self.high - self.low))


def collected(intervals: Iterator[dict[str, pulens.Interval]], truths: dict[str, float]) -> dict[str, Limits]:
    result = list(intervals)
    return {
        name: Limits(*np.array([(each[name].low, each[name].high) for each in result]).T, truth)
        for name, truth in truths.items()
    }


def measured(
    world: RankingWorld, metrics: tuple[str, ...], prior: Callable[..., object], sets: int, **options: object
) -> dict[str, Limits]:
    def one(number: int) -> dict[str, pulens.Interval]:
        labels, scores = world.draw(np.random.default_rng([number, 7]))
        asked = {"class_prior": prior(labels, scores, number), "scenario": world.scenario, "confidence": CONFIDENCE}
        return {
            name: getattr(pulens.metrics, name)(
                labels, scores, threshold=world.threshold if name in AT_THRESHOLD else None, **asked, **options
            ).interval
            for name in metrics
        }

    return collected(map(one, range(sets)), {name: world.values[name] for name in metrics})


def known(labels, scores, number):
    return 0.3


def from_another_study(world):
    return lambda labels, scores, number: another_study(world.class_prior, labels, world.scenario, number)


@cache
def case_control_known(sets):
    return measured(CASE_CONTROL, ("roc_auc", *AT_THRESHOLD), known, sets)


@cache
def single_set_known(sets):
    return measured(SINGLE_SET, ("roc_auc", *AT_THRESHOLD), known, sets)


@cache
def case_control_doubtful(sets):
    return measured(CASE_CONTROL, ("roc_auc", "precision"), from_another_study(CASE_CONTROL), sets)


@cache
def redrawn(sets):
    return measured(CASE_CONTROL, ("average_precision",), known, sets, redraws=400)


@cache
def calibrated(sets):
    """Construction of the calibration's proper scores; truth by summing over the world's own density."""

    def one(number: int) -> dict[str, pulens.Interval]:
        few, many, _ = PROBABILITIES.draw(60, 600, np.random.default_rng([number, 7]))
        rows = np.repeat([1, 0], [60, 600]), np.concatenate([few, many])
        asked = {"class_prior": 0.3, "scenario": "case-control", "confidence": CONFIDENCE}
        return {
            "brier": calibration.brier_score(*rows, **asked, labelling="random").interval,
            "in the large": calibration.calibration_in_the_large(*rows, **asked, labelling="random").interval,
        }

    grid = np.linspace(*PROBABILITIES.range, 20_001)
    density, share, score = PROBABILITIES.density(grid), np.nan_to_num(PROBABILITIES.posterior(grid)), expit(grid)
    squared = share * (1 - score) ** 2 + (1 - share) * score**2
    truths = {
        "brier": float(np.trapezoid(density * squared, grid)),
        "in the large": float(np.trapezoid(density * score, grid)) - 0.3,
    }
    return collected(map(one, range(sets)), truths)


@cache
def compared(sets):
    aucs = {"a": 0.85, "b": 0.8}

    def one(number: int) -> dict[str, pulens.Interval]:
        labels, models = CASE_CONTROL.draw_models(aucs, np.random.default_rng([number, 7]))
        asked = {"class_prior": 0.3, "scenario": "case-control", "confidence": CONFIDENCE}
        result = pulens.compare(labels, models, metrics=("roc_auc",), redraws=200, **asked, labelling="random")
        return {"difference": result.difference("a", "b", "roc_auc").interval}

    return collected(map(one, range(sets)), {"difference": aucs["a"] - aucs["b"]})


STUDIES = {
    case_control_known: (400, "roc_auc", *AT_THRESHOLD),
    single_set_known: (400, "roc_auc", *AT_THRESHOLD),
    case_control_doubtful: (300, "roc_auc", "precision"),
    redrawn: (400, "average_precision"),
    calibrated: (400, "brier", "in the large"),
    compared: (300, "difference"),
}
CASES = [
    pytest.param(study, sets, name, id=f"{study.__name__}-{name}")
    for study, (sets, *names) in STUDIES.items()
    for name in names
]


def limits(ends: Limits) -> tuple[float, float]:
    """Two and a quarter standard errors on either side of what is promised, two and a half with few sets."""
    error = (CONFIDENCE * (1 - CONFIDENCE) / ends.low.size) ** 0.5
    errors = 2.5 if ends.low.size == FEW else 2.25
    return CONFIDENCE - errors * error, CONFIDENCE + errors * error


@pytest.mark.parametrize(("study", "sets", "name"), CASES)
def test_an_interval_holds_the_truth_as_often_as_it_says(study, sets, name, everything):
    ends = study(sets if everything else FEW)[name]
    least, most = limits(ends)
    assert least <= ends.coverage() <= most


@pytest.mark.parametrize(("study", "sets", "name"), CASES)
def test_an_interval_much_wider_or_narrower_would_be_noticed(study, sets, name, everything):
    """A quarter with all the sets, half and twice with few."""
    ends = study(sets if everything else FEW)[name]
    least, most = limits(ends)
    assert ends.coverage(stretched=1.25 if everything else 2) > most
    assert ends.coverage(stretched=0.75 if everything else 0.5) < least


def test_an_estimated_prior_makes_intervals_wider_and_safe_but_not_idle():
    """The doubt covers shapes that this world does not have, so more than 80% is right; width is what can go wrong."""

    def estimated(labels, scores, number):
        return estimate_prior(labels, scores, scenario="case-control")

    result = measured(EASY, ("roc_auc", "precision"), estimated, 50)
    given = measured(EASY, ("roc_auc", "precision"), known, 50)
    for name, (least, most) in {"roc_auc": (1.75, 2.3), "precision": (2.7, 3.6)}.items():
        assert result[name].coverage() > 0.9, name
        assert least < result[name].width / given[name].width < most, name
