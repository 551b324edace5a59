"""What a person should know of rows that belong together before the numbers."""

from __future__ import annotations

from pulens.evidence.evidence import Evidence
from pulens.inference.kernels.jackknife import FEW_BUCKETS, FEWEST_BUCKETS
from pulens.notice import Notice, Severity


def few_clusters(evidence: Evidence) -> list[Notice]:
    """Too few clusters to say how clusters differ, or clusters that hold one row each."""
    counted = evidence.buckets
    if counted is None:
        return []
    held, kind = min(zip(counted.held, ("Labelled", "Unlabelled"), strict=True))
    result = []
    if held < FEWEST_BUCKETS:
        result.append(
            Notice(
                Severity.SERIOUS,
                "too-few-clusters",
                f"{kind} rows lie in {held} cluster{'' if held == 1 else 's'}: no interval can be found from fewer "
                f"than {FEWEST_BUCKETS}, since they barely show how clusters differ. The numbers have no intervals; "
                "more clusters are needed.",
            )
        )
    elif held < FEW_BUCKETS:
        result.append(
            Notice(
                Severity.WARNING,
                "few-clusters",
                f"{kind} rows lie in {held} clusters only: how clusters differ is seen in few of them, so that "
                f"intervals are wide. {FEW_BUCKETS} clusters or more make them narrower.",
            )
        )
    if counted.clusters[0] == counted.clusters[1] == counted.rows:
        told = "intervals are as wide as without them, and only found in another way."
        if held < FEWEST_BUCKETS:
            told = "leave cluster= (--cluster) out, and there are intervals, as of independent rows."
        result.append(
            Notice(
                Severity.NOTE,
                "clusters-of-one-row",
                f"Every one of the {counted.rows:,} rows is a cluster of its own, so that clusters have no effect: "
                f"{told}",
            )
        )
    return result
