"""What to read: columns, the meaning of labels, the table of a database, a condition, a tolerance, a format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from pulens.inputs.columns import Columns, LabelCoding
from pulens.inputs.tables.dialect import Said, written_as
from pulens.keywords import check_kinds
from pulens.types import Clusters, Column, LabelValues


class LabelKeywords(TypedDict, total=False):
    """What functions take by keyword about rows: the fields of :class:`ReadOptions` with their types."""

    label: Column | None
    positive: LabelValues | None
    negative: LabelValues | None
    unlabelled: LabelValues | None
    weight: Column | None
    format: str | None
    delimiter: str | None
    decimal: str | None
    thousands: str | None
    encoding: str | None
    sheet: str | None
    table: str | None
    where: str | None
    tolerance: float | None


class ScoreKeywords(LabelKeywords, total=False):
    """The same for rows with one column of scores."""

    score: Column | None


class RowKeywords(ScoreKeywords, total=False):
    """The same for rows some of which may belong together."""

    cluster: Clusters | None


class ModelKeywords(LabelKeywords, total=False):
    """The same for rows with a column of scores for each model."""

    cluster: Clusters | None


def said(**named: Any) -> dict[str, Any]:
    """Arguments that were given, of those that a door names itself and hands on to :class:`ReadOptions`.

    >>> said(score="p", label=None)
    {'score': 'p'}
    """
    return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadOptions:
    """What a person says about rows beside the rows themselves; see :func:`pulens.inputs.read_tally` for each.

    >>> ReadOptions(score="p", where="year = 2026").arguments
    {'score': 'p', 'where': 'year = 2026'}
    """

    weights: Any = None
    score: Any = "score"
    label: Any = "label"
    weight: Any = None
    positive: Any = None
    negative: Any = None
    unlabelled: Any = None
    format: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    table: Any = None
    where: str | None = None
    tolerance: float | None = None
    cluster: Any = None  # a column's name, or one id per row beside arrays

    def __post_init__(self) -> None:
        check_kinds(ReadOptions, {name: getattr(self, name) for name in _TEXTS})
        _ = self.columns  # refuses what names none

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> ReadOptions:
        """What a function was told: of all its arguments, ``locals()`` as it begins, those named as here."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls) if field.name in arguments})

    @property
    def columns(self) -> Columns:
        return Columns(self.score, self.label, self.weight)

    @property
    def coding(self) -> LabelCoding:
        return LabelCoding(self.positive, self.negative, self.unlabelled)

    @property
    def dialect(self) -> Said:
        """How the table was written, as the readers of files take it in the place of a separator."""
        return written_as(self.delimiter, self.decimal, self.thousands, self.encoding, self.sheet)

    @property
    def rows(self) -> dict[str, Any]:
        """What is said about rows wherever they are: the keyword arguments of :func:`pulens.inputs.read_sample`."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _OF_ENGINES}

    @property
    def arguments(self) -> dict[str, Any]:
        """What differs from what is assumed, by name."""
        result = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, usual) in result.items() if not (value is usual or _equal(value, usual))}


_TEXTS = ("format", "delimiter", "decimal", "thousands", "encoding", "sheet", "where")
_OF_ENGINES = ("table", "where", "tolerance", "cluster")


def _equal(value: Any, usual: Any) -> bool:
    return isinstance(value, str) and value == usual
