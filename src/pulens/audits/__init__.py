"""Which rows a person should check, and what the answers prove without any assumption about labelling.

Read in this order: ``counts`` (what an audit knows), then the estimates that follow from it.
"""

from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.audits.identified import Identified, identified
from pulens.audits.review_log import ReviewLog
from pulens.audits.reviews import Reviews

__all__ = ["AuditCounts", "CheckedRows", "Identified", "ReviewLog", "Reviews", "identified"]
