"""The page of a watch: nothing breaks, nothing is asked for, it fits a phone, and every picture has its marks."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.counts.tally import Tally

PHONE = {"viewport": {"width": 390, "height": 800}}


def rows(rng, share, n=500, moved=0.0):
    positive = rng.random(n) < share
    scores = np.round(rng.normal(positive * 1.466 + moved), 3)
    return Tally.from_arrays((positive & (rng.random(n) < 0.3)).astype(int), scores)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rng = np.random.default_rng(1)
    reference = {f"r{day:02d}": rows(rng, 0.2) for day in range(30)}
    windows = {f"<i>{day:02d}</i>": rows(rng, 0.2) for day in range(8)}
    windows |= {f"<i>{day:02d}</i>": rows(rng, 0.2, moved=1.2) for day in range(8, 12)}
    windows["<i>12</i>"] = rows(rng, 0.2, 10)
    path = tmp_path_factory.mktemp("watch") / "pulse.html"
    pulens.watch(reference, windows, class_prior=0.2, threshold=0.8).to_html(path)
    return path


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
def test_the_page_is_whole_and_fits(open_page, report, options):
    opened = open_page(report, **options)
    page = opened.page
    assert "scores themselves have moved" in page.inner_text("#verdict")
    assert page.locator("svg.pulse").count() == 3
    assert page.locator("svg.pulse .mark").count() + page.locator("svg.pulse .gone").count() == 13
    assert page.locator("tbody tr").count() == 13
    assert page.locator("i").count() == 0, "names of windows are text"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("#theme")
    assert opened.messages == []
    assert all(url.startswith("file:") for url in opened.requests)
