"""Groups on the one page are those of ``evaluate_by``: numbers to 1e-9, sentences and tables to the letter."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars
import pytest
from jinja2 import Environment, PackageLoader, StrictUndefined

from one_file_driver import answers_of, differences, file, groups
from pulens.doors.segments import evaluate_by
from pulens.report.gaps_page import _part
from pulens.report.segments_page import _assumptions, shown_of

COLUMN = "the <b>site</b>"
MACROS = ("segment_sentences", "segment_rows", "segments_beside")


def worlds_of_groups():
    """Rows in groups of many kinds: one or many, large and tiny, without a value, named in letters beyond 16 bits."""
    rng = np.random.default_rng(5)
    names = np.array([None, "b", "a", "C  d-e", "\U0001f600", "\uff5e", "<i>&"], object)
    for number in range(36):
        size, many = int(rng.integers(60, 400)), int(rng.integers(2, 8))
        if number == 35:
            size, many = 3000, 6  # Poisson redraws
        place = rng.choice(many, size, p=rng.dirichlet(np.full(many, 2.0)))
        positive = rng.random(size) < rng.uniform(0.15, 0.5, many)[place]
        labels = (positive & (rng.random(size) < 0.4)).astype(int)
        if number % 3 == 0:
            labels[~positive & (rng.random(size) < 0.2)] = -1
        if number % 8 == 6:
            labels[(place == 1) & (labels == 1)] = 0  # a group without labelled rows
        if number % 8 == 3:
            labels[(place == 0) & (labels == 0)] = -1  # a group whose classes are all known
        scores = rng.normal(positive * rng.uniform(0, 2))
        if number % 4 == 1:
            scores = np.round(scores, 1) + 0.0
        scenario = "single-set" if number % 4 else "case-control"
        prior = float(rng.uniform(0.05, 0.25))
        if scenario == "single-set":
            prior = float(((labels == 1).sum() + prior * (labels == 0).sum()) / size)
        same = scenario == "case-control" or number % 6 == 5
        given = {"class_prior": prior if number % 5 else (prior, min(1.2 * prior, 0.9))}
        if number % 7 == 3 and not same:
            given = {"audit": (int(rng.integers(3, 12)), 60)}
        threshold = None if number % 3 else float(rng.choice(scores))
        asked = {**given, "scenario": scenario, "threshold": threshold, "same_prior": same}
        yield labels, scores, names[place].tolist(), asked


def found_by_python(labels, scores, names, **asked):
    table = {"score": scores, "label": labels, COLUMN: polars.Series(names, dtype=polars.String)}
    return evaluate_by(polars.DataFrame(table), COLUMN, score="score", label="label", **asked)


@pytest.fixture(scope="module")
def shown():
    worlds = list(worlds_of_groups())
    answers = answers_of(groups(*rows, column=COLUMN, **asked) for *rows, asked in worlds)
    with pytest.MonkeyPatch.context() as patch:
        # equal draws of an area's mixture: numpy orders them as the processor likes, which moves an end by up to 1e-5
        patch.setattr(np, "argsort", partial(np.argsort, kind="stable"))
        found = [found_by_python(*rows, **asked) for *rows, asked in worlds]
        for each in found:
            each.to_dict()
    return list(zip(found, answers, strict=True))


def known(found):
    """Segments that random labels can have given: of others Python shows possible worlds, and the page says why not."""
    return {name for name, evaluation in found.items() if evaluation.contradiction is None}


@pytest.mark.slow
def test_numbers_of_groups_have_the_keys_and_values_of_the_command_line(shown):
    sources, methods, refused = set(), set(), 0
    for number, (found, answer) in enumerate(shown):
        expected = found.to_dict()
        kept = known(found)
        refused += len(found) - len(kept)
        expected["segments"] = [each for each in expected["segments"] if each["segment"] in kept]
        skipped = [each for each in answer["answer"]["skipped"] if each["segment"] not in found]
        got = {**answer["answer"], "skipped": skipped}
        assert list(got) == list(expected)
        assert differences(got, expected, f"world {number}") == []
        sources |= {each["prior_source"] for each in expected["segments"]}
        methods |= {each["estimates"]["precision"].get("method") for each in expected["segments"]}
    assert sources == {"implied", "same for all", "counted"}
    assert {"Jeffreys, class prior drawn", "redraws with the threshold chosen anew, class prior drawn"} <= methods
    assert {"Jeffreys, over the range of the class prior", "Jeffreys"} <= methods
    assert refused < 10


def test_the_table_of_groups_reads_the_same_to_the_letter(shown):
    environment = Environment(
        loader=PackageLoader("pulens.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    macros = environment.get_template("segment_parts.html.j2").module
    alike = 0
    for found, answer in shown:
        if len(known(found)) < len(found):
            continue
        expected = shown_of(found)
        assert answer["counts"] == expected["counts"]
        assert answer["page"] == [str(getattr(macros, name)(expected)) for name in MACROS]
        random, priors = _assumptions(found, next(iter(found.segments.values())))[:2]
        assert answer["assumptions"][-2]["statement"] == random.statement
        assert answer["assumptions"][-1] == {
            "statement": priors.statement,
            "broken_by": priors.broken_by,
            "effect": priors.effect,
        }
        alike += 1
    assert alike > 25


def sorted_by(shown):
    """The same with numbers in place of the text that rows are sorted by: where it is zero, digits are rounding."""
    if isinstance(shown, list | tuple):
        return [sorted_by(each) for each in shown]
    if not isinstance(shown, dict):
        return shown
    return {key: float(each or -9) if key == "sorts" else sorted_by(each) for key, each in shown.items()}


def test_gaps_between_groups_hold_for_all_of_them_at_once_as_python_says(shown):
    compared, largest = 0, 0
    for number, (found, answer) in enumerate(shown):
        if len(known(found)) < len(found):
            continue
        gaps = found.gaps("recall")
        expected = {**_part(gaps, 0), "confidence": "95%"}
        for absent in ("place", "tries", "audit"):
            expected.pop(absent)
        assert set(answer["gaps"]) == set(expected)
        assert differences(sorted_by(answer["gaps"]), sorted_by(expected), f"world {number}") == []
        if answer["ofGaps"] is None:  # an audit
            continue
        told = [(gap.first, gap.second, gap.value, gap.low, gap.high) for gap in gaps.differences]
        by_ends = sorted(answer["ofGaps"]["differences"], key=str)
        assert differences(by_ends, sorted(map(list, told), key=str), f"world {number}") == []
        rest = {gap.first: (gap.value, gap.low, gap.high) for gap in gaps.against_rest}
        assert differences({name: ends for name, _, *ends in answer["ofGaps"]["rest"]}, rest) == []
        if gaps.p_value_equal is not None:
            assert answer["ofGaps"]["p"] == pytest.approx(gaps.p_value_equal, abs=1e-8)
        compared += len(gaps.differences)
        largest = max(largest, len(gaps.tested))
    assert compared > 80
    assert largest >= 6


def test_a_group_that_random_labels_cannot_have_given_is_left_out_with_the_reason():
    labels = np.r_[np.repeat([1, 0], [100, 900]), np.repeat([1, 0], [100, 900])]
    odd = np.r_[np.full(100, 2.0), np.full(20, 2.0), np.zeros(880)]
    fair = np.r_[np.arange(100) % 7, np.arange(900) % 7] / 7
    names = ["odd"] * 1000 + ["fair"] * 1000
    asked = {"class_prior": 0.4, "scenario": "single-set", "threshold": 1.0}
    (answer,) = answers_of([groups(labels, np.r_[odd, fair], names, **asked)])
    (left,) = answer["answer"]["skipped"]
    assert left["segment"] == "odd"
    assert "with 40% positives in this group, its labels cannot be a random draw" in left["reason"]
    assert [each["segment"] for each in answer["answer"]["segments"]] == ["fair"]


def test_one_share_for_groups_whose_labelled_rows_were_collected_apart_is_refused():
    labels, scores, names, _ = next(worlds_of_groups())
    (answer,) = answers_of([groups(labels, scores, names, class_prior=0.2, scenario="case-control")])
    assert "collected separately, so nothing says how the positives divide among groups" in answer["refused"]


def test_a_class_prior_that_nobody_knows_goes_over_what_all_rows_cannot_exclude():
    labels, scores, names, _ = list(worlds_of_groups())[2]
    (answer,) = answers_of([groups(labels, scores, names, class_prior=None, scenario="single-set")])
    told = answer["answer"]["class_priors"]
    low, high = (float(end) for end in told.split("[")[1].split("]")[0].split(", "))
    assert low == pytest.approx((labels == 1).mean(), abs=1e-3)
    assert low < high
    for each in answer["answer"]["segments"]:
        assert each["estimates"]["precision"]["method"].endswith("over the range of the class prior")


def test_groups_are_told_apart_and_ordered_as_python_does_it(tmp_path):
    cells = ["b", "a", "", " a", '"x, ""y"""', "10", "9", "1.0", "1", "ä", "\U0001f600", "\uff5e", "NA"]
    lines = [f"{k % 17 / 17},{int(k % 4 == 0)},{cells[k % len(cells)]}" for k in range(520)]
    text = "score,label,site\n" + "\n".join(lines) + "\n"
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    found = evaluate_by(str(path), "site", score="score", label="label", positive="1", class_prior=0.3)
    (answer,) = answers_of([file(text, group="site")])
    assert [name for name, _ in answer["groups"]] == list(found)
    assert [counts for _, counts in answer["groups"]] == [
        list(map(int, evaluation.tally.totals)) for evaluation in found.values()
    ]


def test_a_column_of_too_many_values_is_refused_in_plain_words():
    text = "score,label,id\n" + "".join(f"{k},{k % 2},{k}\n" for k in range(600))
    (answer,) = answers_of([file(text, group="id")])
    assert "'id' has more than 500 different values" in answer["refused"]
