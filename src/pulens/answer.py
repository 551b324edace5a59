"""What answers have in common: they become plain values for JSON, show themselves in notebooks and write themselves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from pulens.atomic_write import write_whole
from pulens.frozen import offered


class Answer:
    """A dataclass that says what it holds; ``_keys`` names what, where that is not its fields in their order.

    A key may have another name than the attribute: ``"strata=rates"`` has the rates under ``"strata"``, and
    ``"rows=counts.rows"`` the rows of the counts, ``None`` where there are no counts. ``"worth?"`` is left out where
    there is none, or nothing in it, and ``"**interval"`` is told among the others, not under a name of its own.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class Rate(Answer):
    ...     value: float
    ...     rows: tuple[int, ...]
    >>> Rate(float("nan"), (3, 4)).to_dict()
    {'value': None, 'rows': [3, 4]}
    """

    __slots__ = ()
    _keys: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON; what is not finite becomes ``None``."""
        keys = self._keys or tuple(self.__dataclass_fields__)  # type: ignore[attr-defined]
        answer: dict[str, Any] = {}
        for key in keys:
            name, _, path = key.partition("=")
            value = plain(_followed(self, path or name.strip("?*")))
            if name.startswith("**"):
                answer |= value or {}
            elif not name.endswith("?") or value not in (None, "", [], {}):
                answer[name.rstrip("?")] = value
        return answer


def _followed(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


class ShownAsText:
    """Shows its own words at a prompt and in notebooks; ``_offered`` is what completion offers, where that is less."""

    __slots__ = ()
    _offered: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        return str(self)

    def __dir__(self) -> Iterable[str]:
        return offered(self, self._offered) if self._offered else super().__dir__()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def plain(value: Any) -> Any:
    """A value as JSON has it: nan and infinities become ``None``, answers and mappings dictionaries, notices words.

    >>> plain({"ends": (0.1, float("inf"))}), plain(np.array([1.0, np.nan]))
    ({'ends': [0.1, None]}, [1.0, None])
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or (isinstance(value, int) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value)


def written(path: Any, text: str) -> str:
    """The text, which is also written to the path where one is given.

    >>> written(None, "a page")
    'a page'
    """
    if path is not None:
        write_whole(path, text)
    return text
