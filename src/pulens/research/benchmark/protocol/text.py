"""A protocol's text as YAML: read strictly, and able to say on which line something stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import yaml

from pulens.bounded_text import check_yaml
from pulens.errors import InputError
from pulens.research.benchmark.vocabulary import current

Path = tuple[Any, ...]  # of keys and places in lists, from the outermost in


@dataclass(frozen=True)
class Text:
    """Where the values of a protocol come from: its own lines, the protocol it extends, or what was given with it."""

    where: str
    node: Any = None
    base: str | None = None
    changed: frozenset[str] = frozenset()  # keys given as options of a command or arguments of a function

    def extending(self, base: str) -> Text:
        return replace(self, base=base)

    def with_changes(self, names: Any) -> Text:
        return replace(self, changed=frozenset(names))

    def place(self, *paths: Path) -> str:
        """Where the first of these keys that the user wrote stands, or else what it was taken over from."""
        for path in paths:
            if path and path[0] in self.changed:
                return f"{self.where}, with {path[0]} given with it (--{path[0]} on the command line)"
            if (line := self.line(path)) is not None:
                return f"{self.where}, line {line}"
        if self.base is not None and paths and paths[0]:
            return f"{self.where} ({paths[0][0]} comes from the protocol {self.base!r}, which it extends)"
        return self.where

    def origin(self, key: str) -> str:
        """ " (from ...)" where a key's value was taken over from the protocol that this one extends."""
        taken = self.base is not None and key not in self.changed and self.line((key,)) is None
        return f" (from the protocol {self.base!r}, which it extends)" if taken else ""

    def line(self, path: Path) -> int | None:
        """The line of a key, or of the nearest thing around it that the text has."""
        node, line = self.node, None
        for part in path:
            if isinstance(node, yaml.MappingNode):
                pair = next(
                    ((key, value) for key, value in node.value if str(part) in (key.value, current(key.value))), None
                )
                if pair is None:
                    break
                line, node = pair[0].start_mark.line + 1, pair[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
                line = node.start_mark.line + 1
            else:
                break
        return line


def read_text(text: str, where: str) -> tuple[Text, Any]:
    """The text with its lines, and its values; a key that stands twice is refused, since one would be lost."""
    try:
        check_yaml(text, where)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _check_keys(node, where, set())
        return Text(where, node), yaml.safe_load(text)
    except InputError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # the last two: impossible dates, endless numbers
        raise InputError(f"{where}: not readable as YAML: {' '.join(str(error).split())}") from error


def _check_keys(node: Any, where: str, seen: set[int]) -> None:
    if id(node) in seen or not isinstance(node, yaml.CollectionNode):
        return
    seen.add(id(node))  # an alias shows the same node again
    if isinstance(node, yaml.SequenceNode):
        for part in node.value:
            _check_keys(part, where, seen)
        return
    lines: dict[tuple[str, str], int] = {}
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
            line, name = key.start_mark.line + 1, (key.tag, key.value)
            if name in lines:
                raise InputError(
                    f"{where}, line {line}: the key {key.value!r} stands there twice, first on line {lines[name]}. "
                    "Only the last one would count: keep one of them."
                )
            lines[name] = line
        _check_keys(value, where, seen)
