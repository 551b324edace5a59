"""A run that finds a shared GPU full waits for room and tries once more before it is written down as failed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from pulens.benchmark import work

from pulens.research.benchmark.memory import run_bytes
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol

LARGE = 1 << 40


@pytest.fixture
def run():
    return expand(load_protocol("smoke")).runs[0]


@pytest.fixture
def gpu(monkeypatch):
    """A GPU of a terabyte whose free memory is what the test says, look by look; the last figure stays."""
    free, slept = [LARGE], []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free.pop(0) if len(free) > 1 else free[0], LARGE))
    monkeypatch.setattr(work.time, "sleep", slept.append)
    monkeypatch.setattr(work, "failed", lambda run, reason, device: SimpleNamespace(status="failed", reason=reason))
    return free, slept


def trainer(outcomes, seen):
    def train(stack, device, cache):
        seen.append(len(stack))
        result = outcomes.pop(0)
        if isinstance(result, Exception):
            raise result
        return [SimpleNamespace(key=one.key, status=result) for one in stack]

    return train


def test_a_run_waits_for_room_and_is_then_done(monkeypatch, gpu, run):
    free, slept = gpu
    free[:] = [0, run_bytes(run) // 2, LARGE]
    kept, seen = [], []
    monkeypatch.setattr(work, "train", trainer([torch.OutOfMemoryError("full"), "done"], seen))
    work.do([run], "cuda", None, kept.extend)
    assert [row.status for row in kept] == ["done"]
    assert seen == [1, 1]
    assert slept == [work.LOOK_EVERY] * 2


def test_a_run_that_is_too_large_for_an_empty_gpu_fails_after_one_more_try(monkeypatch, gpu, run):
    kept, seen = [], []
    monkeypatch.setattr(work, "train", trainer([torch.OutOfMemoryError("full")] * 2, seen))
    work.do([run], "cuda", None, kept.extend)
    assert [row.status for row in kept] == ["failed"]
    assert kept[0].reason.startswith("OutOfMemoryError")
    assert seen == [1, 1]


def test_a_stack_that_finds_no_room_is_halved_without_waiting(monkeypatch, gpu, run):
    free, slept = gpu
    free[:] = [0]
    kept, seen = [], []
    monkeypatch.setattr(work, "train", trainer([torch.OutOfMemoryError("full"), "done", "done"], seen))
    work.do([run, run], "cuda", None, kept.extend)
    assert seen == [2, 1, 1]
    assert not slept


def test_patience_ends(monkeypatch, gpu, run):
    free, slept = gpu
    free[:] = [0]
    monkeypatch.setattr(work, "PATIENCE", -1.0)
    assert not work.room_came_back(run, "cuda")
    assert not work.room_came_back(run, "cpu")
    assert not slept
