"""What an answer rests on: the question that was asked, and the counts with which it becomes evidence."""

from pulens.evidence.clusters_told import few_clusters
from pulens.evidence.evidence import Evidence
from pulens.evidence.question import ASSUMED, Question, gather
from pulens.evidence.settling import MISFIT, NOT_USED, counted, settle_class_prior

__all__ = [
    "ASSUMED",
    "MISFIT",
    "NOT_USED",
    "Evidence",
    "Question",
    "counted",
    "few_clusters",
    "gather",
    "settle_class_prior",
]
