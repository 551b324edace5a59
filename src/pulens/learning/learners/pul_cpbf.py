r"""PUL-CPBF: a fence of classifiers brackets P(positive | x), and a strong one learns from it (Li et al. 2024).

The risk of :mod:`pulens.risks.fence` gives a classifier whose sign changes where :math:`P(y=1|x)` crosses a level
:math:`\alpha`. Classifiers for levels :math:`\alpha_1 < \dots < \alpha_K` bracket every unlabelled row; a soft label
drawn uniformly inside the bracket supervises a fresh network, with self-training and one answer for both views.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from pulens.errors import InputError, PulensError
from pulens.learning.learners.base.facts import DISAMBIGUATION, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.views import Views, usual_views
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.networks import StackedNetwork
from pulens.learning.learners.stack.optimiser import Optimiser, OptimiserSettings
from pulens.learning.learners.stack.program import Program, Stack, Stage, Turn, gradients_of
from pulens.learning.learners.stack.rows import Batch, Drawn, StackedRows
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.risks.alignment import clamp, cross_entropy, entropy
from pulens.learning.risks.fence import asymmetric, confidence, interval, penalty, weights_of
from pulens.learning.risks.losses import LOSSES, Loss, sigmoid
from pulens.learning.risks.means import masked_mean
from pulens.splitmix import GOLDEN, mix

FENCES = ("separate", "shared")
LOOK_EVERY = 4  # passes over the labelled rows between two looks at held-out rows


class Fence:
    """R runs times K levels as one stack of R * K networks, which share their runs' batches."""

    def __init__(self, stack: Stack, levels: torch.Tensor, shared: bool) -> None:
        self.levels = levels
        self.trained = levels[len(levels) // 2, None] if shared else levels  # one network, or one for each level
        self.copies = len(self.trained)
        seeds = [mix(seed * GOLDEN + 1 + copy) >> 1 for seed in stack.streams.seeds for copy in range(self.copies)]
        first = stack.network
        assert stack.backbone is not None
        self.network = StackedNetwork(
            stack.backbone,
            seeds,
            first.device,
            precision=first.precision,
            convolution=first.convolution,
            name="fence",
            compiled=bool(stack.settings["compile"]),
        )
        self.streams = Streams(seeds, first.device)  # for dropout; the order of rows is the run's
        data = stack.data
        sizes = torch.tensor(data.group("population")[1], device=data.device)
        self.labelled_share = (data.labelled_counts / (data.labelled_counts + sizes)).repeat_interleave(self.copies)
        prior = self.spread(stack.class_prior)
        self.penalty = penalty(self.trained.repeat(stack.runs), self.labelled_share, prior)
        self.kept: Any = None  # the best parameters so far
        self.lowest = torch.full_like(self.penalty, torch.inf)
        self.since = torch.zeros_like(self.penalty)
        self.running = torch.ones(stack.runs, dtype=torch.bool, device=self.penalty.device)

    def spread(self, value: Any) -> Any:
        """A number per run as a number per copy."""
        return value.repeat_interleave(self.copies, 0) if isinstance(value, torch.Tensor) else value

    def logits(self, x: torch.Tensor, moment: tuple[int, int]) -> torch.Tensor:
        """Training-mode logits [R * K, rows] of rows [R, rows, ...]."""
        return self.network(self.spread(x), self.streams, moment)

    def score(self, rows: StackedRows) -> torch.Tensor:
        """Evaluation-mode logits [R * K, widest]."""
        return self.network.score(rows.table, self.spread(rows.rows))

    def risk(self, z: torch.Tensor, labelled: torch.Tensor, population: torch.Tensor, loss: Loss, spare: Any) -> Any:
        """The asymmetric risk of every copy [R * K], divided by the sum of its two weights: they are small numbers."""
        result = asymmetric(
            masked_mean(loss(z, 1), labelled),
            masked_mean(loss(z, -1), population),
            self.penalty,
            self.labelled_share,
            spare * masked_mean(entropy(z), population),
        )
        return result / sum(weights_of(self.penalty, self.labelled_share))

    def see(self, held_out: StackedRows, loss: Loss, patience: int) -> bool:
        """Keep the copies that have the lowest risk so far on held-out PU rows; is any still getting better?

        A run ends when none of its own copies has got better for so long, whatever other runs of the stack do.
        """
        labelled, population = (self.spread(mask).float() for mask in (held_out.is_labelled, held_out.is_population))
        risk = self.risk(clamp(self.score(held_out)), labelled, population, loss, 0.0)
        better = (risk < self.lowest) & self.spread(self.running)
        if self.kept is None:
            self.kept = self.network.snapshot()
        self.network.keep_where(better, self.kept)
        self.lowest = torch.where(better, risk, self.lowest)
        self.since = torch.where(better, 0, self.since + 1)
        self.running = self.running & (self.since < patience).view(-1, self.copies).any(1)
        return bool(self.running.any())

    def passed(self, data: StackedRows) -> torch.Tensor:
        """How many levels every row of every run passes: [R, widest]."""
        if self.kept is not None:
            self.network.restore(self.kept)
        scores = self.score(data)
        if not bool(torch.isfinite(scores).all()):
            raise PulensError(
                "training of the fence diverged: some scores are no longer finite numbers. Lower "
                "fence_learning_rate, and scale the features first (sklearn.preprocessing.StandardScaler)."
            )
        scores = scores.view(data.runs, self.copies, -1)
        if self.copies < len(self.levels):  # log(eta / a) >= 0 exactly where log(eta / a0) >= log(a / a0)
            scores = scores - (self.levels / self.trained).log()[None, :, None]
        return (scores >= 0).sum(1)


class FenceProgram(Program):
    recordable = True

    @classmethod
    def needs_held_out_rows(cls, learner: Any) -> bool:
        return learner.fence_patience is not None

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        levels = self.value("levels")
        if self.value("fence") == "shared" and self.value("loss") != "logistic":
            raise InputError("fence='shared' shifts the threshold of one network, which needs loss='logistic'.")
        self.watched = stack.held_out
        self.levels = torch.arange(1, levels + 1, device=stack.data.device) / (levels + 1)
        shape = tuple(stack.data.table.shape[1:])
        self.views = Views(stack.data, *usual_views(shape, mirror=self.value("mirror")))

    def stages(self) -> list[Stage]:
        size = self.value("batch_size")
        fence = self.adam(
            learning_rate=self.value("fence_learning_rate"), weight_decay=self.value("fence_weight_decay")
        )
        return [
            Stage(
                "fence",
                self.value("fence_epochs"),
                Drawn({"labelled": size, "population": size}, passes_over="labelled"),
                fence,
                selectable=False,
                networks=(),
            ),
            Stage(
                "training",
                self.value("epochs"),
                Drawn({"labelled": size, "unlabelled": size}, passes_over="unlabelled"),
                self.adam(),
            ),
        ]

    def begin_stage(self, stage: Stage) -> None:
        if stage.name == "fence":
            self.fence: Fence | None = Fence(self.stack, self.levels, self.value("fence") == "shared")
            self.fence_runs = True
            assert isinstance(stage.optimiser, OptimiserSettings)
            rates = {
                name: self.fence.spread(getattr(stage.optimiser, name)) for name in ("learning_rate", "weight_decay")
            }
            self.optimiser = Optimiser(self.fence.network, replace(stage.optimiser, **rates))
            return
        assert self.fence is not None
        self.passed = self.fence.passed(self.stack.data)
        self.stochastic = self.draw(self.passed)
        self.fence = None  # its K networks are no longer needed

    def draw(self, passed: torch.Tensor) -> torch.Tensor:
        """A soft label inside every row's bracket, [R, widest]: drawn once, kept while the strong network trains."""
        low, high = interval(passed, self.levels)
        result: torch.Tensor = low + (high - low) * self.stack.streams.uniform("bracket", (0, 0), (passed.shape[1],))
        return result

    def step(self, stage: Stage, batch: Batch, turn: Turn) -> None:
        if stage.name != "fence":
            super().step(stage, batch, turn)
            return
        fence = self.fence
        if fence is None or not self.fence_runs:
            return
        weak = self.views.weak(batch.x, self.stack.streams, batch.moment)
        first = (torch.arange(weak.shape[1], device=weak.device) < self.value("batch_size")).float()
        loss, spare = LOSSES[self.value("loss")], fence.spread(self.value("fence_entropy"))
        total = fence.risk(clamp(fence.logits(weak, batch.moment)), first, 1 - first, loss, spare).sum()
        self.optimiser.step(gradients_of(total, [fence.network])[0], turn.factor, fence.spread(turn.moves))

    def end_epoch(self, stage: Stage) -> None:
        patience = self.value("fence_patience")
        is_due = (self.epoch_in_stage + 1) % LOOK_EVERY == 0 or self.epoch_in_stage + 1 == stage.epochs
        if self.fence is not None and self.fence_runs and patience is not None and is_due:
            assert self.watched is not None
            self.fence_runs = self.fence.see(self.watched, LOSSES[self.value("loss")], max(1, patience // LOOK_EVERY))

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        stack, size = self.stack, self.value("batch_size")
        weak = self.views.weak(batch.x, stack.streams, batch.moment)
        strong = self.views.strong(batch.x[:, size:], stack.streams, batch.moment)
        z = clamp(stack.logits(batch, torch.cat([weak, strong], 1)))
        labelled, first, second = z[:, :size], z[:, size : 2 * size], z[:, 2 * size :]
        own, consistent = self_training(
            first, second, self.stochastic.gather(1, batch.positions[:, size:]), self.self_training(stage)
        )
        known: torch.Tensor = self.value("labelled_weight") * cross_entropy(labelled, 1.0).mean(1)
        result = known + self.value("unlabelled_weight") * (own + consistent)
        return result + self.value("entropy") * entropy(z).mean(1)

    def self_training(self, stage: Stage) -> SelfTraining:
        # a call counts for half of its target, so it would confirm itself for ever: the brackets speak first
        grown = ramp(self.epoch_in_stage, self.value("self_label_ramp") * stage.epochs)
        return SelfTraining(self.value("self_label") * grown, self.value("temperature"), self.value("threshold"))

    def facts(self, run: int) -> dict[str, Any]:
        own = self.passed[run][self.stack.data.is_unlabelled[run]].cpu()
        counts = torch.bincount(own, minlength=len(self.levels) + 1)
        return {"bracketed": (counts / counts.sum()).tolist()}


def ramp(epoch: int, length: Any) -> Any:
    """From 0 to 1 in this many epochs.

    >>> [ramp(epoch, 4) for epoch in (0, 1, 4, 9)]
    [0.0, 0.25, 1.0, 1.0]
    """
    if isinstance(length, torch.Tensor):
        return torch.where(epoch >= length, 1.0, epoch / length.clamp(min=1e-9))
    return 1.0 if epoch >= length else epoch / length


@dataclass(frozen=True)
class SelfTraining:
    """How far the network believes itself; numbers, or tensors [R] where runs differ."""

    share: Any = 0.5  #: of its own call in the target, lambda
    temperature: Any = 0.5
    threshold: Any = 0.9  #: confidence above which the strong view learns the weak one's call


def self_training(
    weak: torch.Tensor, strong: torch.Tensor, stochastic: torch.Tensor, settings: SelfTraining
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean losses [R] of unlabelled rows [R, n]: weak views against mixed targets, sure strong views against calls.

    The target is ``share * call + (1 - share) * stochastic``, without gradient.
    """
    share, temperature, threshold = (
        value[:, None] if isinstance(value, torch.Tensor) else value
        for value in (settings.share, settings.temperature, settings.threshold)
    )
    called, sure = confidence(sigmoid(weak.detach(), -1), temperature)
    target = share * called + (1 - share) * stochastic
    own: torch.Tensor = cross_entropy(weak, target).mean(1)
    consistent: torch.Tensor = ((sure >= threshold) * cross_entropy(strong, called)).mean(1)
    return own, consistent


@dataclass(kw_only=True, eq=False, repr=False)
class PULCPBF(PULearner):
    """PUL-CPBF: K classifiers at K levels of P(positive | x) bracket every unlabelled row; a strong one learns from it.

    Needs the class prior; labels completely at random. ``bracketed_`` gives the share of unlabelled rows in each of the
    K + 1 brackets, the lowest first.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> options = {"fence_epochs": 15, "epochs": 15, "fence_learning_rate": 0.05, "learning_rate": 0.05}
    >>> learner = PULCPBF(class_prior=0.4, scenario="single-set", backbone="linear", random_state=0, **options)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    levels: int = setting(9, least=1)  #: k / (levels + 1) for k = 1 .. levels
    #: a network per level; "shared" trains one and shifts its threshold (logistic loss only)
    fence: str = setting("separate", among=FENCES)
    loss: str = setting("logistic", among=("logistic", "sigmoid"))  #: of the fence, or "sigmoid"
    fence_epochs: int = 120  #: passes over the labelled rows, at most
    #: stop after this many without a lower risk on held-out PU rows; None never stops
    fence_patience: int | None = setting(20, least=1)
    fence_learning_rate: float = setting(3e-4, above=0)
    fence_weight_decay: float = 5e-4
    fence_entropy: float = 0.0  #: weight of the entropy of population rows in the fence's risk
    self_label: float = 0.5  #: share of the network's own call in the target, lambda
    self_label_ramp: float = 0.5  #: share of the epochs in which ``self_label`` grows from 0 to its value
    temperature: float = setting(0.5, above=0)
    threshold: float = 0.9
    labelled_weight: float = 0.2  #: of the labelled rows' loss, against the archive's 1
    unlabelled_weight: float = 0.85  #: of the unlabelled rows' loss
    entropy: float = 0.0  #: weight of the entropy of all rows
    mirror: bool = False  #: may pictures be mirrored? Not where left and right mean something, as in digits
    epochs: int = 25
    batch_size: int = setting(128, least=1)  #: labelled, and as many unlabelled rows, in a step
    learning_rate: float = setting(3e-4, above=0)  #: 2e-3 in the authors' archive, for a network with batch norm
    weight_decay: float = 5e-4

    _program = FenceProgram


LEARNER = Learner(PULCPBF, title="PUL-CPBF", family=DISAMBIGUATION, place=15)
