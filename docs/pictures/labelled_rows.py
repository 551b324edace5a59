"""How many confirmed positives it takes: intervals against the number of labelled rows."""

import matplotlib.pyplot as plt
from worlds import CONTRAST, STRONG, THIRD, case_control

import pulens


def draw():
    sizes = [30, 60, 125, 250, 500, 1000, 2000]
    figure, ax = plt.subplots(figsize=(7, 3.6))
    widths = {name: [] for name in ("precision", "recall", "roc_auc")}
    for size in sizes:
        labels, scores, _ = case_control(labelled=size, unlabelled=10 * size)
        result = pulens.evaluate(labels, scores, class_prior=0.2, threshold=1.2, scenario="case-control")
        for name, column in widths.items():
            column.append(result.estimates[name].interval.width)
    for (name, column), colour in zip(widths.items(), (STRONG, CONTRAST, THIRD), strict=True):
        ax.plot(sizes, column, "o-", color=colour, label=name)
    ax.set(xscale="log", yscale="log", xlabel="labelled positives (ten times as many unlabelled rows)")
    ax.set_ylabel("width of the 95% interval")
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.set_yticks([0.02, 0.05, 0.1, 0.2, 0.5], ["0.02", "0.05", "0.1", "0.2", "0.5"])
    ax.minorticks_off()
    ax.legend()
    ax.grid()
    return figure
