r"""P3Mix-C: heuristic mixup, with unlabelled rows that look surely positive relabelled (Li et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass

from pulens.learning.learners.base.facts import DISAMBIGUATION, Learner
from pulens.learning.learners.parts.mixup_partners import PartnerLearner, PartnerProgram


class CorrectingProgram(PartnerProgram):
    relabels = True


@dataclass(kw_only=True, eq=False, repr=False)
class P3MixC(PartnerLearner):
    r"""P3Mix-C: mixup with boundary positives as partners, and label correction; no class prior is needed.

    Minimises :math:`w_P L_P + w_U L_U + w_H L_H` on mixed rows (Li et al. 2022, section 3), where an unlabelled row
    with a chance of at least ``certain`` counts as positive in that step. Made for case-control data with labels
    completely at random.

    Before any correction the chance of a sure positive is :math:`1/(1 + \pi w_U/w_P)`: with equal weights far below
    ``certain`` unless positives are rare, so that hardly a label is ever corrected. Hence :math:`w_U = 1/2`, as in
    PU-Bench; it moves the cut at zero to where a row is positive with a chance of :math:`\pi/2` before correction.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = P3MixC(backbone="linear", learning_rate=0.05, batch_size=64, random_state=0)
    >>> bool((learner.fit(X, labels).predict(X) == positive).mean() > 0.95)
    True
    """

    heuristic_start: int = 2  #: before the classes are apart, label correction calls everything positive
    mixup: float = 0.5  #: this and the two weights are PU-Bench's; the authors have 1, 1 and 0.1 for CIFAR-10
    unlabelled_weight: float = 0.5
    entropy_weight: float = 0.05

    _program = CorrectingProgram


LEARNER = Learner(P3MixC, title="P3Mix-C", family=DISAMBIGUATION, place=11)
