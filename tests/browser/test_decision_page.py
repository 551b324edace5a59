"""Costs on pages: the card of an evaluation and the page of a decision, opened from disk in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.decisions.actions import Actions
from pulens.decisions.costs import Costs
from pulens.evaluation.decide import decide
from pulens.evaluation.evaluate import evaluate
from pulens.evaluation.operating import cost_at


def rows(n=900, prior=0.2, separation=2.0, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prior
    scores = 1 / (1 + np.exp(-rng.normal(separation * positive - 1)))
    return (positive & (rng.random(n) < 0.4)).astype(int), np.round(scores, 5)


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(*rows(), class_prior=(0.15, 0.25), redraws=100, labelling="random")


@pytest.fixture(scope="module")
def report(evaluation, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    evaluation.to_html(path, top=[50])
    return path


def shown(opened, way, part="cost"):
    return float(opened.page.locator(f"tr[data-way={way}] [data-part={part}]").get_attribute("data-value"))


def at(opened):
    held = "recovery.populationPrior(page.state.prior, page.data.totals, page.data.scenario, 0)"
    return opened.page.evaluate(f"[{held}, page.state.ratio, page.data.counts.thresholds[page.state.index - 1]]")


def check_costs(opened, costs_at):
    """The card beside what Python decides at the same class prior, cost ratio and threshold."""
    prior, ratio, threshold = at(opened)
    costs = costs_at(ratio)
    given = {"cost_miss": costs.miss, "cost_alarm": costs.alarm}
    there = decide(*rows(), class_prior=prior, **given, confidence=None, labelling="random")
    assert shown(opened, "choice", "threshold") == there.threshold
    assert shown(opened, "choice") == pytest.approx(there.cost.value, abs=1e-9 * abs(there.cost.value) + 1e-9)
    used = cost_at(there.evidence, costs, threshold, None).value
    assert shown(opened, "use") == pytest.approx(used, abs=1e-9 * used + 1e-9)
    none, everybody = (there.cost.value + there.saving[way].value for way in ("flag none", "flag all"))
    assert shown(opened, "none") == pytest.approx(none, abs=1e-9 * none)
    assert shown(opened, "all") == pytest.approx(everybody, abs=1e-9 * everybody)
    result = opened.page.evaluate("page.card.found.priors")
    assert result == pytest.approx(there.priors, abs=1e-9)
    points = Actions.at(there.evidence, threshold, there.evidence.class_prior.unlabelled)
    useful = opened.page.evaluate("page.card.found.useful")
    assert useful[1] == pytest.approx(float(points.hits[0] / points.flagged[0]), abs=1e-9)


def in_false_alarms(ratio):
    return Costs(miss=(1 - ratio) / ratio, alarm=1.0)


def test_the_cost_slider_stands_beside_the_prior_slider_and_equals_python(open_page, report):
    opened = open_page(report)
    boxes = [opened.page.locator(f"#{name}").bounding_box() for name in ("prior", "threshold", "cost")]
    assert max(box["y"] for box in boxes) - min(box["y"] for box in boxes) < 12
    check_costs(opened, in_false_alarms)
    slider = opened.page.locator("#cost")
    slider.focus()
    for _ in range(25):
        opened.page.keyboard.press("ArrowRight")
    opened.settle()
    check_costs(opened, in_false_alarms)
    opened.page.evaluate("page.moveTo({prior: 0.09, index: 150})")
    opened.settle()
    check_costs(opened, in_false_alarms)
    field = opened.page.locator("#cost-number")
    field.fill("20/520")
    field.press("Enter")
    opened.settle()
    assert at(opened)[1] == 20 / 520
    check_costs(opened, in_false_alarms)
    again = open_page(report, opened.page.evaluate("location.hash"))
    assert shown(again, "choice") == pytest.approx(shown(opened, "choice"), abs=1e-9)
    opened.page.locator("#reset").click()
    opened.settle()
    assert opened.page.evaluate("page.state.ratio === page.home.ratio")


def test_the_card_opens_with_the_reports_interval_and_the_band(open_page, evaluation, report):
    opened = open_page(report)
    costs = in_false_alarms(opened.page.evaluate("page.state.ratio"))
    decision = evaluation.decide(cost_miss=costs.miss, cost_alarm=costs.alarm, labelling="random")
    interval = opened.page.locator("tr[data-way=choice] [data-part=interval]").inner_text()
    low, high = (float(end.replace(",", "")) for end in interval.split(" to "))
    assert low == pytest.approx(decision.cost.interval.low, rel=1e-3)
    assert high == pytest.approx(decision.cost.interval.high, rel=1e-3)
    curve = evaluation.decision_curve()
    assert opened.page.evaluate("page.raw.decision.curve.low") == pytest.approx(curve.low.tolist())
    opened.page.locator("#chart-decision-curve").scroll_into_view_if_needed()  # charts out of sight wait
    assert "band of the whole curve" in opened.page.locator("#chart-decision-curve svg").inner_html()
    opened.page.evaluate("page.moveTo({index: 30})")
    opened.settle()
    assert "band of the report, elsewhere" in opened.page.locator("#chart-decision-curve svg").inner_html()


def test_named_operating_points_move_the_threshold(open_page, evaluation, report):
    opened = open_page(report)
    opened.page.get_by_role("button", name="first 50 rows").click()
    opened.settle()
    assert at(opened)[2] == evaluation.at(top=50).threshold
    opened.page.get_by_role("button", name="recall 0.8, 95% sure").click()
    opened.settle()
    assert at(opened)[2] == evaluation.best_threshold(recall_at_least=0.8)
    opened.page.get_by_role("button", name="the cheapest").click()
    opened.settle()
    assert shown(opened, "use") == pytest.approx(shown(opened, "choice"), abs=1e-9)


def test_the_top_of_the_list_follows_the_class_prior(open_page, report):
    opened = open_page(report)
    opened.page.evaluate("page.moveTo({prior: 0.09})")
    opened.settle()
    there = evaluate(*rows(), class_prior=at(opened)[0], confidence=None, labelling="random").top(50)
    for name in ("precision_at_k", "recall_at_k", "ndcg_at_k"):
        cell = opened.page.locator(f"[data-top-measure={name}]")
        assert float(cell.get_attribute("data-value")) == pytest.approx(there[name].value, abs=1e-9)


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
    opened.page.locator("#reset").click()
    opened.settle()
    assert not opened.page.locator("#moved").is_visible()


def test_pages_of_decisions_fit_a_phone_and_paper(open_page, monday, report):
    for path in (monday, report):
        opened = open_page(path, viewport={"width": 375, "height": 740}, device_scale_factor=2)
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
