"""The page of a decision, opened from disk in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.decisions.costs import Costs
from pulens.evaluation.decide import decide
from pulens.evaluation.evaluate import evaluate
from pulens.evaluation.operating import cost_at


def rows(n=900, prior=0.2, separation=2.0, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prior
    scores = 1 / (1 + np.exp(-rng.normal(separation * positive - 1)))
    return (positive & (rng.random(n) < 0.4)).astype(int), np.round(scores, 5)


def shown(opened, way, part="cost"):
    return float(opened.page.locator(f"tr[data-way={way}] [data-part={part}]").get_attribute("data-value"))


def at(opened):
    held = "recovery.populationPrior(page.state.prior, page.data.totals, page.data.scenario, 0)"
    return opened.page.evaluate(f"[{held}, page.state.ratio, page.data.counts.thresholds[page.state.index - 1]]")


@pytest.fixture(scope="module")
def decision():
    return decide(*rows(), class_prior=0.2, cost_miss=500, cost_alarm=20, capacity=400, redraws=100, labelling="random")


@pytest.fixture(scope="module")
def monday(decision, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "monday.html"
    decision.to_html(path, title="Monday")
    return path


def test_a_decision_opens_with_its_numbers_and_moves_as_python_does(open_page, decision, monday):
    opened = open_page(monday)
    assert opened.page.locator("#verdict .sentence").inner_text().startswith("Flag scores of ")
    assert opened.page.title() == "Monday · pulens"
    assert shown(opened, "choice", "threshold") == decision.threshold
    opened.page.evaluate("page.moveTo({prior: 0.1, ratio: 0.1, index: 100})")
    opened.settle()
    prior, ratio, threshold = at(opened)
    costs = Costs(miss=500.0, alarm=500 * ratio / (1 - ratio))
    there = decide(
        *rows(),
        class_prior=prior,
        cost_miss=500,
        cost_alarm=costs.alarm,
        capacity=400,
        confidence=None,
        labelling="random",
    )
    assert shown(opened, "choice", "threshold") == there.threshold
    assert shown(opened, "choice") == pytest.approx(there.cost.value, rel=1e-9)
    assert shown(opened, "use") == pytest.approx(cost_at(there.evidence, costs, threshold, None).value, rel=1e-9)
    table = evaluate(*rows(), class_prior=prior, threshold=threshold, confidence=None, labelling="random").estimates
    for name in ("recall", "precision"):
        cell = opened.page.locator(f"[data-tile={name}]")
        assert float(cell.get_attribute("data-value")) == pytest.approx(table[name].value, abs=1e-9)
    assert opened.page.locator("#moved").is_visible()
    assert opened.page.locator("tr[data-way=use]").is_visible()
    field = opened.page.locator("#cost-number")
    field.fill("20/520")
    field.press("Enter")
    opened.settle()
    assert at(opened)[1] == 20 / 520
    again = open_page(monday, opened.page.evaluate("location.hash"))
    assert shown(again, "choice") == pytest.approx(shown(opened, "choice"), abs=1e-9)
    opened.page.locator("#reset").click()
    opened.settle()
    assert opened.page.locator("tr[data-way=use]").is_hidden(), "no two rows of one threshold"
    interval = opened.page.locator("tr[data-way=choice] [data-part=interval]").inner_text()
    ends = [float(end.replace(",", "")) for end in interval.split(" to ")]
    assert ends == pytest.approx([decision.cost.interval.low, decision.cost.interval.high], rel=1e-3)
    assert not opened.page.locator("#moved").is_visible()


def test_pages_of_decisions_fit_a_phone_and_paper(open_page, monday):
    opened = open_page(monday, viewport={"width": 375, "height": 740}, device_scale_factor=2)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375
    printed = open_page(monday, color_scheme="dark")
    assert printed.on_paper("decision-print").startswith(b"%PDF")


@pytest.mark.parametrize(
    "demands",
    [
        {"recall_at_least": 0.8},
        {"capacity": 5},
        {"cost_miss": 1, "cost_alarm": 50},
        {"cost_miss": 10, "cost_alarm": 1, "cost_flag": 20},
        {"capacity": 3, "recall_at_least": 0.9},
    ],
)
def test_every_kind_of_decision_has_a_page(open_page, tmp_path, demands):
    decision = decide(*rows(), class_prior=0.2, redraws=100, **demands, labelling="random")
    path = tmp_path / "decision.html"
    decision.to_html(path)
    opened = open_page(path)
    said = opened.page.locator("#verdict .sentence").inner_text()
    assert said.startswith("No threshold meets" if decision.threshold is None else "Flag ")
    assert (opened.page.locator("#cost").count() > 0) <= (decision.costs is not None), "no costs that nobody gave"
