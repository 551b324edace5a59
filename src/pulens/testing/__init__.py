"""For tests and studies: checks for what other packages add to pulens, and worlds whose truth is known.

>>> import pulens.metrics
>>> from pulens.testing import check_metric
>>> check_metric(pulens.metrics.find("precision"))
"""

from pulens.testing.calibration_worlds import LogitMixture, fit_logit_mixture, logistic_world
from pulens.testing.metrics import check_metric

__all__ = ["LogitMixture", "check_metric", "fit_logit_mixture", "logistic_world"]
