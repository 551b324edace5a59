"""Would the tests notice? Small faults in the statistical rooms, one at a time, and the tests that should see them.

    python benchmarks/mutants.py [--most 400] [--processes 2] [--seconds 500] [--seed 0] [--out mutants.json]

A mutant is one changed operator, comparison, constant or condition. It lives in a copy of the package whose other files
are links, and is killed when a test fails or takes very long. Mutants are drawn at random over all places, so the share
that is killed is an estimate, printed with its standard error. Survivors are listed: some change nothing that can be
seen (a limit that is never reached), the others are tests that are missing.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "pulens"
sys.path.insert(0, str(ROOT / "tests"))

from one_more_file import tree_with  # noqa: E402

#: Which tests should notice a fault in which room.
TESTS = {
    "recovery": ["tests/recovery", "tests/agreement", "tests/intervals", "tests/doors/test_impossible_labels.py"],
    "intervals": [
        "tests/intervals",
        "tests/coverage",
        "tests/recovery/test_bounds.py",
        "tests/comparison/test_compare.py",
    ],
    "priors": ["tests/priors"],
    "calibration": ["tests/calibration"],
}
FILES = {
    "recovery": "recovery/*.py",
    "intervals": "intervals/**/*.py",
    "priors": "priors/**/*.py",
    "calibration": "calibration/[m_]*.py",  # the kernels: masses, gaps, isotonic fits, likelihood, risks
}
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One fault: where, and what the file reads like with it."""

    room: str
    file: str
    line: int
    what: str
    text: str


def mutants_of(room: str, path: Path) -> list[Mutant]:
    """Every fault that one file can be given."""
    source = path.read_text(encoding="utf-8")
    spots = [node for node in ast.walk(ast.parse(source)) if _is_spot(node)]
    return [_changed(room, path, source, place) for place in range(len(spots))]


def _is_spot(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return type(node.op) in OPERATORS and not isinstance(node.left, ast.Constant | ast.JoinedStr)
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and type(node.ops[0]) in OPERATORS
    if isinstance(node, ast.BoolOp | ast.IfExp):
        return True
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _changed(room: str, path: Path, source: str, place: int) -> Mutant:
    tree = ast.parse(source)
    node = [each for each in ast.walk(tree) if _is_spot(each)][place]
    before = ast.unparse(node)
    line = node.lineno
    if isinstance(node, ast.BinOp):
        node.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.Compare):
        node.ops[0] = OPERATORS[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp):
        node.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    elif isinstance(node, ast.Constant):
        node.value = node.value + 1
    what = f"{before[:60]} -> {ast.unparse(node)[:60]}"
    return Mutant(room, path.relative_to(PACKAGE).as_posix(), line, what, ast.unparse(ast.fix_missing_locations(tree)))


def fate(mutant: Mutant, patience: float) -> str:
    """What the tests of its room make of a mutant."""
    with tempfile.TemporaryDirectory() as folder:
        tree_with(Path(folder), mutant.file, mutant.text, PACKAGE)
        places = [folder, *filter(None, [os.environ.get("PULENS_MUTANTS_PATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "PYTHONDONTWRITEBYTECODE": "1"}
        words = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", *TESTS[mutant.room]]
        try:
            told = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, timeout=patience)
        except subprocess.TimeoutExpired:
            return "killed"
    return {0: "survived", 1: "killed", 2: "killed"}.get(told.returncode, f"no answer ({told.returncode})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no mutant after so long")
    parser.add_argument("--patience", type=float, default=300, help="seconds after which a mutant counts as killed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    every = [
        mutant
        for room, files in FILES.items()
        for path in sorted(PACKAGE.glob(files))
        for mutant in mutants_of(room, path)
    ]
    chosen = random.Random(given.seed).sample(every, min(given.most, len(every)))
    until = time.monotonic() + given.seconds

    def tried(mutant: Mutant) -> str:
        return fate(mutant, given.patience) if time.monotonic() < until else "not tried"

    with ThreadPoolExecutor(given.processes) as pool:
        fates = list(pool.map(tried, chosen))
    print(f"{len(every):,} possible mutants, {len(chosen)} drawn, {len(chosen) - fates.count('not tried')} tried")
    for room in FILES:
        counted = Counter(end for mutant, end in zip(chosen, fates, strict=True) if mutant.room == room)
        seen, killed = counted["killed"] + counted["survived"], counted["killed"]
        share = killed / seen if seen else math.nan
        error = math.sqrt(share * (1 - share) / seen) if seen else math.nan
        print(f"  {room:12} {killed:4} of {seen:4} killed: {share:.1%} (standard error {error:.1%})")
    survivors = [mutant for mutant, end in zip(chosen, fates, strict=True) if end == "survived"]
    for mutant in sorted(survivors, key=lambda each: (each.file, each.line)):
        print(f"  survived {mutant.file}:{mutant.line}: {mutant.what}")
    for end, many in Counter(end for end in fates if end.startswith("no answer")).items():
        print(f"  {many} {end}")
    if given.out is not None:
        told = [{"file": each.file, "line": each.line, "what": each.what} for each in survivors]
        given.out.write_text(json.dumps({"fates": Counter(fates), "survivors": told}, indent=1))


if __name__ == "__main__":
    main()
