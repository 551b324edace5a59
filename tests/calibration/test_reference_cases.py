"""Group c of the worked cases, to the digits given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pulens.calibration import (
    best_evaluation_bound,
    evaluation_bound,
    expected_calibration_error,
    information_bound,
    optimal_bins,
    prior_error_bound,
    reliability,
    training_bound,
)
from pulens.testing import LogitMixture, logistic_world

BINNINGS = {"uwb": "width", "umb": "mass"}


@pytest.fixture
def cases(reference_cases: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return reference_cases


def rows(case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    given = case["input"]
    if "recipe" not in given:
        positive, unlabelled = given["positive"], given["unlabeled"]
    else:
        rng = np.random.Generator(np.random.PCG64(given["seed"]))
        drawn = [rng.random(given[name]) for name in ("n_positive", "n_unlabeled")]
        positive, unlabelled = (np.log(u) - np.log(1 - u) for u in drawn)
        first = round(given["alpha"] * given["n_unlabeled"])
        unlabelled += np.where(np.arange(unlabelled.size) < first, 1.0, -1.0)
        positive += 1.0
        b0, b1 = case["params"]["b0"], case["params"]["b1"]
        positive, unlabelled = (1 / (1 + np.exp(-(b0 + b1 * s))) for s in (positive, unlabelled))
    labels = np.repeat([1, 0], [len(positive), len(unlabelled)])
    return labels, np.concatenate([positive, unlabelled])


@pytest.mark.parametrize(("name", "short"), [("c1", "uwb"), ("c1", "umb"), ("c2", "uwb"), ("c2", "umb"), ("c3", "uwb")])
def test_small_cases_match(cases: dict[str, dict[str, Any]], name: str, short: str) -> None:
    case = cases[name]
    expected = case["expected"][short]
    labels, scores = rows(case)
    options = {"class_prior": case["params"]["prior"], "bins": case["params"]["bins"], "binning": BINNINGS[short]}
    result = expected_calibration_error(labels, scores, **options, scenario="case-control", labelling="random")
    assert result.value == pytest.approx(expected["pu_ece"], rel=case["rtol"], abs=case["atol"])
    assert result.overconfidence + result.underconfidence == pytest.approx(result.value, abs=1e-12)
    if "pu_ece_prior_hat" in expected:
        options["class_prior"] = case["params"]["prior_hat"]
        other = expected_calibration_error(labels, scores, **options, scenario="case-control", labelling="random")
        assert other.value == pytest.approx(expected["pu_ece_prior_hat"], rel=case["rtol"], abs=case["atol"])


@pytest.mark.parametrize("name", ["c1", "c2", "c3"])
def test_reliability_bins_match(cases: dict[str, dict[str, Any]], name: str) -> None:
    case = cases[name]
    labels, scores = rows(case)
    for short, binning in BINNINGS.items():
        if short not in case["expected"]:
            continue
        expected = case["expected"][short]
        result = reliability(
            labels,
            scores,
            class_prior=case["params"]["prior"],
            bins=case["params"]["bins"],
            binning=binning,
            scenario="case-control",
            labelling="random",
        )
        assert [result.bins[0].low, *(one.high for one in result.bins)] == expected["edges"]
        for one, row in zip(result.bins, expected["reliability"], strict=True):
            assert (one.low, one.high) == (row["lo"], row["hi"])
            assert (one.unlabelled, one.labelled) == (row["n_unlabeled"], row["n_positive"])
            assert one.middle == pytest.approx(row["mid"], rel=1e-12)
            for value, wanted in ((one.confidence, row["confidence"]), (one.fraction, row["fraction"])):
                if wanted is None:
                    assert np.isnan(value)
                else:
                    assert value == pytest.approx(wanted, rel=case["rtol"], abs=case["atol"])


def test_the_large_case_matches(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["c5"]
    labels, scores = rows(case)
    for key, expected in case["expected"].items():
        if key == "optimal_bins":
            continue
        short, bins = key.split("_")
        result = expected_calibration_error(
            labels,
            scores,
            class_prior=case["params"]["prior"],
            binning=BINNINGS[short],
            bins=None if bins == "optimal" else int(bins),
            scenario="case-control",
            labelling="random",
        )
        assert result.bins == expected["bins"]
        assert result.value == pytest.approx(expected["pu_ece"], rel=case["rtol"], abs=case["atol"])
        assert result.bins - result.filled_bins == expected["empty_bins"]


def test_the_number_of_bins_matches(cases: dict[str, dict[str, Any]]) -> None:
    for row in cases["c4"]["expected"]["rows"]:
        assert optimal_bins(row["prior"], row["n_positive"], row["n_unlabeled"]) == row["bins"]


def test_guarantees_match(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["c4"]
    near = {"rel": case["rtol"], "abs": case["atol"]}
    for row in case["expected"]["corollary1"]:
        result = best_evaluation_bound(
            row["prior"], row["n_positive"], row["n_unlabeled"], binning=BINNINGS[row["binning"]], lipschitz=row["L"]
        )
        assert result.bins == pytest.approx(row["optimal_B_real"], **near)
        assert result.total == pytest.approx(row["bound"], **near)
    for row in case["expected"]["theorem1"]:
        result = evaluation_bound(
            row["prior"],
            row["n_positive"],
            row["n_unlabeled"],
            row["B"],
            binning=BINNINGS[row["binning"]],
            lipschitz=row["L"],
            confidence=None if row["delta"] is None else 1 - row["delta"],
        )
        assert result.total == pytest.approx(row["bound"], **near)
    for row in case["expected"]["theorem3"]:
        sizes = row["n_positive"], row["n_unlabeled"]
        assert information_bound(row["vc_dimension"], sum(sizes)) == pytest.approx(row["fcmi"], **near)
        result = training_bound(
            row["prior"],
            *sizes,
            row["B"],
            vc_dimension=row["vc_dimension"],
            binning=BINNINGS[row["binning"]],
            lipschitz=row["L"],
        )
        assert result.total == pytest.approx(row["bound"], **near)
    assert prior_error_bound(0.5, 0.42) == pytest.approx(cases["c3"]["expected"]["theorem2_bound"], **near)


def test_true_errors_match(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["c4"]
    near = {"rel": case["rtol"], "abs": case["atol"]}
    for row in case["expected"]["tce_synthetic"]:
        world = logistic_world(row["b0"], row["b1"], row["prior"])
        assert world.true_calibration_error() == pytest.approx(row["tce"], **near)
    for row in case["expected"]["tce_gmm"]:
        world = LogitMixture(row["prior"], row["positive"], row["negative"])
        assert world.true_calibration_error() == pytest.approx(row["tce"], **near)
