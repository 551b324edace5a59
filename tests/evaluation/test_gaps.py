"""Gaps between groups: worked examples, what needs a class prior, what is refused."""

from __future__ import annotations

import json
import pickle

import numpy as np
import polars
import pytest

import pulens
from pulens.errors import InputError, PulensError
from pulens.groups.common_prior import CommonPrior
from pulens.report.gaps import gaps_text


def rows_of(**groups: tuple[int, int, int, int]) -> polars.DataFrame:
    """Groups as (labelled found, labelled, unlabelled flagged, unlabelled); found and flagged rows score 1."""
    score, label, group = [], [], []
    for name, (result, labelled, flagged, unlabelled) in groups.items():
        score += [1] * result + [0] * (labelled - result) + [1] * flagged + [0] * (unlabelled - flagged)
        label += [1] * labelled + [0] * unlabelled
        group += [name] * (labelled + unlabelled)
    return polars.DataFrame({"score": score, "label": label, "group": group})


TWO = rows_of(north=(81, 100, 300, 900), south=(32, 50, 150, 950))
MANY = rows_of(
    a=(30, 40, 100, 400),
    b=(60, 90, 200, 600),
    c=(14, 28, 80, 300),
    d=(45, 50, 300, 500),
    e=(2, 3, 10, 60),
    f=(0, 0, 5, 40),
)


def gaps(table, metric="recall", **options):
    return pulens.gaps_by(table, "group", metric, **{"threshold": 1, **options}, labelling="random")


def test_worked_gap_in_words_and_numbers():
    result = gaps(TWO)
    (gap,) = result.differences
    assert (gap.first, gap.second) == ("north", "south")
    assert (gap.value, gap.low, gap.high) == pytest.approx((0.17, 0.021089, 0.323508), abs=5e-7)
    assert result.critical_value == pytest.approx(1.959964, abs=1e-6)
    assert result.verdict == "north finds 81%, south 64%: 2 to 32 points apart (all pairs considered)."


def test_the_test_of_equality_agrees_with_the_intervals():
    result = gaps(TWO)
    again = gaps(TWO, confidence=1 - result.p_value_equal)
    assert again.differences[0].low == pytest.approx(0, abs=1e-6)
    for table in (TWO, MANY):
        answer = gaps(table)
        assert (answer.p_value_equal < 0.05) == any(gap.is_clear for gap in answer.differences)


def test_rates_of_labels_that_differ_between_groups_change_no_recall():
    """Half of the labels of one group taken away at random among found and missed: the same recalls and gap."""
    fewer = rows_of(north=(81, 100, 300, 900), south=(16, 25, 166, 975))
    assert gaps(fewer).differences[0].value == pytest.approx(gaps(TWO).differences[0].value)


def test_worst_group_stands_first_and_small_ones_are_shown_not_tested():
    result = gaps(MANY)
    assert [group.name for group in result.groups] == ["c", "b", "e", "a", "d", "f"]
    untested = {group.name: group.untested for group in result.groups if group.untested}
    assert untested == {"e": "fewer than 5 labelled rows", "f": "no labelled row"}
    assert len(result.differences) == 6
    assert result.groups[0].flagged == pytest.approx((14 + 80) / 328)
    assert "e *" in str(result)


def test_largest_gap_has_the_largest_ends_of_all_pairs():
    result = gaps(MANY)
    largest = result.largest
    assert (largest.first, largest.second) == ("d", "c")
    assert largest.value == pytest.approx(0.9 - 0.5)
    assert largest.low == max(gap.low for gap in result.differences)
    assert largest.high == max(gap.high for gap in result.differences)
    equal = gaps(rows_of(a=(10, 20, 5, 50), b=(10, 20, 5, 50)))
    assert (equal.largest.low, equal.largest.value, equal.p_value_equal) == (0, 0, 1)
    assert "no gap between groups is clear" in equal.verdict


def test_each_group_stands_beside_all_others_together():
    result = {gap.first: gap for gap in gaps(MANY).against_rest}
    others = (60 + 14 + 45) / (90 + 28 + 50)
    assert result["a"].value == pytest.approx(30 / 40 - others)
    given = pulens.evaluate_by(
        MANY, "group", class_prior=dict.fromkeys("abcdef", 0.2), threshold=1, labelling="random"
    ).gaps()
    assert given.rest_weighed_by == "positives"
    weights = np.array([690, 328, 550])
    assert {gap.first: gap for gap in given.against_rest}["a"].value == pytest.approx(
        0.75 - weights @ [60 / 90, 0.5, 0.9] / weights.sum()
    )


def test_two_groups_beside_each_other_are_each_others_rest():
    result = gaps(TWO)
    rest = {gap.first: gap for gap in result.against_rest}
    assert (rest["north"].low, rest["north"].high) == pytest.approx(
        (result.differences[0].low, result.differences[0].high), abs=1e-9
    )


def test_worked_turn_of_false_positive_rates():
    pair = CommonPrior(("x", "y"), np.array([0.8, 0.6]), np.array([0.5, 0.4]))
    assert pair.turns("false_positive_rate", 0, 1)[0] == pytest.approx(0.5, abs=1e-9)
    assert pair.turns("accuracy", 0, 1)[0] == pytest.approx(0.25, abs=1e-9)
    assert np.isnan(pair.turns("precision", 0, 1)[0])
    assert pair.ratio_of_precisions(0, 1) == pytest.approx((0.8 / 0.5) / (0.6 / 0.4))


def test_a_turn_beyond_what_both_groups_allow_is_none():
    pair = CommonPrior(("x", "y"), np.array([0.9, 0.5]), np.array([0.4, 0.1]))
    assert pair.largest == pytest.approx([4 / 9, 0.2])
    assert np.isnan(pair.turns("false_positive_rate", 0, 1)[0])  # 0.3 / 0.4, but the second group allows 0.2


def test_values_at_a_common_prior_are_those_of_evaluations_with_it():
    table = rows_of(x=(40, 50, 400, 950), y=(30, 50, 250, 950))
    result = pulens.evaluate_by(table, "group", class_prior=0.3, same_prior=True, threshold=1, labelling="random")
    common = result.gaps().common_prior
    for metric in ("false_positive_rate", "precision", "accuracy"):
        values = common.values(metric, np.full(2, 0.3))
        own = result.gaps(metric)
        assert own.needs_prior
        assert {group.name: group.estimate.value for group in own.groups} == pytest.approx(
            dict(zip("xy", values, strict=True)), abs=1e-12
        )


def test_which_gaps_need_a_class_prior():
    result = pulens.evaluate_by(
        MANY, "group", class_prior=dict.fromkeys("abcdef", 0.3), threshold=1, labelling="random"
    )
    names = ("recall", "predicted_positive_rate", "lift", "roc_auc", "f1")
    needs = {name: result.gaps(name).needs_prior for name in names}
    assert needs == {
        "recall": False,
        "predicted_positive_rate": False,
        "lift": False,
        "roc_auc": True,
        "f1": True,
    }
    assert not result.gaps("roc_auc").order_needs_prior
    assert "the order of groups needs none" in " ".join(str(result.gaps("roc_auc")).split())


def test_noisy_labels_make_recall_need_a_class_prior():
    prior = dict.fromkeys("abcdef", 0.3)
    result = pulens.evaluate_by(
        MANY, "group", class_prior=prior, threshold=1, label_noise=0.05, labelling="random"
    ).gaps("recall")
    assert result.needs_prior
    assert result.common_prior is None


def test_a_class_prior_given_as_a_range_lets_nothing_cancel():
    wide = pulens.evaluate_by(
        TWO, "group", class_prior={"north": (0.2, 0.3), "south": (0.1, 0.15)}, threshold=1, labelling="random"
    )
    result = wide.gaps("precision")
    ends = {group.name: group.estimate.interval for group in result.groups}
    own = {name: wide.segments[name].estimates["precision"].interval for name in ends}
    (gap,) = result.differences
    assert gap.high >= own[gap.first].high - own[gap.second].low - 1e-9
    assert gap.low <= own[gap.first].low - own[gap.second].high + 1e-9


def test_labels_that_cannot_be_random_are_not_tested():
    table = rows_of(x=(95, 100, 20, 900), y=(30, 60, 200, 900), z=(40, 60, 200, 900))
    result = pulens.evaluate_by(
        table, "group", class_prior={"x": 0.5, "y": 0.2, "z": 0.2}, threshold=1, labelling="random"
    ).gaps()
    assert {group.name: group.untested for group in result.groups}["x"] == (
        "its labels cannot be a random draw at its class prior"
    )
    assert len(result.differences) == 1


def test_counting_alone_and_a_whole_evaluation_agree():
    given = pulens.evaluate_by(MANY, "group", class_prior=dict.fromkeys("abcdef", 0.2), threshold=1, labelling="random")
    assert given.gaps().differences == gaps(MANY).differences
    assert "f" in given.skipped  # and still shown
    assert "f" in [group.name for group in given.gaps().groups]


def test_every_row_labelled_gives_the_plain_shares_without_a_prior():
    rng = np.random.default_rng(1)
    group, truth = rng.integers(0, 4, 2000), rng.random(2000) < 0.4
    score = rng.normal(1.2 * truth)
    table = polars.DataFrame({"score": score, "label": np.where(truth, 1, -1), "group": group})
    result = pulens.evaluate_by(table, "group", threshold=0.5, negative=-1, labelling="random")
    flagged = score >= 0.5
    expected = {
        "recall": lambda own: flagged[own & truth].mean(),
        "false_positive_rate": lambda own: flagged[own & ~truth].mean(),
        "predicted_positive_rate": lambda own: flagged[own].mean(),
    }
    for metric, share in expected.items():
        answer = result.gaps(metric)
        assert not answer.needs_prior
        values = {one.name: one.estimate.value for one in answer.groups}
        assert values == pytest.approx({name: share(group == name) for name in range(4)}, abs=1e-12)
        assert answer.largest.value == pytest.approx(max(values.values()) - min(values.values()), abs=1e-12)


def test_columns_asked_for_in_one_call_share_the_error_and_are_named():
    table = TWO.with_columns(sex=polars.Series(["f", "m"] * (len(TWO) // 2)))
    both = pulens.gaps_by(table, ["group", "sex"], threshold=1, labelling="random")
    alone = gaps(table)
    assert both["group"].differences[0].low < alone.differences[0].low
    assert both["group"].p_value_equal == pytest.approx(2 * alone.p_value_equal, rel=1e-9)
    wanted = pulens.evaluate_by(table, "group", threshold=1, class_prior=0.2, same_prior=True, labelling="random")
    assert wanted.gaps(columns=["group", "sex"]).differences == both["group"].differences
    assert "2 columns were asked for (group, sex)" in str(both)
    assert list(both.to_dict()["gaps_by_column"]) == ["group", "sex"]


def test_an_audit_of_so_many_positives_would_settle_the_gap():
    audit = gaps(TWO).audit
    share = 32.5 / 51
    assert audit.points == 0.17
    assert audit.positives == np.ceil(2 * (1.959964 / 0.17) ** 2 * share * (1 - share))
    assert audit.missing == {"north": 0, "south": audit.positives - 50}
    prior = pulens.evaluate_by(TWO, "group", class_prior={"north": 0.3, "south": 0.2}, threshold=1, labelling="random")
    share = prior["south"].class_prior.unlabelled
    assert prior.gaps().audit.rows["south"] == np.ceil(audit.missing["south"] / share)


def test_no_group_is_asked_for_more_rows_than_it_has():
    table = rows_of(north=(40, 100, 400, 950), south=(25, 50, 120, 150))
    result = pulens.evaluate_by(
        table, "group", class_prior={"north": 0.3, "south": 0.28}, threshold=1, labelling="random"
    ).gaps()
    audit = result.audit
    unlabelled = 150
    assert audit.missing["south"] > audit.too_few["south"] > 0
    assert audit.rows["south"] == unlabelled
    words = " ".join(str(result).split())
    assert f"its 150 unlabelled rows hold about {audit.too_few['south']} in all" in words
    told = {one["group"]: one for one in result.to_dict()["gaps"]["audit"]["groups"]}
    assert (told["south"]["rows_to_check"], told["south"]["enough_rows"]) == (unlabelled, False)


def test_json_has_the_keys_that_were_promised():
    answer = json.loads(json.dumps(gaps(MANY).to_dict(), allow_nan=False))["gaps"]
    promised = {"metric", "simultaneous", "critical_value", "p_value_equal", "groups", "differences", "largest"}
    assert {*promised, "needs_prior"} <= set(answer)
    assert answer["simultaneous"] is True
    assert {"group", "labelled", "recall"} <= set(answer["groups"][0])
    assert {"value", "low", "high"} <= set(answer["groups"][0]["recall"])
    assert {"first", "second", "value", "low", "high"} <= set(answer["differences"][0])
    assert answer["groups"][-1]["recall"]["value"] is None
    table = rows_of(x=(40, 50, 400, 950), y=(30, 50, 250, 950))
    turning = pulens.evaluate_by(
        table, "group", class_prior={"x": 0.3, "y": 0.2}, threshold=1, labelling="random"
    ).gaps("accuracy")
    assert turning.to_dict()["gaps"]["differences"][0]["turns_at"] == pytest.approx(0.16 / 0.2 / 2)


def test_answers_can_be_kept_and_tabled():
    result = pulens.evaluate_by(
        MANY, "group", class_prior=dict.fromkeys("abcdef", 0.2), threshold=1, labelling="random"
    )
    kept = pickle.loads(pickle.dumps(result.gaps()))
    assert kept.differences == result.gaps().differences
    frame = result.to_frame()
    assert frame.columns[:3] == ["group", "labelled", "unlabelled"]
    assert frame["recall"].to_list() == [result[name].estimates["recall"].value for name in frame["group"]]
    assert list(result.to_frame("pandas")["recall_low"]) == frame["recall_low"].to_list()
    assert result.gaps().to_frame("pyarrow").num_rows == 6
    with pytest.raises(InputError, match="tables are made by 'polars', 'pandas', 'pyarrow', got 'excel'"):
        result.to_frame("excel")


def test_a_column_named_like_a_count_keeps_both():
    table = MANY.rename({"group": "labelled"})
    result = pulens.evaluate_by(
        table, "labelled", class_prior=dict.fromkeys("abcdef", 0.2), threshold=1, labelling="random"
    )
    assert result.to_frame()["segment"].to_list() == list("abcde")
    assert result.to_frame()["labelled"].to_list() == [40, 90, 28, 50, 3]


def test_a_single_group_has_nothing_to_compare():
    result = gaps(rows_of(a=(10, 20, 5, 50), b=(1, 2, 5, 50)))
    assert result.verdict == "Only one group has 5 labelled rows or more: there is nothing to compare."
    assert (result.critical_value, result.p_value_equal, result.largest, result.audit) == (None, None, None, None)
    assert json.dumps(result.to_dict(), allow_nan=False)
    assert "nothing to compare" in result.to_html()
    nobody = gaps(rows_of(a=(1, 2, 5, 50), b=(1, 2, 5, 50)))
    assert nobody.verdict.startswith("No group has 5 labelled rows or more")


def test_each_groups_own_threshold_is_refused():
    result = pulens.evaluate_by(TWO, "group", class_prior=0.3, same_prior=True, threshold="each", labelling="random")
    with pytest.raises(InputError, match="gaps compare groups at one threshold, and with threshold='each'"):
        result.gaps()
    assert result.gaps("roc_auc").threshold is None


def test_too_many_groups_are_refused_with_their_number_and_a_way_out():
    many = 3000
    table = polars.DataFrame(
        {"score": [1, 0] * 5 * many, "label": [1, 1] * 5 * many, "group": np.repeat(np.arange(many), 10)}
    )
    said = r"3,000 groups with 5 labelled rows or more.*4,498,500 pairs.*100 groups.*--where"
    with pytest.raises(InputError, match=said):
        gaps(table)


def test_many_tiny_groups_beside_a_few_large_ones_stay_readable():
    tiny = rows_of(**{f"t{place}": (1, 2, 1, 3) for place in range(3000)})
    result = gaps(polars.concat([TWO, tiny]))
    assert len(result.groups) == 3002
    assert len(str(result).splitlines()) <= 24
    text = gaps_text(result, explain=True)
    assert text.count("\n") < 60
    assert "2,990 more groups are not tested; all of them are in the JSON." in text


def test_unknown_metrics_columns_and_confidence_are_refused():
    with pytest.raises(PulensError, match="recal"):
        gaps(TWO, "recal")
    with pytest.raises(InputError, match="each once"):
        pulens.gaps_by(TWO, ["group", "group"], threshold=1, labelling="random")
    with pytest.raises(PulensError, match=r"Write 95% as 0\.95"):
        gaps(TWO, confidence=95)


def test_no_line_of_the_text_is_longer_than_a_terminal():
    for metric in ("recall", "false_positive_rate", "lift"):
        result = pulens.evaluate_by(
            MANY, "group", class_prior=dict.fromkeys("abcdef", 0.2), threshold=1, labelling="random"
        ).gaps(metric)
        assert max(map(len, str(result).splitlines())) <= 80


def test_class_priors_implied_by_one_label_frequency_pull_groups_apart():
    """Labelled rows of one group make the class priors of all others smaller: of two groups, spreads add up."""
    implied = pulens.evaluate_by(TWO, "group", class_prior=0.2, threshold=1, labelling="random")
    (gap,) = implied.gaps("precision").differences
    own = {name: implied.segments[name].estimates["precision"].interval for name in ("north", "south")}
    assert gap.low == pytest.approx(own[gap.first].low - own[gap.second].high, abs=1e-9)
    assert gap.high == pytest.approx(own[gap.first].high - own[gap.second].low, abs=1e-9)


def test_columns_of_the_text_stay_apart_for_numbers_that_are_no_shares():
    result = pulens.evaluate_by(
        MANY, "group", class_prior=dict.fromkeys("abcdef", 0.2), threshold=1, labelling="random"
    ).gaps("lift")
    line = next(line for line in str(result).splitlines() if line.startswith("a "))
    assert len(line.split()) == 9  # name, labelled, value, interval, flagged, the gap to the rest, its ends
