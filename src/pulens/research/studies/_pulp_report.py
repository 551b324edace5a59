"""Tables, published figures and claims of the study of measures; the numbers come from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.research.studies._pulp import MEASURES, SCENARIOS, Results
from pulens.research.studies._study import Claim

SOURCE = "the PULP paper, Table 1"
# Spearman's correlation between full and PU labels, mean over the class priors; then the mean absolute deviation
PUBLISHED_CORRELATION = {
    "random": (0.918, 0.903, 0.916, 0.837, 0.923, 0.870, 0.916, 0.903),
    "scenario 1": (0.806, 0.796, 0.804, 0.535, 0.806, 0.765, 0.912, 0.796),
    "scenario 2": (0.495, 0.474, 0.494, 0.422, 0.504, 0.465, 0.769, 0.474),
}
PUBLISHED_DEVIATION = {
    "random": (0.117, 0.168, 0.034, 0.055, 0.057, 0.370, 0.127, 0.148),
    "scenario 1": (0.130, 0.166, 0.123, 0.056, 0.065, 0.353, 0.132, 0.150),
    "scenario 2": (0.165, 0.160, 0.120, 0.065, 0.0814, 0.356, 0.185, 0.157),
}
PUBLISHED_SPREAD = (0.197, 0.099, 0.248, 0.061, 0.100, 0.147, 0.324, 0.143)
PULP, AUC = tuple(MEASURES).index("PULP"), tuple(MEASURES).index("AUC")


def tables(results: Results) -> tuple[str, ...]:
    """Ours for each number of labels, the published row under each of ours."""
    result = []
    sets = ", ".join(dict.fromkeys(name for name, _ in results.groups))
    pooled, within = results.correlation(pooled=True), results.correlation(pooled=False)
    for place, labels in enumerate(results.design.label_counts):
        title = f"{labels} labelled rows; {sets}; {len(results.groups)} tasks x {results.full.shape[4]} classifiers"
        result.append(_table(f"Rank correlation, pooled over tasks, {title}", pooled[place], PUBLISHED_CORRELATION))
        result.append(_table(f"Rank correlation, mean within tasks, {labels} labelled rows", within[place], None))
        result.append(
            _table(f"Mean absolute deviation, {labels} labelled rows", results.deviation()[place], PUBLISHED_DEVIATION)
        )
        result.append(_spread_table(f"Standard deviation, {labels} labelled rows", results.spread()[place]))
    return tuple(result)


def _header() -> str:
    return f"{'':<22}" + "".join(f"{name:>9}" for name in (*MEASURES, "log PULP"))


def _row(title: str, values: Any) -> str:
    return f"{title:<22}" + "".join(f"{value:>9.3f}" for value in values)


def _table(title: str, values: NDArray[Any], published: Mapping[str, tuple[float, ...]] | None) -> str:
    """Mean over the class priors: axes scenario, prior, measure."""
    lines = [title, _header()]
    for place, scenario in enumerate(SCENARIOS):
        lines.append(_row(scenario, np.nanmean(values[place], axis=0)))
        if published:
            lines.append(_row("  published", published[scenario]))
    return "\n".join(lines)


def _spread_table(title: str, values: NDArray[Any]) -> str:
    return "\n".join([title, _header(), _row("all values", values), _row("  published", PUBLISHED_SPREAD)])


def lead_of_pulp(results: Results, rng: np.random.Generator, draws: int = 2000) -> NDArray[Any]:
    """Mean lead of PULP over AUC within tasks, and its 95% interval by redrawing tasks.

    Axes: label count, scenario, then (mean, low, high).
    """
    lead = np.nanmean(results.correlation_by_group(), axis=2)  # mean over the class priors
    gaps = lead[..., PULP] - lead[..., AUC]  # label count, scenario, task
    chosen = rng.integers(0, gaps.shape[2], (draws, gaps.shape[2]))
    redrawn = gaps[:, :, chosen].mean(axis=3)
    return np.stack([gaps.mean(axis=2), *np.quantile(redrawn, [0.025, 0.975], axis=2)], axis=-1)


def _cell(pooled: NDArray[Any], lead: NDArray[Any], counts: tuple[int, ...], a: int, b: int) -> str:
    """One number of labels under one biased labelling, in words."""
    values = pooled[a, b, : len(MEASURES)]
    best = tuple(MEASURES)[int(values.argmax())]
    mean, low, high = lead[a, b]
    return (
        f"{SCENARIOS[b]} with {counts[a]} labelled: PULP {values[PULP]:.2f}, AUC {values[AUC]:.2f}, best {best} "
        f"{values.max():.2f}; within tasks PULP - AUC {mean:+.2f} [{low:+.2f}, {high:+.2f}]"
    )


def claims(results: Results, rng: np.random.Generator) -> tuple[Claim, ...]:
    """What the paper says, and what became of it here."""
    pooled = np.nanmean(results.correlation(pooled=True), axis=2)  # label count, scenario, measure
    counts = results.design.label_counts
    lead = lead_of_pulp(results, rng)
    result = []
    names = tuple(MEASURES)
    biased = pooled[:, 1:, : len(names)]
    best = biased.argmax(axis=2) == PULP
    inside = lead[:, 1:, 2] < 0
    seen = "; ".join(_cell(pooled, lead, counts, a, b) for a in range(len(counts)) for b in (1, 2))
    result.append(
        Claim(
            "PULP is affected least when the labelled positives are not a random sample",
            "reproduced" if best.all() else "differs",
            f"best in {int(best.sum())} of {best.size} cells, "
            f"clearly behind AUC within tasks in {int(inside.sum())}: {seen}",
        )
    )
    gap = pooled[:, 0, PULP] - pooled[:, 0, AUC]
    result.append(
        Claim(
            "With random labelling PULP ranks classifiers about as well as AUC (published .916 and .918)",
            "reproduced" if np.abs(gap).max() < 0.05 else "differs",
            ", ".join(f"{count} labelled: {value:+.3f}" for count, value in zip(counts, gap, strict=True)),
        )
    )
    drop = pooled[:, 0] - pooled[:, 1:].mean(axis=1)
    result.append(
        Claim(
            "All measures lose by non-random labelling",
            "reproduced" if (drop[:, : len(names)] > 0).all() else "differs",
            f"mean loss over measures {', '.join(f'{value:.2f}' for value in drop[:, : len(names)].mean(axis=1))} "
            f"at {', '.join(map(str, counts))} labelled",
        )
    )
    by_prior = results.correlation(pooled=True)[..., : len(names)]
    slope = by_prior[:, :, -1].mean(axis=(0, 1)) - by_prior[:, :, 0].mean(axis=(0, 1))
    low, high = results.design.priors[0], results.design.priors[-1]
    result.append(
        Claim(
            "All measures lose accuracy as the share of positives among the unlabelled rows grows",
            "reproduced" if (slope < 0).all() else "differs",
            f"change of the correlation from {low:g} to {high:g}: "
            + ", ".join(f"{name} {value:+.2f}" for name, value in zip(names, slope, strict=True)),
        )
    )
    below = np.array(results.design.priors) < 0.5
    least = by_prior[:, :, below, PULP].min()
    result.append(
        Claim(
            "PULP's rank correlation is above .90 for every share below .5, whatever the labelling",
            "reproduced" if least > 0.9 else "differs",
            f"the lowest here is {least:.2f}",
        )
    )
    same = np.nanmax(np.abs(by_prior[..., names.index("F1")] - by_prior[..., names.index("PseudoF")]))
    result.append(
        Claim(
            "F1 and Pseudo-F rank classifiers alike (the published rows are equal)",
            "reproduced" if same < 0.02 else "differs",
            f"largest difference {same:.3f}: with the labelled share for prior one is a multiple of the other",
        )
    )
    return tuple(result)
