"""Labels of -1, which no learner here takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError
from pulens.sample import NEGATIVE


def refuse_known_negatives(codes: NDArray[Any], learner: str) -> None:
    """Refuse them, whatever they mean: here -1 is a known negative, in most other PU libraries an unlabelled row."""
    found = int(np.count_nonzero(codes == NEGATIVE))
    if found:
        raise InputError(
            f"{learner} learns from positive and unlabelled rows only, got {found:,} labels of -1, which mean known "
            "negative here. If they mean unlabelled, as in most PU libraries, mark them 0 or say positive=1 "
            "(--positive 1 on the command line): everything else is then unlabelled. If they are known negatives, "
            "leave these rows out."
        )
