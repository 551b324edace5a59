"""Paper 001's bounds against cases worked in exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.counts.tally import Tally
from pulens.inference.kernels.bands import rank_band
from pulens.recovery.bounds import latent_count, surrogates_in_head

BANDS = {"dkw": "dkw", "clopper_pearson": "clopper-pearson", "bootstrap_ideal": "bootstrap"}
CELLS = {"TP": "true_positive", "FP": "false_positive", "FN": "false_negative", "TN": "true_negative"}


def _tally(given: dict) -> Tally:
    if given.get("recipe"):
        rng = np.random.Generator(np.random.PCG64(given["seed"]))
        sides = []
        for size, share in ((given["n_positive"], 1.0), (given["n_unlabeled"], given["alpha"])):
            u = rng.random(size)
            means = np.where(np.arange(size) < round(share * size), 1.0, -1.0)
            sides.append(np.log(u) - np.log1p(-u) + means)
        positive, unlabelled, negative = [*sides, np.array([])]
    else:
        positive, unlabelled, negative = (np.array(given[k]) for k in ("positive", "unlabeled", "negative"))
    labels = np.repeat([1, 0, -1], [positive.size, unlabelled.size, negative.size])
    return Tally.from_arrays(labels, np.concatenate([positive, unlabelled, negative]))


def _bounds(case: dict, band: str) -> pulens.Bounds:
    return pulens.bounds(
        _tally(case["input"]),
        unlabelled_prior=case["params"]["beta"],
        scenario="single-set",
        confidence=case["params"]["level"],
        band=BANDS[band],
        approach="negatives" if case["params"]["reversed"] else "positives",
    )


def _same_areas(result: pulens.Bounds, expected: dict, case: dict) -> None:
    same = {"rel": case["rtol"], "abs": case["atol"]}
    for area, suffix in (("envelope", ""), ("sorted", "_sorted"), ("rank", "_rank")):
        interval = result.roc_area(area)
        assert interval.low == pytest.approx(expected[f"auroc_lower{suffix}"], **same)
        assert interval.high == pytest.approx(expected[f"auroc_upper{suffix}"], **same)
    for interval, name in ((result.average_precision, "ap"), (result.pr_auc, "aupr")):
        assert interval.low == pytest.approx(expected[f"{name}_lower"], **same)
        assert interval.high == pytest.approx(expected[f"{name}_upper"], **same)


@pytest.mark.parametrize("name", ["b1", "b2", "b3", "b4"])
def test_tables_and_areas_are_exact(name: str, reference_cases: dict[str, dict]) -> None:
    case = reference_cases[name]
    expected = case["expected"]
    result = _bounds(case, case["params"]["band"])
    for side, table in (("lower", result.tables.lower), ("upper", result.tables.upper)):
        wanted = expected[f"{side}_tables"]
        thresholds = [np.inf if row["threshold"] is None else row["threshold"] for row in wanted]
        np.testing.assert_array_equal(table.thresholds, thresholds)
        for short, cell in CELLS.items():
            np.testing.assert_allclose(getattr(table, cell), [row[short] for row in wanted], atol=1e-9)
    _same_areas(result, expected, case)


@pytest.mark.parametrize("band", list(BANDS))
def test_areas_of_four_thousand_rows_are_exact(band: str, reference_cases: dict[str, dict]) -> None:
    case = reference_cases["b6"]
    _same_areas(_bounds(case, band), case["expected"][band], case)
    assert latent_count(0.25, 4000) == case["expected"]["latent_positives"]


def test_pieces_are_exact(reference_cases: dict[str, dict]) -> None:
    case = reference_cases["b5"]
    for row in case["expected"]["eq11"]:
        result = surrogates_in_head(row["head_unlabeled"], row["n_unlabeled"], row["latent_positives"], row["theta"])
        assert result == row["surrogates_in_head"]
    for row in case["expected"]["bands"]:
        for name, band in BANDS.items():
            limits = rank_band(np.array([row["hits"]]), row["n"], case["params"]["level"], band)
            assert [limits.low[0], limits.high[0]] == pytest.approx(row[name], rel=case["rtol"], abs=case["atol"])
    for row in case["expected"]["latent_positive_count"]:
        assert latent_count(row["beta"], row["n_unlabeled"]) == row["latent_positives"]
