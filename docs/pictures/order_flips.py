"""Two models whose order by accuracy depends on the class prior."""

import matplotlib.pyplot as plt
import numpy as np

import pulens


def draw():
    labels = np.repeat([1, 0], [150, 1500])
    careful = np.repeat([1.0, 0.0, 1.0, 0.0], [60, 90, 150, 1350])
    bold = np.repeat([1.0, 0.0, 1.0, 0.0], [135, 15, 600, 900])
    models = {"careful": careful, "bold": bold}
    options = {"metrics": ["accuracy"], "threshold": 0.5, "redraws": 200}
    result = pulens.compare(labels, models, class_prior=(0.05, 0.4), **options, scenario="case-control")
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4))
    result.plot(axes)
    return figure
