"""Names for arrays, written once."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Booleans", "Counted", "Floats", "Places", "Scores", "Whole"]

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]  # positions in another array
Counted: TypeAlias = NDArray[Any]  # int64 for rows of weight one, float64 for weighted rows
Scores: TypeAlias = NDArray[np.floating[Any]]  # single or double precision, as they came
