r"""Boosted trees for tables: bags of labelled against unlabelled rows, then trees on what the bags say of each row.

Stage one tells labelled from unlabelled rows, as Mordelet and Vert (2014) do: each member sees part of the labelled
rows and a bag of unlabelled ones, and is a gradient boosting machine beside extremely randomised trees (Geurts, Ernst
and Wehenkel 2006). No class prior is needed for that, and every row has scores of members that never saw it.

Stage two learns from probabilities instead of labels. The scores of stage one become P(positive given x), by the
likelihood of the labels at the class prior; an unlabelled row of a single set is then positive with probability
:math:`w = (1-c)p/(1-cp)` (Elkan and Noto 2008, section 3), a labelled one for certain. Trees fitted to these targets
are less noisy than trees fitted to who happens to be labelled. Beside them stands a smooth regression on ranks, for
what changes along many columns at once. How much each kind of model counts is read off the likelihood of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from pulens.errors import AssumptionError, InputError
from pulens.inputs.categories import Encoding, has_categories
from pulens.inputs.dense import dense
from pulens.learning.learners.base.classifier import StoredAsArrays, check_count, flat, seed_of
from pulens.learning.learners.base.facts import Learner
from pulens.learning.learners.base.prior import resolved_prior
from pulens.learning.learners.base.row_groups import checked_groups
from pulens.learning.learners.base.tables import numbers_only
from pulens.learning.learners.forest.numeric_trees import NumericTrees, boosted_trees, forest_trees
from pulens.learning.learners.forest.random_trees import RandomTrees, random_trees
from pulens.learning.learners.parts.bags import SHARES, Size, bag_scores
from pulens.learning.learners.parts.label_weights import label_weights
from pulens.learning.learners.parts.rank_kernel import KernelRidge, RankKernel
from pulens.learning.learners.parts.soft_targets import shrunk, soft_targets
from pulens.learning.learners.parts.training_rows import Rows, TrainingRows, copies_together, without_empty_columns
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Floats

PARTS = 3  # into which rows are dealt in stage two
KERNEL_PARTS = 10  # into which they are dealt for the regression on ranks, where leaving a part out costs little


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedPU(StoredAsArrays):
    r"""Gradient boosting for tables with PU labels: no scaling, no tuning, missing values and categories as they are.

    Parameters
    ----------
    class_prior
        Share of positives in the population; a range ``(low, high)``; or ``"auto"`` or an estimator's name. Without a
        number it is estimated from scores of rows that a model had not seen, and kept inside the range; the middle of
        the range stands where rows are too few for an estimate.
    n_estimators
        Bags of stage one.
    iterations
        Trees of every boosting machine of stage one with up to 250 labelled rows, a third more in stage two; with the
        labels their number grows, as the root of the labelled rows, up to four times. From 1,000 labelled rows there
        are three times as many, with steps a third as long.
    random_trees
        Extremely randomised trees of stage two.
    centres
        Rows around which the regression on ranks has kernels; 0 leaves it out.
    scenario
        ``"single-set"``: labelled and unlabelled rows together are the sample of the population. ``"case-control"``:
        the unlabelled rows alone are.
    n_jobs
        Threads; the answer does not depend on it.
    random_state
        Same rows, settings and number, same answer.
    positive
        Label value that means labelled positive, when labels are not 1 and 0.

    ``predict_proba`` is recalibrated from the PU labels, on scores of rows that the trees had not seen.

    Attributes
    ----------
    class_prior_, calibration_, weights_, out_of_fold_scores_
        ``calibration_`` holds intercept and slope of the log-odds; ``weights_`` how much boosting, random trees and,
        where there are centres, the regression count; ``out_of_fold_scores_`` the score of each training row by models
        that were not fitted to it.

    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(1, 1, (700, 4)), rng.normal(-1, 1, (800, 4))
    >>> X, labels = np.concatenate([positive, negative]), np.repeat([1, 0], [300, 1200])
    >>> model = BoostedPU(class_prior=7 / 15, n_estimators=4).fit(X, labels)
    >>> bool(np.mean(model.predict(negative) == 0) > 0.9), bool(np.mean(model.predict(positive) == 1) > 0.9)
    (True, True)
    """

    class_prior: Any = "auto"
    n_estimators: int = 8
    iterations: int = 20
    random_trees: int = 60
    centres: int = 400
    scenario: str = DEFAULT_SCENARIO
    n_jobs: int | None = None
    random_state: Any = 0
    positive: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train on rows with PU labels: 1 labelled positive, 0 unlabelled.

        ``groups`` holds one id per row where rows belong together (visits of a patient): scores of rows that a model
        had not seen are then of models that saw no row of the same group either. In case-control rows that are the
        same in every column count as one group where nothing is said.
        """
        rows = self._table(X, reset=True)
        labelled = self._labelled(y, len(rows))
        scenario = check_scenario(self.scenario)
        for name in ("n_estimators", "iterations", "random_trees"):
            check_count(name, getattr(self, name))
        if self.centres != 0 or isinstance(self.centres, bool):
            check_count("centres (0 leaves the regression out)", self.centres)
        weights = _weights(sample_weight, rows)
        used = weights > 0
        if not labelled[used].any() or labelled[used].all():
            raise InputError("sample_weight is 0 for every row of one kind: labels of one class only are left.")
        together = None if groups is None else checked_groups(groups, len(rows))[used]
        if together is None and scenario is Scenario.CASE_CONTROL:
            together = copies_together(rows[used], labelled[used])
        known = TrainingRows(rows[used], labelled[used], weights[used], together)
        known.check_groups()
        rng = np.random.default_rng(seed_of(self.random_state))
        with threadpool_limits(1):  # members run side by side, as n_jobs says; a table of their size needs no more
            first = bag_scores(known, self.n_estimators, self.iterations, self.n_jobs, rng)
            self.class_prior_ = self._settled_prior(known, first.alike, scenario)
            targets = soft_targets(known, first, self.class_prior_, scenario)
            unseen = self._learn(known, targets, rng)
        self.weights_ = label_weights(known, unseen, self.class_prior_, scenario)
        scores = self.weights_ @ unseen
        self.calibration_ = shrunk(known, scores, self.class_prior_, scenario)
        self.out_of_fold_scores_ = np.full(len(rows), np.nan)
        self.out_of_fold_scores_[used] = scores
        return self

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of being positive."""
        check_is_fitted(self)
        rows = self._table(X, reset=False)
        boosted = (self.start_ + self.boosted_.total(rows)) / PARTS
        random = self.random_.total(rows) / self.random_.nodes.size
        intercept, slope = self.calibration_
        others = () if self.kernel_ is None else (self.kernel_(rows),)
        result: Floats = intercept + slope * (self.weights_ @ _log_odds(boosted, random, *others))
        return result

    def _learn(self, known: TrainingRows, targets: Floats, rng: np.random.Generator) -> Floats:
        """Stage two: models fitted to probabilities; gives back each one's log-odds of rows that it had not seen."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        part = known.dealt(PARTS, rng)
        size = Size.for_labels(self.iterations * 4 // 3, int(known.labelled.sum()))
        models, unseen = [], np.empty(part.size)
        for number in range(PARTS):
            inside, outside = part != number, part == number
            if not inside.any():
                inside = outside
            rows = without_empty_columns(known.rows[inside])
            model = HistGradientBoostingRegressor(
                **size.options(int(inside.sum())),
                max_features=0.3,  # of a node's columns: trees that differ more
                random_state=int(rng.integers(2**31)),
            ).fit(rows, targets[inside], **known.fit_weights(inside))
            if outside.any():
                unseen[outside] = model.predict(known.rows[outside])
            models.append(model)
        filled, stand_ins = known.filled()
        forest = self._forest(filled, targets, known.weights, self.random_trees, rng)
        self.boosted_, self.start_ = boosted_trees(models)
        self.random_ = forest_trees(forest.trees, stand_ins)
        if known.groups is None:
            apart = [unseen, forest.mean_out_of_bag(filled, float(np.average(targets, weights=known.weights)))]
        else:
            apart = [unseen, self._of_other_groups(filled, targets, known, part, rng)]
        self.kernel_ = None
        if self.centres:
            ridge = KernelRidge(known.rows, known.weights, self.centres, rng)
            kernel_apart, self.kernel_ = ridge.fitted(targets, known.dealt(KERNEL_PARTS, rng))
            apart.append(kernel_apart)
        return _log_odds(*apart)

    def _forest(
        self, rows: Rows, targets: Floats, weights: Floats, count: int, rng: np.random.Generator
    ) -> RandomTrees:
        options: dict[str, Any] = {"max_features": 0.5, "min_samples_leaf": 2, "bootstrap": True, "n_jobs": self.n_jobs}
        return random_trees(count, rows, targets, weights, int(rng.integers(2**31)), **options)

    def _of_other_groups(
        self, filled: Rows, targets: Floats, known: TrainingRows, part: NDArray[np.int64], rng: np.random.Generator
    ) -> Floats:
        """Scores by random trees that saw no row of the same group: a tree's own bag leaves rows out, not groups."""
        result = np.empty(part.size)
        for number in range(PARTS):
            inside, outside = part != number, part == number
            if not outside.any():
                continue
            if not inside.any():
                inside = outside
            fewer = max(self.random_trees // PARTS, 1)
            own = self._forest(filled[inside], targets[inside], known.weights[inside], fewer, rng)
            result[outside] = own.mean(filled[outside])
        return result

    def _settled_prior(self, known: TrainingRows, scores: Floats, scenario: Scenario) -> float:
        """The class prior: given, or estimated from the scores of stage one and kept inside a range."""
        given, inside = self.class_prior, (0.0, 1.0)
        if isinstance(given, tuple | list):
            given, inside = "auto", _checked_range(given)
        share = known.share_labelled()

        def estimate(method: str) -> float:
            from pulens.priors import estimate_prior

            try:
                value = estimate_prior(
                    known.labelled.astype(int), scores, method=method, scenario=str(scenario), **known.weighting
                ).value
            except AssumptionError:  # too few rows
                if inside == (0.0, 1.0):
                    raise
                value = sum(inside) / 2
            # beyond what is labelled already, some are left to be found
            least = share + 0.02 * (1 - share) if scenario is Scenario.SINGLE_SET else 1e-3
            return float(np.clip(np.clip(value, *inside), least, 1 - 1e-3))

        prior = resolved_prior(given, scenario, share, who=type(self).__name__, needed=True, estimate=estimate)
        assert prior is not None
        return prior

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts = {
            "class_prior_": self.class_prior_,
            "calibration_": list(self.calibration_),
            "start_": self.start_,
            "weights_": self.weights_.tolist(),
            "levels": [None if levels is None else list(levels) for levels in self.encoding_.levels],
        }
        kernel = {} if self.kernel_ is None else self.kernel_.arrays("kernel")
        return facts, self.boosted_.arrays("boosted") | self.random_.arrays("random") | kernel

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], folder: Path) -> None:
        from pulens.learning.learners.saving.checks import check_number, check_prior, damaged

        check_prior(folder, facts["class_prior_"], needed=True)
        self.class_prior_ = facts["class_prior_"]
        levels, map_ = facts["levels"], facts["calibration_"]
        if not _are_levels(levels, self.n_features_in_):
            raise damaged(folder, f"levels must be null or a list of words for each of {self.n_features_in_:,} columns")
        if not isinstance(map_, list) or len(map_) != 2:
            raise damaged(folder, "calibration_ must be two numbers, an intercept and a slope")
        self.calibration_ = (check_number(folder, "calibration_", map_[0]), check_number(folder, "slope", map_[1]))
        self.start_ = check_number(folder, "start_", facts["start_"])
        self.encoding_ = Encoding(tuple(None if one is None else tuple(one) for one in levels))
        self.boosted_, self.random_ = (
            NumericTrees.restored(name, arrays, self.encoding_.width, folder) for name in ("boosted", "random")
        )
        has_kernel = any(name.startswith("kernel_") for name in arrays)  # learners saved before there was one have none
        self.kernel_ = RankKernel.restored("kernel", arrays, self.encoding_.width, folder) if has_kernel else None
        kinds = 3 if has_kernel else 2
        weights = facts.get("weights_", [1 / kinds] * kinds)  # learners saved before there were any count all alike
        if not isinstance(weights, list) or len(weights) != kinds:
            raise damaged(folder, f"weights_ must be {kinds} numbers, one for each kind of model")
        self.weights_ = np.array([check_number(folder, "weights_", weight) for weight in weights])

    def _table(self, X: Any, *, reset: bool) -> Rows:
        """Rows as single precision numbers, nan where a value is missing."""
        if has_categories(X) or (not reset and self.encoding_.has_categories):
            with numbers_only(type(self).__name__):
                validate_data(self, X, reset=reset, skip_check_array=True)
            if reset:
                self.encoding_ = Encoding.of(X)
            numbers = self.encoding_(X)
            if np.isinf(numbers).any():
                raise InputError("Input X contains infinity: replace these values, for example by missing ones.")
        else:
            with numbers_only(type(self).__name__):
                result = validate_data(
                    self, flat(X), reset=reset, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"
                )
            numbers = dense(result, bytes_each=8)
            if reset:
                self.encoding_ = Encoding((None,) * numbers.shape[1])
        most = float(np.finfo(np.float32).max)
        rows: Rows = np.clip(numbers, -most, most).astype(np.float32)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _weights(sample_weight: Any, rows: Rows) -> Floats:
    weights: Floats = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    return weights


def _checked_range(given: Any) -> tuple[float, float]:
    numbers = [value for value in given if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(given) != 2 or len(numbers) != 2 or not 0 < numbers[0] <= numbers[1] < 1:
        raise AssumptionError(
            f"class_prior as a range must be (low, high) with 0 < low <= high < 1, got {given!r}. A single number is "
            "given without brackets."
        )
    return float(numbers[0]), float(numbers[1])


def _are_levels(given: Any, columns: int) -> bool:
    return (
        isinstance(given, list)
        and len(given) == columns
        and all(one is None or (isinstance(one, list) and all(isinstance(word, str) for word in one)) for one in given)
    )


def _log_odds(*shares: Floats) -> Floats:
    """What each kind of model says of each row, as log-odds."""
    result: Floats = logit(np.clip(np.array(shares), SHARES, 1 - SHARES))
    return result


LEARNER = Learner(BoostedPU, title="Boosted trees")
