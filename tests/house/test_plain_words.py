"""Sentences that people read are plain English: no phrase that a native speaker stumbles over, no papers by number."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "pulens"
#: The worst phrases, and what to write instead.
PHRASES = {
    r"\bpapers? 00\d": "the paper by its name or authors",
    r"\b[Ss]peaks? of\b": "is about, refers to, the population is",
    r"\bso many\b": "the number itself: this many, at most 5",
    r"\btold apart\b": "distinguished, clearly different",
    r"\bbeside it\b": "next to it, as well, or nothing",
    r"\bhangs? on\b": "depends on",
    r"\btaken for granted\b": "assumed",
    r"\bin truth\b": "really",
    r"\bdoubt and all\b": "with its uncertainty",
    r"\bhardly sa(?:y|ys)\b": "barely constrain",
    r"\bcollected apart\b": "collected separately",
    r"\bpromises all hold\b": "perfectly calibrated",
}


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    """Every text of the package with its place: docstrings, messages, help."""
    return [
        (f"{path.relative_to(SOURCE)}:{node.lineno}", " ".join(node.value.split()))
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    ]


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_text_of_the_package_has_the_worst_phrases(phrase, texts):
    found = [f"{place}: {match[0]!r}" for place, text in texts for match in re.finditer(phrase, text)]
    assert not found, f"write {PHRASES[phrase]}: {found[:20]} ({len(found)})"
