"""What one call from Python is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PythonCall:
    """A public function, what it is given, and how both are told.

    ``twin`` makes the same call with the rows in plain arrays, where the containers are faithful: an answer must be the
    same. ``follow`` is how often methods of the answer are called, too.
    """

    kind: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    words: str = ""
    twin: Callable[[], Any] | None = None
    follow: int = 2

    def __call__(self) -> Any:
        return self.function(*self.arguments, **self.options)
