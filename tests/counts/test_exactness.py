"""A threshold is read in the precision of the scores: a row stored as 0.7 in single precision is at or above 0.7."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
import pulens.metrics
from page_scripts import answers_of
from pulens import Tally
from pulens.counts.exactness import in_precision
from pulens.counts.joint import JointTally
from pulens.errors import InputError
from pulens.recovery.binning_error import corners
from pulens.report.page_data import packed

SINGLE = np.dtype(np.float32)
typed = st.integers(-2000, 2000).map(lambda number: number / 1000)  # numbers as people type them


@given(scores=st.lists(typed, min_size=1), threshold=typed)
def test_counts_in_single_precision_are_those_of_numpy_pandas_and_polars(scores, threshold):
    kept = np.array(scores, np.float32)
    counted = Tally.from_arrays(np.zeros(kept.size), kept).at(threshold).unlabelled
    assert counted == (kept >= threshold).sum()
    assert counted == (pd.Series(kept) >= threshold).sum()
    assert counted == (pl.Series(kept) >= threshold).sum()
    assert counted == sum(score >= threshold for score in scores)  # what was written before it was stored


@given(scores=st.lists(typed, min_size=1), threshold=typed)
def test_the_type_of_the_threshold_does_not_matter(scores, threshold):
    for kind in (np.float32, np.float64):
        tally = Tally.from_arrays(np.zeros(len(scores)), np.array(scores, kind))
        as_typed = tally.at(threshold)
        assert tally.at(np.float64(threshold)) == as_typed
        if kind is np.float32:
            assert tally.at(np.float32(threshold)) == as_typed


@given(st.floats(width=32, allow_nan=False))
def test_a_number_of_single_precision_stays_itself(number):
    assert in_precision(number, SINGLE) == number


@pytest.mark.parametrize("threshold", [5e-324, 1e-60, -1e-60, 1e60, -1e60, np.inf, -np.inf])
def test_numbers_that_single_precision_cannot_hold_are_compared_as_they_are(threshold):
    scores = np.array([0.0, 1.0, -1.0, 3e38, -3e38], np.float32)
    counted = Tally.from_arrays(np.zeros(5), scores).at(threshold).unlabelled
    assert counted == sum(float(score) >= threshold for score in scores)


ROWS = np.array([1, 1, 0, 0, 0, 0, 1, 0]), np.array([0.7, 0.9, 0.7, 0.1, 0.3, 0.2, 0.1, 0.7])
ASSUMED = {"class_prior": 0.5, "scenario": "single-set"}


def test_every_number_at_a_threshold_is_that_of_the_same_scores_in_double_precision():
    labels, scores = ROWS
    for threshold in (0.1, 0.2, 0.3, 0.7, 0.9):
        single, double = (
            pulens.evaluate(labels, kept, threshold=threshold, redraws=200, **ASSUMED, labelling="random")
            for kept in (scores.astype(np.float32), scores)
        )
        assert single.threshold == threshold
        assert single.at(threshold).to_dict() == double.at(threshold).to_dict()
        for name, result in single.estimates.items():
            assert result.value == pytest.approx(double.estimates[name].value, nan_ok=True), name
        assert single.bounds().metric("recall", threshold=threshold) == double.bounds().metric(
            "recall", threshold=threshold
        )


def test_comparisons_read_thresholds_alike_from_arrays_and_from_engines():
    labels, scores = ROWS
    kept = {"a": scores.astype(np.float32), "b": scores[::-1].copy()}
    options = {"threshold": 0.7, "metrics": ["recall"], "redraws": 100, **ASSUMED}
    arrays = pulens.compare(labels, kept, **options, labelling="random")
    lazy = pulens.compare(
        pl.DataFrame({**kept, "label": labels}).lazy(), score=["a", "b"], **options, labelling="random"
    )
    assert arrays.estimates["recall"]["a"].value == 2 / 3
    for model in kept:
        assert arrays.estimates["recall"][model].value == lazy.estimates["recall"][model].value


def test_a_joint_tally_hands_scores_back_in_their_precision():
    labels, scores = ROWS
    joint = JointTally.from_rows({"a": scores.astype(np.float32), "b": scores}, labels)
    for tally in (joint.tally("a"), (joint + joint).tally("a")):
        assert tally.thresholds.dtype == np.float32
    assert joint.tally("b").thresholds.dtype == np.float64
    assert joint.rows()[1]["a"].dtype == np.float32
    assert joint.tally("a").at(0.7) == joint.tally("b").at(0.7)


def test_tallies_of_two_precisions_are_not_added():
    labels, scores = ROWS
    single, double = Tally.from_arrays(labels, scores.astype(np.float32)), Tally.from_arrays(labels, scores)
    with pytest.raises(InputError, match=r"float32 and float64 scores cannot be added: 0\.7 is not the same number"):
        single + double
    assert (single + single).thresholds.dtype == np.float32
    nothing = Tally.from_increments(np.zeros(0), np.zeros(0, int), np.zeros(0, int))
    assert (double + nothing) == double


@pytest.mark.parametrize("threshold", [0.7, 0.6, 5e-324])
def test_a_threshold_that_cuts_a_bin_of_single_precision_is_bounded_on_both_sides(threshold):
    scores = np.array([0.0, 0.7, 0.9, 0.2], np.float32)
    tally = Tally.from_arrays(np.array([1, 1, 0, 0]), scores).binned(bits=0)
    reach = {corner.at(threshold).labelled for corner in corners(tally, threshold)}
    assert reach == {0.0, 2.0}


def test_the_page_finds_the_same_rows():
    labels, scores = ROWS
    tally = Tally.from_arrays(labels, scores.astype(np.float32))
    driver = """
    const recovery = require(`${process.argv[1]}/recovery.js`);
    const [{ data, wanted }] = JSON.parse(require("fs").readFileSync(0, "utf8"));
    const bytes = Buffer.from(data, "base64");
    const thresholds = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    console.log(JSON.stringify(wanted.map((threshold) => recovery.indexAt(thresholds, threshold))));
    """
    wanted = [0.7, 0.9, 0.1, 0.15, 1e-60, 2.0]
    kept = packed(tally.thresholds, whole=False)
    assert kept["type"] == "f4"
    result = answers_of(driver, [{"data": kept["data"], "wanted": wanted}])
    rows = [0, *(tally.labelled + tally.unlabelled).tolist()]
    assert [rows[place] for place in result] == [sum(tally.at(threshold)) for threshold in wanted]
    page = pulens.evaluate(tally, threshold=0.7, confidence=None, **ASSUMED, labelling="random").to_html()
    assert kept["data"] in page
