r"""Self-PU: two students, the rows they trust, and their teachers (Chen et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from pulens.errors import InputError, listed
from pulens.learning.learners.base.facts import DISAMBIGUATION, Learner
from pulens.learning.learners.base.proxies import proxy_accuracy
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.dist_pu import cosine
from pulens.learning.learners.nnpu import SMOOTH_LOSSES
from pulens.learning.learners.parts.direction import slopes_along
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.passes import Pass, PassBatch, Passes
from pulens.learning.learners.stack.program import Program, Stack, Stage, Turn, gradients_of
from pulens.learning.learners.stack.rows import Batch, StackedRows
from pulens.learning.risks.alignment import clamp, cross_entropy, entropy
from pulens.learning.risks.correction import corrected
from pulens.learning.risks.losses import LOSSES, logistic, sigmoid
from pulens.learning.risks.means import masked_mean
from pulens.learning.risks.self_calibration import (
    calibrated,
    consistency_weight,
    entropy_slope,
    is_open,
    slope_as_negative,
    weighted_parts,
)

STUDENTS, TEACHERS = (0, 1), (2, 3)
CALIBRATIONS = ("entropy", "risk", "none")
TARGETS = ("selected", "current")


def trusted_per_side(n_unlabelled: int, epoch: int, top: float, ramp: int) -> int:
    """How many unlabelled rows are trusted to be positive, and as many to be negative, after an epoch.

    >>> [trusted_per_side(60_000, epoch, 0.4, 100) for epoch in (10, 20, 30, 40)]
    [1200, 2400, 3600, 4800]
    """
    return int(n_unlabelled * 0.5 * min(epoch / ramp, 1.0) * top + 1e-6)


def both_ends(scores: torch.Tensor, unlabelled: torch.Tensor, per_side: torch.Tensor) -> torch.Tensor:
    """Which rows [R, widest] are among the ``per_side`` [R] lowest or highest of the unlabelled ones."""
    ranks = scores.masked_fill(~unlabelled, torch.inf).argsort(1).argsort(1)
    counts = unlabelled.sum(1, keepdim=True)
    side = per_side[:, None]
    return unlabelled & ((ranks < side) | ((ranks >= counts - side) & (ranks < counts)))


def teacher_takes(steps: torch.Tensor, decay: Any) -> torch.Tensor:
    """What a teacher takes over from its student at step 0, 1, 2, ...: all, half, a third, ... down to 1 - decay.

    >>> 1 - teacher_takes(torch.arange(3), 0.999)
    tensor([0.0000, 0.5000, 0.6667])
    """
    result: torch.Tensor = (1 / (steps + 1)).clamp(min=1 - decay)
    return result


class SelfProgram(Program):
    """Networks 0 and 1 are the students, 2 and 3 their teachers; without teachers yet, these copy their students."""

    network_names = ("network", "second_student", "teacher", "second_teacher")
    recordable = True

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        for name, choices in (
            ("calibration", CALIBRATIONS),
            ("trusted_target", TARGETS),
        ):
            if self.value(name) not in choices:
                raise InputError(f"{name} must be one of {listed(choices)}, got {self.value(name)!r}.")
        for name in ("first_top", "second_top"):
            top = torch.as_tensor(self.value(name))
            if not bool(((top > 0) & (top <= 1)).all()):
                raise InputError(f"{name} must lie above 0 and not above 1, got {self.value(name)!r}.")
        data = stack.data
        self.trusted = [torch.zeros_like(data.is_unlabelled) for _ in STUDENTS]
        self.trusted_counts = [[0] * stack.runs for _ in STUDENTS]
        self.soft = [torch.zeros(data.rows.shape, device=data.device) for _ in STUDENTS]
        self.taught = [torch.zeros(stack.runs, device=data.device) for _ in STUDENTS]
        self.drawn = 0

    @classmethod
    def needs_held_out_rows(cls, learner: Any) -> bool:
        return True  # for the weights, and to choose a teacher

    def stages(self) -> list[Stage]:
        epochs = self.value("epochs")
        passes = Passes(self.value("batch_size"), self.plan)
        return [Stage("training", epochs, passes, self.adam(), cosine(epochs, 0.0), networks=STUDENTS)]

    def plan(self) -> list[Pass]:
        """Trusted rows of either student, then what is left for either."""
        data = self.stack.data
        real = data.is_labelled | data.is_unlabelled
        trusted = [Pass(k, True, self.trusted[k], self.trusted_counts[k]) for k in STUDENTS]
        left = [[rows - own for rows, own in zip(data.n_rows, self.trusted_counts[k], strict=True)] for k in STUDENTS]
        noisy = [Pass(k, False, real & ~self.trusted[k], left[k]) for k in STUDENTS]
        return [part for part in trusted + noisy if max(part.counts)]

    @property
    def has_teachers(self) -> bool:
        return bool(self.epoch_in_stage >= self.value("teacher_start"))

    def step(self, stage: Stage, batch: Batch, turn: Turn) -> None:
        assert isinstance(batch, PassBatch)
        k = batch.student
        student = self.stack.networks[k]
        turn.take(k, gradients_of(self.loss(stage, batch).sum(), [student])[0])
        if self.has_teachers:
            takes = teacher_takes(self.taught[k], self.value("teacher_decay"))
            taken = torch.ones_like(takes) if turn.moves is None else turn.moves.float()
            self.stack.networks[TEACHERS[k]].move_towards(student, takes * taken)
            self.taught[k] += taken

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        assert isinstance(batch, PassBatch)
        assert batch.valid is not None
        k = batch.student
        z = self.stack.logits(batch, network=k)
        result = self.on_trusted(z, batch) if batch.is_trusted else self.on_others(z, batch)
        if self.has_teachers:
            with torch.no_grad():
                taught = sigmoid(self.stack.networks[TEACHERS[k]](batch.x), -1)
            weight = consistency_weight(
                self.epoch_in_stage,
                self.value("consistency"),
                self.value("consistency_start"),
                self.value("consistency_ramp"),
            )
            result = result + weight * masked_mean((sigmoid(z, -1) - taught) ** 2, batch.valid)
        return result

    def on_trusted(self, z: torch.Tensor, batch: PassBatch) -> torch.Tensor:
        """Cross-entropy against the chance at the time of the choice, or the entropy of the present one."""
        if self.value("trusted_target") == "current":
            costs = entropy(z)
        else:
            costs = cross_entropy(z, self.soft[batch.student].gather(1, batch.positions))
        result: torch.Tensor = masked_mean(costs, batch.valid)
        return result

    def on_others(self, z: torch.Tensor, batch: PassBatch) -> torch.Tensor:
        """The nnPU risk, calibrated while rows are being chosen, and the other student's view in later epochs."""
        calibrates = self.value("calibration") != "none"
        calibrates = calibrates and self.value("trust_start") <= self.epoch_in_stage < self.value("trust_stop")
        on_entropy, on_risk = self.weights(batch) if calibrates else (None, 1.0)
        parts = weighted_parts(
            z, batch.labelled, batch.population, on_risk, self.stack.class_prior, LOSSES[self.value("loss")]
        )
        risk: torch.Tensor = corrected(parts, self.value("beta"), self.value("gamma"))
        result = risk if on_entropy is None else risk + masked_mean(on_entropy * entropy(z), batch.valid)
        if self.has_teachers:
            with torch.no_grad():
                other = sigmoid(self.stack.networks[1 - batch.student](batch.x), -1)
            difference = masked_mean((sigmoid(z, -1) - other) ** 2, batch.valid)
            result = result + difference * is_open(difference, risk, self.value("gate")).detach()
        return result

    def weights(self, batch: PassBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Weights of entropy and risk for every row, by one step of meta-learning at weights of zero."""
        network = self.stack.networks[batch.student]
        z, slope = slopes_along(network, batch.x, gradients_of(self.outer(batch).sum(), [network])[0])
        assert batch.valid is not None
        n_valid = batch.valid.sum(1, keepdim=True).clip(1)
        by_entropy = entropy_slope(z) * slope / n_valid * batch.valid
        risk_slope = slope_as_negative(z, LOSSES[self.value("loss")])
        by_risk = risk_slope * slope / batch.population.sum(1, keepdim=True).clip(1) * batch.population
        step = self.value("calibration_step")
        step = step[:, None] if isinstance(step, torch.Tensor) else step
        budget = self.value("calibration_budget") * n_valid
        return calibrated(step * by_entropy, step * by_risk, batch.labelled, budget)

    def outer(self, batch: PassBatch) -> torch.Tensor:
        """What held-out rows say of a student, [R]: its entropy on unlabelled ones, or its PU risk."""
        held = self.stack.held_out
        assert held is not None
        size = min(self.value("batch_size"), held.widest)
        chosen = self.stack.streams.permutations("held out", batch.moment, held.row_counts, held.widest)[:, :size]
        real = torch.arange(size, device=chosen.device) < held.row_counts[:, None]
        z = self.stack.networks[batch.student](held.table[held.rows.gather(1, chosen)].float())
        labelled, population = (
            (mask.gather(1, chosen) & real).float() for mask in (held.is_labelled, held.is_population)
        )
        if self.value("calibration") == "entropy":
            return 2 * masked_mean(entropy(z), population)
        prior = self.stack.class_prior
        as_positive, as_negative = logistic(clamp(z), 1), logistic(clamp(z), -1)
        result: torch.Tensor = (
            prior * masked_mean(as_positive, labelled)
            + masked_mean(as_negative, population)
            - prior * masked_mean(as_negative, labelled)
        )
        return result

    def end_epoch(self, stage: Stage) -> None:
        epoch, start = self.epoch_in_stage, self.value("trust_start")
        if start <= epoch < self.value("trust_stop") and (epoch - start) % self.value("trust_every") == 0:
            self.choose(epoch)
        if epoch + 1 <= self.value("teacher_start"):
            for k in STUDENTS:
                self.stack.networks[TEACHERS[k]].move_towards(self.stack.networks[k], 1.0)

    def choose(self, epoch: int) -> None:
        """Throw the trusted rows away and choose again, by the student's scores."""
        data = self.stack.data
        for k, name in zip(STUDENTS, ("first_top", "second_top"), strict=True):
            tops = torch.as_tensor(self.value(name)).expand(self.stack.runs).tolist()
            ramp = self.value("trust_ramp")
            sides = [
                trusted_per_side(rows - labelled, epoch, top, ramp)
                for rows, labelled, top in zip(data.n_rows, data.n_labelled, tops, strict=True)
            ]
            scores = self.stack.networks[k].score(data.table, data.rows)
            self.trusted[k] = both_ends(scores, data.is_unlabelled, torch.tensor(sides, device=data.device))
            self.trusted_counts[k] = [2 * side for side in sides]
            self.soft[k] = sigmoid(scores, -1)

    def second_is_better(self) -> torch.Tensor:
        """[R]: which teacher has the higher proxy accuracy on held-out rows."""
        held = self.stack.held_out
        assert held is not None
        result = []
        for place in TEACHERS:
            called = (self.stack.networks[place].score(held.table, held.rows) > 0).float()
            recall = masked_mean(called, held.is_labelled.float())
            result.append(
                proxy_accuracy(recall, masked_mean(1 - called, held.is_population.float()), self.stack.class_prior)
            )
        return result[1] > result[0]

    def score(self, rows: StackedRows) -> torch.Tensor:
        one, other = (self.stack.networks[place].score(rows.table, rows.rows) for place in TEACHERS)
        return torch.where(self.second_is_better()[:, None], other, one)

    def finish(self) -> None:
        self.is_second = self.second_is_better()
        first, second = (self.stack.networks[place] for place in TEACHERS)
        kept = first.snapshot()
        second.keep_where(self.is_second, kept)
        self.stack.network.restore(kept)

    def facts(self, run: int) -> dict[str, Any]:
        return {"chosen_teacher": 1 + int(self.is_second[run])}


@dataclass(kw_only=True, eq=False, repr=False)
class SelfPU(PULearner):
    """Self-PU: nnPU that trusts the rows it is surest of, with two students and their teachers.

    Needs the class prior; case-control, labels completely at random. The schedule is the authors' 200 epochs in 40.
    Clipped-out rows, PU labels only, steer the calibration and choose between the teachers (``chosen_teacher_``).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = SelfPU(class_prior=0.4, scenario="single-set", backbone="linear", learning_rate=0.05, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    selection: str = "last"  #: the teachers are averages; what held-out rows choose is which of the two is returned
    first_top: float = 0.4  #: how large a share of unlabelled rows the first student may trust in the end
    second_top: float = 0.6  #: the same of the second: they advance at different paces
    trust_start: int = 2  #: first epoch, from 0, after which trusted rows are chosen
    trust_stop: int = 10  #: they are no longer chosen from this epoch on
    trust_every: int = setting(2, least=1)
    trust_ramp: int = 20  #: epochs in which the share grows to its end
    trusted_target: str = "selected"  #: the paper's; "current" is the authors' code: entropy minimisation
    calibration: str = "entropy"  #: of held-out rows, as the authors' code; "risk": their PU risk; or "none"
    calibration_step: float = 1e-3
    calibration_budget: float = 1 / 16  #: share of a batch that the weights of the cross-entropy may add up to
    teacher_start: int = 10
    teacher_decay: float = setting(0.999, least=0, most=1)
    consistency: float = 0.3  #: largest weight of agreeing with one's teacher
    consistency_start: int = 6
    consistency_ramp: int = 80
    #: of the risk; None is "sigmoid", the authors', and leaves ``fit`` free to turn to "logistic" after a collapse
    loss: str | None = setting(None, among=SMOOTH_LOSSES, own="sigmoid")
    gate: float = 0.1  #: students learn from one another where they differ by less than this share of the risk
    beta: float = 0.0
    gamma: float = 1.0
    epochs: int = 40
    batch_size: int = setting(256, least=1)
    learning_rate: float = setting(5e-4, above=0)
    weight_decay: float = 5e-4  #: the authors' 5e-3 needs a network with batch norm

    _program = SelfProgram


LEARNER = Learner(SelfPU, title="Self-PU", family=DISAMBIGUATION, place=9)
