"""Where random labels are impossible nothing looks certain: possible worlds, their ranges, and words that say so."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import pulens
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, PulensError
from pulens.metrics import METRICS
from pulens.metrics.parts.confirmed import confirmed_share
from pulens.metrics.parts.possible_worlds import Contradiction, find_contradiction
from pulens.recovery.feasibility import CHANCE_LIMIT, chance_of_excess, impossible_rates, largest_possible_prior
from pulens.scenario import Scenario


def biased(seed=0, prior=0.2, rows=8000, gap=2.5, favour=6.0, scenario="case-control", labelled=800):
    """Labels by a step: positives above their median are labelled ``favour`` times as often. Labels, scores, truth."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < prior
    scores = rng.normal(gap * positive, 1)

    def chances(values):
        return np.where(values > gap, favour, 1.0) / max(favour, 1.0)

    if scenario == "single-set":
        labels = (positive & (rng.random(rows) < 0.6 * chances(scores))).astype(int)
        return labels, scores, positive
    pool = rng.normal(gap, 1, 20 * labelled)
    pool = pool[rng.random(pool.size) < chances(pool)][:labelled]
    labels = np.repeat([1, 0], [pool.size, rows])
    return labels, np.concatenate([pool, scores]), np.concatenate([np.ones(pool.size, bool), positive])


@pytest.fixture(scope="module")
def contradicted():
    labels, scores, _ = biased()
    return pulens.evaluate(labels, scores, class_prior=0.2, scenario="case-control", threshold=2.0, labelling="random")


def truths(labels, scores, positive, threshold, scenario):
    if scenario == "case-control":
        scores, positive = scores[labels == 0], positive[labels == 0]
    flagged = scores >= threshold
    hits = np.count_nonzero(flagged & positive)
    order = np.argsort(np.argsort(scores)) + 1
    n = np.count_nonzero(positive)
    area = (order[positive].sum() - n * (n + 1) / 2) / (n * (positive.size - n))
    return {
        "precision": hits / flagged.sum(),
        "recall": hits / n,
        "f1": 2 * hits / (flagged.sum() + n),
        "roc_auc": area,
    }


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
@pytest.mark.parametrize("seed", range(6))
def test_the_truth_lies_in_the_range_over_possible_worlds(scenario, seed):
    labels, scores, positive = biased(seed, scenario=scenario)
    prior = float(positive[labels == 0].mean() if scenario == "case-control" else positive.mean())
    result = pulens.evaluate(labels, scores, class_prior=prior, scenario=scenario, threshold=2.0, labelling="random")
    assert result.contradiction is not None, "the world is meant to be contradicted"
    for name, truth in truths(labels, scores, positive, 2.0, scenario).items():
        assert truth in result.estimates[name].interval, name


def test_numbers_say_what_they_rest_on(contradicted):
    assert contradicted.contradiction.standard_errors >= CHANCE_LIMIT
    assert contradicted.contradiction.favours == "high"
    assert contradicted.contradiction.factor == pytest.approx(3 * contradicted.contradiction.least_factor)
    assert contradicted.contradiction.largest_possible_prior < 0.2
    assert contradicted["predicted_positive_rate"].basis == "random labelling"  # rows that are counted stay counted
    for name, result in contradicted.estimates.items():
        if METRICS[name].counted:
            continue
        assert result.basis == "possible worlds", name
        assert result.interval.confidence is None
        assert re.fullmatch(
            r"worlds in which high scores were labelled up to [\d.]+ times as often", result.interval.method
        )
        assert result.interval.width >= 1e-3
        assert result.value in result.interval
    answer = json.loads(json.dumps(contradicted.to_dict()))
    assert set(answer["contradiction"]) == {
        "standard_errors",
        "least_factor",
        "factor",
        "favours",
        "largest_possible_prior",
    }
    assert answer["estimates"]["roc_auc"]["basis"] == "possible worlds"


def test_random_labels_keep_their_intervals_of_chance():
    labels, scores, _ = biased(favour=1.0)
    result = pulens.evaluate(
        labels, scores, class_prior=0.2, scenario="case-control", threshold=2.0, redraws=200, labelling="random"
    )
    assert result.contradiction is None
    assert result.to_dict()["contradiction"] is None
    assert {each.basis for each in result.estimates.values()} == {"random labelling"}
    assert {each.interval.confidence for each in result.estimates.values()} == {0.95}


def test_the_multiple_widens_ranges_and_is_checked(contradicted):
    labels, scores, _ = biased()
    options = {"class_prior": 0.2, "scenario": "case-control", "threshold": 2.0}
    wider = pulens.evaluate(labels, scores, worlds=5, **options, labelling="random")
    nearest = pulens.evaluate(labels, scores, worlds=1, **options, labelling="random")
    for name in ("roc_auc", "average_precision", "precision", "recall", "f1"):
        three, five, one = (result.estimates[name] for result in (contradicted, wider, nearest))
        assert five.interval.low <= three.interval.low + 1e-9 < one.interval.low
        assert three.value == pytest.approx(five.value, abs=1e-9) == pytest.approx(one.value, abs=1e-9)
    for bad in (0.5, float("inf"), "3", True):
        with pytest.raises(PulensError, match="worlds must be a number of at least 1, got"):
            pulens.evaluate(labels, scores, worlds=bad, **options, labelling="random")


def test_metrics_by_themselves_use_possible_worlds_too(contradicted):
    labels, scores, _ = biased()
    result = pulens.metrics.precision(labels, scores, class_prior=0.2, scenario="case-control", threshold=2.0)
    assert result == contradicted.estimates["precision"]
    counted = pulens.metrics.proxy_roc_auc(labels, scores)
    assert counted.basis == "random labelling"


def test_numbers_without_a_construction_are_undefined_with_the_way_out():
    labels, scores, _ = biased()
    options = {"class_prior": 0.2, "scenario": "case-control"}
    for metric in (pulens.metrics.partial_roc_auc, pulens.metrics.pr_auc):
        result = metric(labels, scores, confidence=0.95, redraws=100, **options)
        assert "labels cannot be a random draw" in result.undefined_because
        assert "audit" in result.undefined_because
    noisy = pulens.evaluate(labels, scores, label_noise=0.02, threshold=2.0, **options, labelling="random")
    supposed = [result for name, result in noisy.estimates.items() if not METRICS[name].counted]
    assert all("label noise" in result.undefined_because for result in supposed)
    assert "Nothing can be said" in noisy.to_dict()["verdict"][2]


def test_positives_with_nowhere_to_be_leave_the_values_undefined():
    labels = np.repeat([1, 0], [200, 2000])
    scores = np.concatenate([np.linspace(5, 6, 200), np.linspace(0, 1, 2000)])
    result = pulens.evaluate(
        labels, scores, class_prior=0.3, scenario="case-control", threshold=3.0, labelling="random"
    )
    reason = result.estimates["roc_auc"].undefined_because
    assert reason.startswith("a class prior of 0.3 is impossible for these rows whichever scores were favoured")
    assert result.contradiction.least_factor is None
    assert str(result).startswith("These numbers do not fit together: with 30% positives")
    assert result.to_html()


def test_labels_that_favour_low_scores_are_found():
    labels, scores, _ = biased(favour=1 / 6, gap=-2.5)  # scores upside down
    result = pulens.evaluate(
        labels, scores, class_prior=0.2, scenario="case-control", threshold=-2.0, labelling="random"
    )
    assert result.contradiction is not None, "the world is meant to be contradicted"
    assert result.contradiction.favours == "low"
    assert "low scores were labelled at least" in result.to_dict()["verdict"][1]


def test_a_range_of_class_priors_is_cut_to_what_random_labels_allow():
    labels, scores, _ = biased()
    options = {"scenario": "case-control", "threshold": 2.0, "redraws": 200}
    limit = pulens.evaluate(
        labels, scores, class_prior=0.2, **options, labelling="random"
    ).contradiction.largest_possible_prior
    result = pulens.evaluate(labels, scores, class_prior=(limit / 2, 0.2), **options, labelling="random")
    assert result.contradiction is None
    assert result.class_prior.interval.low == pytest.approx(limit / 2)
    assert result.class_prior.interval.high == pytest.approx(limit, rel=1e-3)
    assert result.class_prior.value == pytest.approx(0.75 * limit, rel=1e-3)
    assert any("random labels allow" in text and "to 0.2" in text for text in result.warnings)
    assert result.estimates["precision"].basis == "random labelling"
    none = pulens.evaluate(labels, scores, class_prior=(0.19, 0.21), **options, labelling="random")
    assert none.contradiction is not None
    ends = [pulens.evaluate(labels, scores, class_prior=end, **options, labelling="random") for end in (0.19, 0.21)]
    for name in ("roc_auc", "precision", "recall"):
        for end in ends:
            assert none.estimates[name].interval.low <= end.estimates[name].interval.low + 1e-9
            assert none.estimates[name].interval.high >= end.estimates[name].interval.high - 1e-9


def test_the_largest_possible_prior_is_where_the_test_begins_to_fire():
    labels, scores, _ = biased(rows=12_000)  # more thresholds than are searched at first
    tally = Tally.from_arrays(labels, scores)
    top = largest_possible_prior(tally, 0.0, Scenario.CASE_CONTROL)

    def errors(share):
        from pulens.recovery.assumptions import Assumptions

        return impossible_rates(tally, Assumptions(share)).standard_errors

    assert errors(top) < CHANCE_LIMIT <= errors(1.01 * top)


def test_sensitivity_and_robustness_start_from_the_least_factor(contradicted):
    least, factor = contradicted.contradiction.least_factor, contradicted.contradiction.factor
    same = contradicted.sensitivity("precision", factor=factor)
    assert (same.interval.low, same.interval.high) == pytest.approx(
        (contradicted.estimates["precision"].interval.low, contradicted.estimates["precision"].interval.high), abs=1e-6
    )
    with pytest.raises(AssumptionError, match=r"at least .* times as often, got factor=1\.2"):
        contradicted.sensitivity("precision", factor=1.2)
    low, _ = contradicted.sensitivity_curve("roc_auc")
    assert low.x[0] == pytest.approx(least, rel=0.05)
    assert np.all(np.diff(low.y) <= 1e-6)
    limit = same.possible.low
    result = contradicted.robustness(f"precision > {limit}")
    assert result.factor == pytest.approx(factor, rel=0.01)
    failing = contradicted.robustness("recall > 0.999")
    assert failing.factor == failing.least_factor > 1
    assert "fails already where labelling is as near to random as these rows allow" in str(failing)
    assert "random labels are impossible here" in str(result)


@pytest.mark.parametrize("face", ["text", "markdown", "json", "page", "notebook"])
def test_every_face_leads_with_the_contradiction(contradicted, face):
    first = "These numbers do not fit together: with 20% positives, labels cannot be a random draw."
    said = {
        "text": lambda: " ".join(str(contradicted).split())[: len(first)],
        "markdown": lambda: contradicted.to_markdown().splitlines()[2].strip(),
        "json": lambda: contradicted.to_dict()["verdict"][0],
        "page": lambda: re.search(r'<p class="sentence">([^<]*)</p>', contradicted.to_html())[1],
        "notebook": lambda: re.search(r"<p><b>([^<]*)</b></p>", contradicted._repr_html_())[1],
    }[face]()
    assert said == first
    verdict = " ".join(contradicted.to_dict()["verdict"])
    assert "100% of the time" not in verdict
    assert "an audit" in verdict
    assert "Either at most" in verdict


def test_the_command_line_leads_with_it_and_takes_a_multiple(tmp_path, capsys):
    labels, scores, _ = biased()
    path = tmp_path / "scores.csv"
    path.write_text("label,score\n" + "\n".join(f"{a},{b}" for a, b in zip(labels, scores, strict=True)))
    command = [
        "evaluate",
        "--labelling",
        "random",
        str(path),
        "--class-prior",
        "0.2",
        "--scenario",
        "case-control",
        "--threshold",
        "2",
    ]
    main(command)
    assert capsys.readouterr().out.startswith("These numbers do not fit together: with 20% positives")
    main([*command, "--worlds", "5", "--json", "-"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["contradiction"]["factor"] == pytest.approx(5 * answer["contradiction"]["least_factor"])


def test_operating_points_show_the_table_of_the_nearest_world(contradicted):
    point = contradicted.at(2.0)
    hits, misses = float(point.table.true_positive[0]), float(point.table.false_negative[0])
    assert hits / (hits + misses) == pytest.approx(contradicted.estimates["recall"].value)
    assert contradicted.at(99.0)["recall"].interval.width > 0


# --- the test itself -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("labelled", "rows", "prior"), [(2000, 1000, 0.1), (50, 3000, 0.5)])
def test_a_pure_head_of_the_ranking_is_no_false_alarm(labelled, rows, prior):
    """None of three expected rows in a pure head is chance, not four standard errors."""
    rng = np.random.default_rng(1)
    fired = 0
    for _ in range(150):
        positive = rng.random(rows) < prior
        scores = np.concatenate([rng.normal(8, 1, labelled), rng.normal(8.0 * positive, 1)])
        evidence = pulens.evidence.gather(
            np.repeat([1, 0], [labelled, rows]), scores, class_prior=prior, scenario="case-control"
        )
        fired += isinstance(find_contradiction(evidence), Contradiction)
    assert fired <= 1


def test_how_rare_an_excess_is_said_to_be_is_no_understatement():
    """Worst case: negatives at the bottom, so that the false positive rate is 0 all along."""
    from pulens.recovery.assumptions import Assumptions

    rng = np.random.default_rng(0)
    said = []
    for _ in range(400):
        positive = rng.random(400) < 0.4
        scores = np.concatenate([rng.normal(0, 1, 150), np.where(positive, rng.normal(0, 1, 400), -99.0)])
        tally = Tally.from_arrays(np.repeat([1, 0], [150, 400]), scores)
        errors = impossible_rates(tally, Assumptions(0.4)).standard_errors
        said.append(chance_of_excess(tally, Assumptions(0.4), errors))
    for level in (0.3, 0.1, 0.05):
        share = np.mean(np.array(said) <= level)
        assert share <= level
    assert np.mean(np.array(said) <= 0.3) > 0.01  # and it is not empty talk


def audited(rng, *, gap=3.0, labelled=2000, rows=20_000, prior=0.2, checked=200, favour=1.0):
    """Labels and scores of case-control data, and how many of so many checked unlabelled rows are positive."""
    result = rng.normal(gap, 1, 6 * labelled)
    result = result[rng.random(result.size) < np.where(result > gap, 1.0, 1 / favour)][:labelled]
    positive = rng.random(rows) < prior
    scores = np.concatenate([result, rng.normal(gap * positive, 1)])
    hits = int(rng.choice(positive, checked, replace=False).sum())
    return np.repeat([1, 0], [labelled, rows]), scores, (hits, checked)


def fired_share(sets, **world):
    rng = np.random.default_rng(7)
    fired = []
    for _ in range(sets):
        labels, scores, audit = audited(rng, **world)
        evidence = pulens.evidence.gather(labels, scores, audit=audit, scenario="case-control")
        fired.append(find_contradiction(evidence) is not None)
    return float(np.mean(fired))


@pytest.mark.parametrize("gap", [3.0, 8.0])
def test_an_audit_that_missed_the_class_prior_by_chance_is_no_contradiction(gap):
    assert fired_share(150, gap=gap) <= 0.02  # with the audited share taken for exact: 0.17 and 0.35


def test_uneven_labels_still_contradict_an_audited_class_prior():
    assert fired_share(60, favour=6.0) >= 0.5


def test_an_audit_of_endless_rows_contradicts_as_an_exact_class_prior_does():
    """The prior's doubt is all that stands between the two: with none left both fire at four standard errors."""
    labels, scores, _ = audited(np.random.default_rng(3), gap=3.0)
    for share in (0.19, 0.2, 0.21, 0.22, 0.24):
        exact, sure = (
            find_contradiction(pulens.evidence.gather(labels, scores, scenario="case-control", **given))
            for given in ({"class_prior": share}, {"audit": (round(share * 10**8), 10**8)})
        )
        assert (exact is None) == (sure is None)


def test_rates_that_a_doubtful_class_prior_explains_are_a_note_and_leave_ordinary_intervals():
    rng = np.random.default_rng(0)
    while True:
        labels, scores, audit = audited(rng)
        exact = pulens.evidence.gather(labels, scores, class_prior=audit[0] / audit[1], scenario="case-control")
        if find_contradiction(exact) is not None:
            break
    result = pulens.evaluate(
        labels, scores, audit=audit, scenario="case-control", threshold=2.0, redraws=200, labelling="random"
    )
    assert result.contradiction is None
    note = next(notice for notice in result.notices if notice.code == "impossible-rates")
    assert note.severity == pulens.notice.Severity.NOTE
    assert "own uncertainty explains it" in note.message
    assert result.estimates["recall"].interval.width < 0.1
    assert result.estimates["precision"].basis == "random labelling"


def test_in_one_sample_a_chance_number_of_labels_is_no_contradiction_of_a_known_class_prior():
    """Few positives are hidden, and the class prior of the population tells their number only up to chance."""
    rng = np.random.default_rng(0)
    fired = 0
    for _ in range(200):
        positive = rng.random(1650) < 0.1
        labels = (positive & (rng.random(1650) < 0.9)).astype(int)
        scores = rng.normal(6.0 * positive)
        if labels.mean() < 0.1:
            evidence = pulens.evidence.gather(labels, scores, class_prior=0.1, scenario="single-set")
            fired += find_contradiction(evidence) is not None
    assert fired <= 1  # with the share among the unlabelled rows taken for exact: 4


def test_a_range_contradicts_only_where_its_lower_end_does():
    labels, scores, _ = biased()
    for reach, expected in (((0.02, 0.2), False), ((0.19, 0.2), True)):
        evidence = pulens.evidence.gather(labels, scores, class_prior=reach, scenario="case-control")
        assert (find_contradiction(evidence) is not None) == expected


@pytest.mark.parametrize(("class_prior", "often"), [(0.22, None), (0.24, 12)])
def test_a_small_excess_says_how_rare_it_is_and_nothing_where_it_is_usual(class_prior, often):
    """It was "2.7 standard errors: ... many samples show as much or more": a note that nothing happened."""
    labels, scores, _ = biased(seed=2, favour=1.0, gap=5.0, rows=1000, labelled=100)
    given = {"class_prior": class_prior, "scenario": "case-control", "threshold": 3.0, "redraws": 100}
    result = pulens.evaluate(labels, scores, labelling="random", **given)
    found = [str(notice) for notice in result.notices if notice.code == "impossible-rates"]
    if often is None:
        assert not found
        return
    assert "by chance" not in found[0]
    assert (
        f"with random labels and this class prior at most about 1 sample in {often} shows as much or more" in found[0]
    )


# --- no false certainty ----------------------------------------------------------------------------------------------


def many_tallies(number):
    rng = np.random.default_rng(20)
    for _ in range(number):
        labelled, rows = int(rng.choice([3, 20, 80, 400])), int(rng.choice([20, 150, 1200]))
        share, gap = float(rng.choice([0.05, 0.2, 0.5, 0.8])), float(rng.choice([0, 1, 2, 4, 8]))
        positive = rng.random(rows) < share
        given = min(share * rng.uniform(0.5, 3.0), 0.95)
        scores = np.concatenate([rng.normal(gap, 1, labelled), rng.normal(gap * positive, 1)])
        if rng.random() < 0.4:
            scores = np.round(scores)
        labels = np.repeat([1, 0], [labelled, rows])
        if rng.random() < 0.2:
            labels[-rows // 4 :] = np.where(positive[-rows // 4 :], 0, -1)
        threshold = float(np.quantile(scores, rng.random()))
        prior = given if rng.random() < 0.8 else (0.8 * given, given)
        yield Tally.from_arrays(labels, scores), prior, str(rng.choice(["case-control", "single-set"])), threshold


@pytest.mark.slow
def test_no_cut_or_contradicted_number_has_an_interval_narrower_than_a_thousandth(everything):
    fired = cut = 0
    count = 1000 if everything else 200
    for tally, prior, scenario, threshold in many_tallies(count):
        result = pulens.evaluate(
            tally,
            unlabelled_prior=prior,
            scenario=scenario,
            threshold=threshold,
            redraws=100,
            confidence=0.95,
            labelling="random",
        )
        table = pulens.recovery.recover(result.tally, result.evidence.assumptions)
        fired += result.contradiction is not None
        clipped = not table.is_possible.all()
        cut += clipped
        here = pulens.recovery.recover_at(result.tally, result.evidence.assumptions, threshold).is_possible.all()
        for name in result.estimates:  # each is found when it is asked for
            at_edge = clipped if METRICS[name].reads == "ranking" else not here
            least = confirmed_share(
                METRICS[name], result.evidence, threshold
            )  # every row flagged may be a labelled one
            if (
                (result.contradiction is not None or at_edge)
                and not result.estimates[name].undefined_because
                and least < 1
            ):
                assert result.estimates[name].interval.width >= 1e-3 - 1e-12, result.estimates[name]
    assert fired > count / 20
    assert cut > 0.3 * count


@pytest.mark.parametrize("labelling", ["random", "practice"])
@pytest.mark.parametrize("asked", [{}, {"class_prior": (0.14, 0.4)}])
def test_precision_is_not_said_to_be_below_what_is_confirmed(labelling, asked):
    """In one sample the labelled rows are positives, however they came to be labelled."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        positive = rng.random(400) < 0.3
        scores, labels = rng.normal(2 * positive), (positive & (rng.random(400) < 0.4)).astype(int)
        told = {"scenario": "single-set", "threshold": 1.0, "redraws": 100, "labelling": labelling}
        result = pulens.evaluate(labels, scores, **told, **asked).estimates["precision"]
        assert result.interval.low >= labels[scores >= 1].mean() - 1e-12


def test_a_clipped_area_keeps_the_spread_of_the_sample():
    """An area of 1.02 +- 0.02 counts as one of 1 +- 0.02, so that the interval is [0.98, 1] and not [1, 1]."""
    rng = np.random.default_rng(5)
    widths = []
    for _ in range(200):
        positive = rng.random(600) < 0.3
        scores = np.concatenate([rng.normal(6, 1, 60), rng.normal(6.0 * positive, 1)])
        labels = np.repeat([1, 0], [60, 600])
        result = pulens.metrics.roc_auc(labels, scores, class_prior=0.3, scenario="case-control", confidence=0.95)
        if result.value == 1.0 and result.basis == "random labelling":
            widths.append(result.interval.width)
    assert len(widths) > 20
    assert min(widths) > 0.005


def steps(seed, *, scenario, prior=0.1, rows=6600, labelled=600, gap=3.0):
    """Positives above their median are labelled three times as often; in one sample all of them are labelled."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < prior
    scores = rng.normal(gap * positive, 1)
    if scenario == "single-set":
        return (positive & (rng.random(rows) < np.where(scores > gap, 1.0, 1 / 3))).astype(int), scores, positive
    known = rng.normal(gap, 1, 6 * labelled)
    known = known[rng.random(known.size) < np.where(known > gap, 1.0, 1 / 3)][:labelled]
    labels = np.repeat([1, 0], [known.size, rows])
    return labels, np.concatenate([known, scores]), np.concatenate([np.ones(known.size, bool), positive])


def test_in_one_sample_the_chance_number_of_flagged_rows_moves_the_largest_recall():
    for seed in range(5):
        labels, scores, _ = steps(seed, scenario="single-set", rows=1650)
        result = pulens.evaluate(
            labels, scores, class_prior=0.1, scenario="single-set", threshold=3.0, redraws=200, labelling="random"
        )
        if result.contradiction is None:
            continue
        recall = result.sensitivity("recall", factor=3)
        flagged = np.mean(scores >= 3.0)
        error = np.sqrt(flagged * (1 - flagged) / scores.size) / 0.1  # all that is flagged is positive
        assert recall.possible.high == pytest.approx(flagged / 0.1)
        assert recall.interval.high - recall.possible.high > 1.9 * error


def test_an_audited_class_prior_that_needs_a_larger_factor_leaves_the_rest_of_its_interval():
    labels, scores, _ = steps(0, scenario="case-control")
    result = pulens.evaluate(
        labels, scores, audit=(34, 200), scenario="case-control", threshold=3.0, redraws=200, labelling="random"
    )
    assert result.contradiction.least_factor > 3
    at_value = pulens.evaluate(
        labels, scores, class_prior=0.17, scenario="case-control", threshold=3.0, redraws=200, labelling="random"
    )
    with pytest.raises(AssumptionError, match="at least"):
        at_value.sensitivity("recall", factor=3)
    lowest = result.class_prior.interval.low
    at_low = pulens.evaluate(
        labels, scores, class_prior=lowest, scenario="case-control", threshold=3.0, redraws=200, labelling="random"
    )
    for name in ("recall", "roc_auc"):
        over, alone = (each.sensitivity(name, factor=3).interval for each in (result, at_low))
        assert over.low <= alone.low + 1e-5
        assert over.high >= alone.high - 1e-5


def test_an_end_moved_by_labelling_has_its_own_sampling_error_where_the_value_is_cut():
    labels, scores, _ = steps(0, scenario="case-control")
    result = pulens.evaluate(
        labels, scores, audit=(20, 200), scenario="case-control", threshold=3.0, redraws=200, labelling="random"
    )
    rate = np.mean(scores[labels == 1] >= 3.0)
    assert result.contradiction is None
    assert result.estimates["recall"].value < rate - 0.02  # cut at the rows there are
    error = 3 / (rate + 3 * (1 - rate)) ** 2 * np.sqrt(rate * (1 - rate) / 600)
    recall = result.sensitivity("recall", factor=3)
    assert recall.possible.low == pytest.approx(rate / (rate + 3 * (1 - rate)))
    assert recall.possible.low - recall.interval.low > 1.6 * error


def test_the_worlds_of_a_ranking_do_not_depend_on_the_threshold_asked_about_beside_it():
    labels, scores, _ = biased(rows=2000, labelled=300)
    asked = {"class_prior": 0.2, "scenario": "case-control", "redraws": 100}
    first, second = (
        pulens.evaluate(labels, scores, threshold=each, **asked, labelling="random") for each in (-5.0, 2.01)
    )
    assert first.contradiction is not None
    for name in ("average_precision", "roc_auc"):
        assert first[name] == second[name]
