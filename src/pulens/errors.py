"""What goes wrong, in words a person can act on."""

from __future__ import annotations

from collections.abc import Iterable


class PulensError(ValueError):
    """Any problem with what the caller gave. A ``ValueError``, so ordinary handlers catch it."""


class InputError(PulensError):
    """The data cannot be read or do not mean what they were said to mean."""


class AssumptionError(PulensError):
    """A class prior, label noise or scenario that no data could satisfy."""


class MissingDependencyError(PulensError, ImportError):
    """An optional library is needed for this road and is not installed."""

    def __init__(self, library: str, *, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed. Install it with: pip install 'pulens[{extra}]'"
        )


class CollapseWarning(UserWarning):
    """A trained classifier gives one answer for every row."""


def listed(values: object, *, limit: int = 8) -> str:
    """Write values for an error message: in order, quoted, cut to a readable length.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    items = list(values)  # type: ignore[call-overload]
    shown = ", ".join(repr(item) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"


def nearest(wanted: object, names: Iterable[str]) -> str:
    """A sentence that offers the most similar name, for the end of an error message; empty if none is similar.

    >>> nearest("recal", ["recall", "lift"])
    " Did you mean 'recall'?"
    """
    from difflib import get_close_matches

    near = get_close_matches(str(wanted), [str(name) for name in names], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
