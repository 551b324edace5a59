"""The page of gaps: rows that light up, names as text."""

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


def test_the_page_fits_a_phone_in_the_dark_and_paper(open_page, report):
    opened = open_page(report, viewport={"width": 375, "height": 740}, color_scheme="dark")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375
    opened.keep("gaps-phone-dark")
    assert opened.on_paper("gaps").startswith(b"%PDF")
