"""A mapping that cannot be changed, and that can be copied, pickled and sent to another process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pulens.errors import UnknownNameError, listed, shown

Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)


class FrozenMapping(Mapping[Key, Value]):
    """What answers hold their numbers in: ``types.MappingProxyType`` would not survive ``pickle``.

    >>> import pickle
    >>> pickle.loads(pickle.dumps(FrozenMapping({"recall": 0.5})))
    {'recall': 0.5}
    """

    __slots__ = ("_items",)
    _items: dict[Key, Value]

    def __init__(self, items: Mapping[Key, Value] | Iterable[tuple[Key, Value]] = ()) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a frozen mapping cannot be changed: {name!r} was to be set")

    def __getitem__(self, key: Key) -> Value:
        try:
            return self._items[key]
        except (KeyError, TypeError):  # a key that cannot be one, too
            raise UnknownNameError(f"there is no {shown(key)} here, but {listed(self._items)}.") from None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)

    def __or__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return {**self._items, **other}

    def __ror__(self, other: Mapping[Any, Any]) -> dict[Any, Any]:
        return {**other, **self._items}

    def __reduce__(self) -> tuple[type[FrozenMapping[Key, Value]], tuple[dict[Key, Value]]]:
        return type(self), (self._items,)


def offered(answer: object, names: Iterable[str]) -> list[str]:
    """What completion offers of an answer: the names most people use. The others work all the same."""
    hidden = [name for name in object.__dir__(answer) if name.startswith("_")]
    return [*names, *hidden]
