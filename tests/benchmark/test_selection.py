"""Which epoch is reported: by PU labels and the class prior that a run works with, and never by the truth instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from pulens.benchmark import methods, training, watch

from pulens.learning.learners.base.prior import estimated_class_prior
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.splits import JudgedRows, prepare, table_of

SHORT = {"epochs": 3, "steps_per_epoch": 3, "batch_size": 64}
WRONG = 0.123  # a class prior that nobody would count


def one_run(learner: str, **changes):
    run = expand(load_protocol("smoke", learners=[learner])).runs[0]
    short = {name: value for name, value in SHORT.items() if name in run.settings}
    return replace(run, settings={**run.settings, **short}, **changes)


def outcome(run, prepared):
    method = methods.find(run.learner)
    fit = training._fit_stack if method.is_network else training._fit_one_by_one
    return fit(method, [prepared], table_of(run), "cpu")[0][0]


def proxy_by_hand(one, decisions, prior):
    """2 pi recall + P(predicted negative) - pi; the middle term over rows that follow the population."""
    called, held = decisions > 0, one.validation
    everybody = held.labelled | held.unlabelled if one.run.scenario == "single-set" else held.unlabelled
    return 2 * prior * called[held.labelled].mean() + (~called[everybody]).mean() - prior


def estimate_of(one):
    """What ``class_prior="auto"`` makes of the run's rows: labelled first, as the learners' stacks have them."""
    order = np.argsort(one.labels != 1, kind="stable")
    return estimated_class_prior(
        table_of(one.run).X[one.rows[order]], one.labels[order], one.run.scenario, one.run.seed
    )


SAMPLES = [("case-control", "whole-pool"), ("case-control", "disjoint"), ("single-set", "disjoint")]


@pytest.mark.parametrize(("scenario", "unlabelled"), SAMPLES)
@pytest.mark.parametrize("name", ["nnpu", "elkan_noto"])
def test_proxy_accuracy_is_that_of_the_population_with_the_known_prior(name, scenario, unlabelled):
    run = one_run(name, scenario=scenario, unlabelled=unlabelled, label_frequency=0.5)
    one = prepare(run, table_of(run))
    chosen = outcome(run, one).choices["proxy_accuracy"]
    assert chosen.value == pytest.approx(proxy_by_hand(one, chosen.validation, one.class_prior), abs=1e-12)
    if scenario == "single-set":  # the unlabelled rows alone are no sample of the population
        called, held = chosen.validation > 0, one.validation
        alone = 2 * one.class_prior * called[held.labelled].mean() + (~called[held.unlabelled]).mean() - one.class_prior
        assert abs(alone - chosen.value) > 0.01


@pytest.mark.parametrize("name", ["nnpu", "vpu", "pn", "naive_network", "elkan_noto", "puet", "oracle"])
def test_an_estimated_class_prior_selects_the_epochs_too(name):
    """By a small run: with a true prior that is far off nothing changes, and the value is that of the estimate."""
    run = one_run(name, class_prior="estimated", label_frequency=0.5)
    if name == "puet":
        run = replace(run, settings={**run.settings, "n_estimators": 3})
    if name == "nnpu":  # patience waits by the same criterion
        longer = {"epochs": 12, "patience": 1, "selection": "proxy_accuracy"}
        run = replace(run, settings={**run.settings, **longer})
    one = prepare(run, table_of(run))
    result, lied = outcome(run, one), outcome(run, replace(one, class_prior=WRONG))
    chosen = result.choices["proxy_accuracy"]
    # a learner without a network may estimate in its own way: what it worked with counts
    prior = result.facts.get("given_class_prior") or estimate_of(one)
    assert abs(prior - one.class_prior) > 1e-4
    assert result.facts["selecting_class_prior"] == pytest.approx(prior)
    assert chosen.value == pytest.approx(proxy_by_hand(one, chosen.validation, prior), abs=1e-9)
    for selection in ("proxy_accuracy", "proxy_roc_auc", "last"):
        assert result.choices[selection].epoch == lied.choices[selection].epoch
        np.testing.assert_array_equal(result.choices[selection].test, lied.choices[selection].test)
    assert result.curve["proxy_accuracy"] == lied.curve["proxy_accuracy"]
    if name == "nnpu":
        assert len(result.curve["epoch"]) < 12


@pytest.mark.parametrize("name", ["nnpu", "naive_network"])
@pytest.mark.parametrize("policy", ["known", "estimated"])
def test_the_watch_is_given_the_class_prior_of_the_policy(name, policy, monkeypatch):
    """By a spy: what the watch computes with, at every epoch, which is also what patience waits by."""
    seen = []
    real = watch.Watch.see

    def spy(self, *given):
        seen.append(self.priors.tolist())
        return real(self, *given)

    monkeypatch.setattr(watch.Watch, "see", spy)
    run = one_run(name, class_prior=policy)
    one = prepare(run, table_of(run))
    result = outcome(run, one)
    expected = one.class_prior if policy == "known" else estimate_of(one)
    assert seen == [[pytest.approx(expected, abs=1e-12)]] * 3
    assert seen[0][0] != pytest.approx(one.class_prior, abs=1e-4) or policy == "known"
    if name == "nnpu":
        assert result.facts["given_class_prior"] == pytest.approx(expected)


def test_too_few_labels_to_estimate_a_prior_select_nothing_and_say_so(monkeypatch):
    run = one_run("naive_network", class_prior="estimated")
    monkeypatch.setattr(training, "_estimated_prior", lambda *given: float("nan"))
    row = training.train([run], "cpu")[0]
    chosen = {choice.selection: choice for choice in row.choices}
    assert chosen["proxy_accuracy"].epoch == chosen["last"].epoch == 3
    assert row.notices[-1] == (
        "proxy_accuracy was undefined at every epoch: the last epoch is reported in place of a selected one"
    )


def test_one_labelled_row_is_too_few_to_estimate_a_prior():
    run = one_run("naive_network", class_prior="estimated")
    one = prepare(run, table_of(run))
    first = int(np.flatnonzero(one.labels == 1)[0])
    kept = (one.labels == 0) | (np.arange(one.labels.size) == first)
    assert np.isnan(
        training._estimated_prior(replace(one, rows=one.rows[kept], labels=one.labels[kept]), table_of(run).X)
    )


def judged_rows():
    truth = np.array([True, True, False, False])
    labelled = np.array([True, False, False, False])
    return JudgedRows(np.arange(4), truth, labelled, ~labelled)


def watched(test_scores, losses):
    """A watch that has seen one run for some epochs, with losses that say nothing."""
    nothing = torch.empty(0)
    parts = [watch.JudgedStack([judged_rows()], [0], nothing) for _ in range(2)]
    seen = watch.Watch(nothing, *parts, [0.5], single_set=False)
    for number, (scores, loss) in enumerate(zip(test_scores, losses, strict=True), 1):
        same = torch.tensor([[1.0, 1.0, -1.0, -1.0]])
        seen.training_seconds.append(float(number))
        seen.see(number, same, torch.tensor([scores]), torch.tensor([loss], dtype=torch.float64))
    return seen.choices()[0]


GOOD, BAD = [1.0, 1.0, -1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]


@pytest.mark.parametrize("best", [0, 1])
def test_a_criterion_that_is_never_a_number_reports_the_last_epoch_and_not_the_best_on_test_rows(best):
    scores = [GOOD if place == best else BAD for place in range(3)]
    choices = watched(scores, [float("nan")] * 3)
    assert choices["loss"].epoch == choices["last"].epoch == 3
    assert np.isnan(choices["loss"].value)
    np.testing.assert_array_equal(choices["loss"].test, BAD)


def test_an_epoch_without_a_number_is_never_chosen():
    choices = watched([BAD, GOOD, BAD], [float("nan"), 2.0, float("nan")])
    assert (choices["loss"].epoch, choices["loss"].value) == (2, 2.0)
    choices = watched([GOOD, BAD, BAD], [float("nan"), 2.0, 3.0])
    assert choices["loss"].epoch == 2


def test_criteria_that_say_something_leave_no_notice(undisturbed):
    assert not any("undefined" in notice for row in undisturbed.done for notice in row["notices"])


@pytest.mark.parametrize("name", ["lbe", "pan", "cgenpu"])
def test_a_method_that_only_cuts_by_the_class_prior_is_told_it_where_it_is_known(name):
    """As all others are: that share of the unlabelled training rows is then called positive."""
    method = methods.find(name)
    assert method.cuts_by_class_prior
    assert not method.takes_class_prior
    run = one_run(name)
    one = prepare(run, table_of(run))
    assert training._learner(method, one, "cpu").class_prior == one.class_prior
    estimated = one_run(name, class_prior="estimated")
    assert training._learner(method, prepare(estimated, table_of(run)), "cpu").class_prior == "auto"
    assert outcome(run, one).facts["given_class_prior"] == pytest.approx(one.class_prior)
