"""Checks for what other packages add to pulens: call them in that package's own tests.

>>> import pulens.metrics
>>> from pulens.testing import check_metric
>>> check_metric(pulens.metrics.find("precision"))
"""

from pulens.testing.metrics import check_metric

__all__ = ["check_metric"]
