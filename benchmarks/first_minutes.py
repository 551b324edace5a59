"""What the first minutes cost: sizes, starts, one evaluation, the demo from a fresh clone; each beside its limit.

    python benchmarks/first_minutes.py [--quick]

A wheel of this checkout is installed in an empty environment (``PIP_CONSTRAINT`` is obeyed), and everything is run from
there. Of several runs the best counts, in processor seconds: on a busy machine the wall clock tells of its neighbours.
``--quick`` leaves out what installs from the package index, and measures this environment.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ROWS = 100_000
MB = 1e6


def run(words, **options):
    """Processor and wall seconds of a command that must not fail."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{words}\n{done.stdout}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def best(words, times, **options):
    run(words, **options)  # byte code is written, files come into the cache
    result = [run(words, **options) for _ in range(times)]
    return min(result)


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / MB


def write_table(path):
    rng = np.random.default_rng(0)
    positive = rng.random(ROWS) < 0.15
    scores = 1 / (1 + np.exp(-rng.normal(2.0 * positive - 1.5)))
    labels = positive & (rng.random(ROWS) < 0.4)
    rows = (f"{score:.6f},{label:d}" for score, label in zip(scores, labels, strict=True))
    path.write_text("\n".join(["score,label", *rows]) + "\n")


def line(what, value, limit, unit, wall=None):
    shown = f"{value:8.3f} {unit}" if unit == "s" else f"{value:8.1f} {unit}"
    beside = "" if wall is None else f"   ({wall:.2f} s on the clock)"
    verdict = "" if limit is None else f"   {'within' if value < limit else 'ABOVE'} {limit:g} {unit}"
    print(f"{what:44}{shown:>14}{verdict}{beside}", flush=True)


def install(place):
    """A clean environment with the wheel in it; its Python."""
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place / "dist", ROOT])
    (wheel,) = (place / "dist").glob("*.whl")
    line("wheel", wheel.stat().st_size / MB, None, "MB")
    run([sys.executable, "-m", "venv", place / "venv"])
    python = place / "venv" / "bin" / "python"
    (packages,) = (place / "venv" / "lib").glob("python*/site-packages")
    empty = size_of(packages)
    run([python, "-m", "pip", "download", "--quiet", "--dest", place / "wheels", wheel])
    line("light install, what is downloaded", size_of(place / "wheels"), 150, "MB")
    run([python, "-m", "pip", "install", "--quiet", "--no-compile", wheel])
    line("light install, on disk", size_of(packages) - empty, 150, "MB")
    line("  of that pulens itself", size_of(packages / "pulens"), None, "MB")
    heavy = [path for name in ("numpy", "scipy", "sklearn") for path in packages.glob(f"{name}*") if path.is_dir()]
    line("  of that numpy, scipy and scikit-learn", sum(map(size_of, heavy)), None, "MB")
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        python = Path(sys.executable) if asked.quick else install(place)
        if not asked.quick:
            environment.pop("PYTHONPATH", None)
        given = {"env": environment, "cwd": place}
        line("python -c pass", *arranged(best([python, "-c", "pass"], 10, **given), None))
        line("import pulens", *arranged(best([python, "-c", "import pulens"], 10, **given), 0.15))
        line("pulens --help", *arranged(best([python, "-m", "pulens", "--help"], 10, **given), 0.2))
        write_table(place / "scores.csv")
        words = [python, "-m", "pulens", "evaluate", "--labelling", "random", "scores.csv"]
        known = [*words, "--class-prior", "0.15"]
        line(f"pulens evaluate, {ROWS:,} rows, prior given", *arranged(best(known, 3, **given), 2))
        line(f"pulens evaluate, {ROWS:,} rows, estimated", *arranged(best(words, 3, **given), 2))
        page = [*known, "--html", "report.html"]
        line("the same with --html", *arranged(best(page, 3, **given), 2))
        line("its page", (place / "report.html").stat().st_size / MB, None, "MB")
        if not asked.quick:
            run(["git", "clone", "--quiet", ROOT, place / "clone"])
            fresh = {**environment, "PIP_NO_CACHE_DIR": "1"}
            line("make demo in a fresh clone", *arranged(run(["make", "demo"], cwd=place / "clone", env=fresh), 60))


def arranged(seconds, limit):
    processor, wall = seconds
    return processor, limit, "s", wall


if __name__ == "__main__":
    main()
