"""Every example runs from beginning to end, and says what it claims: its assertions hold."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from pulens.benchmark.datasets import DataUnavailableError

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# the others use data that come with scikit-learn and scipy
NEEDS_FILES = {"fraud_claims", "audited_marketing", "watched_marketing"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example, tmp_path, monkeypatch, capsys, request):
    monkeypatch.chdir(tmp_path)
    if example.stem in NEEDS_FILES:
        monkeypatch.setenv("PULENS_MIRROR", str(request.getfixturevalue("shared") / "data"))
    allowed = DataUnavailableError if example.stem in NEEDS_FILES else ()
    try:
        runpy.run_path(str(example), run_name="__main__")
    except allowed as error:
        pytest.skip(f"data not here: {error}")
    assert capsys.readouterr().out


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_on_the_page_of_examples(example):
    assert f"examples/{example.name}" in (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
