"""How large the page is, how long it takes to write, and how long a move of the slider takes in a real browser.

python benchmarks/report_page.py [rows ...]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from pulens.evaluation.evaluate import evaluate
from pulens.testing import draw_table


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    labels, scores, _ = draw_table(n, np.random.default_rng(0), class_prior=0.1, label_frequency=0.3)
    return labels, scores


def main(sizes: list[int]) -> None:
    from playwright.sync_api import sync_playwright

    place = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    print(f"{'rows':>12}{'page KB':>10}{'numbers s':>11}{'page s':>8}{'move ms, median':>17}{'least':>8}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=place, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
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
        browser.close()


if __name__ == "__main__":
    main([int(word.replace(",", "")) for word in sys.argv[1:]] or [1_000, 100_000, 1_000_000])
