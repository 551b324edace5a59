r"""The default: tilts of several shapes on several scales, averaged by how well each explains the data, and doubted.

:doc:`Tilt <tilt>` stands or falls with its shape: when negatives are spread wider than positives, a straight line
for :math:`\log f_0/f_1` puts the floor too high. Here the log ratio may also be curved, or level off at both ends as
it does for heavy tails. Which it is, is not chosen: the posterior of the class prior is averaged over a line, slightly
and strongly bent parabolas and a step, and over the scales of the score, each weighted by its evidence (Laplace's
approximation). With few data the line prevails; with many the data decide. Before seeing data the class prior has
density proportional to :math:`(1 - \alpha)/\sqrt\alpha`: positives among what nobody labelled are more often few than
many.

On real tables no shape is quite right. So the evidence of the shapes is discounted by how badly the best of them fits
the scores, and with a small probability, larger for weak scores, no shape is believed at all
(:mod:`pulens.priors._uncertainty`). The value is the median of the discounted posterior, the interval between quantiles
of the distribution that holds the doubt too, and neither may exceed the feasible range.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pulens.counts.tally import Tally
from pulens.notice import Notice, Severity
from pulens.priors._cells import cut
from pulens.priors._estimator import Estimator, Finding, Trace
from pulens.priors._misfit import misfit
from pulens.priors._shapes import Profile, Shape, profile
from pulens.priors._uncertainty import DISCOUNT, DOUBT, Doubted, doubted, plausibility
from pulens.priors.feasible import highest_prior
from pulens.priors.from_scores.roc_slope import roc_slope

CELLS = 200
SHAPES = (
    Shape("line", weight=0.4),
    Shape("parabola", spread=0.3, weight=0.2),
    Shape("parabola", spread=0.7, weight=0.2),
    Shape("step", weight=0.2),
)
SHAPES_DIFFER, NO_ANCHOR, FLAT = 0.05, 0.15, 0.3  # differences and widths worth a warning
MISFIT, UNDETERMINED_AUC = 3.0, 0.7  # beyond which no shape fits, and below which scores hardly tell the classes apart


def auto(
    tally: Tally,
    *,
    label_noise: float = 0.0,
    confidence: float = 0.95,
    doubt: float = DOUBT,
    discount: float = DISCOUNT,
) -> Finding:
    """Median of the discounted posterior, and quantiles with the doubt mixed in.

    ``doubt=0, discount=0`` takes it for granted that one of the shapes is right.

    >>> rng = np.random.default_rng(0)
    >>> scores = np.concatenate([rng.normal(2, 1, 1500), rng.normal(0, 1, 4000)])
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [500, 5000]), scores)  # 1000 of 5000 are positive
    >>> found = auto(tally)
    >>> found.low < 0.2 < found.high
    True
    """
    cells = cut(tally, CELLS)
    result = profile(cells, SHAPES, label_noise)
    limit = highest_prior(tally, confidence=confidence, label_noise=label_noise)
    unfit = misfit(cells, result, label_noise)

    def weighed(which: np.ndarray) -> Doubted:
        return doubted(
            result.values,
            np.logaddexp.reduce(result.integrated[which], axis=0),
            limit=limit,
            observed_auc=cells.auc,
            misfit=unfit,
            label_noise=label_noise,
            doubt=doubt,
            discount=discount,
        )

    straight = np.array([shape.kind == "line" for shape, _ in result.models])
    weighted = weighed(np.ones(straight.size, bool))
    distribution = weighted.distribution
    low, high = (0.0, limit) if cells.auc < 0.5 and discount else distribution.interval(confidence)
    value = min(max(weighted.believed.quantile(0.5), low), high)
    medians = [weighed(which).trusted.quantile(0.5) for which in (straight, ~straight)]
    curved = _share_of_evidence(result, ~straight)
    purest = roc_slope(tally, label_noise=label_noise).value
    return Finding(
        value,
        low,
        high,
        standard_error=distribution.standard_deviation,
        distribution=distribution,
        trace=Trace(
            distribution.values,
            distribution.density / distribution.density.max(),
            "share of positives among the unlabelled",
            "relative likelihood",
        ),
        notices=tuple(_notices(value, (low, high), medians, curved, purest, weighted, unfit)),
        interval_method="likelihood with doubt" if doubt or discount else "likelihood",
        details={
            "evidence of curvature": curved,
            "straight": medians[0],
            "curved": medians[1],
            "misfit": unfit,
            "discount": weighted.discount,
            "doubt": weighted.doubt,
            "implied_auc": weighted.implied_auc,
            "full trust": weighted.trusted.quantile(0.5),
        },
    )


def _share_of_evidence(result: Profile, which: np.ndarray) -> float:
    """Posterior probability of some of the models."""
    heights = np.exp(result.integrated - result.integrated.max()) * plausibility(result.values)
    masses = heights @ np.gradient(result.values)
    return float(masses[which].sum() / masses.sum())


def _notices(
    value: float,
    interval: tuple[float, float],
    medians: list[float],
    curved: float,
    purest: float,
    weighted: Doubted,
    unfit: float,
) -> Iterator[Notice]:
    """What a reader should know about this estimate before using it."""
    low, high = interval
    if 0.5 < weighted.implied_auc < UNDETERMINED_AUC:  # below, scores are reversed, which is said elsewhere
        yield Notice(
            Severity.SERIOUS,
            "undetermined-prior",
            f"These scores barely separate the classes (implied AUC {weighted.implied_auc:.2f}), so the share of "
            f"positives among the unlabelled rows may be anything from {low:.3f} to {high:.3f}. Do "
            "not quote a single value; check a random sample of unlabelled rows by hand (an audit).",
        )
    if unfit > MISFIT and weighted.discount < 1:
        yield Notice(
            Severity.WARNING,
            "misfit-shapes",
            f"No assumed shape fits these scores (misfit {unfit:.1f} standard deviations), so their evidence on "
            f"the class prior counts only {weighted.discount:.0%}. Scores of a forest or of boosted trees usually "
            "fit better; an audit needs no shape.",
        )
    if abs(medians[0] - medians[1]) > SHAPES_DIFFER and not all(low <= median <= high for median in medians):
        yield Notice(
            Severity.WARNING,
            "shape-dependent-prior",
            f"The estimated share of positives among the unlabelled rows depends on the assumed shape of the "
            f"density ratio: {medians[0]:.3f} if it is straight, {medians[1]:.3f} if it may be curved (which has "
            f"{curved:.0%} of the evidence). Check a random sample of unlabelled rows by hand (an audit).",
        )
    if purest - value > NO_ANCHOR:
        yield Notice(
            Severity.WARNING,
            "no-anchor-region",
            f"No region of scores seems free of negatives: the purest one alone would allow {purest:.3f}, and the "
            f"estimate {value:.3f} lies far below because it extrapolates. It is only as good as its shape "
            "assumption; an audit would settle it.",
        )
    if high - low > FLAT:
        yield Notice(
            Severity.WARNING,
            "flat-likelihood",
            f"The data barely distinguish shares of positives from {low:.3f} to {high:.3f}: use "
            "the interval rather than the value, or more labelled rows, a stronger score or an audit.",
        )


ESTIMATOR = Estimator(
    auto,
    "Tilts of several shapes and scales, averaged by their evidence and doubted by their misfit",
    "The log odds of being positive are roughly a line, a parabola or a step in the score, its logit or its normal "
    "score; labelled rows are a random sample of positives.",
    "pulens",
    rank_based=False,
    has_interval=True,
    parameters={"doubt": DOUBT, "discount": DISCOUNT},
    reads_negatives=True,
)
