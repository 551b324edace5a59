"""The answer of an audit: counts, and every number that follows from them, each computed when it is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.answer import ShownAsText, written
from pulens.audits.cautions import notices_of
from pulens.audits.counts import AuditCounts, CheckedRows
from pulens.audits.estimates import design_estimates
from pulens.audits.limits import check_interval
from pulens.audits.other_threshold import check_threshold, cut_at
from pulens.audits.prior import prior_of_counts
from pulens.confidence import check_confidence
from pulens.counts.tally import Tally
from pulens.errors import AssumptionError, InputError, shown
from pulens.estimate import Estimate
from pulens.frozen import FrozenMapping
from pulens.inference.kernels.resampling import check_seed
from pulens.inputs.arrays import plain_values
from pulens.keywords import check_kinds, typed
from pulens.notice import Notice, worst_first
from pulens.priors.class_prior import ClassPrior
from pulens.scalars import real

if TYPE_CHECKING:
    from pulens.audits.labelling_test import LabellingVerdict

FEWEST_LABELLED = 5  # below it the test of labelling says nothing


@dataclass(repr=False, frozen=True, eq=False, kw_only=True)
class AuditResult(ShownAsText):
    """What the checked rows prove.

    ``checked_rows`` and ``tally`` (of all rows, those checked counted as unlabelled) are needed for the ROC AUC, for
    other thresholds and for the test of labelling; counts alone give everything else. ``score_ranges``: the strata are
    ranges of scores, one below the other, rather than cells of equal probability that overlap.

    >>> from pulens.audits import from_counts
    >>> result = from_counts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1, scenario="case-control")
    >>> print(result.estimates["precision"])
    precision 0.750 [0.650, 0.830]
    >>> print(result.class_prior)
    class prior 0.029 [0.017, 0.060] (audit of 200 rows in 2 strata)
    """

    counts: AuditCounts
    checked_rows: CheckedRows | None = None
    tally: Tally | None = field(default=None, repr=False)
    threshold: float | None = None
    goal: str | None = None
    confidence: float = 0.95
    interval: str = "balanced"
    anytime: bool = False
    seed: int = 0
    score_ranges: bool = True
    unchecked_share: Any = field(default=None, repr=False)  # for strata that another threshold cut off
    told: tuple[Notice, ...] = ()  # what whoever read the answers had to say

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", check_confidence(self.confidence))
        object.__setattr__(self, "seed", check_seed(self.seed))
        if self.threshold is not None:
            number = real(self.threshold)
            if math.isnan(number):
                raise InputError(f"threshold must be a number, got {shown(self.threshold)}.")
            object.__setattr__(self, "threshold", number)
        check_interval(self.interval)
        check_kinds(AuditResult, {"anytime": self.anytime})
        rows = self.checked_rows
        if rows is not None:
            seen = np.bincount(rows.stratum, minlength=self.counts.strata)
            if seen.size != self.counts.strata or (seen != self.counts.checked).any():
                raise InputError(
                    f"the strata hold {seen.tolist()} checked rows, but the counts say {self.counts.checked.tolist()}."
                )

    @cached_property
    def estimates(self) -> Mapping[str, Estimate]:
        """Metrics from the answers alone: nothing is assumed about labelling."""
        result = design_estimates(
            self.counts,
            confidence=self.confidence,
            interval=self.interval,
            anytime=self.anytime,
            seed=self.seed,
            threshold=self.threshold,
            unchecked_share=self.unchecked_share,
        )
        return FrozenMapping(result | self._of_ranking())

    def _of_ranking(self) -> dict[str, Estimate]:
        """Metrics of the whole ranking, where scores are known; no limits at every moment are known for them."""
        if self.checked_rows is None or self.tally is None or self.anytime:
            return {}
        from pulens.audits.area import area_estimate
        from pulens.audits.average_precision import average_precision_estimate

        rows = (self.counts, self.checked_rows, self.tally)
        asked: Any = {"confidence": self.confidence, "interval": self.interval, "seed": self.seed}
        result = {"roc_auc": area_estimate(*rows, **asked, score_ranges=self.score_ranges)}
        if self.score_ranges:
            result["average_precision"] = average_precision_estimate(*rows, **asked)
        return result

    @cached_property
    def labelling(self) -> LabellingVerdict | None:
        """Whether the answers contradict random labelling; ``None`` where scores of the rows are not known."""
        if self.checked_rows is None or self.tally is None or self.counts.labelled.sum() < FEWEST_LABELLED:
            return None
        from pulens.audits.labelling_test import labelling_of

        return labelling_of(self.counts, self.checked_rows, self.tally, confidence=self.confidence, seed=self.seed)

    def if_judges_err(self, reviewer_errors: Any) -> Mapping[str, Estimate]:
        """The numbers without assumption on labelling, if judges err at these rates.

        ``reviewer_errors`` is (false positive rate, false negative rate), each a number or a range (low, high); limits
        over a range hold whatever the rate is. ROC AUC is left out: nobody knows which positives are false.

        >>> found = from_counts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)
        >>> found.if_judges_err((0.01, 0.05))["recall"].value > found.estimates["recall"].value
        True
        """
        from pulens.audits.judges import judged_estimates

        return FrozenMapping(
            judged_estimates(
                self.counts, reviewer_errors, confidence=self.confidence, interval=self.interval, seed=self.seed
            )
        )

    @cached_property
    def class_prior(self) -> ClassPrior:
        """The class prior that the audit found, for every place that takes one."""
        return prior_of_counts(
            self.counts,
            confidence=self.confidence,
            interval=self.interval,
            anytime=self.anytime,
            seed=self.seed,
            unchecked_share=self.unchecked_share,
        )

    def at(self, threshold: float) -> AuditResult:
        """The same answers read at another threshold, which must not have been chosen by them."""
        number = check_threshold(threshold)
        if self.checked_rows is None or self.tally is None:
            raise AssumptionError(
                "another threshold needs the scores of the checked rows and of the table; this audit has counts alone. "
                "Read it from its files (pulens.read_audit), or count strata that end at the threshold."
            )
        if not self.score_ranges:
            raise AssumptionError(
                "the strata of these reviews are not ranges of scores, so they cannot be cut at another threshold "
                "afterwards: read the reviews again with that threshold."
            )
        cut = cut_at(self.counts, self.checked_rows, self.tally, number)
        return replace(
            self, counts=cut.counts, checked_rows=cut.rows, threshold=number, unchecked_share=cut.unchecked_share
        )

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        return worst_first((*self.told, *notices_of(self.counts)))

    @property
    def strata(self) -> list[dict[str, Any]]:
        """One entry a stratum, highest scores first."""
        counts = self.counts
        return [
            {
                "rows": int(counts.rows[k]),
                "checked": int(counts.checked[k]),
                "found": int(counts.found[k]),
                "undecided": int(counts.undecided[k]),
                "labelled": int(counts.labelled[k]),
                "known_negative": int(counts.known_negative[k]),
                "probability": float(counts.checked[k] / counts.rows[k]) if counts.rows[k] else None,
                "flagged": k < counts.flagged,
            }
            for k in range(counts.strata)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON; every number names its basis."""
        return {
            "scenario": str(self.counts.scenario),
            "threshold": _plain(self.threshold),
            "goal": self.goal,
            "confidence": self.confidence,
            "interval": "anytime" if self.anytime else self.interval,
            "seed": self.seed,
            "checked": int(self.counts.checked.sum()),
            "found": int(self.counts.found.sum()),
            "undecided": int(self.counts.undecided.sum()),
            "strata": self.strata,
            "estimates": {name: result.to_dict() for name, result in self.estimates.items()},
            "labelling": None if self.labelling is None else self.labelling.to_dict(),
            "notices": [
                {"severity": notice.severity.name.lower(), "code": notice.code, "message": notice.message}
                for notice in self.notices
            ],
        }

    @typed
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page with the numbers, strata and the labelling curve; written to ``path`` if given."""
        from pulens.report.audit_page import audit_page

        return written(path, audit_page(self, title=title))

    def __repr__(self) -> str:  # its numbers take a second, and debuggers ask for this at every step
        counts = self.counts
        rows = f"{counts.checked.sum():,} of {counts.rows.sum():,} unlabelled rows checked"
        return f"{type(self).__name__}({rows}, {counts.found.sum():,} of them positive)"

    def __str__(self) -> str:
        counts = self.counts
        head = (
            f"{counts.checked.sum():,} of {counts.rows.sum():,} unlabelled rows checked in {counts.strata} "
            f"{'stratum' if counts.strata == 1 else 'strata'}, {counts.found.sum():,} positive"
        )
        if counts.undecided.any():
            head += f", {counts.undecided.sum():,} undecided"
        lines = [f"{head}. Nothing is assumed about labelling.", ""]
        wide = max(len(name) for name in self.estimates)
        for name, result in self.estimates.items():
            value = "undefined" if math.isnan(result.value) else f"{result.value:.3f}"
            limits = "" if result.interval is None else f"  {result.interval}"
            lines.append(f"{name:<{wide}}  {value:>9}{limits}")
        return "\n".join([*lines, *(["", *map(str, self.notices)] if self.notices else [])])


def _plain(number: float | None) -> float | None:
    return real(number) if math.isfinite(real(number)) else None


def _one_a_stratum(name: str, values: Any) -> Any:
    if not hasattr(values, "__len__") and isinstance(values, Iterator):
        values = list(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or getattr(values, "shape", None) == ():
        raise InputError(f"{name} must hold one number for each stratum, got {shown(values)}.")
    return np.asarray(plain_values(list(values) if isinstance(values, Mapping | Set) else values))


def from_counts(
    *,
    rows: Iterable[int],
    checked: Iterable[int],
    found: Iterable[int],
    flagged: int,
    labelled: Iterable[int] = (),
    known_negative: Iterable[int] = (),
    undecided: Iterable[int] = (),
    scenario: str = "single-set",
    threshold: float | None = None,
    confidence: float = 0.95,
    interval: str = "balanced",
    anytime: bool = False,
    seed: int = 0,
) -> AuditResult:
    """An audit from counts alone, one number a stratum, highest scores first; the first ``flagged`` are flagged.

    >>> result = from_counts(rows=[200, 300, 900, 2600, 6000], checked=[60, 40, 35, 30, 35], found=[45, 8, 2, 0, 0],
    ...     flagged=1, scenario="case-control")
    >>> print(result.estimates["precision"], round(result.estimates["recall"].value, 3))
    precision 0.750 [0.650, 0.830] 0.574
    """
    given = {
        "rows": rows,
        "checked": checked,
        "found": found,
        "labelled": labelled,
        "known_negative": known_negative,
        "undecided": undecided,
    }
    counts = AuditCounts(
        **{name: _one_a_stratum(name, each) for name, each in given.items()},
        flagged=flagged,
        scenario=scenario,  # type: ignore[arg-type]  # the word is checked there
    )
    return AuditResult(
        counts=counts, threshold=threshold, confidence=confidence, interval=interval, anytime=anytime, seed=seed
    )
