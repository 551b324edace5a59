"""One verdict over all tests of calibration: no number, mark or sentence says otherwise."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pulens.calibration import (
    CalibrationVerdict,
    calibration_in_the_large,
    calibration_slope,
    calibration_verdict,
    reliability,
)
from pulens.calibration.verdict import CalibrationTest, p_of_interval
from pulens.cli import main
from pulens.estimate import Interval
from pulens.report.calibration import verdict_words
from pulens.strata import gather_within
from pulens.testing import logistic_world

CALIBRATED = logistic_world(0.0, 2.0)  # N(1, 1) and N(-1, 1): the log-odds are twice the feature


def judged(world, seed, labelled=200, unlabelled=2000, **options):
    few, many, _ = world.draw(labelled, unlabelled, np.random.default_rng(seed))
    labels, scores = np.repeat([1, 0], [labelled, unlabelled]), np.concatenate([few, many])
    evidence = gather_within(labels, scores, scenario="case-control", **({"class_prior": 0.5} | options))
    others = calibration_in_the_large(evidence, labelling="random"), *calibration_slope(evidence, labelling="random")
    diagram = reliability(evidence, redraws=200, labelling="random")
    return calibration_verdict(diagram, others), diagram, others, (labels, scores)


def shifted(seed):
    return judged(logistic_world(0.16, 2.0), seed)


@pytest.mark.parametrize("world", [CALIBRATED, logistic_world(0.16, 2.0), logistic_world(-0.5, 1.5)])
@pytest.mark.parametrize("options", [{}, {"class_prior": (0.45, 0.55)}])
def test_the_verdict_agrees_with_every_interval_and_mark(world, options):
    for seed in range(12):
        verdict, diagram, (large, intercept, slope), _ = judged(world, seed, **options)
        excluded = [0 not in large.interval, 0 not in intercept.interval, 1 not in slope.interval]
        excluded += [not diagram.error.is_noise, any(diagram.verdicts)]
        assert any(excluded) == (verdict.status in ("inconclusive", "miscalibrated"))
        assert diagram.error.is_noise == (diagram.error.p_value >= 0.05)
        marked = {test.name: test.value for test in verdict.tests}["bins"]
        assert marked == sum(map(bool, diagram.verdicts))
        assert len(verdict.tests) == 5


def test_a_calibrated_model_is_seldom_called_miscalibrated_and_its_bins_are_seldom_marked():
    """Over 150 samples at 5%: more than 15 false alarms have a chance of 1 in 400."""
    result = [judged(CALIBRATED, seed) for seed in range(150)]
    assert sum(verdict.status == "miscalibrated" for verdict, *_ in result) <= 15
    assert sum(any(diagram.verdicts) for _, diagram, *_ in result) <= 15
    alone = sum(any(one.verdict for one in diagram.bins) for _, diagram, *_ in result)
    assert alone > 40  # bins that are tested one by one, as they once were


def easy_first(seed, slope=1.0):
    """Calibrated scores, or too extreme ones, of rows whose easy positives were labelled first."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(-2.6, 1.6, 3000)
    chance = 1 / (1 + np.exp(-logit))
    positive = rng.random(3000) < chance
    labels = (positive & (rng.random(3000) < 0.05 + 0.75 * chance)).astype(int)
    return labels, 1 / (1 + np.exp(-slope * logit)), float(chance.mean())


def verdict_in_practice(labels, scores, prior):
    given = {"class_prior": prior, "labelling": "practice"}
    others = calibration_in_the_large(labels, scores, **given), *calibration_slope(labels, scores, **given)
    return calibration_verdict(reliability(labels, scores, redraws=100, **given), others).status


def test_labels_that_favour_easy_positives_do_not_make_right_probabilities_wrong():
    """The error is a distance: over plausible labellings its lower end is the least, not a quantile above 0."""
    statuses = [verdict_in_practice(*easy_first(seed)) for seed in range(12)]
    assert statuses.count("miscalibrated") <= 2  # 5% of them; 10 of 12 before
    assert verdict_in_practice(*easy_first(0, slope=2.5)) == "miscalibrated"


def test_text_json_and_page_give_one_verdict_where_the_error_alone_shows_nothing(tmp_path, monkeypatch, capsys):
    """Calibration in the large excluded 0 while a note said that there was no evidence of miscalibration."""
    monkeypatch.chdir(tmp_path)
    seed = next(
        seed
        for seed in range(100)
        if (result := shifted(seed))[1].error.is_noise
        and 0 not in result[2][0].interval
        and not any(result[1].verdicts)
    )
    verdict, _, _, (labels, scores) = shifted(seed)
    lines = "\n".join(f"{label},{score!r}" for label, score in zip(labels, scores.tolist(), strict=True))
    (tmp_path / "scores.csv").write_text(f"label,score\n{lines}\n")
    given = ["calibrate", "scores.csv", "--class-prior=0.5", "--scenario=case-control", "--labelling=random"]
    main([*given, "--json", "answer.json", "--html", "page.html"])
    short = " ".join(capsys.readouterr().out.split())
    main([*given, "--explain"])
    said = " ".join(capsys.readouterr().out.split())
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert answer["verdict"]["status"] in ("inconclusive", "miscalibrated")
    assert verdict.status in ("inconclusive", "miscalibrated")
    words = answer["verdict"]["words"]
    assert "calibration in the large" in words
    page = (tmp_path / "page.html").read_text()
    assert words in said
    first = short.partition(", the class prior")[0]  # one sentence opens the terminal's answer and the page
    assert "the mean score is" in first
    assert said.startswith(first)
    assert first in page
    for text in (said, page, json.dumps(answer)):
        assert "o evidence of miscalibration" not in text
        assert "promises all hold" not in text
    assert said.count("miscalibration") <= words.count("miscalibration") + 1  # the note about the error alone


def test_the_words_name_tests_and_correct_for_their_number():
    large = CalibrationTest("calibration_in_the_large", -0.0346, 0.0, 0.016, 0.064)
    slope = CalibrationTest("calibration_slope", 0.98, 1.0, 0.5, 1.0)
    assert str(CalibrationVerdict((large, slope), 0.95)) == (
        "Inconclusive: alone, calibration in the large -0.0346 (p = 0.016) would show miscalibration, but over 2 tests "
        "a calibrated model shows as much up to 6.4% of the time."
    )
    clear = CalibrationTest("bins", 3.0, 0.0, 1e-6, 2e-6)
    assert str(CalibrationVerdict((clear, slope), 0.95)) == (
        "The probabilities are miscalibrated: 3 bins (p below 0.001); p corrected for 2 tests."
    )
    assert str(CalibrationVerdict((slope,), 0.95)) == (
        "No evidence of miscalibration in 1 test (smallest p, corrected for the number of tests: 1.000)."
    )
    assert CalibrationVerdict((), 0.95).status == "untested"


def test_the_first_sentence_names_no_mean_that_may_equal_the_class_prior():
    """It said "the mean score is 0.368, the class prior 0.592" over a difference of -0.603 to 0.023."""
    error = CalibrationTest("expected_calibration_error", 0.3, 0.0, 1e-6, 1e-6)
    large = CalibrationTest("calibration_in_the_large", -0.22, 0.0, 0.07, 0.2)
    slope = CalibrationTest("calibration_slope", 0.28, 1.0, 0.01, 0.03)
    seed = next(seed for seed in range(100) if not any(judged(CALIBRATED, seed)[1].verdicts))
    _, diagram, _, _ = judged(CALIBRATED, seed)
    assert diagram.error.interval is not None
    words = verdict_words(diagram, CalibrationVerdict((error, large), 0.95))
    assert words.startswith("The probabilities are wrong (p < 0.001): no bin shows clearly where. ")
    assert "too extreme, with a slope of 0.28 instead of 1. " in verdict_words(
        diagram, CalibrationVerdict((error, large, slope), 0.95)
    )


@pytest.mark.parametrize(
    ("value", "wanted", "p"), [(0.2, 0.2, 1.0), (0.2, 0.0, 0.05), (0.2, 0.6, 0.05), (0.2, 0.4, 0.327)]
)
def test_a_p_value_is_five_percent_where_the_interval_ends(value, wanted, p):
    assert p_of_interval(value, Interval(0.0, 0.6, 0.95, ""), wanted) == pytest.approx(p, abs=5e-4)


def test_too_few_clusters_leave_nothing_to_test():
    rng = np.random.default_rng(0)
    scores = rng.random(400)
    labels = ((rng.random(400) < scores) & (rng.random(400) < 0.5)).astype(int)
    evidence = gather_within(labels, scores, class_prior=0.5, cluster=np.arange(400) % 3)
    result = calibration_verdict(
        reliability(evidence, labelling="random"), (calibration_in_the_large(evidence, labelling="random"),)
    )
    assert result.status == "untested"
    assert "not tested" in str(result)
