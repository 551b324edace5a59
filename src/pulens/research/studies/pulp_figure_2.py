"""Figure 2 of the PULP paper: correlation and deviation of each measure over the share of positives."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.research.studies._pulp import MEASURES, SCENARIOS, Results
from pulens.research.studies._pulp import run as run_experiment
from pulens.research.studies._pulp_report import claims
from pulens.research.studies._study import Outcome, Study, Workbench, pictured


def run(bench: Workbench) -> Outcome:
    """The same experiment as Table 1, share by share; draws the figure where a folder is given."""
    results = run_experiment(bench)
    result = claims(results, np.random.default_rng(bench.seed))
    files = draw(bench.out, results)
    return Outcome(_tables(results), result, files)


def _tables(results: Results) -> tuple[str, ...]:
    """Correlations with the most labels, one table for each labelling."""
    values = results.correlation(pooled=True)[-1]
    result = []
    for place, scenario in enumerate(SCENARIOS):
        lines = [
            f"Rank correlation, {scenario}, {results.design.label_counts[-1]} labelled rows",
            f"{'share of positives':<20}" + "".join(f"{name:>9}" for name in results.measures),
        ]
        for prior, row in zip(results.design.priors, values[place], strict=True):
            lines.append(f"{prior:<20g}" + "".join(f"{value:>9.3f}" for value in row))
        result.append("\n".join(lines))
    return tuple(result)


@pictured("pulp_figure_2", 2, 3, dpi=150, figsize=(12, 7), sharex=True)
def draw(axes: Any, results: Results) -> None:
    """Two rows (correlation, deviation) by three labellings, as published; the most labels that were tried."""
    parts = (("rank correlation", results.correlation(pooled=True)[-1]), ("mean deviation", results.deviation()[-1]))
    for row, (name, values) in zip(axes, parts, strict=True):
        for ax, scenario, result in zip(row, SCENARIOS, values, strict=True):
            for place, measure in enumerate(MEASURES):
                ax.plot(results.design.priors, result[:, place], marker="o", markersize=3, label=measure)
            ax.set(title=scenario, ylabel=name)
    for ax in axes[-1]:
        ax.set_xlabel("share of positives among the unlabelled rows")
    axes[0, 0].legend(fontsize="small")


STUDY = Study("Measures without negatives as the share of positives grows", "the PULP paper, Figure 2", run)
