"""How one column of a table becomes numbers: learned from the training rows, kept as plain facts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.answer import Answer
from pulens.errors import shown
from pulens.inputs.tables.dialect import way_out_of
from pulens.inputs.typed_columns import CATEGORY, DATE, KINDS, SECONDS, TypedColumn
from pulens.types import Floats

APART = 24  # levels of a category that get a column of their own; rarer ones share one
UNLIKE = 0.5  # share of rows above which different words are names of rows, or free text, and no category
FEW = 20  # this many different words are a category in any case
MISSING, RARER, SHARE = "(missing)", "(rarer)", "(share)"


@dataclass(frozen=True, slots=True)
class PlannedColumn(Answer):
    """A column of training: its kind, and what was found in it that scoring needs.

    ``levels`` are the words of a category with the number of rows of each, most frequent first; ``has_gaps`` whether
    values were missing; ``has_hours`` whether dates had a time of day; ``rows`` the number of training rows.
    A category becomes one column for each of its ``APART`` most frequent levels, one for all rarer or unknown ones
    and one with the level's share of the training rows where there are more. A date becomes days since 1970, the month,
    the day of the week and where there is one the time of day.

    >>> words = np.array(["a", "b", "a", None], object)
    >>> how = PlannedColumn.of(TypedColumn("job", "category", words))
    >>> how.outputs, how(TypedColumn("job", "category", np.array(["b", "new"], object))).tolist()
    (('job=a', 'job=b', 'job=(missing)'), [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    """

    name: str
    kind: str
    rows: int
    levels: tuple[tuple[str, int], ...] = ()
    has_gaps: bool = False
    has_hours: bool = False

    @classmethod
    def of(cls, column: TypedColumn) -> PlannedColumn:
        """Learn from the rows of training."""
        result: dict[str, Any] = {"rows": column.values.size, "has_gaps": bool(column.missing.any())}
        if column.kind == CATEGORY:
            counts = Counter(word for word in column.values.tolist() if word is not None)
            result["levels"] = tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        if column.kind == DATE:
            known = column.values[~np.isnan(column.values)]
            result["has_hours"] = bool((known != np.floor(known)).any())
        return cls(column.name, column.kind, **result)

    def useless(self, column: TypedColumn) -> str:
        """Why nothing can be learned from the column; empty if something can."""
        missing = column.missing
        if missing.all():
            return "is empty in every row"
        if self.kind == CATEGORY:
            known, different = int((~missing).sum()), len(self.levels)
            if different > max(FEW, UNLIKE * known):
                word = self.levels[0][0]
                hint = way_out_of(word).rstrip(".")
                numbers = f"; {shown(word)}:{hint}" if "decimal=" in hint else ""
                return (
                    f"holds {different:,} different words in {known:,} rows: an identifier or free text, and no "
                    f"category{numbers}"
                )
            if different == 1 and not missing.any():
                return "holds the same word in every row"
            return ""
        known_values = column.values[~missing]
        if not missing.any() and (known_values == known_values[0]).all():
            return "holds the same value in every row"
        if self.kind == "number" and not missing.any() and _counts_rows(known_values):
            return "counts the rows: an identifier"
        return ""

    @property
    def has_rarer(self) -> bool:
        return len(self.levels) > APART

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the columns of numbers that it becomes."""
        if self.kind == CATEGORY:
            result = [f"{self.name}={word}" for word, _ in self.levels[:APART]]
            result += [f"{self.name}={RARER}", f"{self.name} {SHARE}"] if self.has_rarer else []
            return (*result, *([f"{self.name}={MISSING}"] if self.has_gaps else []))
        if self.kind == DATE:
            return tuple(f"{self.name} {part}" for part in ("days", "month", "weekday", *self._hours))
        return (self.name,)

    @property
    def _hours(self) -> tuple[str, ...]:
        return ("hour",) if self.has_hours else ()

    def __call__(self, column: TypedColumn) -> Floats:
        """Rows of numbers, nan where a number or date is missing."""
        if self.kind == CATEGORY:
            return self._indicators(column)
        values: Floats = column.values
        if self.kind != DATE:
            return values[:, None]
        with np.errstate(invalid="ignore"):
            days = np.floor(values)
            whole = np.nan_to_num(days).astype("datetime64[D]")
            months = whole.astype("datetime64[M]").astype(np.int64) % 12 + 1.0
        weekdays = (np.nan_to_num(days) + 3) % 7  # the first of January 1970 was a Thursday, Monday is 0
        parts = [values, months, weekdays]
        if self.has_hours:
            parts.append((values - days) * SECONDS / 3600)
        result: Floats = np.column_stack([np.where(np.isnan(values), np.nan, part) for part in parts])
        return result

    def _indicators(self, column: TypedColumn) -> Floats:
        rank = self.ranks(column)
        parts = [rank[:, None] == np.arange(min(len(self.levels), APART))]
        if self.has_rarer:
            counts = np.array([count for _, count in self.levels], float) / self.rows
            known = np.where(rank >= 0, counts[rank], 0.0)
            parts += [((rank >= APART) | (rank == -1))[:, None], known[:, None]]
        if self.has_gaps:
            parts.append((rank == -2)[:, None])
        return np.concatenate(parts, axis=1).astype(float)

    def ranks(self, column: TypedColumn) -> Any:
        """The place of each row's word among the levels; -1 for one never seen, -2 where it is missing."""
        place = {word: rank for rank, (word, _) in enumerate(self.levels)}
        return np.array([-2 if word is None else place.get(word, -1) for word in column.values.tolist()], int)

    @classmethod
    def from_dict(cls, facts: Any) -> PlannedColumn:
        """The column that :meth:`to_dict` described, each fact looked at; a ``ValueError`` says what is wrong."""
        if not isinstance(facts, dict) or set(facts) != {"name", "kind", "rows", "levels", "has_gaps", "has_hours"}:
            raise ValueError("a column must have a name, kind, rows, levels, has_gaps and has_hours")
        levels = facts["levels"]
        ok = isinstance(facts["name"], str) and facts["kind"] in KINDS
        ok = ok and all(isinstance(facts[name], bool) for name in ("has_gaps", "has_hours"))
        ok = (
            ok and _is_count(facts["rows"]) and isinstance(levels, list) and bool(levels) == (facts["kind"] == CATEGORY)
        )
        if not ok or not all(_is_level(level, facts["rows"]) for level in levels):
            raise ValueError(f"the column {str(facts['name'])[:60]!r} is described by facts that cannot be")
        if len({word for word, _ in levels}) != len(levels):
            raise ValueError(f"the column {str(facts['name'])[:60]!r} has a level twice")
        return cls(**{**facts, "levels": tuple((word, count) for word, count in levels)})


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53


def _is_level(level: Any, rows: int) -> bool:
    if not isinstance(level, list) or len(level) != 2:
        return False
    return isinstance(level[0], str) and _is_count(level[1]) and level[1] <= rows


def _counts_rows(values: Floats) -> bool:
    """Whether numbers are those of rows: whole, all different, without a gap, in order of the rows."""
    if values.size < FEW:
        return False
    return bool((np.diff(values) == 1).all())
