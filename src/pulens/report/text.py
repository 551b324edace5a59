"""Evaluations as plain text, for terminals and logs: the answer, what it assumes, and what to do next."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from pulens.notice import Notice, Severity
from pulens.report.audit_text import audit_block
from pulens.report.cells import shown_cells
from pulens.report.next_steps import NextStep
from pulens.report.summary import Row, Summary, summarise
from pulens.report.words import percent

if TYPE_CHECKING:
    from pulens.doors.evaluate import Evaluation

WIDTH = 80
AGAINST = "labelling-not-random"


class StyledLine(NamedTuple):
    """A line of text and how a terminal shows it."""

    text: str
    style: str = ""


def evaluation_text(evaluation: Evaluation, *, explain: bool = False) -> str:
    """Verdict, five metrics, the worst warning and the next step; with ``explain`` all metrics, notes and steps."""
    summary = summarise(evaluation, "python")
    lines = answer_lines(summary, lambda step: step.call, all_metrics=explain, explain=explain)
    if not explain:
        lines.append(StyledLine("more       .explain(), .estimates, .to_html(path)", "dim"))
    return "\n".join(line.text for line in lines)


def answer_lines(
    summary: Summary, command: Callable[[NextStep], str], *, all_metrics: bool = False, explain: bool = False
) -> list[StyledLine]:
    """The whole answer; ``command`` is what to type for a next step."""
    alarming = [notice for notice in summary.notices if explain or notice.severity > Severity.NOTE]
    above = AGAINST if summary.audit is not None else ""  # shown before the numbers that it is about
    lines = [StyledLine(line, "bold") for sentence in summary.verdict for line in textwrap.wrap(sentence, WIDTH)]
    lines += [StyledLine(""), *_head(summary, explain)]
    if summary.audit is not None:
        lines += [StyledLine(""), *map(StyledLine, audit_block(summary.audit, explain=explain))]
        lines += _notices([notice for notice in alarming if notice.code == above])
    if summary.audit is None or explain or all_metrics:
        lines += [StyledLine(""), *_table(summary, all_metrics=all_metrics or explain), *_by_prior(summary)]
    lines += _cells(summary)
    rest = [notice for notice in alarming if notice.code != above]
    lines += _notices(rest if explain else rest[:1])
    return [*lines, *_next(summary, command, explain)]


def _head(summary: Summary, explain: bool) -> list[StyledLine]:
    lines = []
    for title, text in (
        ("labels", summary.labels),
        ("rows", summary.counts),
        *([("clusters", summary.clusters)] if summary.clusters else []),
        ("prior", summary.class_prior if explain else summary.prior),
        *([("population", summary.population)] if explain else []),
        *([("scenario", summary.scenario)] if explain and summary.scenario else []),
        ("threshold", f"{summary.threshold} ({summary.threshold_choice})"),
    ):
        lines += textwrap.wrap(f"{title:<11}{text}", WIDTH, subsequent_indent=" " * 11)
    return [StyledLine(line) for line in lines]


def _table(summary: Summary, *, all_metrics: bool) -> list[StyledLine]:
    if not all_metrics:
        rows = [_row(summary, row, row.title) for row in summary.first_rows]
        return [StyledLine(_header(summary, ""), "dim"), *rows, *_legend(summary)]
    return [
        StyledLine(_header(summary, "ranking"), "dim"),
        *(_row(summary, row, row.name) for row in summary.ranking),
        StyledLine(""),
        StyledLine(_header(summary, f"at threshold {summary.threshold}"), "dim"),
        *(_row(summary, row, row.name) for row in summary.at_threshold),
        *_legend(summary),
    ]


def _header(summary: Summary, title: str) -> str:
    interval = f"{summary.interval_name:>18}" if summary.interval_name else ""
    random = f"{'if random':>11}" if summary.has_random else ""
    return f"{title:<26}{'value':>8}{interval}{random}{'uncorrected':>13}"


def _row(summary: Summary, row: Row, title: str) -> StyledLine:
    interval = f"{row.interval:>18}" if summary.interval_name else ""
    random = f"{row.if_random:>11}" if summary.has_random else ""
    return StyledLine(f"  {title:<24}{row.marked_value:>8}{interval}{random}{row.naive:>13}".rstrip())


def _legend(summary: Summary) -> list[StyledLine]:
    return [StyledLine(line, "dim") for line in textwrap.wrap(summary.legend, WIDTH)]


def _by_prior(summary: Summary) -> list[StyledLine]:
    """Precision if positives were this common, where nobody knows how common they are."""
    if not summary.by_prior:
        return []
    names = [percent(prior) for prior, _ in summary.by_prior]
    found = [estimate.interval for _, estimate in summary.by_prior]
    ranges = ["" if each is None else f"{each.low:.2f} to {each.high:.2f}" for each in found]
    return [
        StyledLine(f"if positives are          {''.join(f'{name:>13}' for name in names)}", "dim"),
        StyledLine(f"  precision is            {''.join(f'{each:>13}' for each in ranges)}"),
    ]


def _notices(notices: Iterable[Notice]) -> list[StyledLine]:
    lines = []
    for notice in notices:
        text = f"{notice.severity.name.lower()}: {notice}"
        lines.append(StyledLine(""))
        lines += [StyledLine(line, notice.severity.name) for line in textwrap.wrap(text, WIDTH, subsequent_indent="  ")]
    return lines


def _cells(summary: Summary) -> list[StyledLine]:
    """The cells within which labels are random, and what they say together."""
    if summary.cells is None:
        return []
    lines = ["", *shown_cells(summary.cells), ""]
    for sentence in summary.cells.sentences:
        lines += textwrap.wrap(sentence, WIDTH)
    return [StyledLine(line) for line in lines]


def _next(summary: Summary, command: Callable[[NextStep], str], explain: bool) -> list[StyledLine]:
    lines = [StyledLine("")] if summary.next_steps else []
    for place, step in enumerate(summary.next_steps if explain else summary.next_steps[:1]):
        title = "next" if place == 0 else ""
        words = textwrap.wrap(f"{title:<11}{step.sentence}", WIDTH, subsequent_indent=" " * 11)
        lines += map(StyledLine, words)
        typed = command(step)
        if typed:  # never broken into lines: it is there to be pasted
            lines.append(StyledLine(f"  {typed}", "cyan"))
    return lines
