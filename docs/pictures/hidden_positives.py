"""What counting unlabelled rows as negatives does to both curves."""

import matplotlib.pyplot as plt
from worlds import CONTRAST, case_control, known

import pulens


def draw():
    labels, scores, positive = case_control(labelled=2000, unlabelled=12000)
    result = pulens.evaluate(labels, scores, class_prior=0.2, confidence=None, scenario="case-control")
    truth = pulens.evaluate(
        known(labels, positive), scores[labels == 0], negative=-1, confidence=None, scenario="case-control"
    )
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.9))
    result.plot(axes)
    look = {"color": CONTRAST, "linewidth": 1.2, "linestyle": ":"}
    truth.roc.plot(axes[0], label=f"truth, AUC {truth.estimates['roc_auc'].value:.3f}", **look)
    truth.precision_recall.plot(axes[1], label=f"truth, AP {truth.estimates['average_precision'].value:.3f}", **look)
    axes[0].legend(loc="lower right")
    axes[1].legend(loc="lower left")
    return figure
