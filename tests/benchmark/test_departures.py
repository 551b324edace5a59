"""The page of departures says what the settings say, for every method of paper 004."""

import sys
from pathlib import Path

import pytest
from pulens.benchmark import methods

from pulens import learners

ROOT = Path(__file__).parents[2]


@pytest.fixture
def departures(monkeypatch):
    if not (ROOT / "benchmarks" / "departures.py").is_file():
        pytest.skip("the repository's benchmarks are not here")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import departures

    yield departures
    sys.modules.pop("departures", None)


def test_the_page_is_what_the_settings_make_of_it(departures):
    assert departures.PAGE.read_text(encoding="utf-8") == departures.page()


def test_the_authors_settings_are_known_for_every_method_and_are_settings(departures):
    result = departures.authors()
    assert tuple(sorted(result)) == tuple(sorted(learners.compared()))
    for learner, places in result.items():
        known = set(methods.find(learner).settings)
        assert {name for one in places.values() for name in one} <= known, learner


def test_a_line_says_who_uses_the_authors_value_and_who_another(departures, monkeypatch):
    monkeypatch.setattr(departures, "authors", lambda: {"puet": {"all": {"cut": "share", "max_depth": None}}})
    assert departures.lines() == ["| PUET | `cut` | share | same | same | vote |"]
