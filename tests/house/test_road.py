"""The path of a row, as docs/project/architecture.md describes it: what ``pulens evaluate`` calls, in which order."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pulens
from pulens.cli import main

SOURCE = Path(pulens.__file__).parent
PAGE = Path(__file__).resolve().parents[2] / "docs" / "project" / "architecture.md"
ROAD = [
    "cli.evaluate.command",
    "evaluation.evaluate.evaluate",
    "evidence.question.evidence",
    "inputs.tallies.read_tally",
    "inputs.files.tally_from_file",
    "evidence.resolving.resolve_class_prior",
    "metrics.parts.measure.estimate",
    "inference.intervals.of",
]
MOST_STEPS = 12


def passed(arguments: list[str]) -> list[str]:
    """Functions of the package in the order in which they were first called."""
    seen: dict[str, None] = {}

    met = set()  # code is looked at once, since most of the calls are repeated

    def look(frame, event, _) -> None:
        if event != "call" or frame.f_code in met:
            return
        met.add(frame.f_code)
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(SOURCE):
            module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            seen.setdefault(f"{module}.{frame.f_code.co_name}")

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        main(arguments)
    finally:
        sys.setprofile(before)
    return list(seen)


def test_a_row_takes_the_path_that_the_page_describes(tmp_path) -> None:
    rows = [f"{int(place % 5 == 0)},{place * 37 % 101 + 30 * (place % 5 == 0)}" for place in range(200)]
    (tmp_path / "scores.csv").write_text("\n".join(["label,score", *rows]) + "\n")
    asked = ["--class-prior", "0.3", "--threshold", "60", "--redraws", "100", "--quiet", "--json"]
    seen = passed(
        ["evaluate", "--labelling", "random", str(tmp_path / "scores.csv"), *asked, str(tmp_path / "found.json")]
    )
    places = [seen.index(step) for step in ROAD]
    assert places == sorted(places)
    assert "recovery.point.recover_at" in seen
    methods = {"inference.threshold", "inference.area", "inference.percentile"}
    assert methods <= {step.rpartition(".")[0] for step in seen}


def test_the_page_describes_the_path_in_few_steps() -> None:
    road = PAGE.read_text(encoding="utf-8").partition("## The path of a row")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. ", road, flags=re.MULTILINE)
    assert 0 < len(steps) <= MOST_STEPS
    for step in ROAD:
        module, _, name = step.rpartition(".")
        assert module in road
        assert name in road
