"""Keyword arguments that a door hands on: a misspelt one is named at the door that was called, whoever takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from pulens.errors import PulensError, nearest

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Taker = Callable[..., Any] | Iterable[str]


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
            way_out = nearest(name, names) or f" It takes {', '.join(map(repr, names))}."
            raise KeywordError(f"{door}() has no argument {name!r}.{way_out}")


def hands_on(*takers: Taker) -> Callable[[Callable[Given, Answer]], Callable[Given, Answer]]:
    """Marks a function whose further keyword arguments go to these takers, and refuses all that none of them takes."""

    def decorate(door: Callable[Given, Answer]) -> Callable[Given, Answer]:
        handed_on = keywords_of(door).union(*map(keywords_of, takers))
        known = handed_on.union(signature(door).parameters)

        @wraps(door)
        def checked(*given: Given.args, **named: Given.kwargs) -> Answer:
            if not named.keys() <= known:
                check_keywords(door.__name__, [name for name in named if name not in known], handed_on)
            return door(*given, **named)

        checked.handed_on = handed_on  # type: ignore[attr-defined]
        return checked

    return decorate
