"""A reliability diagram before and after recalibration, from PU labels."""

import matplotlib.pyplot as plt
import numpy as np
from worlds import CONTRAST, STRONG

from pulens import calibration
from pulens.testing import logistic_world


def draw():
    few, many, _ = logistic_world(-0.5, 1.5, class_prior=0.3).draw(1000, 10_000, np.random.default_rng(0))
    labels, scores = np.repeat([1, 0], [1000, 10_000]), np.concatenate([few, many])
    repaired = calibration.recalibrate(labels, scores, class_prior=0.3, scenario="case-control")
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4), sharey=True)
    pairs = ((axes[0], "as trained", scores, CONTRAST), (axes[1], f"after {repaired.method}", repaired(scores), STRONG))
    for ax, title, these, colour in pairs:
        calibration.reliability(labels, these, class_prior=0.3, bins=12, scenario="case-control").plot(ax, color=colour)
        ax.set_title(title)
    return figure
