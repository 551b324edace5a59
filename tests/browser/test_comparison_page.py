"""The page of a comparison: crossings where Python found them, names as text."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from pulens.cli import main
from pulens.comparison import compare
from pulens.evaluation.evaluate import evaluate

NAMES = ("<script>alert('a')</script>", "النموذج 🧪 " + "x" * 280)

BOXES = """() => [...document.querySelectorAll("#chart-differences svg, #chart-models svg")].map((svg) => {
  const box = (one) => (({ left, top, right, bottom }) => [left, top, right, bottom])(one.getBoundingClientRect());
  const ticks = [...svg.querySelectorAll("text[text-anchor=end]")];
  const name = [...svg.querySelectorAll("text")].find((one) => /rotate/.test(one.getAttribute("transform")));
  const longest = Math.max(...ticks.map((one) => one.textContent.length));
  return { name: box(name), frame: box(svg), ticks: ticks.map(box), longest };
})"""


def rows(n=1500, seed=0):
    """Two models whose order by F1 at the threshold depends on the class prior."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.25
    labels = (positive & (rng.random(n) < 0.5)).astype(int)
    first = rng.normal(1.2 * positive)
    second = rng.normal(1.8 * positive + 0.4)
    return labels, {NAMES[0]: first, NAMES[1]: second}


@pytest.fixture(scope="module")
def comparison():
    return compare(
        *rows(), class_prior=(0.05, 0.4), scenario="case-control", threshold=1.0, redraws=200, labelling="random"
    )


@pytest.fixture(scope="module")
def report(comparison, tmp_path_factory):
    path = tmp_path_factory.mktemp("comparison") / "report.html"
    comparison.to_html(path)
    return path


def test_shows_the_verdict_and_marks_the_crossings(open_page, comparison, report):
    opened = open_page(report)
    sentence = opened.page.locator("#verdict .sentence").text_content()
    # right-to-left names are kept apart by invisible marks, so that they do not turn the sentence around
    assert f"\u2068{NAMES[1]}\u2069" in sentence
    said = sentence.replace("\u2068", "").replace("\u2069", "").strip()
    assert said == comparison.verdict.replace("roc_auc", "ROC AUC")  # as the rest of the page calls it
    assert "roc_auc" not in opened.page.locator("main").inner_text()
    assert opened.page.locator("figure svg").count() == 2
    crossed = {name: order.crossings for name, order in comparison.order.items() if order.crossings}
    assert crossed, "these rows are made so that the order depends on the class prior"
    for name, crossings in crossed.items():
        opened.page.locator(f"[data-metric-choice='{name}']").click()
        opened.settle()
        held = opened.page.evaluate("page.raw.metrics[page.state.metric].crossings.map((one) => one.class_prior)")
        assert held == [crossing.class_prior for crossing in crossings]
        assert opened.page.locator("#chart-differences svg circle").count() >= len(crossings)
        assert opened.page.locator(f"section[data-for-metric='{name}']").is_visible()
        plot = opened.page.locator("#chart-differences .plot")
        plot.hover()
        assert "class prior" in plot.locator(".tip").inner_text()
    opened.keep("comparison-light")
    fragment = opened.page.evaluate("location.hash")
    again = open_page(report, fragment, viewport={"width": 375, "height": 740}, color_scheme="dark")
    assert again.page.evaluate("page.state.metric") == opened.page.evaluate("page.state.metric")
    assert again.page.evaluate("document.documentElement.scrollWidth") <= 375
    again.keep("comparison-phone-dark")


def test_the_command_writes_the_page(open_page, tmp_path, capsys):
    labels, scores = rows(300)
    with open(tmp_path / "s.csv", "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["label", *scores])
        writer.writerows(zip(labels.tolist(), *(result.tolist() for result in scores.values()), strict=True))
    named = [word for name in NAMES for word in ("--score", name)]
    out = str(tmp_path / "r.html")
    main(["compare", str(tmp_path / "s.csv"), *named, "--class-prior", "0.25", "--redraws", "100", "--html", out, "-q"])
    assert capsys.readouterr().out == ""
    opened = open_page(tmp_path / "r.html")
    assert opened.page.locator("h1").text_content().strip() == " against ".join(NAMES)
    assert opened.page.locator("script").count() == 7  # the data and our own six


def test_labels_of_ticks_never_meet_the_name_of_their_axis(open_page, tmp_path):
    labels, scores = rows()
    first = next(iter(scores.values()))
    nearly = first.copy()
    nearly[np.flatnonzero(labels)[0]] -= 0.1  # one row makes so small a difference that it takes many digits
    alike = compare(
        labels,
        {"a": first, "b": nearly},
        class_prior=(0.1, 0.3),
        scenario="case-control",
        redraws=100,
        labelling="random",
    )
    path = tmp_path / "alike.html"
    alike.to_html(path)
    for width in (1200, 375):
        opened = open_page(path, viewport={"width": width, "height": 740})
        boxes = opened.page.evaluate(BOXES)
        assert max(result["longest"] for result in boxes) >= 6
        for result in boxes:
            assert result["ticks"]
            assert all(tick[0] >= result["name"][2] for tick in result["ticks"])
            assert result["frame"][1] <= result["name"][1]
            assert result["name"][3] <= result["frame"][3]


def test_the_page_says_why_a_likely_lead_may_have_a_large_p(open_page, comparison, report):
    from pulens.report.comparison import p_words

    opened = open_page(report)
    shown = opened.page.locator("section[data-for-metric]:visible .note").first.inner_text()
    assert shown == p_words(comparison)
    assert "largest over the class priors in the range" in shown
    assert "two-sided" in shown


def test_lines_and_bands_over_the_class_prior_are_pythons(open_page, comparison, report):
    opened = open_page(report)
    page = opened.page
    page.locator("[data-metric-choice='f1']").click()
    opened.settle()
    drawn = page.evaluate("page.raw.metrics.f1")
    labels, scores = rows()
    for name, own in scores.items():
        given = {"class_prior": float(comparison.order["f1"].class_priors[20]), "scenario": "case-control"}
        there = evaluate(labels, own, **given, threshold=1.0, redraws=200, labelling="random").estimates["f1"]
        assert drawn["values"][name][20] == pytest.approx(there.value, abs=1e-9), name
        ends = [drawn["band"][end][name][10] for end in ("low", "high")]
        assert ends == pytest.approx([there.interval.low, there.interval.high], abs=1e-4)
    shown = page.locator("section[data-for-metric='f1'] tbody tr").first.locator("[data-name=recovered]").inner_text()
    assert shown == f"{comparison.estimates['f1'][NAMES[0]].value:.3f}"
    assert page.locator("#chart-models svg path[fill-opacity='0.14']").count() == 2, "a band around each line"
