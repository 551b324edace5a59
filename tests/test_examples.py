"""Every example runs from beginning to end, and says what it claims: its assertions hold."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from pulens.research.benchmark.datasets import DataUnavailableError

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# those of the gallery are run when the site is built, and what they assert must hold there: tests/browser/test_site.py
GALLERY = {page.stem for page in (ROOT / "docs" / "gallery").glob("*.md")}
BY_THEMSELVES = [path for path in EXAMPLES if path.stem not in GALLERY | {"model_selection"}]  # which is run below
# the others use data that come with scikit-learn and scipy
NEEDS_FILES = {"fraud_claims", "audited_marketing", "watched_marketing", "undiagnosed_blood_pressure"}


@pytest.mark.parametrize("example", BY_THEMSELVES, ids=lambda path: path.stem)
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
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f"examples/{example.name}" in page or f"gallery/{example.stem}\n" in page


def test_what_the_readme_says_of_choosing_models_is_what_the_example_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "model_selection.py"), run_name="__main__")
    plain, recovered, all_ten = capsys.readouterr().out.splitlines()
    said = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "chooses one that is right in 50.2% of cases and says 87.6%" in said
    assert plain.endswith("it says 0.876, truth 0.502")
    assert "chooses the best of the ten, 83.6%, and says 85.4%" in said
    assert recovered.endswith("it says 0.854, truth 0.836")
    assert "best 0.836" in all_ten
