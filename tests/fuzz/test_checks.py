"""The fuzzer's own checks can fail: doctored answers, doctored outcomes and processes that end are noticed."""

from __future__ import annotations

import math
import time

import pytest

pytest.importorskip("pyarrow")
from answers import differences, parse, unbounded_metrics, wrong_numbers
from campaign import Worker, _result, one_call
from hostile.call import Call
from hostile.numbers import make_call
from in_process import Outcome, TooLong, time_limit
from promises import check

from pulens.metrics import METRICS


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"value": 0.1, "low": 0.2, "high": 0.3}, "outside"),
        ({"value": 0.1, "interval": {"low": 0.2, "high": 0.3}}, "outside"),
        ({"value": 0.25, "low": 0.2, "high": 0.3, "sources": {"sample": {"low": 0.26, "high": 0.3}}}, "outside"),
        ({"low": 0.3, "high": 0.2}, "an interval from"),
        ({"estimates": {"recall": {"value": 1.2}}}, "beyond"),
        ({"p_value": 1.5}, "p_value"),
    ],
)
def test_numbers_that_contradict_each_other_are_found(answer, words):
    (result,) = wrong_numbers([{"deep": answer}])
    assert words in result
    assert not list(wrong_numbers({"estimates": {"recall": {"value": 0.25, "low": 0.2, "high": 0.3}}}))


def test_answers_that_differ_are_told_apart():
    first = {"a": [{"value": 0.5}], "file": "a.csv"}
    assert not list(differences(first, {"a": [{"value": 0.5 + 1e-12}], "file": "b.csv"}))
    for other in ({"a": [{"value": 0.5001}], "file": ""}, {"a": [], "file": ""}, {"a": [{"value": None}], "file": ""}):
        assert list(differences(first, other))


def test_what_only_some_readers_take_for_json_is_refused():
    with pytest.raises(AssertionError, match="NaN is not JSON"):
        parse(b'{"value": NaN}')


def test_metrics_have_their_ranges_again_after_a_look_without_them():
    before = {name: (facts.lowest, facts.highest) for name, facts in METRICS.items()}
    with unbounded_metrics():
        assert METRICS["recall"].highest == math.inf
    assert {name: (facts.lowest, facts.highest) for name, facts in METRICS.items()} == before


def test_a_file_left_behind_and_a_wrong_code_are_noticed(tmp_path):
    (tmp_path / "a.csv").write_text("label,score\n" + "".join(f"{place % 2},{place}\n" for place in range(30)))
    words = ["evaluate", "a.csv", "--class-prior", "0.6", "-q", "--json", "out.json"]
    with pytest.raises(AssertionError, match=r"left behind: \['out.json'\]"):
        check(Call("evaluate", words), tmp_path, thorough=False)
    with pytest.raises(AssertionError, match="exit code 2"):
        check(Call("evaluate", [*words, "--nope"], codes=frozenset({0})), tmp_path, thorough=False)


def test_an_assertion_without_words_is_told_by_its_place(tmp_path, monkeypatch):
    def within_the_package(*given, **options):
        raise AssertionError  # pytest would give words to an assert

    monkeypatch.setattr("hostile.numbers.make_call", lambda *given: Call("bench report", ["bench", "report"]))
    monkeypatch.setattr("promises.check", within_the_package)
    result = one_call(7, tmp_path / "7")
    assert (result.end, result.kind) == ("wrong", "bench report")
    assert "in within_the_package" in result.detail


def test_what_does_not_end_is_stopped():
    until = time.monotonic() + 30
    with pytest.raises(TooLong), time_limit(1):
        sum(1 for _ in iter(lambda: time.monotonic() > until, True))


def test_a_process_that_ends_is_counted_with_its_number(tmp_path):
    worker = Worker(tmp_path)
    worker.number, worker.since = 7, time.monotonic()
    worker.process.kill()
    worker.process.join(30)
    result, alive = _result(worker, ready=True)
    assert (result.number, result.end, alive) == (7, "killed", False)
    assert result.failed


def test_calls_of_some_kinds_are_of_these_kinds_and_the_same_each_time(tmp_path):
    for number in range(12):
        made = [make_call(number, folder(tmp_path, number, times), ["decide", "merge"]) for times in range(2)]
        assert made[0] == made[1]
        assert made[0].kind in ("decide", "merge")


def folder(place, *names):
    result = place.joinpath(*map(str, names))
    result.mkdir(parents=True)
    return result


def test_a_file_that_an_error_left_changed_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "a.state").write_text("before")

    def refusing(words, place, **given):
        (place / "a.state").write_text("after")
        return Outcome(2, b"", "pulens: no.", (), 0.1, 0)

    monkeypatch.setattr("promises.run", refusing)
    with pytest.raises(AssertionError, match=r"written in spite of an error: \['a.state'\]"):
        check(Call("watch", ["watch"], changes=frozenset({"a.state"})), tmp_path, thorough=False)
