"""The page of an audit, and the audit on an evaluation's page: drawn, quiet, inert, and no wider than a phone."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import pulens

NAME = "<script>alert('a')</script> scores.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, its answered queue, the audit's page and the evaluation's."""
    place = tmp_path_factory.mktemp("audit")
    rng = np.random.default_rng(2)
    truth = rng.random(2000) < 0.15
    scores = rng.normal(1.7 * truth)
    labels = (truth & (rng.random(2000) < np.where(scores > 1.7, 0.6, 0.15))).astype(int)
    plan = pulens.plan_audit(labels, scores, threshold=1.5, budget=200)
    plan.write(place / "queue.csv")
    with (place / "queue.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (place / "queue.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "answer": int(truth[int(row["row"])])} for row in rows)
    result = pulens.read_audit(place / "queue.csv")
    result.to_html(place / "audit.html", title=NAME)
    pulens.evaluate(labels, scores, reviews=result, redraws=100, labelling="random").to_html(
        place / "evaluation.html", title=NAME
    )
    return place


@pytest.mark.parametrize("name", ["audit", "evaluation"])
@pytest.mark.parametrize(("width", "theme"), [(1200, "light"), (375, "dark")])
def test_the_page_is_drawn_quietly_at_every_width(open_page, folder, name, width, theme):
    opened = open_page(folder / f"{name}.html", viewport={"width": width, "height": 800}, color_scheme=theme)
    opened.settle()
    assert opened.page.locator("h1").inner_text() == NAME
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    drawn = opened.page.locator("svg.both .bar").count()
    assert 7 <= drawn < 14  # one interval a metric: the answers contradict random labels
    opened.page.locator("#chart-labelling-curve").scroll_into_view_if_needed()
    opened.settle()
    assert opened.page.locator("#chart-labelling-curve svg circle").count() >= 1
    opened.keep(f"{name}-of-an-audit-{theme}")


def test_the_forecast_begins_with_what_was_checked(open_page, folder):
    opened = open_page(folder / "audit.html")
    opened.settle()
    assert opened.page.evaluate("page.raw.forecast.budgets[0]") == 200
    held = opened.page.evaluate("page.raw.forecast.widths.f1[0]")
    assert held == pytest.approx(pulens.read_audit(folder / "queue.csv").estimates["f1"].interval.width)
    plot = opened.page.locator("#chart-forecast .plot")
    plot.scroll_into_view_if_needed()
    plot.hover()
    assert "rows" in plot.locator(".tip").inner_text()
