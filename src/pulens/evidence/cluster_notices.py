"""What a person should know of rows that belong together before the numbers."""

from __future__ import annotations

from pulens.evidence.evidence import Evidence
from pulens.inference.kernels.jackknife import FEW_BUCKETS, FEWEST_BUCKETS
from pulens.notice import Notice, Severity


def few_clusters(evidence: Evidence) -> list[Notice]:
    """Too few clusters to say how clusters differ, or clusters that hold one row each."""
    counted = evidence.buckets
    if evidence.is_apart:
        said = "Every row is a cluster of its own, so the numbers are those without clusters."
        return [Notice(Severity.NOTE, "clusters-of-one-row", said)]
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
    return result
