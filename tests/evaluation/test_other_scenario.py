"""Which scenario is taken for granted, and what every answer says of the other one."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

import pulens
from pulens import calibration
from pulens.calibration import PUCalibratedClassifier
from pulens.cli import main
from pulens.counts.tally import Totals
from pulens.diagnostics import check_labelling
from pulens.evidence import Evidence, IntervalOptions
from pulens.priors import prior_from_audit
from pulens.priors.estimate import estimate_from_tally
from pulens.recovery.assumptions import Assumptions
from pulens.report.words import scenario_sentence
from pulens.scenario import DEFAULT_SCENARIO, Scenario

LABELS = [1, 1, 1, 0, 0, 0, 0, 0]
SCORES = [0.85, 0.65, 0.45, 0.9, 0.7, 0.5, 0.3, 0.2]


def one_sample(n=4000, prior=0.3, frequency=0.5, seed=0):
    """Labels, scores and true classes of one sample out of which positives were labelled at random."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prior
    labels = (positive & (rng.random(n) < frequency)).astype(int)
    return labels, rng.normal(1.8 * positive), positive


@pytest.mark.parametrize(
    "door",
    [
        pulens.evaluate,
        pulens.bounds,
        pulens.compare,
        pulens.estimate_prior,
        pulens.estimate_prior_and_noise,
        pulens.synthesise,
        IntervalOptions,
        estimate_from_tally,
        prior_from_audit,
        check_labelling,
        calibration.classwise_calibration_error,
        PUCalibratedClassifier,
        Assumptions,
        Evidence,
    ],
    ids=lambda door: door.__name__,
)
def test_every_door_takes_rows_for_one_sample(door) -> None:
    assert inspect.signature(door).parameters["scenario"].default == DEFAULT_SCENARIO == "single-set"


def test_doors_that_pass_options_on_take_rows_for_one_sample() -> None:
    """3 of 8 rows labelled and half of all positive: 1 of the 5 unlabelled ones."""
    assert pulens.evaluate(LABELS, SCORES, class_prior=0.5, labelling="random").class_prior.unlabelled == pytest.approx(
        0.2
    )
    assert pulens.metrics.roc_auc(LABELS, SCORES, class_prior=0.5).value == pytest.approx((0.6 - 0.1) / 0.8)
    error = calibration.calibration_in_the_large(LABELS, SCORES, class_prior=0.5, labelling="random")
    assert error.value == pytest.approx(np.mean(SCORES) - 0.5)
    prior = prior_from_audit((13, 200), Totals(500, 10_000, 0))
    assert prior.value == pytest.approx((500 + 0.065 * 10_000) / 10_500)


def test_the_default_is_right_for_a_table_of_which_some_rows_were_labelled() -> None:
    labels, scores, positive = one_sample()
    result = pulens.evaluate(labels, scores, class_prior=0.3, threshold=1.0, labelling="random").estimates
    truth = pulens.evaluate(
        np.where(positive, 1, -1), scores, negative=-1, threshold=1.0, confidence=None, labelling="random"
    ).estimates
    for name in ("roc_auc", "average_precision", "precision", "recall", "f1", "accuracy"):
        assert truth[name].value in result[name].interval, name


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_a_given_class_prior_is_held_and_every_metric_is_that_of_the_other_scenario(scenario: str) -> None:
    labels, scores, _ = one_sample(n=1500)
    here, there = (
        pulens.evaluate(labels, scores, class_prior=0.3, scenario=which, threshold=1.0, redraws=200, labelling="random")
        for which in (scenario, "single-set" if scenario == "case-control" else "case-control")
    )
    other = here.other_scenario
    assert (other.assumed, other.scenario, other.held) == (here.scenario, there.scenario, "population")
    moves = {
        name: (result.value, there.estimates[name].value)
        for name, result in here.estimates.items()
        if abs(there.estimates[name].value - result.value) > result.interval.width / 2
    }
    assert other.moved.keys() == moves.keys()
    for name, ends in moves.items():
        assert other.moved[name] == pytest.approx(ends), name
    assert {"roc_auc", "precision", "f1"} <= moves.keys()  # ROC AUC moves: the share among the unlabelled is another
    assert "recall" not in moves
    message = next(str(notice) for notice in here.notices if notice.code == "scenario-matters")
    for name, (value, elsewhere) in moves.items():
        assert f"{name.replace('_', ' ')} {elsewhere:.3f} instead of {value:.3f}" in message


@pytest.mark.parametrize("given", [{}, {"unlabelled_prior": 0.18}], ids=["estimated", "among the unlabelled"])
def test_otherwise_the_share_among_the_unlabelled_rows_is_held(given) -> None:
    labels, scores, _ = one_sample()
    here = pulens.evaluate(labels, scores, threshold=1.0, confidence=None, **given, labelling="random")
    share = here.class_prior.unlabelled
    there = pulens.evaluate(
        labels,
        scores,
        unlabelled_prior=share,
        scenario="case-control",
        threshold=1.0,
        confidence=None,
        labelling="random",
    )
    other = here.other_scenario
    assert other.held == "unlabelled"
    assert "roc_auc" not in other.moved  # the same share among the unlabelled rows: the same area
    assert "predicted_positive_rate" in other.moved  # needs no class prior, so no doubt about it hides the change
    assert ("precision" in other.moved) == bool(given)
    for name, (_, elsewhere) in other.moved.items():
        assert elsewhere == pytest.approx(there.estimates[name].value), name


def test_where_the_other_scenario_contradicts_the_data_its_possible_numbers_are_shown() -> None:
    labels, scores, _ = one_sample()
    here, there = (
        pulens.evaluate(labels, scores, class_prior=0.3, scenario=which, threshold=1.0, redraws=200, labelling="random")
        for which in ("single-set", "case-control")
    )
    assert (here.contradiction, there.contradiction is None) == (None, False)
    for name, (_, elsewhere) in here.other_scenario.moved.items():
        assert elsewhere == pytest.approx(there.estimates[name].value), name


def test_a_number_within_its_interval_has_not_moved() -> None:
    labels, scores, _ = one_sample(n=60, frequency=0.1, seed=3)
    result = pulens.evaluate(labels, scores, class_prior=0.3, threshold=1.0, redraws=200, labelling="random")
    assert not result.other_scenario.moved
    assert "no number shown here would move beyond its interval" in " ".join(result.explain().split())
    assert not [notice for notice in result.notices if notice.code == "scenario-matters"]


def test_a_class_prior_that_rules_the_other_scenario_out_is_said() -> None:
    result = pulens.evaluate(
        LABELS, SCORES, class_prior=0.2, scenario="case-control", confidence=None, labelling="random"
    )
    other = result.other_scenario
    assert not other.moved
    assert "labelled positives alone make up 0.375 of all rows" in other.impossible_because
    said = scenario_sentence(other)
    assert said.startswith("labelled rows collected separately")
    assert "that rows were labelled out of one sample is ruled out: class_prior 0.2 is impossible" in said
    assert said.endswith("0.375 of all rows")


def test_rows_whose_classes_are_all_known_have_no_other_scenario() -> None:
    result = pulens.evaluate([1, 1, -1, -1], [4, 2, 3, 1], negative=-1, threshold=2, labelling="random")
    assert result.other_scenario is None
    assert result.to_dict()["scenario_note"] == ""
    assert "scenario     " not in str(result)


def said_there(evaluation) -> str:
    names = {"roc_auc": "ROC AUC", "average_precision": "average precision", "f1": "F1"}
    (first, (_, value)), *_ = evaluation.other_scenario.moved.items()
    return f": {names.get(first, first)} would be {value:.3f}"


def test_the_first_lines_of_every_rendering_say_the_scenario(tmp_path, capsys) -> None:
    labels, scores, _ = one_sample()
    options = {"class_prior": 0.3, "threshold": 1.0, "redraws": 100}
    evaluation = pulens.evaluate(labels, scores, **options, labelling="random")
    expected = "rows labelled out of one sample; if the labelled rows were collected separately, say "
    moved = said_there(evaluation)
    lines = evaluation.explain().splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("scenario "))
    assert place < next(number for number, line in enumerate(lines) if line.startswith("ranking"))
    text = " ".join(" ".join(lines[place:]).split())
    assert f'scenario {expected}scenario="case-control"{moved}' in text

    answer = evaluation.to_dict()
    assert answer["scenario_note"].startswith(f'{expected}scenario="case-control" (--scenario case-control){moved}')
    here, there = evaluation.other_scenario.moved["precision"]
    assert answer["other_scenario"]["moved"]["precision"] == {"here": here, "there": there}
    json.dumps(answer, allow_nan=False)

    markdown = evaluation.to_markdown()
    assert markdown.index(f"- Scenario: {expected}") < markdown.index("| ranking |")
    assert f"Scenario: {expected}" in evaluation._repr_html_()

    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["label,score", *(f"{y},{s}" for y, s in zip(labels, scores, strict=True))]))
    main(["evaluate", "--labelling", "random", "--explain", str(path), "--class-prior", "0.3", "--threshold", "1"])
    shown = capsys.readouterr().out
    assert f"{expected}--scenario case-control{moved}" in " ".join(shown.split())
    assert shown.index("labelled out of one sample") < shown.index("\nranking ")
    assert "would give" not in shown  # the note that said the same numbers again


@pytest.mark.parametrize(
    "words",
    [
        ["prior"],
        ["calibrate", "--class-prior", "0.3", "--scores-are", "logit"],
        ["compare", "--class-prior", "0.3", "--score", "score", "--score", "other", "--redraws", "100"],
    ],
    ids=lambda words: words[0],
)
def test_other_commands_say_the_scenario_too(words, tmp_path, capsys) -> None:
    labels, scores, _ = one_sample(n=1500)
    path = tmp_path / "scores.csv"
    rows = zip(labels, scores, scores + np.random.default_rng(1).normal(size=labels.size), strict=True)
    path.write_text("\n".join(["label,score,other", *(f"{y},{s},{o}" for y, s, o in rows)]))
    command, *options = words
    main([command, str(path), *options, "--explain"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "single-set" in shown
    main([command, str(path), *options, "--scenario", "case-control", "--explain"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "case-control" in shown


def test_sentences_name_the_rest_by_number() -> None:
    labels, scores, _ = one_sample()
    other = pulens.evaluate(
        labels, scores, class_prior=0.3, threshold=1.0, redraws=100, labelling="random"
    ).other_scenario
    named = [name for name in other.moved if name in ("roc_auc", "average_precision", "precision", "f1")]
    said = scenario_sentence(other, "command")
    assert set(named) == {"roc_auc", "average_precision", "precision", "f1"}
    assert "ROC AUC" in said
    assert "F1" in said
    counted = sum(name in said.lower() for name in ("specificity", "accuracy")) + len(named)
    assert f"(and {len(other.moved) - counted} more would move)" in said


@pytest.mark.parametrize("scenario", list(Scenario))
def test_scenarios_are_said_in_words_a_newcomer_knows(scenario: Scenario) -> None:
    result = pulens.evaluate(LABELS, SCORES, class_prior=0.5, scenario=scenario, confidence=None, labelling="random")
    said = scenario_sentence(result.other_scenario, "python")
    other = "case-control" if scenario is Scenario.SINGLE_SET else "single-set"
    assert f'say scenario="{other}"' in said
