"""The same data, every class prior: what moves and what does not."""

import matplotlib.pyplot as plt
import numpy as np
from worlds import CONTRAST, FAINT, INK, STRONG, THIRD, case_control

import pulens


def draw():
    labels, scores, _ = case_control()
    limit = pulens.estimate_prior(labels, scores, scenario="case-control").feasible.high
    priors = np.linspace(0.01, 0.4, 60)
    shown = {"recall": THIRD, "roc_auc": FAINT, "precision": STRONG, "f1": CONTRAST}
    values = {name: [] for name in shown}
    for prior in priors:
        result = pulens.evaluate(
            labels, scores, class_prior=prior, threshold=1.2, confidence=None, scenario="case-control"
        )
        for name in shown:
            values[name].append(result.estimates[name].value)
    figure, ax = plt.subplots(figsize=(7, 3.8))
    for name, colour in shown.items():
        ax.plot(priors, values[name], color=colour, label=name, linewidth=2)
    ax.axvspan(limit, 0.4, color=FAINT, alpha=0.18, linewidth=0)
    ax.text((limit + 0.4) / 2, 0.05, "the data\nspeak against these", ha="center", fontsize=9)
    ax.axvline(0.2, color=INK, linewidth=1, linestyle=":")
    ax.text(0.203, 0.05, "truth", fontsize=9)
    ax.set(xlabel="class prior that is supposed", ylabel="recovered value", xlim=(0, 0.4), ylim=(0, 1.02))
    ax.legend(loc="upper left", ncols=2)
    ax.grid()
    return figure
