"""What a person reads first and last: the verdict, what a number rests on, and what to do next."""

from __future__ import annotations

import json
import math
import re
import shlex

import numpy as np
import pytest

import pulens
from pulens.cli import main
from pulens.inference.intervals import IntervalEstimator
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.withholding import WIDE
from pulens.report.next_steps import MOST_STEPS, next_steps
from pulens.report.summary import MARK, summarise

PARTS = ("labels", "rows", "class prior", "threshold", "next", "more")


def rows(separation=2.5, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.15
    return (positive & (rng.random(n) < 0.5)).astype(int), rng.normal(separation * positive)


def evaluation_of(separation=2.5, turned=False, **given):
    labels, scores = rows(separation)
    given = {"scenario": "single-set", "threshold": 1.0, "redraws": 200, **given}
    return pulens.evaluate(labels, -scores if turned else scores, **{"labelling": "random", **given})


@pytest.fixture(scope="module")
def estimated():
    return evaluation_of()


@pytest.fixture(scope="module")
def hardly_known():
    return evaluation_of(separation=0.4)


def test_text_begins_with_the_verdict_and_ends_with_what_to_do(estimated):
    lines = str(estimated).splitlines()
    said = " ".join(summarise(estimated).verdict)
    assert " ".join(lines[:5]).startswith(said)
    order = [next(k for k, line in enumerate(lines) if line.startswith(word)) for word in PARTS]
    assert order == sorted(order)
    assert "pulens.plan_audit(<rows>, " in str(estimated)


@pytest.mark.parametrize("given", [{}, {"class_prior": 0.15}, {"class_prior": (0.1, 0.3)}, {"audit": (17, 200)}])
@pytest.mark.parametrize("separation", [0.1, 2.5])
@pytest.mark.parametrize("threshold", [None, 1.0])
def test_text_fits_into_80_columns(given, separation, threshold):
    text = str(evaluation_of(separation, threshold=threshold, **given))
    assert max(map(len, text.splitlines())) <= 80


def test_every_number_says_what_it_rests_on(estimated):
    answers = estimated.to_dict()["estimates"]
    assert answers["precision"]["rests_on"] == ["random labelling", "class prior (estimated)"]
    assert answers["recall"]["rests_on"] == answers["lift"]["rests_on"] == ["random labelling"]
    assert answers["predicted_positive_rate"]["rests_on"] == []
    for given, said in (
        ({"class_prior": 0.15}, "class prior (given)"),
        ({"class_prior": (0.1, 0.2)}, "class prior (given as a range)"),
        ({"audit": (17, 200)}, "class prior (audit of 200 rows)"),
        ({"audit": (17, 200), "combine": True}, "class prior (estimated, with an audit of 200 rows)"),
    ):
        result = evaluation_of(**given).estimates["precision"]
        assert result.rests_on == ("random labelling", said)
    noisy = evaluation_of(class_prior=0.15, label_noise=0.02).estimates["recall"]
    assert noisy.rests_on == ("random labelling", "class prior (given)", "label noise (given)")


def test_what_a_number_rests_on_is_what_moves_it():
    """The facts behind the words: numbers that do not name the class prior stay when it moves."""
    labels, scores = rows()
    at = [
        pulens.evaluate(
            labels, scores, class_prior=prior, scenario="single-set", threshold=1.0, confidence=None, labelling="random"
        )
        for prior in (0.12, 0.2)
    ]
    for name, metric in METRICS.items():
        if metric.listed:
            one, other = (evaluation.estimates[name] for evaluation in at)
            moved = one.value != pytest.approx(other.value, rel=1e-9)
            assert moved == any("class prior" in said for said in one.rests_on), name


def test_numbers_that_rest_on_an_estimated_prior_are_marked_everywhere(estimated):
    given = evaluation_of(class_prior=0.15)
    for text in (str(estimated), estimated.to_markdown().replace("\\", ""), estimated._repr_html_()):
        assert f"{MARK}{estimated.estimates['precision'].value:.3f}" in text
        assert f"{MARK}{estimated.estimates['recall'].value:.3f}" not in text
        assert f"{MARK} depends on " in " ".join(text.split())
    assert MARK not in str(given)
    page = estimated.to_html()
    assert 'data-estimated data-name="recovered" data-live="precision"' in page
    assert 'data-estimated data-name="recovered" data-live="recall"' not in page
    assert "data-estimated data-name" not in given.to_html()


def test_an_answer_leads_with_what_needs_no_prior_where_rows_hardly_speak_about_it(hardly_known):
    assert hardly_known.class_prior.interval.width > 0.3
    first, second = summarise(hardly_known).verdict
    recall = hardly_known.estimates["recall"].value
    assert first.startswith("Flagging the ")
    assert f"finds {100 * recall:.0f}%" in first
    assert "somewhere between" in second
    precision = next(row for row in summarise(hardly_known).at_threshold if row.name == "precision")
    assert precision.value == ""
    assert precision.marked_value == MARK
    assert precision.interval
    assert hardly_known.to_dict()["prior_hardly_known"] is True
    assert "which this data barely constrains" in " ".join(str(hardly_known).split())
    assert "no number: this data barely constrains it" in " ".join(hardly_known.to_markdown().replace("\\", "").split())


def test_a_withheld_value_is_told_nowhere(hardly_known):
    """Found without the rule, the value must stand in no answer; numbers whose intervals are narrow have theirs."""
    kept, evidence, threshold = hardly_known["precision"], hardly_known.evidence, hardly_known.threshold
    doubts = IntervalEstimator(evidence, hardly_known.resampling)
    raw = estimate("precision", METRICS["precision"], evidence, threshold=threshold, doubts=doubts).value
    assert math.isnan(kept.value)
    assert "class prior" in kept.withheld_because
    assert kept.interval.width > WIDE
    assert math.isnan(hardly_known.at(threshold)["precision"].value)
    told = hardly_known.to_dict()["estimates"]["precision"]
    assert told["value"] is None
    assert told["withheld_because"] == kept.withheld_because
    frame = hardly_known.to_frame("pandas").set_index("metric")
    assert math.isnan(frame.loc["precision", "value"])
    assert frame.loc["precision", "undefined_because"] == kept.withheld_because
    decision = hardly_known.decide(recall_at_least=0.05, labelling="random")
    assert math.isnan(decision.precision.value)
    assert decision.to_dict()["hits"]["expected"] is None
    for text in (str(hardly_known), repr(kept), hardly_known.to_markdown(), hardly_known._repr_html_(), str(decision)):
        assert f"{raw:.3f}" not in text
    assert hardly_known["predicted_positive_rate"].withheld_because is None


def test_numbers_are_withheld_by_the_width_of_their_own_interval(hardly_known):
    for name, result in hardly_known.estimates.items():
        if result.interval is None or METRICS[name].highest == math.inf:
            continue
        wide = result.interval.width > WIDE * (METRICS[name].highest - METRICS[name].lowest)
        if result.withheld_because:
            assert wide, name
        elif result.rests_on_an_estimated_prior:
            assert not wide, name
    assert any(result.withheld_because for result in hardly_known.estimates.values())
    assert any(
        result.rests_on_an_estimated_prior and not result.withheld_because for result in hardly_known.estimates.values()
    )


@pytest.mark.slow
def test_the_top_of_the_list_says_a_range_where_rows_hardly_speak_about_the_prior(hardly_known, estimated):
    assert hardly_known.to_html().count(f'<td class="value">{MARK}</td>') == len(hardly_known.ladder()) > 0
    wide = [step["precision_at_k"].withheld_because is not None for step in estimated.ladder()]
    assert estimated.to_html().count(f'<td class="value">{MARK}</td>') == sum(wide) < len(wide)


@pytest.mark.parametrize("given", [{"class_prior": 0.15}, {"audit": (30, 200)}])
def test_scores_that_rank_backwards_are_asked_about_first(given, capsys, tmp_path):
    turned = evaluation_of(turned=True, **given)
    assert str(turned).startswith("Are your scores reversed?")
    assert [step.code for step in next_steps(turned)] == ["turn-scores"]
    labels, scores = rows()
    path = tmp_path / "scores.csv"
    np.savetxt(path, np.column_stack([labels, -scores]), delimiter=",", header="label,score", comments="")
    main(["evaluate", "--labelling", "random", str(path), "--class-prior", "0.15", "--scenario", "single-set"])
    assert capsys.readouterr().out.startswith("Are your scores reversed?")


def test_without_intervals_only_areas_well_below_one_half_are_asked_about():
    assert str(evaluation_of(turned=True, class_prior=0.15, confidence=None)).startswith("Are your scores reversed")
    assert not str(evaluation_of(separation=0.0, class_prior=0.15, confidence=None)).startswith("Are your")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ["audit", "say-prior", "sensitivity"]),
        ({"class_prior": 0.15}, ["audit", "say-range", "sensitivity"]),
        ({"class_prior": (0.1, 0.3)}, ["audit", "sensitivity"]),
        ({"audit": (8, 60)}, ["audit", "sensitivity"]),
        ({"class_prior": 0.15, "label_noise": 0.05}, ["audit", "say-range"]),
        ({"class_prior": 0.15, "labelling": "practice"}, ["audit", "say-range"]),
    ],
)
def test_checking_rows_comes_first_and_then_what_else_would_narrow_the_answer(given, expected):
    steps = next_steps(evaluation_of(**given))
    assert [step.code for step in steps] == expected
    assert len(steps) <= MOST_STEPS
    assert len({step.code for step in steps}) == len(steps)
    assert "audit" in {step.code for step in steps}  # the check that would settle the answer is always named
    for step in steps:
        if step.code == "audit":
            assert re.search(
                r"F1 to ±[\d.]+ instead of ±[\d.]+\.$|that settles precision, recall and F1\.$", step.sentence
            )
            assert step.shell().startswith("pulens audit plan FILE --threshold ")


def test_nothing_is_to_be_done_where_every_class_is_known():
    assert (
        next_steps(
            pulens.evaluate([1, 1, -1, -1], [4, 2, 3, 1], negative=-1, scenario="single-set", labelling="random")
        )
        == ()
    )


@pytest.mark.parametrize("prior", [0.0829, 0.15, 0.6])
def test_the_range_to_try_can_be_tried(prior):
    labels, scores = rows()
    assert prior > labels.mean()
    result = next_steps(
        pulens.evaluate(labels, scores, class_prior=prior, scenario="single-set", confidence=None, labelling="random")
    )
    call = next(step.call for step in result if step.code == "say-range").replace("<rows>", "labels, scores")
    again = eval(call, {"pulens": pulens, "labels": labels, "scores": scores}).class_prior
    assert again.interval.low < prior < again.interval.high


def test_commands_repeat_what_was_typed_and_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels, scores = rows()
    lines = [f"{score:.6f},{'fraud case' if label else ''}" for label, score in zip(labels, scores, strict=True)]
    (tmp_path / "my scores.csv").write_text("p,status\n" + "\n".join(lines))
    typed = ["my scores.csv", "--score", "p", "--label", "status", "--positive", "fraud case", "--threshold", "1"]
    options = ["--scenario", "single-set", "--class-prior", "0.15", "--redraws", "200"]
    main(["evaluate", "--labelling", "random", *typed, *options, "--json", "r.json"])
    shown = capsys.readouterr().out
    steps = json.loads((tmp_path / "r.json").read_text())["next_steps"]
    assert [step["code"] for step in steps] == ["audit", "say-range", "sensitivity"]
    pasted = shown[shown.index("  pulens audit plan") : shown.index("more  ")].replace("\\\n", "")
    assert shlex.split(steps[0]["shell"]) == shlex.split(pasted)
    for step in steps:
        program, *words = shlex.split(step["shell"])
        assert program == "pulens"
        if words[0] == "audit":
            main(words)
            capsys.readouterr()
            assert (tmp_path / "queue.audit.json").is_file()
            continue
        assert (words[0], "my scores.csv" in words[:4]) == ("evaluate", True)
        assert words.count("--class-prior") <= 1
        main([*words, "--json", "-"])
        assert json.loads(capsys.readouterr().out)["counts"]["labelled"] == labels.sum()


def test_commands_hold_no_password(tmp_path):
    from pulens.cli._typed import typed_command
    from pulens.cli.evaluate import command

    address = "postgresql://me:secret@host/db"
    context = command.make_context("evaluate", [address, "--table", "t"])
    assert typed_command(context)[2] == ("ADDRESS",)
    assert "secret" not in str(typed_command(context))


def test_documents_show_commands_without_folders(capsys, tmp_path):
    labels, scores = rows()
    path = tmp_path / "scores.csv"
    np.savetxt(path, np.column_stack([labels, scores]), delimiter=",", header="label,score", comments="")
    pages = [tmp_path / "r.html", tmp_path / "r.md"]
    options = ["--class-prior", "0.15", "--scenario", "single-set", "--redraws", "200"]
    main(
        ["evaluate", "--labelling", "random", str(path), *options, "--html", str(pages[0]), "--markdown", str(pages[1])]
    )
    for page in pages:
        assert "pulens evaluate scores.csv" in page.read_text()
        assert str(tmp_path) not in page.read_text()


def test_the_verdict_gives_the_threshold_in_the_digits_of_the_table(estimated):
    """0.24075 was 0.2407 in the sentence: other rows are flagged at it."""
    found = evaluation_of(class_prior=0.15, threshold=1.123456)
    assert "at 1.12346 or above" in " ".join(str(found).split())
    assert "threshold   1.12346 (given)" in str(found)


def test_explained_the_class_prior_is_named_once_and_metrics_as_in_the_short_answer(estimated):
    text = estimated.explain()
    assert "class prior class prior" not in text
    assert "Matthews correlation" in text
    assert "matthews_correlation" not in text


def test_the_badge_says_that_an_answer_depends_on_the_class_prior(hardly_known):
    labels, scores = rows(0.4)
    found = pulens.evaluate(labels, scores, threshold=1.0, redraws=200)
    assert summarise(found).status == "depends on the class prior"
    known = pulens.evaluate(*rows(), class_prior=0.15, threshold=1.0, redraws=200)
    assert summarise(known).status == "assumes labels as in practice"


def test_pages_of_groups_assume_of_labels_what_their_numbers_assume():
    """They said that labels are random within each group where easy positives were taken to be labelled first."""
    labels, scores = rows()
    site = np.where(np.arange(len(labels)) % 2, "a", "b")
    table = {"label": labels, "score": scores, "site": site}
    import pandas

    for labelling, said in (("practice", "as much easier than the hidden ones"), ("random", "a random draw of its")):
        given = {"class_prior": 0.15, "threshold": 1.0, "labelling": labelling, "redraws": 100}
        segments = pulens.evaluate_by(pandas.DataFrame(table), "site", same_prior=True, **given)
        gaps = pulens.gaps_by(pandas.DataFrame(table), "site", metric="recall", same_prior=True, **given)
        for page in (segments.to_html(), gaps.to_html()):
            assert said in page
            assert ("a random draw of its positives" in page) is (labelling == "random")


def test_a_group_that_is_a_number_is_named_with_its_column():
    import pandas

    labels, scores = rows()
    table = pandas.DataFrame({"label": labels, "score": scores, "age": 18 + np.arange(len(labels)) % 2})
    gaps = pulens.gaps_by(table, "age", metric="recall", same_prior=True, class_prior=0.15, threshold=1.0)
    assert re.search(r"age 1[89] finds \d+%, age 1[89] \d+%", " ".join(str(gaps).split()))
