"""The main job on data that everybody has: train on PU labels, evaluate from them, compare with the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.evaluation.evaluate import Evaluation, evaluate
from pulens.metrics import METRICS


@dataclass(frozen=True, slots=True)
class Demo:
    """What PU labels alone say, and what is true."""

    labels: Any
    scores: Any
    is_positive: Any
    evaluation: Evaluation
    truth: dict[str, float]

    @property
    def table(self) -> str:
        """The rows as a CSV file: what a person has who wants to know how good the scores are."""
        pairs = zip(self.scores.tolist(), self.labels.tolist(), strict=True)
        lines = [f"{place},{score!r},{label}" for place, (score, label) in enumerate(pairs, 1)]
        return "\n".join(["image,score,label", *lines, ""])


def run_demo(seed: int = 0, labelled_share: float = 0.5) -> Demo:
    """Hide most labels of scikit-learn's handwritten digits (5 to 9 are positive), train on what is left, evaluate.

    >>> demo = run_demo()
    >>> recovered, uncorrected = demo.evaluation.estimates["roc_auc"], demo.evaluation.uncorrected["roc_auc"]
    >>> abs(recovered.value - demo.truth["roc_auc"]) < abs(uncorrected.value - demo.truth["roc_auc"])
    True
    """
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(seed)
    X, digit = load_digits(return_X_y=True)
    is_positive = digit >= 5
    labels = (is_positive & (rng.random(digit.size) < labelled_share)).astype(int)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    # out-of-fold scores: a model judged on the rows it was trained on flatters itself
    scores = cross_val_predict(model, X, labels, cv=5, method="decision_function")
    # labels were drawn at random here, and the demo says so
    options: dict[str, Any] = {
        "class_prior": float(is_positive.mean()),
        "scenario": "single-set",
        "labelling": "random",
    }
    evaluation = evaluate(labels, scores, **options)
    known = evaluate(
        np.where(is_positive, 1, -1), scores, negative=-1, threshold=evaluation.threshold, scenario="single-set"
    )
    shown = ("roc_auc", "average_precision", "recall", "precision", "f1", "accuracy", "matthews_correlation")
    truth = {name: known.estimates[name].value for name in shown if name in METRICS}
    return Demo(labels, scores, is_positive, evaluation, truth)
