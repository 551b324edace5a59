"""The architecture in figures: size, complexity, branches on the design, and the functions that rows pass through.

Usage: python benchmarks/architecture.py [CHECKOUT ...]    several checkouts side by side, as before and after
       python benchmarks/architecture.py --private [CHECKOUT]    imports of private things across packages, one a line
       python benchmarks/architecture.py --complex [CHECKOUT]    functions above complexity 15, one a line
       python benchmarks/architecture.py --walks    functions, modules and packages that each command calls
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "pulens"
#: Lines that ask what the design is, by pattern.
ASKED = {
    "isinstance(WeightedEvidence)": r"isinstance\([^)]*WeightedEvidence",
    "branches on within": r"\bif .*\bwithin\b|\bwithin\b (?:is|is not) None",
    "branches on clusters": r"buckets is (?:not )?None|is_clustered",
    "branches on the prior's treatment": r"treatment (?:==|!=)",
    "FEWEST_BUCKETS": r"FEWEST_BUCKETS",
}
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)


class Function(NamedTuple):
    """A function or method, by the file it stands in."""

    module: str
    name: str
    complexity: int


class Import(NamedTuple):
    """A module that imports something private of another package."""

    importer: str
    imported: str

    def __str__(self) -> str:
        return f"{self.importer} -> {self.imported}"


@cache
def modules(root: Path) -> dict[str, ast.Module]:
    """All modules of the package by dotted name, parsed; a package's own file has the name of the package."""
    source = root / "src"
    result = {}
    for path in sorted((source / PACKAGE).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        result[name] = ast.parse(path.read_text(encoding="utf-8"))
    return result


def packages(root: Path) -> list[str]:
    """Names of all folders with an ``__init__.py``."""
    source = root / "src"
    return sorted(".".join(path.parent.relative_to(source).parts) for path in (source / PACKAGE).rglob("__init__.py"))


def lines(root: Path) -> int:
    """Lines of all modules."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (root / "src" / PACKAGE).rglob("*.py"))


def complexity(function: ast.AST) -> int:
    """One, and one more for every branch, loop, handler, assertion, further condition and comprehension inside.

    Functions inside a function count as part of it: who reads the one reads the other.

    >>> complexity(ast.parse("def f(x):\\n    return [y for y in x if y and y > 1] if x else None").body[0])
    5
    """
    count = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
    return count


@cache
def functions(root: Path) -> list[Function]:
    """Every function and method, the most complex first."""
    result = [
        Function(module, node.name, complexity(node))
        for module, tree in modules(root).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sorted(result, key=lambda function: (-function.complexity, function.module, function.name))


def classes_defined_twice(root: Path) -> dict[str, list[str]]:
    """Names of classes that several modules define, with these modules."""
    homes: dict[str, list[str]] = {}
    for module, tree in modules(root).items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    return {name: places for name, places in sorted(homes.items()) if len(places) > 1}


def aliases_defined_outside(root: Path, home: str) -> dict[str, list[str]]:
    """Names that ``home`` defines and other modules define again."""
    trees = modules(root)
    own = _assigned(trees[home]) - {"__all__"}
    again: dict[str, list[str]] = {}
    for module, tree in trees.items():
        for name in own & _assigned(tree) if module != home else set():
            again.setdefault(name, []).append(module)
    return again


def _assigned(tree: ast.Module) -> set[str]:
    targets = [
        target
        for node in tree.body
        for target in (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
    ]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def private_imports(root: Path) -> set[Import]:
    """Imports of a private module, or of a private name, from outside the package that it belongs to."""
    trees = modules(root)
    folders = set(packages(root))
    result = set()
    for importer, tree in trees.items():
        here = importer if importer in folders else importer.rsplit(".", 1)[0]
        for imported in _imported(tree):
            owner = _owner(imported, folders)
            if owner is not None and here != owner and not here.startswith(f"{owner}."):
                result.add(Import(importer, imported))
    return result


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] == PACKAGE)
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == PACKAGE:
            for each in node.names:
                private = each.name.startswith("_") and not each.name.startswith("__")
                yield f"{node.module}.{each.name}" if private else str(node.module)


def _owner(imported: str, folders: set[str]) -> str | None:
    """The package within which something private may be used; None where nothing is private."""
    parts = imported.split(".")
    for place, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            above = ".".join(parts[:place])
            return above if above in folders else above.rsplit(".", 1)[0]
    return None


def figures(root: Path) -> dict[str, int]:
    """What is printed of a checkout."""
    every = functions(root)
    return {
        "modules": len(modules(root)),
        "lines": lines(root),
        "functions": len(every),
        "functions above complexity 15": sum(each.complexity > 15 for each in every),
        "functions above complexity 20": sum(each.complexity > 20 for each in every),
        "class names defined twice": len(classes_defined_twice(root)),
        "private imports across packages": len(private_imports(root)),
        "packages without __all__": len(without_all(root)),
        **{name: lines_with(root, pattern) for name, pattern in ASKED.items()},
    }


def lines_with(root: Path, pattern: str) -> int:
    """Lines of all modules in which a pattern occurs."""
    texts = (path.read_text(encoding="utf-8") for path in (root / "src" / PACKAGE).rglob("*.py"))
    return sum(bool(re.search(pattern, line)) for text in texts for line in text.splitlines())


def without_all(root: Path) -> list[str]:
    """Packages that do not say what of them is public."""
    trees = modules(root)
    return [name for name in packages(root) if "__all__" not in _assigned(trees[name])]


class Walk(NamedTuple):
    """What one command passes through."""

    functions: int
    modules: int
    packages: int
    depth: int
    calls: int
    recoveries: int


def walk(command: list[str]) -> Walk:
    """Run a command of the package that is imported, and count its calls; everything is loaded beforehand."""
    from pulens.cli import main as run

    seen: set[Any] = set()
    depth = deepest = calls = recoveries = 0

    def follow(frame: Any, event: str, _: Any) -> None:
        nonlocal depth, deepest, calls, recoveries
        code = frame.f_code
        if f"/{PACKAGE}/" not in code.co_filename or code.co_name.startswith("<"):
            return
        if event == "return":
            depth -= 1
        elif event == "call":
            depth, calls = depth + 1, calls + 1
            deepest = max(deepest, depth)
            recoveries += code.co_name in ("recover_many",) or code.co_qualname == "Recovery.of"
            seen.add((code.co_filename, code.co_qualname))

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run(command)
        sys.setprofile(follow)
        try:
            run(command)
        finally:
            sys.setprofile(None)
    files = {file for file, _ in seen}
    return Walk(len(seen), len(files), len({Path(file).parent for file in files}), deepest, calls, recoveries)


def walks() -> Iterator[tuple[str, Walk]]:
    """Commands on 3,000 rows of two models in three cells and 150 clusters."""
    import numpy as np

    rng = np.random.default_rng(0)
    cell, person = rng.choice(["n", "s", "e"], 3000), rng.integers(0, 150, 3000)
    positive = rng.random(3000) < np.select([cell == "n", cell == "s"], [0.2, 0.3], 0.4)
    label = positive & (rng.random(3000) < 0.4)
    first, second = (1 / (1 + np.exp(-rng.normal(gap * positive - 1))) for gap in (1.8, 1.4))
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/rows.csv"
        rows = zip(label * 1, first, second, cell, person, strict=True)
        lines = [",".join(map(str, row)) for row in rows]
        Path(file).write_text("\n".join(["label,a,b,cell,person", *lines]))
        one = [file, "--class-prior", "0.3", "--labelling", "random"]
        both = ["--within", "cell", "--cluster", "person"]
        models = ["--score", "a", "--score", "b", "--redraws", "300"]
        costs = ["--cost-miss", "5", "--cost-alarm", "1"]
        commands = {
            "evaluate": ["evaluate", *one, "--score", "a"],
            "evaluate --within --cluster": ["evaluate", *one, "--score", "a", *both],
            "compare": ["compare", *one, *models],
            "compare --within --cluster": ["compare", *one, *models, *both],
            "calibrate": ["calibrate", *one, "--score", "a"],
            "calibrate --within --cluster": ["calibrate", *one, "--score", "a", *both],
            "decide --within --cluster": ["decide", *one, "--score", "a", *costs, *both],
        }
        for name, command in commands.items():
            yield name, walk(command)


def main(arguments: list[str]) -> None:
    asked = [word for word in arguments if word.startswith("--")]
    roots = [Path(word) for word in arguments if not word.startswith("--")]
    roots = roots or [Path(__file__).resolve().parents[1]]
    if "--private" in asked:
        print("\n".join(sorted(map(str, private_imports(roots[0])))))
        return
    if "--complex" in asked:
        for each in functions(roots[0]):
            if each.complexity > 15:
                print(each.complexity, each.module, each.name)
        return
    if "--walks" in asked:
        print(f"{'':<30}" + "".join(f"{name:>12}" for name in Walk._fields))
        for name, result in walks():
            print(f"{name:<30}" + "".join(f"{number:>12,}" for number in result), flush=True)
        return
    columns = [figures(root) for root in roots]
    print(f"{'':<34}" + "".join(f"{root.resolve().name:>14}" for root in roots))
    for name in columns[0]:
        print(f"{name:<34}" + "".join(f"{column[name]:>14,}" for column in columns))
    for root in roots:
        for name, places in classes_defined_twice(root).items():
            print(f"{root.resolve().name}: {name} in {', '.join(places)}")


if __name__ == "__main__":
    main(sys.argv[1:])
