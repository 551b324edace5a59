r"""What a review that stops at a score leaves open, in words, and one bound that needs the score to go on ranking.

Where every row above a score was checked and none below, the number of positives above is known exactly and nothing is
known below: precision at every threshold above is a count, recall and F1 are bounds over 0 to all rows below. If the
share of positives falls on below the cutoff as it does above, no more than
:math:`M_{below} \cdot u` rows below are positive, u being the upper limit of the share among the lowest quarter of the
reviewed rows (exact binomial, one-sided).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pulens.answer import Answer
from pulens.audits.counts import AuditCounts
from pulens.audits.estimates import point_values
from pulens.audits.formulas import in_words
from pulens.audits.reviews import Reviews
from pulens.confidence import check_confidence
from pulens.errors import spoken
from pulens.estimate import Interval
from pulens.inference.kernels.exact import binomial_ends

IF_IT_RANKS = "if the score still ranks below the reviewed rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified(Answer):
    """What follows from a review without assumption, what is only bounded, and the bound if the score goes on ranking.

    ``if_it_ranks`` holds an interval for each bounded metric; empty where nothing is only bounded.
    """

    _keys = ("exactly", "bounded", "sentence", "if_the_score_still_ranks=if_it_ranks")

    exactly: tuple[str, ...]
    bounded: tuple[str, ...]
    sentence: str
    if_it_ranks: dict[str, Interval]


def identify(reviews: Reviews, decision: Any, *, confidence: float = 0.95) -> Identified:
    """Say what a review proves at a threshold, given as a decision about every row.

    >>> answers = [1] * 6 + [0] * 4 + [""] * 90
    >>> scores = np.arange(100, 0, -1.0)
    >>> found = identify(Reviews.reviewed_above([0] * 100, scores, 91, answers=answers), scores >= 96)
    >>> found.exactly, found.bounded[:2]
    (('precision',), ('class prior', 'recall'))
    >>> print(found.if_it_ranks["recall"])
    [0.061, 0.833]
    """
    confidence = check_confidence(confidence)
    counts = reviews.counts(decision)
    unseen = counts.left_out
    if not unseen.any():
        return Identified(
            exactly=ALL,
            bounded=(),
            sentence="Every row had a chance of being checked: all numbers follow without any assumption.",
            if_it_ranks={},
        )
    rows = int(counts.rows[unseen].sum())
    above = bool(unseen[: counts.flagged].any())
    exactly = () if above else ("precision",)
    bounded = ALL if above else tuple(name for name in ALL if name != "precision")
    known = "Nothing" if above else "Precision and the number of positives among the reviewed rows are known"
    sentence = (
        f"{known} without assumption: {rows:,} rows had no chance of being checked, so {_listed(bounded)} are bounds "
        "between none and all of them being positive."
    )
    ranked = {} if above else _if_it_ranks(reviews, counts, unseen, confidence)
    return Identified(exactly=exactly, bounded=bounded, sentence=sentence, if_it_ranks=ranked)


ALL = ("class prior", "precision", "recall", "f1")


def _listed(names: tuple[str, ...]) -> str:
    return spoken([in_words(name) for name in names])


def _if_it_ranks(reviews: Reviews, counts: AuditCounts, unseen: np.ndarray, confidence: float) -> dict[str, Interval]:
    """Metrics with no positive and with the most that the lowest quarter of reviewed rows allows in rows not seen."""
    looked = np.flatnonzero(reviews.is_checked)
    order = looked[np.argsort(reviews.scores[looked], kind="stable")]
    quarter = order[: max(1, order.size // 4)]
    result = int((reviews.answer[quarter] != 0).sum())  # undecided rows may be positive
    _, share = binomial_ends(result, quarter.size, (1 - confidence) / 2)
    ends: dict[str, list[float]] = {}
    for most in (0.0, share):
        values = point_values(counts, unchecked_share=np.where(unseen, most, 0.0))
        for name in ("class_prior", "recall", "f1"):
            ends.setdefault(name, []).append(values[name])
    return {
        name: Interval(min(pair), max(pair), None, IF_IT_RANKS)
        for name, pair in ends.items()
        if not np.isnan(pair).any()
    }
