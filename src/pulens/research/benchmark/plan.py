"""From a protocol to runs with stable keys, and from runs to stacks that are trained as one.

>>> from pulens.research.benchmark.protocol import load_protocol
>>> plan = expand(load_protocol("smoke"))
>>> plan
Plan(smoke: 20 runs in 5 groups)
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from pulens.errors import InputError, listed
from pulens.learning import labelling
from pulens.learning.learners.base.settings import own_settings
from pulens.research.benchmark import datasets, methods
from pulens.research.benchmark.protocol import Protocol
from pulens.research.benchmark.protocol.checks import DECIDED
from pulens.research.benchmark.vocabulary import current, older

KEY_FORMAT = 1  # part of every key: archives of any format have the same keys for the same runs
#: Settings that learners got after runs were archived, with what those runs did: it does not change their keys.
LATER = {"robust_pu": {"loss": "sigmoid"}, "self_pu": {"loss": "sigmoid"}}
MOST_RUNS = 1_000_000
SELECTIONS = ("proxy_accuracy", "proxy_roc_auc", "loss", "oracle_accuracy", "oracle_f1", "oracle_macro_f1", "last")
NETWORKS = {"mnist": "lenet", "fashion_mnist": "lenet", "cifar10": "cifar_cnn", "adni": "mri_cnn"}
WITH_BATCH_NORM = ("cifar_cnn", "mri_cnn", "resnet18")  # their stacks must hold runs of equal numbers of rows


@dataclass(frozen=True, eq=False)
class Run:
    """One training: everything that decides its result, and nothing else."""

    learner: str
    dataset: str
    backbone: str
    scenario: str
    unlabelled: str
    mechanism: str
    label_frequency: float
    seed: int
    class_prior: str
    validation_share: float
    test_share: float
    standardise: bool
    precision: str
    tally_bins: int
    rows: int | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    dataset_options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None  # the file of a learner of the user's own
    digest: str | None = None
    variant: str | None = None  # what tells this version of the learner apart; its settings say what it does

    @cached_property
    def key(self) -> str:
        """The same for the same run, on any machine and in any protocol."""
        aside = ("source", "dataset_options", "variant")
        facts = {name: value for name, value in self.to_dict().items() if name not in aside}
        facts[older("learner")] = facts.pop("learner")
        for name, before in LATER.get(self.learner, {}).items():
            if facts["settings"].get(name) == before:
                del facts["settings"][name]
        if "selection" in facts["settings"]:
            facts["settings"]["selection"] = older(facts["settings"]["selection"])
        if self.data_options:
            facts["dataset_options"] = self.data_options
        if self.class_prior == "estimated":  # once it selected epochs with the true one: those are other results
            facts["selected_with"] = "estimated"
        text = json.dumps({"format": KEY_FORMAT, **facts}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @cached_property
    def group(self) -> tuple[Any, ...]:
        """Runs of one group can be trained as a stack."""
        facts = self.to_dict()
        for name in ("seed", "mechanism", "parameters", "label_frequency"):
            facts.pop(name)
        if self.backbone in WITH_BATCH_NORM or self._generates_pictures:
            facts |= {"label_frequency": self.label_frequency}
        return (self.learner, self.dataset, json.dumps(facts, sort_keys=True))

    @property
    def _generates_pictures(self) -> bool:
        """Whether its generator has batch norm, whatever the classifier is."""
        own = self.source is None and datasets.find(self.dataset).kind == "picture"
        return own and hasattr(methods.find(self.learner).learner, "sample")

    @property
    def data_options(self) -> dict[str, Any]:
        """Options of the data set that decide what its rows are, not only where they lie."""
        where = datasets.find(self.dataset).where if self.dataset_options else ()
        return {name: value for name, value in self.dataset_options.items() if name not in where}

    @property
    def alias(self) -> str:
        """The mechanism as the papers call it."""
        return labelling.find(self.mechanism).alias

    @property
    def own_selection(self) -> str:
        """The criterion by which the learner itself keeps an epoch."""
        return current(str(self.settings.get("selection", "last")))

    def to_dict(self) -> dict[str, Any]:
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return facts | {name: dict(facts[name]) for name in ("parameters", "dataset_options", "settings")}

    def __str__(self) -> str:
        labels = f"{self.alias}, label frequency {self.label_frequency:g}"
        return f"{self.learner} on {self.dataset}, {labels}, seed {self.seed}"


@dataclass(frozen=True, eq=False)
class Plan:
    """All runs of a protocol, in a fixed order, each once."""

    protocol: Protocol
    runs: tuple[Run, ...]

    def __repr__(self) -> str:
        return f"Plan({self.protocol.name}: {len(self.runs):,} runs in {len(self.groups()):,} groups)"

    def groups(self) -> dict[tuple[Any, ...], list[Run]]:
        result: dict[tuple[Any, ...], list[Run]] = {}
        for run in self.runs:
            result.setdefault(run.group, []).append(run)
        return result


def expand(protocol: Protocol) -> Plan:
    """Every learner on every data set under every condition with every seed; what two conditions share counts once."""
    _check_number(protocol)
    runs: dict[str, Run] = {}
    for name in chosen_learners(protocol):
        entry = methods.find(name)
        for dataset in protocol.datasets:
            settings = resolved_settings(entry, protocol, dataset)
            for condition in protocol.conditions:
                for mechanism in condition.mechanisms:
                    for frequency in condition.label_frequencies:
                        for seed in protocol.seeds:
                            run = Run(
                                learner=entry.name,
                                dataset=dataset,
                                backbone=_backbone(entry, protocol, dataset),
                                scenario=protocol.scenario,
                                unlabelled=protocol.unlabelled if protocol.scenario == "case-control" else "disjoint",
                                mechanism=mechanism,
                                label_frequency=frequency,
                                seed=seed,
                                class_prior=protocol.class_prior,
                                validation_share=protocol.validation_share,
                                test_share=protocol.test_share,
                                standardise=_standardise(protocol, dataset),
                                precision=_precision(entry, protocol, dataset),
                                tally_bins=protocol.tally_bins,
                                rows=protocol.rows,
                                parameters=condition.parameters,
                                dataset_options=protocol.dataset_options.get(dataset, {}),
                                settings=settings,
                                source=entry.source,
                                digest=entry.digest,
                                variant=protocol.variant_of(entry.name),
                            )
                            runs.setdefault(run.key, run)
    return Plan(protocol, tuple(runs.values()))


def _check_number(protocol: Protocol) -> None:
    """A few long lists multiply to more runs than anybody could mean."""
    conditions = sum(len(one.mechanisms) * len(one.label_frequencies) for one in protocol.conditions)
    runs = len(chosen_learners(protocol)) * len(protocol.datasets) * conditions * len(protocol.seeds)
    if runs > MOST_RUNS:
        raise InputError(
            f"the protocol {protocol.name!r} asks for {runs:,} runs, and {MOST_RUNS:,} is the most that one plan may "
            "have: give fewer seeds, conditions, data sets or learners, or several protocols."
        )


def chosen_learners(protocol: Protocol) -> tuple[str, ...]:
    """Names of learners with "all" written out, each once."""
    result: dict[str, None] = {}
    for name in protocol.learners:
        for one in methods.everything() if name == "all" else (name,):
            result[one] = None
    return tuple(result)


def resolved_settings(entry: methods.Method, protocol: Protocol, dataset: str) -> dict[str, Any]:
    """Every setting that matters with its value, so that a changed default is another run."""
    given = protocol.settings_of(entry.name, dataset)
    with methods.its_own_fault(f"the learner {entry.name!r}"):
        defaults = _defaults(entry.learner)
        own = own_settings(entry.learner) if is_dataclass(entry.learner) else {}
    if "patience" in defaults:  # how long runs train is the protocol's to say, the same for every learner
        defaults["patience"] = None
    settings = {name: value for name, value in {**defaults, **given}.items() if name not in DECIDED}
    settings |= {name: value for name, value in own.items() if settings.get(name) is None}  # what is trained with
    selection = current(settings.get("selection", "last"))
    if entry.is_network and selection not in SELECTIONS:
        raise InputError(
            f"{entry.name}: the benchmark selects epochs by one of {listed(SELECTIONS)}, got {selection!r}."
        )
    for name, value in settings.items():
        if not _is_plain(value):
            raise InputError(
                f"{entry.name}: the setting {name!r} must be a plain value or a list of them, got {value!r}."
            )
    return {name: list(value) if isinstance(value, tuple) else value for name, value in sorted(settings.items())}


def changed_settings(learner: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings of a run that are not the learner's defaults of today; all of them where it is not at hand.

    >>> changed_settings("nnpu", {"epochs": 40, "learning_rate": 0.5})
    {'learning_rate': 0.5}
    """
    try:
        defaults = _defaults(methods.find(learner).learner) | {"patience": None}
    except InputError:
        defaults = {}
    same = {name: list(value) if isinstance(value, tuple) else value for name, value in defaults.items()}
    same["selection"] = current(str(same.get("selection", "last")))
    return {
        name: value
        for name, value in settings.items()
        if name not in same or same[name] != (current(value) if name == "selection" else value)
    }


def _defaults(learner: Any) -> dict[str, Any]:
    if is_dataclass(learner):
        ready: Any = learner
        return {one.name: getattr(ready(), one.name) for one in fields(ready)}
    parameters = inspect.signature(learner).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | bool | int | float)


def _backbone(entry: methods.Method, protocol: Protocol, dataset: str) -> str:
    if not entry.is_network:
        return "none"
    chosen = protocol.backbones.get(dataset) or NETWORKS.get(dataset)
    if chosen is None and datasets.find(dataset).kind == "picture":
        raise InputError(
            f"which network reads the pictures of {dataset!r}? Say so in the protocol: backbones: {{{dataset}: lenet}}."
        )
    return chosen or "mlp"


def _precision(entry: methods.Method, protocol: Protocol, dataset: str) -> str:
    return protocol.precisions.get(dataset, protocol.precision) if entry.is_network else "float32"


def _standardise(protocol: Protocol, dataset: str) -> bool:
    facts = datasets.find(dataset)
    return facts.standardise or (protocol.standardise and facts.kind == "table")


def stacks(runs: Sequence[Run], most: Callable[[Sequence[Run]], int]) -> list[tuple[Run, ...]]:
    """Groups cut into stacks of at most ``most(group)`` runs, as even as can be. The same runs give the same stacks."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(run.group, []).append(run)
    result: list[tuple[Run, ...]] = []
    for group in groups.values():
        count = -(-len(group) // max(1, most(group)))
        edges = [round(place * len(group) / count) for place in range(count + 1)]
        result += [tuple(group[first:last]) for first, last in pairwise(edges)]
    return result
