r"""The default: tilts of several shapes on several scales, averaged by how well each explains the data.

:doc:`Tilt <tilt>` stands or falls with its shape: when negatives are spread wider than positives, a straight line
for :math:`\log f_0/f_1` puts the floor too high. Here the log ratio may also be curved, or level off at both ends as
it does for heavy tails. Which it is, is not chosen: the posterior of the class prior is averaged over a line, slightly
and strongly bent parabolas and a step, and over the scales of the score, each weighted by its evidence (Laplace's
approximation). With few data the line prevails; with many the data decide. Before seeing data the class prior has
density proportional to :math:`(1 - \alpha)/\sqrt\alpha`: positives among what nobody labelled are more often few than
many. The value is the posterior median, the interval lies between posterior quantiles, and neither may exceed the
feasible range.
"""

from __future__ import annotations

import numpy as np

from pulens.notice import Notice, Severity
from pulens.priors._cells import cut
from pulens.priors._estimator import Estimator, Finding, Floats, Trace
from pulens.priors._shapes import Shape, profile
from pulens.priors.distribution import PriorDistribution
from pulens.priors.feasible import highest_prior
from pulens.priors.from_scores.roc_slope import roc_slope
from pulens.tally import Tally

CELLS = 200
SHAPES = (
    Shape("line", weight=0.4),
    Shape("parabola", spread=0.3, weight=0.2),
    Shape("parabola", spread=0.7, weight=0.2),
    Shape("step", weight=0.2),
)
SHAPES_DIFFER, NO_ANCHOR, FLAT = 0.05, 0.15, 0.3  # differences and widths worth a warning


def plausibility(shares: Floats) -> Floats:
    """Density of the class prior before seeing data, up to a factor."""
    return np.asarray((1 - shares) / np.sqrt(shares))


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
    believed = plausibility(found.values) * evidence
    limit = highest_prior(tally, confidence=confidence, label_noise=label_noise)
    whole = PriorDistribution(found.values, believed.sum(axis=0))
    distribution = whole.below(limit)
    low, high = distribution.interval(confidence)
    value = distribution.quantile(0.5)
    straight = np.array([shape.kind == "line" for shape, _ in found.models])
    medians, evidences = [], []
    for which in (straight, ~straight):
        heights = found.integrated[which]
        alone = PriorDistribution(
            found.values, plausibility(found.values) * np.exp(heights - heights.max()).sum(axis=0)
        )
        medians.append(alone.below(limit).quantile(0.5))
        evidences.append(float(believed[which].sum(axis=0) @ np.gradient(found.values)))
    curved = evidences[1] / sum(evidences)
    notices = _notices(value, (low, high), medians, curved, roc_slope(tally, label_noise=label_noise).value)
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
        notices=notices,
        details={"evidence of curvature": curved, "straight": medians[0], "curved": medians[1]},
    )


def _notices(
    value: float, interval: tuple[float, float], medians: list[float], curved: float, purest: float
) -> tuple[Notice, ...]:
    """What a reader should know about this estimate before using it."""
    found = []
    if abs(medians[0] - medians[1]) > SHAPES_DIFFER:
        found.append(
            Notice(
                Severity.WARNING,
                "shape-dependent-prior",
                f"The estimated share of positives among the unlabelled rows depends on the assumed shape of the "
                f"density ratio: {medians[0]:.3f} if it is straight, {medians[1]:.3f} if it may be curved (which has "
                f"{curved:.0%} of the evidence). Check a random sample of unlabelled rows by hand (an audit).",
            )
        )
    if purest - value > NO_ANCHOR:
        found.append(
            Notice(
                Severity.WARNING,
                "no-anchor-region",
                f"No region of scores seems free of negatives: the purest one alone would allow {purest:.3f}, and the "
                f"estimate {value:.3f} lies far below because it extrapolates. It is only as good as its shape "
                "assumption; an audit would settle it.",
            )
        )
    if interval[1] - interval[0] > FLAT:
        found.append(
            Notice(
                Severity.WARNING,
                "flat-likelihood",
                f"The data hardly distinguish shares of positives from {interval[0]:.3f} to {interval[1]:.3f}: use "
                "the interval rather than the value, or more labelled rows, a stronger score or an audit.",
            )
        )
    return tuple(found)


ESTIMATOR = Estimator(
    auto,
    "Tilts of several shapes and scales, averaged by their evidence",
    "The log odds of being positive are a line, a parabola or a step in the score, its logit or its normal score; "
    "labelled rows are a random sample of positives.",
    "pulens",
    rank_based=False,
    has_interval=True,
)
