"""Evaluations as plain text, for terminals and logs: the answer, what it assumes, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pulens.notice import Notice, Severity
from pulens.report.audit_text import audit_blocks
from pulens.report.cells import shown_cells
from pulens.report.lines import RECOVERED, first_sentences, on_one_screen, titled, wrapped
from pulens.report.next_steps import NextStep
from pulens.report.summary import MARK, Row, Summary, summarise
from pulens.report.top import top_lines
from pulens.report.words import percent

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.top import Top

AGAINST, IMPOSSIBLE, SCENARIO = "labelling-not-random", "impossible-rates", "scenario-matters"


class StyledLine(NamedTuple):
    """A line of text and how a terminal shows it."""

    text: str
    style: str = ""


def evaluation_text(evaluation: Evaluation, *, explain: bool = False) -> str:
    """Verdict, five metrics, the worst warning and the next step; with ``explain`` all metrics, notes and steps."""
    summary = summarise(evaluation, "python")
    more = [] if explain else [*titled("more", ".explain(), .estimates, .to_html(path)")]
    lines = answer_lines(summary, lambda step: [f"  {step.call}"], more=more, all_metrics=explain, explain=explain)
    return "\n".join(line.text for line in lines)


def answer_lines(
    summary: Summary,
    command: Callable[[NextStep], list[str]],
    *,
    model: str = "",
    tops: Sequence[Top] = (),
    more: Sequence[str] = (),
    all_metrics: bool = False,
    explain: bool = False,
) -> list[StyledLine]:
    """The whole answer: ``command`` is what to type for a next step, ``model`` what was trained, ``more`` the end.

    ``tops`` are the first rows of the list that were asked for.
    """
    checked = summary.audit is not None
    said = (AGAINST, IMPOSSIBLE) if checked else (IMPOSSIBLE,) if summary.status == "contradicted" else ()
    heard = (SCENARIO,) if explain else said  # the head and the verdict said it already
    alarming = [one for one in summary.notices if (explain or one.severity > Severity.NOTE) and one.code not in heard]
    above = AGAINST if checked else ""  # shown before the numbers that it is about
    blocks = [[StyledLine(line, "bold") for line in wrapped(" ".join(summary.verdict), 0)]]
    blocks += [[StyledLine(line) for line in top_lines(tops)]]
    blocks += [_head(summary, model, explain)]
    if summary.audit is not None:
        blocks += [list(map(StyledLine, block)) for block in audit_blocks(summary.audit, explain=explain)]
        blocks += _notices([notice for notice in alarming if notice.code == above], explain)
    if summary.audit is None or explain or all_metrics:
        blocks += _tables(summary, all_metrics=all_metrics or explain)
    blocks += _cells(summary, explain)
    rest = [notice for notice in alarming if notice.code != above]
    blocks += _notices(rest if explain else rest[:1], explain)
    after = [*_next(summary, command, explain), *(StyledLine(line, "dim") for line in more)]
    return on_one_screen([*blocks, after], StyledLine(""), spread=explain or all_metrics)


def _head(summary: Summary, model: str, explain: bool) -> list[StyledLine]:
    checked = summary.audit is not None and not explain  # whose own words and table say what is left out here
    mark = f"; {MARK} depends on it" if summary.legend and not explain else ""
    lines = []
    for title, text in (
        ("model", model),
        ("labels", "" if checked else summary.labels),
        ("rows", summary.counts),
        ("clusters", summary.clusters),
        ("class prior", "" if checked else summary.class_prior if explain else f"{summary.prior}{mark}"),
        ("population", summary.population if explain else ""),
        ("scenario", summary.scenario if explain else ""),
        ("threshold", f"{summary.threshold} ({summary.threshold_choice})"),
    ):
        lines += titled(title, text) if text else []
    return [StyledLine(line) for line in lines]


def _tables(summary: Summary, *, all_metrics: bool) -> list[list[StyledLine]]:
    """Five metrics, or all of them; nothing where nothing can be said."""
    if not all_metrics:
        if all(row.recovered.undefined_because for row in summary.first_rows):
            return []
        rows = [_row(summary, row) for row in summary.first_rows]
        return [[StyledLine(_header(summary, ""), "dim"), *rows, *_by_prior(summary)]]
    return [
        *_assuming(summary),
        [StyledLine(_header(summary, "ranking"), "dim"), *(_row(summary, row) for row in summary.ranking)],
        [
            StyledLine(_header(summary, f"at threshold {summary.threshold}"), "dim"),
            *(_row(summary, row) for row in summary.at_threshold),
            *(StyledLine(line, "dim") for line in wrapped(summary.legend, 0)),
            *_by_prior(summary),
        ],
    ]


def _assuming(summary: Summary) -> list[list[StyledLine]]:
    """Over numbers that rows were not checked for: what they assume, and whether the audit contradicts it."""
    if summary.audit is None:
        return []
    against = summary.audit.contradicted
    return [[StyledLine(f"{RECOVERED}{f': {against}' if against else ''}", "bold")]]


def _header(summary: Summary, title: str) -> str:
    interval = f"{summary.interval_name:>18}" if summary.interval_name else ""
    random = f"{'if random':>11}" if summary.has_random else ""
    return f"{title:<26}{'value':>8}{interval}{random}{'uncorrected':>13}"


def _row(summary: Summary, row: Row) -> StyledLine:
    interval = f"{row.interval:>18}" if summary.interval_name else ""
    random = f"{row.if_random:>11}" if summary.has_random else ""
    return StyledLine(f"  {row.title:<24}{row.marked_value:>8}{interval}{random}{row.naive:>13}".rstrip())


def _by_prior(summary: Summary) -> list[StyledLine]:
    """Precision if positives were this common, where nobody knows how common they are."""
    if not summary.by_prior:
        return []
    names = [percent(prior) for prior, _ in summary.by_prior]
    result = [estimate.interval for _, estimate in summary.by_prior]
    ranges = ["" if each is None else f"{each.low:.2f} to {each.high:.2f}" for each in result]
    return [
        StyledLine(f"if positives are          {''.join(f'{name:>13}' for name in names)}", "dim"),
        StyledLine(f"  precision is            {''.join(f'{each:>13}' for each in ranges)}"),
    ]


def _notices(notices: Iterable[Notice], explain: bool) -> list[list[StyledLine]]:
    """A block for each; in short its first sentences."""
    blocks = []
    for notice in notices:
        words = str(notice) if explain else first_sentences(str(notice))
        lines = wrapped(f"{notice.severity.name.lower()}: {words}")
        blocks.append([StyledLine(line, notice.severity.name) for line in lines])
    return blocks


def _cells(summary: Summary, explain: bool) -> list[list[StyledLine]]:
    """The cells within which labels are random, and what they say together."""
    if summary.cells is None:
        return []
    table = [StyledLine(line) for line in shown_cells(summary.cells, explain=explain)]
    sentences = [line for sentence in summary.cells.sentences for line in wrapped(sentence, 0)] if explain else []
    return [table, *([list(map(StyledLine, sentences))] if sentences else [])]


def _next(summary: Summary, command: Callable[[NextStep], list[str]], explain: bool) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for place, step in enumerate(summary.next_steps if explain else summary.next_steps[:1]):
        lines += map(StyledLine, titled("next" if place == 0 else "", step.sentence))
        lines += [StyledLine(line, "cyan") for line in command(step)]
    return lines
