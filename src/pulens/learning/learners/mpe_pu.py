r"""MPE-PU, or (TED)\ :sup:`n`: estimate the share of positives, ignore as many rows, repeat (Garg et al. 2021).

A classifier of labelled against unlabelled rows starts it. Then, every epoch, best bin estimation on held-out rows
gives the share alpha of positives among the unlabelled, and the alpha share of unlabelled rows that look most
positive is left out while the rest count as negatives (CVIR).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Drawn
from pulens.learning.risks.losses import logistic
from pulens.learning.risks.means import masked_mean
from pulens.learning.risks.mixture import best_bin_share
from pulens.scenario import Scenario


class ValueIgnoringProgram(Program):
    needs_class_prior = False
    leaves_out_copies = True  # best bin estimation compares held-out labelled rows with held-out unlabelled ones
    recordable = True

    @classmethod
    def needs_held_out_rows(cls, learner: Any) -> bool:
        return isinstance(learner.class_prior, str) or learner.class_prior is None

    def stages(self) -> list[Stage]:
        size = self.value("batch_size")
        batches = Drawn({"labelled": size, "unlabelled": size}, passes_over="unlabelled")
        warm = Stage("warm-up", self.value("warm_up_epochs"), batches, self.adam(), selectable=False)
        return [warm, Stage("training", self.value("epochs"), batches, self.adam())]

    def begin_stage(self, stage: Stage) -> None:
        data = self.stack.data
        self.ignored = torch.zeros_like(data.is_unlabelled)
        if stage.name == "warm-up":
            given = [self._given_share(run) for run in range(self.stack.runs)]
            self.is_given = [share is not None for share in given]
            self.shares = [0.5 if share is None else share for share in given]
        self._estimate()

    def _given_share(self, run: int) -> float | None:
        """The share of positives among unlabelled rows that a given class prior means."""
        prior = self.stack.class_priors[run]
        data = self.stack.data
        if prior is None or data.scenario is Scenario.CASE_CONTROL:
            return prior
        labelled, rows = data.n_labelled[run], data.n_rows[run]
        return min(max((prior * rows - labelled) / (rows - labelled), 0.01), 0.99)

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        if stage.name == "warm-up":
            return
        data, network = self.stack.data, self.stack.network
        scores = network.score(data.table, data.rows).masked_fill(~data.is_unlabelled, -torch.inf)
        ranks = scores.argsort(1, descending=True).argsort(1)
        counts = [rows - labelled for rows, labelled in zip(data.n_rows, data.n_labelled, strict=True)]
        dropped = [int(share * count) for share, count in zip(self.shares, counts, strict=True)]
        self.ignored = ranks < torch.tensor(dropped, device=data.device)[:, None]

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        z = self.stack.logits(batch)
        kept = batch.unlabelled * ~self.ignored.gather(1, batch.positions)
        as_positive, as_negative = masked_mean(logistic(z, 1), batch.labelled), masked_mean(logistic(z, -1), kept)
        result: torch.Tensor = (as_positive + as_negative) / 2
        return result * (kept.sum(1) > 0)  # nothing kept, nothing learned

    def end_epoch(self, stage: Stage) -> None:
        self._estimate()

    def _estimate(self) -> None:
        held_out = self.stack.held_out
        if held_out is None or all(self.is_given):
            return
        scores = self.stack.network.score(held_out.table, held_out.rows).cpu().numpy()
        for run in range(self.stack.runs):
            if not self.is_given[run]:
                own, labelled = scores[run, : held_out.n_rows[run]], held_out.n_labelled[run]
                self.shares[run] = best_bin_share(own[:labelled], own[labelled:])

    def cut(self, population_scores: torch.Tensor, run: int) -> float:
        if not self.value("bayes_cut"):
            return 0.0
        share = torch.tensor(self.shares[run]).double()
        return float(torch.log((1 - share) / share))

    def facts(self, run: int) -> dict[str, Any]:
        return {"unlabelled_prior": float(self.shares[run])}


@dataclass(kw_only=True, eq=False, repr=False)
class MPEPU(PULearner):
    """MPE-PU: best bin estimation and conditional value ignoring risk, in turns.

    With ``class_prior="auto"`` the share of positives among unlabelled rows is estimated along the way
    (``unlabelled_prior_``); a number fixes it, which is CVIR alone. In a case-control sample unlabelled rows that equal
    a labelled row held out for the estimate are not trained on: a sample of a whole pool holds that row twice, and it
    would be held out in name only. The authors trained with SGD (0.1, momentum 0.9,
    weight decay 5e-4) on networks with batch norm for a thousand epochs; here Adam is the default.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = MPEPU(scenario="single-set", backbone="linear", epochs=10, learning_rate=0.05, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    >>> 0.25 < learner.unlabelled_prior_ < 0.35  # really (240 - 96) of 504
    True
    """

    selection: str = "last"  #: as the authors do; the held-out rows serve the estimation
    bayes_cut: bool = False  #: cut at 1 - alpha instead of 0.5: labelled and kept rows weigh alike in training
    warm_up_epochs: int = 10
    epochs: int = 40
    batch_size: int = setting(200, least=1)
    learning_rate: float = setting(3e-4, above=0)
    weight_decay: float = 5e-4

    _program = ValueIgnoringProgram


LEARNER = Learner(MPEPU, title="MPE-PU", family=RISK, place=4)
