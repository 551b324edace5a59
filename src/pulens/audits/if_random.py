"""The sharper column: what an audit and the labelled positives say together, if labels are a random draw."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pulens.audits.counts import AuditCounts, Counts
from pulens.audits.estimates import Margins, margins_of
from pulens.audits.formulas import FORMULAS, Formula
from pulens.audits.limits import one_tail, quantile
from pulens.confidence import check_confidence
from pulens.estimate import Estimate, Interval
from pulens.types import Floats

NODES = 128  # values of the labels per positive that draws are spread over, equally likely
DRAWS_PER_NODE = 160
FURTHER_POINTS = 22  # beside the nodes, of grids over all labels per positive, then over where the weight lies
METHOD = "audit and labelled positives, random labelling"
_STEPS = np.sinh(np.linspace(-3.9, 3.3, 160))  # from the mode, in standard deviations of the log odds: long left tail


def if_random_estimates(counts: AuditCounts, *, confidence: float = 0.95, seed: int = 0) -> dict[str, Estimate]:
    r"""Class prior, precision, recall, F1 and all else that column one has, if labels are random.

    With labels per hidden positive :math:`\lambda`, stratum k of :math:`M_k` rows and share :math:`p_k` of positives
    gives :math:`L_k \sim \mathrm{Poisson}(\lambda M_k p_k)` labelled and :math:`a_k \sim \mathrm{Binomial}(n_k, p_k)`
    found ones. Of the :math:`T_k = L_k + a_k` positives seen, which were found tells of :math:`\lambda` alone; given
    :math:`\lambda` the stratum has a share with density :math:`p^{T_k - 1}(1-p)^{n_k - a_k - 1} e^{-\lambda M_k p}`.
    Limits are quantiles of the metric over both, with one imaginary further row per group of strata, positive or
    negative with equal chance, where it changes the total most (Fay and Feuer 1997; Fay, Proschan and Brittain 2015).

    >>> counts = AuditCounts(rows=[200, 300, 900, 2600, 6000], checked=[60, 40, 35, 30, 35], found=[45, 8, 2, 0, 0],
    ...                      labelled=[70, 18, 8, 3, 1], flagged=1, scenario="case-control")
    >>> print(if_random_estimates(counts)["recall"])
    recall 0.656 [0.567, 0.739]
    """
    confidence, names = check_confidence(confidence), tuple(FORMULAS)
    reason = not_defined_because(counts)
    if reason:
        return {name: Estimate(name, math.nan, undefined_because=reason) for name in names}
    columns = drawn_metrics(counts, names, seed)
    return {name: estimate_from(name, columns[name], confidence) for name in names}


def drawn_metrics(
    counts: AuditCounts,
    names: Iterable[str],
    seed: int,
    draws: int = DRAWS_PER_NODE,
    favour: Floats | float = 1.0,
    nodes: int = NODES,
) -> dict[str, Floats]:
    """Draws of metrics, from which limits are taken; ``draws`` for each of ``nodes`` values of the labels per positive.

    ``favour``: how many times as likely as elsewhere a positive of each stratum is to be labelled.
    """
    rng, margins = np.random.default_rng(seed), margins_of(counts)
    pooled = PooledShares.of(counts, favour, nodes)
    flagged = np.arange(counts.strata) < counts.flagged
    apart = pooled.totals(rng, [flagged, ~flagged], draws)
    together = pooled.totals(rng, [np.ones(counts.strata, bool)], draws)
    answer = {}
    for name in names:
        totals = together if FORMULAS[name].reads == "everywhere" else apart
        answer[name] = _column(FORMULAS[name], margins, totals[:, flagged].sum(1), totals[:, ~flagged].sum(1))
    return answer


def not_defined_because(counts: AuditCounts) -> str | None:
    """Why this column cannot be had, or ``None``."""
    if not counts.labelled.sum():
        return "no row is labelled: there is nothing that random labelling could add"
    if not counts.checked.sum():
        return "no row was checked: the audit has not begun"
    if counts.undecided.sum():
        return "some answers are undecided: the column needs yes or no for every checked row"
    return None


@dataclass(frozen=True, eq=False)
class PooledShares:
    """What labelled and found positives say together about each stratum's share of positives."""

    counts: AuditCounts
    seen: Floats  # labelled and found
    refused: Floats  # checked and not positive, at least one where nothing speaks against a full stratum
    labels_per_positive: Floats  # equally likely values
    favour: Floats  # of each stratum's positives by labels, 1 where labels are random

    @classmethod
    def of(cls, counts: AuditCounts, favour: Floats | float = 1.0, nodes: int = NODES) -> PooledShares:
        seen = (counts.labelled + counts.found).astype(np.float64)
        refused = np.maximum(counts.checked - counts.found, 1).astype(np.float64)
        pull = np.broadcast_to(np.asarray(favour, float), seen.shape)
        draft = cls(counts, seen, refused, np.zeros(0), pull)
        return replace(draft, labels_per_positive=draft._labels_per_positive(nodes))

    def _labels_per_positive(self, nodes: int) -> Floats:
        """Midpoints of equally likely ranges of the labels per hidden positive.

        The weight is the chance of the found among the seen with the shares integrated out (for rare positives the
        product of binomial chances with odds f to labels per positive), times the root of its Fisher information.
        """
        counts, labelled = self.counts, float(self.counts.labelled.sum())
        points = nodes + FURTHER_POINTS
        present = self.seen > 0
        rows, favour = counts.rows[present] * self.favour[present], self.favour[present]
        refusals = (counts.checked - counts.found)[present] + 0.5
        fraction = counts.checked[present] / np.maximum(counts.rows[present], 1) / favour
        # between "every row is a positive" and "a hundredth of a positive is left"
        logs = np.linspace(math.log(labelled / counts.rows.sum()) - 3, math.log(labelled) + 5, points)
        for _ in range(2):
            values = np.exp(logs)
            total = labelled * logs
            for size, seen, refused in zip(rows, self.seen[present], refusals, strict=True):
                total = total + _share_densities(seen, refused, values * size)[2]
            information = (self.seen[present] * fraction * values[:, None] / (fraction + values[:, None]) ** 2).sum(1)
            total = total + 0.5 * np.log(np.maximum(information, 1e-300))
            near = np.flatnonzero(total > total.max() - 25)
            first, last = max(int(near[0]) - 1, 0), min(int(near[-1]) + 1, logs.size - 1)
            narrower = np.linspace(logs[first], logs[last], points)
            weight, used, logs = np.exp(total - total.max()), logs, narrower
        reached = np.concatenate([[0.0], np.cumsum((weight[1:] + weight[:-1]) / 2)])
        return np.asarray(np.exp(np.interp((np.arange(nodes) + 0.5) / nodes, reached / reached[-1], used)))

    def totals(self, rng: np.random.Generator, groups: list[NDArray[np.bool_]], draws: int) -> Counts:
        """Positives of every stratum, one row per draw; each group has one imaginary row."""
        counts = self.counts
        shares = [self._drawn(rng, stratum, 0, 0, draws) for stratum in range(counts.strata)]
        for index, group in enumerate(groups):
            # a coin for each group, thrown evenly and independently of the other's
            coin = np.arange(draws) // 2**index % 2 == 0
            for positive, half in ((1, coin), (0, ~coin)):
                stratum = self._most_changed(group, positive)
                if stratum is not None:
                    shares[stratum][:, half] = self._drawn(rng, stratum, positive, 1 - positive, int(half.sum()))
        share = np.stack(shares, axis=-1).reshape(self.labels_per_positive.size * draws, counts.strata)
        return np.asarray(counts.found + rng.binomial(counts.rows - counts.checked, share))

    def _most_changed(self, group: NDArray[np.bool_], positive: int) -> int | None:
        """The stratum of a group whose total one more positive row, or one more negative row, would change most."""
        counts = self.counts
        known = counts.checked + np.median(self.labels_per_positive) * self.favour * counts.rows
        share = np.clip(self.seen / np.maximum(known, self.seen + 1e-9), 0, 1)
        effect = (counts.rows - counts.checked) / (known + 1) * (1 - share if positive else share) * group
        best = int(np.argmax(effect))
        return best if effect[best] > 0 else None

    def _drawn(self, rng: np.random.Generator, stratum: int, positive: int, negative: int, size: int) -> Floats:
        """Shares of a stratum at each number of labels per positive, with imaginary rows."""
        rows = float(self.counts.rows[stratum] * self.favour[stratum])
        seen, refused = self.seen[stratum] + positive, self.refused[stratum] + negative
        if seen <= 0 or rows <= 0:
            return np.zeros((self.labels_per_positive.size, size))
        odds, reached, _ = _share_densities(seen, refused, self.labels_per_positive * rows)
        uniform = rng.random((self.labels_per_positive.size, size))
        drawn = np.stack([np.interp(wanted, *one) for wanted, *one in zip(uniform, reached, odds, strict=True)])
        return np.asarray(1 / (1 + np.exp(-drawn)))


def _share_densities(seen: float, refused: float, pull: Floats) -> tuple[Floats, Floats, Floats]:
    r"""Log odds, distribution function and log integral of :math:`p^{T-1}(1-p)^{b-1}e^{-cp}`, one row per c."""
    whole = seen + refused + pull
    mode = 2 * seen / (whole + np.sqrt(whole**2 - 4 * pull * seen))
    bend = mode * (1 - mode) * (seen + refused + pull * (1 - 2 * mode))
    spread = 1 / np.sqrt(np.maximum(bend, 1e-12))
    odds = np.log(mode / (1 - mode))[:, None] + spread[:, None] * _STEPS
    rest = np.logaddexp(0, odds)  # minus the log of 1 - p
    heights = seen * (odds - rest) - refused * rest - pull[:, None] * np.exp(odds - rest)
    top = heights.max(1, keepdims=True)
    weight = np.exp(heights - top)
    pieces = (weight[:, 1:] + weight[:, :-1]) / 2 * np.diff(odds)
    reached = np.concatenate([np.zeros((len(pull), 1)), np.cumsum(pieces, 1)], axis=1)
    return odds, reached / reached[:, -1:], top[:, 0] + np.log(reached[:, -1])


def _column(formula: Formula, margins: Margins, above: Floats, below: Floats) -> Floats:
    hits, missed = above + margins.labelled_above, below + margins.labelled_below
    if formula.reads == "everywhere":
        return formula.of(hits + missed, 0.0, margins.flagged, margins.rows)
    return formula.of(hits, missed, margins.flagged, margins.rows)


def estimate_from(name: str, drawn: Floats, confidence: float) -> Estimate:
    """Median and equal-tailed limits of draws; a draw that is undefined says nothing."""
    formula, unknown = FORMULAS[name], np.isnan(drawn)
    low, high = (np.where(unknown, end, drawn) for end in (formula.lowest, formula.highest))
    tail = one_tail(confidence)
    least, most = (float(quantile(of[:, None], level)[0]) for of, level in ((low, tail), (high, 1 - tail)))
    interval = Interval(least, most, confidence, METHOD)
    if 2 * unknown.sum() >= drawn.size:
        return Estimate(name, math.nan, interval, formula.undefined_because)
    return Estimate(name, float(np.median(drawn[~unknown])), interval)
