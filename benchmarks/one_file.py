"""How quick the one page is: a million rows to the first numbers and to a queue, frames of a slider, memory, size.

python benchmarks/one_file.py            # a table of a million rows
python benchmarks/one_file.py --large    # and a file of 200 MB, most of it a column that nobody asked for
python benchmarks/one_file.py --groups 8 # and the million rows compared by a column of eight values
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from pulens.evaluation.evaluate import evaluate
from pulens.report.one_file import one_page

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--js-flags=--expose-gc"]
MOVING = """async () => {
  const slider = document.querySelector("#prior");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const gaps = [];
  let last = performance.now();
  for (let step = 0; step < 90; step++) {
    slider.value = low + (high - low) * (0.2 + 0.3 * step / 90);
    slider.dispatchEvent(new Event("input"));
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }
  gaps.sort((a, b) => a - b);
  return [gaps[45], gaps[85], report.milliseconds];
}"""


def write_rows(path: Path, rows: int, extra: int = 0, groups: int = 1) -> None:
    """Scores of a fair model with six digits, 1 in 5 positive, half of them labelled; ``extra`` bytes in a note.

    Rows take turns in being of each of so many sites.
    """
    rng = np.random.default_rng(0)
    positive = rng.random(rows) < 0.2
    labels = (positive & (rng.random(rows) < 0.5)).astype(int)
    scores = 1 / (1 + np.exp(-rng.normal(np.where(positive, 1.0, -1.0), 1.0)))
    note = "x" * extra
    with path.open("w") as file:
        file.write("id,score,label,note,site\n")
        file.writelines(
            f"{k},{s:.6f},{y},{note},site {k % groups}\n" for k, (s, y) in enumerate(zip(scores, labels, strict=True))
        )


def resident(pids: set[int]) -> float:
    """Megabytes of memory that processes hold for themselves."""
    total = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / 1024


def children(of: int) -> set[int]:
    """Processes that were started by one, directly or not."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(place.parent.name)] = int(fields[1])
    result = {of}
    while grown := {pid for pid, parent in parents.items() if parent in result} - result:
        result |= grown
    return result


def measure(path: Path, page: Path, by: str | None = None) -> None:
    import os
    import shutil

    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        before = children(os.getpid())
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        opened = browser.new_page()
        opened.on("console", lambda message: print("console:", message.text))
        opened.goto(page.as_uri())
        mine = children(os.getpid()) - before
        idle = resident(mine)
        began = time.perf_counter()
        opened.set_input_files("#file", str(path))
        opened.wait_for_selector("#form:not([hidden]), #problem:not([hidden])", timeout=300_000)
        told = time.perf_counter() - began
        opened.fill("#prior-number-given", "0.2")
        if by is not None:
            opened.select_option("#group", label=by)
        began, most = time.perf_counter(), 0.0
        opened.click("#evaluate")
        first = None
        while not opened.is_visible("#report td[data-live]") and not opened.is_visible("#problem"):
            if first is None and opened.locator("#first p").count():
                first = time.perf_counter() - began
            most = max(most, resident(mine))
            opened.wait_for_timeout(50)
        took = time.perf_counter() - began
        if opened.is_visible("#problem"):
            print(opened.inner_text("#problem"))
        size = path.stat().st_size / 1e6
        print(f"{path.name}, {size:.0f} MB: label values after {told:.2f} s")
        print(f"groups compared: {opened.locator('#segments tbody tr').count()}")
        print(f"after the click: first numbers {took if first is None else first:.2f} s, the report {took:.2f} s")
        print(f"memory: {idle:.0f} MB before, {most:.0f} MB at most while computing (all processes of the browser)")
        area = float(opened.get_attribute("td[data-live=roc_auc]", "data-value"))
        expected = evaluate(str(path), class_prior=0.2, confidence=None, labelling="random").estimates["roc_auc"].value
        print(f"ROC AUC {area:.9f}, off Python's by {abs(area - expected):.1e}")
        for column in ("", "id"):
            measure_queue(opened, column, mine)
        middle, late, own = opened.evaluate(MOVING)
        print(f"while the slider moves: {middle:.1f} ms a frame, 95% below {late:.1f} ms, {own:.1f} ms of them ours")
        browser.close()


def measure_queue(opened: Any, column: str, pids: set[int]) -> None:
    """How long it takes to draw a queue of 200 rows, by their numbers or by the ids of a column."""
    opened.evaluate("document.querySelector('#audit-card').open = true")
    opened.select_option("#audit-id", label=column or None, value=None if column else "")
    began, most, saved = time.perf_counter(), 0.0, []
    opened.once("download", lambda download: saved.append(download))
    opened.click("#save-queue")
    while not saved and not opened.is_visible("#problem"):
        most = max(most, resident(pids))
        opened.wait_for_timeout(50)
    took = time.perf_counter() - began
    print(f"a queue of 200 rows by {column or 'row number'}: {took:.2f} s, {most:.0f} MB at most")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--large", action="store_true", help="a file of 200 MB too")
    asked.add_argument("--groups", type=int, help="compare so many groups too")
    asked.add_argument("--rows", type=int, default=1_000_000)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "pulens.html")
        page.write_text(one_page(), encoding="utf-8")
        print(f"size of the page: {page.stat().st_size / 1e3:.0f} KB")
        rows = Path(folder, "million.csv")
        write_rows(rows, given.rows)
        measure(rows, page)
        if given.groups:
            write_rows(rows, given.rows, groups=given.groups)
            measure(rows, page, by="site")
        if given.large:
            large = Path(folder, "large.csv")
            write_rows(large, 1_000_000, extra=180)
            measure(large, page)


if __name__ == "__main__":
    main()
