"""evaluate(labelling="practice"): what it promises, in made worlds and on real labels with a truth."""

import numpy as np
import pytest

import pulens
from pulens.cli import main
from pulens.errors import AssumptionError
from pulens.research.benchmark.wild import coverage, learned, leave_families_out, read_problems
from pulens.selection import Practice, check_labelling
from pulens.testing import draw_table

METRICS = ("roc_auc", "average_precision", "precision", "recall", "f1")


def tilted_rows(seed, tilt, many=3000, prior=0.3, frequency=0.4):
    """Positives that are labelled the rarer the lower they score, and their truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random(many) < prior
    scores = rng.normal(size=many) + 1.5 * truth
    ranks = scores[truth].argsort().argsort() / truth.sum()
    chance = np.exp(tilt * ranks)
    labelled = np.zeros(many, int)
    chosen = rng.choice(np.flatnonzero(truth), int(frequency * truth.sum()), replace=False, p=chance / chance.sum())
    labelled[chosen] = 1
    return labelled, scores, truth


def test_practice_is_the_default_and_the_numbers_of_random_labels_are_kept_beside_it():
    labelled, scores, _ = tilted_rows(0, 0.0, many=500)
    given = {"class_prior": 0.3, "threshold": 1.0}
    plain = pulens.evaluate(labelled, scores, **given)
    assert plain.to_dict() == pulens.evaluate(labelled, scores, labelling="practice", **given).to_dict()
    random = pulens.evaluate(labelled, scores, labelling="random", **given)
    assert plain.if_random.to_dict() == random.to_dict()
    assert plain.to_dict()["if_random"]["f1"]["value"] == random["f1"].value


@pytest.mark.parametrize("tilt", [0.0, 2.0])
def test_intervals_hold_where_labels_are_random_and_where_they_favour_easy_positives(tilt):
    held = dict.fromkeys(METRICS, 0)
    for seed in range(20):
        labelled, scores, truth = tilted_rows(seed, tilt)
        known = pulens.evaluate(np.where(truth, 1, -1), scores, negative=-1, threshold=1.0, confidence=None)
        answer = pulens.evaluate(
            labelled, scores, class_prior=float(truth.mean()), threshold=1.0, labelling="practice", redraws=300
        )
        for name in METRICS:
            held[name] += known[name].value in answer[name].interval
    assert min(held.values()) >= 16, held


def test_values_of_one_answer_fit_together():
    labelled, scores, _ = tilted_rows(1, 2.0)
    answer = pulens.evaluate(labelled, scores, class_prior=0.3, threshold=1.0, labelling="practice")
    precision, recall, f1 = (answer[name].value for name in ("precision", "recall", "f1"))
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert answer.at(1.0)["recall"].value == pytest.approx(recall)
    for name in METRICS:
        interval = answer[name].interval
        assert interval.low <= answer[name].value <= interval.high
        assert interval.guarantee == "calibrated on 15 real domains"
        assert answer[name].basis == "labelling in practice"


def test_json_text_and_frame_say_what_labelling_was_taken():
    labelled, scores, _ = tilted_rows(1, 2.0, many=800)
    answer = pulens.evaluate(labelled, scores, class_prior=0.3, labelling="practice")
    assert 'easy positives first, as in practice (if random: labelling="random")' in " ".join(str(answer).split())
    told = answer.to_dict()["estimates"]["f1"]
    assert told["guarantee"] == "calibrated on 15 real domains"
    assert told["basis"] == "labelling in practice"
    assert "random" not in answer.to_dict()["assumptions"][0]["statement"]
    assert len(answer.to_frame()) == len(answer.estimates)


def test_an_estimated_class_prior_is_a_range_that_uneven_labels_allow():
    labelled, scores, truth = tilted_rows(2, 3.0)
    answer = pulens.evaluate(labelled, scores, labelling="practice", threshold=1.0)
    prior = answer.class_prior
    assert prior.interval.confidence is None
    assert prior.interval.low == pytest.approx(labelled.mean())
    assert truth.mean() in prior.interval


def test_recall_is_said_to_rest_on_the_class_prior_that_its_label_frequency_follows_from():
    labelled, scores, _ = tilted_rows(2, 3.0, many=800)
    answer = pulens.evaluate(labelled, scores, labelling="practice", threshold=1.0)
    assert answer["recall"].rests_on[0] == "labelling in practice"
    assert answer["recall"].rests_on_an_estimated_prior


def test_the_command_line_takes_practice_unless_told_otherwise(tmp_path, capsys):
    labelled, scores, _ = tilted_rows(2, 1.0, many=300)
    lines = "".join(f"{score},{label}\n" for score, label in zip(scores, labelled, strict=True))
    (tmp_path / "rows.csv").write_text("score,label\n" + lines)
    typed = ["evaluate", str(tmp_path / "rows.csv"), "--class-prior", "0.3"]
    main([*typed, "--html", str(tmp_path / "page.html")])
    answered = capsys.readouterr().out
    assert "easy positives first, as in practice" in answered
    assert len(answered.splitlines()) <= 24
    assert ">assumes labels as in practice<" in (tmp_path / "page.html").read_text()
    main([*typed, "--labelling", "practice"])
    assert capsys.readouterr().out.splitlines()[:10] == answered.splitlines()[:10]
    main([*typed, "--labelling", "random"])
    assert "on real labels such 95% intervals held 55%" in capsys.readouterr().out
    main([*typed, "--labelling", "2"])
    assert "high scores up to 2 times as likely" in capsys.readouterr().out


def test_clusters_widen_intervals():
    labelled, scores, _ = tilted_rows(3, 1.0, many=600)
    options = {"class_prior": 0.3, "threshold": 1.0, "labelling": "practice"}
    alone = pulens.evaluate(labelled, scores, **options)
    together = pulens.evaluate(
        np.repeat(labelled, 5), np.repeat(scores, 5), cluster=np.repeat(np.arange(600), 5), **options
    )
    rows = pulens.evaluate(np.repeat(labelled, 5), np.repeat(scores, 5), **options)
    assert together["recall"].interval.width > rows["recall"].interval.width
    assert together["recall"].interval.width == pytest.approx(alone["recall"].interval.width, rel=0.25)


@pytest.mark.parametrize("call", ["bounds", "sensitivity"])
def test_what_is_derived_for_random_labels_starts_from_those(call):
    labelled, scores, _ = tilted_rows(1, 2.0, many=300)
    given = {"class_prior": 0.3, "threshold": 1.0}
    answer = pulens.evaluate(labelled, scores, **given)
    random = pulens.evaluate(labelled, scores, labelling="random", **given)
    options = {"sensitivity": {"metric": "recall", "factor": 2}}.get(call, {})
    assert str(getattr(answer, call)(**options)) == str(getattr(random, call)(**options))


def test_the_first_rows_of_the_list_hold_fewer_positives_than_random_labels_say():
    labelled, scores, truth = tilted_rows(1, 1.0)
    answer = pulens.evaluate(labelled, scores, class_prior=float(truth.mean()), threshold=1.0)
    result, random = answer.top(200), answer.if_random.top(200)
    assert result["recall_at_k"].value < random["recall_at_k"].value
    assert truth[np.argsort(-scores)[:200]].mean() in result["precision_at_k"].interval
    assert result.labelled == random.labelled
    assert [step.k for step in answer.ladder()] == [step.k for step in answer.if_random.ladder()]


def test_a_factor_gives_the_range_of_sensitivity():
    labelled, scores, _ = tilted_rows(1, 2.0, many=800)
    given = {"class_prior": 0.3, "threshold": 1.0}
    answer = pulens.evaluate(labelled, scores, labelling=3, **given)
    assert answer.labelling == "high scores up to 3 times as likely"
    for name in ("recall", "precision", "f1", "roc_auc", "average_precision"):
        alone = answer.sensitivity(name, factor=3).interval
        assert (answer[name].interval.low, answer[name].interval.high) == pytest.approx((alone.low, alone.high))
        assert answer[name].interval.guarantee == "possible set"


@pytest.mark.parametrize(
    "said", [{"label_noise": 0.05}, {"labelled_within": np.arange(300) % 2}], ids=["noise", "cells"]
)
def test_who_says_more_about_the_labels_is_not_given_practice_by_default(said):
    labelled, scores, _ = tilted_rows(1, 2.0, many=300)
    answer = pulens.evaluate(labelled, scores, class_prior=0.3, **said)
    assert answer.uneven is None
    assert answer.labelling.startswith("random")


@pytest.mark.parametrize("options", [{"label_noise": 0.1}, {"labelled_within": np.zeros(300)}], ids=["noise", "within"])
def test_combinations_that_were_not_measured_are_refused(options):
    labelled, scores, _ = tilted_rows(1, 2.0, many=300)
    with pytest.raises(AssumptionError, match="cannot be combined"):
        pulens.evaluate(labelled, scores, class_prior=0.3, labelling="practice", **options)


@pytest.mark.parametrize(
    "labelling", ["easy", 0.5, "0", float("nan"), None, True, ["practice"], np.array(["random", "x"])]
)
def test_other_words_are_refused(labelling):
    with pytest.raises(AssumptionError, match="labelling must be 'practice', 'random' or a factor"):
        check_labelling(labelling)


def test_on_real_labels_intervals_hold_in_families_left_out(shared, tmp_path):
    """Four families that are quick to score, each judged by what the other three show."""
    if not (shared / "data" / "wild").is_dir():
        pytest.skip("no real labels with a truth beside this checkout")
    for name in ("hubbard_brook", "swiss_tits", "mesocarnivores", "swiss_birds_2014"):
        (tmp_path / f"{name}.npz").symlink_to(shared / "data" / "wild" / f"{name}.npz")
    problems = list(read_problems(tmp_path, ["logistic"]))
    assert isinstance(learned(problems), Practice)
    result = coverage(leave_families_out(problems, redraws=200))
    assert result["f1"]["holds"] >= 0.8
    assert result["roc_auc"]["holds"] >= 0.8
    assert result["f1"]["error"] < result["f1"]["uncorrected"]


@pytest.mark.parametrize("seed", range(4))
def test_labels_of_one_kind_of_positive_do_not_promise_a_perfect_ranking(seed):
    """Half of the positives are of a kind that nobody labels and no score finds; no tilt puts them below the labels."""
    rng = np.random.default_rng(seed)
    positive = rng.random(1500) < 0.4
    found = positive & (rng.random(1500) < 0.4)
    scores = rng.normal(5.0 * found)
    labelled = found & (rng.random(1500) < 0.5)
    answer = pulens.evaluate(labelled.astype(int), scores, class_prior=0.4, threshold=2.5)
    truth = {
        "roc_auc": float((scores[positive][:, None] > scores[~positive][None, :]).mean()),
        "recall": float((scores[positive] >= 2.5).mean()),
    }
    for name, true in truth.items():
        assert answer[name].interval.low <= true <= answer[name].interval.high


def test_few_hidden_positives_at_hand_leave_more_open():
    """Twenty hidden positives or two thousand: as many labelled ones know the population, but not those rows."""
    rng = np.random.default_rng(0)
    labelled = rng.normal(1.5, size=400)

    def width(hidden):
        rest = np.concatenate([rng.normal(0.7, size=hidden), rng.normal(size=4 * hidden)])
        labels = np.repeat([1, 0], [400, rest.size])
        rows = np.concatenate([labelled, rest])
        interval = pulens.evaluate(labels, rows, class_prior=0.2, threshold=1.0, scenario="case-control")["recall"]
        return interval.interval.high - interval.interval.low

    assert width(20) > 1.1 * width(2000)


def test_the_interval_of_the_first_rows_is_theirs_whatever_other_rows_were_asked_for():
    """Recall of the first k rows is k of all positives at most, in every redraw but for how many rows are above it."""
    labels, scores, _ = draw_table(3000, np.random.default_rng(1), class_prior=0.1, label_frequency=0.3)
    evaluation = pulens.evaluate(labels, scores, class_prior=0.1)
    few, many = evaluation.top(20)["recall_at_k"].interval, evaluation.top(600)["recall_at_k"].interval
    assert few.high < 3 * 20 / 300
    assert few.high < many.low
