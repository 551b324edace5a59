r"""The default: tilts of several shapes on several scales, averaged by how well each explains the data.

:doc:`Tilt <tilt>` stands or falls with its shape: when negatives are spread wider than positives, a straight line
for :math:`\log f_0/f_1` puts the floor too high. Here the log ratio may also be curved. How curved is not chosen: the
posterior of the class prior is averaged over no, a little and strong curvature and over the scales of the score, each
weighted by its evidence (Laplace's approximation). With few data the straight line prevails; with many the data decide.
The class prior itself has prior density :math:`2(1 - \alpha)`: positives among what nobody labelled are more often the
minority. The value is the posterior median, the interval is between posterior quantiles, and neither may exceed the
feasible range.
"""

from __future__ import annotations

import numpy as np

from pulens.notice import Notice, Severity
from pulens.priors._cells import cut
from pulens.priors._estimator import Estimator, Finding, Trace
from pulens.priors._shapes import Shape, profile
from pulens.priors.distribution import PriorDistribution
from pulens.priors.feasible import highest_prior
from pulens.tally import Tally

CELLS = 200
SHAPES = (Shape(1, weight=0.5), Shape(2, spread=0.3, weight=0.25), Shape(2, spread=0.7, weight=0.25))
SHAPES_DIFFER = 0.05  # medians further apart than this are worth a warning


def auto(tally: Tally, *, label_noise: float = 0.0, confidence: float = 0.95) -> Finding:
    """Median and quantiles of the averaged posterior.

    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(2, 1, 1500), rng.normal(0, 1, 4000)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [500, 5000]), scores)  # 1000 of 5000 are positive
    >>> found = auto(tally)
    >>> found.low < 0.2 < found.high
    True
    """
    cells = cut(tally, CELLS)
    found = profile(cells, SHAPES, label_noise)
    evidence = np.exp(found.integrated - found.integrated.max())
    believed = (1 - found.values) * evidence
    limit = highest_prior(tally, confidence=confidence, label_noise=label_noise)
    whole = PriorDistribution(found.values, believed.sum(axis=0))
    distribution = whole.below(limit)
    low, high = distribution.interval(confidence)
    value = distribution.quantile(0.5)
    straight = np.array([shape.degree == 1 for shape, _ in found.models])
    medians, evidences = [], []
    for which in (straight, ~straight):
        heights = found.integrated[which]
        alone = PriorDistribution(found.values, (1 - found.values) * np.exp(heights - heights.max()).sum(axis=0))
        medians.append(alone.below(limit).quantile(0.5))
        evidences.append(float(believed[which].sum(axis=0) @ np.gradient(found.values)))
    curved = evidences[1] / sum(evidences)
    notices = []
    if abs(medians[0] - medians[1]) > SHAPES_DIFFER:
        notices.append(
            Notice(
                Severity.WARNING,
                "shape-dependent-prior",
                f"The estimated share of positives among the unlabelled rows depends on the assumed shape of the "
                f"density ratio: {medians[0]:.3f} if it is straight, {medians[1]:.3f} if it may be curved (which has "
                f"{curved:.0%} of the evidence). Check a random sample of unlabelled rows by hand (an audit).",
            )
        )
    height = distribution.density.max()
    return Finding(
        value,
        low,
        high,
        standard_error=distribution.standard_deviation,
        distribution=distribution,
        trace=Trace(
            distribution.values,
            distribution.density / height,
            "share of positives among the unlabelled",
            "relative likelihood",
        ),
        notices=tuple(notices),
        details={"evidence of curvature": curved, "straight": medians[0], "curved": medians[1]},
    )


ESTIMATOR = Estimator(
    auto,
    "Tilts of several shapes and scales, averaged by their evidence",
    "The log odds of being positive are a line or a parabola in the score, its logit or its normal score; "
    "labelled rows are a random sample of positives.",
    "pulens",
    rank_based=False,
    has_interval=True,
)
