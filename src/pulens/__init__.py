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
from pulens._version import __version__ as __version__

if TYPE_CHECKING:
    from pulens.comparison import Comparison as Comparison
    from pulens.comparison import compare as compare
    from pulens.counts.buckets import BucketTally as BucketTally
    from pulens.counts.sample import PUSample as PUSample
    from pulens.counts.tally import Tally as Tally
    from pulens.errors import PulensError as PulensError
    from pulens.estimate import Curve as Curve
    from pulens.estimate import Estimate as Estimate
    from pulens.estimate import Interval as Interval
    from pulens.evaluation.audit import more_audit as more_audit
    from pulens.evaluation.audit import plan_audit as plan_audit
    from pulens.evaluation.audit import read_audit as read_audit
    from pulens.evaluation.bounds import Bounds as Bounds
    from pulens.evaluation.bounds import bounds as bounds
    from pulens.evaluation.decide import Decision as Decision
    from pulens.evaluation.decide import decide as decide
    from pulens.evaluation.evaluate import Evaluation as Evaluation
    from pulens.evaluation.evaluate import evaluate as evaluate
    from pulens.evaluation.reviews import join_reviews as join_reviews
    from pulens.evaluation.reviews import read_reviews as read_reviews
    from pulens.evaluation.stratified import estimate_prior_within as estimate_prior_within
    from pulens.groups.compare_groups import gaps_by as gaps_by
    from pulens.groups.gaps import Gaps as Gaps
    from pulens.groups.segments import Evaluations as Evaluations
    from pulens.groups.segments import evaluate_by as evaluate_by
    from pulens.inputs import read_buckets as read_buckets
    from pulens.learning.fitting import JudgedModel as JudgedModel
    from pulens.learning.fitting import fit as fit
    from pulens.learning.synthesis import synthesise as synthesise
    from pulens.monitoring import Pulse as Pulse
    from pulens.monitoring import watch as watch
    from pulens.priors import ClassPrior as ClassPrior
    from pulens.priors import estimate_prior as estimate_prior
    from pulens.priors import estimate_prior_and_noise as estimate_prior_and_noise
    from pulens.recovery.contingency import Contingency as Contingency
    from pulens.scenario import Scenario as Scenario

_aliases.install()

# where the public names live; looked up on first use, so that `import pulens` stays quick
_HOMES = {
    name: home
    for home, names in {
        "pulens.comparison": ("Comparison", "compare"),
        "pulens.counts.buckets": ("BucketTally",),
        "pulens.counts.sample": ("PUSample",),
        "pulens.counts.tally": ("Tally",),
        "pulens.errors": ("PulensError",),
        "pulens.estimate": ("Curve", "Estimate", "Interval"),
        "pulens.evaluation.audit": ("more_audit", "plan_audit", "read_audit"),
        "pulens.evaluation.bounds": ("Bounds", "bounds"),
        "pulens.evaluation.decide": ("Decision", "decide"),
        "pulens.evaluation.evaluate": ("Evaluation", "evaluate"),
        "pulens.evaluation.reviews": ("join_reviews", "read_reviews"),
        "pulens.evaluation.stratified": ("estimate_prior_within",),
        "pulens.groups.compare_groups": ("gaps_by",),
        "pulens.groups.gaps": ("Gaps",),
        "pulens.groups.segments": ("Evaluations", "evaluate_by"),
        "pulens.inputs": ("read_buckets",),
        "pulens.learning.fitting": ("JudgedModel", "fit"),
        "pulens.learning.synthesis": ("synthesise",),
        "pulens.monitoring": ("Pulse", "watch"),
        "pulens.priors": ("ClassPrior", "estimate_prior", "estimate_prior_and_noise"),
        "pulens.recovery.contingency": ("Contingency",),
        "pulens.scenario": ("Scenario",),
    }.items()
    for name in names
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

__all__ = sorted([*_HOMES, "__version__"])


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
