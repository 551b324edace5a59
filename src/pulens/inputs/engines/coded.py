"""A column of segments as numbers: every name once, and for each row which name it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.errors import InputError, shown
from pulens.inputs.columns import is_hashable


@dataclass(frozen=True, slots=True, eq=False)
class CodedSegments:
    """Names, and the place among them for each row.

    >>> coded = CodedSegments.of(np.array(["b", "a", "b"], object))
    >>> coded.names, coded.codes.tolist(), coded[1:].tolist()
    (['b', 'a'], [0, 1, 0], ['a', 'b'])
    """

    names: Sequence[Any]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, values: NDArray[Any]) -> CodedSegments:
        """From one name per row, in the order in which names come."""
        places: dict[Any, int] = {}
        each = (places.setdefault(value, len(places)) for value in values.tolist())
        try:
            coded = np.fromiter(each, np.int32, values.size)
        except TypeError as error:  # a list or a mapping, as JSON Lines may hold them
            row = next(row for row, value in enumerate(values.tolist()) if not is_hashable(value))
            raise InputError(
                f"got {shown(values[row])} as the segment of data row {row + 1}: a segment must be text, a number or a "
                "date."
            ) from error
        return cls(list(places), coded)

    @classmethod
    def of_columns(cls, columns: Sequence[Sequence[Any]]) -> CodedSegments:
        """From one column of names, or from several, whose combinations are then the names."""
        named = columns[0] if len(columns) == 1 else zip(*columns, strict=True)
        return cls.of(np.fromiter(named, object, len(columns[0])))  # which does not look into lists

    @property
    def size(self) -> int:
        return int(self.codes.size)

    def tolist(self) -> list[Any]:
        return [self.names[code] for code in self.codes.tolist()]

    def __getitem__(self, which: Any) -> CodedSegments:
        return CodedSegments(self.names, self.codes[which])
