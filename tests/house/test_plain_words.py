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
    r"\bflatters?\b": "is optimistic, looks better than it is",
    r"\banew\b": "again",
    r"\bcomes too late\b": "cannot be changed now",
    r"\b[Hh]ow surely\b": "how certain, with what confidence",
    r"\btells? (?:rows|windows|classes|patients)\b": "identifies, separates",
    r"\b(?:is|are) no (?:chances?|plan|date|mixture|day|probabilit)": "is not a ...",
    r"\bnext to no\b": "almost no",
    r"\brows cannot tell\b": "no clear difference",
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
    result = [f"{place}: {match[0]!r}" for place, text in texts for match in re.finditer(phrase, text)]
    assert not result, f"write {PHRASES[phrase]}: {result[:20]} ({len(result)})"
