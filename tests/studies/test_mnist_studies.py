"""Figures 1 to 3 of paper 002: the trainings they rest on, and the road on made-up pictures."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.benchmark import datasets
from pulens.studies import Workbench, _mnist
from scipy.special import expit

from pulens import studies
from pulens.errors import PulensError
from pulens.research.benchmark.datasets import LabelledData
from pulens.research.studies._mnist import SETTINGS, TrainingDesign, labelled_error, pu_error, trained

pytestmark = pytest.mark.torch
TINY = TrainingDesign(sizes=(20, 60), trials=2, unlabelled=150, epochs=3, shrink=7)


@pytest.fixture
def pictures(monkeypatch):
    """Bright pictures are high digits."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)

    def make(rows):
        digits = rng.integers(0, 10, rows)
        brightness = digits[:, None, None, None] * 15.0 + rng.normal(60, 25, (rows, 1, 28, 28))
        return brightness.clip(0, 255).astype(np.uint8), digits

    (X, target), (X_test, target_test) = make(400), make(300)
    data = LabelledData(X, None, X_test, None, target=target, target_test=target_test)
    monkeypatch.setattr(datasets, "load", lambda name: data)
    monkeypatch.setattr(_mnist, "_MADE", {})
    monkeypatch.setattr(TrainingDesign, "of", classmethod(lambda cls, bench: TINY))
    return data


@pytest.mark.slow
def test_three_figures_come_from_one_training(pictures, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    runs = []
    genuine = _mnist.train_all
    monkeypatch.setattr(_mnist, "train_all", lambda *given: runs.append(1) or genuine(*given))
    for number, claims in ((1, 5), (2, 2), (3, 2)):
        outcome = studies.find(f"pu-ece-figure-{number}").run(Workbench(quick=True, out=tmp_path))
        assert len(outcome.claims) == claims
        assert [path.name for path in outcome.files] == [f"pu-ece-figure-{number}.png"]
        assert all(setting in outcome.tables[0] for setting in SETTINGS)
    monkeypatch.setattr(_mnist, "_MADE", {})  # another process: what lies in the folder is read
    claim = studies.find("pu-ece-figure-4").run(Workbench(quick=True, out=tmp_path)).claims[-2]
    assert claim.statement == "the same holds on MNIST"
    assert claim.verdict in ("reproduced", "differs")
    assert "PU-logistic -" in claim.because
    assert len(runs) == 1
    (tmp_path / "mnist-runs-quick-seed-0.npz").write_bytes(b"PK\x03\x04 half a file")
    with pytest.raises(PulensError, match="Remove it to compute them again"):
        trained(Workbench(quick=True, out=tmp_path))


def test_kept_results_are_read_back_unchanged(pictures, tmp_path):
    first = trained(Workbench(quick=True, out=tmp_path))
    second = trained(Workbench(quick=True, out=tmp_path))
    for name in ("errors", "pu_errors", "accuracies", "logits", "is_positive"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.errors.shape == (4, 2, 2)
    assert first.accuracies[0, 1].max() > 0.8  # supervised networks see what is bright


def test_the_supervised_risk_is_the_mean_loss_over_all_rows():
    torch = pytest.importorskip("torch")
    from types import SimpleNamespace

    from pulens.research.studies._mnist_training import PNProgram

    z = torch.tensor([[0.5, -1.0, 2.0]])
    batch = SimpleNamespace(labelled=torch.tensor([[1.0, 0.0, 0.0]]), unlabelled=torch.tensor([[0.0, 1.0, 1.0]]))
    program = PNProgram.__new__(PNProgram)
    program.stack = SimpleNamespace(logits=lambda batch: z, settings={"loss": "logistic"})
    expected = np.mean([np.log1p(np.exp(-0.5)), np.log1p(np.exp(-1.0)), np.log1p(np.exp(2.0))])
    assert float(program.loss(None, batch)[0]) == pytest.approx(expected, abs=1e-6)


def test_both_errors_see_overconfidence():
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 2, 8_000)
    positive = rng.random(8_000) < expit(logits)
    for error, floor in ((lambda z: labelled_error(z, positive), 0.02), (lambda z: pu_error(z, positive, rng), 0.06)):
        assert error(logits) < floor
        assert error(4 * logits) > 0.1
