"""Learners for PU data, one per file, all with scikit-learn's interface; loaded when first named."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# public name -> file; nothing heavy is imported before a learner is asked for
LEARNERS = {
    "ElkanNoto": "elkan_noto",
    "NaiveClassifier": "naive",
    "OracleClassifier": "oracle",
    "PUBagging": "pu_bagging",
    "PUET": "puet",
    "WeightedElkanNoto": "weighted_elkan_noto",
}

__all__ = list(LEARNERS)


def __getattr__(name: str) -> Any:
    if name not in LEARNERS:
        raise AttributeError(f"module 'pulens.learners' has no attribute {name!r}; learners are {', '.join(LEARNERS)}")
    found = getattr(import_module(f"pulens.learners.{LEARNERS[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(LEARNERS)
