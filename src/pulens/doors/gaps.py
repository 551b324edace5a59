"""Whom does the model miss: a number in every group, all gaps between groups, and how sure they are at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from pulens.confidence import check_confidence
from pulens.doors.common_prior import CommonPrior, Turn
from pulens.doors.gap_rates import (
    CountedRates,
    GroupRates,
    IntervalRates,
    difference_ends,
    quantile_of_equality,
    rest_ends,
)
from pulens.doors.grouped_rows import GroupedRows, plain_of, title_of
from pulens.doors.segments import REPORTED, Evaluations, among_many, estimate_in, evaluate_by, read_groups
from pulens.errors import InputError, PulensError, shown
from pulens.estimate import Estimate, Interval
from pulens.intervals.kernels.mover import mover
from pulens.intervals.kernels.quantiles import normal_quantile
from pulens.intervals.kernels.simultaneous import LargestOf, independent_quantile
from pulens.metrics import find
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.rests_on import RANDOM_LABELLING
from pulens.types import Floats
from pulens.whole_files import write_whole

FEWEST_LABELLED = 5  # labelled rows below which a group is shown but not tested
MOST_GROUPS = 100  # groups of which all pairs are compared: 4,950
LEAST_POINTS = 0.05  # an audit is not asked to settle smaller gaps
_SURE = ("given", "same for all", "audit", "counted")  # class priors that say how positives divide among groups


@dataclass(frozen=True)
class GroupRate:
    """One group: its number with an interval that holds for all groups at once, and its share flagged.

    ``untested`` says why it is left out of the comparisons; its interval is then its own.
    """

    name: Any
    labelled: float
    rows: float
    estimate: Estimate
    flagged: float
    untested: str = ""

    @property
    def title(self) -> str:
        return title_of(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        answer = {
            "group": plain_of(self.name),
            "labelled": self.labelled,
            "rows": self.rows,
            self.estimate.metric: self.estimate.to_dict(),
            "share_flagged": None if math.isnan(self.flagged) else self.flagged,
            "tested": not self.untested,
        }
        return {**answer, "untested_because": self.untested} if self.untested else answer


@dataclass(frozen=True)
class Gap:
    """The first group less the second (``None``: all others together), with ends that hold for all pairs at once.

    ``turns_at`` is the class prior, common to both, at which they change places, where the number needs one.
    """

    first: Any
    second: Any
    value: float
    low: float
    high: float
    turns_at: float | None = None
    of_rest: bool = False

    @property
    def is_clear(self) -> bool:
        """Whether 0 is outside."""
        return self.low > 0 or self.high < 0

    def to_dict(self, *, needs_prior: bool = False) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        second = {} if self.of_rest else {"second": plain_of(self.second)}
        ends = {"value": self.value, "low": self.low, "high": self.high, "clear": self.is_clear}
        turn = {"turns_at": self.turns_at} if needs_prior and not self.of_rest else {}
        return {"first": plain_of(self.first), **second, **ends, **turn}


@dataclass(frozen=True)
class AuditSize:
    r"""Checked positives per group that would settle a gap, :math:`2 (c/d)^2 x(1-x)`, and what that takes.

    A difference of two shares of :math:`n` positives each is known to within :math:`c\sqrt{2x(1-x)/n}`; :math:`c` is the
    critical value of the gaps, 1.96 for two groups. ``positives`` is the larger number of the two groups that are
    furthest apart; ``missing`` says how many each group lacks beside its labelled rows, and ``rows`` how many unlabelled
    rows have to be checked for that, where a class prior says how many of them are positive.
    """

    points: float
    positives: int
    missing: Mapping[Any, int]
    rows: Mapping[Any, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        groups = [
            {"group": plain_of(name), "missing": many, "rows_to_check": self.rows.get(name)}
            for name, many in self.missing.items()
        ]
        return {"points": self.points, "positives_per_group": self.positives, "groups": groups}


@dataclass(frozen=True, repr=False)
class Gaps:
    """How far groups are apart in one number, for all pairs at once; see :meth:`pulens.Evaluations.gaps`.

    ``groups`` stand with the worst first, ``differences`` with the clearest first. ``p_value_equal`` is the chance that
    the largest standardised difference is as large where all groups are equal. ``columns`` are the columns that were
    asked for in one call: all intervals hold for all of them at once.
    """

    group_by: str
    metric: str
    confidence: float
    threshold: float | None
    threshold_words: str
    groups: tuple[GroupRate, ...]
    differences: tuple[Gap, ...]
    against_rest: tuple[Gap, ...]
    rest_weighed_by: Literal["labelled rows", "positives"]
    together: Estimate | None
    critical_value: float | None
    p_value_equal: float | None
    needs_prior: bool
    order_needs_prior: bool
    common_prior: CommonPrior | None
    audit: AuditSize | None
    columns: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def tested(self) -> tuple[GroupRate, ...]:
        return tuple(group for group in self.groups if not group.untested)

    @property
    def lead(self) -> Gap | None:
        """The pair to speak of first: the one whose gap is surest to be large, or else the largest."""
        if not self.differences:
            return None
        clearest = max(self.differences, key=lambda gap: gap.low)
        return clearest if clearest.low > 0 else max(self.differences, key=lambda gap: gap.value)

    @property
    def largest(self) -> Gap | None:
        """Highest less lowest; its ends are the largest ends over pairs, at least 0.

        It is above 0 even where groups are equal: ``p_value_equal`` is the test.
        """
        if not self.differences:
            return None
        widest = max(self.differences, key=lambda gap: gap.value)
        low = max(0.0, *(gap.low for gap in self.differences))
        high = max(max(gap.high, -gap.low) for gap in self.differences)
        return replace(widest, low=min(low, widest.value), high=high, turns_at=None)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Where the groups of :attr:`lead` change places while one class prior, common to both, moves."""
        lead, common = self.lead, self.common_prior
        if lead is None or common is None:
            return ()
        return common.turns_of(common.names.index(lead.first), common.names.index(lead.second))

    @property
    def verdict(self) -> str:
        """The gap in a sentence."""
        from pulens.report.gaps import verdict_of

        return verdict_of(self)

    def __str__(self) -> str:
        from pulens.report.gaps import gaps_text

        return gaps_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {"gaps": self.content()}

    def content(self) -> dict[str, Any]:
        """What stands under ``"gaps"`` in the JSON."""
        largest = self.largest
        return {
            "metric": self.metric,
            "group_by": self.group_by,
            "columns": list(self.columns),
            "threshold": self.threshold,
            "confidence": self.confidence,
            "simultaneous": True,
            "critical_value": self.critical_value,
            "p_value_equal": self.p_value_equal,
            "groups": [group.to_dict() for group in self.groups],
            "differences": [gap.to_dict(needs_prior=self.needs_prior) for gap in self.differences],
            "largest": None if largest is None else largest.to_dict(),
            "against_rest": [gap.to_dict() for gap in self.against_rest],
            "rest_weighed_by": self.rest_weighed_by,
            "all_groups": None if self.together is None else self.together.to_dict(),
            "needs_prior": self.needs_prior,
            "order_needs_prior": self.order_needs_prior,
            "at_a_common_prior": self._common(),
            "audit": None if self.audit is None else self.audit.to_dict(),
            "verdict": self.verdict,
            "notes": list(self.notes),
        }

    def _common(self) -> dict[str, Any] | None:
        """The pair that the verdict speaks of, at one class prior for both."""
        lead, common = self.lead, self.common_prior
        if lead is None or common is None:
            return None
        first, second = common.names.index(lead.first), common.names.index(lead.second)
        ratio = common.ratio_of_precisions(first, second)
        turns = [{"metric": turn.metric, "turns_at": turn.at} for turn in self.turns]
        return {
            "first": plain_of(lead.first),
            "second": plain_of(lead.second),
            "possible_up_to": float(min(common.largest[first], common.largest[second])),
            "ratio_of_precisions": ratio if math.isfinite(ratio) else None,
            "turns": turns,
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """The differences as a table of Polars, pandas or PyArrow, whichever is there or named."""
        from pulens.inputs.frames import frame_of

        columns: dict[str, list[Any]] = {
            "first": [title_of(gap.first) for gap in self.differences],
            "second": [title_of(gap.second) for gap in self.differences],
            **{name: [getattr(gap, name) for gap in self.differences] for name in ("value", "low", "high")},
            "clear": [gap.is_clear for gap in self.differences],
        }
        return frame_of(columns, backend)

    def plot(self, axes: Any = None) -> Any:
        """Groups with their intervals, and the differences of pairs; returns both axes."""
        from pulens.plots import draw_gaps

        return draw_gaps(self, axes)

    def to_markdown(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """The tables as Markdown; written to ``path`` if given."""
        from pulens.report.gaps import gaps_markdown

        text = gaps_markdown((self,), title=title)
        if path is not None:
            write_whole(path, text)
        return text

    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page; written to ``path`` if given."""
        from pulens.report.gaps_page import gaps_page

        page = gaps_page((self,), title=title)
        if path is not None:
            write_whole(path, page)
        return page


class GapsByColumn(Mapping[str, Gaps]):
    """The gaps of several columns, asked for in one call: intervals hold for all groups of all columns at once."""

    def __init__(self, found: Mapping[str, Gaps]) -> None:
        self._found = dict(found)

    def __getitem__(self, column: str) -> Gaps:
        return self._found[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __str__(self) -> str:
        return "\n\n".join(str(gaps) for gaps in self.values())

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {"columns": list(self), "gaps_by_column": {column: gaps.content() for column, gaps in self.items()}}

    def to_markdown(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """The tables of all columns as Markdown; written to ``path`` if given."""
        from pulens.report.gaps import gaps_markdown

        text = gaps_markdown(tuple(self.values()), title=title)
        if path is not None:
            write_whole(path, text)
        return text

    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page with a part for each column; written to ``path`` if given."""
        from pulens.report.gaps_page import gaps_page

        page = gaps_page(tuple(self.values()), title=title)
        if path is not None:
            write_whole(path, page)
        return page


def gaps_by(
    source: Any,
    group_by: str | Sequence[str],
    metric: str = "recall",
    *,
    threshold: float | None = None,
    confidence: float = 0.95,
    **options: Any,
) -> Gaps | GapsByColumn:
    """Gaps between the groups of one column, or of several that are asked for in one call.

    Who looks at many columns finds a gap somewhere: with several columns each has its share of the error, so that all
    intervals of all of them hold at once, and p-values are multiplied by their number (Bonferroni).

    Where the number needs no class prior, none is given and the threshold is, rows are counted and nothing else is
    done. Otherwise ``options`` are those of :func:`pulens.evaluate_by`.

    >>> import polars
    >>> rows = {"score": [.9, .8, .3, .2] * 20, "label": [1, 0, 1, 0] * 20, "sex": ["f", "f", "m", "m"] * 20}
    >>> print(gaps_by(polars.DataFrame(rows), "sex", threshold=0.5).verdict)
    f finds 100%, m 0%: 83 to 100 points apart (all pairs considered).
    """
    columns = (group_by,) if isinstance(group_by, str) else tuple(group_by)
    if not columns or len(set(columns)) < len(columns):
        raise InputError(f"group_by names the columns whose groups are compared, each once, got {shown(group_by)}.")
    found = {name: _gaps_in(source, name, columns, metric, threshold, confidence, options) for name in columns}
    return found[group_by] if isinstance(group_by, str) else GapsByColumn(found)


def _gaps_in(
    source: Any,
    column: str,
    columns: tuple[str, ...],
    metric: str,
    threshold: float | None,
    confidence: float,
    options: Mapping[str, Any],
) -> Gaps:
    facts = find(metric)
    asked = {"threshold": threshold, "confidence": confidence, **options}
    needs_rows_alone = (facts.of_labelled or facts.counted) and not options.get("label_noise")
    if needs_rows_alone and threshold is not None and not _says_of_priors(options):
        return gaps_of_rows(read_groups(source, column, **asked), metric, confidence=confidence, columns=columns)
    names = options.get("metrics", REPORTED)
    asked["metrics"] = tuple(dict.fromkeys((*names, metric)))
    return evaluate_by(source, column, **asked).gaps(metric, confidence=confidence, columns=columns)


def _says_of_priors(options: Mapping[str, Any]) -> bool:
    names = ("class_prior", "unlabelled_prior", "audit", "class_prior_column", "same_prior")
    return any(options.get(name) for name in names)


def gaps_of_rows(
    rows: GroupedRows,
    metric: str,
    *,
    confidence: float = 0.95,
    columns: Sequence[str] = (),
    found: Evaluations | None = None,
) -> Gaps:
    """The gaps of groups whose rows were counted; ``found`` has their class priors, where there are any."""
    level, facts = check_confidence(confidence), find(metric)
    asked = tuple(columns) or (rows.group_by,)
    each = 1 - (1 - level) / len(asked)
    _check_groups(rows, facts, metric)
    needs_prior = (facts.needs_class_prior or rows.label_noise > 0) and not facts.counted and not _all_known(rows)
    by_count = (facts.of_labelled or facts.counted) and rows.label_noise == 0
    every = _counted(rows, facts, metric, found, level) if by_count else _estimated(rows, facts, metric, found)
    kept = np.array([not reason for reason in every.untested], bool)
    rates = every.rates(kept)
    names = [name for name, is_kept in zip(rows.tallies, kept, strict=True) if is_kept]
    own = independent_quantile(len(names), each)
    groups = _groups(rows, metric, every, kept, rates.ends(own) if names else None, level)
    common = _common_prior(rows, names, kept, found)
    compared = _compare(rates, names, each, common if needs_prior and facts.reads == "threshold" else None, metric)
    weights, weighed_by = _weights(rows, names, kept, found)
    notes = _notes(rows, facts, asked, every, found)
    ordered = sorted(groups, key=lambda group: _worst_first(group, facts))
    p_value = None if compared is None else min(1.0, compared.p_value * len(asked))
    answer = Gaps(
        rows.group_by,
        metric,
        level,
        rows.threshold if facts.needs_threshold else None,
        rows.threshold_words,
        tuple(ordered),
        () if compared is None else compared.differences,
        _against_rest(rates, names, weights, each),
        weighed_by,
        _together(rates, weights, metric, level),
        None if compared is None else compared.critical_value,
        p_value,
        needs_prior,
        needs_prior and not facts.order_is_fixed,
        common,
        None,
        asked,
        notes,
    )
    return replace(answer, audit=_audit_size(answer, found)) if by_count and facts.of_labelled else answer


def _check_groups(rows: GroupedRows, facts: Metric, metric: str) -> None:
    if rows.threshold is None and facts.needs_threshold:
        raise InputError(
            f"gaps compare groups at one threshold, and with threshold='each' every group has its own: give a number as "
            f"threshold to compare {metric} at it, or none for the best F1 on the rows of all groups."
        )
    large = int((rows.tallies.totals[:, 0] >= FEWEST_LABELLED).sum())
    if large > MOST_GROUPS:
        raise InputError(
            f"column {shown(rows.group_by)} has {large:,} groups with {FEWEST_LABELLED} labelled rows or more, which make "
            f"{large * (large - 1) // 2:,} pairs; gaps compare all pairs of up to {MOST_GROUPS} groups. Join groups into "
            "fewer in a column of their own, keep those in question with a condition (--where), or read the numbers of "
            "each without gaps: evaluate_by(...), --group-by without --gaps."
        )


def _all_known(rows: GroupedRows) -> bool:
    """Whether the class of every row is known."""
    return not rows.tallies.totals[:, 1].any()


@dataclass(frozen=True, eq=False)
class _Every:
    """The number of every group, with the reason why one is not tested."""

    values: Floats
    lows: Floats  # of each group's own interval
    highs: Floats
    untested: tuple[str, ...]
    undefined: tuple[str, ...]
    method: str
    rests_on: tuple[str, ...]
    parts: tuple[Floats, Floats] | None  # hits and rows, where the number is a share of counted rows
    limits: tuple[float, float] = (0.0, 1.0)
    is_range: Floats | None = None
    quantile: float = 1.96

    def rates(self, kept: Floats) -> GroupRates:
        if self.parts is not None:
            return CountedRates(self.parts[0][kept], self.parts[1][kept])
        assert self.is_range is not None
        numbers = (self.values[kept], self.lows[kept], self.highs[kept])
        return IntervalRates(*numbers, self.quantile, *self.limits, self.is_range[kept].astype(bool))


def _too_few(labelled: float) -> str:
    return "" if labelled >= FEWEST_LABELLED else f"fewer than {FEWEST_LABELLED} labelled rows"


def _counted(rows: GroupedRows, facts: Metric, metric: str, found: Evaluations | None, level: float) -> _Every:
    """Shares of labelled rows, or of rows of the population, at or above the threshold."""
    totals, above = rows.counts()
    if facts.of_labelled:
        many, hits = totals[:, 0], above[:, 0]
        untested = [_too_few(labelled) or _impossible(name, metric, found) for name, labelled in _labelled(rows)]
    else:
        many, hits = rows.population(totals), rows.population(above)
        untested = ["" if total else "no rows" for total in many.tolist()]
    values = np.divide(hits, many, out=np.full(many.shape, np.nan), where=many > 0)
    alone = CountedRates(hits, np.maximum(many, 1e-12)).ends(normal_quantile(level)) if many.size else (values, values)
    undefined = tuple("" if total else "no labelled row" if facts.of_labelled else "no rows" for total in many.tolist())
    taken = () if facts.counted or _all_known(rows) else (RANDOM_LABELLING,)
    return _Every(values, *alone, tuple(untested), undefined, "Jeffreys", taken, (hits, many))


def _labelled(rows: GroupedRows) -> Iterator[tuple[Any, float]]:
    return zip(rows.tallies, rows.tallies.totals[:, 0].tolist(), strict=True)


def _impossible(name: Any, metric: str, found: Evaluations | None) -> str:
    """Why a group's labels cannot be a random draw at its class prior, where that is so."""
    if found is None or name not in found.segments or metric not in found.metrics:
        return ""
    is_random = found.segments[name].estimates[metric].basis == "random labelling"
    return "" if is_random else "its labels cannot be a random draw at its class prior"


def _estimated(rows: GroupedRows, facts: Metric, metric: str, found: Evaluations | None) -> _Every:
    """Numbers that rest on class priors or on the whole ranking, with the intervals of each group's evaluation."""
    if found is None:
        raise PulensError(f"gaps in {metric} need an evaluation of each group: evaluate_by(...).gaps({metric!r}).")
    estimates: list[Estimate] = []
    untested = []
    for name, labelled in _labelled(rows):
        if name in found.segments:
            segment = found.segments[name]
            known = segment.estimates
            estimate = known[metric] if metric in known else estimate_in(among_many(segment.evaluation), metric)
        else:
            estimate = Estimate(metric, math.nan, undefined_because=found.skipped.get(name, "not evaluated"))
        reason = "" if estimate.basis == "random labelling" else "its labels cannot be a random draw at its class prior"
        if estimate.interval is None and not estimate.undefined_because:
            reason = "no interval: its evaluation has none"
        estimates.append(estimate)
        untested.append(estimate.undefined_because or _too_few(labelled) or reason)
    ends = [(each.value, each.value) if each.interval is None else (each.interval.low, each.interval.high) for each in estimates]
    lows, highs = np.array(ends, float).T if ends else (np.zeros(0), np.zeros(0))
    sure = [each.interval.confidence for each in estimates if each.interval is not None]
    confidence = next((level for level in sure if level is not None), 0.95)
    possibilities = np.array([each.interval is not None and each.interval.confidence is None for each in estimates])
    if rows.label_noise or facts.needs_class_prior:
        possibilities |= np.array([_has_range(found, name) for name in rows.tallies])
    return _Every(
        np.array([each.value for each in estimates]),
        lows,
        highs,
        tuple(untested),
        tuple(each.undefined_because or "" for each in estimates),
        next((each.interval.method for each in estimates if each.interval is not None), ""),
        next((each.rests_on or () for each in estimates if each.interval is not None), ()),
        None,
        (facts.lowest, facts.highest),
        possibilities.astype(float),
        normal_quantile(confidence),
    )


def _has_range(found: Evaluations, name: Any) -> bool:
    """Whether a group's class prior was given as a range."""
    if name not in found.segments:
        return False
    interval = found.segments[name].evaluation.class_prior.interval
    return interval is not None and interval.confidence is None and interval.width > 0


def _groups(
    rows: GroupedRows, metric: str, every: _Every, kept: Floats, ends: tuple[Floats, Floats] | None, level: float
) -> list[GroupRate]:
    """Every group with its interval: at once with all others if it is tested, its own if not."""
    totals = rows.tallies.totals
    population = rows.population(totals)
    flagged = np.full(len(rows.tallies), np.nan)
    if rows.threshold is not None:
        np.divide(rows.population(rows.counts()[1]), population, out=flagged, where=population > 0)
    lows, highs = every.lows.copy(), every.highs.copy()
    if ends is not None:
        lows[kept], highs[kept] = ends
    answers = []
    for place, name in enumerate(rows.tallies):
        value = float(every.values[place])
        method = f"{every.method}, {'this group alone' if every.untested[place] else 'all groups at once'}"
        interval = None if math.isnan(value) else Interval(float(lows[place]), float(highs[place]), level, method)
        undefined = every.undefined[place] if math.isnan(value) else None
        at = rows.threshold if find(metric).needs_threshold else None
        estimate = Estimate(metric, value, interval, undefined_because=undefined, threshold=at, rests_on=every.rests_on)
        row = GroupRate(
            name,
            float(totals[place, 0]),
            float(totals[place].sum()),
            estimate,
            float(flagged[place]),
            every.untested[place],
        )
        answers.append(row)
    return answers


def _worst_first(group: GroupRate, facts: Metric) -> tuple[bool, float]:
    value = group.estimate.value
    return math.isnan(value), 0.0 if math.isnan(value) else value if facts.higher_is_better else -value


@dataclass(frozen=True)
class _Compared:
    """All pairs of tested groups."""

    differences: tuple[Gap, ...]
    critical_value: float
    p_value: float


def _compare(
    rates: GroupRates, names: Sequence[Any], confidence: float, common: CommonPrior | None, metric: str
) -> _Compared | None:
    if len(names) < 2:
        return None
    largest = LargestOf.pairs(rates.errors)
    critical = largest.quantile(confidence)
    one, other = np.triu_indices(len(names), 1)
    swapped = rates.values[one] < rates.values[other]
    first, second = np.where(swapped, other, one), np.where(swapped, one, other)  # differences are at least 0
    low, high = difference_ends(rates, first, second, critical)
    turns = np.full(first.shape, np.nan) if common is None else common.turns(metric, first, second)
    most = 8 * critical + 40
    reached = quantile_of_equality(rates, first, second, most)
    differences = [
        Gap(names[a], names[b], float(value), float(below), float(above), None if math.isnan(turn) else float(turn))
        for a, b, value, below, above, turn in zip(
            first, second, rates.values[first] - rates.values[second], low, high, turns, strict=True
        )
    ]
    differences.sort(key=lambda gap: (-gap.low, -gap.value))
    return _Compared(tuple(differences), critical, largest.beyond(reached) if reached > 0 else 1.0)


def _weights(
    rows: GroupedRows, names: Sequence[Any], kept: Floats, found: Evaluations | None
) -> tuple[Floats, Literal["labelled rows", "positives"]]:
    """How much each tested group counts among others: its positives where class priors say, else its labelled rows."""
    labelled = rows.tallies.totals[kept, 0]
    if found is None or any(name not in found.segments for name in names):
        return labelled, "labelled rows"
    segments = [found.segments[name] for name in names]
    if not segments or any(segment.prior_source not in _SURE for segment in segments):
        return labelled, "labelled rows"
    every = rows.population(rows.tallies.totals)[kept]
    return every * np.array([segment.evaluation.class_prior.value for segment in segments]), "positives"


def _against_rest(rates: GroupRates, names: Sequence[Any], weights: Floats, confidence: float) -> tuple[Gap, ...]:
    if len(names) < 2 or not (weights > 0).all():
        return ()
    values, lows, highs = rest_ends(rates, weights, confidence)
    order = np.argsort(values, kind="stable")
    return tuple(
        Gap(names[place], None, float(values[place]), float(lows[place]), float(highs[place]), of_rest=True)
        for place in order.tolist()
    )


def _together(rates: GroupRates, weights: Floats, metric: str, confidence: float) -> Estimate | None:
    """All tested groups as one."""
    if not weights.size or not weights.sum() > 0:
        return None
    shares = weights / weights.sum()
    low, high = mover(shares, rates.values, *rates.ends(normal_quantile(confidence)))
    interval = Interval(float(low), float(high), confidence, "MOVER")
    return Estimate(metric, float(shares @ rates.values), interval)


def _common_prior(
    rows: GroupedRows, names: Sequence[Any], kept: Floats, found: Evaluations | None
) -> CommonPrior | None:
    """What a class prior common to all would show; none where every class is known, or labels are noisy."""
    if rows.threshold is None or rows.label_noise or _all_known(rows) or len(names) < 2:
        return None
    totals, above = rows.counts()
    if not (totals[kept, 0] > 0).all() or not (rows.population(totals)[kept] > 0).all():
        return None
    flagged = rows.population(above)[kept] / rows.population(totals)[kept]
    return CommonPrior(tuple(names), above[kept, 0] / totals[kept, 0], flagged)


def _audit_size(gaps: Gaps, found: Evaluations | None) -> AuditSize | None:
    lead = gaps.lead
    if lead is None or gaps.critical_value is None:
        return None
    points = max(round(abs(lead.value), 2), LEAST_POINTS)
    needed = {group.name: _positives_for(group, points, gaps.critical_value) for group in gaps.tested}
    labelled = {group.name: group.labelled for group in gaps.tested}
    missing = {name: max(math.ceil(many - labelled[name]), 0) for name, many in needed.items()}
    rows = {}
    for name, many in missing.items():
        share = found.segments[name].evaluation.class_prior.unlabelled if found and name in found.segments else 0.0
        if share > 0:
            rows[name] = math.ceil(many / share)
    return AuditSize(points, max(needed[lead.first], needed[lead.second]), missing, rows)


def _positives_for(group: GroupRate, points: float, quantile: float) -> int:
    smoothed = (group.estimate.value * group.labelled + 0.5) / (group.labelled + 1)
    return math.ceil(2 * (quantile / points) ** 2 * smoothed * (1 - smoothed))


def _notes(
    rows: GroupedRows, facts: Metric, columns: Sequence[str], every: _Every, found: Evaluations | None
) -> tuple[str, ...]:
    notes = []
    if len(columns) > 1:
        notes.append(
            f"{len(columns)} columns were asked for ({', '.join(columns)}): intervals hold for all of them at once, and "
            f"p is multiplied by {len(columns)}"
        )
    if rows.is_chosen and facts.needs_threshold:
        notes.append("the threshold was chosen on these rows; intervals take it as given")
    if facts.of_labelled and rows.label_noise == 0 and not _all_known(rows):
        notes.append(
            "labels must be a random draw of the positives within each group; how often positives are labelled may differ "
            "between groups"
        )
    if rows.tallies.highest is not None:
        notes.append("scores were counted in bins: shares at a threshold within a bin are those of its edge")
    if found is not None and every.parts is None and found.segments.has_source("implied"):
        notes.append("class priors implied by one label frequency go together, which the intervals leave out of account")
    return tuple(notes)
