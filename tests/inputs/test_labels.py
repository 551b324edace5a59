"""What 1 and -1 mean is asked, never guessed: one rule for every kind of labels and every door."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import pulens
import pulens.calibration
import pulens.metrics
import pulens.sklearn
from pulens.calibration.classifier import PUCalibratedClassifier
from pulens.cli import main
from pulens.errors import InputError
from pulens.inputs import read_joint, read_sample, read_tallies, read_tally
from pulens.inputs.columns import LabelCoding
from pulens.learning.learners.elkan_noto import ElkanNoto
from pulens.learning.learners.naive import NaiveClassifier

ASKED = r"the labels hold -1 and neither 0 nor null.*negative=-1 or unlabelled=-1 \(--negative -1 or --unlabelled -1"
ASSUMED = {"class_prior": 0.6, "scenario": "single-set"}

KINDS = {
    "list": list,
    "text": lambda labels: [str(label) for label in labels],
    "decimal text": lambda labels: [f"{label}.0" for label in labels],
    "objects": lambda labels: np.array(labels, object),
    "int8": lambda labels: np.array(labels, np.int8),
    "float": lambda labels: np.array(labels, float),
    "pandas": lambda labels: pd.Series(labels),
    "pandas with nulls": lambda labels: pd.Series(labels, dtype="Int64"),
    "polars": lambda labels: pl.Series(labels, dtype=pl.Int64),
    "pyarrow": lambda labels: pa.chunked_array([pa.array(labels, pa.int64())]),
}

coded = st.lists(st.sampled_from([1, -1]), max_size=6).map(lambda labels: [1, -1, *labels])


@pytest.mark.parametrize("kind", KINDS)
@given(labels=coded)
def test_one_and_minus_one_are_refused_until_the_meaning_is_said(kind, labels):
    scores = np.arange(len(labels), dtype=float)
    given_as = KINDS[kind](labels)
    with pytest.raises(InputError, match=ASKED):
        read_sample(given_as, scores)
    np.testing.assert_array_equal(read_sample(given_as, scores, negative=-1).labels, labels)
    np.testing.assert_array_equal(read_sample(given_as, scores, unlabelled=-1).labels, np.maximum(labels, 0))
    np.testing.assert_array_equal(read_sample(given_as, scores, positive=1).labels, np.maximum(labels, 0))


@pytest.mark.parametrize("unlabelled", [0, None, np.nan, "0", ""])
def test_one_row_of_zero_or_null_says_that_minus_one_is_a_known_negative(unlabelled):
    labels = np.array([1, -1, unlabelled, -1], object)
    np.testing.assert_array_equal(read_sample(labels, [4, 3, 2, 1]).labels, [1, -1, 0, -1])


@pytest.mark.parametrize(
    ("declared", "codes"),
    [
        ({"negative": -1}, {1: 1, 0: 0, -1: -1, None: 0}),
        ({"negative": 0}, {1: 1, 0: -1, None: 0}),
        ({"negative": 2}, {1: 1, 0: 0, 2: -1}),
        ({"unlabelled": -1}, {1: 1, -1: 0, None: 0}),
        ({"unlabelled": [0, -1]}, {1: 1, -1: 0, 0: 0}),
        ({"unlabelled": -1, "negative": 0}, {1: 1, -1: 0, 0: -1, None: 0}),
        ({"positive": 2}, {2: 1, 1: 0, 0: 0, -1: 0, "x": 0}),
        ({"positive": 2, "negative": -1}, {2: 1, -1: -1, 7: 0}),
        ({"positive": "yes", "unlabelled": "?"}, {"yes": 1, "?": 0, None: 0}),
    ],
)
def test_declared_values_mean_what_was_declared(declared, codes):
    coding = LabelCoding(**declared)
    assert coding.encode(np.array(list(codes), object)).tolist() == list(codes.values())


@given(
    positive=st.sampled_from([None, 1, "yes"]),
    negative=st.sampled_from([None, 0, "no"]),
    unlabelled=st.sampled_from([-1, "?"]),
    value=st.sampled_from([1, 0, -1, "yes", "no", "?", 3]),
)
def test_with_unlabelled_declared_every_other_value_must_be_declared_too(positive, negative, unlabelled, value):
    coding = LabelCoding(positive, negative, unlabelled)
    meant = {1 if positive is None else positive: 1, unlabelled: 0} | ({} if negative is None else {negative: -1})
    if value in meant:
        assert coding.encode([value]).tolist() == [meant[value]]
    else:
        with pytest.raises(InputError, match="declared neither positive nor negative nor unlabelled"):
            coding.encode([value])


SCORES = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
LABELS = [1, -1, 1, -1, 1, -1, -1, -1]
FRAME = pl.DataFrame({"score": SCORES, "other": SCORES[::-1], "label": LABELS, "site": [1, 1, 2, 2, 1, 1, 2, 2]})

DOORS = {
    "evaluate": lambda **said: pulens.evaluate(LABELS, SCORES, **ASSUMED, **said, labelling="random"),
    "evaluate a frame": lambda **said: pulens.evaluate(FRAME, **ASSUMED, **said, labelling="random"),
    "evaluate a lazy frame": lambda **said: pulens.evaluate(FRAME.lazy(), **ASSUMED, **said, labelling="random"),
    "evaluate by segment": lambda **said: pulens.evaluate_by(FRAME, "site", **ASSUMED, **said, labelling="random"),
    "compare": lambda **said: pulens.compare(
        LABELS, {"a": SCORES, "b": SCORES[::-1]}, redraws=100, **ASSUMED, **said, labelling="random"
    ),
    "compare lazily": lambda **said: pulens.compare(
        FRAME.lazy(), score=["score", "other"], redraws=100, **ASSUMED, **said, labelling="random"
    ),
    "metric": lambda **said: pulens.metrics.roc_auc(LABELS, SCORES, **ASSUMED, **said),
    "scorer": lambda **said: pulens.sklearn.scorer("roc_auc", **ASSUMED, **said)(
        LogisticRegression().fit(np.array(SCORES)[:, None], LABELS), np.array(SCORES)[:, None], LABELS
    ),
    "calibration": lambda **said: pulens.calibration.calibration_in_the_large(
        LABELS, SCORES, **ASSUMED, **said, labelling="random"
    ),
    "bounds": lambda **said: pulens.bounds(LABELS, SCORES, **ASSUMED, **said),
    "tally": lambda **said: read_tally(FRAME, **said),
    "part of a tally": lambda **said: read_tally(FRAME, allow_one_kind=True, **said),
    "tallies": lambda **said: read_tallies(FRAME.lazy(), group_by="site", **said),
    "joint tally": lambda **said: read_joint(FRAME.lazy(), score=["score", "other"], **said),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_asks_and_obeys(door):
    with pytest.raises(InputError, match=ASKED):
        DOORS[door]()
    DOORS[door](unlabelled=-1)


def test_known_negatives_that_were_declared_are_counted():
    result = pulens.evaluate(LABELS, SCORES, negative=-1, scenario="single-set", confidence=None, labelling="random")
    assert result.tally.totals == (3, 0, 5)
    assert result.class_prior.value == 3 / 8


def test_files_are_judged_as_a_whole_not_by_their_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("pulens.inputs.tables.chunks.CHUNK_ROWS", 2)
    path = tmp_path / "rows.csv"
    path.write_text("score,label\n4,1\n3,-1\n2,-1\n1,0\n")
    assert read_sample(path).labels.tolist() == [1, -1, -1, 0]
    path.write_text("score,label\n4,1\n3,-1\n2,-1\n1,1\n")
    with pytest.raises(InputError, match=ASKED) as caught:
        read_sample(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("command", ["evaluate", "prior", "tally", "calibrate"])
def test_the_command_line_asks_and_obeys(command, tmp_path, capsys):
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.csv"
    labels = np.repeat([1, -1], [40, 160])
    scores = 1 / (1 + np.exp(-rng.normal(labels)))
    path.write_text("score,label\n" + "".join(f"{s:.6f},{y}\n" for s, y in zip(scores, labels, strict=True)))
    arguments = [command, str(path)]
    arguments += {"tally": ["-o", str(tmp_path / "rows.tally")], "prior": ["--scenario", "single-set"]}.get(
        command, ["--class-prior", "0.4", "--scenario", "single-set"]
    )
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "--unlabelled -1" in capsys.readouterr().err
    main([*arguments, "--unlabelled", "-1"])
    if command == "evaluate":
        capsys.readouterr()
        main(
            [
                "evaluate",
                "--labelling",
                "random",
                str(path),
                "--negative",
                "-1",
                "--scenario",
                "single-set",
                "--json",
                "-",
            ]
        )
        assert json.loads(capsys.readouterr().out)["counts"]["known_negative"] == 160


@pytest.mark.parametrize("learner", [ElkanNoto(), NaiveClassifier()])
def test_learners_refuse_minus_one_and_name_both_ways_out(learner):
    X = np.linspace(0, 1, 40)[:, None]
    labels = np.repeat([-1, 1], [25, 15])
    with pytest.raises(InputError, match=r"25 labels of -1, .*unlabelled.*positive=1.*known negatives, leave"):
        learner.fit(X, labels)
    learner.set_params(positive=1).fit(X, labels)


def test_the_calibrated_classifier_refuses_minus_one_beside_no_zero():
    X = np.linspace(0, 1, 40)[:, None]
    with pytest.raises(InputError, match=r"neither 0 nor null.*Mark unlabelled rows 0"):
        PUCalibratedClassifier(LogisticRegression(), class_prior=0.4).fit(X, np.repeat([-1, 1], [25, 15]))
