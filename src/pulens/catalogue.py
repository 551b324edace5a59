"""A folder is its own catalogue: names come from file stems, facts from one constant in each file."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pulens.errors import PulensError, listed, nearest, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Facts = TypeVar("Facts")
Function = TypeVar("Function", bound=Callable[..., Any])


class Catalogue(Mapping[str, Facts]):
    """The facts that the files of a folder declare, by name; found, listed and refused in one way everywhere.

    Each public file assigns its facts to the same ``constant``, and its stem is their name. Folders, and files whose
    names begin with an underscore, are workshop. Files are imported one by one as their facts are asked for, so names
    cost nothing, not even where a file needs a heavy library.

    ``together``: a file may hold several near-identical facts, as a mapping from name to facts; to know the names all
    files are then imported. ``several``: names of such a file by its stem, known without an
    import. ``dashes``: names may be typed with dashes.

    >>> from pulens.labelling import MECHANISMS
    >>> "completely_at_random" in MECHANISMS, len(MECHANISMS) > 3
    (True, True)
    """

    def __init__(
        self,
        package: str,
        path: Iterable[str],
        constant: str,
        kind: str,
        *,
        plural: str = "",
        together: bool = False,
        several: Mapping[str, tuple[str, ...]] | None = None,
        dashes: bool = False,
        error: type[PulensError] = PulensError,
    ) -> None:
        self._package, self._constant, self._together, self._dashes = package, constant, together, dashes
        self._kind, self._plural, self._error = kind, plural or f"{kind}s", error
        result = (entry.name for entry in pkgutil.iter_modules(path) if not entry.ispkg)
        self._stems = tuple(sorted(stem for stem in result if not stem.startswith("_")))
        self._homes = {name: stem for stem in self._stems for name in (several or {}).get(stem, (stem,))}

    @cached_property
    def _facts(self) -> dict[str, Facts]:
        return {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names, in alphabetical order."""
        if not self._together:
            return tuple(sorted(self._homes))
        for stem in self._stems:
            declared = self._declared(stem)
            several = declared if isinstance(declared, Mapping) else {stem: declared}
            for name, facts in several.items():
                if name in self._facts:
                    raise PulensError(f"{self._package}.{stem} declares {name!r}, which another file declares too.")
                self._facts[name] = facts
        return tuple(sorted(self._facts))

    def _declared(self, stem: str) -> Any:
        module = import_module(f"{self._package}.{stem}")
        try:
            return getattr(module, self._constant)
        except AttributeError:
            raise PulensError(
                f"{module.__name__} is a file of the {self._plural}, so it must declare {self._constant}. A file that "
                "is none of them has a name that begins with an underscore."
            ) from None

    def _stem(self, name: object) -> str:
        words = name if isinstance(name, str) else shown(name)
        return words.replace("-", "_") if self._dashes else words

    def __getitem__(self, name: str) -> Facts:
        stem = self._stem(name)
        if stem not in self.names:
            raise KeyError(name)
        if stem not in self._facts:
            declared = self._declared(self._homes[stem])
            self._facts[stem] = declared[stem] if isinstance(declared, Mapping) else declared
        return self._facts[stem]

    def __contains__(self, name: object) -> bool:
        return self._stem(name) in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def find(self, name: str, *besides: str, listed_as: Callable[[str], str] = str) -> Facts:
        """The facts of that name, or an error that lists the names there are, and those ``besides``."""
        if name in self:
            return self[name]
        known = (*besides, *(listed_as(own) for own in self.names))
        raise self._error(
            f"there is no {self._kind} {shown(name)}; the {self._plural} are {listed(known, limit=99)}."
            f"{nearest(self._stem(name), (*besides, *self.names))}"
        )


class Declared(dict[str, Facts]):
    """The facts of one file by name, each declared over its function; what they have in common is said once.

    >>> from pulens.metrics import Metric, divide
    >>> METRIC = Declared(Metric, higher_is_better=False)
    >>> @METRIC("Share of the flagged that is negative", undefined_because="nothing is flagged")
    ... def false_discovery_rate(table):
    ...     return divide(table.false_positive, table.predicted_positive)
    >>> METRIC["false_discovery_rate"].higher_is_better
    False
    """

    def __init__(self, kind: Callable[..., Facts], **shared: Any) -> None:
        super().__init__()
        self._kind, self._shared = kind, shared

    def __call__(self, summary: str, **facts: Any) -> Callable[[Function], Function]:
        def declare(function: Function) -> Function:
            self[function.__name__] = self._kind(function, summary, **{**self._shared, **facts})
            return function

        return declare


def load_guests(group: str, kind: type[Facts], taken: Iterable[str]) -> dict[str, Facts]:
    """What installed packages add to a catalogue, through entry points of a group.

    A package that cannot be loaded, or that brings a name a second time, is named in the error: the numbers that
    people expect from it would be missing or another's.
    """
    result: dict[str, Facts] = {}
    if not _may_have_guests(group):
        return result
    from importlib.metadata import entry_points

    names = set(taken)
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        if entry.name in names | set(result):
            raise PulensError(
                f"{_owner(entry)} brings {entry.name!r} to {group}, where there is one already: "
                "give it another name in the package's entry points, or uninstall it."
            )
        result[entry.name] = _loaded(entry, group, kind)
    return result


def _may_have_guests(group: str) -> bool:
    """Whether any installed package names the group in its entry points.

    :mod:`importlib.metadata` says so too, but takes longer than all metrics to import, and reads twice as much.
    """
    finders = [each for each in sys.meta_path if hasattr(each, "find_distributions")]
    if len(finders) > 1:  # packages may be where no folder shows them
        return True
    for folder in map(Path, sys.path):
        if folder.is_file():  # an archive
            return True
        for pattern in ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt"):
            with suppress(OSError):  # what cannot be read names nothing
                if any(group.encode() in path.read_bytes() for path in folder.glob(pattern)):
                    return True
    return False


def _loaded(entry: EntryPoint, group: str, kind: type[Facts]) -> Facts:
    try:
        facts = entry.load()
    except Exception as error:
        raise PulensError(
            f"{_owner(entry)} brings {entry.name!r} to {group}, but {entry.value} cannot be loaded: "
            f"{type(error).__name__}: {error}. Upgrade or uninstall that package."
        ) from error
    if not entry.name.isidentifier() or entry.name.startswith("_"):
        raise PulensError(f"{_owner(entry)}: {entry.name!r} cannot be a name in {group}; write it like 'my_metric'.")
    if not isinstance(facts, kind):
        raise PulensError(f"{_owner(entry)}: {entry.value} must be a {kind.__name__}, got {type(facts).__name__}.")
    return facts


def _owner(entry: EntryPoint) -> str:
    return f"the installed package {entry.dist.name!r}" if entry.dist is not None else "an installed package"
