"""Protocols: which methods, data sets, conditions and seeds a benchmark covers. YAML in, checked and typed out.

>>> protocol = load_protocol("smoke")
>>> protocol.seeds
(1, 2)
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from pulens import backbones, labelling
from pulens.benchmark import datasets, methods
from pulens.errors import InputError, PulensError, listed, nearest

KINDS = ("table", "text", "picture", "sequence")  # kinds of data that settings can be for
Share = Annotated[float, Field(gt=0, lt=1)]


def _several(value: Any) -> Any:
    """One thing where a list is expected is a list of one."""
    return value if isinstance(value, list | tuple) else [value]


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ValueError(f"{value!r} stands there twice")
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
Frequency = Annotated[float, Field(gt=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Condition(_Strict):
    """Labelling mechanisms and label frequencies, every one with every other."""

    mechanisms: Annotated[tuple[MechanismName, ...], Several, Field(min_length=1), Distinct]
    label_frequencies: Annotated[tuple[Frequency, ...], Several, Field(min_length=1), Distinct]
    parameters: dict[str, float] = {}  # of the mechanisms, such as offset: 1.5


Precision = Literal["float32", "tf32", "bfloat16"]


class Protocol(_Strict):
    """What a protocol file says. See docs/benchmark.md for the meaning of each key."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: str = ""
    source: str = ""
    methods: Annotated[tuple[str, ...], Several, Field(min_length=1)] = ("all",)
    datasets: Annotated[tuple[DatasetName, ...], Several, Field(min_length=1), Distinct]
    conditions: Annotated[tuple[Condition, ...], Field(min_length=1)]
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Several, Field(min_length=1), Distinct]
    scenario: Literal["case-control", "single-set"] = "case-control"
    unlabelled: Literal["whole-pool", "disjoint"] = "whole-pool"
    class_prior: Literal["known", "estimated"] = "known"
    validation_share: Share = 0.1
    test_share: Share = 0.2
    standardise: bool = False  # every table, not only those whose data set asks for it
    precision: Precision = "float32"
    precisions: dict[DatasetName, Precision] = {}  # where a data set's networks want another
    backbones: dict[DatasetName, Annotated[str, AfterValidator(_backbone)]] = {}
    dataset_options: dict[DatasetName, dict[str, Any]] = {}
    rows: Annotated[int, Field(ge=50)] | None = None  # use so many rows of every data set: for trying things out
    tally_bins: Annotated[int, Field(ge=16)] = 256
    settings: dict[str, dict[str, dict[str, Any]]] = {}

    def settings_of(self, method: str, dataset: str) -> dict[str, Any]:
        """Settings of a method on a data set: those for all, then for its kind of data, then for itself."""
        chosen = self.settings.get(method, {})
        found: dict[str, Any] = {}
        for where in ("all", datasets.find(dataset).kind, dataset):
            found |= chosen.get(where, {})
        return found


def shipped() -> tuple[str, ...]:
    """The protocols that come with the package.

    >>> shipped()
    ('conventional', 'full', 'label-frequency', 'selection-bias', 'smoke')
    """
    folder = resources.files("pulens.benchmark") / "protocols"
    return tuple(sorted(Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".yaml")))


def load_protocol(name: str | Path, **changes: Any) -> Protocol:
    """A protocol that is shipped, or one of the user's own files; ``changes`` replace some of its keys."""
    if str(name) in shipped():
        text = (resources.files("pulens.benchmark") / "protocols" / f"{name}.yaml").read_text(encoding="utf-8")
        return parse_protocol(text, f"protocol {name}", changes)
    path = Path(name)
    if not path.is_file():
        hint = nearest(str(name), shipped())
        raise InputError(
            f"there is no protocol {str(name)!r}: the shipped ones are {listed(shipped())}, and there is no such file."
            f"{hint}"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}.") from error
    return parse_protocol(text, str(path), changes)


def parse_protocol(text: str, where: str, changes: Mapping[str, Any] | None = None) -> Protocol:
    """Check a protocol's text; errors name the line."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{where}: not readable as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise InputError(
            f"{where}: a protocol is a mapping with keys such as {listed(Protocol.model_fields, limit=6)}."
        )
    values = _extended(values, node, where)
    values |= {name: value for name, value in (changes or {}).items() if value is not None}
    try:
        protocol = Protocol(**values)
    except ValidationError as error:
        raise InputError(_words(error, node, where)) from error
    except TypeError as error:
        raise InputError(f"{where}: keys must be words: {error}.") from error
    _check_settings(protocol, node, where)
    _check_combinations(protocol, node, where)
    return protocol


def _extended(values: dict[str, Any], node: Any, where: str) -> dict[str, Any]:
    """A protocol that extends a shipped one has its keys, where it does not say otherwise."""
    base = values.pop("extends", None)
    if base is None:
        return values
    if base not in shipped():
        line = _line(node, ("extends",))
        raise InputError(
            f"{where}, line {line}: extends names a shipped protocol ({listed(shipped())}), got {base!r}."
            f"{nearest(str(base), shipped())}"
        )
    text = (resources.files("pulens.benchmark") / "protocols" / f"{base}.yaml").read_text(encoding="utf-8")
    return _extended(yaml.safe_load(text), None, f"protocol {base}") | values


def _words(error: ValidationError, node: Any, where: str) -> str:
    found = []
    for problem in error.errors():
        path = tuple(part for part in problem["loc"] if part != "[key]")
        line = _line(node, path)
        place = f"{where}{f', line {line}' if line else ''}"
        key = ".".join(map(str, path))
        if problem["type"] == "extra_forbidden":
            known = Condition if path[0] == "conditions" else Protocol
            hint = nearest(path[-1], known.model_fields)
            found.append(
                f"{place}: unknown key {str(path[-1])!r}.{hint or f' Keys: {listed(known.model_fields, limit=40)}.'}"
            )
        elif problem["type"] == "missing":
            found.append(f"{place}: the key {key!r} is missing.")
        else:
            message = str(problem["msg"]).removeprefix("Value error, ").rstrip(".")
            found.append(f"{place}: {key}: {message}, got {problem['input']!r}.")
    return "\n".join(found[:8])


def _line(node: Any, path: tuple[Any, ...]) -> int | None:
    """The line of a key, or of the nearest thing around it that the text has."""
    line = None
    for part in path:
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _check_settings(protocol: Protocol, node: Any, where: str) -> None:
    """Settings must be for methods and data that there are, and be settings of that method."""
    for method, chosen in protocol.settings.items():
        known_methods = methods.names()
        place = f"{where}, line {_line(node, ('settings', method))}"
        if method not in known_methods and method not in methods.EXPECTED:
            raise InputError(f"{place}: settings for an unknown method {method!r}.{nearest(method, known_methods)}")
        for which, values in chosen.items():
            place = f"{where}, line {_line(node, ('settings', method, which))}"
            places = ("all", *KINDS, *datasets.names())
            if which not in places:
                raise InputError(
                    f"{place}: settings are for 'all', a kind of data ({listed(KINDS)}) or a data set, got {which!r}."
                    f"{nearest(which, places)}"
                )
            if method not in known_methods:
                continue  # a learner of the paper that this version does not have
            allowed = methods.find(method).settings
            for setting in values:
                if setting not in allowed:
                    line = _line(node, ("settings", method, which, setting))
                    raise InputError(
                        f"{where}, line {line}: {method} has no setting {setting!r}.{nearest(setting, allowed)}"
                    )


def _check_combinations(protocol: Protocol, node: Any, where: str) -> None:
    """What cannot work together, found before anything is trained."""
    said = protocol.unlabelled if "unlabelled" in protocol.model_fields_set else None
    if protocol.scenario == "single-set" and said == "whole-pool":
        raise InputError(
            f"{where}, line {_line(node, ('unlabelled',))}: unlabelled: whole-pool belongs to scenario: "
            "case-control; a single set has its own unlabelled rows. Leave the key out."
        )
    for name in protocol.datasets:
        facts = datasets.find(name)
        if facts.positives is None:
            raise InputError(
                f"{where}, line {_line(node, ('datasets',))}: nobody knows the true classes of {name!r}, so no run on "
                "it can be judged."
            )
        _check_validation(protocol, name, node, where)
    for number, condition in enumerate(protocol.conditions):
        for mechanism in condition.mechanisms:
            for parameter in condition.parameters:
                allowed = labelling.find(mechanism).parameters
                if parameter not in allowed:
                    line = _line(node, ("conditions", number, "parameters", parameter))
                    raise InputError(
                        f"{where}, line {line}: the mechanism {mechanism!r} has no parameter {parameter!r}."
                        f"{nearest(parameter, allowed)}"
                    )
    for method in protocol.methods:
        if method != "all":
            try:
                methods.find(method)
            except PulensError as error:
                raise InputError(f"{where}, line {_line(node, ('methods',))}: {error}") from error


def _check_validation(protocol: Protocol, name: str, node: Any, where: str) -> None:
    """A validation set without a labelled row could select nothing: refused here, not found out after training."""
    facts = datasets.find(name)
    assert facts.positives is not None
    rows = facts.rows if protocol.rows is None else min(protocol.rows, facts.rows)
    held = int(rows * (1 - protocol.test_share) * protocol.validation_share)
    positives = int(held * facts.positives / facts.rows)
    if protocol.unlabelled == "disjoint" and protocol.scenario == "case-control":
        biased = any(not labelling.find(m).completely_at_random for c in protocol.conditions for m in c.mechanisms)
        positives = positives // 2 if biased else positives
    for number, condition in enumerate(protocol.conditions):
        for frequency in condition.label_frequencies:
            if labelling.labelled_count(frequency, positives) < 1:
                line = _line(node, ("conditions", number, "label_frequencies"))
                raise InputError(
                    f"{where}, line {line}: with label_frequency {frequency:g} none of the about {positives} "
                    f"validation positives of {name} would be labelled, so no epoch could be selected. Raise "
                    f"validation_share (now {protocol.validation_share:g}) or the label frequency."
                )
