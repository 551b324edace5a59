"""The packages, drawn from their imports: each imports only packages below it."""

import ast
import re
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
from worlds import CONTRAST, FAINT, STRONG

import pulens

PACKAGE = Path(pulens.__file__).parent
CONTRACT = Path(__file__).parents[2] / "pyproject.toml"


def levels():
    """Packages from top to bottom, those of one level together, as the contract of imports names them."""
    contracts = tomllib.loads(CONTRACT.read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["name"].startswith("Imports point one way"))
    named = [[package.strip("() ") for package in re.split(r"[|:]", layer)] for layer in layers]
    return [list(dict.fromkeys(_package(f"pulens.{package}") for package in level)) for level in named]


def _package(module):
    """The package of a module; intervals count twice, for their kernels are on a lower level."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2]) if parts[:2] == ["intervals", "kernels"] else parts[0]


def imports():
    """Pairs of packages of which the first imports the second, wherever in a file it does so."""
    known = {path.stem for path in PACKAGE.glob("*.py")} | {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    result = set()
    for path in PACKAGE.rglob("*.py"):
        importer = _package(".".join(["pulens", *path.relative_to(PACKAGE).with_suffix("").parts]))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module == "pulens":
                names = [f"pulens.{alias.name}" for alias in node.names if alias.name in known]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pulens."):
                names = [node.module]
                if node.module == "pulens.inference":
                    names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.startswith("pulens.")]
            result |= {(importer, _package(name)) for name in names}
    return {(first, second) for first, second in result if first != second and "__init__" not in (first, second)}


def draw():
    packages = [package for level in levels() for package in level]
    level_of = {package: place for place, level in enumerate(levels()) for package in level}
    place = {package: number for number, package in enumerate(packages)}
    pairs = [(place[a], place[b], level_of[a] < level_of[b]) for a, b in imports() if a in place and b in place]
    figure, ax = plt.subplots(figsize=(8.2, 8.2))
    for number in range(len(packages)):
        ax.axhline(number, color=FAINT, alpha=0.25, linewidth=0.6, zorder=0)
        ax.axvline(number, color=FAINT, alpha=0.25, linewidth=0.6, zorder=0)
    for down, colour, words in (
        (True, STRONG, "imports, downwards"),
        (False, CONTRAST, "methods that draw or write, and named exceptions"),
    ):
        chosen = [(x, y) for y, x, is_down in pairs if is_down is down]
        ax.scatter(*zip(*chosen, strict=True), s=26, color=colour, marker="o" if down else "D", label=words)
    ax.plot([0, len(packages) - 1], [0, len(packages) - 1], color=FAINT, linewidth=0.8)
    ax.set_xticks(range(len(packages)), packages, rotation=90, fontsize=8)
    ax.set_yticks(range(len(packages)), packages, fontsize=8)
    ax.xaxis.tick_top()
    ax.set_ylim(len(packages) - 0.5, -0.5)
    ax.set_xlim(-0.5, len(packages) - 0.5)
    ax.set_ylabel("this package")
    ax.set_xlabel("imports that one")
    ax.xaxis.set_label_position("top")
    ax.legend(loc="lower left", fontsize=8, frameon=True)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)
    return figure
