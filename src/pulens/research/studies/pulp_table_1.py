"""Table 1 of the PULP paper: which measure on PU labels ranks classifiers as full labels would."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pulens.atomic_write import write_whole
from pulens.research.studies._pulp import run as run_experiment
from pulens.research.studies._pulp_report import SOURCE, claims, tables
from pulens.research.studies._study import Outcome, Study, Workbench


def run(bench: Workbench) -> Outcome:
    """The experiment on scikit-learn's digits, and on the paper's own data where ``PULENS_MIRROR`` has them."""
    results = run_experiment(bench)
    shown, result = tables(results), claims(results, np.random.default_rng(bench.seed))
    files: tuple[Path, ...] = ()
    if bench.out is not None:
        path = bench.out / "pulp_table_1.txt"
        write_whole(path, "\n\n".join([*shown, *map(str, result)]))
        files = (path,)
    return Outcome(shown, result, files)


STUDY = Study("Measures without negatives under random and biased labelling", SOURCE, run)
