"""scikit-learn's habits: scorers for model selection, displays for curves."""

from __future__ import annotations

from typing import Any

from pulens.errors import PulensError
from pulens.estimate import Curve
from pulens.evaluation.evaluate import Evaluation, evaluate
from pulens.inputs import LabelCoding
from pulens.inputs.responses import called_positive, positive_scores
from pulens.keywords import check_keywords, keywords_of
from pulens.metrics import find
from pulens.metrics.parts.function import MetricFunction
from pulens.metrics.parts.measure import check_threshold
from pulens.plots.curves import UNCORRECTED, draw_curve
from pulens.recovery import recover_at

__all__ = ["PUScorer", "PrecisionRecallDisplay", "RocCurveDisplay", "scorer"]


def __dir__() -> list[str]:
    return __all__


class PUScorer:
    """Scores a fitted estimator on PU labels; larger is better, as scikit-learn expects."""

    def __init__(self, name: str, threshold: float | None, options: dict[str, Any]) -> None:
        self.name = name
        self.metric = find(name)
        self.threshold = None if threshold is None else check_threshold(threshold)
        self.options = options
        self.coding = _coding_of(options)
        if self.metric.needs_threshold and threshold is None and "cost_ratio" not in self.metric.parameters:
            raise PulensError(
                f"{name!r} needs a threshold: rows with score >= threshold are predicted positive. "
                f"For probabilities: scorer({name!r}, threshold=0.5, ...)."
            )

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        options = self.options if sample_weight is None else {**self.options, "weights": sample_weight}
        scores, _ = positive_scores(estimator, X, self.coding)
        if self.metric.needs_threshold and self.threshold is None:
            return self._at_best(y, scores, options)
        result = MetricFunction(self.name, self.metric, withholds=False)(y, scores, threshold=self.threshold, **options)
        return result.value if self.metric.higher_is_better else -result.value

    def _at_best(self, y: Any, scores: Any, options: dict[str, Any]) -> float:
        """Worth at the threshold where these rows show most of it, and at least that of flagging no row, which is 0.

        Chosen on the rows that judge it: too high, and for all models that are compared alike.
        """
        own = {name: value for name, value in options.items() if name in self.metric.parameters}
        rest = {name: value for name, value in options.items() if name not in own}
        evaluation = evaluate(y, scores, confidence=None, **{"labelling": "random", **rest})
        best = evaluation.best_threshold(self.name, **own)
        table = recover_at(evaluation.tally, evaluation.evidence.assumptions, best)
        return max(float(self.metric.compute(table, **own)[0]), 0.0)

    # what TunedThresholdClassifierCV reads off a scorer: it hands over hard calls, one set for each threshold it tries
    @property
    def _sign(self) -> int:
        return 1 if self.metric.higher_is_better else -1

    @property
    def _kwargs(self) -> dict[str, Any]:
        return {}

    @property
    def _score_func(self) -> Any:
        return self._of_calls

    def _of_calls(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        """The metric of rows that were called positive or not."""
        if not self.metric.needs_threshold:
            raise PulensError(f"{self.name!r} reads the whole ranking: calls at one threshold do not give it.")
        options = self.options if sample_weight is None else {**self.options, "weights": sample_weight}
        calls = called_positive(y_pred, self.coding).astype(float)
        return MetricFunction(self.name, self.metric, withholds=False)(y_true, calls, threshold=0.5, **options).value

    def get_metadata_routing(self) -> Any:
        from sklearn.utils.metadata_routing import MetadataRequest

        return MetadataRequest(owner=self)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"scorer({self.name!r}, threshold={self.threshold!r}{options})"


def scorer(name: str, *, threshold: float | None = None, **options: Any) -> PUScorer:
    """A scorer for ``GridSearchCV``, ``cross_validate`` and their kin, computed from PU labels.

    ``y`` holds 1 for labelled positives and 0 for unlabelled rows; ``options`` are those of
    :func:`pulens.evaluate` (``class_prior`` above all, ``unlabelled=-1`` for labels of 1 and -1) and of the metric.
    Rows that belong together are kept so by the splitter, ``cv=GroupKFold()`` with ``groups=``.
    Net benefit without a threshold is that at the best one of each set of rows. As ``scoring`` of scikit-learn's
    ``TunedThresholdClassifierCV``, which tries thresholds itself, a scorer's own threshold is not read.

    Parameters
    ----------
    name
        A metric's name (:func:`pulens.metrics.names`).
    threshold
        Rows with ``score >= threshold`` are predicted positive; for metrics at a threshold.
    options
        As for :func:`pulens.evaluate`, ``class_prior`` above all, and settings of the metric.

    Returns
    -------
    PUScorer
        For ``scoring=`` of scikit-learn.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [2.5], [0.5]], [0, 0, 1, 1, 0, 0]
    >>> round(scorer("roc_auc", class_prior=0.4)(LogisticRegression().fit(X, y), X, y), 6)
    0.916667

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = table[["amount", "risk_v1"]], (table["outcome"] == "fraud").astype(int)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=scorer("roc_auc", class_prior=0.2), cv=3).round(2)
    array([0.7 , 0.76, 0.83])
    """
    MetricFunction(name, find(name)).check_keywords("scorer", options)
    if options.get("cluster") is not None:
        raise PulensError(
            "a scorer gives a number, and cluster= changes intervals alone. Keep rows that belong together in one fold "
            "(cv=GroupKFold() with groups=), and give cluster= where an interval is wanted: pulens.evaluate, a display."
        )
    return PUScorer(name, threshold, options)


def _coding_of(options: dict[str, Any]) -> LabelCoding:
    return LabelCoding(*(options.get(name) for name in ("positive", "negative", "unlabelled")))


class _CurveDisplay:
    """What the two displays share, after scikit-learn's ``RocCurveDisplay``."""

    def __init__(self, *, recovered: Curve, uncorrected: Curve, evaluation: Evaluation) -> None:
        self.recovered = recovered
        self.uncorrected = uncorrected
        self.evaluation = evaluation

    @staticmethod
    def _curves(evaluation: Evaluation) -> tuple[Curve, Curve]:
        raise NotImplementedError

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, ax: Any = None, **style: Any) -> Any:
        recovered, uncorrected = cls._curves(evaluation)
        return cls(recovered=recovered, uncorrected=uncorrected, evaluation=evaluation).plot(ax=ax, **style)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: Any, *, ax: Any = None, name: str | None = None, **options: Any
    ) -> Any:
        """Draw from PU labels and scores; ``options`` are those of :func:`pulens.evaluate`.

        Labels are taken for random unless ``labelling`` says otherwise.
        """
        check_keywords("from_predictions", options, keywords_of(evaluate) | {"ax", "name"})
        style = {} if name is None else {"label": name}
        return cls.from_evaluation(evaluate(y_true, y_score, **{"labelling": "random", **options}), ax=ax, **style)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Any:
        """Draw for a fitted estimator on rows with PU labels."""
        check_keywords("from_estimator", options, keywords_of(evaluate) | {"ax", "name"})
        name = options.pop("name", type(estimator).__name__)
        scores, _ = positive_scores(estimator, X, _coding_of(options))
        return cls.from_predictions(y, scores, name=name, **options)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        self.ax_ = draw_curve(self.uncorrected, ax, **{**UNCORRECTED, "label": "uncorrected"})
        draw_curve(self.recovered, self.ax_, **style)
        self.figure_ = self.ax_.figure
        self.line_ = self.ax_.lines[-1]
        self.ax_.legend()
        return self


class RocCurveDisplay(_CurveDisplay):
    """The recovered ROC curve, with the uncorrected one dashed behind it."""

    @staticmethod
    def _curves(evaluation: Evaluation) -> tuple[Curve, Curve]:
        return evaluation.roc, evaluation.uncorrected_roc


class PrecisionRecallDisplay(_CurveDisplay):
    """The recovered precision-recall curve, with the uncorrected one dashed behind it."""

    @staticmethod
    def _curves(evaluation: Evaluation) -> tuple[Curve, Curve]:
        return evaluation.precision_recall, evaluation.uncorrected_precision_recall
