"""Make the documentation's leaderboard: tables from the package's summary, details of runs from wherever they are.

python benchmarks/leaderboard.py results more-results            # archives that hold some of the summary's runs
python benchmarks/leaderboard.py results --page docs/_static/leaderboard.html    # and what an older page says of others

A summary has no curves, scores and judgements. A run of an archive or of an older page gives them to the run of the
summary with the same learner, data set, labels and seed whose accuracy is the same; a run of another version does not.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pulens
from pulens.research.benchmark.archive import read
from pulens.research.benchmark.archive.counts import macro_f1
from pulens.research.benchmark.archive.summary import SummaryArchive
from pulens.research.benchmark.leaderboard import board
from pulens.research.benchmark.leaderboard.board import selections_of
from pulens.research.benchmark.leaderboard.page import leaderboard_page
from pulens.research.benchmark.leaderboard.page_data import METRICS, SCALE, run_detail

SUMMARY = Path(pulens.__file__).parent / "research" / "benchmark" / "summary.csv.gz"
PAGE = Path(__file__).parents[1] / "docs" / "_static" / "leaderboard.html"
NEAR = 2  # of a metric as pages write it: thousandths of a point
RENAMED = {"puet": "puet (as published)"}  # what an older page calls otherwise
ROWS = 1_000_000  # a page has shares of rows: macro-F1 is read off a table of so many


def place(row: dict[str, Any]) -> tuple[Any, ...]:
    alias = row["mechanism_alias"] or row["mechanism"]
    return row["learner"], row["dataset"], alias, row["label_frequency"], row["seed"]


def is_same(run: dict[str, Any], accuracy: float) -> bool:
    """Whether the run of a page is that of the summary, by the accuracy at its own epoch."""
    own = run["chosen"][0]
    return own is not None and abs(run["values"][own][0] - SCALE * accuracy) <= NEAR


def of_archives(folders: list[Path], selections: list[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    result = {}
    for folder in folders:
        archive = read(folder)
        for row in archive.done:
            result[place(row)] = run_detail(archive, row, selections, "own")
    return result


def of_page(path: Path, selections: list[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Details of an older page, with the metrics and selections of today; those without negatives stay."""
    texts = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    raw = json.loads(max(texts, key=len))
    names, known = [one["name"] for one in raw["learners"]], raw["selections"]
    result = {}
    for run in raw["runs"]:
        if run["density"] is None and run["curve"] is None:
            continue
        condition = raw["conditions"][run["c"]]
        learner = RENAMED.get(names[run["m"]], names[run["m"]])
        where = learner, raw["datasets"][run["d"]], condition["alias"], condition["frequency"], run["s"]
        chosen = [run["chosen"][known.index(name)] if name in known else None for name in selections]
        values = [today(dict(zip(raw["metrics"], values, strict=True))) for values in run["values"]]
        kept = {name: value for name, value in run.items() if name not in ("c", "m", "d")}
        if len(kept.get("pu", [[]])[0]) == 1:  # no answer, and the reason stands elsewhere
            del kept["pu"]
        result[where] = kept | {"chosen": chosen, "values": values}
    return result


def today(values: dict[str, int | None]) -> list[int | None]:
    """Values in the order of today's metrics; macro-F1 is what accuracy, precision and recall imply."""
    accuracy, precision, recall = (values[name] for name in ("accuracy", "precision", "recall"))
    if "macro_f1" not in values and precision and recall and accuracy is not None and accuracy < SCALE:
        a, p, r = (one / SCALE for one in (accuracy, precision, recall))
        share = (1 - a) / (r * (1 - p) / p + 1 - r)
        both = round(ROWS * r * share)
        values["macro_f1"] = round(SCALE * macro_f1(both, round(both / p), round(ROWS * share), ROWS))
    return [values.get(name) for name in METRICS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="*", type=Path)
    parser.add_argument("--page", type=Path, help="an older page to take details from")
    parser.add_argument("--out", type=Path, default=PAGE)
    given = parser.parse_args()
    summary = SummaryArchive(SUMMARY)
    selections = selections_of(summary)
    known = of_page(given.page, selections) if given.page else {}
    known |= of_archives(given.archives, selections)
    taken = []

    def details(row: dict[str, Any]) -> dict[str, Any] | None:
        run = known.get(place(row))
        if run is None or not is_same(run, row["accuracy"]):
            return None
        taken.append(place(row))
        return run

    page = leaderboard_page(summary, board(summary), details=details)
    given.out.write_text(page, encoding="utf-8")
    print(f"{given.out}: {len(page) / 1e6:.1f} MB; {len(taken):,} of {len(summary.done):,} runs with details")


if __name__ == "__main__":
    main()
