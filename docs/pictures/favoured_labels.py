"""Labels that went to high scores three times as often: what the recovery says, what is true, what would be safe."""

import matplotlib.pyplot as plt
import numpy as np
from worlds import CONTRAST, STRONG, known

import pulens


def draw():
    rng = np.random.default_rng(2)
    positive = rng.random(60_000) < 0.2
    scores = rng.normal(1.6 * positive)
    candidates = positive & (rng.random(positive.size) < 0.5)
    chance = np.where(scores > 1.2, 0.6, 0.2)  # three times as often above 1.2
    labelled = candidates & (rng.random(positive.size) < chance)
    kept = ~candidates | labelled  # labelled rows were collected separately; the rest of the candidates is nobody's
    others = ~candidates & (positive | (rng.random(positive.size) < 0.5))  # negatives thinned to keep the class prior
    rows = (labelled | others) & kept
    labels, scores, positive = labelled[rows].astype(int), scores[rows], positive[rows]
    prior = positive[labels == 0].mean()
    result = pulens.evaluate(
        labels, scores, class_prior=float(prior), threshold=1.2, confidence=None, scenario="case-control"
    )
    truth = pulens.evaluate(
        known(labels, positive),
        scores[labels == 0],
        negative=-1,
        threshold=1.2,
        confidence=None,
        scenario="case-control",
    )
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6))
    for ax, name in zip(axes, ("precision", "roc_auc"), strict=True):
        low, high = result.sensitivity_curve(name)
        ax.fill_between(low.x, low.y, high.y, color=STRONG, alpha=0.2, linewidth=0, label="possible")
        ax.plot(low.x, low.y, color=STRONG, linewidth=1.4)
        ax.plot(high.x, high.y, color=STRONG, linewidth=2, label="recovered, random labels supposed")
        ax.axhline(truth.estimates[name].value, color=CONTRAST, linestyle=":", linewidth=1.8, label="truth")
        ax.axvline(3, color=CONTRAST, linewidth=0.8, alpha=0.6)
        ax.set(xlabel="high scores were labelled up to ... times as often", title=name, xlim=(1, 5))
        ax.grid()
    axes[0].legend(loc="lower left")
    return figure
