"""An estimated class prior: its posterior, its interval, and what the data cannot exclude."""

import matplotlib.pyplot as plt
from worlds import INK, case_control

import pulens


def draw():
    labels, scores, positive = case_control()
    prior = pulens.estimate_prior(labels, scores, scenario="case-control")
    figure, ax = plt.subplots(figsize=(7, 3.6))
    prior.plot(ax)
    truth = positive[labels == 0].mean()
    ax.axvline(truth, color=INK, linestyle=":", linewidth=1.4, label=f"truth {truth:.3f}")
    ax.set_xlim(0, 0.6)
    ax.legend(loc="upper right")
    return figure
