"""The page where the data contradict the class prior: it says so first, and shows nothing that only looks certain."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.evaluation.evaluate import evaluate

FIRST = "These numbers do not fit together: with {} positives, labels cannot be a random draw."


def rows(favour):
    """Positives above their median labelled ``favour`` times as often."""
    rng = np.random.default_rng(0)
    positive = rng.random(6000) < 0.2
    pool = rng.normal(2.5, 1, 12_000)
    pool = pool[rng.random(pool.size) < np.where(pool > 2.5, 1.0, 1 / favour)][:700]
    scores = np.concatenate([pool, rng.normal(2.5 * positive, 1)])
    return np.repeat([1, 0], [pool.size, 6000]), np.round(scores, 2)  # so few that the page holds them all


@pytest.fixture(scope="module")
def contradicted():
    return evaluate(*rows(6.0), class_prior=0.2, scenario="case-control", threshold=2.0, labelling="random")


@pytest.fixture(scope="module")
def sound():
    return evaluate(
        *rows(1.0), class_prior=0.2, scenario="case-control", threshold=2.0, redraws=200, labelling="random"
    )


def page_of(evaluation, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    evaluation.to_html(path)
    return path


@pytest.fixture(scope="module")
def contradicted_page(contradicted, tmp_path_factory):
    return page_of(contradicted, tmp_path_factory)


@pytest.fixture(scope="module")
def sound_page(sound, tmp_path_factory):
    return page_of(sound, tmp_path_factory)


def said(opened) -> list[str]:
    return opened.page.locator("#verdict .sentence").all_inner_texts()


def source(opened) -> str:
    return opened.page.locator("#verdict .source a").inner_text()


def test_a_contradicted_report_opens_with_possible_worlds(open_page, contradicted, contradicted_page):
    opened = open_page(contradicted_page)
    assert said(opened) == contradicted.to_dict()["verdict"]
    assert said(opened)[0] == FIRST.format("20%")
    for name in ("roc_auc", "precision", "recall", "f1"):
        result = contradicted.estimates[name]
        assert opened.number(name) == result.value
        shown = opened.page.locator(f"td[data-interval='{name}']").inner_text()
        assert shown == f"{result.interval.low:.3f} to {result.interval.high:.3f}"
    table = contradicted.at(2.0).table
    assert opened.cell("truePositive") == pytest.approx(float(table.true_positive[0]))
    assert not [message for message in opened.messages if message.startswith("error")]
    opened.keep("evaluation-contradicted")


def test_a_slider_in_the_contradicted_part_withholds_numbers(open_page, sound, sound_page):
    opened = open_page(sound_page, "#prior=0.4")
    assert said(opened)[0] == FIRST.format("40%")
    assert "The largest class prior that random labels allow is" in said(opened)[1]
    assert "of the time" not in " ".join(said(opened))
    for name in ("roc_auc", "precision", "recall"):
        assert opened.page.locator(f"td[data-live='{name}']").inner_text() == "–"
        assert opened.page.locator(f"td[data-interval='{name}']").inner_text() == ""
    assert opened.page.locator("[data-cell='truePositive'] .count").inner_text() == "–"
    assert source(opened) == "Class prior 0.4, as set on this page"
    opened.page.locator("#reset").click()
    opened.settle()
    assert said(opened) == list(sound.to_dict()["verdict"])
    assert source(opened).startswith("Class prior 0.2, given")
    assert opened.number("precision") == sound.estimates["precision"].value


def test_a_lower_prior_on_a_contradicted_report_is_recovered_as_ever(open_page, contradicted_page):
    labels, scores = rows(6.0)
    there = evaluate(
        labels, scores, class_prior=0.05, scenario="case-control", threshold=2.0, confidence=None, labelling="random"
    )
    assert there.contradiction is None
    opened = open_page(contradicted_page, "#prior=0.05")
    assert opened.number("precision") == pytest.approx(there.estimates["precision"].value, abs=1e-9)
    assert said(opened)[0].startswith("The model ranks")
    assert len(said(opened)) == 2
    assert source(opened) == "Class prior 0.05, as set on this page"


def test_another_threshold_of_a_contradicted_report_is_withheld_but_areas_stay(
    open_page, contradicted, contradicted_page
):
    opened = open_page(contradicted_page, "#threshold=1.0")
    assert opened.number("roc_auc") == contradicted.estimates["roc_auc"].value
    assert opened.page.locator("td[data-live='precision']").inner_text() == "–"
    assert said(opened)[0] == FIRST.format("20%")
    assert "--threshold" in said(opened)[2]


def test_a_cut_rate_on_the_slider_has_no_interval_and_a_warning(open_page, sound_page):
    """Just below the contradicted part recovered rates are cut: no interval of width 0, and how likely that is."""
    opened = open_page(sound_page)
    limit = opened.page.evaluate("page.raw.prior.limit")
    opened = open_page(sound_page, f"#prior={0.995 * limit}&threshold=3.5")
    assert said(opened)[0].startswith("The model ranks")
    for name in ("roc_auc", "precision", "specificity"):
        assert opened.page.locator(f"td[data-interval='{name}']").inner_text() == "", name
    warning = opened.page.locator("#live-warning").inner_text()
    assert "by chance" not in warning
    assert "sample" in warning
