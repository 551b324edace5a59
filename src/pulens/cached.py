"""Methods that keep their answers with their object, as ``functools.cached_property`` keeps an attribute."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Own = TypeVar("Own")
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def cached_method(
    key: Callable[..., Hashable] | None = None,
) -> Callable[[Callable[Concatenate[Own, Given], Answer]], Callable[Concatenate[Own, Given], Answer]]:
    """Marks a method that finds its answer once for the same arguments; ``key`` makes one of arguments that are none.

    Answers go with their object: copies by :func:`dataclasses.replace` begin without.

    >>> class Squares:
    ...     @cached_method()
    ...     def of(self, number):
    ...         print("computed")
    ...         return number**2
    >>> squares = Squares()
    >>> squares.of(3), squares.of(3)
    computed
    (9, 9)
    """

    def decorate(method: Callable[Concatenate[Own, Given], Answer]) -> Callable[Concatenate[Own, Given], Answer]:
        kept_as = f"_answers_of_{method.__name__}"

        @wraps(method)
        def cached(self: Own, /, *given: Given.args, **named: Given.kwargs) -> Answer:
            known: dict[Any, Answer] = vars(self).setdefault(kept_as, {})
            index = (given, *named.items()) if key is None else key(*given, **named)
            if index not in known:
                known[index] = method(self, *given, **named)
            return known[index]

        return cached

    return decorate
