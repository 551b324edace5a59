"""A batch of segments is its segments one by one: one evaluation is a batch of one."""

from __future__ import annotations

import math

import numpy as np
import polars
import pytest

import pulens
from pulens.groups.segments import Segment, evaluate_by
from pulens.inputs import read_tallies
from pulens.inputs.engines import drive

SEGMENTS = 120
PRIORS = np.random.default_rng(1).uniform(0.1, 0.45, SEGMENTS)
EACH = dict(enumerate(PRIORS.tolist()))
AWKWARD = {  # score, label
    "nobody labelled": [(2.0, 0), (1.0, 0)],
    "all labelled": [(2.0, 1), (1.0, 1)],
    "one row": [(1.0, 1)],
    "one row not labelled": [(1.0, 0)],
    "one of each": [(2.0, 1), (1.0, 0)],
    "one of each, tied": [(1.0, 1), (1.0, 0)],
    "the wrong way round": [(1.0, 1), (0.9, 1), (2.0, 0), (3.0, 0), (4.0, 0)],
    "all tied": [(1.0, 1)] * 6 + [(1.0, 0)] * 40,
    "nothing at the threshold": [(0.5, 1), (0.4, 1), (0.3, 0), (0.2, 0), (0.1, 0), (0.05, 0)],
    "everything above it": [(5.0, 1), (4.0, 1), (3.0, 0), (2.5, 0), (2.2, 0), (2.1, 0)],
    "perfectly apart": [(9.0 + place, 1) for place in range(12)] + [(float(-place), 0) for place in range(60)],
    "labelled by score": [(5.0 - place / 100, 1) for place in range(40)] + [(place / 99, 0) for place in range(300)],
    "labelled twice": [(place / 7, 1) for place in range(14)] + [(place / 7, 0) for place in range(60)],
    "known classes alone": [(3.0, 1), (2.0, 1), (1.0, -1), (0.5, -1)],
    "negatives that are no negatives": [(place / 9, 1) for place in range(30)]
    + [(place / 40, 0) for place in range(200)]
    + [(2.0 + place / 30, -1) for place in range(90)],
}
CASES = {
    "given": {"class_prior": EACH},
    "given, a threshold": {"class_prior": EACH, "threshold": 1.0},
    "given, case-control": {"class_prior": EACH, "scenario": "case-control"},
    "implied": {"class_prior": 0.27},
    "implied, a threshold": {"class_prior": 0.27, "threshold": 1.2},
    "implied, far above all scores": {"class_prior": 0.27, "threshold": 99.0},
    "implied, no intervals": {"class_prior": 0.27, "confidence": None},
    "implied by an audit": {"audit": (30, 200)},
    "the same": {"class_prior": 0.27, "same_prior": True},
    "the same, case-control, high": {"class_prior": 0.8, "same_prior": True, "scenario": "case-control"},
    "of the unlabelled": {"unlabelled_prior": EACH},
    "label noise": {"class_prior": EACH, "label_noise": 0.06, "threshold": 1.0},
    "label noise, implied": {"class_prior": 0.27, "label_noise": 0.06},
    "label noise, case-control": {"class_prior": EACH, "label_noise": 0.06, "scenario": "case-control"},
    "another level, seed and number of redraws": {"class_prior": 0.27, "confidence": 0.8, "seed": 7, "redraws": 333},
    "other metrics": {"class_prior": 0.27, "metrics": ["lift", "matthews_correlation", "cohen_kappa", "youden_j"]},
}


def table(*, negatives=False, ties=False, weights=False, seed=0):
    """Segments of one to some hundred rows, and the awkward ones."""
    rng = np.random.default_rng(seed)
    segment = np.repeat(np.arange(SEGMENTS), rng.integers(1, 160, SEGMENTS))
    positive = rng.random(segment.size) < PRIORS[segment]
    labels = (positive & (rng.random(segment.size) < 0.35)).astype(int)
    if negatives:
        labels[~positive & (rng.random(segment.size) < 0.15)] = -1
    scores = rng.normal(1.5 * positive)
    rows = [(str(name), score, label) for name, score, label in zip(segment, scores, labels, strict=True)]
    rows += [(name, *row) for name, own in AWKWARD.items() for row in own if negatives or row[1] >= 0]
    names, scores, labels = (list(column) for column in zip(*rows, strict=True))
    frame = polars.DataFrame({"score": np.round(scores, 1 if ties else 9), "label": labels, "site": names})
    return frame.with_columns(polars.Series("weight", rng.uniform(0.3, 2.5, len(frame)))) if weights else frame


def asked(case, frame):
    """The arguments of a case: class priors by the names of its segments."""
    names = frame["site"].unique().to_list()
    own = {
        name: {site: value.get(int(site) if site.isdigit() else None, 0.3) for site in names}
        if isinstance(value, dict)
        else value
        for name, value in CASES[case].items()
    }
    return {"scenario": "single-set", **own}


def differences(result, expected, place=""):
    """Where two answers differ: to the last bit, but for sums of nine products, an area over a class prior's range."""
    if place.endswith("/roc_auc") and expected.get("method") == "range over the class prior":
        place = f"{place}/sources/class prior"  # all that such an interval comes from
    if isinstance(expected, dict):
        assert list(result) == list(expected), place
        return [one for key in expected for one in differences(result[key], expected[key], f"{place}/{key}")]
    if isinstance(expected, list):
        assert len(result) == len(expected), place
        pairs = enumerate(zip(result, expected, strict=True))
        return [one for at, pair in pairs for one in differences(*pair, f"{place}[{at}]")]
    if "/roc_auc/sources/class prior/" in place and isinstance(expected, float):
        return [] if math.isclose(result, expected, rel_tol=0, abs_tol=1e-14) else [(place, result, expected)]
    return [] if result == expected and type(result) is type(expected) else [(place, result, expected)]


def compare(frame, options):
    result = evaluate_by(frame, "site", **options, labelling="random")
    expected = evaluate_by(frame, "site", one_by_one=True, **options, labelling="random")
    assert not differences(result.to_dict(), expected.to_dict())
    assert str(result) == str(expected)
    together = sum(not isinstance(entry, Segment) for entry in result.segments._found.values())
    return together, len(result)


@pytest.mark.parametrize("case", CASES)
def test_numbers_intervals_priors_notices_and_reasons_are_the_same(case):
    frame = table(ties=case in ("given", "implied"))
    together, many = compare(frame, asked(case, frame))
    assert many > 100
    assert together > 0.8 * many, "nearly all of them are found together, or this says nothing"


@pytest.mark.parametrize("case", ["given", "implied", "label noise", "given, case-control", "implied by an audit"])
def test_they_are_with_known_negatives(case):
    frame = table(negatives=True, seed=2)
    together, many = compare(frame, asked(case, frame))
    assert together > 0.8 * many


@pytest.mark.parametrize("case", ["given", "implied", "the same", "given, case-control"])
def test_they_are_with_weights(case):
    frame = table(weights=True, seed=3)
    together, many = compare(frame, {**asked(case, frame), "weight": "weight"})
    assert together > 0.8 * many


@pytest.mark.parametrize("case", ["given, a threshold", "implied"])
def test_they_are_where_scores_were_binned(case, tmp_path, monkeypatch):

    frame = table(seed=4)
    frame.write_parquet(tmp_path / "rows.parquet")
    for name, value in {"EXACT_ROWS": 100, "SORT_ABOVE": 100, "FINE_CELL_BITS": 9}.items():
        monkeypatch.setattr(drive, name, value)
    tallies = read_tallies(tmp_path / "rows.parquet", group_by="site")
    assert sum(tally.binning is not None for tally in tallies.values()) > 50
    together, many = compare(str(tmp_path / "rows.parquet"), asked(case, frame))
    assert together > 0.7 * many


@pytest.mark.parametrize(
    "options",
    [
        {"class_prior": (0.2, 0.3), "scenario": "single-set"},
        {"class_prior": 0.27, "scenario": "single-set", "metrics": ["average_precision"], "redraws": 100},
        {"class_prior": 0.27, "scenario": "single-set", "threshold": "each", "redraws": 100},
    ],
)
def test_what_cannot_be_found_together_is_found_one_by_one(options):
    frame = table(seed=5).filter(polars.col("site").str.len_chars() < 2)
    together, many = compare(frame, options)
    assert together == 0
    assert many > 5


@pytest.mark.slow
def test_an_evaluation_is_made_of_its_counts_when_it_is_asked_for():
    frame = table(seed=6)
    options = {"class_prior": 0.27, "scenario": "single-set", "threshold": 1.0}
    result, expected = (
        evaluate_by(frame, "site", **options, labelling="random"),
        evaluate_by(frame, "site", one_by_one=True, **options, labelling="random"),
    )
    for site in ("3", "77", "perfectly apart"):
        own, alone = result[site], expected[site]
        assert own.tally == alone.tally
        assert own.class_prior == alone.class_prior
        assert own.to_dict() == alone.to_dict()
    assert result["3"] is result["3"]
    with pytest.raises(KeyError):
        result["nowhere"]


def test_a_missing_class_prior_is_the_caller_s_mistake():
    frame = table()
    with pytest.raises(pulens.PulensError, match=r"not for the segment '10'"):
        evaluate_by(frame, "site", class_prior={"0": 0.2, "1": 0.3}, scenario="single-set", labelling="random")


def test_progress_is_told_up_to_the_last_segment():
    told = []
    result = evaluate_by(
        table(),
        "site",
        class_prior=0.27,
        scenario="single-set",
        progress=lambda *both: told.append(both),
        labelling="random",
    )
    assert told[-1] == (len(result), len(result))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
