r"""Bounds on contingency tables from partially labelled rankings (Claesen et al.), by counts alone.

Labelled and latent positives are taken to be draws of one distribution, so a band on the rank CDF of the labelled
ones holds the latent ones' too. Theorem 1 turns its upper end into the greatest lower bound on the false positive
rate at every rank, its lower end into the least upper bound. No row is ever assigned: each table needs only how many
unlabelled rows stand above a threshold and how many of them must be counted as positive.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from pulens.counts.tally import Tally
from pulens.errors import AssumptionError
from pulens.inference.kernels.bands import Band, rank_band
from pulens.recovery.contingency import Contingency
from pulens.types import Floats

Approach = Literal["positives", "negatives", "tighter"]
MOST_WORK = 1 << 22  # thresholds times numbers of latent positives that are tried one by one
SLACK = 1e-9  # a product within this of a whole number is that number: bands are never exact to more


class BoundTables(NamedTuple):
    """Tables of the upper and of the lower curve, "nothing is predicted positive" first."""

    lower: Contingency
    upper: Contingency


def latent_count(share: float, rows: float) -> float:
    """Number of latent positives among unlabelled rows, to the nearest whole one, halves up.

    The share is read as the decimal it prints as: 0.29 of 100 rows are 29, though the product of the doubles is
    28.999999999999996.

    >>> latent_count(0.29, 100), latent_count(0.15, 30)
    (29.0, 5.0)
    """
    exact = Fraction(repr(float(share))) * Fraction(float(rows))
    return float(math.floor(exact + Fraction(1, 2)))


def latent_range_of(tally: Tally, shares: tuple[float, float], *, labelled_too: bool) -> tuple[float, float]:
    """Fewest and most latent positives; of either class at least one row that the tables are about.

    A share between 0 and 1 may round to no row or to all of them, and no rate has 0 rows.

    >>> latent_range_of(Tally.from_arrays(np.array([1, 0, 0]), np.array([3, 2, 1])), (0.0, 0.5), labelled_too=False)
    (1.0, 1.0)
    >>> latent_range_of(Tally.from_arrays(np.array([1, 0, 0]), np.array([3, 2, 1])), (0.9, 0.99), labelled_too=False)
    (1.0, 1.0)
    """
    labelled, rows, negative = tally.totals
    least = 0.0 if labelled_too and labelled else 1.0
    most = rows if labelled_too and negative else math.ceil(rows) - 1.0
    if least > most:
        spoken_of = "all rows together" if labelled_too else "the unlabelled rows"
        raise AssumptionError(
            f"bounds are about {spoken_of}, among which there must be a positive and a negative, and there are only "
            f"{rows:g} unlabelled and {negative:g} known negative rows. Give more unlabelled rows."
        )
    low, high = (min(max(latent_count(share, rows), least), most) for share in shares)
    return low, high


def whole_numbers(low: float, high: float, most: int) -> Floats:
    """All whole numbers from one to another, or that many of them, evenly spaced with both ends.

    >>> whole_numbers(3, 6, 10), whole_numbers(0, 100, 3)
    (array([3., 4., 5., 6.]), array([  0.,  50., 100.]))
    """
    count = int(high - low) + 1
    if count <= most:
        return low + np.arange(count, dtype=np.float64)
    return np.unique(np.rint(np.linspace(low, high, most)))


def round_up(values: Any) -> Floats:
    """Ceiling that takes a whole number plus rounding error for the whole number: equation 10.

    >>> round_up(0.07 * 100)
    array(7.)
    """
    values = np.asarray(values, float)
    return np.asarray(np.ceil(values - np.maximum(SLACK, 4 * np.spacing(values))))


def round_down(values: Any) -> Floats:
    """Floor that takes a whole number less rounding error for the whole number: equation 13.

    >>> round_down(0.29 * 100)
    array(29.)
    """
    values = np.asarray(values, float)
    return np.asarray(np.floor(values + np.maximum(SLACK, 4 * np.spacing(values))))


def surrogates_in_head(head: Any, rows: float, latent: float, theta: Any) -> Floats:
    r"""How many of the rows above a threshold count as latent positives: Claesen et al., equation 11.

    ``theta`` of them, unless fewer stand there, or unless the tail has no room for the others.

    >>> surrogates_in_head(np.array([2, 7, 5]), 8, 3, np.array([3, 1, 2]))
    array([2., 2., 2.])
    """
    head, theta = np.asarray(head, float), np.asarray(theta, float)
    tail = rows - head
    return np.asarray(np.where(latent - theta > tail, latent - tail, np.minimum(head, theta)))


class SurrogateBands(NamedTuple):
    """Bands on the rank CDF of latent positives, of latent negatives or of both, and the unlabelled rows above."""

    head: Floats
    rows: float
    positives: Band | None
    negatives: Band | None

    @classmethod
    def of(
        cls, tally: Tally, confidence: float, band: str, approach: Approach, latent_range: tuple[float, float]
    ) -> SurrogateBands:
        """The two-sample band is as wide as the least favourable number of latent rows in the range asks."""
        fewest_latent, most_latent = latent_range
        rows = float(tally.totals.unlabelled)
        head, known, refuted = (
            np.concatenate([[0.0], np.asarray(kind, float)])
            for kind in (tally.unlabelled, tally.labelled, tally.negative)
        )
        level = 1 - (1 - confidence) / 2 if approach == "tighter" else confidence
        positives = negatives = None
        if approach in ("positives", "tighter"):
            positives = rank_band(known, tally.totals.labelled, level, band, latent=fewest_latent)
        if approach in ("negatives", "tighter"):
            negatives = rank_band(refuted, tally.totals.negative, level, band, latent=rows - most_latent)
        return cls(head, rows, positives, negatives)

    def limits(self, latent: Any) -> tuple[Floats, Floats]:
        """Fewest and most latent positives above each threshold; one row for each of several totals."""
        latent = np.asarray(latent, float)[..., None]
        limits = []
        if self.positives is not None:
            limits.append(
                (
                    surrogates_in_head(self.head, self.rows, latent, round_down(self.positives.low * latent)),
                    surrogates_in_head(self.head, self.rows, latent, round_up(self.positives.high * latent)),
                )
            )
        if self.negatives is not None:
            rest = self.rows - latent
            # few negatives above means many positives there: the ends change places
            limits.append(
                (
                    self.head - surrogates_in_head(self.head, self.rows, rest, round_up(self.negatives.high * rest)),
                    self.head - surrogates_in_head(self.head, self.rows, rest, round_down(self.negatives.low * rest)),
                )
            )
        fewest = np.max([low for low, _ in limits], axis=0)
        most = np.min([high for _, high in limits], axis=0)
        return fewest, np.maximum(most, fewest)


def table_from_surrogates(tally: Tally, latent: float, in_head: Floats, *, labelled_too: bool) -> Contingency:
    """Contingency tables at every threshold when this many latent positives stand above it: equation 12.

    With ``labelled_too`` they are about labelled, unlabelled and known negative rows together, as in the paper;
    without, of the unlabelled rows alone, which are the sample of the population in case-control data.
    """
    rows = float(tally.totals.unlabelled)
    head, known, refuted = (
        np.concatenate([[0.0], np.asarray(kind, float)]) for kind in (tally.unlabelled, tally.labelled, tally.negative)
    )
    hits, alarms = in_head, head - in_head
    positive, negative = latent, rows - latent
    if labelled_too:
        hits, alarms = hits + known, alarms + refuted
        positive, negative = positive + float(tally.totals.labelled), negative + float(tally.totals.negative)
    thresholds = np.concatenate([[np.inf], tally.thresholds])
    return Contingency.from_cells(thresholds, hits, alarms, positive - hits, negative - alarms)


def bound_tables(
    tally: Tally,
    shares: tuple[float, float],
    confidence: float,
    *,
    band: str = "dkw-two-sample",
    approach: Approach = "positives",
    labelled_too: bool = True,
) -> BoundTables:
    r"""Tables with the greatest lower and the least upper bound on the false positive rate: Claesen et al., Theorem 1.

    ``shares`` is the range of the share of positives among the unlabelled rows. Where the ranking beats chance
    more positives mean a lower false positive rate (Lemma 4), where it does not a higher one, and where the band is
    cut neither holds: so at each threshold the number of latent positives with the lowest (highest) false positive
    rate is taken for the upper (lower) curve, of all in the range or of as many as are tried.

    >>> labels, scores = np.repeat([1, 0], [3, 8]), np.array([.9, .66, .41, .94, .83, .71, .6, .52, .35, .22, .1])
    >>> tables = bound_tables(Tally.from_arrays(labels, scores), (0.375, 0.375), 0.95, band="dkw")
    >>> tables.upper.true_positive[:4], tables.lower.false_positive[:4]
    (array([0., 1., 2., 3.]), array([0., 1., 1., 2.]))
    """
    low, high = latent_range_of(tally, shares, labelled_too=labelled_too)
    bands = SurrogateBands.of(tally, confidence, band, approach, (low, high))
    lower = upper = None
    for latent in whole_numbers(low, high, counts_tried(len(tally))).tolist():
        fewest, most = bands.limits(latent)
        low_here = table_from_surrogates(tally, latent, fewest, labelled_too=labelled_too)
        high_here = table_from_surrogates(tally, latent, most, labelled_too=labelled_too)
        lower = low_here if lower is None else _pick(lower, low_here, np.greater)
        upper = high_here if upper is None else _pick(upper, high_here, np.less)
    assert lower is not None
    assert upper is not None
    return BoundTables(lower, upper)


def counts_tried(thresholds: int) -> int:
    """How many numbers of latent positives can be tried at this many thresholds within a second or so."""
    return max(9, MOST_WORK // max(thresholds, 1))


def _pick(first: Contingency, second: Contingency, better: Any) -> Contingency:
    """At each threshold the table with the lower, or higher, false positive rate."""
    takes_second = better(second.false_positive_rate, first.false_positive_rate)
    cells = [
        np.where(takes_second, getattr(second, cell), getattr(first, cell))
        for cell in ("true_positive", "false_positive", "false_negative", "true_negative")
    ]
    return Contingency.from_cells(first.thresholds, *cells)
