"""The reference cases that come with the tests: all of them described, all of them used, and as they were given."""

from __future__ import annotations

import os
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
CASES = "reference-cases.json"


def test_they_equal_the_cases_beside_the_checkout_where_there_are_some():
    above = [os.environ.get("PULENS_SHARED"), *(place / "shared" for place in TESTS.parents[1:3])]
    given = [Path(place) / CASES for place in above if place and (Path(place) / CASES).is_file()]
    assert all(place.read_bytes() == (TESTS / CASES).read_bytes() for place in given[:1])


def test_each_case_is_described(reference_cases):
    text = (TESTS / "reference-cases.md").read_text()
    cells = " ".join(line.split("|")[1] for line in text.splitlines() if re.match(r"\| [a-e]\d", line))
    described = set(re.findall(r"[a-e]\d", cells))
    for first, last in re.findall(r"([a-e]\d) to ([a-e]\d)", cells):
        described |= {f"{first[0]}{number}" for number in range(int(first[1]), int(last[1]) + 1)}
    assert described == set(reference_cases)


def test_each_case_is_used_by_some_test(reference_cases):
    texts = [path.read_text() for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    readers = [text for text in texts if "reference_cases" in text]
    assert [name for name in reference_cases if not any(f'"{name}"' in text for text in readers)] == []
