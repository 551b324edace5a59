"""What a person should look at before the numbers: signs that the data or the assumptions do not fit together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pulens.counts.segment_block import SegmentBlock
from pulens.counts.tally import Tally
from pulens.errors import InputError
from pulens.estimate import Estimate, Interval
from pulens.evidence import Evidence, few_clusters
from pulens.inference.kernels.exact import binomial_lower, binomial_upper
from pulens.metrics import METRICS, raw_value
from pulens.metrics.parts.possible_worlds import impossible_rates_of
from pulens.notice import Notice, Severity, worst_first
from pulens.priors.class_prior import ClassPrior, unlabelled_prior
from pulens.priors.feasible import feasible_range
from pulens.priors.known_negatives import notice_of_recovery
from pulens.scenario import DEFAULT_SCENARIO
from pulens.types import Booleans, Floats

USEFUL_HALF_WIDTH = 0.05
TIED_PAIRS = 0.05  # share of labelled-unlabelled pairs that are tied from which on ties are worth a word
FEW_LABELLED = 30
WEAK_CONTRAST = 0.05
SHARES_TRIED = 33  # over the interval of a class prior
WORTH_A_WORD = 2.0  # standard errors by which a rate is outside [0, 1] from which on that is said
SIGNIFICANT = 0.001  # a chance finding in one report of a thousand


def labelled_needed(half_width: float, *, rate: float = 0.5, confidence: float = 0.95) -> int:
    r"""Labelled positives needed to know recall to a half-width: :math:`z^2 p(1-p)/d^2`.

    Recall is the labelled rate, so no number of unlabelled rows makes up for few labelled ones.

    >>> labelled_needed(0.05)
    385
    """
    from pulens.special import ndtri

    return math.ceil(float(ndtri((1 + confidence) / 2)) ** 2 * rate * (1 - rate) / half_width**2)


def diagnose(evidence: Evidence, recall: Estimate | None = None) -> list[Notice]:
    """Signs of trouble that the counts show by themselves.

    >>> import numpy as np
    >>> from pulens.evidence import gather
    >>> scores = np.r_[np.arange(400) % 97 / 97 + 1, np.arange(1600) % 89 / 89]
    >>> evidence = gather(np.repeat([1, 0], [400, 1600]), scores, class_prior=0.4)
    >>> [notice.code for notice in diagnose(evidence)]
    ['prior-not-feasible']
    """
    return [
        *_precision_of_recall(recall),
        *_feasible_prior(evidence),
        *_random_labelling(evidence),
        *notice_of_recovery(evidence.tally, evidence.scenario),
        *_ties(evidence.tally),
        *_labelled_twice(evidence.tally),
        *few_clusters(evidence),
    ]


def impossible_areas(evidence: Evidence) -> list[Notice]:
    """Areas that no classifier can have, and what they were clipped to."""
    tally, assumptions = evidence.tally, evidence.assumptions
    rankings = [(name, metric) for name, metric in METRICS.items() if metric.reads == "ranking" and metric.listed]
    raw = [(name, raw_value(metric, tally, assumptions)) for name, metric in rankings]
    return [notice for name, value in raw for notice in impossible_area(name, value, assumptions.unlabelled_prior)]


def impossible_area(name: str, raw: float, unlabelled_prior: float) -> list[Notice]:
    """Of a ranking's number before it was clipped."""
    metric = METRICS[name]
    if not (raw < metric.lowest - 1e-12 or raw > metric.highest + 1e-12):
        return []
    return [
        Notice(
            Severity.WARNING,
            "impossible-area",
            f"The recovered {name} is {raw:.4f}, which no classifier can have; it was clipped to "
            f"{min(max(raw, metric.lowest), metric.highest):g}. Likely causes: the class prior is too high "
            f"(the unlabelled rows were taken to be {unlabelled_prior:.1%} positive), positives with high scores were "
            "labelled more often, or too few rows.",
        )
    ]


def impossible_rate(evidence: Evidence, *, beyond_chance: bool = False) -> list[Notice]:
    """Rates that no classifier can have; only those that chance does not explain, if so asked."""
    rates = impossible_rates_of(evidence)
    if rates.standard_errors < WORTH_A_WORD or (beyond_chance and rates.is_chance):
        return []
    notice = rates.notice(evidence.tally, evidence.assumptions)
    return [] if notice is None else [notice]


def hardly_known(evidence: Evidence) -> list[Notice]:
    """Labels that say little: too like the unlabelled rows, or too few."""
    assumptions, labelled = evidence.assumptions, evidence.tally.totals.labelled
    contrast = assumptions.labelled_purity - assumptions.unlabelled_prior
    result = []
    if contrast < WEAK_CONTRAST:
        result.append(
            Notice(
                Severity.WARNING,
                "weak-contrast",
                f"Labelled and unlabelled rows differ by only {contrast:.3f} in their share of positives: every error "
                f"of the observed AUC is multiplied by {1 / contrast:.0f}.",
            )
        )
    if labelled < FEW_LABELLED:
        result.append(
            Notice(
                Severity.WARNING,
                "few-labelled",
                f"Only {labelled:g} labelled positives: recall is known to about "
                f"±{0.98 / math.sqrt(max(labelled, 1)):.2f} at best.",
            )
        )
    return result


def chosen_threshold(threshold: float, choice: str, interval: Interval | None) -> Notice:
    """That the rows which are judged chose the threshold too."""
    moves, allowed = "", ""
    if interval is not None:
        moves = f" (a fresh sample would choose {interval.low:.4g} to {interval.high:.4g})"
        allowed = "the intervals allow for that, "
    return Notice(
        Severity.NOTE,
        "chosen-threshold",
        f"The threshold {threshold:.6g}{moves} was chosen as the {choice}, which makes the values at it optimistic; "
        f"{allowed}a threshold fixed beforehand avoids it.",
    )


def _precision_of_recall(recall: Estimate | None) -> list[Notice]:
    if recall is None or recall.interval is None or math.isnan(recall.value):
        return []
    if recall.interval.width <= 4 * USEFUL_HALF_WIDTH:
        return []
    needed = labelled_needed(USEFUL_HALF_WIDTH, rate=min(max(recall.value, 0.05), 0.95))
    return [
        Notice(
            Severity.NOTE,
            "wide-recall",
            f"Recall is only known to within {recall.interval.width / 2:.2f}. To within "
            f"{USEFUL_HALF_WIDTH:g} takes about {needed:,} labelled positives; more unlabelled rows do not help.",
        )
    ]


def _feasible_prior(evidence: Evidence) -> list[Notice]:
    """A class prior that would put more positives among some top rows than there are rows."""
    if not evidence.tally.totals.unlabelled or not evidence.tally.totals.labelled:
        return []
    reach = feasible_range(evidence.tally, confidence=1 - SIGNIFICANT, label_noise=evidence.label_noise)
    return not_feasible(evidence.class_prior, reach.high)


def not_feasible(prior: ClassPrior, highest: float) -> list[Notice]:
    """Of a class prior all of whose interval is above what the scores of the unlabelled rows leave room for."""
    share = prior.least_unlabelled
    if share <= highest:
        return []
    least = "" if prior.is_exact else "at least "
    return [
        Notice(
            Severity.SERIOUS,
            "prior-not-feasible",
            f"The unlabelled rows are taken to be {least}{share:.1%} positive, but their scores leave room for "
            f"{highest:.1%} at most if labelled positives are a random sample of positives. Either the class prior "
            "is too high, or positives with high scores were labelled more often.",
        )
    ]


def _random_labelling(evidence: Evidence) -> list[Notice]:
    r"""With known negatives the unlabelled rows must be a mixture of the labelled and the negative ones.

    Kolmogorov's distribution for :math:`\sup_t|\eta_{pu} - \alpha\gamma_{pu} - (1-\alpha)\nu|` with the number of
    rows that gives the difference its largest variance; the class prior is moved within its interval first.
    """
    totals = evidence.tally.totals
    if not (totals.labelled and totals.unlabelled and totals.negative) or evidence.label_noise:
        return []
    reach, own = evidence.class_prior.unlabelled_interval, np.array([evidence.class_prior.unlabelled])
    shares = own if reach is None else np.linspace(reach.low, reach.high, SHARES_TRIED)
    fit = mixture_fit(SegmentBlock.of_tally(evidence.tally), shares[None])
    chance, gap, share = (float(part[0]) for part in fit)
    if chance > SIGNIFICANT:
        return []
    return [
        Notice(
            Severity.WARNING,
            "not-a-mixture",
            f"The unlabelled rows are not a mixture of rows like the labelled positives ({share:.1%}) and rows like "
            f"the known negatives: their shares above a score differ by up to {gap:.3f}, which chance alone gives with "
            f"probability {chance:.1g}. Labelled positives or known negatives are not random samples of their class, "
            "or the class prior is wrong.",
        )
    ]


def _ties(tally: Tally) -> list[Notice]:
    """Ties leave the order open: AUC counts them one half, whatever the order would have been."""
    at_labelled, at_unlabelled, _ = tally.increments()
    pairs = tally.totals.labelled * tally.totals.unlabelled
    if not pairs:
        return []
    tied = float((at_labelled.astype(float) * at_unlabelled).sum() / pairs)
    if tied < TIED_PAIRS:
        return []
    return [
        Notice(
            Severity.NOTE,
            "heavy-ties",
            f"{tied:.0%} of the pairs of a labelled and an unlabelled row have equal scores ({len(tally):,} distinct "
            f"scores in all). The observed AUC counts them one half: an order within ties could move it by "
            f"{tied / 2:.3f}. Use unrounded scores if there are any.",
        )
    ]


def _labelled_twice(tally: Tally) -> list[Notice]:
    """Labelled rows that are also among the unlabelled ones: their scores meet exactly, while others do not."""
    meets, meeting = labelled_twice(SegmentBlock.of_tally(tally))
    if not meets[0]:
        return []
    return [
        Notice(
            Severity.WARNING,
            "labelled-among-unlabelled",
            f"{meeting[0]:.0%} of the labelled rows have exactly the score of an unlabelled row, though scores rarely "
            "repeat otherwise: the labelled rows seem to be among the unlabelled ones too. The two samples are then "
            "not independent, and intervals are off. Remove them from the unlabelled rows and say "
            "scenario='single-set'.",
        )
    ]


class MixtureFit(NamedTuple):
    """The best fit of a mixture in each segment: its chance, its largest gap, its share of positives."""

    chance: Floats
    gap: Floats
    share: Floats


def mixture_fit(block: SegmentBlock, shares: Floats) -> MixtureFit:
    """Whether unlabelled rows may be a mixture of labelled and known negative ones; ``shares`` are those to try.

    They have the shape (segments, shares). Segments without some kind of row fit.
    """
    from pulens.special import kolmogorov

    totals, has_all = np.where(block.totals > 0, block.totals, 1.0), (block.totals > 0).all(axis=1)
    best = MixtureFit(*(np.where(has_all, least, 1.0) for least in (-1.0, 0.0, 0.0)))
    for share in shares.T:
        mixed = block.spread(share) * block.rates[0] + (1 - block.spread(share)) * block.rates[2]
        gap = np.maximum.reduceat(np.abs(block.rates[1] - mixed), block.first)
        with np.errstate(over="ignore"):  # rows of hardly any weight
            variance = 1 / totals[:, 1] + share**2 / totals[:, 0] + (1 - share) ** 2 / totals[:, 2]
        chance = kolmogorov(gap / np.sqrt(variance))
        better = chance > best.chance
        best = MixtureFit(*(np.where(better, *pair) for pair in zip((chance, gap, share), best, strict=True)))
    return best


def labelled_twice(block: SegmentBlock) -> tuple[Booleans, Floats]:
    """Where labelled rows meet unlabelled ones exactly, while others do not, and the share of those that do."""
    at_labelled, at_unlabelled, _ = block.at
    labelled, unlabelled = block.totals[:, 0], block.totals[:, 1]
    meeting = block.sums(np.where(at_unlabelled > 0, at_labelled, 0)) / np.maximum(labelled, 1e-300)
    among_others = block.sums(np.where(at_unlabelled > 1, at_unlabelled, 0)) / np.maximum(unlabelled, 1e-300)
    enough = (labelled >= 10) & (unlabelled >= 10)
    return enough & (meeting >= 0.5) & (among_others <= 0.05), meeting


def check_labelling(
    labels: Any, feature: Any, *, class_prior: float, scenario: str = DEFAULT_SCENARIO
) -> tuple[Notice, ...]:
    r"""Do labelled positives look like a random draw of positives in a group or a second score?

    For any set A of rows, random labelling needs :math:`\alpha P(A) \le U(A)`: among the unlabelled rows there must be
    room for the positives that the labelled ones announce. Each value of a column of groups is a set; of a numeric
    column the rows above and below each decile. Exact binomial limits, divided among all sets.

    >>> labels = [1] * 50 + [0] * 200
    >>> clinic = ["north"] * 45 + ["south"] * 5 + ["north"] * 20 + ["south"] * 180
    >>> print(*check_labelling(labels, clinic, class_prior=0.44))
    Labelled positives are too many where the column is 'north': 90% of the labelled rows, ...
    """
    from pulens.counts.tally import Totals
    from pulens.scenario import check_scenario

    marks, values = np.asarray(labels), np.asarray(feature)
    if marks.shape != values.shape or marks.ndim != 1:
        raise InputError(
            f"labels and feature need one value per row each, got shapes {marks.shape} and {values.shape}."
        )
    totals = Totals(*(float(np.count_nonzero(marks == code)) for code in (1, 0, -1)))
    share = unlabelled_prior(class_prior, totals, check_scenario(scenario))
    sets = _sets(values)
    miss = SIGNIFICANT / (2 * max(len(sets), 1))
    result = []
    for words, rows in sets:
        labelled, unlabelled = (float(np.count_nonzero(rows & (marks == code))) for code in (1, 0))
        announced = share * float(binomial_lower(np.array([labelled]), totals.labelled, miss)[0])
        room = float(binomial_upper(np.array([unlabelled]), totals.unlabelled, miss)[0])
        if announced > room:
            result.append(
                Notice(
                    Severity.WARNING,
                    "labelling-not-random",
                    f"Labelled positives are too many where the column is {words}: {labelled / totals.labelled:.0%} of "
                    f"the labelled rows, but {unlabelled / totals.unlabelled:.0%} of the unlabelled ones, fewer than "
                    f"the positives alone would be if labelling were random (class prior {class_prior:g}). "
                    "Labelling depends on this column, or the class prior is too high.",
                )
            )
    return worst_first(result)


def _sets(values: Any) -> Sequence[tuple[str, Any]]:
    if values.dtype.kind in "fiu" and np.unique(values).size > 20:
        cuts = np.unique(np.nanquantile(values, np.arange(1, 10) / 10))
        above = [(f"at least {cut:.6g}", values >= cut) for cut in cuts]
        return above + [(f"below {cut:.6g}", values < cut) for cut in cuts]
    return [(repr(value), values == value) for value in np.unique(values).tolist()]
