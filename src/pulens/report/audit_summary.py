"""What a reader of an audit is shown: its numbers beside recovered ones, the test of labelling, what comes next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pulens.estimate import Estimate, Interval
from pulens.report.words import doubt, percent, title_of

if TYPE_CHECKING:
    from pulens.audits import AuditResult, Identified
    from pulens.audits.labelling_curve import LabellingRate

#: In reading order; the others are in the JSON.
SHOWN = ("precision", "recall", "f1", "class_prior", "accuracy", "specificity", "matthews_correlation", "roc_auc")
NOTHING_ASSUMED, RECOVERED = "assuming nothing", "recovered"


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One metric in the columns of an audit; an estimate is ``None`` where the column has none."""

    name: str
    assuming_nothing: Estimate
    recovered: Estimate | None

    @property
    def title(self) -> str:
        return "Class prior" if self.name == "class_prior" else title_of(self.name)


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """The sentences and the table of an audit, the same in text, Markdown, JSON and on the page.

    ``contradicted`` holds the words shown before every number that assumes random labels, where the answers contradict
    that.
    """

    checked: str
    rows: tuple[AuditRow, ...]
    labelling: str
    contradicted: str
    curve: tuple[tuple[str, str], ...]
    curve_words: str
    identified: str
    more: str = ""

    @property
    def has_recovered(self) -> bool:
        return not self.contradicted and any(row.recovered is not None for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        return {
            "checked": self.checked,
            "labelling": self.labelling,
            "contradicted": self.contradicted or None,
            "identified": self.identified or None,
            "more": self.more or None,
        }


def summarise_audit(
    result: AuditResult,
    *,
    recovered: Mapping[str, Estimate] | None = None,
    identified: Identified | None = None,
    more: str = "",
) -> AuditSummary:
    """Gather what the renderings show; ``recovered`` are numbers of the same rows that assume random labels."""
    beside = recovered or {}
    rows = tuple(AuditRow(name, result.estimates[name], beside.get(name)) for name in SHOWN if name in result.estimates)
    verdict = result.labelling
    told = "" if verdict is None else verdict.verdict
    against = ""
    if verdict is not None and verdict.contradicted:
        against = f"contradicted by the audit ({_p(verdict.p_value)})"
    return AuditSummary(
        checked=checked_sentence(result),
        rows=rows,
        labelling=told or _not_tested(result),
        contradicted=against,
        curve=_curve(result),
        curve_words=_curve_words(result),
        identified="" if identified is None or not identified.bounded else identified.sentence + _ranked(identified),
        more=more,
    )


def _p(value: float) -> str:
    return f"p = {value:.2g}" if value >= 0.001 else "p < 0.001"


def checked_sentence(result: AuditResult) -> str:
    """What was checked and found, in one sentence."""
    counts = result.counts
    strata = f"{counts.strata} {'range' if counts.strata == 1 else 'ranges'} of scores"
    if not result.score_ranges:
        strata = f"{counts.strata} cells of equal chance"
    words = (
        f"{counts.checked.sum():,} of {counts.rows.sum():,} unlabelled rows were checked, in {strata}: "
        f"{counts.found.sum():,} positive"
    )
    above, below = counts.found[: counts.flagged].sum(), counts.found[counts.flagged :].sum()
    words += f" ({above:,} of the flagged rows, {below:,} of the others)"
    undecided = counts.undecided.sum()
    return f"{words}, {undecided:,} undecided." if undecided else f"{words}."


def _not_tested(result: AuditResult) -> str:
    labelled = int(result.counts.labelled.sum())
    if labelled < 5:
        return f"Whether labels are random was not tested: there are only {labelled} labelled rows."
    return "Whether labels are random was not tested: the scores of the rows are not known."


def _ranked(identified: Identified) -> str:
    reach = identified.if_it_ranks.get("recall")
    if reach is None:
        return ""
    return (
        f" If the score still ranks below the reviewed rows, recall is at least {reach.low:.3f} (no more positives "
        "there than the lowest quarter of the reviewed rows allows)."
    )


def _curve(result: AuditResult) -> tuple[tuple[str, str], ...]:
    """A label's chance in each range of scores: the range's name, and value with limits."""
    if result.labelling is None or not result.score_ranges:
        return ()
    plan, counts = getattr(result, "plan", None), result.counts
    edges = None if plan is None else plan.strata.edges
    names = [f"{int(counts.rows[place]):,} rows" for place in range(counts.strata)]
    if edges is not None:
        names = [range_words(place, counts.strata, edges) for place in range(counts.strata)]
    return tuple((name, _rate(rate)) for name, rate in zip(names, result.labelling.curve, strict=True))


def _rate(rate: LabellingRate) -> str:
    value = f"{rate.value:.3f}" if math.isfinite(rate.value) else "none found"
    high = f"{rate.high:.3f}" if math.isfinite(rate.high) else "no limit"
    return f"{value:<12}{rate.low:.3f} to {high}"


def range_words(place: int, strata: int, edges: tuple[float, ...] | None) -> str:
    """A stratum's scores in words; its number where they are not known.

    >>> [range_words(place, 3, (0.9, 0.5)) for place in range(3)]
    ['0.9 or more', '0.5 to 0.9', 'below 0.5']
    """
    if edges is None or len(edges) != strata - 1 or strata == 1:
        return f"{place + 1}"
    if place == 0:
        return f"{edges[0]:.4g} or more"
    if place == strata - 1:
        return f"below {edges[-1]:.4g}"
    return f"{edges[place]:.4g} to {edges[place - 1]:.4g}"


def _curve_words(result: AuditResult) -> str:
    if result.labelling is None or not result.score_ranges:
        return ""
    if result.labelling.curve.relative:
        return "How often a positive is labelled, as a multiple of the average (1 throughout if labels are random)"
    return "Share of the positives that are labelled (the same throughout if labels are random)"


def number(result: Estimate | None) -> str:
    """A value as it is shown; nothing where there is none."""
    if result is None:
        return ""
    return "undefined" if result.undefined_because else f"{result.value:.3f}"


def limits(result: Estimate | None) -> str:
    """An interval as it is shown: one-sided where the value is the end of its scale.

    >>> limits(Estimate("recall", 1.0, Interval(0.233, 1.0, 0.95, "audit, balanced")))
    'at least 0.233'
    >>> limits(Estimate("recall", float("nan"), Interval(0.015, 1.0, None, "bounds"), "left out", basis="bounds"))
    'bounds 0.015 to 1.000'
    """
    if result is None or result.interval is None:
        return ""
    low, high = result.interval.low, result.interval.high
    if result.basis == "bounds" and low < high:
        return f"bounds {low:.3f} to {high:.3f}"
    if result.value == 1 and high == 1 and low < 1:
        return f"at least {low:.3f}"
    if result.value == 0 and low == 0 and high > 0:
        return f"at most {high:.3f}"
    return f"{low:.3f} to {high:.3f}"


def audit_verdict(result: AuditResult) -> tuple[str, ...]:
    """The headline: what the checked rows prove, nothing assumed about labelling."""
    precision, recall, f1 = (result.estimates[name] for name in ("precision", "recall", "f1"))
    at = "" if result.threshold is None else f" at {result.threshold:.6g} or above"
    if math.isnan(precision.value):
        first = f"Precision is not known: {precision.undefined_because}."
    else:
        first = f"Of the rows flagged{at}, {percent(precision.value)}{doubt(precision.interval)} are truly positive"
        first += f"; {_share_found(recall)}."
    checked = int(result.counts.checked.sum())
    return (
        first,
        f"{_f1(f1)}This is based on {checked:,} checked rows and assumes nothing about how labels were chosen.",
    )


def _share_found(recall: Estimate) -> str:
    if recall.interval is not None and recall.basis == "bounds":
        return f"they are between {percent(recall.interval.low)} and {percent(recall.interval.high)} of all positives"
    if math.isnan(recall.value):
        return f"what share of all positives they are is not known ({recall.undefined_because})"
    if recall.value == 1 and recall.interval is not None and recall.interval.low < 1:
        return f"they are at least {percent(recall.interval.low)} of all positives (none was found below)"
    return f"they are {percent(recall.value)}{doubt(recall.interval)} of all positives"


def _f1(f1: Estimate) -> str:
    if math.isnan(f1.value) or f1.basis == "bounds":
        return ""
    reach: Interval | None = f1.interval
    return f"F1 is {f1.value:.3f}" + ("" if reach is None else f" ({reach.low:.3f} to {reach.high:.3f})") + ". "
