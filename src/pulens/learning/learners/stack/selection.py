"""Which epoch to keep, judged on held-out PU rows alone; with true labels only where the caller says ``oracle``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, listed, shown
from pulens.learning.learners.base.proxies import proxy_accuracy, proxy_auc
from pulens.scalars import is_among
from pulens.scenario import Scenario

if TYPE_CHECKING:
    from pulens.learning.learners.stack.program import Program
    from pulens.learning.learners.stack.rows import StackedRows

OWN = ("proxy_accuracy", "proxy_auc", "loss", "last", "oracle", "oracle_f1")


def check_selection(selection: str) -> str:
    """A criterion of our own or a metric of pulens."""
    if is_among(selection, OWN):
        return selection
    from pulens.metrics import METRICS

    if not is_among(selection, tuple(METRICS)):
        raise InputError(
            f"selection must be one of {listed(OWN)} or the name of a pulens metric, got {shown(selection)}."
        )
    return selection


@dataclass(frozen=True)
class Selection:
    """A criterion on validation rows; calling it gives one number per run, higher being better."""

    name: str
    rows: StackedRows
    class_priors: Sequence[float | None]
    truths: Sequence[NDArray[Any]] | None = None  # only for oracle selection: true means positive

    def __call__(self, program: Program) -> list[float]:
        scores = program.score(self.rows)
        return [self._of_run(program, run, scores[run, : self.rows.n_rows[run]]) for run in range(self.rows.runs)]

    def _of_run(self, program: Program, run: int, scores: Any) -> float:
        n_labelled = self.rows.n_labelled[run]
        is_case_control = self.rows.scenario is Scenario.CASE_CONTROL
        population = scores[n_labelled:] if is_case_control else scores
        if self.name == "loss":
            return -program.own_loss(scores[:n_labelled], population)
        values = scores.cpu().numpy()
        if self.name == "proxy_auc":
            return proxy_auc(values[:n_labelled], values[n_labelled:])
        prior = self.class_priors[run]
        cut = program.cut(population, run)
        if self.truths is not None:
            return _agreement(values > cut, self.truths[run], self.name)
        assert prior is not None
        if self.name == "proxy_accuracy":
            first = n_labelled if is_case_control else 0
            weights = np.ones(len(values)) if self.rows.weights is None else self._weights_of(run, len(values))
            recall = np.average(values[:n_labelled] > cut, weights=weights[:n_labelled])
            return float(proxy_accuracy(recall, np.average(values[first:] <= cut, weights=weights[first:]), prior))
        return _metric(self.name, values, n_labelled, prior, cut, str(self.rows.scenario))

    def _weights_of(self, run: int, rows: int) -> NDArray[Any]:
        """How many rows each validation row of a run stands for; all alike where those of a kind have no weight."""
        assert self.rows.weights is not None
        result: NDArray[Any] = self.rows.weights[run, :rows].double().cpu().numpy()
        known = self.rows.n_labelled[run]
        return result if result[:known].any() and result[known:].any() else np.ones(rows)


def _agreement(predicted: NDArray[Any], truth: NDArray[Any], name: str) -> float:
    if name == "oracle":
        return float((predicted == truth).mean())
    both = int((predicted & truth).sum())
    return 2 * both / max(int(predicted.sum() + truth.sum()), 1)


def _metric(name: str, scores: NDArray[Any], n_labelled: int, class_prior: float, cut: float, scenario: str) -> float:
    from pulens.metrics import find
    from pulens.metrics.parts.function import MetricFunction

    metric = find(name)
    labels = (np.arange(scores.size) < n_labelled).astype(np.int8)
    options: dict[str, Any] = {"class_prior": class_prior, "scenario": scenario}
    if metric.reads == "threshold":
        options["threshold"] = float(np.nextafter(np.float32(cut), np.float32(np.inf)))
    value = MetricFunction(name, metric, withholds=False)(labels, scores, **options).value
    return value if metric.higher_is_better else -value
