"""Names for arrays and arguments, written once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Booleans", "Column", "Counted", "Floats", "LabelValues", "Places", "Scores", "Whole"]

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]  # positions in another array
Counted: TypeAlias = NDArray[Any]  # int64 for rows of weight one, float64 for weighted rows
Scores: TypeAlias = NDArray[np.floating[Any]]  # single or double precision, as they came

#: What names a column of a table: text, or the number that pandas gives a column without a name.
Column: TypeAlias = str | int
#: One label value, or several that mean the same.
LabelValues: TypeAlias = str | float | bool | Sequence[str | float | bool]
