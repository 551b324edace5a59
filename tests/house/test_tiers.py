"""What `make test` leaves to `make everything` is known, and nothing is left out where that is unknown."""

from __future__ import annotations

import pytest

import what_changed


@pytest.mark.parametrize(
    ("answers", "since", "expected"),
    [
        # a branch that left main, with a new file
        (
            {"rev-parse": "b", "merge-base": "a", "diff": "docs/start.md", "ls-files": "x.py"},
            None,
            ["docs/start.md", "x.py"],
        ),
        # main itself: nothing says what is new
        ({"rev-parse": "a", "merge-base": "a", "diff": "", "ls-files": ""}, None, None),
        # unless somebody says since when
        ({"rev-parse": "a", "merge-base": "a", "diff": "", "ls-files": ""}, "a", []),
        # no git, or not a clone
        ({}, None, None),
        ({}, "a", None),
    ],
)
def test_what_changed_is_unknown_unless_git_knows(monkeypatch, answers, since, expected):
    monkeypatch.setattr(what_changed, "git", lambda word, *more: answers.get(word))
    monkeypatch.delenv("PULENS_SINCE", raising=False)
    if since:
        monkeypatch.setenv("PULENS_SINCE", since)
    monkeypatch.setattr(what_changed, "changed_files", what_changed.changed_files.__wrapped__)
    assert what_changed.changed_files() == expected
    assert what_changed.any_changed("src/pulens/learning") == (expected is None)


def test_every_test_is_of_one_kind(request):
    kinds = {"law", "unit", "world", "heavy"}
    for item in request.session.items:
        assert len(kinds & {mark.name for mark in item.iter_markers()}) == 1, item.nodeid
