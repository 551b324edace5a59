"""pulens reproduce: one study, all of them, and what happens when one fails."""

from __future__ import annotations

import pytest
from pulens.studies import Claim, Outcome, Study

from pulens import studies
from pulens.cli import main
from pulens.errors import MissingDependencyError


def study(*verdicts):
    claims = tuple(Claim(f"claim {i}", verdict, "measured") for i, verdict in enumerate(verdicts))
    return Study("Title", "paper 9", lambda bench: Outcome(("a table",), claims))


def broken(error):
    def run(bench):
        raise error

    return Study("Broken", "paper 9", run)


@pytest.fixture
def three(monkeypatch):
    """Studies that take no time in place of the real ones."""
    result = {"a": study("reproduced", "differs"), "b": broken(ZeroDivisionError("by zero")), "c": study("reproduced")}
    monkeypatch.setattr(studies, "names", lambda: tuple(result))
    monkeypatch.setattr(studies, "find", result.__getitem__)
    return result


def test_all_goes_on_after_a_failure_and_ends_with_exit_code_1(three, capsys):
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "--all", "--quick"])
    assert end.value.code == 1
    shown = capsys.readouterr().out
    assert "failed: ZeroDivisionError: by zero (test_reproduce.py, line" in shown
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line[:2] in ("a ", "b ", "c ", "al")}
    assert rows["a"][:3] == ["1", "1", "0"]
    assert rows["b"][0] == "failed"
    assert rows["c"][:3] == ["1", "0", "0"]
    assert rows["all"][:3] == ["2", "1", "0"]


def test_a_study_that_lacks_data_or_a_library_is_not_run_and_not_a_failure(three, capsys):
    three["b"] = broken(MissingDependencyError("PyTorch", purpose="this study", extra="torch"))
    main(["reproduce", "--all"])
    shown = capsys.readouterr().out
    assert "not run: this study needs PyTorch" in shown


def test_a_study_asked_for_by_name_shows_its_error(three):
    with pytest.raises(ZeroDivisionError):
        main(["reproduce", "b"])


def test_one_study_has_no_summary(three, capsys):
    main(["reproduce", "a"])
    shown = capsys.readouterr().out
    assert "reproduced: claim 0 (measured)" in shown
    assert "seconds" not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce"], "name a study"),
        (["reproduce", "bounds-figure-22"], "Did you mean 'bounds-figure-2'?"),
        (["reproduce", "--all", "pulp-table-1"], "--all runs every study"),
    ],
)
def test_bad_requests_end_with_exit_code_2(words, message, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_every_study_is_listed_with_its_title(capsys):
    main(["reproduce", "--list"])
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown] == list(studies.names())
    assert all(len(line.split()) > 2 for line in shown)
