"""The card of an evaluation within a notebook's own paper: readable, complete, and nothing fetched."""

from __future__ import annotations

import numpy as np
import pytest

import pulens

HOSTS = {
    "jupyter-light": ('data-jp-theme-light="true"', "#ffffff", "light"),
    "jupyter-dark": ('data-jp-theme-light="false"', "#111111", "light"),
    "vscode-dark": ('class="vscode-dark"', "#1e1e1e", "light"),
    "jupyter-light-on-a-dark-system": ('data-jp-theme-light="true"', "#ffffff", "dark"),
    "dark-system": ("", "#111111", "dark"),
}
DARK = {"jupyter-dark", "vscode-dark", "dark-system"}
#: texts that overlap each other, and parts wider than the card
FAULTS = """() => {
  const card = document.querySelector(".pulens-report"), limit = card.getBoundingClientRect();
  const leaves = [...card.querySelectorAll("dt, dd:not(:has(svg)), p, li, summary, figcaption, svg text")]
    .filter((one) => one.checkVisibility() && one.textContent.trim());
  const boxes = leaves.map((one) => [one, one.getBoundingClientRect()]);
  const cross = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const found = boxes.filter(([, box]) => box.right > limit.right + 1).map(([one]) => `beyond: ${one.textContent}`);
  for (const [one, a] of boxes) for (const [other, b] of boxes)
    if (one !== other && !one.contains(other) && !other.contains(one) && cross(a, b))
      found.push(`over: ${one.textContent} | ${other.textContent}`);
  return found;
}"""


@pytest.fixture(scope="module")
def card():
    rng = np.random.default_rng(4)
    hidden = rng.random(900) < 0.25
    labels = (hidden & (rng.random(900) < 0.4)).astype(int)
    return pulens.evaluate(labels, rng.normal(1.6 * hidden), redraws=100, labelling="random")._repr_html_()


@pytest.mark.parametrize("host", HOSTS)
def test_a_card_has_the_notebooks_theme_and_no_two_texts_overlap(open_page, tmp_path, card, host):
    said, paper, system = HOSTS[host]
    file = tmp_path / "notebook.html"
    file.write_text(
        f'<!doctype html><body {said} style="background:{paper};font:14px serif">{card}</body>', encoding="utf-8"
    )
    for width in (390, 1000):
        shown = open_page(file, viewport={"width": width, "height": 900}, color_scheme=system)
        ink, own = shown.page.evaluate(
            """() => {
              const style = getComputedStyle(document.querySelector(".pulens-report"));
              return [style.color, style.backgroundColor].map((one) => one.match(/\\d+/g).map(Number)[0]);
            }"""
        )
        assert (ink > own) == (host in DARK)
        assert abs(ink - own) > 150
        assert shown.page.evaluate(FAULTS) == []
        assert shown.messages == []
        assert shown.requests == [shown.address]
    shown.keep(f"notebook-{host}")
