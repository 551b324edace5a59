"""Rows counted and read by what is said of labels, for functions that take strata too."""

from __future__ import annotations

from typing import Any

from pulens.evidence import Evidence
from pulens.keywords import forwards_keywords
from pulens.selection.labelling import read_as_said
from pulens.strata import gather_within


@forwards_keywords(gather_within)
def gather_labelled(source: Any, scores: Any = None, *, labelling: object = None, **named: Any) -> Evidence:
    """Rows counted with the class prior settled, read by what is said of labels.

    >>> from pulens.selection import labelling_of
    >>> rows = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2]
    >>> [labelling_of(gather_labelled(*rows, class_prior=0.5, labelling=each)) for each in (None, "random")]
    ['practice', 'random']
    """
    return read_as_said(gather_within(source, scores, **named), labelling, named.get("labelled_within"))
