"""The class prior that an audit in strata found, for every place that takes a class prior."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pulens.audits.counts import AuditCounts
from pulens.audits.estimates import design_limits, estimated_positives
from pulens.audits.limits import DRAWS, check_interval, draw_totals
from pulens.counts.tally import Totals
from pulens.errors import AssumptionError
from pulens.estimate import Interval
from pulens.priors.class_prior import ClassPrior, population_prior
from pulens.priors.distribution import PriorDistribution
from pulens.scenario import Scenario

CEILING = 1 - 1e-6  # as for an audit of random rows: a class prior of 1 leaves no negatives left
CELLS = 400


def prior_of_counts(
    counts: AuditCounts,
    *,
    confidence: float = 0.95,
    interval: str = "balanced",
    anytime: bool = False,
    seed: int = 0,
    unchecked_share: Any = None,
) -> ClassPrior:
    """Share of positives among the unlabelled rows and in the population, by strata.

    >>> counts = AuditCounts(rows=[200, 9800], checked=[60, 140], found=[45, 2], labelled=[80, 20], flagged=1)
    >>> print(prior_of_counts(counts))
    class prior 0.03861 [0.027, 0.070] (audit of 200 rows in 2 strata)
    """
    kind = check_interval(interval)
    alone = AuditCounts(
        rows=counts.rows,
        checked=counts.checked,
        found=counts.found,
        undecided=counts.undecided,
        flagged=counts.flagged,
        scenario=Scenario.CASE_CONTROL,
    )
    rows = float(counts.rows.sum())
    asked: Any = {"confidence": confidence, "interval": kind, "anytime": anytime, "seed": seed}
    low, high = (float(end[0]) for end in design_limits(alone, metrics=["class_prior"], **asked)["class_prior"])
    share = float(estimated_positives(counts, unchecked_share=unchecked_share).sum()) / rows if rows else math.nan
    if math.isnan(share):
        raise AssumptionError(
            "an audit that leaves rows out altogether gives no class prior, only bounds: the share of positives "
            f"among the unlabelled rows lies between {low:.4g} and {high:.4g}. Check some of the rows left out, "
            f"or give class_prior=({low:.4g}, {high:.4g})."
        )
    totals = Totals(float(counts.labelled.sum()), rows, float(counts.known_negative.sum()))
    method = "audit, anytime" if anytime else f"audit, {kind}"
    among = Interval(min(low, share, CEILING), min(max(high, share), CEILING), confidence, method)
    least, most = (population_prior(end, totals, counts.scenario) for end in (among.low, among.high))
    moved = Interval(least, most, confidence, method)
    share = min(share, CEILING)
    checked = int(counts.checked.sum())
    strata = f"{counts.strata} {'stratum' if counts.strata == 1 else 'strata'}"
    return ClassPrior(
        population_prior(share, totals, counts.scenario),
        share,
        f"audit of {checked} rows in {strata}",
        moved,
        among,
        "The audited rows were drawn at random within each range of scores and judged correctly.",
        feasible=moved,
        unlabelled_feasible=among,
        standard_error=_standard_error(counts),
        distribution=_distribution(alone, seed),
    )


def _standard_error(counts: AuditCounts) -> float:
    """Of the share among the unlabelled rows, half a row of each kind added in every stratum that was sampled."""
    took, size = counts.checked, counts.rows
    sampled = (took > 0) & (size > took)
    share = (counts.found + counts.undecided / 2 + 0.5)[sampled] / (took[sampled] + 1)
    unseen = (size * (size - took))[sampled].astype(float)
    return float(math.sqrt((unseen * share * (1 - share) / took[sampled]).sum()) / size.sum())


def _distribution(counts: AuditCounts, seed: int) -> PriorDistribution | None:
    """The draws behind the balanced limits, undecided rows counted half, as a density; none if all is known."""
    half = counts.found + counts.undecided // 2
    drawn = draw_totals(
        counts.rows, counts.checked, half, counts.flagged, interval="balanced", draws=DRAWS, seed=seed
    ).everywhere.low[:, 0]
    shares = (drawn / counts.rows.sum()).clip(1e-9, CEILING)
    values, masses = np.unique(shares, return_counts=True)
    if values.size < 2:
        return None
    if values.size > CELLS:
        borders = np.unique(np.quantile(shares, np.linspace(0, 1, CELLS + 1)))
        masses, _ = np.histogram(shares, borders)
        values = (borders[1:] + borders[:-1]) / 2
        values, masses = values[masses > 0], masses[masses > 0]
    return PriorDistribution.from_masses(values, masses / masses.sum())
