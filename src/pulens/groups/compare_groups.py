"""From the rows of groups to the gaps between them: numbers, pairs, each against the rest, what would settle it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.confidence import check_confidence
from pulens.errors import InputError, PulensError, shown
from pulens.estimate import Estimate, Interval
from pulens.evidence import Design
from pulens.groups.clustered_rates import ClusteredRates
from pulens.groups.common_prior import CommonPrior
from pulens.groups.gap_rates import (
    CountedRates,
    GroupRates,
    IntervalRates,
    difference_ends,
    quantile_of_equality,
    rest_ends,
    shares_correlation,
)
from pulens.groups.gaps import FEWEST_LABELLED, AuditSize, Gap, Gaps, GapsByColumn, GroupRate
from pulens.groups.grouped_rows import GroupedRows
from pulens.groups.segments import REPORTED, Evaluations, estimate_in, evaluate_by, read_groups
from pulens.inference.kernels.mover import mover
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.simultaneous import LargestOf, independent_quantile
from pulens.inputs.frames import keeps_library
from pulens.inputs.reading import said
from pulens.keywords import forwards_keywords, names_of
from pulens.metrics import find
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.rests_on import RANDOM_LABELLING
from pulens.selection import Practice
from pulens.selection.practice import held_on_real_labels
from pulens.types import Clusters, Column, Floats, LabelValues, RowsLike

MOST_GROUPS = 100  # groups of which all pairs are compared: 4,950
LEAST_POINTS = 0.05  # an audit is not asked to settle smaller gaps
POSSIBLE_WORLDS = "possible worlds"
_SURE = ("given", "same for all", "audit", "counted")  # class priors that say how positives divide among groups


@keeps_library
@forwards_keywords(evaluate_by)
def gaps_by(
    source: RowsLike,
    group_by: str | Sequence[str],
    metric: str = "recall",
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Clusters | None = None,
    threshold: float | None = None,
    confidence: float = 0.95,
    **options: Any,
) -> Gaps | GapsByColumn:
    """Gaps between the groups of one column, or of several that are asked for in one call.

    Who looks at many columns finds a gap somewhere: with several columns each has its share of the error, so that all
    intervals of all of them hold at once, and p-values are multiplied by their number (Bonferroni).

    Where the number needs no class prior, none is given and the threshold is, rows are counted and nothing else is
    done: labels are then taken for a random draw within each group, unless ``labelling`` says otherwise. In all other
    cases ``options`` are those of :func:`pulens.evaluate_by`.

    Parameters
    ----------
    source, group_by
        A table, file or database, and its column of groups, or several columns.
    metric
        What is compared: ``"recall"`` needs no class prior.
    score, label
        Columns of scores and labels, where the first argument is a table, file or database; ``"score"`` and
        ``"label"`` unless given.
    positive, negative, unlabelled
        Label values that mean labelled positive, known negative and unlabelled, each a value or a list.
    cluster
        Column of clusters whose rows are alike (a patient, a customer); intervals allow for it. An array beside arrays.
    threshold, confidence, options
        As in :func:`pulens.evaluate_by`.

    Returns
    -------
    Gaps or GapsByColumn
        The groups, their differences with intervals that hold for all pairs at once, and a verdict.

    Examples
    --------
    >>> import polars
    >>> rows = {"score": [.9, .8, .3, .2] * 20, "label": [1, 0, 1, 0] * 20, "sex": ["f", "f", "m", "m"] * 20}
    >>> print(gaps_by(polars.DataFrame(rows), "sex", threshold=0.5).verdict)
    f finds 100%, m 0%: 84 to 100 points apart (all pairs considered).
    """
    options |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    columns = names_of("group_by", group_by)
    if not columns or len(set(columns)) < len(columns):
        raise InputError(f"group_by names the columns whose groups are compared, each once, got {shown(group_by)}.")
    Design.among(options).check("gaps")
    result = {name: _gaps_in(source, name, columns, metric, threshold, confidence, options) for name in columns}
    return result[group_by] if isinstance(group_by, str) else GapsByColumn(result)


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
    needs_rows_alone &= options.get("labelling") in (None, "random") or facts.counted
    if needs_rows_alone and threshold is not None and not _says_of_priors(options):
        return gaps_of_rows(read_groups(source, column, **asked), metric, confidence=confidence, columns=columns)
    names = names_of("metrics", options.get("metrics", REPORTED))
    asked["metrics"] = tuple(dict.fromkeys((*names, metric)))
    return evaluate_by(source, column, **asked).gaps(metric, confidence=confidence, columns=columns)


def _says_of_priors(options: Mapping[str, Any]) -> bool:
    names = ("class_prior", "unlabelled_prior", "audit", "class_prior_column", "same_prior")
    return any(options.get(name) is not None and options[name] is not False for name in names)


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
    asked = names_of("columns", columns) or (rows.group_by,)
    each = 1 - (1 - level) / len(asked)
    _check_groups(rows, facts, metric)
    uneven = None if found is None else found.uneven
    by_count = ((facts.of_labelled and uneven is None) or facts.counted) and rows.label_noise == 0
    every = _counted(rows, metric, found, level) if by_count else _estimated(rows, metric, found)
    kept = np.array([not reason for reason in every.untested], bool)
    rates = every.rates(kept)
    names = [name for name, is_kept in zip(rows.tallies, kept, strict=True) if is_kept]
    needs_prior = _rests_on_priors(rows, facts, uneven)
    common = _common_prior(rows, names, kept)
    turning = common if needs_prior and facts.reads == "threshold" else None
    compared = _compare(rates, names, each, turning, metric)
    weights, weighed_by = _weights(rows, names, kept, found)
    groups = _groups(rows, every, kept, rates.ends(independent_quantile(len(names), each)), level)
    answer = Gaps(
        rows.group_by,
        metric,
        level,
        rows.threshold if facts.needs_threshold else None,
        rows.threshold_words,
        tuple(sorted(groups, key=lambda group: _worst_first(group, facts))),
        compared.differences,
        _against_rest(rates, names, weights, each),
        weighed_by,
        _together(rates, weights, metric, level),
        compared.critical_value,
        None if compared.p_value is None else min(1.0, compared.p_value * len(asked)),
        needs_prior,
        needs_prior and not facts.order_is_fixed,
        common,
        None,
        asked,
        _notes(rows, facts, asked, uneven),
        rows.many_buckets,
        "random" if found is None else found.labelling,
    )
    if not by_count or not facts.of_labelled:
        return answer
    return replace(answer, audit=_audit_size(answer, found, _cost_of_clusters(answer.lead, rates, names)))


def _rests_on_priors(rows: GroupedRows, facts: Metric, uneven: object = None) -> bool:
    if facts.counted or facts.ignores_class_prior or _all_known(rows):
        return False
    return facts.needs_class_prior or rows.label_noise > 0 or uneven is not None


def _check_groups(rows: GroupedRows, facts: Metric, metric: str) -> None:
    if rows.threshold is None and facts.needs_threshold:
        raise InputError(
            "gaps compare groups at one threshold, and with threshold='each' every group has its own: give a number as "
            f"threshold to compare {metric} at it, or none for the best F1 on the rows of all groups."
        )
    large = int((rows.tallies.totals[:, 0] >= FEWEST_LABELLED).sum())
    if large > MOST_GROUPS:
        raise InputError(
            f"column {shown(rows.group_by)} has {large:,} groups with {FEWEST_LABELLED} labelled rows or more, which "
            f"make {large * (large - 1) // 2:,} pairs; gaps compare all pairs of up to {MOST_GROUPS} groups. Join "
            "groups into fewer in a column of their own, keep those in question with a condition (--where), or read "
            "the numbers of each without gaps: evaluate_by(...), --group-by without --gaps."
        )


def _all_known(rows: GroupedRows) -> bool:
    """Whether the class of every row is known."""
    return not rows.tallies.totals[:, 1].any()


@dataclass(frozen=True, eq=False)
class _Every:
    """Each group's number with an interval of its own, and the reason why some are not tested.

    ``parts`` are hits and rows, where the number is a share of counted rows.
    """

    estimates: tuple[Estimate, ...]
    untested: tuple[str, ...]
    parts: tuple[Floats, Floats] | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    is_range: NDArray[np.bool_] | None = None
    quantile: float = 1.96
    correlations: Floats | None = None
    clustered: ClusteredRates | None = None

    def rates(self, kept: NDArray[np.bool_]) -> GroupRates:
        if self.clustered is not None:
            return self.clustered.of(kept)
        if self.parts is not None:
            return CountedRates(self.parts[0][kept], self.parts[1][kept])
        assert self.is_range is not None
        own = [estimate for estimate, is_kept in zip(self.estimates, kept, strict=True) if is_kept]
        values = np.array([estimate.value for estimate in own])
        lows, highs = np.array([_ends_of(estimate) for estimate in own], float).reshape(-1, 2).T
        linked = None if self.correlations is None else self.correlations[np.ix_(kept, kept)]
        return IntervalRates(values, lows, highs, self.quantile, *self.limits, self.is_range[kept], linked)


def _too_few(labelled: float) -> str:
    return "" if labelled >= FEWEST_LABELLED else f"fewer than {FEWEST_LABELLED} labelled rows"


def _labelled(rows: GroupedRows) -> list[float]:
    labelled: list[float] = rows.tallies.totals[:, 0].tolist()
    return labelled


def _counted(rows: GroupedRows, metric: str, result: Evaluations | None, level: float) -> _Every:
    """Shares of labelled rows, or of rows of the population, at or above the threshold."""
    facts, (totals, above) = find(metric), rows.counts()
    of = "labelled row" if facts.of_labelled else "row"
    many, hits = (counts[:, 0] if facts.of_labelled else rows.population(counts) for counts in (totals, above))
    clustered = _clustered(rows, facts, hits, many) if rows.buckets else None
    own = clustered or CountedRates(hits, np.maximum(many, 1e-12))
    lows, highs = own.ends(normal_quantile(level))
    taken = () if facts.counted or _all_known(rows) else (RANDOM_LABELLING,)
    estimates, untested = [], []
    for index, name in enumerate(rows.tallies):
        known = _known_estimate(name, metric, result)
        if not many[index]:
            estimate = Estimate(metric, math.nan, undefined_because=f"no {of}", threshold=rows.threshold)
        elif known is not None and known.basis == POSSIBLE_WORLDS:
            estimate = known
        else:
            interval = _interval(float(lows[index]), float(highs[index]), level, own.method)
            value = float(hits[index] / many[index])
            estimate = Estimate(metric, value, interval, threshold=rows.threshold, rests_on=taken)
        estimates.append(estimate)
        labelled = float(many[index]) if facts.of_labelled else math.inf
        untested.append(_why_untested(estimate, labelled, _few_clusters(clustered, index, of)))
    return _Every(tuple(estimates), tuple(untested), (hits, many), clustered=clustered)


def _interval(low: float, high: float, level: float, method: str) -> Interval | None:
    return None if math.isnan(low) else Interval(low, high, level, method)


def _few_clusters(clustered: ClusteredRates | None, index: int, of: str) -> str:
    return "" if clustered is None else clustered.too_few(index, of)


def _clustered(rows: GroupedRows, facts: Metric, hits: Floats, many: Floats) -> ClusteredRates:
    """The same shares, of rows some of which belong together."""
    totals, above = rows.bucket_counts()
    held = totals.sum(axis=(1, 2)) > 0
    own, mine = (
        counts[held][..., 0] if facts.of_labelled else rows.population(counts[held]) for counts in (totals, above)
    )
    return ClusteredRates.counted(hits, many, mine, own)


def _known_estimate(name: Any, metric: str, result: Evaluations | None) -> Estimate | None:
    """A group's number as the table of segments has it, if it does."""
    if result is None or name not in result.segments:
        return None
    return result.segments[name].estimates.get(metric)


def _estimated(rows: GroupedRows, metric: str, result: Evaluations | None) -> _Every:
    """Numbers that rest on class priors or on the whole ranking, with the intervals of each group's evaluation."""
    if result is None:
        raise PulensError(f"gaps in {metric} need an evaluation of each group: evaluate_by(...).gaps({metric!r}).")
    facts = find(metric)
    estimates = tuple(_estimate_of(name, metric, result) for name in rows.tallies)
    untested = tuple(_why_untested(each, labelled) for each, labelled in zip(estimates, _labelled(rows), strict=True))
    levels = (each.interval.confidence for each in estimates if each.interval is not None)
    confidence = next((level for level in levels if level is not None), 0.95)
    moved = _rests_on_priors(rows, facts, result.uneven)
    ranges = [
        _is_range(each) or (moved and _has_range(result, name))
        for each, name in zip(estimates, rows.tallies, strict=True)
    ]
    limits = (facts.lowest, facts.highest)
    linked = None
    if moved and result.segments.has_source("implied"):
        labelled = rows.tallies.totals[:, 0]
        linked = shares_correlation(labelled, float(labelled.sum()))
    linked = _linked_by_labelling(estimates, metric, result, list(rows.tallies), linked)
    return _Every(estimates, untested, None, limits, np.array(ranges, bool), normal_quantile(confidence), linked)


def _linked_by_labelling(
    estimates: Sequence[Estimate], metric: str, result: Evaluations, names: Sequence[Any], linked: Floats | None
) -> Floats | None:
    r"""Correlations of groups' errors where labels favour easy positives in all of them.

    The part :math:`\tau_g` of a group's spread that its tilt has goes together as the tilts of data sets of one domain
    do, :math:`r\,\tau_g\tau_k`; what else links the groups links the rest of the spread.
    """
    practice = result.uneven
    if not isinstance(practice, Practice):
        return linked
    part = np.zeros(len(names))
    for index, (name, own) in enumerate(zip(names, estimates, strict=True)):
        if name in result.segments and own.interval is not None and own.interval.width > 0:
            moved = result.segments[name].evaluation.moved_by_labelling(metric)
            part[index] = np.clip(4 * moved / own.interval.width, -1.0, 1.0)  # an interval of two spreads on each side
    rest = np.sqrt(1 - part**2)
    others = np.eye(len(names)) if linked is None else linked
    together = practice.within_domain * np.outer(part, part) + np.outer(rest, rest) * others
    np.fill_diagonal(together, 1.0)
    return np.asarray(together)


def _estimate_of(name: Any, metric: str, result: Evaluations) -> Estimate:
    """A group's number as its evaluation has it."""
    if name not in result.segments:
        return Estimate(metric, math.nan, undefined_because=result.skipped.get(name, "not evaluated"))
    return _known_estimate(name, metric, result) or estimate_in(result[name], metric)


def _why_untested(estimate: Estimate, labelled: float, few_clusters: str = "") -> str:
    if estimate.undefined_because or few_clusters:
        return estimate.undefined_because or few_clusters
    if estimate.basis == POSSIBLE_WORLDS:
        return "its labels cannot be a random draw at its class prior"
    return _too_few(labelled) or ("" if estimate.interval is not None else "its evaluation has no interval")


def _ends_of(estimate: Estimate) -> tuple[float, float]:
    interval = estimate.interval
    return (estimate.value, estimate.value) if interval is None else (interval.low, interval.high)


def _is_range(estimate: Estimate) -> bool:
    return estimate.interval is not None and estimate.interval.confidence is None


def _has_range(result: Evaluations, name: Any) -> bool:
    """Whether a group's class prior was given as a range."""
    if name not in result.segments:
        return False
    interval = result.segments[name].evaluation.class_prior.interval
    return interval is not None and interval.confidence is None and interval.width > 0


def _groups(
    rows: GroupedRows, every: _Every, kept: NDArray[np.bool_], ends: tuple[Floats, Floats], level: float
) -> list[GroupRate]:
    """Every group with its interval: at once with all others if it is tested, its own if not."""
    totals = rows.tallies.totals
    population = rows.population(totals)
    flagged = np.full(len(rows.tallies), np.nan)
    if rows.threshold is not None:
        np.divide(rows.population(rows.counts()[1]), population, out=flagged, where=population > 0)
    lows, highs = np.full((2, len(rows.tallies)), np.nan)
    lows[kept], highs[kept] = ends
    answers = []
    for index, name in enumerate(rows.tallies):
        estimate, reason = every.estimates[index], every.untested[index]
        if not reason and estimate.interval is not None:
            method = f"{estimate.interval.method}, all groups at once"
            interval = Interval(float(lows[index]), float(highs[index]), level, method)
            estimate = replace(estimate, interval=interval, sources={})
        many = float(totals[index, 0]), float(totals[index].sum())
        answers.append(GroupRate(name, *many, estimate, float(flagged[index]), reason))
    return answers


def _worst_first(group: GroupRate, facts: Metric) -> tuple[bool, float]:
    value = group.estimate.value
    return math.isnan(value), 0.0 if math.isnan(value) else value if facts.higher_is_better else -value


@dataclass(frozen=True)
class _Compared:
    """All pairs of tested groups."""

    differences: tuple[Gap, ...] = ()
    critical_value: float | None = None
    p_value: float | None = None


def _compare(
    rates: GroupRates, names: Sequence[Any], confidence: float, common: CommonPrior | None, metric: str
) -> _Compared:
    if len(names) < 2:
        return _Compared()
    largest = LargestOf.pairs(rates.errors, rates.root)
    critical = largest.quantile(confidence)
    one, other = np.triu_indices(len(names), 1)
    swapped = rates.values[one] < rates.values[other]
    first, second = np.where(swapped, other, one), np.where(swapped, one, other)  # differences are at least 0
    low, high = difference_ends(rates, first, second, critical)
    turns = np.full(first.shape, np.nan) if common is None else common.turns(metric, first, second)
    reached = quantile_of_equality(rates, first, second)
    differences = [
        Gap(names[a], names[b], float(value), float(below), float(above), None if math.isnan(turn) else float(turn))
        for a, b, value, below, above, turn in zip(
            first, second, rates.values[first] - rates.values[second], low, high, turns, strict=True
        )
    ]
    differences.sort(key=lambda gap: (-gap.low, -gap.value))
    return _Compared(tuple(differences), critical, largest.beyond(reached) if reached > 0 else 1.0)


def _weights(
    rows: GroupedRows, names: Sequence[Any], kept: NDArray[np.bool_], result: Evaluations | None
) -> tuple[Floats, Literal["labelled rows", "positives"]]:
    """How much each tested group counts among others: its positives where class priors say, else its labelled rows."""
    labelled = rows.tallies.totals[kept, 0]
    if result is None or any(name not in result.segments for name in names):
        return labelled, "labelled rows"
    segments = [result.segments[name] for name in names]
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
        Gap(names[index], None, float(values[index]), float(lows[index]), float(highs[index]), of_rest=True)
        for index in order.tolist()
    )


def _together(rates: GroupRates, weights: Floats, metric: str, confidence: float) -> Estimate | None:
    """All tested groups as one."""
    if not weights.size or not weights.sum() > 0:
        return None
    shares = weights / weights.sum()
    linked = None if rates.root is None else rates.correlations
    low, high = mover(shares, rates.values, *rates.ends(normal_quantile(confidence)), correlations=linked)
    interval = Interval(float(low), float(high), confidence, "MOVER")
    return Estimate(metric, float(shares @ rates.values), interval)


def _common_prior(rows: GroupedRows, names: Sequence[Any], kept: NDArray[np.bool_]) -> CommonPrior | None:
    """What a class prior common to all would show; none where every class is known, or labels are noisy."""
    if rows.threshold is None or rows.label_noise or _all_known(rows) or len(names) < 2:
        return None
    totals, above = rows.counts()
    if not (totals[kept, 0] > 0).all() or not (rows.population(totals)[kept] > 0).all():
        return None
    flagged = rows.population(above)[kept] / rows.population(totals)[kept]
    return CommonPrior(tuple(names), above[kept, 0] / totals[kept, 0], flagged)


def _cost_of_clusters(lead: Gap | None, rates: GroupRates, names: Sequence[Any]) -> float:
    """How many rows of the groups in the verdict say as much as one that is alone."""
    if lead is None or not isinstance(rates, ClusteredRates):
        return 1.0
    indices = {name: index for index, name in enumerate(names)}
    return rates.design_effect(indices[lead.first], indices[lead.second])


def _audit_size(gaps: Gaps, result: Evaluations | None, cost: float) -> AuditSize | None:
    lead = gaps.lead
    if lead is None or gaps.critical_value is None:
        return None
    points = max(round(abs(lead.value), 2), LEAST_POINTS)
    needed = {group.name: _positives_for(group, points, gaps.critical_value, cost) for group in gaps.tested}
    labelled = {group.name: group.labelled for group in gaps.tested}
    missing = {name: max(math.ceil(many - labelled[name]), 0) for name, many in needed.items()}
    rows, too_few = {}, {}
    for name, many in missing.items():
        if result is None or name not in result.segments:
            continue
        evaluation = result.segments[name].evaluation
        share, there = evaluation.class_prior.unlabelled, math.floor(evaluation.tally.totals.unlabelled)
        if share > 0:
            rows[name] = min(math.ceil(many / share), there)
            if many > share * there:
                too_few[name] = math.floor(share * there)
    return AuditSize(points, max(needed[lead.first], needed[lead.second]), missing, rows, too_few)


def _positives_for(group: GroupRate, points: float, quantile: float, cost: float) -> int:
    smoothed = (group.estimate.value * group.labelled + 0.5) / (group.labelled + 1)
    return math.ceil(2 * (quantile / points) ** 2 * smoothed * (1 - smoothed) * cost)


def _notes(rows: GroupedRows, facts: Metric, columns: Sequence[str], uneven: object) -> tuple[str, ...]:
    notes = []
    if len(columns) > 1:
        notes.append(
            f"{len(columns)} columns were asked for ({', '.join(columns)}): intervals hold for all of them at once, "
            f"and p is multiplied by {len(columns)}"
        )
    if rows.is_chosen and facts.needs_threshold:
        notes.append("the threshold was chosen on these rows; intervals take it as given")
    if facts.of_labelled and uneven is None and rows.label_noise == 0 and not _all_known(rows):
        notes.append(
            "labels must be a random draw of the positives within each group; how often positives are labelled may "
            f"differ between groups. On real labels such gaps held {held_on_real_labels('gaps'):.0%}"
        )
    if rows.buckets:
        notes.append(_words_on_clusters(rows, linked=(facts.of_labelled or facts.counted) and rows.label_noise == 0))
    if rows.tallies.highest is not None:
        notes.append("scores were counted in bins: shares at a threshold within a bin are those of its edge")
    return tuple(notes)


def _words_on_clusters(rows: GroupedRows, *, linked: bool) -> str:
    are_hashed = any(counted.is_hashed for counted in rows.buckets.values())
    buckets = f"{rows.many_buckets:,} {'buckets of clusters' if are_hashed else 'clusters'}"
    if linked:
        return f"rows of one cluster belong together: intervals come from leaving out each of {buckets}, in all groups"
    return f"rows of one cluster belong together ({buckets}); what groups share by that is not counted as an advantage"
