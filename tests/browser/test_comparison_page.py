"""The page of a comparison: crossings where Python found them, names as text."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from pulens.cli import main
from pulens.comparison import compare

NAMES = ("<script>alert('a')</script>", "النموذج 🧪 " + "x" * 280)


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
    return compare(*rows(), class_prior=(0.05, 0.4), scenario="case-control", threshold=1.0, redraws=200)


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
    assert sentence.replace("\u2068", "").replace("\u2069", "").strip() == comparison.verdict
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
        writer.writerows(zip(labels.tolist(), *(found.tolist() for found in scores.values()), strict=True))
    named = [word for name in NAMES for word in ("--score", name)]
    out = str(tmp_path / "r.html")
    main(["compare", str(tmp_path / "s.csv"), *named, "--class-prior", "0.25", "--redraws", "100", "--html", out, "-q"])
    assert capsys.readouterr().out == ""
    opened = open_page(tmp_path / "r.html")
    assert opened.page.locator("h1").text_content().strip() == " against ".join(NAMES)
    assert opened.page.locator("script").count() == 6  # the data and our own five
