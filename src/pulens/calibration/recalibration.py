"""Repairing probabilities from positives and unlabelled rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.answer import Answer
from pulens.calibration._identity import IDENTITY
from pulens.calibration._likelihood import CannotFitError, held_out_likelihood
from pulens.calibration._risk import Points
from pulens.calibration.expected_error import CalibrationError, error_of_samples
from pulens.calibration.masses import choose_edges, count_bins
from pulens.calibration.probabilities import as_probabilities, check_meaning
from pulens.calibration.recalibrators import CalibrationMap, Recalibrator, find
from pulens.calibration.statistic import of_rows
from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError, listed
from pulens.evidence import Evidence
from pulens.inference.kernels.resampling import check_seed
from pulens.notice import Notice, Severity, worst_first
from pulens.strata import LabellingCells, WeightedEvidence
from pulens.types import Floats

AUTO = "auto"
CONSIDERED = ("platt", "beta", "isotonic")  # what "auto" chooses among, beside keeping the scores


@dataclass(frozen=True, slots=True)
class Recalibration(Answer):
    """A fitted map with the calibration error before and after it.

    ``after`` is measured on rows that the map judged had not been fitted to: the rows are dealt into folds, each
    fold is mapped by a map fitted to the others and judged by itself, and the errors are averaged; so its noise floor
    is that of a fold. The map itself is fitted to all rows. ``considered`` holds the log-likelihood of held-out labels
    per row under each map that was tried and under the scores as they are (``"identity"``).
    """

    _keys = ("method", "map", "before", "after", "folds", "considered", "warnings=notices")

    method: str
    map: CalibrationMap
    before: CalibrationError | None
    after: CalibrationError
    folds: int
    considered: Mapping[str, float]

    def __call__(self, scores: Any) -> Floats:
        """Probabilities for other scores of the same model."""
        return self.map(scores)

    @property
    def notices(self) -> tuple[Notice, ...]:
        result = list(self.after.notices)
        if self.method == "identity":
            result.append(
                Notice(
                    Severity.NOTE,
                    "kept-scores",
                    "No map improved on the original scores on held-out rows, so they were kept.",
                )
            )
        elif self.considered[self.method] < self.considered.get("identity", -np.inf):
            result.append(
                Notice(
                    Severity.WARNING,
                    "no-gain",
                    f"The {self.method} map lowers the likelihood of held-out labels, whatever it does to the average "
                    "error: keep the original scores, or let 'auto' choose the map.",
                )
            )
        return worst_first(result)

    def __str__(self) -> str:
        before = "scores that only rank have no error before" if self.before is None else f"before {self.before}"
        return f"{self.map}\n{before}\nafter  {self.after} ({self.folds}-fold cross-fitted)"


@of_rows
def recalibrate(
    evidence: Evidence,
    *,
    method: str = AUTO,
    scores_are: str = "probability",
    folds: int = 5,
    binning: str = "mass",
    bins: int | None = None,
    confidence: float = 0.95,
    redraws: int = 1000,
    seed: int = 0,
) -> Recalibration:
    r"""Fit a map from scores to true probabilities on positives and unlabelled rows.

    Parameters
    ----------
    method
        ``"isotonic"`` or ``"histogram"`` (through the recovered share of positives), ``"platt"``, ``"beta"`` or
        ``"temperature"`` (fitted by the likelihood of the labels given the scores); or ``"auto"``: of isotonic,
        platt, beta and the scores as they are the one under which held-out labels are most likely. The error after
        is then measured on the rows that chose, which makes it slightly optimistic.
    scores_are
        ``"probability"``, ``"logit"``, or ``"rank"`` for scores of which only the order means something
        (platt, isotonic and histogram take these).
    folds
        Into how many folds the rows are dealt to measure the error after recalibration.

    Returns
    -------
    Recalibration
        The map, which can be called with new scores, and the calibration error before and after.

    Examples
    --------
    >>> import numpy as np
    >>> from pulens.testing import logistic_world
    >>> labelled, unlabelled, _ = logistic_world(-0.5, 1.5).draw(1000, 10_000, np.random.default_rng(0))
    >>> labels, scores = np.repeat([1, 0], [1000, 10_000]), np.concatenate([labelled, unlabelled])
    >>> options = {"class_prior": 0.5, "scenario": "case-control", "labelling": "random"}
    >>> repaired = recalibrate(labels, scores, method="platt", **options)
    >>> print(repaired.map)
    platt: logit p = 0.6796 + 1.339 logit s
    >>> repaired(np.array([0.5])).round(3)
    array([0.664])

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> repaired = recalibrate(table, score="risk_v2", label="outcome", positive="fraud", class_prior=0.2)
    >>> print(repaired.map)
    beta: logit p = 0.916 + 1.111 ln s - 0 ln(1 - s)
    """
    facts = _checked(method, scores_are, folds)
    seed = check_seed(seed)
    if scores_are == "probability":
        evidence = as_probabilities(evidence, scores_are)
    rows = evidence.counted.tally
    if rows.totals.labelled < folds and not rows.is_weighted:
        raise InputError(f"{folds} folds need at least {folds} labelled positives, got {rows.totals.labelled:g}.")
    judged: dict[str, Any] = {"binning": binning, "confidence": confidence, "redraws": redraws, "seed": seed}

    def error(moved: list[Evidence]) -> CalibrationError:
        counted = [count_bins(one.tally, choose_edges(one, binning=binning, bins=bins)) for one in moved]
        return error_of_samples(list(zip(moved, counted, strict=True)), **judged)

    before = None if scores_are == "rank" else _before(evidence, scores_are, error)
    candidates = _candidates(method, facts, scores_are)
    held_out = {}
    for name, one in candidates.items():
        try:
            held_out[name] = cross_fitted(evidence, one, scores_are, folds=folds, rng=np.random.default_rng(seed))
        except CannotFitError:
            if facts is not None:
                raise
            # "auto" chooses among the maps that these scores allow: isotonic can always be fitted
    considered = {name: _mean_likelihood(parts) for name, parts in held_out.items()}
    if facts is None:
        method = max(considered, key=lambda name: considered[name])
    after = error(held_out[method])
    fitted = candidates[method].fit(Points.of(evidence), scores_are)
    return Recalibration(method, fitted, before, after, folds, considered)


def _before(evidence: Evidence, scores_are: str, error: Callable[..., CalibrationError]) -> CalibrationError:
    """The error of the scores as they are."""
    return error([as_probabilities(evidence, scores_are)])


def _checked(method: str, scores_are: str, folds: int) -> Recalibrator | None:
    """The map asked for, ``None`` for a choice among several, where it can read such scores."""
    check_meaning(scores_are)
    facts = None if method == AUTO else find(method)
    if facts is not None and scores_are not in facts.reads:
        raise PulensError(
            f"{method!r} reads scores as {listed(facts.reads)}, not as {scores_are!r}. For scores that only rank, "
            "use 'isotonic', 'histogram' or 'platt'."
        )
    if not isinstance(folds, int) or folds < 2:
        raise PulensError(f"folds must be a whole number of at least 2, got {folds!r}.")
    return facts


def _candidates(method: str, facts: Recalibrator | None, scores_are: str) -> dict[str, Recalibrator]:
    """The maps to try, the scores as they are among them where these are probabilities."""
    kept = {"identity": IDENTITY} if scores_are in IDENTITY.reads else {}
    tried = {method: facts} if facts is not None else {name: find(name) for name in CONSIDERED}
    return kept | {name: one for name, one in tried.items() if scores_are in one.reads}


def _mean_likelihood(parts: list[Evidence]) -> float:
    """The log-likelihood of labels per row, averaged over the folds."""
    return float(np.mean([held_out_likelihood(Points.of(part)) for part in parts]))


def cross_fitted(
    evidence: Evidence, facts: Recalibrator, scores_are: str, *, folds: int, rng: np.random.Generator
) -> list[Evidence]:
    """The rows of each fold under the scores that a map fitted to the other folds gave them.

    The folds must be judged one by one. Added up they look too good: what one fold has too many of the others have too
    few of, so the gaps of the folds cancel, and for maps with enough freedom the sum is zero whatever the truth. Rows
    that belong together stay together.
    """
    mapped: list[Evidence] = []
    for others, own in _dealt(evidence, folds, rng):
        together, part = others.counted.tally, own.counted.tally
        for rows, missing in ((together, "leaves no {} row to fit to"), (part, "has no {} row to be judged by")):
            if not rows.totals.labelled or not rows.totals.rows - rows.totals.labelled:
                kind = "other" if rows.totals.labelled else "labelled"
                raise InputError(
                    f"a fold of the rows {missing.format(kind)}: there are {evidence.tally.totals.labelled:g} labelled "
                    f"and {evidence.tally.totals.rows - evidence.tally.totals.labelled:g} other rows. Use fewer than "
                    f"{folds} folds, or more rows."
                )
        fitted = facts.fit(Points.of(others), scores_are)
        mapped.append(own.mapped(fitted))
    return mapped


@singledispatch
def _dealt(evidence: Evidence, folds: int, rng: np.random.Generator) -> Iterator[tuple[Evidence, Evidence]]:
    """For each fold the rows of the others and its own; clusters stay together."""
    rows, buckets = evidence.counted.tally, evidence.counted.buckets
    parts = deal(rows, folds, rng) if buckets is None else deal_buckets(buckets, folds, rng)
    for fold, part in enumerate(parts):
        rest_of = _sum([other for index, other in enumerate(parts) if index != fold])
        yield evidence.with_tally(rest_of), evidence.with_tally(part)


@_dealt.register
def _(evidence: WeightedEvidence, folds: int, rng: np.random.Generator) -> Iterator[tuple[Evidence, Evidence]]:
    """Strata are dealt one by one."""
    cells = evidence.cells.cells
    by_cell = _cells_dealt(cells, folds, rng)
    for fold in range(folds):
        rest = tuple(_sum([part for index, part in enumerate(parts) if index != fold]) for parts in by_cell)
        both = (rest, tuple(parts[fold] for parts in by_cell))
        if not all(any(len(tally) for tally in side) for side in both):  # fewer clusters than folds
            continue
        others, own = (evidence.with_cells(LabellingCells(cells.columns, cells.names, each)) for each in both)
        yield others, own


def _cells_dealt(cells: LabellingCells, folds: int, rng: np.random.Generator) -> list[list[Tally]]:
    """Every cell's rows in folds; a cluster that has rows in several cells is in one fold with all of them."""
    if not cells.buckets:
        return [deal(tally, folds, rng) for tally in cells.tallies]
    whole = cells.whole_buckets
    assert whole is not None
    fold = dict(zip(whole.names, folds_of_buckets(whole, folds, rng).tolist(), strict=True))
    return [_rows_by_fold(held, np.array([fold[name] for name in held.names]), folds) for held in cells.buckets]


def _sum(parts: list[Tally]) -> Tally:
    together = parts[0]
    for other in parts[1:]:
        together = together + other
    return together


def deal_buckets(buckets: BucketTally, folds: int, rng: np.random.Generator) -> list[Tally]:
    """Deal whole buckets into folds."""
    return _rows_by_fold(buckets, folds_of_buckets(buckets, folds, rng), folds)


def folds_of_buckets(buckets: BucketTally, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of every bucket: those with most labelled rows first, each to the fold that has fewest."""
    order = rng.permutation(len(buckets))
    order = order[np.argsort(-buckets.totals[order, 0], kind="stable")]
    held, rows = np.zeros(folds), np.zeros(folds)
    fold = np.zeros(len(buckets), np.int64)
    for bucket in order.tolist():
        fold[bucket] = np.lexsort((rows, held))[0]
        held[fold[bucket]] += buckets.totals[bucket, 0]
        rows[fold[bucket]] += buckets.totals[bucket].sum()
    return fold


def _rows_by_fold(buckets: BucketTally, fold: NDArray[np.int64], folds: int) -> list[Tally]:
    dealt = []
    for index in range(folds):
        whole = buckets.without(np.flatnonzero(fold != index).tolist())
        here = np.any([kind > 0 for kind in whole.increments()], axis=0)
        labelled, unlabelled, negative = (kind[here] for kind in whole.increments())
        known = negative if buckets.tally.has_negatives else None
        dealt.append(Tally.from_increments(whole.thresholds[here], labelled, unlabelled, known))
    return dealt


def deal(tally: Tally, folds: int, rng: np.random.Generator) -> list[Tally]:
    """Deal the rows of a tally into folds, each kind of row evenly; weighted rows stay together by score."""
    parts: list[list[NDArray[Any]]] = [[] for _ in range(folds)]
    for counts in tally.increments():
        if tally.is_weighted:
            fold = np.full(counts.size, -1)
            held = np.flatnonzero(counts)  # scores where no row of this kind stands have nothing to deal
            fold[rng.permutation(held)] = np.arange(held.size) % folds
            for index in range(folds):
                parts[index].append(np.where(fold == index, counts, 0.0))
            continue
        row_score = np.repeat(np.arange(counts.size), counts)
        fold = np.empty(row_score.size, np.int64)
        fold[rng.permutation(row_score.size)] = np.arange(row_score.size) % folds
        for index in range(folds):
            parts[index].append(np.bincount(row_score[fold == index], minlength=counts.size))
    dealt = []
    for labelled, unlabelled, negative in parts:
        here = (labelled + unlabelled + negative) > 0
        known = negative[here] if tally.has_negatives else None
        dealt.append(Tally.from_increments(tally.thresholds[here], labelled[here], unlabelled[here], known))
    return dealt
