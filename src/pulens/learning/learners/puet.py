"""PU extra trees: random trees whose splits lower the uPU or nnPU risk."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import ceil, sqrt
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from pulens.errors import AssumptionError
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
from pulens.learning.learners.base.facts import RISK, Learner
from pulens.learning.learners.base.tables import numbers_only
from pulens.learning.learners.forest.growth import Tree, check_forest, grow
from pulens.learning.learners.forest.impurity import LOSSES, RISKS, TOLERANCE, NodeRisk
from pulens.learning.learners.forest.node_search import ELEMENTS, Growth, NodeSearch
from pulens.scalars import is_among
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Booleans, Floats

CUTS = ("share", "vote")
FOLDS = 3


@dataclass(kw_only=True, eq=False, repr=False)
class PUET(StoredAsArrays):
    r"""PU extra trees (Wilton, Koay, Ko, Xu and Ye, NeurIPS 2022).

    A tree is grown greedily: each leaf takes the constant prediction of lowest PU risk, and each split is the one,
    among a few random cuts of random features, that lowers the summed risk of the leaves most. No bootstrap: every
    tree sees all rows. The paper predicts by majority vote, a tie being negative; leaves of few rows then call too few
    rows positive, so the cut is put where the right share of rows lies above, unless ``cut="vote"``.

    Parameters
    ----------
    class_prior
        Share of positives in the population, or ``"auto"`` to estimate it from the rows.
    n_estimators
        Number of trees.
    risk
        ``"nnpu"`` (non-negative in each node) or ``"upu"`` (unbiased).
    loss
        ``"quadratic"`` (a Gini impurity), ``"logistic"`` (an entropy) or ``"savage"`` (equal to quadratic for nnPU).
    max_depth, min_samples_leaf, strict_leaves
        When nodes stop. Fully grown trees over-fit overlapping classes in few dimensions. ``strict_leaves=False``
        tests ``min_samples_leaf`` on the parent only, as the published program does: children may be smaller.
    max_features
        Features tried in each node: ``"sqrt"`` (rounded up), a number, or ``None`` for all of them.
    max_candidates
        Cut points tried for each of these features.
    voting
        ``"majority"``: a row's score is the share of trees that vote positive. ``"mean"``: it is the mean over trees of
        the leaf's estimated posterior.
    cut
        ``"share"``: the share of rows above it is the class prior, by scores of smaller forests that were grown without
        the row, a third of the rows at a time. ``"vote"``: one half. ``predict_proba`` is one half at the cut.
    scenario
        ``"case-control"``: unlabelled rows are the sample of the population. ``"single-set"``: labelled and
        unlabelled rows together are.
    n_jobs
        Threads; -1 for all cores. Trees do not depend on it.
    random_state
        Same rows, settings and number, same trees.
    positive
        Label value that means labelled positive, when labels are not 1 and 0.

    Attributes
    ----------
    trees_, class_prior_, feature_importances_
        ``feature_importances_`` is the mean over trees of the risk that splits on a feature took away; not
        normalised.

    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(1, 1, (700, 4)), rng.normal(-1, 1, (800, 4))
    >>> X, labels = np.concatenate([positive, negative]), np.repeat([1, 0], [300, 1200])  # 400 of 1200 are positive
    >>> forest = PUET(class_prior=7 / 15, max_depth=6, random_state=0).fit(X, labels)
    >>> bool(np.mean(forest.predict(negative) == 0) > 0.9)
    True
    """

    class_prior: float | str = "auto"
    n_estimators: int = 100
    risk: str = "nnpu"
    loss: str = "quadratic"
    max_depth: int | None = None
    min_samples_leaf: int = 1
    strict_leaves: bool = True
    max_features: int | str | None = "sqrt"
    max_candidates: int = 1
    voting: str = "majority"
    cut: str = "share"
    scenario: str = DEFAULT_SCENARIO
    n_jobs: int | None = None
    random_state: Any = None
    positive: Any = None

    def fit(self, X: Any, y: Any, **refused: Any) -> Self:
        """Grow the forest from rows with PU labels: 1 labelled positive, 0 unlabelled."""
        refuse_options(type(self).__name__, refused)
        table = self._table(X, reset=True)
        labelled = self._labelled(y, len(table))
        scenario = check_scenario(self.scenario)
        growth = self._growth(table.shape[1])
        check_word("voting", self.voting, ("majority", "mean"))
        check_word("cut", self.cut, CUTS)
        prior = self._resolved_prior(table, labelled, needed=True)
        assert prior is not None
        self.class_prior_ = prior
        pooled = scenario is Scenario.SINGLE_SET
        self.risk_ = self._node_risk(labelled, pooled)
        rng = np.random.default_rng(seed_of(self.random_state))
        self.trees_: list[Tree] = self._grown(table, labelled, pooled, growth, rng, self.n_estimators)
        self.cut_ = 0.5 if self.cut == "vote" else self._share_cut(table, labelled, pooled, growth, rng)
        return self

    def _node_risk(self, labelled: Booleans, pooled: bool) -> NodeRisk:
        n_labelled = int(labelled.sum())
        return NodeRisk(
            n_labelled,
            labelled.size if pooled else labelled.size - n_labelled,
            self.class_prior_,
            check_word("risk", self.risk, RISKS),
            check_word("loss", self.loss, LOSSES),
        )

    def _grown(
        self, table: Any, labelled: Booleans, pooled: bool, growth: Growth, rng: np.random.Generator, trees: int
    ) -> list[Tree]:
        search = NodeSearch(table, labelled, pooled, self._node_risk(labelled, pooled), growth)
        keys = rng.integers(2**64, size=trees, dtype=np.uint64)
        batches = np.array_split(keys, self._batches(table.shape[0] * growth.max_features, trees))
        # array operations release the interpreter's lock, and threads share the table
        grown = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(grow)(search, batch) for batch in batches)
        return [tree for batch in grown for tree in batch]

    def _share_cut(
        self, table: Any, labelled: Booleans, pooled: bool, growth: Growth, rng: np.random.Generator
    ) -> float:
        """Where the class prior's share of the population scores above, each row by trees that did not see it."""
        if min(labelled.sum(), (~labelled).sum()) < FOLDS:
            return 0.5
        fold, scores = dealt_folds(labelled, FOLDS, rng), np.empty(labelled.size)
        trees = ceil(self.n_estimators / FOLDS)
        for number in range(FOLDS):
            inside, outside = fold != number, fold == number
            small = clone(self)
            small.class_prior_ = self.class_prior_
            small.risk_ = small._node_risk(labelled[inside], pooled)
            small.trees_ = small._grown(table[inside], labelled[inside], pooled, growth, rng, trees)
            votes, posterior = small._sums(table[outside])
            scores[outside] = votes if self.voting == "majority" else posterior
        population = scores if pooled else scores[~labelled]
        return float(np.clip(np.quantile(population, 1 - self.class_prior_), 0.01, 0.99))

    def decision_function(self, X: Any) -> Floats:
        """The score less the cut: positive above 0."""
        votes, posterior = self._read(X)
        return (votes if self.voting == "majority" else posterior) - self.cut_

    def _posterior(self, X: Any) -> Floats:
        beyond = self.decision_function(X)
        return 0.5 + 0.5 * beyond / np.where(beyond > 0, 1 - self.cut_, self.cut_)

    def score_samples(self, X: Any) -> Floats:
        """Mean over trees of the leaf's estimated posterior: a finer ranking than the share of votes."""
        return self._read(X)[1]

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts = {
            "class_prior_": self.class_prior_,
            "cut_": self.cut_,
            "labelled": self.risk_.labelled,
            "unlabelled": self.risk_.unlabelled,
        }
        arrays = {
            field.name: np.concatenate([getattr(tree, field.name) for tree in self.trees_]) for field in fields(Tree)
        }
        return facts, arrays | {"nodes": np.array([tree.feature.size for tree in self.trees_])}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], folder: Path) -> None:
        from pulens.learning.learners.saving.checks import check_number, check_prior, check_rows, damaged

        try:
            self._growth(self.n_features_in_)
            words = {"risk": RISKS, "loss": LOSSES, "voting": ("majority", "mean"), "cut": CUTS}
            for name, allowed in words.items():
                check_word(name, getattr(self, name), allowed)
        except AssumptionError as error:
            raise damaged(folder, str(error)) from error
        check_forest(folder, arrays, self.n_features_in_)
        ends = np.cumsum(arrays["nodes"])[:-1]
        parts = {field.name: np.split(arrays[field.name], ends) for field in fields(Tree)}
        self.trees_ = [Tree(**dict(zip(parts, values, strict=True))) for values in zip(*parts.values(), strict=True)]
        check_prior(folder, facts["class_prior_"], needed=True)
        self.class_prior_ = facts["class_prior_"]
        self.cut_ = check_number(folder, "cut_", facts.get("cut_", 0.5), above=0, below=1)  # older forests vote
        for name in ("labelled", "unlabelled"):
            check_rows(folder, name, facts[name])
        self.risk_ = NodeRisk(facts["labelled"], facts["unlabelled"], self.class_prior_, self.risk, self.loss)

    @property
    def feature_importances_(self) -> Floats:
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for tree in self.trees_:
            counted = (tree.feature >= 0) & np.isfinite(tree.gain)  # an unbiased risk may drop without bound
            total += np.bincount(tree.feature[counted], tree.gain[counted], minlength=total.size)
        return total / len(self.trees_)

    def _read(self, X: Any) -> tuple[Floats, Floats]:
        check_is_fitted(self)
        return self._sums(self._table(X, reset=False))

    def _sums(self, table: Any) -> tuple[Floats, Floats]:
        """Shares of votes and mean posteriors."""
        # one tree's answers at a time, added up in the order of trees: the same sums whatever the number of threads
        read = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(self._read_tree)(tree, table) for tree in self.trees_
        )
        votes = np.zeros(len(table))
        posterior = np.zeros(len(table))
        for tree_votes, tree_posterior in read:
            votes += tree_votes
            posterior += tree_posterior
        return votes / len(self.trees_), posterior / len(self.trees_)

    def _read_tree(self, tree: Tree, table: Any) -> tuple[NDArray[np.bool_], Floats]:
        leaf = tree.apply(table)
        return self._votes(tree)[leaf], self.risk_.posterior(tree.labelled, tree.unlabelled)[leaf]

    def _votes(self, tree: Tree) -> NDArray[np.bool_]:
        """Positive where twice the weight of positives exceeds that of all; a coin where it is equal."""
        positive, unlabelled, _ = self.risk_.weights(tree.labelled, tree.unlabelled)
        excess = 2 * positive - unlabelled
        return np.where(np.abs(excess) <= TOLERANCE, tree.coin, excess > 0)

    def _growth(self, features: int) -> Growth:
        for name in ("n_estimators", "min_samples_leaf", "max_candidates"):
            check_count(name, getattr(self, name))
        if self.max_depth is not None:
            check_count("max_depth", self.max_depth)
        if is_among(self.max_features, ("sqrt",)):
            tried = ceil(sqrt(features))
        elif self.max_features is None:
            tried = features
        else:
            tried = min(check_count("max_features", self.max_features), features)
        return Growth(
            tried,
            self.max_candidates,
            np.inf if self.max_depth is None else self.max_depth,
            self.min_samples_leaf,
            self.strict_leaves,
        )

    def _batches(self, elements_per_tree: int, trees: int) -> int:
        """Small tables grow many trees at once, large ones a few; every thread gets work, and no batch is empty."""
        together = max(1, ELEMENTS // elements_per_tree)
        return int(min(trees, max(ceil(trees / together), effective_n_jobs(self.n_jobs))))

    def _table(self, X: Any, *, reset: bool) -> Any:
        """A dense table in its own number type: bytes stay bytes, half floats are slow and become floats."""
        with numbers_only(type(self).__name__):
            result = validate_data(self, flat(X), reset=reset, accept_sparse="csr")
            if result.dtype.kind in "mM":
                raise TypeError("it holds dates. Turn them into numbers first.")
        table = np.ascontiguousarray(dense(result, bytes_each=result.dtype.itemsize))
        return table.astype(np.float32) if table.dtype == np.float16 else table


LEARNER = Learner(PUET, title="PUET", family=RISK, place=6)
