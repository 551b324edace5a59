r"""The default: two-floor tilts of several shapes and scales, averaged over what the data leave open.

The likelihood of class prior and label noise is averaged over shapes and scales as in
:mod:`pulens.priors.from_scores.auto`. Before seeing data the class prior has the density it has there and the noise
:math:`\epsilon` has :math:`6(1-\epsilon)^5`: labels are more often right than wrong. Values are posterior medians,
intervals posterior quantiles. Noise is read off the lowest labelled scores, of which clean labels have almost none:
clean labels are reported as slightly noisy.
"""

from __future__ import annotations

import numpy as np

from pulens.counts.tally import Tally
from pulens.priors._cells import cut
from pulens.priors._estimator import Finding, NoiseEstimator, NoiseFinding, Trace
from pulens.priors._pairs import profile_pairs
from pulens.priors._shapes import Shape
from pulens.priors._uncertainty import plausibility
from pulens.priors.distribution import PriorDistribution

CELLS = 120
SHAPES = (Shape("line", weight=0.6), Shape("parabola", spread=0.4, weight=0.4))


def auto(tally: Tally, *, confidence: float = 0.95) -> NoiseFinding:
    """Medians and quantiles of both marginal posteriors."""
    result = profile_pairs(cut(tally, CELLS), SHAPES)
    believed = np.exp(result.integrated - result.integrated.max())
    believed *= plausibility(result.priors)[:, None] * (1 - result.noises) ** 5
    names = ("share of positives among the unlabelled", "share of negatives among the labelled")
    findings = []
    for axis, (values, other, name) in enumerate(
        zip((result.priors, result.noises), (result.noises, result.priors), names, strict=True)
    ):
        density = np.trapezoid(believed if axis == 0 else believed.T, other, axis=1)
        distribution = PriorDistribution(values, density)
        low, high = distribution.interval(confidence)
        findings.append(
            Finding(
                distribution.quantile(0.5),
                low,
                high,
                standard_error=distribution.standard_deviation,
                distribution=distribution,
                trace=Trace(values, density / density.max(), name, "relative likelihood"),
            )
        )
    return NoiseFinding(findings[0], findings[1])


ESTIMATOR = NoiseEstimator(
    auto,
    "Two-floor tilts of several shapes and scales, averaged by their evidence",
    "The log odds of being positive are a line or a parabola in the score, its logit or its normal score; "
    "labelled rows are random positives and random negatives.",
    "pulens",
    rank_based=False,
    has_interval=True,
)
