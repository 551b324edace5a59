"""Advice from the table that comes with the package, as people ask for it."""

from __future__ import annotations

import copy
import json
import pickle
import shlex

import numpy as np
import pytest
from pulens.learners import advise

from pulens import learners
from pulens.cli import main
from pulens.errors import AssumptionError, InputError
from pulens.learning.learners.advice.archived import KINDS, archived


@pytest.mark.parametrize("kind", KINDS)
def test_three_learners_are_named_with_losses_and_where_they_come_from(kind):
    result = advise(rows=5000, labelled=300, kind=kind, class_prior=0.4, scenario="case-control")
    losses = [one.expected_loss for one in result.suggestions]
    assert len(losses) == 3
    assert losses == sorted(losses)
    for one in result.suggestions:
        assert one.worst_on in result.data_sets
        assert one.interval is None or one.interval.low <= one.expected_loss <= one.interval.high
        assert one.title in str(result)
        assert hasattr(learners, one.call.split("(")[0])
    assert result.conditions in " ".join(str(result).split())


def test_labels_and_their_counts_say_the_same():
    labels = np.repeat([1, 0], [50, 950])
    assert advise(labels, class_prior=0.2) == advise(rows=1000, labelled=50, class_prior=0.2)
    assert advise(np.where(labels, "yes", "no"), positive="yes", class_prior=0.2) == advise(labels, class_prior=0.2)


def test_a_range_is_knowledge_and_an_estimators_name_is_not():
    assert advise(rows=1000, labelled=50, class_prior=(0.1, 0.3)).class_prior == pytest.approx(0.2)
    assert not advise(rows=1000, labelled=50, class_prior="dedpul").prior_known


def test_learners_with_too_few_runs_are_named_and_not_advised():
    result = advise(rows=5000, labelled=300, kind="picture", suggestions=50)
    left_out = dict(result.left_out)
    assert "its archived runs are on 3 of 8 data sets" in left_out["puet"]
    assert not any("as published" in name for name in left_out), "these are no learners that can be called"
    assert "true labels" in left_out["lagam"]
    assert not {"puet", "lagam", "pn"} & {one.learner for one in result.suggestions}


def test_every_learner_of_the_table_can_be_written_as_it_says():
    table = archived()
    names = {name for cell in table.cells for name in cell.accuracy}
    assert names <= set(table.titles)
    assert names <= set(table.calls)
    for cell in table.cells:
        assert all(0 < reached <= 1 for reached in cell.accuracy.values())
        assert 0 < cell.condition.labelled < cell.condition.rows


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "advise needs labels"),
        ({"rows": 100}, "both of rows and labelled"),
        ({"rows": 100, "labelled": 100}, "there must be unlabelled rows"),
        ({"rows": 100, "labelled": 0}, "labelled must be a whole number of at least 1, got 0"),
        ({"rows": 100, "labelled": 5, "kind": "sound"}, "kind must be one of 'table', 'text', 'picture', got 'sound'"),
        ({"rows": 100, "labelled": 5, "suggestions": 0}, "suggestions must be a whole number"),
        ({"labels": [0, 0]}, "no labelled positive"),
        ({"labels": [1, -1]}, "labels of -1"),
        ({"labels": [1, 0], "rows": 2}, "not both"),
    ],
)
def test_what_cannot_be_asked_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        advise(**given)


@pytest.mark.parametrize("prior", [0, 1.5, (0.4, 0.2), (0.1, 0.2, 0.3), True, "nonsense", float("nan"), 0.01])
def test_impossible_class_priors_are_refused(prior):
    with pytest.raises(AssumptionError, match=r"class_prior"):
        advise(rows=100, labelled=5, class_prior=prior)


def test_an_answer_that_travelled_says_the_same():
    result = advise(rows=5000, labelled=300)
    for there in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert there.to_dict() == result.to_dict()
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()
    assert "<pre>" in result._repr_html_()


@pytest.fixture
def table(tmp_path):
    rows = [f"{'yes' if row < 60 else 'no'},{row}" for row in range(900)]
    (tmp_path / "rows.csv").write_text("\n".join(["status,a", *rows]))
    return tmp_path / "rows.csv"


def test_the_command_line_reads_labels_and_says_what_python_says(table, tmp_path, capsys):
    words = ["learners", "advise", str(table), "--label", "status", "--positive", "yes", "--class-prior", "0.1:0.3"]
    main([*words, "--json", str(tmp_path / "advice.json")])
    expected = advise(rows=900, labelled=60, class_prior=(0.1, 0.3))
    said, _, following = capsys.readouterr().out.partition("\n\nnext:\n")
    table_of, _, rest = str(expected).partition("in Python:\n")
    assert said == table_of + rest.partition("\n\n")[2]  # all but the calls, for which there is a command
    assert shlex.split(following.replace("\\\n", " ")) == [
        *("pulens", "fit", str(table), "--label", "status", "--positive", "yes", "--class-prior", "0.1:0.3"),
        *("--learner", expected.suggestions[0].learner),
    ]
    assert json.loads((tmp_path / "advice.json").read_text()) == expected.to_dict()
    main([*words, "--json", "-"])
    assert json.loads(capsys.readouterr().out) == expected.to_dict()


def test_the_command_line_leaves_nothing_where_it_refuses(table, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["learners", "advise", str(table), "--label", "status", "--json", str(tmp_path / "advice.json")])
    assert end.value.code == 2
    assert "label" in capsys.readouterr().err
    assert not (tmp_path / "advice.json").exists()


def test_what_the_archived_runs_do_not_cover_is_said():
    """Runs on tables are single set, those on texts case-control, and all were told the class prior."""
    table = {"rows": 2000, "labelled": 200, "class_prior": 0.3}
    assert advise(**table).notice is None
    apart = advise(**table, scenario="case-control").notice
    assert "No archived run on data of this kind is case-control." in apart
    unknown = advise(rows=2000, labelled=200)
    assert "Learners were told the class prior there" in unknown.notice
    assert " ".join(unknown.notice.split()) in " ".join(str(unknown).split())
    assert "is single-set" in advise(**table, kind="text").notice
