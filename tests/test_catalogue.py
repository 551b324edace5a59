"""Folders that are catalogues: names from files, facts from one constant, one way to be refused."""

from __future__ import annotations

import sys

import pytest
from pulens.benchmark import datasets

from pulens import backbones, labelling, priors, studies
from pulens.calibration import recalibrators
from pulens.catalogue import Catalogue
from pulens.errors import AssumptionError, PulensError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package of fruit, one of which cannot be imported."""
    name = "fruit_of_a_test"
    home = tmp_path / name
    (home / "crates").mkdir(parents=True)
    for path, text in {
        "__init__.py": "",
        "apple.py": "FACTS = 'an apple'",
        "blood_orange.py": "FACTS = 'a blood orange'",
        "heavy.py": "raise ImportError('no such library')",
        "_peel.py": "",
        "crates/__init__.py": "",
    }.items():
        (home / path).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield home
    for module in [each for each in sys.modules if each.split(".")[0] == name]:
        del sys.modules[module]


def of(folder, **options):
    return Catalogue(folder.name, [str(folder)], "FACTS", "fruit", **options)


def test_names_are_file_stems_and_cost_no_import(folder) -> None:
    result = of(folder)
    assert result.names == ("apple", "blood_orange", "heavy")
    assert "apple" in result
    assert "_peel" not in result
    assert "crates" not in result
    assert f"{folder.name}.heavy" not in sys.modules
    assert result["apple"] == result.find("apple") == "an apple"
    with pytest.raises(ImportError, match="no such library"):
        result["heavy"]


def test_an_unknown_name_is_refused_with_the_names_there_are_and_the_nearest(folder) -> None:
    with pytest.raises(AssumptionError) as refused:
        of(folder, plural="pieces of fruit", error=AssumptionError).find("aple", "any")
    said = str(refused.value)
    assert said.startswith("there is no fruit 'aple'; the pieces of fruit are 'any', 'apple', 'blood_orange'")
    assert said.endswith("Did you mean 'apple'?")
    with pytest.raises(KeyError):
        of(folder)["aple"]


def test_dashes_are_read_where_they_are_allowed(folder) -> None:
    assert of(folder, dashes=True).find("blood-orange") == "a blood orange"
    assert "blood-orange" not in of(folder)


def test_a_file_may_hold_several(folder) -> None:
    (folder / "heavy.py").write_text("FACTS = {'lemon': 'a lemon', 'lime': 'a lime'}")
    result = of(folder, together=True)
    assert dict(result) == {
        "apple": "an apple",
        "blood_orange": "a blood orange",
        "lemon": "a lemon",
        "lime": "a lime",
    }
    assert len(result) == 4


def test_two_files_cannot_declare_one_name(folder) -> None:
    (folder / "heavy.py").write_text("FACTS = {'apple': 'another'}")
    with pytest.raises(PulensError, match="heavy declares 'apple', which another file declares too"):
        assert of(folder, together=True).names


def test_a_file_that_declares_nothing_is_named(folder) -> None:
    (folder / "apple.py").write_text("")
    with pytest.raises(PulensError, match=r"apple is a file of the fruits, so it must declare FACTS"):
        of(folder)["apple"]


@pytest.mark.parametrize(
    ("find", "said"),
    [
        (labelling.find, "there is no labelling mechanism 'S9'; the mechanisms are"),
        (recalibrators.find, "there is no recalibration method 'S9'; the methods are 'auto', 'beta'"),
        (priors.from_scores.find, "there is no class-prior estimator 'S9'; the estimators are"),
        (priors.with_noise.find, "there is no estimator of class prior and label noise 'S9'; the estimators are"),
        (datasets.find, "there is no data set 'S9'; the data sets are"),
        (studies.find, "there is no study 'S9'; the studies are"),
        (lambda name: backbones.build(name, (3,)), "backbone must be one of"),
    ],
)
def test_every_catalogue_lists_what_it_has(find, said) -> None:
    with pytest.raises(PulensError) as refused:
        find("S9")
    assert str(refused.value).startswith(said)
