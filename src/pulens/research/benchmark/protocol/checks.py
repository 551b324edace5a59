"""What a protocol's keys must be together: settings learners have, parts that hold rows, networks that can read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil, isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pulens.errors import InputError, PulensError, listed, nearest
from pulens.learning import labelling
from pulens.research.benchmark import datasets, methods
from pulens.research.benchmark.protocol.text import Text
from pulens.research.benchmark.vocabulary import older

if TYPE_CHECKING:
    from pulens.research.benchmark.protocol import Protocol

KINDS = ("table", "text", "picture", "sequence")  # kinds of data that settings can be for
_NO_SAY = "it changes nothing about a result, so leave it out"
# a learner's fields that the plan decides itself, or that change nothing about the result: what to write instead
DECIDED = MappingProxyType(
    {
        "class_prior": "the protocol's key class_prior decides it: known or estimated",
        "scenario": "the protocol's key scenario decides it",
        "backbone": "the protocol's key backbones decides it, by data set",
        "validation_fraction": "the protocol's key validation_share decides it",
        "device": "--device of `pulens bench run` decides it",
        "precision": "the protocol's keys precision and precisions decide it",
        "compile": _NO_SAY,
        "deterministic": _NO_SAY,
        "progress": _NO_SAY,
        "random_state": "the protocol's key seeds decides it",
        "standardise": "the protocol's key standardise decides it",
        "rescue": "runs are trained as published, and never rescued, so leave it out",
        "positive": "the benchmark's labels are 1 and 0, so leave it out",
        "n_jobs": "--jobs of `pulens bench run` says how many processes there are",
    }
)
_A_NUMBER_TO_PEOPLE = re.compile(r"[+-]?\d+[eE][+-]?\d+")


def check_settings(protocol: Protocol, text: Text) -> None:
    """Settings must be for learners and data that there are, and be settings which that learner is free to have."""
    _check_settings(protocol.settings, ("settings",), text)
    if protocol.variant is not None:
        _check_settings(protocol.variant.settings, ("variant", "settings"), text)


def _check_settings(settings: Mapping[str, Any], where: tuple[str, ...], text: Text) -> None:
    known_learners, places = methods.names(), ("all", *KINDS, *datasets.names())
    for learner, chosen in settings.items():
        if learner not in known_learners:
            raise InputError(
                f"{text.place((*where, learner))}: settings for an unknown learner {learner!r}."
                f"{nearest(learner, known_learners)}"
            )
        for which, values in chosen.items():
            if which not in places:
                raise InputError(
                    f"{text.place((*where, learner, which))}: settings are for 'all', a kind of data "
                    f"({listed(KINDS)}) or a data set, got {which!r}.{nearest(which, places)}"
                )
            result = methods.find(learner)
            allowed = result.settings
            for setting, value in values.items():
                place = text.place((*where, learner, which, setting))
                if setting in DECIDED:
                    raise InputError(f"{place}: {setting} is no setting to choose here: {DECIDED[setting]}.")
                if setting not in allowed:
                    free = [name for name in allowed if name not in DECIDED]
                    raise InputError(f"{place}: {learner} has no setting {setting!r}.{nearest(setting, free)}")
                if not _is_finite(value):
                    raise InputError(f"{place}: {setting} must be a finite number, got {value!r}.")
                if isinstance(value, str) and _A_NUMBER_TO_PEOPLE.fullmatch(value):
                    raise InputError(
                        f"{place}: YAML reads {value} as a word: write {re.sub('[eE]', '.0e', value)} for the number."
                    )
                if result.is_network:
                    _check_value(result.learner, setting, value, place)


def _is_finite(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or isfinite(value)


def _check_value(learner: Any, setting: str, value: Any, place: str) -> None:
    """Refuse what the learner itself would refuse when training begins."""
    from pulens.learning.learners.base.settings import check_settings as check_learner

    try:
        check_learner(learner(**{setting: older(value) if setting == "selection" else value}))
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def check_combinations(protocol: Protocol, text: Text) -> None:
    """What cannot work together, found before anything is trained."""
    said = protocol.unlabelled if "unlabelled" in protocol.model_fields_set else None
    if protocol.scenario == "single-set" and said == "whole-pool":
        raise InputError(
            f"{text.place(('unlabelled',))}: unlabelled: whole-pool belongs to scenario: case-control; a single set "
            "has its own unlabelled rows. Leave the key out, or say scenario: case-control."
        )
    for name in protocol.datasets:
        if datasets.find(name).positives is None:
            raise InputError(
                f"{text.place(('datasets',))}: nobody knows the true classes of {name!r}, so no run on it can be "
                "judged."
            )
        _check_parts(protocol, name, text)
    for number, condition in enumerate(protocol.conditions):
        for mechanism in condition.mechanisms:
            for parameter in condition.parameters:
                allowed = labelling.find(mechanism).parameters
                if parameter not in allowed:
                    raise InputError(
                        f"{text.place(('conditions', number, 'parameters', parameter))}: the mechanism {mechanism!r} "
                        f"has no parameter {parameter!r}.{nearest(parameter, allowed)}"
                    )
            _try_mechanism(mechanism, condition.parameters, text.place(("conditions", number, "parameters")))
    for learner in protocol.learners:
        if learner != "all":
            try:
                methods.find(learner)
            except PulensError as error:
                raise InputError(f"{text.place(('learners',))}: {error}") from error
    _check_options(protocol, text)
    _check_backbones(protocol, text)


def _try_mechanism(mechanism: str, parameters: dict[str, float], place: str) -> None:
    """Label a few made-up positives: what the mechanism refuses then, it would refuse in every run."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            labelling.find(mechanism).choose(np.linspace(-2, 2, 9), 3, np.random.default_rng(0), **parameters)
    except (ValueError, ArithmeticError) as error:
        raise InputError(f"{place}: the mechanism {mechanism!r} cannot label with {parameters}: {error}") from error


def _check_parts(protocol: Protocol, name: str, text: Text) -> None:
    """Training, validation and test rows must be there, and a labelled one among the first two.

    A validation set without a labelled row could select nothing: refused here, not found out after training.
    """
    facts = datasets.find(name)
    assert facts.positives is not None
    share = facts.positives / facts.rows
    rows = facts.rows_used(protocol.rows)
    remaining = rows - ceil(rows * protocol.test_share)
    training = remaining - ceil(remaining * protocol.validation_share)
    shares = f"validation_share {protocol.validation_share:g} and test_share {protocol.test_share:g}"
    sized = (("validation_share",), ("test_share",), ("rows",))
    if min(int(training * share), int(training * (1 - share))) < 2:
        raise InputError(
            f"{text.place(*sized)}: of the {rows:,} rows of {name}, {shares} leave {training} to train on, too few of "
            "each class. Lower them."
        )
    for number, condition in enumerate(protocol.conditions):
        biased = any(not labelling.find(mechanism).completely_at_random for mechanism in condition.mechanisms)
        # two disjoint samples under biased labels: half of the rows are for the labelled one
        halved = biased and protocol.unlabelled == "disjoint" and protocol.scenario == "case-control"
        for frequency in condition.label_frequencies:
            places = (("conditions", number, "label_frequencies"), *sized)
            for part, held, so in (
                (
                    "validation",
                    int(rows * (1 - protocol.test_share) * protocol.validation_share),
                    "no epoch could be selected",
                ),
                ("training", training, "there would be nothing to learn from"),
            ):
                positives = int(held * share) // (2 if halved else 1)
                if labelling.labelled_count(frequency, positives) < 1:
                    raise InputError(
                        f"{text.place(*places)}: with label_frequency {frequency:g}{text.origin('conditions')} none of "
                        f"the about {positives} {part} positives of {name} would be labelled, so {so}. "
                        f"Change {shares}, or raise the label frequency."
                    )


def _check_options(protocol: Protocol, text: Text) -> None:
    for name, options in protocol.dataset_options.items():
        known = datasets.find(name).options
        for option, value in options.items():
            place = text.place(("dataset_options", name, option))
            if option not in known:
                takes = f"it takes {listed(known)}." if known else "it takes none."
                raise InputError(f"{place}: {option!r} is not an option of the data set {name!r}; {takes}")
            if not (value is None or isinstance(value, str | bool | int | float)):
                raise InputError(f"{place}: an option of a data set is a word or a number, got {value!r}.")


def _check_backbones(protocol: Protocol, text: Text) -> None:
    """A network must be able to read the rows of the data set that it is chosen for."""
    from pulens.research.benchmark.memory import SHAPES, network_size

    for name, backbone in protocol.backbones.items():
        kind, shape = datasets.find(name).kind, SHAPES.get(name)
        if shape is None and kind == "picture":
            continue  # only its rows could tell
        try:
            network_size(backbone, shape or (2,))
        except ImportError:
            return  # no PyTorch, no networks
        except PulensError as error:
            why = str(error) if shape else f"it reads pictures, and rows of {name} are of the kind {kind!r}."
            raise InputError(
                f"{text.place(('backbones', name))}: the network {backbone!r} cannot read {name}: {why}"
            ) from error
