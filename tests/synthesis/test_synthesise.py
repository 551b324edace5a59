"""Labels are hidden as the papers say; shares are counted, not hoped for; the truth stays in its own box."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulens.labelling import MECHANISMS
from pulens.synthesis import PUData, binarise, synthesise
from scipy.sparse import csr_array

import pulens
from pulens.errors import AssumptionError, InputError, PulensError


def table(positives=300, negatives=700, seed=0):
    """Rows that carry their own number, so that what happened to each can be followed."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([True, False], [positives, negatives]))
    X = rng.normal(size=(y.size, 3)) + y[:, None]
    X[:, 0] = np.arange(y.size)
    return X, y


@pytest.mark.parametrize("scheme", ["ss", "cc"])
def test_sizes_of_the_reference_case(reference_cases, scheme):
    options = {
        "ss": {"scenario": "single-set"},
        "cc": {"scenario": "case-control", "unlabelled": "whole-pool"},
    }[scheme]
    for row in reference_cases["e3"]["expected"]["sizes"]:
        if row["scheme"] != scheme:
            continue
        X, y = table(row["n_positive"], row["n_negative"])
        made = synthesise(X, y, label_frequency=row["c"], **options)
        train, truth = made.train, made.truth.train
        assert (train.n_labelled, train.n_unlabelled) == (row["n_labeled"], row["n_unlabeled"])
        assert truth[train.labels == 0].sum() == row["latent_positives"]
        assert train.unlabelled_prior == pytest.approx(row["beta"], rel=1e-12)
        assert train.class_prior == pytest.approx(row["prior_population"], rel=1e-12)


shares = st.sampled_from([0.05, 0.1, 0.29, 0.5, 0.9])


@given(
    positives=st.integers(40, 60),
    negatives=st.integers(20, 90),
    frequency=shares,
    scenario=st.sampled_from(["case-control", "single-set"]),
    mechanism=st.sampled_from(["S1", "S4", "scenario-2", "S2"]),
    noise=st.sampled_from([0.0, 0.1, 0.25]),
    seed=st.integers(0, 50),
)
def test_stated_shares_are_those_of_the_rows(positives, negatives, frequency, scenario, mechanism, noise, seed):
    X, y = table(positives, negatives)
    made = synthesise(
        X,
        y,
        label_frequency=frequency,
        scenario=scenario,
        mechanism=mechanism,
        label_noise=noise,
        evidence=np.linspace(0.1, 0.9, y.size),
        seed=seed,
    )
    data, truth = made.train, made.truth.train
    labelled = data.labels == 1
    np.testing.assert_array_equal(truth, y[data.rows])
    np.testing.assert_array_equal(data.X, X[data.rows])
    assert len(set(data.rows)) == len(data), "no row occurs twice"
    assert data.unlabelled_prior == truth[~labelled].mean()
    assert data.label_noise == pytest.approx(1 - truth[labelled].mean())
    assert data.label_frequency == pytest.approx(truth[labelled].sum() / truth.sum())
    assert data.class_prior == pytest.approx(positives / (positives + negatives))
    if scenario == "single-set":
        assert len(data) == y.size
        assert data.class_prior == pytest.approx(truth.mean())
    else:  # as close as whole rows allow
        assert abs(data.unlabelled_prior - data.class_prior) <= 1 / data.n_unlabelled
    assert data.n_labelled >= 1


def test_noise_counts_among_the_labelled_and_label_frequency_among_the_positives():
    X, y = table()
    made = synthesise(X, y, label_frequency=0.3, label_noise=0.25, scenario="single-set")
    assert (made.train.n_labelled, made.train.label_noise, made.train.label_frequency) == (120, 0.25, 0.3)
    fixed = synthesise(X, y, labelled=100, label_noise=0.25, scenario="single-set")
    assert (fixed.train.n_labelled, fixed.train.label_noise) == (100, 0.25)


def test_the_published_generator_returns_labelled_rows_to_the_unlabelled_and_says_so():
    X, y = table()
    made = synthesise(X, y, scenario="case-control", unlabelled="whole-pool")
    data = made.train
    assert set(data.rows[data.labels == 1]) <= set(data.rows[data.labels == 0])
    assert data.n_unlabelled == y.size
    assert data.label_frequency == 0.1
    assert [notice.code for notice in made.notices] == ["labelled-rows-repeated"]
    assert not synthesise(X, y, scenario="case-control").notices


@pytest.mark.parametrize("mechanism", ["S1", "S2", "S4", "scenario-1"])
def test_a_part_without_positives_labels_no_row_of_it(mechanism):
    X, y = table(4, 6)
    made = synthesise(
        X, y, mechanism=mechanism, label_frequency=0.9, scenario="case-control", validation_share=0.1, seed=0
    )
    assert made.validation.labels.sum() == 0
    assert made.train.labels.sum() > 0


@pytest.mark.parametrize("mechanism", ["S4", "S3", "scenario-1"])
def test_in_case_control_a_biased_choice_leaves_the_unlabelled_sample_fair(mechanism):
    X, y = table(3000, 3000)
    evidence = np.random.default_rng(1).random(y.size)
    made = synthesise(X, y, mechanism=mechanism, evidence=evidence, label_frequency=0.4, scenario="case-control")
    data, truth = made.train, made.truth.train
    assert [notice.code for notice in made.notices] == ["candidates-set-aside"]
    hidden = evidence[data.rows[(data.labels == 0) & truth]]
    assert abs(hidden.mean() - 0.5) < 4 * 0.289 / np.sqrt(hidden.size), "as all positives, not what the choice left"
    chosen = evidence[data.rows[data.labels == 1]].mean()
    assert chosen > 0.6 if mechanism != "S3" else chosen < 0.4
    left = synthesise(X, y, mechanism=mechanism, evidence=evidence, label_frequency=0.4, scenario="single-set")
    assert abs(evidence[left.train.rows[(left.train.labels == 0) & left.truth.train]].mean() - 0.5) > 0.05


def test_a_target_class_prior_is_met_in_training_and_test_rows():
    X, y = table()
    for prior in (0.1, 0.5, 0.8):
        made = synthesise(X, y, class_prior=prior, test_share=0.3, test_class_prior=prior, scenario="single-set")
        assert made.train.class_prior == pytest.approx(prior, abs=0.005)
        assert made.truth.train.mean() == pytest.approx(prior, abs=0.005)
        assert made.truth.test.mean() == pytest.approx(prior, abs=0.01)


def test_parts_share_no_row_and_keep_the_classes_in_proportion():
    X, y = table()
    made = synthesise(X, y, validation_share=0.1, test_share=0.2, scenario="single-set")
    parts = [set(made.train.rows), set(made.validation.rows), set(made.test.rows)]
    assert [len(part) for part in parts] == [720, 80, 200]
    assert len(set().union(*parts)) == y.size
    assert [made.truth.train.sum(), made.truth.validation.sum(), made.truth.test.sum()] == [216, 24, 60]
    assert made.validation.n_labelled == 2


@pytest.mark.parametrize("name", MECHANISMS)
def test_same_seed_same_rows_and_another_seed_others(name):
    X, y = table()
    options = {"mechanism": name, "validation_share": 0.1, "test_share": 0.2}
    first, again, other = (synthesise(X, y, **options, seed=seed) for seed in (3, 3, 4))
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(getattr(first, part).rows, getattr(again, part).rows)
    assert set(first.test.rows) != set(other.test.rows)
    assert first.to_dict() == again.to_dict()


def test_splits_do_not_depend_on_how_labels_are_chosen():
    X, y = table()
    made = [
        synthesise(X, y, mechanism=name, label_frequency=frequency, test_share=0.2)
        for name, frequency in (("S1", 0.1), ("S4", 0.1), ("S1", 0.5))
    ]
    np.testing.assert_array_equal(made[0].test.rows, made[1].test.rows)
    np.testing.assert_array_equal(made[0].test.rows, made[2].test.rows)
    few, many = (set(one.train.rows[one.train.labels == 1]) for one in (made[0], made[2]))
    assert few < many, "a higher label frequency adds labels"


def test_learners_see_no_truth():
    X, y = table()
    made = synthesise(X, y)
    held = {name: getattr(made.train, name) for name in PUData.__slots__ if name != "source"}
    assert set(np.unique(held.pop("labels"))) == {0, 1}
    assert not [name for name, value in held.items() if isinstance(value, np.ndarray) and name != "rows"]
    with pytest.raises(ValueError, match="read-only"):
        made.truth.train[0] = True
    with pytest.raises(ValueError, match="read-only"):
        made.train.labels[0] = 1


def test_recovery_from_synthesised_labels_gives_the_truth():
    X, y = table(3000, 7000)
    made = synthesise(X, y, label_frequency=0.3, label_noise=0.1, scenario="single-set")
    scores = made.train.X[:, 1]
    known = {"class_prior": made.train.class_prior, "label_noise": made.train.label_noise, "scenario": "single-set"}
    recovered = pulens.evaluate(made.train.labels, scores, **known, labelling="random").estimates["roc_auc"].value
    truth = (
        pulens.evaluate(np.where(made.truth.train, 1, -1), scores, negative=-1, labelling="random")
        .estimates["roc_auc"]
        .value
    )
    assert recovered == pytest.approx(truth, abs=0.03)


@pytest.mark.parametrize("kind", ["sparse", "pandas", "pictures"])
def test_rows_of_every_kind_of_table(kind):
    X, y = table(60, 90)
    given = {"sparse": csr_array, "pandas": pd.DataFrame, "pictures": lambda rows: rows.reshape(-1, 3, 1)}[kind](X)
    for mechanism in ("S1", "S2", "scenario-1"):
        made = synthesise(given, y, mechanism=mechanism, test_share=0.2)
        rows = made.train.X
        plain = rows.toarray() if kind == "sparse" else np.asarray(rows).reshape(-1, 3)
        np.testing.assert_array_equal(plain, X[made.train.rows])
        assert len(made.test.X if kind != "sparse" else made.test.rows) == 30


def test_classes_are_joined_into_positives():
    np.testing.assert_array_equal(binarise([0, 1, 2, 3], positive=[0, 2]), [True, False, True, False])
    np.testing.assert_array_equal(binarise(["a", "b"], positive="b"), [False, True])


X, Y = table(20, 30)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"y": ["a"] * 50}, InputError, "must be 0/1 or boolean when positive= is not given, got 'a'"),
        ({"positive": 7}, InputError, "positive=7: 7 is not a class"),
        ({"y": [*Y[:49], np.nan]}, InputError, r"no class in row 49 \(counting from 0\)"),
        ({"y": [None, *["a"] * 49], "positive": "a"}, InputError, "no class in row 0"),
        ({"y": np.array([1, "a"] * 25, object), "positive": "a"}, InputError, "cannot be compared"),
        ({"y": Y[:9]}, InputError, "as many rows, got 50 and 9"),
        ({"y": np.ones(50)}, InputError, "both classes are needed"),
        ({"X": [[1.0]] * 50}, InputError, "X must be an array.*got list"),
        ({"label_frequency": 0}, AssumptionError, "label_frequency must be above 0 and at most 1, got 0"),
        ({"label_frequency": 0.1, "labelled": 3}, AssumptionError, "not both"),
        ({"labelled": 2.5}, AssumptionError, "whole number of at least 1, got 2.5"),
        ({"labelled": 21, "scenario": "single-set"}, AssumptionError, "there are 20 positives to choose from"),
        ({"label_frequency": 1.0, "scenario": "case-control"}, AssumptionError, "no row would be left unlabelled"),
        ({"label_frequency": 0.01}, AssumptionError, "no row would be labelled: 0.01 of 20"),
        ({"label_noise": 1}, AssumptionError, "label_noise must be"),
        ({"scenario": "both"}, AssumptionError, "scenario must be"),
        ({"unlabelled": "all"}, AssumptionError, "unlabelled must be one of 'disjoint', 'whole-pool', got 'all'"),
        ({"unlabelled": "whole-pool", "scenario": "single-set"}, AssumptionError, "belongs to scenario='case-control'"),
        ({"test_share": 1}, AssumptionError, "test_share must be at least 0 and below 1, got 1"),
        ({"class_prior": 0}, AssumptionError, "class_prior must be above 0 and below 1, got 0"),
        ({"mechanism": "S2", "evidence": np.full(50, 2.0)}, InputError, "between 0 and 1; got .*2.0"),
        ({"mechanism": "S2", "evidence": [0.5]}, InputError, "one finite number per row"),
        ({"mechanism": "S2", "strength": 3}, PulensError, "'strength' is not a parameter .*'power', 'uniform_share'"),
        ({"power": 3}, PulensError, "'power' is not a parameter .* it takes none"),
        ({"seed": -1}, PulensError, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_bad_wishes_are_refused_in_words(arguments, error, words):
    with pytest.raises(error, match=words):
        synthesise(**{"X": X, "y": Y, **arguments})


def test_few_validation_rows_without_a_label_are_mentioned():
    made = synthesise(X, Y, validation_share=0.1, label_frequency=0.2, scenario="single-set")
    assert [notice.code for notice in made.notices] == ["no-labelled-validation-row"]


def test_synthesis_needs_nothing_but_numpy_scipy_and_scikit_learn():
    code = (
        "import sys, numpy as np\n"
        "from pulens.synthesis import synthesise\n"
        "y = np.arange(40) % 2 == 0\n"
        "synthesise(np.arange(80.0).reshape(40, 2), y, label_frequency=0.2)\n"
        "print(sorted({'narwhals', 'click', 'pandas', 'rich', 'pydantic', 'torch'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
