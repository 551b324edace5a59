"""What a method's file says about itself, read and not run: enough to plan with, and nothing of it is executed.

Classes of this package that the file builds on are looked up, since their code is ours; everything else must stand in
the file as plain values.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pulens.bounded_text import read_bounded
from pulens.errors import InputError
from pulens.learning.learners.base import facts as families
from pulens.learning.learners.base.facts import OTHER, Learner
from pulens.learning.learners.base.settings import setting

MOST_BYTES = 4 << 20
MOST_BASES = 20  # classes on top of one another
TOLD = ("uses_truth", "needs_support")  # what a plan asks a class besides its settings
_PLAIN_WRITING = "keep settings as plain values in the class"


class Unreadable(Exception):
    """Why a file's facts cannot be told without running it."""


def read_method(path: Path) -> Learner:
    """Facts of a method's file, of a class that has its settings and cannot train.

    Where they cannot be had without running the file, the error says what to do.
    """
    text = read_bounded(path, most=MOST_BYTES)
    try:
        module = ast.parse(text, str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        said = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        raise InputError(f"{path}{line}: this is not Python: {said}.") from error
    reader = _Reader(module)
    if "LEARNER" not in reader.values:
        raise InputError(f"{path}: declares no LEARNER; end the file with `LEARNER = Learner(YourClass, title=...)`.")
    try:
        return reader.facts(path.stem)
    except Unreadable as why:
        raise InputError(
            f"{path}: its settings cannot be read without running it: {why}. If you trust the file, let it run "
            f"(--run-methods on the command line); or {_PLAIN_WRITING}."
        ) from why


class _Reader:
    """Names that stand at the top of a file."""

    def __init__(self, module: ast.Module) -> None:
        self.classes = {part.name: part for part in module.body if isinstance(part, ast.ClassDef)}
        self.imported: dict[str, tuple[str, str]] = {}
        self.values: dict[str, ast.expr] = {}
        for part in module.body:
            if isinstance(part, ast.ImportFrom) and part.module and not part.level:
                for name in part.names:
                    self.imported[name.asname or name.name] = part.module, name.name
            elif isinstance(part, ast.Assign):
                self.values |= {target.id: part.value for target in part.targets if isinstance(target, ast.Name)}
            elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is not None:
                self.values[part.target.id] = part.value

    def facts(self, stem: str) -> Learner:
        """What ``LEARNER`` declares: ``Learner(...)``, or a class with ``TITLE`` and ``FAMILY``."""
        node = self.values["LEARNER"]
        if not self._is_ours(node, "Learner"):
            return Learner(self.class_of(node), self._word("TITLE", stem), self._word("FAMILY", OTHER))
        assert isinstance(node, ast.Call)
        if len(node.args) != 1:
            raise Unreadable(f"line {node.lineno}: Learner takes the class first, and the rest by name")
        said = {str(given.arg): self._said(given.value, str(given.arg)) for given in node.keywords}
        try:
            return Learner(self.class_of(node.args[0]), **{"title": stem} | said)
        except TypeError as error:
            raise Unreadable(f"line {node.lineno}: {error}") from error

    def _is_ours(self, node: ast.expr, name: str) -> bool:
        """Whether it is a call of one of this package's functions or classes, imported under any name."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return False
        module, result = self.imported.get(node.func.id, ("", ""))
        return module.split(".")[0] == "pulens" and result == name

    def _said(self, node: ast.expr, name: str) -> Any:
        """A plain value, or one of the families by its name."""
        if isinstance(node, ast.Name) and self.imported.get(node.id, ("", ""))[0] == families.__name__:
            return getattr(families, self.imported[node.id][1], None)
        return _literal(node, name)

    def _word(self, name: str, otherwise: str) -> str:
        if name not in self.values:
            return otherwise
        result = _literal(self.values[name], name)
        if not isinstance(result, str):
            raise Unreadable(f"{name} is not a word")
        return result

    def class_of(self, node: ast.expr, depth: int = 0) -> Any:
        """The class that a name means: one of this package's, or a stand-in for one of the file's."""
        if not isinstance(node, ast.Name) or depth > MOST_BASES:
            raise Unreadable(f"line {node.lineno}: {ast.unparse(node)[:60]} is not the name of a class")
        if node.id in self.classes:
            return self._stand_in(self.classes[node.id], depth)
        module, name = self.imported.get(node.id, ("", node.id))
        if module.split(".")[0] != "pulens":
            raise Unreadable(f"line {node.lineno}: the class {node.id!r} is neither in the file nor one of pulens")
        try:
            result = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise Unreadable(f"line {node.lineno}: {error}") from error
        if not inspect.isclass(result):
            raise Unreadable(f"line {node.lineno}: {node.id!r} is not a class")
        return result

    def _stand_in(self, node: ast.ClassDef, depth: int) -> Any:
        if node.keywords:
            raise Unreadable(f"line {node.lineno}: the class {node.name!r} is made in a way of its own")
        bases = tuple(self.class_of(base, depth + 1) for base in node.bases)
        inside: dict[str, Any] = {"__annotations__": {}, "__module__": __name__}
        for part in node.body:
            self._take(part, inside)
        made = type(node.name, bases, inside)
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(called) not in ("dataclass", "dataclasses.dataclass"):
                raise Unreadable(f"line {node.lineno}: the decorator of {node.name!r} is not dataclass")
            made = dataclass(kw_only=True, eq=False, repr=False)(made)
        made.__module__ = "pulens_method"  # not one of ours: what its settings may be is theirs to say
        return made

    def _take(self, part: ast.stmt, inside: dict[str, Any]) -> None:
        """One statement of a class, as far as it says something about settings."""
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            name, said = part.target.id, ast.unparse(part.annotation)
            if not said.startswith(("ClassVar", "typing.ClassVar")):
                if part.value is None:
                    raise Unreadable(f"line {part.lineno}: the setting {name!r} has no default")
                inside["__annotations__"][name] = said
                inside[name] = self._default(part.value, name)
            elif part.value is not None:
                self._attribute(name, part.value, inside)
        elif isinstance(part, ast.Assign):
            for target in part.targets:
                if isinstance(target, ast.Name):
                    self._attribute(target.id, part.value, inside)
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            if part.name in ("__post_init__", "__new__", "__init_subclass__", "get_params", *TOLD):
                raise Unreadable(f"line {part.lineno}: {part.name} may change what the settings are")
            if part.name == "__init__":
                inside["__signature__"] = _signature(part)
        elif not isinstance(part, ast.Expr | ast.Pass | ast.ClassDef):
            raise Unreadable(f"line {part.lineno}: the class holds more than settings and methods")

    def _default(self, node: ast.expr, name: str) -> Any:
        """A setting's default: a plain value, or ``setting(...)`` of plain values."""
        if not self._is_ours(node, "setting"):
            return _literal(node, name)
        assert isinstance(node, ast.Call)
        given = [_literal(one, name) for one in node.args]
        limits = {str(one.arg): _literal(one.value, name) for one in node.keywords}
        try:
            return setting(*given, **limits)
        except TypeError as error:
            raise Unreadable(f"line {node.lineno}: {error}") from error

    def _attribute(self, name: str, value: ast.expr, inside: dict[str, Any]) -> None:
        if name == "_program":
            inside[name] = object  # that there is one makes it a network
        elif name in TOLD:
            inside[name] = _literal(value, name)


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> inspect.Signature:
    """Settings of a class with an ``__init__`` of its own."""
    given = node.args
    if given.vararg or given.kwarg:
        raise Unreadable(f"line {node.lineno}: __init__ takes more than it names")
    usual = [*given.posonlyargs, *given.args]
    result: list[inspect.Parameter] = []
    kinds: Sequence[tuple[Any, Any]] = [
        *zip(usual, [None] * (len(usual) - len(given.defaults)) + list(given.defaults), strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    for argument, default in kinds[1:]:  # the first is self
        value = inspect.Parameter.empty if default is None else _literal(default, argument.arg)
        result.append(inspect.Parameter(argument.arg, inspect.Parameter.KEYWORD_ONLY, default=value))
    return inspect.Signature(result)


def _literal(node: ast.expr, name: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise Unreadable(f"line {node.lineno}: {name} is computed, not written down") from error
