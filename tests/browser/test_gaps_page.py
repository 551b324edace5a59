"""The page of gaps: rows that light up, a common class prior to try, names as text."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pulens

NAMES = ("north", "south", "<img src=x onerror=alert(1)>", "النموذج 🧪 " + "x" * 120)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, 6000)
    positive = rng.random(6000) < np.array([0.4, 0.2, 0.3, 0.3])[group]
    labels = (positive & (rng.random(6000) < np.array([0.6, 0.3, 0.4, 0.4])[group])).astype(int)
    score = rng.normal(np.array([2.0, 0.9, 1.4, 1.5])[group] * positive)
    table = polars.DataFrame({"score": score, "label": labels, "site": np.array(NAMES)[group]})
    return pulens.gaps_by(table, "site", threshold=1.0, labelling="random")


@pytest.fixture(scope="module")
def report(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("gaps") / "gaps.html"
    found.to_html(path)
    return path


def test_differences_light_up_where_zero_is_outside(open_page, report, found):
    page = open_page(report).page
    assert page.locator("table.pairs tbody tr").count() == 6
    assert page.locator("table.pairs tr.lit").count() == sum(gap.is_clear for gap in found.differences)
    shown = page.locator("table.groups tbody td:first-child bdi").all_text_contents()
    assert shown == [group.title for group in found.groups]
    assert page.locator("table.groups svg.dot").count() == 3 * 4


def test_a_common_class_prior_can_be_tried_and_turns_are_marked(open_page, report, found):
    page = open_page(report).page
    common, lead = found.common_prior, found.lead
    first, second = common.names.index(lead.first), common.names.index(lead.second)

    def shown(metric, cell):
        text = page.locator(f"tr[data-metric='{metric}'] [data-cell='{cell}']").inner_text()
        return float(text.replace("−", "-"))

    most = float(page.locator("[data-role='slider']").get_attribute("max"))
    assert most == pytest.approx(min(common.largest[[first, second]]))
    for share in (0.2, 0.7):
        prior = share * most
        page.locator("[data-role='slider']").evaluate(
            "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", str(prior)
        )
        for metric in ("false_positive_rate", "precision", "accuracy"):
            values = common.values(metric, np.full(4, prior))
            assert shown(metric, "first") == pytest.approx(values[first], abs=6e-4)
            assert shown(metric, "difference") == pytest.approx(values[first] - values[second], abs=6e-4)
    marked = {turn.metric for turn in found.turns if turn.at is not None}
    marks = page.locator("[data-role='marks'] .mark")
    assert {mark.get_attribute("data-metric") for mark in marks.all()} == marked
    assert marked
    page.locator("[data-role='second']").select_option(label="<img src=x onerror=alert(1)>")
    assert page.locator("[data-role='second-name']").inner_text() == "<img src=x onerror=alert(1)>"


def test_the_page_fits_a_phone_in_the_dark_and_paper(open_page, report):
    opened = open_page(report, viewport={"width": 375, "height": 740}, color_scheme="dark")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375
    opened.keep("gaps-phone-dark")
    assert opened.on_paper("gaps").startswith(b"%PDF")
