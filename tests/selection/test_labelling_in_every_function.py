"""labelling= means the same in compare, decide, calibrate and groups: one more source of uncertainty, drawn once."""

import json
from itertools import pairwise

import numpy as np
import polars
import pytest
from scipy.special import ndtri
from tests.selection.test_labelling_in_practice import tilted_rows

import pulens
from pulens import calibration
from pulens.cli import main
from pulens.errors import AssumptionError
from pulens.evidence import gather
from pulens.groups.segments import evaluate_by
from pulens.selection import TiltedEvidence, check_labelling, correlated_levels, read_under
from pulens.selection.distortion import distort, distorted, label_frequency
from pulens.selection.gathering import gather_labelled
from pulens.selection.tilts import TiltDistribution, TiltRange, mixed

GIVEN = {"class_prior": 0.3, "redraws": 200}
CALLS = {
    "compare": lambda labels, scores, **said: pulens.compare(labels, {"a": scores, "b": -scores}, **GIVEN, **said),
    "decide": lambda labels, scores, **said: pulens.decide(labels, scores, cost_miss=5, cost_alarm=1, **GIVEN, **said),
    "evaluate": lambda labels, scores, **said: pulens.evaluate(labels, scores, threshold=1.0, **GIVEN, **said),
}


def two_models(seed, tilt):
    labelled, scores, truth = tilted_rows(seed, tilt)
    return (
        labelled,
        {"good": scores, "poor": scores + np.random.default_rng(seed + 100).normal(size=scores.size)},
        truth,
    )


def areas(truth, models):
    known = np.where(truth, 1, -1)
    answers = (pulens.evaluate(known, each, negative=-1, confidence=None) for each in models.values())
    good, poor = (answer["roc_auc"].value for answer in answers)
    return good - poor


# --- the source of uncertainty --------------------------------------------------------------------------------------


def test_ends_are_those_of_a_sum_of_chance_and_labelling():
    """The slow way: a million draws of a normal with two sides and of the moves."""
    rng = np.random.default_rng(0)
    moved = np.array([-0.2, -0.05, 0.0, 0.02, 0.3])
    normal = rng.standard_normal(1_000_000)
    draws = 0.5 + np.where(normal < 0, 0.1, 0.2) / -ndtri(0.025) * normal + rng.choice(moved, normal.size)
    assert mixed(0.5, 0.4, 0.7, moved, 0.025) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.01)
    assert mixed(0.5, 0.4, 0.7, np.zeros(5), 0.025) == pytest.approx((0.4, 0.7), abs=0.02)


def test_levels_of_models_are_even_and_go_together_as_asked():
    levels = correlated_levels(2000, np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), seed=1)
    assert (levels[:, 0] == levels[:, 1]).all()
    assert abs(np.corrcoef(levels.T)[0, 2]) < 0.1
    assert np.sort(levels[:, 2]) == pytest.approx((np.arange(2000) + 0.5) / 2000)


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_the_steepest_tilt_of_a_factor_labels_high_scores_that_many_times_as_often(scenario):
    labels, scores, _ = tilted_rows(0, 0.0, many=400)
    rows = gather(labels, scores, class_prior=0.3, scenario=scenario)
    share = rows.class_prior.unlabelled
    steepest = float(TiltRange(rows, 3.0).quantiles(share, np.array([1.0]))[0])
    c = label_frequency(rows.tally.totals, rows.class_prior.value, rows.scenario)
    ranks = np.linspace(0, 1, 100_001)  # recall of all positives over that of labelled ones, at either end
    slope = np.diff(distort(ranks, steepest, c)) / np.diff(ranks)
    assert slope[-1] / slope[0] == pytest.approx(3.0, rel=1e-3)


def test_rows_at_a_tilt_are_read_like_any_others():
    labels, scores, _ = tilted_rows(0, 1.0, many=400)
    rows = gather(labels, scores, class_prior=0.3)
    read = read_under(rows, check_labelling("practice"))
    assert isinstance(read, TiltedEvidence)
    assert read.counted is rows
    own = distorted(rows, read.tilts.median(), of_these_rows=True)
    assert (read.tally.labelled == own.tally.labelled).all()
    assert read.at(read.class_prior.value, np.array([0.5]))[0].tally.labelled == pytest.approx(own.tally.labelled)
    recalls = [
        float(each.tally.labelled[100]) / each.tally.totals.labelled for each in read.at(0.3, np.linspace(0.1, 0.9, 5))
    ]
    assert all(later < before for before, later in pairwise(recalls))  # the steeper the tilt, the fewer are found


# --- compare --------------------------------------------------------------------------------------------------------


def test_a_model_differs_from_itself_by_nothing_however_labels_came_about():
    labels, models, _ = two_models(0, 1.0)
    answer = pulens.compare(labels, {"a": models["good"], "b": models["good"]}, **GIVEN)
    pair = answer.differences["roc_auc"][0]
    assert (pair.value, pair.interval.low, pair.interval.high) == (0, 0, 0)


def test_differences_hold_where_labels_favour_easy_positives_and_random_ones_miss():
    held = {"practice": 0, "random": 0}
    for seed in range(12):
        labels, models, truth = two_models(seed, 4.0)
        known = areas(truth, models)
        for labelling in held:
            answer = pulens.compare(
                labels, models, class_prior=float(truth.mean()), labelling=labelling, metrics=["roc_auc"], redraws=200
            )
            held[labelling] += known in answer.differences["roc_auc"][0].interval
    assert held["practice"] >= 11, held
    assert held["random"] < held["practice"], held


def test_what_labels_do_to_both_models_cancels_in_their_difference():
    labels, models, _ = two_models(3, 2.0)
    answer = pulens.compare(labels, models, metrics=["roc_auc"], **GIVEN)
    alone = [each.interval.width for each in answer.estimates["roc_auc"].values()]
    pair = answer.differences["roc_auc"][0]
    assert pair.interval.width < np.hypot(*alone)
    assert pair.value == pytest.approx(
        answer.estimates["roc_auc"]["good"].value - answer.estimates["roc_auc"]["poor"].value, abs=1e-9
    )
    assert pair.interval.guarantee == "calibrated on 15 real domains"


def test_a_difference_over_a_factor_holds_the_one_of_random_labels():
    labels, models, _ = two_models(1, 0.0)
    random, factor = (
        pulens.compare(labels, models, labelling=said, metrics=["roc_auc"], **GIVEN).differences["roc_auc"][0]
        for said in ("random", 3)
    )
    assert factor.value == pytest.approx(random.value)
    assert factor.interval.low < random.interval.low < random.interval.high < factor.interval.high
    assert factor.interval.guarantee == "possible set"


# --- decide, calibrate, groups --------------------------------------------------------------------------------------


def test_a_floor_of_recall_is_kept_where_labels_favour_easy_positives():
    kept = {"practice": 0, "random": 0}
    for seed in range(12):
        labels, scores, truth = tilted_rows(seed, 1.2)
        for labelling in kept:
            asked = {"class_prior": float(truth.mean()), "labelling": labelling, "redraws": 200}
            answer = pulens.decide(labels, scores, recall_at_least=0.7, **asked)
            kept[labelling] += float((scores[truth] >= answer.threshold).mean()) >= 0.7
    assert kept["practice"] >= 11, kept
    assert kept["random"] <= 6, kept


def test_the_cost_of_a_threshold_is_that_of_labels_in_practice():
    held = 0
    for seed in range(12):
        labels, scores, truth = tilted_rows(seed, 2.0)
        asked = {"cost_miss": 5, "cost_alarm": 1, "class_prior": float(truth.mean()), "redraws": 200}
        answer = pulens.decide(labels, scores, **asked)
        flagged = scores >= answer.threshold
        known = 1000 * float(np.mean(5 * (truth & ~flagged) + (flagged & ~truth)))
        held += known in answer.cost.interval
        assert answer.cost.interval.guarantee == "calibrated on 15 real domains"
        assert answer.curve.low is not None
    assert held >= 11


def test_probabilities_are_judged_by_labels_as_in_practice():
    held = {"practice": 0, "random": 0}
    for seed in range(12):
        labels, scores, truth = tilted_rows(seed, 2.0)
        odds = 1.5 * scores - 1.125 + np.log(0.3 / 0.7)
        promised = 1 / (1 + np.exp(-odds))
        known = float(np.mean((promised - truth) ** 2))
        for labelling in held:
            asked = {"class_prior": float(truth.mean()), "labelling": labelling}
            held[labelling] += known in calibration.brier_score(labels, promised, **asked).interval
    assert held["practice"] >= 11, held
    assert held["random"] <= 4, held


def test_how_many_positives_are_promised_in_all_does_not_rest_on_the_labelling():
    labels, scores, _ = tilted_rows(0, 2.0)
    promised = 1 / (1 + np.exp(-scores))
    each = [
        calibration.calibration_in_the_large(labels, promised, class_prior=0.3, labelling=said)
        for said in ("practice", "random", 3)
    ]
    assert [one.value for one in each] == pytest.approx([each[0].value] * 3)
    assert each[0].interval.width == pytest.approx(each[1].interval.width, rel=0.2)


def test_a_map_that_was_fitted_to_tilted_rows_promises_what_is_true():
    labels, scores, truth = tilted_rows(5, 3.0, many=6000)
    off = {}
    for labelling in ("practice", "random"):
        asked = {"class_prior": float(truth.mean()), "labelling": labelling, "scores_are": "rank", "method": "platt"}
        promised = calibration.recalibrate(labels, scores, **asked)(scores)
        off[labelling] = float(np.mean((promised - truth) ** 2))
    assert off["practice"] < off["random"]


def groups(seed, tilt):
    parts = [tilted_rows(seed + 50 * place, tilt, many=1500) for place in range(2)]
    labels, scores, truth = (np.concatenate(each) for each in zip(*parts, strict=True))
    scores[1500:] += 0.3 * truth[1500:]
    table = polars.DataFrame({"score": scores, "label": labels, "site": ["a"] * 1500 + ["b"] * 1500})
    found = [scores[:1500][truth[:1500]] >= 1, scores[1500:][truth[1500:]] >= 1]
    return table, [float(each.mean()) for each in found]


def test_groups_and_their_gaps_hold_where_labels_favour_easy_positives():
    held, of = {"practice": 0, "random": 0}, {"practice": 0, "random": 0}
    for seed in range(8):
        table, known = groups(seed, 1.2)
        for labelling in held:
            asked = {"class_prior": {"a": 0.3, "b": 0.3}, "threshold": 1.0, "labelling": labelling, "redraws": 200}
            answer = evaluate_by(table, "site", metrics=["recall"], **asked)
            held[labelling] += sum(
                truth in answer.segments[name].estimates["recall"].interval
                for name, truth in zip("ab", known, strict=True)
            )
            for gap in answer.gaps("recall").differences:  # none where rows rule random labels out in a group
                truth = (known[1] - known[0]) * (1 if gap.first == "b" else -1)
                of[labelling] += gap.low <= truth <= gap.high
    assert held["practice"] >= 15, held
    assert held["random"] <= 8, held
    assert of["practice"] == 8, of


def test_tilts_of_groups_go_together_so_that_gaps_are_surer_than_their_parts():
    table, _ = groups(0, 2.0)
    answer = evaluate_by(table, "site", class_prior={"a": 0.3, "b": 0.3}, threshold=1.0, metrics=["recall"])
    gaps = answer.gaps("recall")
    widths = [each.estimates["recall"].interval.width for each in answer.segments.values()]
    assert gaps.differences[0].high - gaps.differences[0].low < np.hypot(*widths)
    assert gaps.labelling == answer.labelling == "practice"


# --- rows that belong together --------------------------------------------------------------------------------------


def clustered_rows(seed, tilt, clusters=120, each=20):
    """Rows of patients who are alike in class and score; easy positives are labelled first."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), each)
    alike = rng.normal(size=clusters)[cluster]
    truth = rng.random(cluster.size) < 1 / (1 + np.exp(1.2 - 0.8 * alike))
    scores = rng.normal(size=cluster.size) + 1.5 * truth + 0.4 * alike
    ranks = scores[truth].argsort().argsort() / truth.sum()
    chance = np.exp(tilt * ranks)
    labelled = np.zeros(cluster.size, int)
    labelled[rng.choice(np.flatnonzero(truth), int(0.4 * truth.sum()), replace=False, p=chance / chance.sum())] = 1
    return labelled, scores, truth, cluster


def test_rows_by_cluster_add_up_to_the_tilted_tally():
    labels, scores, _, cluster = clustered_rows(0, 2.0)
    rows = gather(labels, scores, class_prior=0.3, cluster=cluster)
    own = distorted(rows, 2.0, aside=0.1)
    for threshold in (-1.0, 0.5, 2.0):
        assert own.buckets.at(threshold).sum(axis=0) == pytest.approx(list(own.tally.at(threshold)))
    assert own.buckets.totals.sum(axis=0) == pytest.approx(list(own.tally.totals))


@pytest.mark.parametrize("call", ["compare", "decide"])
def test_clusters_of_one_row_leave_the_answer_for_labels_in_practice_as_it_is(call):
    labels, scores, _ = tilted_rows(0, 1.0, many=1200)
    alone, together = (CALLS[call](labels, scores, **said) for said in ({}, {"cluster": np.arange(1200)}))
    assert alone.labelling == together.labelling == "practice"
    own, held = ((each.differences["roc_auc"][0] if call == "compare" else each.cost) for each in (alone, together))
    assert held.value == pytest.approx(own.value, rel=1e-6)
    assert held.interval.width == pytest.approx(own.interval.width, rel=0.25)
    assert held.interval.guarantee == "calibrated on 15 real domains"


def test_numbers_of_rows_that_belong_together_hold_where_labels_favour_easy_positives():
    """Every function, with and without what the labelling adds: 12 tables of 120 patients."""
    held = {said: dict.fromkeys(("difference", "cost", "recall floor", "brier"), 0) for said in ("practice", "random")}
    for seed in range(12):
        labels, scores, truth, cluster = clustered_rows(seed, 2.5)
        other = scores + np.random.default_rng(seed + 100).normal(size=scores.size)
        promised = 1 / (1 + np.exp(2 - scores))
        for said, own in held.items():
            asked = {"class_prior": float(truth.mean()), "cluster": cluster, "labelling": said, "redraws": 200}
            pair = pulens.compare(labels, {"good": scores, "poor": other}, metrics=["roc_auc"], **asked)
            known = areas(truth, {"good": scores, "poor": other})
            own["difference"] += known in pair.differences["roc_auc"][0].interval
            decided = pulens.decide(labels, scores, cost_miss=5, cost_alarm=1, **asked)
            flagged = scores >= decided.threshold
            known = 1000 * float(np.mean(5 * (truth & ~flagged) + (flagged & ~truth)))
            own["cost"] += known in decided.cost.interval
            kept = pulens.decide(labels, scores, recall_at_least=0.6, **asked)
            own["recall floor"] += float((scores[truth] >= kept.threshold).mean()) >= 0.6
            asked.pop("redraws")
            known = float(np.mean((promised - truth) ** 2))
            own["brier"] += known in calibration.brier_score(labels, promised, **asked).interval
    assert all(many >= 11 for many in held["practice"].values()), held
    assert max(held["random"]["cost"], held["random"]["brier"]) <= 4, held


def test_a_factor_with_clusters_holds_the_difference_of_random_labels():
    labels, scores, _, cluster = clustered_rows(1, 0.0)
    models = {"good": scores, "poor": scores + np.random.default_rng(9).normal(size=scores.size)}
    random, factor = (
        pulens.compare(labels, models, cluster=cluster, labelling=said, metrics=["roc_auc"], **GIVEN)
        for said in ("random", 2)
    )
    own, wide = (each.differences["roc_auc"][0] for each in (random, factor))
    assert wide.value == pytest.approx(own.value)
    assert wide.interval.low < own.interval.low < own.interval.high < wide.interval.high


# --- chance beside the labelling ------------------------------------------------------------------------------------


def test_where_the_hidden_positives_at_hand_score_is_a_matter_of_chance_too():
    """Labelled rows count as many as say as much of a share of all positives at hand: known by simulation."""
    rng = np.random.default_rng(0)
    labels, scores = np.repeat([1, 0], [60, 440]), rng.normal(size=500)
    rows = gather(labels, scores, class_prior=0.2)  # 60 labelled and 40 hidden positives
    own = distorted(rows, 0.0, of_these_rows=True).tally.totals.labelled
    drawn = rng.binomial(60, 0.3, 200_000) / 60
    hidden = rng.binomial(40, 0.3, 200_000) / 40
    known = drawn + 0.4 * (hidden - 0.3)  # what the labelled rows show, and the chance of the hidden ones
    assert 0.3 * 0.7 / own == pytest.approx(known.var(), rel=0.02)


def test_a_threshold_chosen_on_the_rows_has_a_wider_interval_than_the_same_one_given():
    labels, scores, _ = tilted_rows(3, 1.0, many=400)
    chosen = pulens.evaluate(labels, scores, class_prior=0.3)
    given = pulens.evaluate(labels, scores, class_prior=0.3, threshold=chosen.threshold)
    assert chosen["f1"].value == given["f1"].value
    assert chosen["f1"].interval.low < given["f1"].interval.low  # the best on these rows is less good on others
    assert chosen["roc_auc"].interval == given["roc_auc"].interval


def test_no_part_of_a_range_of_class_priors_is_cut_for_random_labels_where_they_are_not_taken_for_random():
    labels, scores, _ = tilted_rows(0, 4.0)
    reach = (0.15, 0.4)  # .3 is true, and random labels would allow .18 at most
    cut = pulens.decide(labels, scores, cost_miss=5, cost_alarm=1, class_prior=reach, labelling="random", redraws=200)
    whole = pulens.decide(labels, scores, cost_miss=5, cost_alarm=1, class_prior=reach, redraws=200)
    assert any("random labels allow" in each for each in cut.warnings)
    assert not any("random labels allow" in each for each in whole.warnings)
    assert whole.evidence.class_prior.interval.high == pytest.approx(0.4)


# --- what is said ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", list(CALLS))
@pytest.mark.parametrize(("said", "told"), [(None, "practice"), ("random", "random"), (3, "high scores up to 3 times")])
def test_every_answer_says_how_labels_are_taken_to_have_come_about(call, said, told):
    labels, scores, _ = tilted_rows(0, 0.0, many=300)
    answer = CALLS[call](labels, scores, labelling=said)
    assert answer.labelling.startswith(told)
    assert answer.to_dict()["labelling"].startswith(told)


@pytest.mark.parametrize("call", ["compare", "decide"])
@pytest.mark.parametrize("more", ["labelled_within", "label_noise"])
def test_where_more_is_known_labels_are_random_unless_that_is_said(call, more):
    labels, scores, _ = tilted_rows(0, 0.0, many=800)
    given = {"labelled_within": np.arange(800) % 2, "label_noise": 0.05}
    known = {more: given[more]}
    assert CALLS[call](labels, scores, **known).labelling == "random"
    with pytest.raises(AssumptionError, match="cannot be combined with"):
        CALLS[call](labels, scores, labelling="practice", **known)


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "--score=score", "--score=other"],
        ["decide", "--cost-miss=5", "--cost-alarm=1"],
        ["calibrate", "--score=chance"],
        ["evaluate", "--group-by=site", "--same-prior", "--threshold=1"],
    ],
)
def test_commands_take_a_labelling_and_say_it(words, tmp_path, capsys):
    labels, scores, _ = tilted_rows(0, 0.0, many=400)
    table = {"label": labels, "score": scores, "other": scores + 1, "chance": 1 / (1 + np.exp(-scores))}
    path = tmp_path / "rows.csv"
    polars.DataFrame(table).with_columns(site=polars.Series(["a", "b"] * 200)).write_csv(path)
    command = [words[0], str(path), *words[1:], "--class-prior=0.3"]
    for labelling in ("practice", "random"):
        main([*command, f"--labelling={labelling}", "--json", "-"])
        assert json.loads(capsys.readouterr().out)["labelling"] == labelling
    main(command)
    assert "easy positives are labelled first, as in practice" in " ".join(capsys.readouterr().out.split())
    main([*command, "--labelling=random"])
    assert "on real labels such intervals held" in " ".join(capsys.readouterr().out.split())


def test_numbers_of_checked_rows_are_about_the_rows_and_all_others_about_the_population():
    labels, scores, _ = tilted_rows(0, 0.0, many=300)
    answer = pulens.evaluate(labels, scores, **GIVEN, threshold=1.0)
    assert answer["recall"].to_dict()["target"] == "population"
    assert pulens.Estimate("recall", 0.5, basis="design").target == "rows"


def test_a_number_is_the_same_through_every_function():
    labels, scores, _ = tilted_rows(2, 1.0, many=600)
    asked = {"class_prior": 0.3, "redraws": 200}
    whole = pulens.evaluate(labels, scores, threshold=1.0, **asked)
    compared = pulens.compare(labels, {"a": scores, "b": -scores}, threshold=1.0, **asked)
    table = polars.DataFrame({"score": scores, "label": labels, "site": ["x"] * 600})
    segment = pulens.evaluate_by(table, "site", threshold=1.0, metrics=["roc_auc", "recall"], **asked).segments["x"]
    for name in ("roc_auc", "recall"):
        assert compared.estimates[name]["a"].interval == whole[name].interval
        assert compared.estimates[name]["a"].value == whole[name].value
        assert segment.estimates[name].to_dict() == whole[name].to_dict()
    decided = pulens.decide(labels, scores, capacity=150, **asked)
    there = whole.at(decided.threshold)
    assert decided.recall.value == pytest.approx(there["recall"].value, abs=1e-12)
    assert decided.recall.interval == there["recall"].interval
    assert whole.decide(capacity=150).recall.value == pytest.approx(decided.recall.value, abs=1e-12)


def test_tilts_of_a_doubtful_class_prior_are_found_at_a_few_shares(monkeypatch):
    """Every chunk of redraws had shares of its own: 144 a group, most of its time."""
    rng = np.random.default_rng(5)
    truth = rng.random(4000) < 0.2
    scores = rng.normal(1.5 * truth)
    labels = (truth & (rng.random(4000) < 1 / (1 + np.exp(1 - 2 * scores)))).astype(int)
    found = []
    own = TiltDistribution.excess
    monkeypatch.setattr(TiltDistribution, "excess", lambda self, share: found.append(share) or own(self, share))
    table = polars.DataFrame({"score": scores, "label": labels, "half": np.arange(4000) % 2})
    answer = evaluate_by(table, "half", class_prior=0.2, threshold=1.0, metrics=("roc_auc",))
    assert all(segment.estimates["roc_auc"].interval is not None for segment in answer.segments.values())
    assert 4 <= len(found) <= 100


STRATA = {"labelled_within": ["n", "s"] * 300, "class_prior": {"n": 0.25, "s": 0.35}}


@pytest.mark.parametrize("said", [{}, {"labelling": 3}, {"labelling": "random"}, STRATA])
def test_evidence_is_answered_as_its_rows_are(said):
    """What was said where rows were read was forgotten: they were tilted twice, and strata taken for one sample."""
    labels, scores, _ = tilted_rows(2, 1.0, many=600)
    said = {"class_prior": 0.3, **said}
    asked = {"threshold": 1.0, "redraws": 200}
    of_rows, of_evidence = (
        pulens.evaluate(labels, scores, **said, **asked),
        pulens.evaluate(gather_labelled(labels, scores, **said), **asked, **_still_said(said)),
    )
    assert of_evidence.labelling == of_rows.labelling
    for name in ("roc_auc", "recall"):
        assert of_evidence[name].to_dict() == of_rows[name].to_dict()


def _still_said(said):
    """Evidence of labels that are a random draw does not say that somebody said so."""
    return {"labelling": "random"} if said.get("labelling") == "random" else {}


def test_strata_of_evidence_are_refused_beside_labels_as_in_practice():
    labels, scores, _ = tilted_rows(2, 1.0, many=600)
    within = gather_labelled(labels, scores, labelled_within=["n", "s"] * 300, class_prior=0.3)
    with pytest.raises(AssumptionError, match="cells"):
        pulens.evaluate(within, labelling="practice")
