"""Which rows a person should check, and what the answers prove without any assumption about labelling.

Read in this order: ``counts`` (what an audit knows), ``limits`` (how many positives strata can hold), ``formulas`` and
``estimates`` (the metrics that follow), ``result`` (the answer). What answers say of the labels: ``labelling_test`` and
``labelling_curve``; what is known before checking: ``forecast``; wrong answers: ``judges``.
"""

from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.audits.estimates import design_estimates, design_limits
from pulens.audits.forecast import AuditForecast, forecast_of
from pulens.audits.identified import Identified, identify
from pulens.audits.judges import agreement_of, judged_estimates
from pulens.audits.labelling_test import LabellingVerdict, labelling_of
from pulens.audits.plan import AuditPlan
from pulens.audits.result import AuditResult, from_counts
from pulens.audits.review_log import ReviewLog
from pulens.audits.reviews import Reviews

__all__ = [
    "AuditCounts",
    "AuditForecast",
    "AuditPlan",
    "AuditResult",
    "CheckedRows",
    "Identified",
    "LabellingVerdict",
    "ReviewLog",
    "Reviews",
    "agreement_of",
    "design_estimates",
    "design_limits",
    "forecast_of",
    "from_counts",
    "identify",
    "judged_estimates",
    "labelling_of",
]
