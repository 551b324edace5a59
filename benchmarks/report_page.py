"""How large the page is, how long it takes to write, and how long a move of the slider takes in a real browser.

python benchmarks/report_page.py [rows ...]

With pages instead of rows: how many pixels high each is on a desktop and on a phone, and whether it scrolls sideways;
with a folder last, its pictures in light, dark, on a phone and on paper, in pieces of one screen each.

python benchmarks/report_page.py page.html ... [pictures/]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pulens.evaluation.evaluate import evaluate
from pulens.testing import draw_table


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    labels, scores, _ = draw_table(n, np.random.default_rng(0), class_prior=0.1, label_frequency=0.3)
    return labels, scores


SHOWN: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
    "paper": {"viewport": {"width": 794, "height": 1123}},  # A4 at 96 points
}
PIECE = 1400  # pixels high


def pages(paths: list[str], folder: Path | None) -> None:
    """Print how high each page is, and keep its pictures where a folder is given."""
    with browser_of() as browser:
        print(f"{'page':<28}{'desktop px':>11}{'phone px':>10}{'sideways':>10}")
        for path in paths:
            heights, sideways = {}, 0
            for shown, options in SHOWN.items():
                context = browser.new_context(**options)
                page = context.new_page()
                page.emulate_media(media="print" if shown == "paper" else "screen")
                page.goto(Path(path).absolute().as_uri())
                page.wait_for_timeout(400)
                wide, high, seen = page.evaluate(
                    "[document.documentElement.scrollWidth, document.documentElement.scrollHeight, innerWidth]"
                )
                heights[shown], sideways = high, max(sideways, wide - seen)
                if folder is not None:
                    folder.mkdir(exist_ok=True)
                    for top in range(0, high, PIECE):
                        clip = {"x": 0, "y": top, "width": seen, "height": min(PIECE, high - top)}
                        name = f"{Path(path).stem}-{shown}-{top // PIECE}.png"
                        page.screenshot(path=folder / name, full_page=True, clip=clip)
                context.close()
            print(f"{Path(path).stem:<28}{heights['light']:>11,}{heights['phone']:>10,}{sideways:>10}")


@contextmanager
def browser_of() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    place = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=place, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def main(sizes: list[int]) -> None:
    print(f"{'rows':>12}{'page KB':>10}{'numbers s':>11}{'page s':>8}{'move ms, median':>17}{'least':>8}")
    with tempfile.TemporaryDirectory() as folder, browser_of() as browser:
        for n in sizes:
            path = Path(folder) / f"{n}.html"
            start = time.perf_counter()
            evaluation = evaluate(*rows(n), class_prior=0.1, scenario="single-set", labelling="random")
            _ = evaluation.estimates, evaluation.uncorrected, evaluation.notices
            result = time.perf_counter()
            evaluation.to_html(path)
            written = time.perf_counter()
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            page.goto(path.as_uri())
            page.wait_for_timeout(300)
            moves = page.evaluate(
                """() => Array.from({ length: 41 }, (_, k) => {
                     page.state.prior = 0.04 + k / 1000; page.refresh(); return page.milliseconds; })"""
            )
            page.close()
            print(
                f"{n:>12,}{path.stat().st_size / 1000:>10.0f}{result - start:>11.1f}{written - result:>8.1f}"
                f"{float(np.median(moves)):>17.1f}{min(moves):>8.1f}"
            )


if __name__ == "__main__":
    written = [word for word in sys.argv[1:] if word.endswith(".html")]
    if written:
        pages(written, None if sys.argv[-1] in written else Path(sys.argv[-1]))
        sys.exit()
    main([int(word.replace(",", "")) for word in sys.argv[1:]] or [1_000, 100_000, 1_000_000])
