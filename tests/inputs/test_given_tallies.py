"""A tally that is handed over gets the checks that rows get, at every door."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pulens
import pulens.calibration
import pulens.metrics
from pulens import Tally
from pulens.cli import main
from pulens.counts.tally import check_counts
from pulens.errors import InputError
from pulens.inputs import read_tally
from pulens.inputs.tally_files import TallyFile, read_tally_file, write_tally_file
from tests_support import pu_rows

ASSUMED = {"class_prior": 0.4, "scenario": "single-set"}


def tally_file(tally, tmp_path):
    write_tally_file(tmp_path / "x.tally", TallyFile.of(tally))
    return pulens.evaluate(tmp_path / "x.tally", **ASSUMED, labelling="random")


DOORS = {
    "evaluate": lambda tally, _: pulens.evaluate(tally, **ASSUMED, labelling="random"),
    "metric": lambda tally, _: pulens.metrics.roc_auc(tally, **ASSUMED),
    "metric without a prior": lambda tally, _: pulens.metrics.pulp(tally),
    "metric at a threshold": lambda tally, _: pulens.metrics.recall(tally, threshold=0.5, **ASSUMED),
    "calibration": lambda tally, _: pulens.calibration.expected_calibration_error(tally, **ASSUMED, labelling="random"),
    "recalibration": lambda tally, _: pulens.calibration.recalibrate(tally, **ASSUMED, labelling="random"),
    "bounds": lambda tally, _: pulens.bounds(tally, **ASSUMED),
    "prior": lambda tally, _: pulens.estimate_prior(tally, scenario="single-set"),
    "prior and noise": lambda tally, _: pulens.estimate_prior_and_noise(tally, scenario="single-set"),
    "tally": lambda tally, _: read_tally(tally),
    "tally file": tally_file,
}
NOTHING, SCORES = np.zeros(0), np.array([0.9, 0.5])


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((NOTHING, NOTHING.astype(int), NOTHING.astype(int)), "there are no rows"),
        ((SCORES, np.array([0, 0]), np.array([3, 4])), "no labelled positive among 7 rows"),
        ((SCORES, np.array([3, 4]), np.array([0, 0])), "all 7 rows are labelled positive"),
        ((SCORES, np.array([0.0, 0.0]), np.array([0.5, 1.0])), r"no labelled positive among 1\.5 rows"),
    ],
)
def test_counts_that_say_nothing_are_refused_as_such_rows_are(door, counts, said, tmp_path):
    with pytest.raises(InputError, match=said):
        DOORS[door](Tally.from_increments(*counts), tmp_path)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (([np.nan, 0.5], [1, 1], [1, 1]), "scores must be finite numbers, got nan at place 0"),
        (([0.9, np.inf], [1, 1], [1, 1]), "scores must be finite numbers, got inf at place 1"),
        (([0.9, 0.5], [1, -1], [1, 3]), r"labelled rows\) must be at least 0, got -1 at score 0\.5"),
        (([0.9, 0.5], [1, 1], [1.0, np.nan]), r"unlabelled rows\) must be at least 0, got nan at score 0\.5"),
        (([0.9, 0.5], [1, 1], [1, 1], [-2, 0]), r"known negative rows\) must be at least 0, got -2 at score 0\.9"),
        (([0.9, 0.5], [1, 1, 1], [1, 1]), r"one count of each kind per score, got arrays of shapes \(2,\), \(3,\)"),
        (([0.9, 0.5], [1, 1], [1, 1], None, [0.9, 0.4]), r"not end below its beginning, got 0\.4 at place 1"),
        (([2**53 + 1, 0], [1, 0], [1, 1]), "got 9007199254740993"),
    ],
)
def test_counts_that_no_rows_could_give_are_not_made_a_tally(counts, said):
    with pytest.raises(InputError, match=said):
        Tally.from_increments(*(None if values is None else np.array(values) for values in counts))


@pytest.mark.parametrize("door", [door for door in DOORS if door != "tally file"])
@pytest.mark.parametrize(
    ("thresholds", "labelled", "unlabelled", "said"),
    [
        ([np.nan, 0.5], [1, 2], [1, 2], "must be finite numbers, got nan"),
        ([0.5, 0.9], [1, 2], [1, 2], r"must fall from one to the next, got 0\.9 at place 1"),
        ([0.5, 0.5], [1, 2], [1, 2], "must fall from one to the next"),
        ([0.9, 0.5], [2, 1], [1, 2], r"never fall, got 1 at score 0\.5.*from_increments"),
        ([0.9, 0.5], [1, 2], [-1, 2], r"at least 0 and never fall, got -1 at score 0\.9"),
        ([0.9, 0.5], [1, 2], [1.0, np.nan], r"unlabelled rows at or above each score\).*got nan"),
    ],
)
def test_a_tally_made_by_hand_is_checked_at_every_door(door, thresholds, labelled, unlabelled, said, tmp_path):
    tally = Tally(np.array(thresholds), np.array(labelled), np.array(unlabelled), np.zeros(2, int))
    with pytest.raises(InputError, match=said):
        DOORS[door](tally, tmp_path)


@given(rows=pu_rows(negatives=True), bits=st.none() | st.integers(-2, 2))
def test_tallies_of_rows_pass_however_they_were_made(rows, bits):
    labels, scores = rows
    tally = Tally.from_arrays(labels, scores)
    tally = tally if bits is None else tally.binned(bits)
    check_counts(tally)
    check_counts(tally + tally)
    assert read_tally(tally) == tally


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [("labelled", [1, -1], "damaged tally: .*got -1"), ("score", [np.nan, 1.0], "damaged tally: .*got nan")],
)
def test_a_tally_file_that_no_rows_could_give_is_damaged(column, values, said, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    path = tmp_path / "x.tally"
    write_tally_file(path, TallyFile.of(Tally.from_arrays(np.array([1, 0]), SCORES)))
    table = pyarrow.parquet.read_table(path)
    place = table.column_names.index(column)
    pyarrow.parquet.write_table(table.set_column(place, column, pa.array(values)), path)
    with pytest.raises(InputError, match=said):
        read_tally_file(path)


@pytest.mark.parametrize(
    "said", [{"positive": 1}, {"negative": -1}, {"unlabelled": 0}, {"weight": "w"}, {"weights": [1, 2]}]
)
def test_what_speaks_of_rows_comes_too_late_for_counts(said, tmp_path):
    tally = Tally.from_arrays(np.array([1, 0]), SCORES)
    write_tally_file(tmp_path / "x.tally", TallyFile.of(tally))
    for source in (tally, tmp_path / "x.tally"):
        with pytest.raises(InputError, match=f"counted already: {next(iter(said))}= cannot be changed now"):
            pulens.evaluate(source, **ASSUMED, **said, labelling="random")
    with pytest.raises(InputError, match="scores= cannot be changed now"):
        pulens.evaluate(tally, SCORES, **ASSUMED, labelling="random")


def test_the_command_line_refuses_an_empty_and_an_unlabelled_tally(tmp_path, capsys):
    for counts, said in (
        ((NOTHING, NOTHING.astype(int), NOTHING.astype(int)), "there are no rows"),
        ((SCORES, np.array([0, 0]), np.array([3, 4])), "no labelled positive"),
    ):
        write_tally_file(tmp_path / "x.tally", TallyFile.of(Tally.from_increments(*counts)))
        with pytest.raises(SystemExit) as ended:
            main(["evaluate", "--labelling", "random", str(tmp_path / "x.tally"), "--class-prior", "0.4"])
        assert ended.value.code == 2
        assert said in capsys.readouterr().err


def test_a_comparison_asks_for_rows_instead_of_a_tally(tmp_path):
    tally = Tally.from_arrays(np.array([1, 0]), SCORES)
    write_tally_file(tmp_path / "x.tally", TallyFile.of(tally))
    for source in (tally, tmp_path / "x.tally"):
        with pytest.raises(InputError, match=r"forgets which row is which.*pulens tally --score a --score b"):
            pulens.compare(source, score=["a", "b"], **ASSUMED, labelling="random")
