"""The picture of an estimated class prior shows the value, the interval and what is feasible."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import pulens

matplotlib.use("Agg")


@pytest.mark.parametrize("method", ["auto", "tilt", "alphamax", "best_bin", "elkan_noto_e1"])
def test_every_kind_of_estimate_can_be_drawn(method):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(2, 1, 500), rng.normal(0, 1, 800)])
    prior = pulens.estimate_prior(np.repeat([1, 0], [300, 1000]), scores, method=method, scenario="case-control")
    ax = prior.plot()
    said = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    assert "feasible" in said
    assert f"{prior.unlabelled:.3f}" in said
    assert ("95% interval" in said) == (method in ("auto", "tilt"))
    plt.close(ax.figure)


def test_a_given_prior_can_be_drawn():
    import matplotlib.pyplot as plt

    ax = pulens.evaluate(
        [1, 1, 0, 0], [4, 3, 2, 1], class_prior=0.2, scenario="case-control", labelling="random"
    ).class_prior.plot()
    assert "0.200" in ax.get_legend().get_texts()[0].get_text()
    plt.close(ax.figure)
