"""Evaluations per segment as one self-contained page: a row per segment, its intervals drawn as dots with bars."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pulens.notice import Severity
from pulens.report.axis import Axis, ends_of
from pulens.report.html import render
from pulens.report.lines import assumed_of, group_in_words
from pulens.report.segments import (
    LONGEST_NAME,
    MOST_ROWS,
    SHOWN,
    interval_name_of,
    line_of,
    shared_notices,
    shortened,
)
from pulens.report.segments_shown import by_value
from pulens.report.segments_verdict import segments_verdict
from pulens.report.words import Assumption, data_assumptions, of_labelling
from pulens.report.words import title_of as metric_title

if TYPE_CHECKING:
    from pulens.estimate import Estimate, Interval
    from pulens.groups.segments import Evaluations, Segment
    from pulens.priors import ClassPrior

SCRIPTS = ("words.js", "chart.js", "figures.js", "sorting.js", "segments.js", "theme.js")
MOST_SKIPPED = 500
BEFORE_METRICS = 4  # columns: the segment, two numbers of rows, the class prior

_BROKEN = {
    "implied": "A segment whose positives are labelled more or less often than those of others: a clinic with other "
    "habits, a region without inspectors.",
    "given": "Priors from another year or definition; segments mixed up.",
    "estimated": "Scores whose top is not pure; few labelled rows in a segment.",
    "same for all": "Segments that hold more or fewer positives than others, which is the rule.",
}


def segments_page(result: Evaluations, *, title: str | None = None) -> str:
    """The whole page as text; the segment with the lowest first metric stands first."""
    first = next(iter(result.segments.values()))
    return render(
        "segments.html.j2",
        SCRIPTS,
        {"segments": len(result)},
        title=title or f"By {result.group_by}",
        found=shown_of(result),
        assumptions=_assumptions(result, first),
    )


def shown_of(result: Evaluations) -> dict[str, Any]:
    """What ``segment_parts.html.j2`` shows: sentences, the table, warnings, what was left out."""
    metrics = result.metrics[:SHOWN]
    shown = [result.segments[segment] for segment in by_value(result, metrics[0])[:MOST_ROWS]]
    axes = {name: _around(segment.estimates[name] for segment in shown) for name in metrics}
    priors = [segment.evaluation.class_prior for segment in shown]
    prior_axis = _around(priors)
    notices = shared_notices(result)
    skipped = [(_name(segment), reason) for segment, reason in list(result.skipped.items())[:MOST_SKIPPED]]
    return {
        "group_by": result.group_by,
        "counts": _counts(result),
        "sentences": _verdict(result, metrics),
        "source": ("" if result.says_same_prior else f"{_sentence(result.prior_words)} ")
        + f"Threshold: {result.threshold_words}. Assumes {_assumed(result)}."
        + ("" if result.clusters is None else f" Rows belong together: {result.clusters}."),
        "interval_name": interval_name_of(result),
        "columns": [
            {"title": metric_title(name), "place": place, **_ticks(axes[name])}
            for place, name in enumerate(metrics, start=BEFORE_METRICS)
        ],
        "prior_column": _ticks(prior_axis),
        "rows": [_row(segment, metrics, axes, prior_axis) for segment in shown],
        "left_out": len(result) - len(shown),
        "skipped": skipped,
        "skipped_left": len(result.skipped) - len(skipped),
        "alarming": [notice for notice in notices if notice.severity > Severity.NOTE],
    }


def _assumed(result: Evaluations) -> str:
    return assumed_of(next(iter(result.values())).scenario, result.labelling, "segments")


def _row(segment: Segment, metrics: tuple[str, ...], axes: dict[str, Axis], prior_axis: Axis) -> dict[str, Any]:
    line = line_of(segment, metrics)
    prior = segment.evaluation.class_prior
    pictures = [
        {**_picture(prior.value, prior.interval, prior_axis), "cell": line.cells[0], "title": "class prior"},
        *(
            {
                **_picture(segment.estimates[name].value, segment.estimates[name].interval, axes[name]),
                "cell": cell,
                "title": metric_title(name),
            }
            for name, cell in zip(metrics, line.cells[1:], strict=True)
        ),
    ]
    worst = max((notice.severity for notice in segment.notices), default=None)
    return {
        "line": line,
        "pictures": pictures,
        "worst": "" if worst is None else worst.name.lower(),
        "warnings": " ".join(str(notice) for notice in segment.notices),
    }


def _picture(value: float, interval: Interval | None, axis: Axis) -> dict[str, Any]:
    """Where dot and bar lie, in per cent of the axis."""
    if math.isnan(value):
        return {"value": "", "at": None}
    return {"value": f"{value:.6g}", **(axis.picture(value, interval) or {})}


def _around(results: Iterable[Estimate | ClassPrior]) -> Axis:
    """One axis for every row."""
    known = [one for one in results if not math.isnan(one.value)]
    return Axis.around(end for one in known for end in ends_of(one.value, one.interval))


def _ticks(axis: Axis) -> dict[str, str]:
    return dict(zip(("low", "high"), axis.ticks, strict=True))


def _counts(found: Evaluations) -> str:
    labelled, unlabelled, _ = found.segments.totals()
    words = f"{len(found):,} segments of {found.group_by}: {labelled:,.10g} labelled, "
    words += f"{unlabelled:,.10g} unlabelled rows ({next(iter(found.values())).scenario})"
    return words + (f"; {len(found.skipped):,} more not evaluated" if found.skipped else "")


def _verdict(result: Evaluations, metrics: tuple[str, ...]) -> list[str]:
    """Whether segments differ, as the terminal says it; names are kept apart from the sentence's direction."""
    same = [_sentence(result.prior_words.replace("class_prior=", ""))] if result.says_same_prior else []

    def named(one: Any) -> str:
        return f"\u2068{group_in_words(result.group_by, shortened(_name(one), LONGEST_NAME))}\u2069"

    return [segments_verdict(result, metrics, named), *same]


def _assumptions(result: Evaluations, first: Segment) -> tuple[Assumption, ...]:
    """Those of every evaluation, with what is assumed of the class priors of segments in the second place."""
    random, _, *rest = data_assumptions(first.evaluation.evidence)
    source = first.prior_source
    priors = Assumption(
        _sentence(result.prior_words),
        _BROKEN.get(source, _BROKEN["given"]),
        "Precision and all that depends on the class prior are off in that segment; ROC AUC less, recall not at all.",
    )
    within = replace(random, statement="Within each segment labelled positives are a random draw of its positives.")
    return (of_labelling(result.labelling, within), priors, *rest)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _name(segment: Any) -> str:
    from pulens.groups.segments import title_of

    return title_of(segment)
