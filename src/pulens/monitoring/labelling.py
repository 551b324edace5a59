"""Do the rows that get a label still score as they did? And if not: did labelling change, or the positives themselves?

Labelled rows of windows are compared with those of the reference of the same age, over every possible start as the
lines are. If the positives moved, the population moved with them, by the share of positives times as much; if only the
way labels come about changed (a campaign, a new reviewer), the population stays. What more positives do to the
population lies in a direction of its own and is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pulens.answer import Answer
from pulens.monitoring.evidence_lines import RunningEvidence, Starts
from pulens.monitoring.fit import polynomials
from pulens.monitoring.noise import NoiseLevels
from pulens.monitoring.weights import placements
from pulens.types import Floats

if TYPE_CHECKING:
    from pulens.monitoring.judging import Judgement

Cause = Literal["labelling", "positives", "unclear"]
DEGREE = 3
CERTAIN = 100.0  # the running total from which labelled rows are said to score differently
FARTHEST = 2.0  # standard errors within which a cause fits


@dataclass(frozen=True, slots=True)
class LabelChange(Answer):
    """Labelled rows score differently: since when, and whether labelling changed or the positives.

    ``followed`` is how much of what the positives would do to the population it did: 0 where labelling changed, 1 where
    the positives moved; None without a class prior.
    """

    since: str
    since_low: str
    since_high: str
    evidence: float  # log10 of the running total
    cause: Cause
    followed: float | None
    followed_error: float | None


def labelling_of(judgement: Judgement) -> LabelChange | None:
    """Whether labelled rows of mature windows score differently; None where they do not, or where nobody can say."""
    mature = judgement.mature[-1] if judgement.windows else 0
    known = judgement.reference_labelled
    own = [judgement.own_labelled(index) for index in range(mature)]
    told = [index for index, counts in enumerate(own) if counts.sum() > 0]
    if not told or known.sum() <= DEGREE:
        return None
    shares = known / known.sum()
    columns = polynomials(2 * placements(shares) - 1, DEGREE, shares)
    if not columns.shape[1]:
        return None
    none = NoiseLevels(np.zeros(1), np.zeros(1), np.zeros(1), 1 / float(np.mean([own[index].sum() for index in told])))
    evidence = RunningEvidence(none, windows=len(told), coordinates=columns.shape[1], life=judgement.monitor.life)
    evidence.add_reference(np.zeros(columns.shape[1]), 1 / float(known.sum()))
    best: Starts | None = None
    for index in told:
        evidence.add(own[index] @ columns / own[index].sum(), 1 / float(own[index].sum()))
        now = evidence.starts()
        if now.log_total >= math.log(CERTAIN) and (best is None or now.log_total > best.log_total):
            best = now
    if best is None:
        return None
    likely = best.likely()
    first, low, high = (told[index] for index in (best.heaviest, likely[0], likely[-1]))
    names = [window.name for window in judgement.windows]
    cause, followed, error = _cause(judgement, columns, np.sum(own[first:], axis=0), first, mature)
    log10 = float(best.log_total) / math.log(10)
    return LabelChange(names[first], names[low], names[high], log10, cause, followed, error)


def _cause(
    judgement: Judgement, columns: Floats, labelled: Floats, first: int, mature: int
) -> tuple[Cause, float | None, float | None]:
    """Whether the population followed the labelled rows, as it would if the positives had moved."""
    monitor = judgement.monitor
    if monitor.prior is None:
        return "unclear", None, None
    reference = monitor.reference
    counts = np.sum([window.counts.population for window in judgement.windows[first:mature]], axis=0)
    q, rows = reference.q, float(counts.sum())
    about = columns - q @ columns
    covariance = (q[:, None] * about).T @ about * (1 / rows + 1 / reference.rows)
    root = np.linalg.inv(np.linalg.cholesky(covariance + 1e-12 * np.trace(covariance) * np.eye(len(covariance))))
    seen = root @ (counts @ columns / rows - q @ columns)
    moved = root @ (monitor.prior.value * (labelled @ columns / labelled.sum()))
    more = root @ (reference.p @ columns - q @ columns)
    if float(more @ more) > 0:
        more = more / np.sqrt(more @ more)
        seen, moved = seen - (seen @ more) * more, moved - (moved @ more) * more
    information = float(moved @ moved)
    if information <= 0:
        return "unclear", None, None
    followed, error = float(seen @ moved) / information, 1 / math.sqrt(information)
    fits = {"labelling": abs(followed) <= FARTHEST * error, "positives": abs(followed - 1) <= FARTHEST * error}
    if fits["labelling"] == fits["positives"]:
        return "unclear", followed, error
    return ("labelling" if fits["labelling"] else "positives"), followed, error
