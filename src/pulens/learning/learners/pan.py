r"""PAN: a classifier and a discriminator that play against each other, without a generator (Hu et al. 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from pulens.learning.learners.base.facts import GENERATIVE, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.break_even import PinnedCut
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Stage, gradients_of
from pulens.learning.learners.stack.rows import Batch, Drawn
from pulens.learning.risks.adversarial import EPSILON, predictive_game, predictive_game_in_sums

OBJECTIVES = ("means", "sums")
BOUND = math.log((1 + EPSILON) / EPSILON)  # what the small number inside the authors' logarithms amounts to


class PredictiveAdversarialProgram(PinnedCut):
    """Two networks: 0 classifies, 1 tells labelled from unlabelled rows."""

    needs_class_prior = False
    recordable = True
    same_steps = True
    network_names = ("network", "discriminator")

    def stages(self) -> list[Stage]:
        sizes = {"labelled": self.value("labelled_batch_size"), "unlabelled": self.value("batch_size")}
        both = (
            self.adam(betas=(0.5, 0.999)),
            self.adam(betas=(0.5, 0.999), weight_decay=self.value("discriminator_weight_decay")),
        )
        batches = Drawn(sizes, passes_over="unlabelled")
        return [Stage("training", self.value("epochs"), batches, both, networks=(0, 1))]

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        """V itself: one pass serves both players."""
        first = self.value("labelled_batch_size")
        d = self.stack.logits(batch, network=1)
        c = self.stack.logits(batch, batch.x[:, first:])
        in_sums = self.value("objective") == "sums"
        game = predictive_game_in_sums if in_sums else predictive_game
        # the pull is linear in c: without a bound C would run away wherever D is sure
        result: torch.Tensor = game(
            d[:, :first], d[:, first:], c if in_sums else c.clamp(-BOUND, BOUND), self.value("pull")
        )
        return result

    def gradients(self, stage: Stage, batch: Batch) -> list[torch.Tensor]:
        """Both at once, before either moves: C descends V, D climbs it."""
        classifier, discriminator = gradients_of(self.loss(stage, batch).sum(), self.stack.networks)
        return [classifier, -discriminator]


@dataclass(kw_only=True, eq=False, repr=False)
class PAN(PULearner):
    """PAN: predictive adversarial learning; no class prior is needed, and nothing is generated.

    Where classes overlap the classifier settles at a chance of being positive above the class prior, not above one
    half: expect too many positive calls when positives are rare. ``objective="sums"`` is the authors' program, whose
    ``pull`` of 1e-4 multiplies a sum; with means it is about that times the batch's unlabelled rows.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = PAN(scenario="single-set", backbone="linear", learning_rate=0.02, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.93)
    True
    """

    selection: str = "proxy_auc"
    pull: float = 0.1  #: the paper's lambda, how strongly the two networks pull at each other
    objective: str = setting("means", among=OBJECTIVES)  #: the paper's; "sums" for the authors' program
    epochs: int = 60
    batch_size: int = setting(256, least=1)  #: unlabelled rows of a step
    labelled_batch_size: int = setting(64, least=1)
    learning_rate: float = setting(1e-4, above=0)
    weight_decay: float = 0.0  #: of the classifier; the authors' 1e-3 can outweigh the pull
    discriminator_weight_decay: float = 1e-3
    pinned: bool = True  #: call the share ``class_prior`` positive where it is given, not what scores above zero

    _program = PredictiveAdversarialProgram


LEARNER = Learner(PAN, title="PAN", family=GENERATIVE, place=17)
