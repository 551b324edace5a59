"""Pictures show finished results and hand back the axes they drew on."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import pulens

matplotlib.use("Agg")


@pytest.fixture
def evaluation():
    rng = np.random.default_rng(0)
    labels = (rng.random(500) < 0.2).astype(int)
    return pulens.evaluate(labels, rng.normal(labels), class_prior=0.3, labelling="random")


def test_an_evaluation_draws_both_curves_with_the_uncorrected_ones_behind(evaluation):
    left, right = evaluation.plot()
    assert left.get_xlabel() == "false positive rate"
    assert right.get_ylabel() == "precision"
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels[0].startswith("uncorrected")
    assert labels[1].startswith("recovered")
    matplotlib.pyplot.close("all")


def test_long_curves_are_thinned_but_keep_their_ends(evaluation):
    from pulens.plots.curves import MOST_POINTS

    x = np.linspace(0, 1, 50_000)
    curve = pulens.Curve("ROC", x, x.copy(), 1 - x, "false positive rate", "true positive rate")
    line = curve.plot().lines[-1]
    assert len(line.get_xdata()) <= MOST_POINTS
    assert line.get_xdata()[-1] == 1
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("name", ["RocCurveDisplay", "PrecisionRecallDisplay"])
def test_displays_follow_scikit_learn(name):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    X = rng.normal(y)[:, None]
    display = getattr(pulens.sklearn, name).from_estimator(LogisticRegression().fit(X, y), X, y, class_prior=0.3)
    assert display.figure_ is display.ax_.figure
    assert display.line_.get_label() == "LogisticRegression"
    matplotlib.pyplot.close("all")


def test_segments_and_gaps_are_drawn_with_a_mark_for_each():
    import polars

    score, label = [3, 3, 1, 3, 1, 1, 2, 1] * 20, [1, 1, 1, 0, 0, 0, 0, 0] * 20
    table = polars.DataFrame({"score": score, "label": label, "site": ["$a$", "b"] * 80})
    result = pulens.evaluate_by(table, "site", class_prior=0.5, same_prior=True, threshold=2, labelling="random")
    axes = result.plot("recall")
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        r"\$a\$",
        "b",
    ]
    left, right = result.gaps().plot()
    assert len(left.get_yticklabels()) == 2
    assert len(right.get_yticklabels()) == 1
    matplotlib.pyplot.close("all")


def test_a_watch_is_drawn_over_time_with_and_without_metrics():
    rng = np.random.default_rng(0)

    def window(share):
        positive = rng.random(300) < share
        return pulens.Tally.from_arrays((positive & (rng.random(300) < 0.4)).astype(int), rng.normal(positive * 2.0))

    reference = {f"r{place:02d}": window(0.2) for place in range(10)}
    windows = {f"$w{place}": window(0.2 if place < 3 else 0.6) for place in range(6)}
    result = pulens.watch(reference, windows, class_prior=0.2, threshold=1.0)
    positives, metrics, evidence = result.plot()
    assert sum(line.get_marker() == "o" for line in positives.lines) == 6
    assert [text.get_text() for text in metrics.get_legend().get_texts()] == ["precision", "recall", "f1"]
    assert [text.get_text() for text in evidence.get_legend().get_texts()] == ["share", "fit"]
    assert evidence.get_xticklabels()[0].get_text() == r"\$w0"
    assert len(pulens.watch(reference, windows).plot()) == 2
    with pytest.raises(ValueError, match="on 3 axes"):
        result.plot(axes=[positives])
    matplotlib.pyplot.close("all")
