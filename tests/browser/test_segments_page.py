"""The page of segments: one row each, names as text, sorted and found without a server."""

from __future__ import annotations

import numpy as np
import polars
import pytest

from pulens.cli import main

NAMES = ("north", "south", "<script>alert('a')</script>", "النموذج 🧪 " + "x" * 120, "unlabelled site")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    site = rng.choice(NAMES, 4000)
    positive = rng.random(4000) < np.where(site == "north", 0.1, 0.3)
    labels = (positive & (rng.random(4000) < 0.4) & (site != "unlabelled site")).astype(int)
    path = tmp_path_factory.mktemp("segments") / "scores.parquet"
    apart = np.where(site == "south", 0.8, 1.8)
    polars.DataFrame({"score": rng.normal(apart * positive), "label": labels, "site": site}).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def report(table):
    out = table.with_suffix(".html")
    given = ["--class-prior", "0.26", "--scenario", "single-set"]
    main(["evaluate", "--labelling", "random", str(table), "--group-by", "site", *given, "--html", str(out), "--quiet"])
    return out


def shown(page):
    return [text.strip() for text in page.locator("#segments tbody tr:visible td:first-child bdi").all_text_contents()]


def test_every_segment_has_a_row_with_its_intervals_drawn(open_page, report, capsys):
    opened = open_page(report)
    assert capsys.readouterr().out == ""
    assert sorted(shown(opened.page)) == sorted(set(NAMES) - {"unlabelled site"})
    assert shown(opened.page)[0] == "south"  # the lowest ROC AUC first
    assert opened.page.locator("#segments tbody svg").count() == 4 * 4  # the class prior and three metrics
    assert "unlabelled site" in opened.page.locator("#skipped").inner_text()
    assert "no labelled positive" in opened.page.locator("#skipped").inner_text()
    bar, dot = opened.page.locator("#segments tbody svg").nth(1).locator(".bar, circle").all()
    inside, outside = dot.bounding_box(), bar.bounding_box()
    middle = inside["x"] + inside["width"] / 2
    assert outside["x"] <= middle <= outside["x"] + outside["width"]
    opened.keep("segments-light")


def test_rows_are_sorted_by_heading_or_menu_and_found_by_name(open_page, report):
    opened = open_page(report)

    def values():
        return [
            float(cell.get_attribute("data-value")) for cell in opened.page.locator("#segments td:nth-child(5)").all()
        ]

    assert values() == sorted(values())
    opened.page.locator("#segments thead button.sort").nth(4).click()
    assert values() == sorted(values(), reverse=True)
    opened.page.locator("#order").select_option("4a")
    assert values() == sorted(values())
    opened.page.locator("#find").fill("OUTH")
    assert shown(opened.page) == ["south"]
    assert opened.page.locator("#found").inner_text() == "1 of 4"


def test_the_page_fits_a_phone_in_the_dark_and_paper(open_page, report):
    opened = open_page(report, viewport={"width": 375, "height": 740}, color_scheme="dark")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375
    opened.keep("segments-phone-dark")
    assert opened.on_paper("segments").startswith(b"%PDF")
