"""One run as the archive keeps it: the columns, their types and which must be there all follow from these classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Self, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from pulens.errors import InputError, listed, nearest

FORMAT = 2
Int32 = Annotated[int, pa.int32()]
Float32 = Annotated[float, pa.float32()]
PLAIN = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


# of columns: what differs between two runs of the same thing, and what a failed run may lack but no finished one
CIRCUMSTANCE, OF_FINISHED = "circumstance", "of_finished"


class Checked:
    """A row made of a mapping whose every name must be a field."""

    @classmethod
    def of(cls, values: Mapping[str, Any] | Checked) -> Self:
        """The row that a mapping describes; a name that is no field is refused with the nearest one."""
        if isinstance(values, cls):
            return values
        assert isinstance(values, Mapping), f"{values!r} is no row"
        known = fields_of(cls)
        what = cls.__doc__.split(":")[0] if cls.__doc__ else cls.__name__
        for name in values:
            if name not in known:
                hint = nearest(str(name), known) or f" It has {listed(known, limit=99)}."
                raise InputError(f"{what} has no {str(name)!r}.{hint}")
        lacking = [name for name, one in known.items() if _is_required(one) and values.get(name) is None]
        if lacking:
            raise InputError(f"{what} needs {listed(lacking)}, got {listed(values, limit=8)}.")
        return cls(**{name: _nested(cls, name, value) for name, value in values.items()})

    def __getitem__(self, name: str) -> Any:
        """``row["status"]``, as tests that `pulens bench new-method` once wrote for people's learners say."""
        return getattr(self, name)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, rows within rows as dictionaries."""
        return {name: _plain(getattr(self, name)) for name in fields_of(type(self))}


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceRow(Checked):
    """A choice: the epoch that a criterion chose, the criterion's value and the exact test metrics there."""

    selection: str
    epoch: Int32
    value: float | None = None
    accuracy: float | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    macro_f1: float | None = None
    roc_auc: float | None = None
    average_precision: float | None = None
    predicted_positive_rate: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveRow(Checked):
    """A point of a learning curve: what was seen after one epoch; seconds are the stack's, of training alone."""

    epoch: Int32
    seconds: Float32 | None = None
    proxy_accuracy: Float32 | None = None
    proxy_roc_auc: Float32 | None = None
    loss: Float32 | None = None
    oracle_accuracy: Float32 | None = None
    oracle_f1: Float32 | None = None
    oracle_macro_f1: Float32 | None = None
    test_accuracy: Float32 | None = None
    test_f1: Float32 | None = None
    test_roc_auc: Float32 | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class TallyRow(Checked):
    """A tally: lowest and highest score of each bin, and rows of each kind in it, of one part at one epoch."""

    part: str
    epoch: Int32
    lowest: Sequence[Float32]
    highest: Sequence[Float32]
    positive: Sequence[Int32]
    negative: Sequence[Int32]
    labelled: Sequence[Int32]
    unlabelled: Sequence[Int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class RunRow(Checked):
    """A run of the archive: what was planned, what came of it, and under which circumstances."""

    key: str
    learner: str
    variant: str | None = None
    title: str | None = field(default=None, metadata={OF_FINISHED: True})
    family: str | None = field(default=None, metadata={OF_FINISHED: True})
    uses_truth: bool | None = None
    needs_support: bool | None = None
    told_class_prior: bool | None = None
    dataset: str
    kind: str | None = field(default=None, metadata={OF_FINISHED: True})
    backbone: str | None = None
    scenario: str | None = None
    unlabelled: str | None = None
    mechanism: str
    mechanism_alias: str | None = None
    parameters: str | None = None
    label_frequency: float
    seed: int
    prior_policy: str | None = None
    validation_share: float | None = None
    test_share: float | None = None
    standardise: bool | None = None
    precision: str | None = None
    rows_used: int | None = None
    settings: str | None = field(default=None, metadata={OF_FINISHED: True})
    own_selection: str | None = field(default=None, metadata={OF_FINISHED: True})
    status: str
    reason: str | None = None
    class_prior: float | None = None
    given_class_prior: float | None = None
    realised_label_frequency: float | None = None
    train_labelled: int | None = None
    train_unlabelled: int | None = None
    validation_rows: int | None = None
    validation_labelled: int | None = None
    test_rows: int | None = None
    test_positives: int | None = None
    test_labelled: int | None = None
    test_unlabelled: int | None = None
    found: str | None = None
    epochs: Int32 | None = None
    seconds: float | None = field(default=None, metadata={CIRCUMSTANCE: True})
    stack_runs: Int32 | None = field(default=None, metadata={CIRCUMSTANCE: True, OF_FINISHED: True})
    stack_seconds: float | None = field(default=None, metadata={CIRCUMSTANCE: True, OF_FINISHED: True})
    stack_watching_seconds: float | None = field(default=None, metadata={CIRCUMSTANCE: True})
    stack_processor_seconds: float | None = field(default=None, metadata={CIRCUMSTANCE: True})
    stack_peak_memory: int | None = field(default=None, metadata={CIRCUMSTANCE: True, OF_FINISHED: True})
    memory_of: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    started: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    finished: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    device: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    device_name: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    cores: Int32 | None = field(default=None, metadata={CIRCUMSTANCE: True})
    system: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    python: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    pulens: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    torch: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    numpy: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    scikit_learn: str | None = field(default=None, metadata={CIRCUMSTANCE: True})
    notices: Sequence[str] | None = None
    choices: Sequence[ChoiceRow] | None = field(default=None, metadata={OF_FINISHED: True})
    curve: Sequence[CurveRow] | None = None
    tallies: Sequence[TallyRow] | None = None


def fields_of(kind: Any) -> dict[str, Field[Any]]:
    """The fields of a kind of row by name."""
    return {one.name: one for one in fields(kind)}


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def arrow_type(hint: Any) -> Any:
    """The Arrow type that a field's annotation stands for.

    >>> arrow_type(Sequence[Int32] | None), arrow_type(float)
    (ListType(list<item: int32>), DataType(double))
    """
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    if get_origin(hint) is Annotated:
        return get_args(hint)[1]
    if get_origin(hint) is Sequence:
        return pa.list_(arrow_type(get_args(hint)[0]))
    if is_dataclass(hint):
        return pa.struct(list(_columns_of(hint).items()))
    return PLAIN[hint]


def _columns_of(kind: Any) -> dict[str, Any]:
    return {name: arrow_type(_hints(kind)[name]) for name in fields_of(kind)}


def _is_required(one: Field[Any]) -> bool:
    return one.default is MISSING


def _nested(kind: type, name: str, value: Any) -> Any:
    """Rows within a row are checked as it is."""
    inner = _inner(kind, name)
    return value if inner is None or value is None else tuple(inner.of(one) for one in value)


@cache
def _inner(kind: Any, name: str) -> Any:
    hint = _hints(kind)[name]
    parts = [part for part in (hint, *get_args(hint)) if get_origin(part) is Sequence]
    inner = get_args(parts[0])[0] if parts else None
    return inner if is_dataclass(inner) else None


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and value and isinstance(value[0], Checked):
        return [one.to_dict() for one in value]
    return value


COLUMNS = _columns_of(RunRow)
SCHEMA = pa.schema(list(COLUMNS.items()), metadata={"pulens_benchmark": str(FORMAT)})
NESTED = tuple(name for name in COLUMNS if _inner(RunRow, name) is not None)
#: Columns of one value each, and the run's notices.
SCALARS = tuple(name for name in COLUMNS if name not in NESTED)
#: What differs between two runs of the same thing.
CIRCUMSTANCES = frozenset(name for name, one in fields_of(RunRow).items() if one.metadata.get(CIRCUMSTANCE))
NEEDED = tuple(name for name, one in fields_of(RunRow).items() if _is_required(one))
NEEDED_WHEN_DONE = tuple(name for name, one in fields_of(RunRow).items() if one.metadata.get(OF_FINISHED))
#: Of rows within a run, the fields that every one has.
NEEDED_WITHIN = {
    name: tuple(inner for inner, one in fields_of(_inner(RunRow, name)).items() if _is_required(one)) for name in NESTED
}
#: The exact test metrics of a choice.
CHOICE_METRICS = tuple(name for name in fields_of(ChoiceRow) if name not in ("selection", "epoch", "value"))
CURVE = tuple(fields_of(CurveRow))
