"""What a learner's file says about it is true, and is all that lists know."""

from __future__ import annotations

from pathlib import Path

import pytest
from pulens.benchmark import references

from pulens import learners
from pulens.learning.learners.base import facts as families

FILES = sorted(path.stem for path in Path(learners.__file__).parent.glob("[!_]*.py"))


def test_every_file_of_the_folder_declares_a_learner():
    assert list(learners.names()) == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_file_declares_a_class_of_its_own_under_its_public_name(name):
    result = learners.facts(name)
    public = result.learner.__name__
    assert result.learner.__module__ == f"pulens.learning.learners.{name}"
    assert getattr(learners, public) is result.learner is learners.find(public)
    assert result.family in vars(families).values()


def test_titles_are_told_apart():
    titles = [result.title for result in (*map(learners.facts, FILES), *references.LEARNERS.values())]
    assert len(set(titles)) == len(titles)


def test_who_is_told_the_truth_says_so():
    told = {name: learners.facts(name).told for name in FILES if learners.facts(name).told != "nothing"}
    assert told == {
        "lagam": "true labels of a few rows of both classes",
        "oracle": "the true class of every training row",
    }
    assert references.LEARNERS["pn"].uses_truth
    assert not references.LEARNERS["naive_network"].uses_truth
