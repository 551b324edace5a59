"""Errors that no part of a command foresaw: a sentence and exit code 2 where the input is to blame."""

from __future__ import annotations

import pytest

from pulens.cli import evaluate, main


def test_a_number_beyond_all_floats_ends_in_a_sentence(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.csv").write_text("score,label\n0.5,1\n0.2,0\n")

    def overflowing(*arguments, **named):
        return float(10**400)

    monkeypatch.setattr(evaluate.command, "callback", overflowing)
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "--labelling", "random", str(tmp_path / "a.csv")])
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert "a number is too large" in said
    assert "Traceback" not in said
