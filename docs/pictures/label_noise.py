"""A tenth of the labels is wrong: what ignoring it does, and what saying it does."""

import matplotlib.pyplot as plt
import numpy as np
from worlds import CONTRAST, FAINT, INK, STRONG, known

import pulens


def draw():
    rng = np.random.default_rng(1)
    noise = 0.1
    positive = np.r_[rng.random(1500) >= noise, rng.random(8000) < 0.2]
    labels, scores = np.repeat([1, 0], [1500, 8000]), rng.normal(2.2 * positive)
    ignored = pulens.evaluate(labels, scores, class_prior=0.2, confidence=None, scenario="case-control")
    said = pulens.evaluate(labels, scores, class_prior=0.2, label_noise=noise, confidence=None, scenario="case-control")
    truth = pulens.evaluate(
        known(labels, positive), scores[labels == 0], negative=-1, confidence=None, scenario="case-control"
    )
    figure, ax = plt.subplots(figsize=(4.6, 4))
    curves = (
        ("noise ignored", ignored, {"color": FAINT, "linestyle": "--", "linewidth": 1.5}),
        ("noise said", said, {"color": STRONG, "linewidth": 2}),
        ("truth", truth, {"color": CONTRAST, "linestyle": ":", "linewidth": 1.6}),
    )
    for name, result, look in curves:
        result.roc.plot(ax, label=f"{name}, AUC {result.estimates['roc_auc'].value:.3f}", **look)
    ax.plot([0, 1], [0, 1], color=INK, alpha=0.2, linewidth=1)
    ax.legend(loc="lower right")
    ax.grid()
    return figure
