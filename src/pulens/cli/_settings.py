"""Settings of a learner from words: ``--set NAME=VALUE``, read as the setting's own type."""

from __future__ import annotations

import inspect
import math
from typing import Any

from pulens.cli._options import TRAINING_PRIOR
from pulens.errors import InputError, listed, nearest

KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "None": "none", "str": "a word"}

ELSEWHERE = {
    "positive": "which label value is positive is said with --positive",
    "estimator": "a classifier of your own is given from Python",
}


def read_settings(learner_class: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Options and NAME=VALUE pairs as arguments of the learner."""
    settings = {
        "scenario": given["scenario"],
        "backbone": given["backbone"],
        "standardise": given["standardise"],
        "random_state": given["seed"],
        "device": given["device"],
    }
    if given["class_prior"] is not None:
        settings["class_prior"] = given["class_prior"]
    known = inspect.signature(learner_class).parameters
    settings = {name: value for name, value in settings.items() if name in known}  # not all have a network
    told = {"class_prior"} if given["class_prior"] is not None else set()
    for pair in given["settings"]:
        name, equals, text = pair.partition("=")
        if not equals or name not in known:
            raise InputError(
                f"--set must be NAME=VALUE with a name of {listed(known, limit=40)}; got {pair!r}."
                f"{nearest(name, known) if equals else ''}"
            )
        if name in ELSEWHERE:
            raise InputError(f"--set {pair!r} cannot be: {ELSEWHERE[name]}.")
        if name in told:
            raise InputError(f"{name} was given twice, the second time as --set {pair!r}: give it once.")
        told.add(name)
        settings[name] = read_value(name, text, str(known[name].annotation), known[name].default)
    return settings


def read_value(name: str, text: str, annotation: str, default: Any) -> Any:
    """Text as the kind of value that the setting takes.

    >>> read_value("max_features", "2", "int | str | None", "sqrt"), read_value("weight", "none", "float | None", 0.5)
    (2, None)
    >>> read_value("hidden", "64,32", "tuple[int, ...]", (128, 128))
    (64, 32)
    >>> read_value("patience", "0.5", "int | None", None)
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: --set patience must be a whole number or none, got '0.5'.
    """
    if name == "class_prior" and text.lower() != "none":
        return TRAINING_PRIOR.convert(text, None, None)
    if annotation.startswith("tuple["):
        kind = annotation.removeprefix("tuple[").partition(",")[0]
        try:
            return tuple(_read(part.strip(), (kind,)) for part in text.split(","))
        except ValueError:
            shown = ",".join(map(str, default))
            raise InputError(f"--set {name} must be numbers such as {shown}, got {text!r}.") from None
    kinds = tuple(kind.strip() for kind in annotation.split("|"))
    if not set(kinds) <= set(KINDS):  # Any: what the word looks like
        kinds = tuple(KINDS)
    try:
        return _read(text, kinds)
    except ValueError:
        allowed = " or ".join(KINDS[kind] for kind in kinds)
        example = f" such as {default!r}" if isinstance(default, int | float) and kinds != ("bool",) else ""
        raise InputError(f"--set {name} must be {allowed}{example}, got {text!r}.") from None


def _read(text: str, kinds: tuple[str, ...]) -> Any:
    """The first kind that the text can be read as, from the narrowest to the widest."""
    if "None" in kinds and text.lower() == "none":
        return None
    if "bool" in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind, read in (("int", int), ("float", float)):
        if kind in kinds:
            try:
                value = read(text)
            except ValueError:
                continue
            if math.isfinite(value):
                return value
    if "str" in kinds and text:
        return text
    raise ValueError(text)
