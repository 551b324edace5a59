"""Counts of an audit that cannot be are refused before anything is computed from them."""

from __future__ import annotations

from typing import Any

import pytest

from pulens.audits import AuditCounts
from pulens.errors import InputError


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"found": [5, 3]}, "found and undecided 5 of checked 4"),
        ({"undecided": [3, 0]}, "found and undecided 5 of checked 4"),
        ({"checked": [4, 31]}, "checked 31 of rows 30"),
        ({"found": [2, -1]}, "whole numbers"),
        ({"found": [2, 0.5]}, "whole numbers"),
        ({"found": [2, float("nan")]}, "whole numbers"),
        ({"labelled": [1]}, "each of 2 strata"),
        ({"labelled": ["a", "b"]}, "each of 2 strata"),
        ({"flagged": 3}, "0 to 2"),
        ({"scenario": "single"}, "single-set"),
    ],
)
def test_counts_that_cannot_be_are_refused(changed: dict[str, Any], named: str) -> None:
    given: dict[str, Any] = {"rows": [10, 30], "checked": [4, 6], "found": [2, 1], "flagged": 1}
    AuditCounts(**given)
    with pytest.raises((InputError, ValueError), match=named):
        AuditCounts(**given | changed)
