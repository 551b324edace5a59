"""Means, tables and counting tests of the runs of Jain et al. 2017's experiment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pulens.research.studies._recovery import BETAS, Runs
from pulens.research.studies._study import pictured
from pulens.types import Floats

COLOURS = {"PU": "#9a9a9a", "IR": "#b08a2e", "DR": "#3d8b5f", "IE": "#1f5fa8", "DE": "#7d5ba6"}


def signed(runs: Runs, method: str, *, against: str = "full") -> Floats:
    """Recovered minus true area, [rows of the table, repetitions]; ``against`` may be "own"."""
    return np.array([[run.auc[method] - getattr(run, against) for run in group] for group in runs.values()])


def signed_pr(runs: Runs, method: str, *, against: str = "pr_full") -> Floats:
    """The same for AUC-PR."""
    return np.array([[run.pr_auc[method] - getattr(run, against) for run in group] for group in runs.values()])


def mean_errors(differences: Floats) -> Floats:
    """Mean absolute difference of each row of the table."""
    return np.asarray(np.abs(differences).mean(axis=1), float)


class CountingTest(NamedTuple):
    """Wins of one method over another; ties are dealt out in turn, the first to the other method."""

    wins: int
    losses: int
    ties: int
    dealt_wins: int
    p_value: float

    def __str__(self) -> str:
        return (
            f"{self.wins} wins, {self.losses} losses, {self.ties} ties, k = {self.dealt_wins}, P = {self.p_value:.1e}"
        )


def counting_test(errors: Iterable[float], other_errors: Iterable[float]) -> CountingTest:
    """The paper's one-sided binomial test, on errors rounded to the three digits that it prints.

    >>> print(counting_test([0.1] * 28 + [0.3] + [0.2] * 7, [0.2] * 36))
    28 wins, 1 losses, 7 ties, k = 31, P = 6.5e-06
    """
    from scipy.stats import binom

    first, second = np.round(list(errors), 3), np.round(list(other_errors), 3)
    wins, losses = int((first < second).sum()), int((first > second).sum())
    ties = first.size - wins - losses
    dealt = wins + ties // 2
    return CountingTest(wins, losses, ties, dealt, float(binom.sf(dealt - 1, first.size, 0.5)))


def paired_table(title: str, runs: Runs, columns: dict[str, tuple[Floats, Floats]], alone: dict[str, Floats]) -> str:
    """Ours and the published number side by side; columns in ``alone`` have nothing published beside them."""
    lines = [
        title,
        f"{'':<17}" + "".join(f"{name:>13}" for name in columns) + "".join(f"{name:>8}" for name in alone),
        f"{'data':<10}{'beta':>6} " + f"{'ours':>7}{'paper':>6}" * len(columns) + f"{'ours':>8}" * len(alone),
    ]
    for row, (name, beta) in enumerate(runs):
        cells = [f"{ours[row]:>7.3f}{paper[row]:>6.3f}" for ours, paper in columns.values()]
        lines.append(
            f"{name:<10}{beta:>6.2f} " + "".join(cells) + "".join(f"{values[row]:>8.3f}" for values in alone.values())
        )
    means = [f"{ours.mean():>7.3f}{paper.mean():>6.3f}" for ours, paper in columns.values()]
    lines.append(f"{'mean':<17}" + "".join(means) + "".join(f"{values.mean():>8.3f}" for values in alone.values()))
    return "\n".join(lines)


def mean_of(runs: Runs, name: str) -> Floats:
    """Mean over repetitions of a field or property of the runs."""
    return np.array([np.mean([getattr(run, name) for run in group]) for group in runs.values()])


@pictured("", 1, 2, figsize=(12, 4.8))
def draw(
    axes: Any,
    differences: dict[str, Floats],
    ours: dict[str, Floats],
    paper: dict[str, Floats],
    betas: Sequence[float],
    area: str,
) -> None:
    """Recovered minus true area by method and beta, as the paper's Figure 2; and our errors against the published."""
    left, right = axes
    left.axhline(0, color="#444444", linewidth=0.8)
    width = 0.8 / len(differences)
    for place, (method, values) in enumerate(differences.items()):
        for group, beta in enumerate(BETAS):
            chosen = values[np.asarray(betas) == beta].ravel()
            boxes: Any = left.boxplot(
                chosen, positions=[group + (place - (len(differences) - 1) / 2) * width], widths=width * 0.85,
                patch_artist=True, flierprops={"markersize": 2}, medianprops={"color": "#222222"},
            )  # fmt: skip
            boxes["boxes"][0].set(facecolor=COLOURS[method], alpha=0.75)
        left.plot([], [], color=COLOURS[method], linewidth=6, alpha=0.75, label=method)
        right.plot(paper[method], ours[method], "o", markersize=4, color=COLOURS[method], alpha=0.8, label=method)
    left.set_xticks(range(len(BETAS)), [f"{beta:g}" for beta in BETAS])
    left.set(
        xlabel="share of positives among the labelled rows (beta)", ylabel=f"recovered {area} - {area} with labels"
    )
    left.set_xlim(-0.6, len(BETAS) - 0.4)
    left.legend(ncols=len(differences), fontsize=8)
    ends = [8e-4, 1.2]
    right.plot(ends, ends, color="#444444", linestyle="--", linewidth=0.8)
    right.set(xscale="log", yscale="log", xlim=ends, ylim=ends, aspect="equal")
    right.set(xlabel="published mean absolute error", ylabel="ours")
    right.set_title("below the line: smaller than published", fontsize=9)
    for ax in (left, right):
        ax.grid(alpha=0.25)
