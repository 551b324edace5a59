"""The Python side's own checks can fail: tracebacks, long messages, hangs and other numbers are noticed."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip("pyarrow")
import python_side
from python_calls import functions
from python_calls.call import PythonCall
from python_side import one_python_call

import pulens
from pulens.errors import PulensError


def ended(monkeypatch, tmp_path, function, **more):
    call = PythonCall("doctored", function, words="doctored()", follow=0, **more)
    monkeypatch.setitem(functions.KINDS, "doctored", (1, lambda chance, folder: call))
    return one_python_call(3, tmp_path / "3", ("doctored",))


def test_an_error_that_is_not_the_packages_own_is_a_traceback(monkeypatch, tmp_path):
    result = ended(monkeypatch, tmp_path, lambda: 1 / 0)
    assert (result.end, result.failed) == ("traceback", True)
    assert "ZeroDivisionError" in result.detail


def test_a_message_that_nobody_reads_is_wrong(monkeypatch, tmp_path):
    class Wordy(PulensError):
        def __str__(self):
            return self.args[0] * 1000

    def refuse(words, error=PulensError):
        raise error(words)

    assert ended(monkeypatch, tmp_path, lambda: refuse("no: say yes.")).end == "refused"
    assert "5000 characters" in ended(monkeypatch, tmp_path, lambda: refuse("never", Wordy)).detail
    assert ended(monkeypatch, tmp_path, lambda: refuse("")).end == "wrong"


def test_a_call_that_does_not_end_is_a_hang(monkeypatch, tmp_path):
    from in_process import time_limit

    monkeypatch.setattr("in_process.time_limit", lambda: time_limit(1))

    def forever():
        while True:
            time.process_time()

    assert ended(monkeypatch, tmp_path, forever).end == "hang"


def test_a_container_that_gives_other_numbers_is_wrong(monkeypatch, tmp_path):
    labels, scores = np.array([1, 1, 0, 0, 0, 0]), np.array([0.9, 0.7, 0.8, 0.4, 0.3, 0.1])

    def evaluate(rows):
        return pulens.evaluate(labels, rows, unlabelled_prior=0.1, threshold=0.5, redraws=100)

    monkeypatch.setattr(python_side, "COMPARED", 1.0)
    same = ended(monkeypatch, tmp_path, lambda: evaluate(scores.tolist()), twin=lambda: evaluate(scores))
    other = ended(monkeypatch, tmp_path, lambda: evaluate(-scores), twin=lambda: evaluate(scores))
    assert (same.end, other.end) == ("answered", "wrong")
    assert "other numbers than from plain arrays" in other.detail


def test_the_same_number_is_the_same_call(tmp_path):
    first, second = (one_python_call(11, tmp_path / name, seed=4) for name in "ab")
    assert (first.kind, first.end, first.detail) == (second.kind, second.end, second.detail)
