"""Protocols: which learners, data sets, conditions and seeds a benchmark covers. YAML in, checked and typed out.

>>> protocol = load_protocol("smoke")
>>> protocol.seeds
(1, 2)
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationError,
)

from pulens.bounded_text import read_bounded
from pulens.errors import InputError, listed, nearest
from pulens.learning import backbones, labelling
from pulens.research.benchmark import datasets
from pulens.research.benchmark.protocol.checks import check_combinations, check_settings
from pulens.research.benchmark.protocol.text import Text, read_text
from pulens.research.benchmark.vocabulary import with_current_names
from pulens.scenario import DEFAULT_SCENARIO


def _several(value: Any) -> Any:
    """One thing where a list is expected is a list of one."""
    return value if isinstance(value, list | tuple) else [value]


def _number(value: Any) -> Any:
    """A number as one; a truth value or a word is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        hint = ": YAML reads 1e-2 as a word, write 1.0e-2" if isinstance(value, str) else ""
        raise ValueError(f"must be a number{hint}")
    try:
        finite = isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        finite = False
    if not finite:
        raise ValueError("must be a finite number")
    return value


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    seen = set()
    for value in values:
        if value in seen:
            raise ValueError(f"{value!r} stands there twice")
        seen.add(value)
    return values


def _mechanism(name: str) -> str:
    return labelling.canonical_name(name)


def _dataset(name: str) -> str:
    datasets.find(name)
    return name


def _backbone(name: str) -> str:
    if name not in backbones.names():
        raise ValueError(f"there is no backbone {name!r}; the backbones are {listed(backbones.names())}")
    return name


Several = BeforeValidator(_several)
Distinct = AfterValidator(_distinct)
DatasetName = Annotated[str, AfterValidator(_dataset)]
MechanismName = Annotated[str, AfterValidator(_mechanism)]
Number = Annotated[float, BeforeValidator(_number)]
Share = Annotated[Number, Field(gt=0, lt=1)]
Frequency = Annotated[Number, Field(gt=0, le=1)]
Whole = Annotated[int, Strict()]  # true is no number


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class ConditionGrid(_Strict):
    """Labelling mechanisms and label frequencies, every one with every other."""

    mechanisms: Annotated[tuple[MechanismName, ...], Several, Field(min_length=1), Distinct]
    label_frequencies: Annotated[tuple[Frequency, ...], Several, Field(min_length=1), Distinct]
    parameters: dict[str, Number] = {}  # of the mechanisms, such as offset: 1.5


Settings = dict[str, dict[str, dict[str, Any]]]  # learner -> all, a kind of data or a data set -> settings


class Variant(_Strict):
    """Another version of some learners: settings that come on top of all others, and words that tell it apart."""

    title: Annotated[str, StringConstraints(min_length=1, pattern=r"^[^()]+$")]
    settings: Settings


Precision = Literal["float32", "tf32", "bfloat16"]


class Protocol(_Strict):
    """What a protocol file says. See docs/research/benchmark.md for the meaning of each key."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: str = ""
    source: str = ""
    learners: Annotated[tuple[str, ...], Several, Field(min_length=1)] = ("all",)
    datasets: Annotated[tuple[DatasetName, ...], Several, Field(min_length=1), Distinct]
    conditions: Annotated[tuple[ConditionGrid, ...], Field(min_length=1)]
    seeds: Annotated[tuple[Annotated[Whole, Field(ge=0, lt=2**63)], ...], Several, Field(min_length=1), Distinct]
    scenario: Literal["case-control", "single-set"] = DEFAULT_SCENARIO
    unlabelled: Literal["whole-pool", "disjoint"] = "whole-pool"
    class_prior: Literal["known", "estimated"] = "known"
    validation_share: Share = 0.1
    test_share: Share = 0.2
    standardise: Annotated[bool, Strict()] = False  # every table, not only those whose data set asks for it
    precision: Precision = "float32"
    precisions: dict[DatasetName, Precision] = {}  # where a data set's networks want another
    backbones: dict[DatasetName, Annotated[str, AfterValidator(_backbone)]] = {}
    dataset_options: dict[DatasetName, dict[str, Any]] = {}  # what a data set's own loading takes
    rows: Annotated[Whole, Field(ge=50)] | None = None  # use this many rows of every data set: for trying things out
    tally_bins: Annotated[Whole, Field(ge=16)] = 256
    settings: Settings = {}
    variant: Variant | None = None

    def settings_of(self, learner: str, dataset: str) -> dict[str, Any]:
        """Settings of a learner on a data set: those for all, then for its kind of data, then for itself.

        A variant's come after all of these, in the same order.
        """
        result: dict[str, Any] = {}
        for settings in (self.settings, self.variant.settings if self.variant else {}):
            for where in ("all", datasets.find(dataset).kind, dataset):
                result |= settings.get(learner, {}).get(where, {})
        return result

    def variant_of(self, learner: str) -> str | None:
        """The words that tell this protocol's version of a learner apart, where it has one of its own."""
        return self.variant.title if self.variant and learner in self.variant.settings else None


def shipped() -> tuple[str, ...]:
    """The protocols that come with the package.

    >>> shipped()
    ('as-published', 'conventional', 'full', 'label-frequency', 'selection-bias', 'smoke', 'tables')
    """
    folder = resources.files("pulens.research.benchmark.protocol") / "shipped"
    return tuple(sorted(Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".yaml")))


def load_protocol(name: str | Path, **changes: Any) -> Protocol:
    """A protocol that is shipped, or one of the user's own files; ``changes`` replace some of its keys."""
    if str(name) in shipped():
        text = (resources.files("pulens.research.benchmark.protocol") / "shipped" / f"{name}.yaml").read_text(
            encoding="utf-8"
        )
        return parse_protocol(text, f"protocol {name}", changes)
    path = Path(name)
    if not path.is_file():
        hint = nearest(str(name), shipped())
        raise InputError(
            f"there is no protocol {str(name)!r}: the shipped ones are {listed(shipped())}, and there is no such file."
            f"{hint}"
        )
    return parse_protocol(read_bounded(path), str(path), changes)


def parse_protocol(content: str, where: str, changes: Mapping[str, Any] | None = None) -> Protocol:
    """Check a protocol's text; errors name the line."""
    text, values = read_text(content, where)
    if not isinstance(values, dict):
        raise InputError(
            f"{where}: a protocol is a mapping with keys such as {listed(Protocol.model_fields, limit=6)}."
        )
    base = values.get("extends")
    values = _extended(_renamed(values, where), text)
    given = _renamed({name: value for name, value in (changes or {}).items() if value is not None}, where)
    text = text.with_changes(given) if base is None else text.with_changes(given).extending(str(base))
    try:
        protocol = Protocol(**(values | given))
    except ValidationError as error:
        raise InputError(_words(error, text)) from error
    except TypeError as error:
        raise InputError(f"{where}: keys must be words: {error}.") from error
    check_settings(protocol, text)
    check_combinations(protocol, text)
    return protocol


def _extended(values: dict[str, Any], text: Text) -> dict[str, Any]:
    """A protocol that extends a shipped one has its keys, where it does not say otherwise."""
    base = values.pop("extends", None)
    if base is None:
        return values
    if base not in shipped():
        raise InputError(
            f"{text.place(('extends',))}: extends names a shipped protocol ({listed(shipped())}), got {base!r}."
            f"{nearest(str(base), shipped())}"
        )
    content = (resources.files("pulens.research.benchmark.protocol") / "shipped" / f"{base}.yaml").read_text(
        encoding="utf-8"
    )
    below, taken = read_text(content, f"protocol {base}")
    return _extended(taken, below) | values


def _renamed(values: Mapping[Any, Any], where: str) -> dict[Any, Any]:
    """Keys as they are spelt now: protocols older than the word "learners" say "methods"."""
    return with_current_names(values, Protocol.model_fields, where)


def _words(error: ValidationError, text: Text) -> str:
    result = []
    problems = error.errors()
    for problem in problems:
        path = tuple(part for part in problem["loc"] if part != "[key]")
        if problem["type"] == "too_short" and any(_is_inside(other["loc"], problem["loc"]) for other in problems):
            continue  # it only seems empty, since what is in it was refused
        place = text.place(path)
        key = ".".join(map(str, path))
        if problem["type"] == "extra_forbidden":
            known = ConditionGrid if path[0] == "conditions" else Protocol
            hint = nearest(path[-1], known.model_fields)
            result.append(
                f"{place}: unknown key {str(path[-1])!r}.{hint or f' Keys: {listed(known.model_fields, limit=40)}.'}"
            )
        elif problem["type"] == "missing":
            result.append(f"{place}: the key {key!r} is missing.")
        else:
            message = str(problem["msg"]).removeprefix("Value error, ").rstrip(".")
            result.append(f"{place}: {key}: {message}, got {problem['input']!r}.")
    return "\n".join(result[:8])


def _is_inside(inner: tuple[Any, ...], outer: tuple[Any, ...]) -> bool:
    return len(inner) > len(outer) and inner[: len(outer)] == outer
