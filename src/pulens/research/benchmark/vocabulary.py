"""The benchmark's words, and the older spellings that files on people's disks and their scripts still have.

A learner is what is compared (the papers' "method"). A metric has the name that the catalogue gives it. A mechanism of
labelling has its own name, and the papers' name for it is its alias.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from pulens.errors import InputError

CURRENT = {
    "method": "learner",
    "methods": "learners",
    "strategy": "mechanism_alias",
    "auc": "roc_auc",
    "test_auc": "test_roc_auc",
    "proxy_auc": "proxy_roc_auc",
    "oracle": "oracle_accuracy",
}
OLDER = {word: older for older, word in CURRENT.items()}


def current(word: str) -> str:
    """A word as it is spelt now.

    >>> current("proxy_auc"), current("f1")
    ('proxy_roc_auc', 'f1')
    """
    return CURRENT.get(word, word) if isinstance(word, str) else word


def older(word: str) -> str:
    """A word as it was spelt when keys of runs were settled: the same run has the same key for ever.

    >>> older("oracle_accuracy"), older("f1")
    ('oracle', 'f1')
    """
    return OLDER.get(word, word) if isinstance(word, str) else word


def with_current_names(values: Mapping[Any, Any], known: Container[str], where: str) -> dict[Any, Any]:
    """Values by the current spelling of names that are known; both spellings of one name are refused.

    >>> with_current_names({"methods": "all", "seeds": 1}, ["learners", "seeds"], "mine.yaml")
    {'learners': 'all', 'seeds': 1}
    """
    result: dict[Any, Any] = {}
    for name, value in values.items():
        word = current(name) if current(name) in known else name
        if word in result:
            raise InputError(f"{where}: {word!r} and its older spelling {older(word)!r} are both there: keep one.")
        result[word] = value
    return result


def variant_name(name: str, variant: str) -> str:
    """A learner's name or title with the words that tell this version of it apart.

    >>> variant_name("lbe", "as published"), base_name("lbe (as published)")
    ('lbe (as published)', 'lbe')
    """
    return f"{name} ({variant})"


def base_name(learner: str) -> str:
    """The learner's own name, whichever version of it this is."""
    return learner.partition(" (")[0]
