"""For tests and studies: checks for what other packages add to pulens, and worlds whose truth is known.

>>> import pulens.metrics
>>> from pulens.testing import check_metric
>>> check_metric(pulens.metrics.find("precision"))

A world draws test sets, and says what an evaluation of them should find:

>>> import numpy as np
>>> from pulens.testing import RankingWorld
>>> world = RankingWorld("gaussian", auc=0.8, class_prior=0.3, labelled=100, unlabelled=1000)
>>> labels, scores = world.draw(np.random.default_rng(0))
>>> found = pulens.metrics.roc_auc(labels, scores, class_prior=0.3, scenario="case-control", confidence=0.95)
>>> world.values["roc_auc"] in found.interval
True
"""

from pulens.testing.audit_worlds import AUDIT_WORLDS, UNSEEN_AUDIT_WORLDS, AuditedTable, AuditWorld
from pulens.testing.biased_worlds import BiasedWorld
from pulens.testing.calibration_worlds import LogitMixture, fit_logit_mixture, logistic_world
from pulens.testing.design_worlds import DesignRows, DesignWorld
from pulens.testing.metrics import check_metric
from pulens.testing.prior_knowledge import another_study
from pulens.testing.prior_worlds import PRIOR_WORLDS, PriorWorld
from pulens.testing.ranking_worlds import RankingWorld
from pulens.testing.tables import claims, draw_table

__all__ = [
    "AUDIT_WORLDS",
    "PRIOR_WORLDS",
    "UNSEEN_AUDIT_WORLDS",
    "AuditWorld",
    "AuditedTable",
    "BiasedWorld",
    "DesignRows",
    "DesignWorld",
    "LogitMixture",
    "PriorWorld",
    "RankingWorld",
    "another_study",
    "check_metric",
    "claims",
    "draw_table",
    "fit_logit_mixture",
    "logistic_world",
]
