"""One word for one thing, and the older spellings in people's files and scripts still mean what they meant."""

from __future__ import annotations

import json

import pytest
from pulens.benchmark import leaderboard, rates

from pulens.cli import main
from pulens.errors import InputError
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol, parse_protocol
from synthetic_archive import LEARNERS, make

PROTOCOL = """
name: mine
{key}: [nnpu]
datasets: [digits]
seeds: [1]
scenario: case-control
validation_share: 0.25
rows: 400
conditions: [{{mechanisms: [S1], label_frequencies: [0.5]}}]
settings: {{nnpu: {{all: {{selection: {selection}}}}}}}
"""


def keys(**words):
    return [run.key for run in expand(parse_protocol(PROTOCOL.format(**words), "mine.yaml")).runs]


@pytest.mark.parametrize(
    ("words", "older"),
    [
        ({"key": "learners", "selection": "proxy_roc_auc"}, {"key": "methods", "selection": "proxy_auc"}),
        ({"key": "learners", "selection": "oracle_accuracy"}, {"key": "methods", "selection": "oracle"}),
    ],
)
def test_a_protocol_in_older_words_asks_for_the_same_runs(words, older):
    assert keys(**words) == keys(**older)
    run = expand(parse_protocol(PROTOCOL.format(**older), "mine.yaml")).runs[0]
    assert run.own_selection == words["selection"]


def test_both_spellings_of_a_key_are_refused():
    text = PROTOCOL.format(key="methods", selection="last") + "learners: [vpu]\n"
    with pytest.raises(InputError, match="'learners' and its older spelling 'methods' are both there"):
        parse_protocol(text, "mine.yaml")


def test_an_error_names_the_line_of_an_older_key():
    with pytest.raises(InputError, match=r"mine.yaml, line 3: there is no learner 'nnppu'.*Did you mean 'nnpu'"):
        parse_protocol(PROTOCOL.format(key="methods", selection="last").replace("[nnpu]", "[nnppu]"), "mine.yaml")


def test_functions_and_commands_take_older_words(tmp_path, capsys):
    assert load_protocol("smoke", methods=["nnpu"]) == load_protocol("smoke", learners=["nnpu"])
    listings = []
    for option in ("--learners", "--methods"):
        main(["bench", "plan", "smoke", option, "nnpu", "--list"])
        listings.append(capsys.readouterr().out)
    assert listings[0] == listings[1]
    assert len(listings[0].splitlines()) == 4
    main(["bench", "new-method", "mine", "--folder", str(tmp_path)])
    assert (tmp_path / "mine.py").exists()
    main(["bench", "--help"])
    shown = capsys.readouterr().out
    assert "new-learner" in shown
    assert "new-method" not in shown


def test_reports_take_older_words_and_say_the_newer(tmp_path):
    few = {name: LEARNERS[name] for name in ("nnpu", "vpu")}
    archive = make(tmp_path / "a", learners=few, datasets={"mnist": 0.5}, seeds=(1, 2), epochs=3)
    older = leaderboard.board(archive, metric="auc", selection="proxy_auc")
    assert (older.metric, older.selection) == ("roc_auc", "proxy_roc_auc")
    assert older.cells == leaderboard.board(archive, metric="roc_auc", selection="proxy_roc_auc").cells
    assert archive.choice(archive.done[0]["key"], "proxy_auc") == archive.choice(
        archive.done[0]["key"], "proxy_roc_auc"
    )


def test_rates_measured_by_older_versions_are_read(tmp_path):
    rate = {"dataset": "digits", "kind": "table", "device": "cpu", "seconds": 1.0, "memory": 1.0, "runs": 1, "stack": 1}
    path = tmp_path / "rates.json"
    path.write_text(json.dumps({"source": "mine", "rates": [{"method": "nnpu", **rate}]}))
    assert rates.load_rates(path)[1] == [rates.Rate(learner="nnpu", **rate)]
