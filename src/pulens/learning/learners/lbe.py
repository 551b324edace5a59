r"""LBE: the classifier and the chance of being labelled, estimated together by EM (Gong et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.break_even import PinnedCut
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Stage
from pulens.learning.learners.stack.rows import Batch, Pooled, Subsets
from pulens.learning.risks.alignment import cross_entropy
from pulens.learning.risks.labelling_bias import balanced_loss, expected_class, propensity_loss
from pulens.learning.risks.losses import sigmoid
from pulens.learning.risks.means import masked_mean
from pulens.scenario import Scenario

NEAR = 1e-6  # 1 - h * eta must not reach zero
LEAST_FREQUENCY = 0.01
CHUNK = 8192
STARTS = ("auto", "pre-trained", "even", "half")
DROPPED = ("unlabelled", "all")


class LabellingBiasProgram(PinnedCut):
    """Two networks: 0 says positive, 1 says labelled if positive."""

    needs_class_prior = False
    recordable = True
    network_names = ("network", "propensity")

    @property
    def is_linear(self) -> bool:
        return bool(self.value("backbone") == "linear")

    def stages(self) -> list[Stage]:
        data = self.stack.data
        everything = Pooled(data.widest, skip_without_labelled=False)
        subsets = Subsets(1.0 if self.is_linear else self.value("subset"), self.value("steps_per_epoch"))
        first = self.value("pretraining_steps")
        return [
            Stage("pre-training", first, everything, self.adam(), selectable=False, networks=(0, 1)),
            Stage("EM", self.value("epochs"), subsets, self.adam(), networks=(0, 1)),
        ]

    def begin_stage(self, stage: Stage) -> None:
        start = self.value("propensity_start")
        known = [start != "auto" or prior is not None for prior in self.stack.class_priors]
        if stage.name == "EM" and start != "pre-trained" and any(known):
            half = torch.full_like(self.stack.class_prior, 0.5)
            even = torch.tensor(known, device=half.device)
            self.start_evenly(half if start == "half" else self.label_frequency(), even)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def start_evenly(self, frequency: torch.Tensor, runs: torch.Tensor) -> None:
        """Let the propensity network say one chance for every row, in these runs; what its other layers see stays."""
        network = self.stack.networks[1]
        weight = network.parameters[network.last_weight]
        bias = network.parameters[network.last_weight.removesuffix("weight") + "bias"]
        for part, start in ((weight, torch.zeros_like(frequency)), (bias, torch.logit(frequency))):
            shape = (-1, *[1] * (part.dim() - 1))
            part.copy_(torch.where(runs.view(shape), start.view(shape), part))

    def label_frequency(self) -> torch.Tensor:
        """How many of the positive rows are labelled [R]: by the class prior where it is known, else Elkan and Noto's.

        Theirs is the mean chance of being labelled among labelled rows; pre-training weighs both kinds of rows alike,
        which the share of labelled rows takes back.
        """
        data = self.stack.data
        labelled, rows = data.labelled_counts.float(), data.row_counts.float()
        scores = self.stack.networks[0].score(data.table, data.rows)
        chances = sigmoid(scores + torch.logit(labelled / rows)[:, None], -1)
        guessed = masked_mean(chances, data.is_labelled.float())
        unlabelled = rows - labelled
        positives = (
            labelled + self.stack.class_prior * unlabelled
            if data.scenario is Scenario.CASE_CONTROL
            else self.stack.class_prior * rows
        )
        known = labelled / positives
        return torch.where(known.isnan(), guessed, known).clamp(LEAST_FREQUENCY, 1 - LEAST_FREQUENCY)

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        if stage.name != "EM":
            return
        data = self.stack.data
        h, eta = (
            sigmoid(network.score(data.table, data.rows), -1).clamp(NEAR, 1 - NEAR) for network in self.stack.networks
        )
        self.expected = expected_class(h, eta, data.is_labelled.float())

    def gradients(self, stage: Stage, batch: Batch) -> list[torch.Tensor]:
        rows = CHUNK // max(1, batch.x[0, 0].numel() // 512)  # fewer pictures than table rows; as many alone as stacked
        if stage.name == "EM" or batch.x.shape[1] <= rows:
            return super().gradients(stage, batch)
        total: list[torch.Tensor] = []
        for start in range(0, batch.x.shape[1], rows):  # the whole table at once may not fit
            part = slice(start, start + rows)
            piece = Batch(
                batch.positions[:, part],
                batch.x[:, part],
                batch.labelled[:, part],
                batch.unlabelled[:, part],
                batch.population[:, part],
                (batch.moment[0], start),
                None,
            )
            result = super().gradients(stage, piece)
            total = result if not total else [a + b for a, b in zip(total, result, strict=True)]
        return total

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        z, propensity = self.stack.logits(batch), self.stack.logits(batch, network=1)
        valid = batch.labelled + batch.unlabelled
        if stage.name == "pre-training":
            data = self.stack.data
            share = (data.labelled_counts / data.row_counts)[:, None]
            both = balanced_loss(z, batch.labelled, share) + balanced_loss(propensity, batch.labelled, share)
            return (both * valid).sum(1) / data.row_counts
        expected = self.expected.gather(1, batch.positions)
        losses = cross_entropy(z, expected)
        result: torch.Tensor = masked_mean(
            losses, valid if self.is_linear else self.learnt_from(losses.detach(), batch)
        )
        return result + masked_mean(propensity_loss(propensity, batch.labelled, expected), valid)

    def learnt_from(self, losses: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Rows that the classifier learns from.

        A labelled row has the largest loss of all while its chance is below one half: ranked together with the
        unlabelled ones, every labelled row would be dropped where few rows are labelled.
        """
        if self.value("dropped") == "all":
            valid = batch.labelled + batch.unlabelled
            return valid * smallest(losses, self.value("keep"), valid)
        return batch.labelled + batch.unlabelled * smallest(losses, self.value("keep"), batch.unlabelled)

    def facts(self, run: int) -> dict[str, Any]:
        data, network = self.stack.data, self.stack.networks[1]
        scores = network.score(data.table, data.rows[run : run + 1, : data.n_labelled[run]].expand(data.runs, -1))[run]
        return {"labelled_propensity": float(sigmoid(scores, -1).mean())}


def smallest(losses: torch.Tensor, share: float, valid: torch.Tensor) -> torch.Tensor:
    """A mask of the share of valid rows with the smallest losses, at least one."""
    count = (share * valid.sum(1)).floor().clamp(min=1)
    ranks = losses.masked_fill(valid == 0, torch.inf).argsort(1).argsort(1)
    return (ranks < count[:, None]).float()


@dataclass(kw_only=True, eq=False, repr=False)
class LBE(PULearner):
    """LBE: EM over who is positive and who gets labelled; no class prior, made for biased labels in a single set.

    Two networks, pre-trained on labelled against unlabelled rows; each EM epoch renews the chances of being positive
    and takes ``steps_per_epoch`` steps on a random ``subset`` of rows, the classifier on the ``keep`` share of them
    with the smallest loss; labelled rows are never dropped unless ``dropped="all"``, the authors' program, which leaves
    no labelled row to learn from where few are labelled. ``propensity_start="even"`` starts EM where every positive is
    labelled equally often: as often as ``class_prior`` says where it is given, else as Elkan and Noto (2008) estimate;
    "half" starts it with every second positive labelled, "pre-trained" as the authors do, and "auto" is "even" where
    ``class_prior`` is given and "pre-trained" elsewhere.
    ``backbone="linear"`` is the authors' linear instance: all rows, no small-loss rule.
    ``labelled_propensity_`` is the mean estimated chance of being labelled of the labelled rows. The likelihood depends
    on the product of both chances alone, so which solution EM finds is set by where it starts: do not read the
    propensities as facts.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = LBE(class_prior=0.4, backbone="linear", learning_rate=0.05, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    >>> 0.3 < learner.labelled_propensity_ < 0.6  # really 0.4
    True
    """

    scenario: str = "single-set"
    selection: str = "proxy_auc"  #: EM learns the labelled rows by heart sooner or later; the authors keep the last
    pretraining_steps: int = 20  #: over the whole table; the authors' 100 let a large network learn it by heart
    epochs: int = 20
    steps_per_epoch: int = setting(20, least=1)
    subset: float = setting(0.1, above=0, most=1)
    keep: float = setting(0.8, least=0, most=1)
    dropped: str = setting("unlabelled", among=DROPPED)  #: among which rows the largest losses are dropped
    propensity_start: str = setting("auto", among=STARTS)  #: where EM starts from
    learning_rate: float = setting(5e-4, above=0)
    weight_decay: float = 1e-4
    pinned: bool = True  #: call the share ``class_prior`` positive where it is given, not what scores above zero

    _program = LabellingBiasProgram


LEARNER = Learner(LBE, title="LBE-PU", family=RISK, place=5)
