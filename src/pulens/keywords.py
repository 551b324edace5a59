"""Keyword arguments that a door hands on: a misspelt one is named at the door that was called, whoever takes it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce, wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from pulens.errors import PulensError, nearest, shown
from pulens.scalars import plain_scalar, real, whole

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Taker = Callable[..., Any] | Iterable[str]
# arguments and options of earlier versions, and what to do instead
GONE = {
    "nearly_random": "Audits assume nothing about how rows came to be labelled. For numbers under labels that favour "
    "high scores up to a factor, evaluate with that factor as the labelling.",
}


class KeywordError(PulensError, TypeError):
    """A keyword argument that the function called does not take. Also a ``TypeError``, which Python raises for it."""


def keywords_of(taker: Taker) -> frozenset[str]:
    """Names that a function takes by keyword alone, those it hands on included; names given as such are themselves.

    >>> sorted(keywords_of(sorted))
    ['key', 'reverse']
    """
    if not callable(taker):
        return frozenset(taker)
    handed_on: frozenset[str] = getattr(taker, "handed_on", frozenset())
    parameters = signature(taker).parameters.items()
    return handed_on | {name for name, one in parameters if one.kind is Parameter.KEYWORD_ONLY}


def check_keywords(door: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that a door does not know, offering the nearest one that it does.

    >>> check_keywords("evaluate", ["class_piror"], ["class_prior", "scenario"])
    Traceback (most recent call last):
    ...
    pulens.keywords.KeywordError: evaluate() has no argument 'class_piror'. Did you mean 'class_prior'?
    """
    names = sorted(known)
    for name in given:
        if name not in names:
            nearby = nearest(name, names) or f" It takes {', '.join(map(repr, names))}."
            way_out = f" {GONE[name]}" if name in GONE else nearby
            raise KeywordError(f"{door}() has no argument {name!r}.{way_out}")


def forwards_keywords(*takers: Taker) -> Callable[[Callable[Given, Answer]], Callable[Given, Answer]]:
    """Marks a function whose further keyword arguments go to these takers, and refuses all that none of them takes."""

    def decorate(door: Callable[Given, Answer]) -> Callable[Given, Answer]:
        handed_on = keywords_of(door).union(*map(keywords_of, takers))
        known = handed_on.union(signature(door).parameters)
        texts = {name: kind for name, kind in _annotated(door).items() if kind[0] in _TEXTS}
        columns = _columns_of(door)

        @wraps(door)
        def checked(*given: Given.args, **named: Given.kwargs) -> Answer:
            if not named.keys() <= known:
                check_keywords(door.__name__, [name for name in named if name not in known], handed_on)
            for name in columns:
                if name in named and named[name] is None:
                    del named[name]
            for name in named.keys() & texts.keys():
                _plain(name, named[name], *texts[name])
            return door(*given, **named)

        checked.handed_on = handed_on  # type: ignore[attr-defined]
        if columns:
            own = list(signature(door).parameters.values())
            first = sum(one.kind <= Parameter.POSITIONAL_OR_KEYWORD for one in own)
            shown_as = signature(door).replace(parameters=[*own[:first], *columns.values(), *own[first:]])
            checked.__signature__ = shown_as  # type: ignore[attr-defined]
        return checked

    return decorate


#: Keywords of ``**reading: Unpack[...]`` that people see as parameters, first of all: what columns and labels mean.
COLUMNS = ("score", "label", "positive", "negative", "unlabelled", "cluster")


def _columns_of(door: Callable[..., Any]) -> dict[str, Parameter]:
    """Those of ``COLUMNS`` that a function takes by the typed dictionary of its further keywords."""
    for one in signature(door).parameters.values():
        kind = str(one.annotation)
        if one.kind is Parameter.VAR_KEYWORD and kind.startswith("Unpack["):
            typed_as = getattr(door, "__globals__", {})[kind.removeprefix("Unpack[").removesuffix("]")]
            known = {name: getattr(each, "__forward_arg__", each) for name, each in typed_as.__annotations__.items()}
            by_name = {name: known[name] for name in COLUMNS if name in known}
            return {
                name: Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=each)
                for name, each in by_name.items()
            }
    return {}


def typed(door: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Marks a function that takes texts, numbers and objects of one class as its annotations say, and no others.

    Numbers arrive as floats and ints, whatever library they came from. Functions that check a number themselves, in
    words of their own, are not marked.

    >>> @typed
    ... def half(rows: int, share: float = 0.5) -> float:
    ...     return rows * share
    >>> half(np.array(3), share="a")
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: share must be a number, got 'a'.
    """
    kinds = _annotated(door)
    names = [name for name, one in signature(door).parameters.items() if one.kind is not Parameter.KEYWORD_ONLY]

    @wraps(door)
    def checked(*given: Given.args, **named: Given.kwargs) -> Answer:
        taken = dict(zip(names, given, strict=False))
        plain = {name: _plain(name, value, *kinds[name]) for name, value in {**taken, **named}.items() if name in kinds}
        arrived: Any = [plain.get(name, value) for name, value in taken.items()] + list(given[len(names) :])
        return door(*arrived, **{**named, **{name: plain[name] for name in named if name in plain}})

    return checked


def names_of(argument: str, given: Any) -> tuple[str, ...]:
    """One name or several, as they may be given.

    >>> names_of("group_by", "site"), names_of("metrics", ["recall", "f1"])
    (('site',), ('recall', 'f1'))
    >>> names_of("metrics", 3)
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: metrics must be a name or a list of names, got 3.
    """
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes) and getattr(given, "shape", 1) != ()
    result = tuple(plain_scalar(name) for name in given) if several else (given,)
    if not all(isinstance(name, str) for name in result):
        raise PulensError(f"{argument} must be a name or a list of names, got {shown(given)}.")
    return result


def check_column(argument: str, given: Any) -> None:
    """Refuse what names no column: names are texts, or the numbers that pandas gives columns without names.

    >>> check_column("score", "p"), check_column("score", 0)
    (None, None)
    >>> check_column("score", {1, 2})
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: score must name a column, got {1, 2}.
    """
    if not isinstance(given, str) and whole(given) is None:
        raise PulensError(f"{argument} must name a column, got {shown(given)}.")


def check_kinds(taker: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse what is not of the kind that a function, or a class, says it takes."""
    kinds = _annotated(taker)
    for name, value in given.items():
        _plain(name, value, *kinds[name])


def check_flags(settings: Any) -> None:
    """Refuse what is neither True nor False where the class of an object says that it takes no other."""
    taker: Callable[..., Any] = type(settings)
    for name, (kind, or_none) in _annotated(taker).items():
        if kind == "bool":
            _plain(name, getattr(settings, name), kind, or_none)


_CLASSES = ("pulens.", "numpy.random.")  # whose objects are told from others by their class
_TEXTS = ("str", "bool", "AnyPath")
_OWN_WORDS = ("confidence", "label_noise", "seed", "threshold")  # each is checked in one place, in its own words


@cache
def _annotated(door: Callable[..., Any]) -> dict[str, tuple[Any, bool]]:
    """What each parameter must be, where its annotation is a single kind, and whether None is one too."""
    result: dict[str, tuple[Any, bool]] = {}
    for name, one in signature(door).parameters.items():
        parts = [part.strip() for part in str(one.annotation).split("|")]
        kinds = [part for part in parts if part != "None"]
        if kinds[1:] in (["PathLike[str]"], ["Path"]) and kinds[0] == "str":
            kinds = ["AnyPath"]
        is_one = one.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
        if len(kinds) == 1 and is_one and name not in _OWN_WORDS:
            known = kinds[0] in (*_TEXTS, "float", "int")
            kind = kinds[0] if known else _class(door, kinds[0])
            if known or (isinstance(kind, type) and kind.__module__.startswith(_CLASSES)):
                result[name] = kind, "None" in parts
    return result


def _class(door: Callable[..., Any], name: str) -> Any:
    """What an annotation names in the file of its function."""
    first, *further = name.split(".")
    return reduce(
        lambda result, part: getattr(result, part, None), further, getattr(door, "__globals__", {}).get(first)
    )


def _plain(name: str, value: Any, kind: Any, or_none: bool) -> Any:
    if value is None and or_none:
        return None
    result, words = value, f"a {getattr(kind, '__name__', kind)}"
    if kind == "float":
        result, words = real(value), "a number"
        fits = not math.isnan(result)
    elif kind == "int":
        result, words = whole(value), "a whole number"
        fits = result is not None
    elif kind == "str":
        fits, words = isinstance(value, str), "text"
    elif kind == "bool":
        fits, words = isinstance(value, bool | np.bool_), "True or False"
    elif kind == "AnyPath":
        fits, words = isinstance(value, str | os.PathLike), "the name of a file"
    else:
        fits = isinstance(value, kind)
    if not fits:
        more = ", or None" if or_none else ""
        raise PulensError(f"{name} must be {words}{more}, got {shown(value)}.")
    return result
