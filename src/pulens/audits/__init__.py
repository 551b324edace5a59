"""Which rows a person should check, and what the answers prove without any assumption about labelling.

Read in this order: ``counts`` (what an audit knows), ``limits`` (how many positives strata can hold), ``formulas`` and
``estimates`` (the metrics that follow), ``result`` (the answer).
"""

from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.audits.estimates import design_estimates, design_limits
from pulens.audits.identified import Identified, identify
from pulens.audits.plan import AuditPlan
from pulens.audits.result import AuditResult, from_counts
from pulens.audits.review_log import ReviewLog
from pulens.audits.reviews import Reviews

__all__ = [
    "AuditCounts",
    "AuditPlan",
    "AuditResult",
    "CheckedRows",
    "Identified",
    "ReviewLog",
    "Reviews",
    "design_estimates",
    "design_limits",
    "from_counts",
    "identify",
]
