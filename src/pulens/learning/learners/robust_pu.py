r"""Robust-PU: train on easy rows first, let harder ones in as training goes on (Zhu et al. 2023).

Pre-training by nnPU says how hard every row is under its provisional label (labelled positive, unlabelled negative).
Every episode turns hardness into weights, by a threshold that grows, and trains on the weighted cross-entropy

.. math:: L = \frac1n \sum_i v(d_i; \tau)\, \mathrm{CE}(z_i, s_i).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from pulens.errors import InputError, listed
from pulens.learning.learners.base.facts import DISAMBIGUATION, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.nnpu import SMOOTH_LOSSES, RiskProgram
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.program import Stage
from pulens.learning.learners.stack.rows import Batch, Batches, Draw, Pooled, StackedRows
from pulens.learning.learners.stack.selection import Selection, check_selection
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.learners.stack.watching import BestParameters
from pulens.learning.risks.correction import corrected
from pulens.learning.risks.losses import logistic
from pulens.learning.risks.means import masked_mean
from pulens.learning.risks.self_paced import HARDNESS, SCHEDULES, WEIGHTS, hardness, threshold


@dataclass(frozen=True)
class EpisodePasses(Batches):
    """Several passes over shuffled rows as one epoch: an episode."""

    size: int
    times: int

    def steps(self, data: StackedRows) -> int:
        return self.times * Pooled(self.size).steps(data)

    def draws(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Draw]:
        for number in range(self.times):  # a pass is an epoch far beyond any other, for its shuffle and its dropout
            yield from Pooled(self.size, False).draws(data, streams, epoch + (number << 24))


class SelfPacedProgram(RiskProgram):
    @classmethod
    def needs_held_out_rows(cls, learner: Any) -> bool:
        return bool(learner.pretraining_selection != "last")

    def stages(self) -> list[Stage]:
        for name, allowed in (("hardness", HARDNESS), ("weights", WEIGHTS), ("schedule", SCHEDULES)):
            if self.value(name) not in allowed:
                raise InputError(f"{name} must be one of {listed(tuple(allowed))}, got {self.value(name)!r}.")
        first = self.adam(
            learning_rate=self.value("pretraining_learning_rate"), weight_decay=self.value("pretraining_weight_decay")
        )
        size, times = self.value("batch_size"), self.value("epochs_per_episode")
        return [
            Stage("pre-training", self.value("pretraining_epochs"), Pooled(size), first, selectable=False),
            Stage("episodes", self.value("episodes"), EpisodePasses(size, times), self.adam(), renew_every=1),
        ]

    def begin_stage(self, stage: Stage) -> None:
        if stage.name == "pre-training":
            criterion = self._criterion()
            self.watch = None if criterion is None else BestParameters(self.stack, criterion)
            self.weights: torch.Tensor | None = None
            self.kept_epoch = [stage.epochs] * self.stack.runs
        elif self.watch is not None:
            self.kept_epoch = self.watch.put_back()

    def _criterion(self) -> Selection | None:
        """What picks the epoch of pre-training that the episodes start from."""
        name, held_out = check_selection(self.value("pretraining_selection")), self.stack.held_out
        if name == "last" or held_out is None:
            return None
        return Selection(name, held_out, self.stack.class_priors)

    def end_epoch(self, stage: Stage) -> None:
        if stage.name == "pre-training" and self.watch is not None:
            self.watch.look(self, self.epoch_in_stage + 1)

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        if stage.name != "episodes":
            return
        fresh = self._weights(self.epoch_in_stage)
        memory = _column(self.value("memory"))
        self.hold("weights", fresh if self.weights is None else memory * self.weights + (1 - memory) * fresh)
        if self.value("restart"):
            self._begin_anew(moment_epoch)

    def _weights(self, episode: int) -> torch.Tensor:
        """Every row's weight, [R, widest]."""
        data, kind, growth = self.stack.data, self.value("hardness"), self.value("schedule")
        z = self.stack.network.score(data.table, data.rows)
        result = []
        for group, sign in (("labelled", 1), ("unlabelled", -1)):
            start, most = self.value(f"{group}_start"), self.value(f"{group}_most")
            tau = _column(threshold(growth, episode, start, most, self.value("growing_episodes")))
            d = hardness(z, sign, _column(self.value(f"{group}_temperature")), kind)
            result.append(WEIGHTS[self.value("weights")](d, tau))
        labelled, unlabelled = result
        return torch.where(data.is_labelled, self._labelled_weight() * labelled, unlabelled)

    def _labelled_weight(self) -> Any:
        """What a labelled row weighs besides, [R, 1]: as many rows as make up the positives of the population."""
        given = self.value("labelled_weight")
        if given is not None:
            return _column(given)
        data = self.stack.data
        return (self.stack.class_prior * data.is_population.sum(1) / data.labelled_counts)[:, None]

    def _begin_anew(self, moment_epoch: int) -> None:
        stack = self.stack
        assert stack.backbone is not None
        name = f"{stack.network.name} {moment_epoch}"
        stack.network.restore(
            StackedNetwork(stack.backbone, stack.streams.seeds, stack.data.device, name=name).snapshot()
        )

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        if stage.name == "pre-training":
            risk: torch.Tensor = corrected(self.parts(batch))
            return risk
        assert self.weights is not None
        z = self.stack.logits(batch)
        losses = torch.where(batch.labelled > 0, logistic(z, 1), logistic(z, -1))
        weighted = self.weights.gather(1, batch.positions) * losses
        # the mean is over all rows of the batch: dividing by the weights would blow batches of hard rows up
        result: torch.Tensor = masked_mean(weighted, batch.labelled + batch.unlabelled)
        return result

    def facts(self, run: int) -> dict[str, Any]:
        return {"pretraining_epoch": int(self.kept_epoch[run])}


def _column(value: Any) -> Any:
    """A number per run beside the rows of the runs."""
    return value[:, None] if isinstance(value, torch.Tensor) else value


@dataclass(kw_only=True, eq=False, repr=False)
class RobustPU(PULearner):
    """Robust-PU: nnPU, then episodes of weighted training in which hard rows are let in little by little.

    Needs the class prior. The authors trained on one labelled row for every two unlabelled ones; where labelled rows
    are rarer their recipe drifts towards calling everything negative. Hence by default labelled rows stand for all
    positives of the population (``labelled_weight``), and the threshold of unlabelled rows stops at 0.3.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.repeat([True, False], [300, 400])
    >>> X = rng.normal(size=(700, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = np.repeat([1, 0], [60, 640])
    >>> rates = {"pretraining_learning_rate": 0.05, "learning_rate": 0.01}
    >>> learner = RobustPU(class_prior=3 / 7, backbone="linear", random_state=0, **rates).fit(X, labels)
    >>> bool((learner.predict(X) == positive).mean() > 0.95)
    True
    """

    selection: str = "proxy_auc"  #: among episodes; with few held-out positives steadier than the proxy accuracy
    pretraining_epochs: int = 40  #: the authors have 100 to 400
    #: of pre-training; None is "sigmoid", the authors', and leaves ``fit`` free to turn to "logistic" after a collapse
    loss: str | None = setting(None, among=SMOOTH_LOSSES, own="sigmoid")
    pretraining_learning_rate: float = setting(3e-4, above=0)
    pretraining_weight_decay: float = 1e-4
    pretraining_selection: str = "last"  #: or the criterion that picks the epoch to go on from
    episodes: int = setting(10, least=1)  #: the authors have 100 and stop after 5 without improvement
    epochs_per_episode: int = setting(2, least=1)  #: passes over the rows, with a fresh optimiser
    hardness: str = "logistic"  #: or "sigmoid"
    weights: str = "welsch"  #: how hardness becomes weight: a name of pulens.risks.self_paced.WEIGHTS
    schedule: str = "linear"  #: how thresholds grow: "linear", "convex", "concave", "exponential", "constant"
    growing_episodes: int = 5
    labelled_start: float = 0.1
    labelled_most: float = 1.0
    unlabelled_start: float = 0.11
    unlabelled_most: float = 0.3  #: the authors have 1
    labelled_temperature: float = setting(1.0, above=0)
    unlabelled_temperature: float = setting(1.3, above=0)
    labelled_weight: float | None = None  #: None: labelled rows stand for all positives; the authors have 1
    #: share of a row's old weight that stays from one episode to the next
    memory: float = setting(0.0, least=0, most=1)
    restart: bool = False  #: begin every episode with a fresh network
    batch_size: int = setting(256, least=1)
    #: of the episodes; the authors have 1e-4 or, for a small network, 1e-2
    learning_rate: float = setting(1e-4, above=0)
    weight_decay: float = 0.0

    _program = SelfPacedProgram


LEARNER = Learner(RobustPU, title="Robust-PU", family=DISAMBIGUATION, place=12)
