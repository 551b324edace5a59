"""What is told of rows that belong together: how many clusters there are, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pulens.counts.buckets import BucketTally, clusters_in_words
from pulens.evidence import Evidence
from pulens.groups.grouped_rows import plain_of

MOST_EFFECTS = 20  # segments whose design effect is found: it takes a second interval


@dataclass(frozen=True, slots=True)
class Clustering:
    """Clusters, at least and at most; buckets, of which some hold labelled rows; rows; and the design effect.

    ``design_effect`` is how many times the variance of ``metric`` is what it would be if rows were independent: rows
    that belong together say as much as rows divided by it.

    >>> print(Clustering((40, 40), 40, 38, 320, "roc_auc", 2.5))
    40 clusters, 8 rows each on average; variance of roc_auc 2.50 times that of independent rows
    """

    clusters: tuple[int, int]
    buckets: int
    labelled_buckets: int
    rows: int
    metric: str = ""
    design_effect: float | None = None

    @classmethod
    def of(cls, evidence: Evidence, metric: str = "", design_effect: float | None = None) -> Clustering | None:
        """``None`` for rows that were not counted by cluster."""
        return None if evidence.buckets is None else cls.counted(evidence.buckets, metric, design_effect)

    @classmethod
    def counted(cls, counted: BucketTally, metric: str = "", design_effect: float | None = None) -> Clustering:
        """Of rows that were counted by cluster."""
        labelled = int((counted.totals[:, 0] > 0).sum())
        return cls(counted.clusters, len(counted), labelled, counted.rows, metric, design_effect)

    @property
    def rows_per_cluster(self) -> tuple[float, float]:
        """On average, at least and at most."""
        fewest, most = self.clusters
        return self.rows / most, self.rows / fewest

    def __str__(self) -> str:
        low, high = (f"{float(f'{rows:.3g}'):,.10g}" for rows in self.rows_per_cluster)
        each = low if low == high else f"{low} to {high}"
        some = self.clusters[0] == self.clusters[1] == self.buckets
        grouped = "" if some else f" in {self.buckets:,} buckets"
        cost = ""
        if self.design_effect is not None and math.isfinite(self.design_effect):
            cost = f"; variance of {self.metric} {self.design_effect:.2f} times that of independent rows"
        rows = "1 row each" if each == "1" else f"{each} rows each on average"
        return f"{clusters_in_words(self.clusters)}{grouped}, {rows}{cost}"

    def to_dict(self) -> dict[str, Any]:
        fewest, most = self.clusters
        return {
            "clusters": most if fewest == most else {"at_least": fewest, "at_most": most},
            "buckets": self.buckets,
            "buckets_with_labelled_rows": self.labelled_buckets,
            "rows": self.rows,
            "rows_per_cluster": self.rows_per_cluster[0] if fewest == most else list(self.rows_per_cluster),
            "design_effect": self.design_effect,
            "design_effect_of": self.metric or None,
        }


@dataclass(frozen=True)
class SegmentClusters:
    """How many clusters (or buckets of them) all segments have together, and the design effect in single segments.

    ``effects`` are how many times the variance of ``metric`` is that of independent rows, segment by segment, for those
    with the most labelled rows.
    """

    many: int
    are_buckets: bool
    metric: str
    effects: Mapping[Any, float]

    @classmethod
    def of(cls, result: Mapping[Any, Any], buckets: Mapping[Any, BucketTally]) -> SegmentClusters:
        """Of evaluations by segment, and the rows of each by bucket."""
        names = {name for counted in buckets.values() for name in counted.names}
        hashed = any(counted.is_hashed for counted in buckets.values())
        largest = sorted(result, key=lambda segment: -buckets[segment].tally.totals.labelled)[:MOST_EFFECTS]
        told = {segment: result[segment].clusters for segment in largest}
        effects = {segment: one.design_effect for segment, one in told.items() if one is not None}
        metric = next((one.metric for one in told.values() if one is not None), "")
        return cls(len(names), hashed, metric, {one: effect for one, effect in effects.items() if effect is not None})

    def __str__(self) -> str:
        what = f"{self.many:,} {'buckets of ' if self.are_buckets else ''}clusters in all segments together"
        if not self.effects:
            return what
        low, high = min(self.effects.values()), max(self.effects.values())
        span = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
        among = f" (the {MOST_EFFECTS} largest segments)" if len(self.effects) >= MOST_EFFECTS else ""
        return f"{what}; variance of {self.metric} {span} times that of independent rows{among}"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        effects = [{"segment": plain_of(segment), "design_effect": effect} for segment, effect in self.effects.items()]
        many = {"buckets" if self.are_buckets else "clusters": self.many}
        return {**many, "design_effect_of": self.metric or None, "design_effects": effects}
