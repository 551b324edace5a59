"""PUSB with kernels: a convex ranking for labels that favour obvious positives, and a cut at the prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from pulens.errors import AssumptionError, shown
from pulens.inputs.dense import dense
from pulens.learning.learners.base.classifier import (
    StoredAsArrays,
    check_count,
    check_word,
    dealt_folds,
    flat,
    refuse_options,
    seed_of,
)
from pulens.learning.learners.base.cuts import break_even_threshold, cut_below
from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.proxies import proxy_auc
from pulens.learning.learners.base.tables import numbers_only
from pulens.learning.learners.parts.kernel_features import directions, gaussian_features, squared_distances
from pulens.learning.learners.parts.penalised_ranking import RANKINGS, RankedRows
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Booleans, Floats

BANDWIDTHS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
PENALTIES = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
KERNELS = ("gaussian", "linear")
CRITERIA = ("risk", "penalised-risk", "proxy-auc")
ROUGH = 1e-4  # of the gradient: enough to compare settings, not for the answer
TIED = 1e-9  # risks that differ by less are equal


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPUSB(StoredAsArrays):
    r"""PUSB with a kernel and no network (Kato, Teshima and Honda, ICLR 2019).

    If positives that look positive are labelled more often, the density ratio :math:`p(x \mid s=1)/p(x)` still ranks
    rows as the chance of being positive does. A score linear in :math:`e^{-\lVert x - c_j \rVert^2 / 2\sigma^2}` is
    fitted to it, and cut where the share of the population that is called positive equals the class prior: there
    precision equals recall. Bandwidth and penalty are chosen together by cross-validation on PU rows.

    Parameters
    ----------
    class_prior
        Share of positives in the population, or ``"auto"`` to estimate it; the estimate takes labels to be
        completely at random, so give the share if you can.
    ranking
        ``"logistic"``: minimise :math:`-\pi \bar f_P + \overline{\log(1 + e^f)}_U + \lambda \lVert b \rVert^2`.
        ``"density-ratio"``: uLSIF in closed form, the paper's other score; quicker.
    kernel
        ``"gaussian"``, or ``"linear"``: the features themselves, without centres or bandwidths.
    centres
        Number of training rows that serve as :math:`c_j`, drawn at random.
    bandwidths, penalties
        Values of :math:`\sigma` and :math:`\lambda` to choose from; one of each leaves nothing to choose.
    folds
        Parts of the cross-validation; fewer where there are fewer labelled rows.
    criterion
        ``"proxy-auc"``: chance that a held-out labelled row outscores one of the population, all folds thrown together,
        which the density ratio makes largest whatever its scale. ``"risk"``: held-out risk, as in the paper;
        ``"penalised-risk"`` adds the penalty, as the published program does. A risk depends on the scale of the score,
        and nothing that is done with the score does: on wide tables with few labelled rows the least risk went to
        settings that say next to nothing, and ranked rows at random.
    standardise
        Scale features to mean 0 and deviation 1 first. The bandwidths suppose features of about that size.
    scenario
        ``"case-control"``: unlabelled rows are the sample of the population. ``"single-set"``: labelled and
        unlabelled rows together are.
    random_state
        Same rows, settings and number, same answer.
    positive
        Label value that means labelled positive, when labels are not 1 and 0.

    Attributes
    ----------
    bandwidth_, penalty_, class_prior_, cut_, centres_, coefficients_
        What was chosen and found (a linear kernel has no bandwidth); the constant's coefficient is the last.
    held_out_risk_
        Mean risk over folds, or one minus the proxy AUC if that decides, bandwidths x penalties; nan where nothing
        was to be chosen.

    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(1, 1, (700, 4)), rng.normal(-1, 1, (800, 4))
    >>> X, labels = np.concatenate([positive, negative]), np.repeat([1, 0], [300, 1200])  # 400 of 1200 are positive
    >>> model = KernelPUSB(class_prior=7 / 15, bandwidths=(1.0, 2.0), centres=50, random_state=0).fit(X, labels)
    >>> float(model.predict(X[labels == 0]).mean().round(2))
    0.34
    >>> bool(np.mean(model.predict(negative) == 0) > 0.9)
    True
    """

    class_prior: float | str = "auto"
    ranking: str = "logistic"
    kernel: str = "gaussian"
    centres: int = 300
    bandwidths: tuple[float, ...] = BANDWIDTHS
    penalties: tuple[float, ...] = PENALTIES
    folds: int = 5
    criterion: str = "proxy-auc"
    standardise: bool = True
    scenario: str = DEFAULT_SCENARIO
    random_state: Any = None
    positive: Any = None

    def fit(self, X: Any, y: Any, **refused: Any) -> Self:
        """Choose bandwidth and penalty, then fit on all rows; labels are 1 labelled positive, 0 unlabelled."""
        refuse_options(type(self).__name__, refused)
        table = self._table(X, reset=True)
        labelled = self._labelled(y, len(table))
        pooled = check_scenario(self.scenario) is Scenario.SINGLE_SET
        check_word("criterion", self.criterion, CRITERIA)
        check_word("kernel", self.kernel, KERNELS)
        fit, _ = RANKINGS[check_word("ranking", self.ranking, tuple(RANKINGS))]
        bandwidths, penalties = (check_positive(name, getattr(self, name)) for name in ("bandwidths", "penalties"))
        count = min(check_count("centres", self.centres), len(table))
        prior = self._resolved_prior(table, labelled, needed=True)
        assert prior is not None
        self.class_prior_ = prior
        population = np.ones(len(table), bool) if pooled else ~labelled
        deviation = table.std(0) if self.standardise else np.ones(table.shape[1])
        self.mean_ = table.mean(0) if self.standardise else np.zeros(table.shape[1])
        self.deviation_ = np.where(deviation > 0, deviation, 1.0)
        rng = np.random.default_rng(seed_of(self.random_state))
        table = (table - self.mean_) / self.deviation_
        self.centres_ = table[np.sort(rng.permutation(len(table))[:count])]
        lifted = self._lifted(table)
        if self.kernel == "linear":
            bandwidths = bandwidths[:1]  # which it does not read
        self.held_out_risk_ = np.full((len(bandwidths), len(penalties)), np.nan)
        if self.held_out_risk_.size > 1:
            fold = self._assigned(labelled, rng)
            for place, bandwidth in enumerate(bandwidths):
                features = lifted(bandwidth)
                turned = features @ directions(features)
                self.held_out_risk_[place] = self._held_out(turned, labelled, population, fold, penalties)
        best = _first_lowest(self.held_out_risk_) if self.held_out_risk_.size > 1 else 0
        row, column = np.unravel_index(best, self.held_out_risk_.shape)
        self.bandwidth_ = None if self.kernel == "linear" else float(bandwidths[row])
        self.penalty_ = float(penalties[column])
        features = lifted(self.bandwidth_)
        axes = directions(features)
        result = fit(self._rows(features @ axes, labelled, population), [self.penalty_])
        self.coefficients_ = axes @ result[:, 0]
        scores = features[population] @ self.coefficients_
        self.cut_ = cut_below(scores, break_even_threshold(scores, prior))
        return self

    def score_samples(self, X: Any) -> Floats:
        """The score itself: log-odds of the pseudo-posterior, or the density ratio."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):  # beyond the largest number the score itself tells
            features = self._lifted((table - self.mean_) / self.deviation_)(self.bandwidth_)
            result: Floats = features @ self.coefficients_
        return result

    def decision_function(self, X: Any) -> Floats:
        """How far the score lies beyond the cut: positive above 0."""
        return self.score_samples(X) - self.cut_

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts = {name: getattr(self, name) for name in ("class_prior_", "bandwidth_", "penalty_", "cut_")}
        arrays = ("mean_", "deviation_", "centres_", "coefficients_", "held_out_risk_")
        return facts, {name: getattr(self, name) for name in arrays}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], folder: Path) -> None:
        from pulens.learning.learners.saving.checks import check_array, check_number, check_prior, damaged

        try:
            check_word("kernel", self.kernel, KERNELS)
            check_word("ranking", self.ranking, tuple(RANKINGS))
            check_word("criterion", self.criterion, CRITERIA)
        except AssumptionError as error:
            raise damaged(folder, str(error)) from error
        linear, width = self.kernel == "linear", self.n_features_in_
        check_prior(folder, facts["class_prior_"], needed=True)
        for name in ("penalty_", "cut_") if linear else ("penalty_", "cut_", "bandwidth_"):
            check_number(folder, name, facts[name], **({} if name == "cut_" else {"above": 0}))
        for name in ("mean_", "deviation_"):
            check_array(folder, name, arrays[name], (width,))
        if (arrays["deviation_"] <= 0).any():
            raise damaged(folder, "deviation_ must hold numbers above 0")
        centres = check_array(folder, "centres_", arrays["centres_"], (None, width))
        check_array(folder, "coefficients_", arrays["coefficients_"], ((width if linear else len(centres)) + 1,))
        check_array(folder, "held_out_risk_", arrays["held_out_risk_"], (None, None), finite=False)
        stored = ("mean_", "deviation_", "centres_", "coefficients_", "held_out_risk_")
        result = {name: facts[name] for name in ("class_prior_", "bandwidth_", "penalty_", "cut_")}
        for name, value in (result | {name: arrays[name] for name in stored}).items():
            setattr(self, name, value)

    def _lifted(self, table: Floats) -> Callable[[Any], Floats]:
        """Features as a function of the bandwidth; distances are computed once."""
        if self.kernel == "linear":
            features = np.column_stack([table, np.ones(len(table))])
            return lambda bandwidth: features
        distances = squared_distances(table, self.centres_)
        return lambda bandwidth: gaussian_features(distances, bandwidth)

    def _table(self, X: Any, *, reset: bool) -> Floats:
        with numbers_only(type(self).__name__):
            result = validate_data(self, flat(X), dtype=np.float64, accept_sparse="csr", reset=reset)
        table: Floats = np.ascontiguousarray(dense(result, bytes_each=8))  # sums round by the order in memory
        return table

    def _rows(self, features: Floats, labelled: Booleans, population: Booleans) -> RankedRows:
        return RankedRows(features[population], features[labelled].mean(0), self.class_prior_)

    def _held_out(
        self, features: Floats, labelled: Booleans, population: Booleans, fold: NDArray[np.int64], penalties: Any
    ) -> Floats:
        """The criterion on rows that were left out, for every penalty."""
        fit, risk = RANKINGS[self.ranking]
        total, scores = np.zeros(len(penalties)), np.empty((len(features), len(penalties)))
        for number in range(fold.max() + 1):
            inside, outside = fold != number, fold == number
            result = fit(self._rows(features, labelled & inside, population & inside), penalties, ROUGH)
            if self.criterion == "proxy-auc":
                scores[outside] = features[outside] @ result
                continue
            total += risk(self._rows(features, labelled & outside, population & outside), result)
            if self.criterion == "penalised-risk":
                total += penalties * (result**2).sum(0)
        if self.criterion == "proxy-auc":  # of a fold's few labelled rows alone it would be mostly chance
            return np.array([1 - proxy_auc(column[labelled], column[population]) for column in scores.T])
        mean: Floats = total / (fold.max() + 1)
        return mean

    def _assigned(self, labelled: Booleans, rng: np.random.Generator) -> NDArray[np.int64]:
        """A fold for every row, labelled and unlabelled rows shared out evenly."""
        fewest = int(min(labelled.sum(), (~labelled).sum()))
        if fewest < 2:
            raise AssumptionError(
                f"cross-validation needs at least 2 labelled and 2 unlabelled rows, got {labelled.sum():,} and "
                f"{(~labelled).sum():,} (n_samples = {labelled.size}). Give one bandwidth and one penalty instead."
            )
        folds = min(check_count("folds", self.folds), fewest)
        if folds < 2:
            raise AssumptionError("folds must be at least 2 where several bandwidths or penalties are given, got 1.")
        return dealt_folds(labelled, folds, rng)


def _first_lowest(risks: Floats) -> int:
    """The place of the lowest risk; of several that differ by rounding alone, the first.

    >>> _first_lowest(np.array([2.0, 1.0 + 1e-15, 1.0]))
    1
    """
    lowest = float(np.nanmin(risks))
    return int(np.argmax((risks <= lowest + TIED * max(1.0, abs(lowest))).ravel()))


def check_positive(name: str, values: Any) -> Floats:
    """At least one number, all above zero."""
    try:
        result = np.atleast_1d(np.asarray(values, np.float64))
    except (TypeError, ValueError, OverflowError):
        result = np.empty(0)
    if result.ndim != 1 or result.size == 0 or not (np.isfinite(result) & (result > 0)).all():
        raise AssumptionError(f"{name} must be one or more numbers above 0, got {shown(values)}.")
    return result


LEARNER = Learner(KernelPUSB, title="PUSB (kernel)", family=RISK)
