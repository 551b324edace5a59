r"""Where a network begins on few rows: not at random weights, but where a few steps of nnPU have led.

Methods are published with settings for thousands of labelled rows. With some tens an epoch has a few steps, and the
epoch to keep is chosen by a handful of held-out rows: often one in which the network is still as it was drawn, or has
turned against its own labels. From a network that ranks already every epoch is a fair choice. The few steps are those
of nnPU with the logistic loss, which is nowhere flat (:mod:`pulens.risks.correction`), on the rows that are trained on.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pulens.learning.learners.base.collapse import places_to_look_at, well_known_auc
from pulens.learning.learners.base.proxies import proxy_auc
from pulens.learning.learners.stack.networks import built
from pulens.learning.learners.stack.program import Builder
from pulens.learning.learners.stack.rows import StackedRows
from pulens.learning.risks.correction import corrected
from pulens.learning.risks.losses import logistic
from pulens.learning.risks.pu import risk_parts
from pulens.scenario import Scenario

STEPS = 120
#: learning rates, the first that gets labelled rows known well: Adam moves a weight by about the rate in a step
RATES = (1e-3, 5e-3, 2.5e-2)
LABELLED_BATCH, POPULATION_BATCH = 64, 256
UNKNOWN_PRIOR = 0.5  # a start need not call the right share


class _WarmRows:
    """The only run's rows of a stack, as the few steps draw them."""

    def __init__(self, data: StackedRows) -> None:
        known, count = data.n_labelled[0], data.n_rows[0]
        self.table, self.rows = data.table, data.rows[0, :count]
        first = 0 if data.scenario is Scenario.SINGLE_SET else known
        weights = np.ones(count) if data.weights is None else data.weights[0, :count].double().cpu().numpy()
        self.labelled, self.population = np.arange(known), np.arange(first, count)
        self.unlabelled = np.arange(known, count)
        self._chances = {kind: _chances(weights[places]) for kind, places in self._kinds.items()}

    @property
    def _kinds(self) -> dict[str, NDArray[np.int64]]:
        return {"labelled": self.labelled, "population": self.population}

    def draw(self, rng: np.random.Generator, kind: str, size: int) -> torch.Tensor:
        places = self._kinds[kind]
        return self.at(places[np.searchsorted(self._chances[kind], rng.random(size), side="right")])

    def at(self, places: NDArray[np.int64]) -> torch.Tensor:
        result: torch.Tensor = self.table[self.rows[torch.as_tensor(places, device=self.rows.device)]]
        return result


def _chances(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ends of the pieces of the unit interval that belong to rows; a row of no weight has none, unless none has any.

    >>> _chances(np.array([1.0, 0.0, 3.0])), _chances(np.zeros(2))
    (array([0.25, 0.25, 1.  ]), array([0.5, 1. ]))
    """
    ends = (weights if weights.any() else np.ones_like(weights)).cumsum()
    result: NDArray[np.float64] = ends / ends[-1]
    return result


class WarmStart:
    """Makes the network from which a stack of one run begins, and keeps it.

    Larger learning rates are tried while labelled rows are not known well; the best of them stays.

    >>> from pulens.learning.learners.stack.rows import Part
    >>> table = torch.as_tensor(np.random.default_rng(0).normal(size=(300, 2)), dtype=torch.float32)
    >>> labelled = np.flatnonzero(table.sum(1) > 2.5)
    >>> part = Part(labelled, np.setdiff1d(np.arange(300), labelled))
    >>> data = StackedRows(table, [part], Scenario.SINGLE_SET)
    >>> network = WarmStart()(lambda: nn.Linear(2, 1), data, 0.1, seed=0)
    >>> scores = network(table).detach().numpy()[:, 0]
    >>> bool(proxy_auc(scores[part.labelled], scores[part.unlabelled]) > 0.8)
    True
    """

    network: nn.Module | None = None

    def __call__(self, build: Builder, data: StackedRows, class_prior: float | None, seed: int) -> nn.Module:
        rows = _WarmRows(data)
        enough = well_known_auc(class_prior, rows.labelled.size, rows.unlabelled.size, data.scenario)
        prior = UNKNOWN_PRIOR if class_prior is None else class_prior
        result: list[tuple[float, nn.Module]] = []
        for rate in RATES:
            network = _after_steps(built(build, seed), rows, prior, rate, seed)
            result.append((_known(network, rows), network))
            if result[-1][0] >= enough:
                break
        self.network = max(result, key=lambda one: one[0])[1].cpu()
        return self.network


def _known(network: nn.Module, rows: _WarmRows) -> float:
    """Chance that a labelled row outscores an unlabelled one."""
    network.eval()

    def scores(places: NDArray[np.int64]) -> NDArray[np.float64]:
        parts = rows.at(places[places_to_look_at(places.size)]).split(POPULATION_BATCH)
        result: NDArray[np.float64] = torch.cat([network(part).reshape(-1) for part in parts]).double().cpu().numpy()
        return result

    with torch.no_grad():
        return proxy_auc(scores(rows.labelled), scores(rows.unlabelled))


def _after_steps(network: nn.Module, rows: _WarmRows, class_prior: float, rate: float, seed: int) -> nn.Module:
    device = rows.table.device
    network = network.to(device).train()
    optimiser = torch.optim.Adam(network.parameters(), lr=rate)
    rng = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)  # dropout, where the network has some
        for _ in range(STEPS):
            labelled, population = (
                rows.draw(rng, kind, size)
                for kind, size in (("labelled", LABELLED_BATCH), ("population", POPULATION_BATCH))
            )
            logits = network(torch.cat([labelled, population])).reshape(-1)
            ours, theirs = logits[:LABELLED_BATCH], logits[LABELLED_BATCH:]
            as_negative = logistic(ours, -1).mean()
            parts = risk_parts(logistic(ours, 1).mean(), as_negative, logistic(theirs, -1).mean(), class_prior)
            optimiser.zero_grad()
            corrected(parts).backward()
            optimiser.step()
    return network
