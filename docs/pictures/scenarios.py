"""Where rows come from in the two scenarios: counts of positives and negatives behind the labels."""

import matplotlib.pyplot as plt
import numpy as np
from worlds import CONTRAST, STRONG

import pulens


def draw():
    rng = np.random.default_rng(0)
    truth = rng.random(4000) < 0.3
    rows = np.arange(truth.size, dtype=float)[:, None]
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.3), sharey=True)
    for ax, scenario in zip(axes, ("case-control", "single-set"), strict=True):
        made = pulens.synthesise(rows, truth, label_frequency=0.5, scenario=scenario, test_share=0, seed=0)
        labels, classes = made.train.labels, np.asarray(made.truth.train) > 0
        counts = {
            name: [int((classes & group).sum()), int((~classes & group).sum())]
            for name, group in (("labelled", labels == 1), ("unlabelled", labels == 0))
        }
        for place, (positives, negatives) in enumerate(counts.values()):
            ax.bar(place, positives, 0.6, color=STRONG, label="positive" if place == 0 else None)
            ax.bar(
                place, negatives, 0.6, bottom=positives, color=CONTRAST, alpha=0.45, label="negative" if place else None
            )
            share = positives / (positives + negatives)
            ax.text(place, positives + negatives + 60, f"{share:.0%} positive", ha="center", fontsize=9)
        ax.set_xticks(range(2), list(counts))
        ax.set_title(scenario)
        ax.set_ylim(0, 4100)
    axes[0].set_ylabel("rows")
    axes[0].legend(loc="upper left")
    return figure
