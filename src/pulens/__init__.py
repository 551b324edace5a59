"""pulens: how good is a binary classifier really, when nobody ever labelled a negative?

>>> import pulens
>>> evaluation = pulens.evaluate([1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2], class_prior=0.5,
...     labelling="random")
>>> round(evaluation.estimates["roc_auc"].value, 3)
0.625
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pulens import aliases as _aliases
from pulens._version import __version__

if TYPE_CHECKING:
    from pulens.comparison import Comparison, compare
    from pulens.counts.buckets import BucketTally
    from pulens.counts.sample import PUSample
    from pulens.counts.tally import Tally
    from pulens.errors import PulensError
    from pulens.estimate import Curve, Estimate, Interval
    from pulens.evaluation.audit import more_audit, plan_audit, read_audit
    from pulens.evaluation.bounds import Bounds, bounds
    from pulens.evaluation.decide import Decision, decide
    from pulens.evaluation.evaluate import Evaluation, evaluate
    from pulens.evaluation.reviews import join_reviews, read_reviews
    from pulens.evaluation.stratified import estimate_prior_within
    from pulens.groups.compare_groups import gaps_by
    from pulens.groups.gaps import Gaps
    from pulens.groups.segments import Evaluations, evaluate_by
    from pulens.inputs import read_buckets
    from pulens.learning.fitting import JudgedModel, fit
    from pulens.learning.synthesis import synthesise
    from pulens.monitoring import Pulse, watch
    from pulens.priors import ClassPrior, estimate_prior, estimate_prior_and_noise
    from pulens.recovery.contingency import Contingency
    from pulens.scenario import Scenario

_aliases.install()

# where each public name lives; looked up on first use, so that `import pulens` stays quick
_HOMES = {
    "Bounds": "pulens.evaluation.bounds",
    "ClassPrior": "pulens.priors",
    "Comparison": "pulens.comparison",
    "Contingency": "pulens.recovery.contingency",
    "Curve": "pulens.estimate",
    "Decision": "pulens.evaluation.decide",
    "Estimate": "pulens.estimate",
    "Evaluation": "pulens.evaluation.evaluate",
    "Evaluations": "pulens.groups.segments",
    "Gaps": "pulens.groups.gaps",
    "Interval": "pulens.estimate",
    "JudgedModel": "pulens.learning.fitting",
    "PUSample": "pulens.counts.sample",
    "BucketTally": "pulens.counts.buckets",
    "PulensError": "pulens.errors",
    "Pulse": "pulens.monitoring",
    "Scenario": "pulens.scenario",
    "Tally": "pulens.counts.tally",
    "bounds": "pulens.evaluation.bounds",
    "estimate_prior": "pulens.priors",
    "estimate_prior_and_noise": "pulens.priors",
    "estimate_prior_within": "pulens.evaluation.stratified",
    "compare": "pulens.comparison",
    "decide": "pulens.evaluation.decide",
    "evaluate": "pulens.evaluation.evaluate",
    "more_audit": "pulens.evaluation.audit",
    "plan_audit": "pulens.evaluation.audit",
    "read_audit": "pulens.evaluation.audit",
    "evaluate_by": "pulens.groups.segments",
    "fit": "pulens.learning.fitting",
    "join_reviews": "pulens.evaluation.reviews",
    "gaps_by": "pulens.groups.compare_groups",
    "read_reviews": "pulens.evaluation.reviews",
    "read_buckets": "pulens.inputs",
    "synthesise": "pulens.learning.synthesis",
    "watch": "pulens.monitoring",
}
_ROOMS = {
    "audits",
    "benchmark",
    "calibration",
    "cells",
    "comparison",
    "curves",
    "diagnostics",
    "fitting",
    "inputs",
    "labelling",
    "learners",
    "metrics",
    "plots",
    "priors",
    "recovery",
    "risks",
    "sklearn",
    "synthesis",
    "testing",
    "watching",
}

__all__ = [
    "Bounds",
    "BucketTally",
    "ClassPrior",
    "Comparison",
    "Contingency",
    "Curve",
    "Decision",
    "Estimate",
    "Evaluation",
    "Evaluations",
    "Gaps",
    "Interval",
    "JudgedModel",
    "PUSample",
    "PulensError",
    "Pulse",
    "Scenario",
    "Tally",
    "__version__",
    "bounds",
    "compare",
    "decide",
    "estimate_prior",
    "estimate_prior_and_noise",
    "estimate_prior_within",
    "evaluate",
    "evaluate_by",
    "fit",
    "gaps_by",
    "join_reviews",
    "more_audit",
    "plan_audit",
    "read_audit",
    "read_buckets",
    "read_reviews",
    "synthesise",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        result = getattr(import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        result = import_module(f"pulens.{name}")
    else:
        raise AttributeError(f"module 'pulens' has no attribute {name!r}")
    globals()[name] = result
    return result


#: What ``pulens.<tab>`` offers: the functions, the answers people write types for, and where the rest is found.
_OFFERED = (
    *("evaluate", "evaluate_by", "gaps_by", "compare", "decide", "estimate_prior", "bounds"),
    *("plan_audit", "read_audit", "read_reviews", "fit", "watch", "synthesise"),
    *("Evaluation", "ClassPrior", "Tally", "PulensError"),
    *("audits", "calibration", "inputs", "labelling", "learners", "metrics", "priors", "sklearn"),
)


def __dir__() -> list[str]:
    return sorted({*_OFFERED, "__version__", "__all__", "__doc__", "__name__", "__file__", "__path__"})
