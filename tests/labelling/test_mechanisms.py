"""Every labelling mechanism keeps the promises of its declared facts; the papers' rules hold to the digit."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulens.labelling import MECHANISMS, find, labelled_count

from pulens.errors import PulensError
from pulens.learning.labelling._clues import auxiliary_log_odds, mixture_log_density
from pulens.learning.labelling.mechanisms import ambiguous_log_weights as ambiguous_weights
from pulens.learning.labelling.mechanisms import obvious_log_weights as obvious_weights

evidence = st.lists(st.integers(-6, 6), min_size=1, max_size=12).map(lambda values: np.array(values, float))


def log_odds(posterior):
    posterior = np.asarray(posterior)
    return np.log(posterior) - np.log1p(-posterior)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_says_what_it_is(name):
    mechanism = MECHANISMS[name]
    assert mechanism.summary
    assert not mechanism.summary.endswith(".")
    assert mechanism.source
    assert ">>>" in (mechanism.choose.__doc__ or ""), "a runnable example"
    assert find(mechanism.alias) is mechanism


@pytest.mark.parametrize("name", MECHANISMS)
@given(values=evidence, share=st.floats(0, 1), seed=st.integers(0, 99))
def test_it_chooses_that_many_distinct_positives_and_the_same_ones_again(name, values, share, seed):
    mechanism = MECHANISMS[name]
    count = int(share * values.size)
    chosen = mechanism.choose(values, count, np.random.default_rng(seed))
    again = mechanism.choose(values, count, np.random.default_rng(seed))
    np.testing.assert_array_equal(chosen, again)
    assert (np.diff(chosen) > 0).all()
    assert chosen.size <= count if mechanism.may_fall_short else chosen.size == count
    assert ((chosen >= 0) & (chosen < values.size)).all()


@pytest.mark.parametrize("name", [name for name in MECHANISMS if not MECHANISMS[name].may_fall_short])
@given(values=evidence, seed=st.integers(0, 99))
def test_more_labels_contain_the_fewer(name, values, seed):
    mechanism = MECHANISMS[name]
    draws = [set(mechanism.choose(values, n, np.random.default_rng(seed))) for n in range(values.size + 1)]
    assert all(small <= large for small, large in pairwise(draws))


@pytest.mark.parametrize("name", [name for name in MECHANISMS if MECHANISMS[name].deterministic])
@given(values=evidence, seeds=st.tuples(st.integers(0, 9), st.integers(10, 19)))
def test_a_deterministic_mechanism_ignores_chance(name, values, seeds):
    first, second = (MECHANISMS[name].choose(values, values.size // 2, np.random.default_rng(s)) for s in seeds)
    np.testing.assert_array_equal(first, second)


def test_weights_and_choices_of_the_reference_case(reference_cases):
    case = reference_cases["e3"]
    posterior = np.array(case["input"]["posterior_of_positives"])
    expected, count = case["expected"], case["params"]["n_labeled"]
    power = case["params"]["power"]
    odds = log_odds(posterior)
    tolerance = {"rtol": 1e-9, "atol": 1e-10}
    np.testing.assert_allclose(np.exp(obvious_weights(odds, power=power)), expected["S2_weights"], **tolerance)
    np.testing.assert_allclose(np.exp(ambiguous_weights(odds, power=power)), expected["S3_weights"], **tolerance)
    rng = np.random.default_rng(0)
    assert find("S4").choose(odds, count, rng).tolist() == expected["S4_selected_indices"]
    assert find("scenario-1").choose(posterior, count, rng).tolist() == expected["scenario1_indices"]
    assert find("scenario-2").choose(posterior, count, rng).tolist() == expected["scenario2_indices"]
    # the reference's own inclusion probabilities follow from successive draws: the witness of the next test
    for key, weights in (("S2", obvious_weights(odds)), ("S3", ambiguous_weights(odds))):
        np.testing.assert_allclose(inclusion(np.exp(weights), count), expected[f"{key}_inclusion"], **tolerance)


@pytest.mark.parametrize("name", ["S1", "S2", "S3"])
def test_draws_include_each_positive_as_often_as_successive_draws_do(name):
    odds = log_odds([0.9, 0.8, 0.85, 0.7])
    mechanism = find(name)
    rng = np.random.default_rng(7)
    trials = 5_000
    seen = np.bincount(np.concatenate([mechanism.choose(odds, 2, rng) for _ in range(trials)]), minlength=4) / trials
    weights = {"S1": np.full(4, 0.25), "S2": np.exp(obvious_weights(odds)), "S3": np.exp(ambiguous_weights(odds))}
    np.testing.assert_allclose(seen, inclusion(weights[name], 2), atol=0.03)  # four standard errors


def inclusion(weights, count):
    """Exact inclusion probabilities of successive weighted draws, by going through every order."""
    total = np.zeros(weights.size)
    for order in permutations(range(weights.size), count):
        probability, left = 1.0, 1.0
        for place in order:
            probability *= weights[place] / left
            left -= weights[place]
        total[list(order)] += probability
    return total


def test_settings_of_the_published_program_are_milder():
    odds = log_odds(np.linspace(0.05, 0.999, 400))

    def effective(weights):
        return 1 / np.sum(np.exp(weights) ** 2)

    assert effective(ambiguous_weights(odds)) < effective(ambiguous_weights(odds, offset=1.5)) < 400
    assert effective(obvious_weights(odds)) < effective(obvious_weights(odds, uniform_share=0.1)) < 400


def test_no_weight_underflows_where_the_published_powers_do():
    odds = np.array([40.0, 60.0, 80.0])  # (1 - p)^10 is exactly 0 in doubles for all of them
    assert find("S3").choose(odds, 3, np.random.default_rng(0)).tolist() == [0, 1, 2]
    first = [find("S3").choose(odds, 1, np.random.default_rng(seed))[0] for seed in range(20)]
    assert first == [0] * 20


def test_more_labels_than_possible_is_an_error_that_says_how_many_there_are():
    with pytest.raises(PulensError, match="cannot label 2 positives: only 1 of 2"):
        find("S3").choose(np.array([np.inf, 0.0]), 2, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "settings"), [("S2", {"power": 0}), ("S2", {"uniform_share": 1}), ("S3", {"offset": -1})]
)
def test_impossible_settings_are_refused_with_their_value(name, settings):
    value = next(iter(settings.values()))
    with pytest.raises(PulensError, match=repr(value)):
        find(name).choose(np.zeros(3), 1, np.random.default_rng(0), **settings)


def test_an_unknown_mechanism_is_answered_with_the_list():
    with pytest.raises(PulensError, match=r"no labelling mechanism 'S9'.*completely_at_random \(S1\)"):
        find("S9")


@given(hundredths=st.integers(0, 100), positives=st.integers(0, 10_000))
def test_a_decimal_label_frequency_counts_as_written(hundredths, positives):
    assert labelled_count(hundredths / 100, positives) == hundredths * positives // 100


def test_auxiliary_posterior_orders_rows_by_how_positive_they_look():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    X = rng.normal(size=(400, 2, 2)) + 2 * y[:, None, None]
    odds = auxiliary_log_odds(X, y)
    assert odds[y].mean() > 2 > -2 > odds[~y].mean()
    np.testing.assert_array_equal(auxiliary_log_odds(X, y, X[:5]), odds[:5])


def test_mixture_density_is_lower_for_an_outlier():
    X = np.vstack([np.random.default_rng(0).normal(size=(60, 2)), [[9.0, 9.0]]])
    density = mixture_log_density(X, components=1)
    assert density.argmin() == 60
    np.testing.assert_array_equal(density, mixture_log_density(X, components=1))


def test_a_single_positive_has_a_density_around_it() -> None:
    near, far = mixture_log_density(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [3.0, 2.0]]))
    assert near > far
    assert mixture_log_density(np.array([[1.0, 2.0]])).shape == (1,)
