r"""Holistic-PU: tell hidden positives by how their predictions drift, then learn from that split (Wang et al. 2023).

First a classifier of labelled against unlabelled rows is trained on balanced batches, and after every epoch the
predicted chance of every unlabelled row is written down. A trend score of each trajectory and a natural break of the
scores give pseudo-labels. A fresh classifier then learns from them, with consistency between weak and strong views.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from pulens.errors import InputError, PulensError, listed
from pulens.learning.learners.base.facts import DISAMBIGUATION, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.natural_break import COSTS, natural_break
from pulens.learning.learners.parts.views import PictureView, VectorView, Views, usual_views
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Drawn, StackedRows
from pulens.learning.risks.alignment import cross_entropy
from pulens.learning.risks.losses import logistic, sigmoid
from pulens.learning.risks.trends import TRENDS, adjacent_trend, pairwise_trend
from pulens.scenario import Scenario

VIEWS = ("auto", "none", "noise")
ENDS = ("mixup", "last")
FEWEST = 5  # predictions that make a trend: the first epochs mostly undo the random start
MIXED_ROWS = 256


@dataclass(frozen=True)
class Capped(Drawn):
    """As many rows of either kind; an epoch is a pass over the unlabelled ones, at most this many steps."""

    most: int = 512

    def run_steps(self, data: StackedRows) -> list[int]:
        steps = super().run_steps(data)
        return steps if self.fixed_steps is not None else [min(self.most, count) for count in steps]


def trend_loss(weak: Any, strong: Any, unlabelled: Any, smoothing: Any) -> Any:
    r"""First phase: labelled rows (both views, smoothed labels) against unlabelled ones, per row of a batch.

    .. math:: \tfrac12 [CE_\rho(z_w, 1) + CE_\rho(z_s, 1)] + CE(z_U, 0)

    >>> trend_loss(torch.tensor([2.0]), torch.tensor([0.5]), torch.tensor([-2.0]), 0.1)
    tensor([0.4899])
    """
    target = 1 - smoothing / 2 + 0 * weak
    return (cross_entropy(weak, target) + cross_entropy(strong, target)) / 2 + logistic(unlabelled, -1)


def trust(epoch: int, epochs: int) -> float:
    r"""How far pseudo-labels are believed in an epoch of the second phase: :math:`(e/E)^{0.8}`.

    >>> [round(trust(epoch, 25), 6) for epoch in (0, 5, 12, 24)]
    [0.0, 0.275946, 0.555895, 0.96787]
    """
    return float((epoch / epochs) ** 0.8)


def consistency(weak: Any, strong: Any, confidence: Any, temperature: Any = 1.0) -> Any:
    """Cross-entropy of the strong view against the call on the weak one, zero where that call is not confident.

    >>> consistency(torch.tensor([-3.0, 2.0]), torch.tensor([-0.6, 1.0]), 0.9)
    tensor([0.4375, 0.0000])
    """
    weak = weak.detach()
    sure = sigmoid(abs(weak) / temperature, -1) >= confidence
    return sure * torch.where(weak > 0, logistic(strong, 1), logistic(strong, -1))


def falling(epoch: int, epochs: int) -> float:
    r"""The learning rate's factor :math:`\cos(7 \pi t / 16 T)`.

    >>> [round(falling(epoch, 2), 6) for epoch in range(3)]
    [1.0, 0.77301, 0.19509]
    """
    return math.cos(7 * math.pi * epoch / (16 * epochs))


class TrendProgram(Program):
    needs_class_prior = False
    recordable = True
    network_names = ("network", "trend", "average")
    always_fresh = ("trend", "average")  # a trend shows in how predictions leave random weights

    @classmethod
    def needs_held_out_rows(cls, learner: Any) -> bool:
        return bool(learner.trend_end == "mixup")

    def stages(self) -> list[Stage]:
        for name, allowed in (("trend_end", ENDS), ("trend", TRENDS), ("split", COSTS), ("views", VIEWS)):
            if self.value(name) not in allowed:
                raise InputError(f"{name} must be one of {listed(allowed)}, got {self.value(name)!r}.")
        if self.value("trend_epochs") < 2:
            raise InputError(
                f"trend_epochs must be at least 2, got {self.value('trend_epochs')!r}: one prediction is no trend."
            )
        sizes = dict.fromkeys(("labelled", "unlabelled"), self.value("batch_size"))
        batches = Capped(sizes, self.value("steps_per_epoch"), "unlabelled")
        epochs = self.value("epochs")
        optimiser = self.adam(nesterov=True, decay_weights_only=True)

        def rate(epoch: int) -> float:
            return falling(min(epoch, epochs), max(epochs, 1))

        return [
            # the rate falls in both phases as if they had the length of the second
            Stage("trend", self.value("trend_epochs"), batches, optimiser, rate, selectable=False, networks=(1,)),
            Stage("training", epochs, batches, optimiser, rate),
        ]

    def begin_stage(self, stage: Stage) -> None:
        if stage.name == "trend":
            data = self.stack.data
            self.views = self._views()
            self.trajectory = torch.zeros(data.runs, stage.epochs, data.widest, device=data.device)
            self.held_out_losses: list[torch.Tensor] = []
            self.stack.named("average").move_towards(self.stack.named("trend"), 1.0)
            self.share = self._share_of_a_step(stage)
        else:
            self.is_positive = self._pseudo_labels()

    def _views(self) -> Views | None:
        shape, kind = tuple(self.stack.data.table.shape[1:]), self.value("views")
        weak, strong = usual_views(shape, mirror=self.value("mirror"))
        if kind == "none" or (kind == "auto" and isinstance(weak, VectorView)):
            return None
        if kind == "noise" and isinstance(weak, PictureView):
            raise InputError("views='noise' is for vectors; pictures have views='auto' or 'none'.")
        return Views(self.stack.data, weak, strong)

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        size, number = self.value("batch_size"), stage.networks[0]
        weak, strong = batch.x, None
        if self.views is not None:
            streams, moment = self.stack.streams, batch.moment
            chosen = slice(None, size) if stage.name == "trend" else slice(size, None)
            strong = self.views.strong(batch.x[:, chosen], streams, moment)
            weak = self.views.weak(batch.x, streams, moment)
        z = self.stack.logits(batch, weak if strong is None else torch.cat([weak, strong], 1), network=number)
        labelled, unlabelled, other = z[:, :size], z[:, size : 2 * size], z[:, 2 * size :]
        if stage.name == "trend":
            again = labelled if strong is None else other
            first: torch.Tensor = trend_loss(labelled, again, unlabelled, self._column("label_smoothing")).mean(1)
            return first
        called = self.is_positive.gather(1, batch.positions[:, size:])
        target = trust(self.epoch_in_stage, stage.epochs) * called
        losses = logistic(labelled, 1) + cross_entropy(unlabelled, target)
        if strong is not None:
            losses = losses + consistency(unlabelled, other, self._column("confidence"), self._column("temperature"))
        second: torch.Tensor = losses.mean(1)
        return second

    def _column(self, name: str) -> Any:
        value = self.value(name)
        return value[:, None] if isinstance(value, torch.Tensor) else value

    def after_step(self, stage: Stage, batch: Batch) -> None:
        if stage.name == "trend":
            share = self.share if batch.active is None else self.share * batch.active
            self.stack.named("average").move_towards(self.stack.named("trend"), share)

    def _share_of_a_step(self, stage: Stage) -> Any:
        """What a step adds to the average, so that an epoch leaves the wanted share of the old one; [R] or a number."""
        assert isinstance(stage.batches, Capped)
        steps, memory = stage.batches.run_steps(self.stack.data), self.value("average_memory")
        if len(set(steps)) == 1:
            return 1 - memory ** (1 / steps[0])
        return 1 - memory ** (1 / torch.tensor(steps, device=self.stack.data.device))

    def end_epoch(self, stage: Stage) -> None:
        if stage.name == "trend":
            data = self.stack.data
            scores = self.stack.named("average").score(data.table, data.rows)
            self.trajectory[:, self.epoch_in_stage] = sigmoid(scores, -1)
            if self.value("trend_end") == "mixup":
                self.held_out_losses.append(self._held_out_loss())

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _held_out_loss(self) -> torch.Tensor:
        """Cross-entropy of mixed pairs of held-out labelled rows, [R]; the pairs are the same in every epoch."""
        held_out, streams = self.stack.held_out, self.stack.streams
        assert held_out is not None
        counts = held_out.labelled_counts[:, None]
        pairs = [(streams.uniform(f"mixup {name}", (0, 0), (MIXED_ROWS,)) * counts).long() for name in ("one", "other")]
        one, other = (held_out.table[held_out.rows.gather(1, places)].float() for places in pairs)
        share = streams.beta("mixup", 0, MIXED_ROWS, 0.5).T
        shaped = share.view(*share.shape, *[1] * (one.dim() - 2))
        return logistic(self.stack.named("average")(torch.lerp(other, one, shaped)), 1).mean(1)

    def _trends(self) -> torch.Tensor:
        """Trend scores [R, widest], of the epochs until the loss of held-out positives was lowest."""
        self.ends = [self.trajectory.shape[1]] * self.stack.runs
        if self.held_out_losses:
            lowest = torch.stack(self.held_out_losses).argmin(0) + 1
            self.ends = [max(int(end), min(FEWEST, self.trajectory.shape[1])) for end in lowest]
        score = adjacent_trend if self.value("trend") == "adjacent" else pairwise_trend
        return torch.stack([score(own[:end]) for own, end in zip(self.trajectory, self.ends, strict=True)])

    def _pseudo_labels(self) -> torch.Tensor:
        """1 where the trend of an unlabelled row lies above the break, [R, widest]."""
        data, split, most = self.stack.data, self.value("split"), self._column("largest_trend")
        trends = self._trends()
        cut = natural_break(trends, data.is_unlabelled, split)
        if bool(torch.isnan(cut).any()):
            raise PulensError(
                "the unlabelled rows cannot be split in two: all their predictions drift alike. Scale the features "
                "(standardise=True) if predictions are all 0 or 1 from the start; else train longer or with a larger "
                "learning_rate."
            )
        # a break above zero splits rising rows only: look again without the steepest
        again = natural_break(trends, data.is_unlabelled & (trends < most), split)
        cut = torch.where((cut > 0) & ~torch.isnan(again), again, cut)
        result: torch.Tensor = ((trends > cut[:, None]) & data.is_unlabelled).float()
        return result

    def facts(self, run: int) -> dict[str, Any]:
        data = self.stack.data
        positives, labelled = float(self.is_positive[run].sum()), data.n_labelled[run]
        share = positives / (data.n_rows[run] - labelled)
        single = data.scenario is Scenario.SINGLE_SET
        return {
            "trend_epoch": self.ends[run],
            "unlabelled_prior": share,
            "estimated_class_prior": (positives + labelled) / data.n_rows[run] if single else share,
        }


@dataclass(kw_only=True, eq=False, repr=False)
class HolisticPU(PULearner):
    """Holistic-PU: pseudo-labels from how predictions drift while the unlabelled rows are trained as negatives.

    Needs no class prior and gives an estimate: ``unlabelled_prior_`` is the share of pseudo-positives among unlabelled
    rows, ``estimated_class_prior_`` that in the population. Epochs, batches, momentum and losses are the authors'; the
    learning rate, the length of an epoch on small tables and the end of the first phase are not (see the fields).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.repeat([True, False], [300, 400])
    >>> X = rng.normal(size=(700, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = np.repeat([1, 0], [60, 640])
    >>> learner = HolisticPU(backbone="linear", learning_rate=0.05, random_state=0).fit(X, labels)
    >>> bool((learner.predict(X) == positive).mean() > 0.95)
    True
    """

    selection: str = "last"  #: as the authors do
    optimiser: str = "sgd"  #: with Nesterov momentum 0.9; biases and norms are not decayed
    trend_epochs: int = 15  #: longest first phase
    trend_end: str = "mixup"  #: end where held-out positives, mixed, have the lowest loss (the paper); or "last"
    epochs: int = 25
    #: None: a pass over the unlabelled rows, but at most the authors' 512 steps
    steps_per_epoch: int | None = setting(None, least=1)
    batch_size: int = setting(64, least=1)  #: rows of either kind
    learning_rate: float = setting(5e-3, above=0)  #: the authors have 0.0005 to 0.002
    weight_decay: float = 5e-4
    label_smoothing: float = setting(0.1, least=0, most=1)  #: of labelled rows, in the first phase
    #: what an epoch leaves of the old average of weights: 0.999 per step of 512
    average_memory: float = setting(0.6, least=0, most=1)
    trend: str = "adjacent"  #: the authors' score, or "pairwise", the paper's
    split: str = "squares"  #: the authors' natural break, or "variance", the paper's equation 8
    largest_trend: float = 0.2 / 9  #: trends from here on are left out when the break lies above zero
    confidence: float = 0.9  #: of the weak view, for the strong one to follow it
    temperature: float = setting(1.0, above=0)
    views: str = "auto"  #: weak and strong views of pictures, none of vectors; "noise" for vectors, "none"
    mirror: bool = False  #: may pictures be flipped left and right? not digits

    _program = TrendProgram


LEARNER = Learner(HolisticPU, title="Holistic-PU", family=DISAMBIGUATION, place=13)
