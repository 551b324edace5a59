"""What is tampered with: learners, archives, queues, tallies over time; made once, whole, and copied for each call."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

PLACE = "PULENS_FUZZ_ORIGINALS"  # where another process has made them already
QUEUES = ("csv", "tsv", "parquet", "xlsx")
FEATURES = ["height", "weight", "age"]
PROTOCOL = """\
name: tiny
methods: [elkan_noto]
datasets: [digits]
rows: 60
seeds: [1, 2]
scenario: case-control
conditions:
  - mechanisms: [S1]
    label_frequencies: [0.5]
validation_share: 0.25
tally_bins: 16
"""


@cache
def originals() -> Path:
    """The folder with all of them."""
    if os.environ.get(PLACE):
        return Path(os.environ[PLACE])
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="pulens-originals-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make(folder)
    return folder


def make(folder: Path) -> None:
    """Train, run and write everything; the same each time."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        _learners(folder / "learners")
        _archives(folder)
        _queues(folder / "audited")
        _windows(folder / "watched")


def _learners(folder: Path) -> None:
    """One learner of each kind, by the way in which it is kept."""
    from pulens.learners import PUET, ElkanNoto, KernelPUSB

    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [30, 70])
    rows = rng.normal(size=(100, 3)) + 3 * (np.arange(100) < 50)[:, None]
    made = {
        "trees": PUET(class_prior=0.3, n_estimators=3, max_depth=4),
        "kernel": KernelPUSB(class_prior=0.3, bandwidths=(1.0,), penalties=(0.1,), centres=20),
        "wrapper": ElkanNoto(),
    }
    if find_spec("torch"):
        from pulens.learners import NNPU

        quick = {"backbone": "linear", "epochs": 2, "standardise": True, "device": "cpu", "progress": False}
        made["network"] = NNPU(class_prior=0.3, **quick)
    for name, learner in made.items():
        learner.set_params(random_state=0, scenario="case-control").fit(rows, labels)
        if name == "network":
            learner.columns_ = FEATURES
        else:
            learner.feature_names_in_ = np.array(FEATURES, dtype=object)
        learner.save(folder / name)
    _behind_columns(folder)


def _behind_columns(folder: Path) -> None:
    """Learners behind columns of every kind: trees that take gaps, a wrapper whose columns are filled and scaled."""
    from pulens.learners import BoostedPU, ElkanNoto, save_pipeline, table_pipeline

    from hostile.rows import mixed

    table = mixed(random.Random(5), [90])
    columns = {name: [row[place] for row in table.rows] for place, name in enumerate(table.names)}
    labels = np.array(columns.pop("label"), int)
    for name in ("class", "name"):
        del columns[name]
    quick = BoostedPU(class_prior=0.5, n_estimators=2, iterations=3, random_trees=3)
    for name, learner in (("columns", quick), ("filled", ElkanNoto(random_state=0))):
        save_pipeline(table_pipeline(learner).fit(columns, labels), folder / name)


def _archives(folder: Path) -> None:
    """An archive of a tiny protocol that can be resumed, and one of invented runs of several learners."""
    sys.path.append(str(Path(__file__).parents[2]))  # beside the tests, whose invented archive this is
    from pulens.cli import main
    from synthetic_archive import LEARNERS, make

    make(
        folder / "invented",
        learners={name: LEARNERS[name] for name in ("nnpu", "vpu", "pn")},
        datasets=["spambase", "mnist"],
        seeds=(2, 25),
        rows=60,
        epochs=3,
    )
    (folder / "tiny.yaml").write_text(PROTOCOL)
    main(["bench", "run", str(folder / "tiny.yaml"), "--archive", str(folder / "tiny"), "--device", "cpu"])


def _queues(folder: Path) -> None:
    """A table, and the rows of it that people shall check, as a queue of each format with its plan beside it."""
    from hostile.rows import scored
    from hostile.tables import write
    from pulens.cli import main

    table = scored(random.Random(9), [300])
    for kind in QUEUES:
        (folder / kind).mkdir(parents=True)
        path = write(table, folder / kind / "scores.csv")
        words = ["--class-prior", "0.4", "--budget", "40", "--id", "case", "--keep", "site", "--out"]
        main(["audit", "plan", str(path), *words, str(folder / kind / f"queue.{kind}"), "-q"])
    (folder / "rows").mkdir()
    path = write(table, folder / "rows" / "scores.csv")
    main(["audit", "plan", str(path), "--class-prior", "0.4", "--out", str(folder / "rows" / "queue.csv"), "-q"])


def _windows(folder: Path) -> None:
    """Tallies of a reference and of days after it, the last of which have more positives, and the state of a watch."""
    from pulens.cli import main
    from pulens.counts.tally import Tally
    from pulens.inputs.tally_files import TallyFile, write_tally_file

    rng = np.random.default_rng(7)
    for part, days in (("reference", 8), ("days", 5)):
        (folder / part).mkdir(parents=True)
        for day in range(days):
            positive = rng.random(400) < (0.5 if part == "days" and day > 2 else 0.3)
            labels = (positive & (rng.random(400) < 0.4)).astype(int)
            scores = np.round(rng.normal(1.5 * positive), 2)
            write_tally_file(folder / part / f"{part}-{day}.tally", TallyFile.of(Tally.from_arrays(labels, scores)))
    sources = [str(folder / "reference" / "*.tally"), str(folder / "days" / "*[0-2].tally")]
    main(["watch", *sources, "--threshold", "0.5", "--class-prior", "0.3", "--state", str(folder / "calm.state"), "-q"])
    with contextlib.suppress(SystemExit):
        every = [sources[0], str(folder / "days" / "*.tally")]
        main(["watch", *every, "--threshold", "0.5", "--class-prior", "0.3", "--state", str(folder / "alarm.state")])
