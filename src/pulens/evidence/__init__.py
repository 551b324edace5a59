"""What an answer rests on: the question that was asked, and the counts with which it becomes evidence."""

from pulens.evidence.cluster_notices import few_clusters
from pulens.evidence.design import Design
from pulens.evidence.evidence import Evidence
from pulens.evidence.question import ASSUMED, IntervalOptions, gather
from pulens.evidence.resolving import MISFIT, NOT_USED, counted, resolve_class_prior

__all__ = [
    "ASSUMED",
    "MISFIT",
    "NOT_USED",
    "Design",
    "Evidence",
    "IntervalOptions",
    "counted",
    "few_clusters",
    "gather",
    "resolve_class_prior",
]
