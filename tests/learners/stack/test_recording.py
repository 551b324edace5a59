"""Steps that are recorded and replayed train the same networks as steps that run one by one."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from pulens.learners import fit_many
from tests.learners.stack.test_stack import SHORT, pictures, small

from pulens.learning.learners.stack import loop, optimiser, recording
from pulens.learning.learners.stack.streams import Slots, Streams, drawing_from

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Replayed:
    """What a CUDA graph does, on a CPU: capturing changes nothing, and a replay sees the attributes of the capture.

    A program that binds a new tensor in a step, instead of changing the old one in place, is found out: its next replay
    does not see it. So is one that counts steps in a Python number.
    """

    replays = 0

    def __call__(self, function):
        parts, tensors = reached([cell.cell_contents for cell in function.__closure__])
        attributes, values = [dict(part.__dict__) for part in parts], [tensor.clone() for tensor in tensors]
        function()
        with torch.no_grad():
            for tensor, value in zip(tensors, values, strict=True):
                tensor.copy_(value)
        for part, kept in zip(parts, attributes, strict=True):
            part.__dict__.clear()
            part.__dict__.update(kept)

        def replay():
            type(self).replays += 1
            now = [dict(part.__dict__) for part in parts]
            for part, kept in zip(parts, attributes, strict=True):
                part.__dict__.update(kept)
            function()
            for part, kept in zip(parts, now, strict=True):
                part.__dict__.update(kept)

        return replay


def reached(start):
    """Objects of the package, and tensors, that can be reached; not those of the recording itself."""
    parts, tensors, seen, waiting = [], [], set(), list(start)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, (recording.Recording, recording.Recorder)):
            waiting += [one.program] if isinstance(one, recording.Recorder) and id(one) not in seen else []
            seen.add(id(one))
            continue
        seen.add(id(one))
        if isinstance(one, torch.Tensor):
            tensors.append(one.detach())
        elif isinstance(one, (list, tuple)):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
        elif type(one).__module__.startswith("pulens.learning.learners") and hasattr(one, "__dict__"):
            parts.append(one)
            waiting += vars(one).values()
    return parts, tensors


@pytest.fixture
def recorded(monkeypatch):
    """Counts and factors in memory; with the argument True steps are also recorded."""
    monkeypatch.setattr(optimiser, "IN_MEMORY", ("cpu", "cuda"))
    monkeypatch.setattr(Replayed, "replays", 0)

    def switch(on):
        monkeypatch.setattr(loop, "is_wanted", lambda program: on and program.recordable)
        if DEVICE == "cpu":
            monkeypatch.setattr(loop, "Graphs", Replayed)

    return switch


def table(shape, rows=300, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.4
    X = rng.normal(size=(rows, *shape)) + 1.2 * positive.reshape(-1, *[1] * len(shape))
    return X.astype(np.float32), positive


def trained(learner, shape, backbone, uneven, **more):
    """Scores of a stack of two runs; the second has fewer labelled rows where ``uneven``."""
    X, positive = table(shape)
    options = {"class_prior": 0.4, "backbone": backbone, "device": DEVICE, "selection": "last"} | SHORT[learner] | more
    if learner.__name__ == "HolisticPU" and len(shape) > 1:
        options["views"] = "auto"
    if learner.__name__ == "VAEPU":
        options["steps_per_epoch"] = 7
    if learner.__name__ in ("CGenPU", "LBE"):
        options["steps_per_epoch"] = 8
    if learner.__name__ == "VPU":
        options["steps_per_epoch"] = 9
    learners = [learner(random_state=seed, **options) for seed in (3, 4)]
    labels = [(positive & (np.arange(300) % keep > 0)).astype(int) for keep in ((2, 3) if uneven else (2, 2))]
    result = fit_many(learners, X, labels)
    return np.stack([one.decision_function(X) for one in result])


@pytest.mark.per_learner
@pytest.mark.parametrize("uneven", [False, True], ids=["even", "uneven"])
@pytest.mark.parametrize("learner", SHORT, ids=lambda one: one.__name__)
def test_recorded_steps_train_the_same_networks(learner, uneven, recorded):
    recorded(False)
    plain = trained(learner, (6,), small, uneven)
    recorded(True)
    replayed = trained(learner, (6,), small, uneven)
    assert Replayed.replays > 0 or DEVICE == "cuda"
    tolerance = 0 if DEVICE == "cpu" else 1e-3
    np.testing.assert_allclose(replayed, plain, rtol=tolerance, atol=tolerance)


@pytest.mark.per_learner
@pytest.mark.parametrize("learner", SHORT, ids=lambda one: one.__name__)
def test_recorded_steps_on_pictures(learner, recorded):
    recorded(False)
    plain = trained(learner, (1, 8, 8), pictures, False)
    recorded(True)
    replayed = trained(learner, (1, 8, 8), pictures, False)
    tolerance = 0 if DEVICE == "cpu" else 1e-2
    np.testing.assert_allclose(replayed, plain, rtol=tolerance, atol=tolerance)


def test_runs_that_stop_early_stand_still_in_replays(recorded):
    learner = next(one for one in SHORT if one.__name__ == "NNPU")
    options = {"selection": "proxy_accuracy", "patience": 1, "epochs": 12, "validation_fraction": 0.2}
    recorded(False)
    plain = trained(learner, (6,), small, False, **options)
    recorded(True)
    np.testing.assert_allclose(trained(learner, (6,), small, False, **options), plain, rtol=1e-3 * (DEVICE == "cuda"))


def test_learning_rates_that_differ_between_runs(recorded):
    X, positive = table((6,))
    learner = next(one for one in SHORT if one.__name__ == "NNPU")
    result = []
    for on in (False, True):
        recorded(on)
        runs = [
            learner(
                random_state=1, class_prior=0.4, backbone=small, device=DEVICE, learning_rate=rate, **SHORT[learner]
            )
            for rate in (1e-3, 1e-2)
        ]
        fitted = fit_many(runs, X, [(positive & (np.arange(300) % 2 > 0)).astype(int)] * 2)
        result.append(np.stack([one.decision_function(X) for one in fitted]))
    np.testing.assert_allclose(result[1], result[0], rtol=1e-3 * (DEVICE == "cuda"))


def test_salts_in_memory_draw_the_same_numbers():
    streams = Streams([1, 2], torch.device("cpu"))
    wanted = [streams.uniform("a", (3, 5), (4,)), streams.uniform("b", (3, 5 + (1 << 20)), (4,))]
    fixed = streams.uniform("c", (0, 0), (4,))
    slots = Slots(torch.zeros(Slots.MOST, dtype=torch.int64), (3, 2))
    with drawing_from(slots):  # recorded at step 2
        for purpose, moment in (("a", (3, 2)), ("b", (3, 2 + (1 << 20))), ("c", (0, 0))):
            streams.uniform(purpose, moment, (4,))
    slots.values[: slots.count] = torch.as_tensor(slots.salts([(3, 5)])[0])
    with drawing_from(slots):  # replayed at step 5
        again = [streams.uniform(purpose, (3, 2), (4,)) for purpose in "abc"]
    for one, other in zip([*wanted, fixed], again, strict=True):
        assert torch.equal(one, other)


def test_a_step_that_cannot_be_recorded_runs_as_it_is(recorded, monkeypatch):
    learner = next(one for one in SHORT if one.__name__ == "NNPU")
    recorded(False)
    plain = trained(learner, (6,), small, False)
    recorded(True)

    class Refuses:
        def __call__(self, function):
            raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(loop, "Graphs", Refuses)
    with pytest.warns(UserWarning, match="could not be recorded"):
        replayed = trained(learner, (6,), small, False)
    np.testing.assert_array_equal(replayed, plain)


def test_a_pool_of_memory_stays_open_between_recordings(monkeypatch):
    """A graph that is gone closes its pool, and a closed pool cannot be used again."""
    users = {}

    class Graph:
        def capture_begin(self, pool, capture_error_mode):
            assert users.get(pool, 1) > 0, "use_count > 0 INTERNAL ASSERT FAILED"
            users[pool], self.pool = users.get(pool, 0) + 1, pool

        def capture_end(self):
            pass

        def replay(self):
            pass

        def __del__(self):
            users[self.pool] -= 1

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 1))
    monkeypatch.setattr(torch.cuda, "Stream", nullcontext)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: stream)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch, "zeros", lambda *shape, device: None)
    graphs = recording.Graphs()
    for _ in range(3):
        replay = graphs(lambda: None)
        del replay
    assert users == {(0, 1): 1}


def test_the_environment_switches_recording_off(monkeypatch):
    from types import SimpleNamespace

    network = SimpleNamespace(steps=[], is_compiled=False)
    stack = SimpleNamespace(networks=[network], data=SimpleNamespace(device=torch.device("cuda")))
    program = SimpleNamespace(stack=stack, recordable=True)
    assert recording.is_wanted(program)
    monkeypatch.setenv("PULENS_CUDA_GRAPHS", "0")
    assert not recording.is_wanted(program)
