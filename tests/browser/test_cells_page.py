"""The page of an evaluation within cells: the table of cells, and sliders that keep each cell's share of positives."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import pulens


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    clinic = rng.choice(["north", "<b>south</b>"], 2000)
    north = clinic == "north"
    positive = rng.random(2000) < np.where(north, 0.1, 0.3)
    labels = positive & (rng.random(2000) < np.where(north, 0.6, 0.2))
    frame = polars.DataFrame({"score": rng.normal(1.6 * positive).round(2), "label": labels * 1, "clinic": clinic})
    priors = {"north": 0.1, "<b>south</b>": 0.3}
    return pulens.evaluate(
        frame, labelled_within="clinic", class_prior=priors, threshold=1.0, redraws=300, labelling="random"
    )


def test_the_page_shows_cells_and_moves_as_python_does(open_page, found, tmp_path):
    found.to_html(tmp_path / "cells.html")
    opened = open_page(tmp_path / "cells.html")
    names = opened.page.locator("#cells tbody td:first-child").all_inner_texts()
    assert sorted(names) == ["<b>south</b>", "north"]
    for name in ("recall", "precision", "roc_auc"):
        assert opened.number(name) == pytest.approx(found.estimates[name].value, abs=1e-12)
    opened.page.fill("#threshold-number", "0.5")
    opened.page.press("#threshold-number", "Enter")
    opened.settle()
    for name in ("recall", "precision", "f1"):
        assert opened.number(name) == pytest.approx(found.at(0.5)[name].value, abs=1e-9)
    rows = found.tally
    index = np.flatnonzero(np.asarray(rows.thresholds) >= 0.5)[-1]  # uncorrected numbers weight no row
    shown = float(opened.page.locator("dd [data-naive='precision']").get_attribute("data-value"))
    assert shown == pytest.approx(rows.labelled[index] / (rows.labelled[index] + rows.unlabelled[index]), abs=1e-9)
    assert opened.page.locator("td[data-interval='recall']").inner_text() == ""  # weights are not rows
    assert opened.messages == []
