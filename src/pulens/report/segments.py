"""Evaluations per segment as plain text and Markdown: one table, with every interval, readable at 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from pulens.command_words import in_command_words
from pulens.errors import spoken
from pulens.estimate import Estimate, Interval
from pulens.notice import Notice
from pulens.report.lines import assumed_of, first_sentences, folded, group_in_words, titled, wrapped
from pulens.report.markdown import plain
from pulens.report.segments_shown import MOST_IN_FULL, MOST_SKIPPED, About, by_value, shown_segments
from pulens.report.segments_verdict import segments_verdict
from pulens.report.summary import MARK
from pulens.report.words import scenario_words
from pulens.report.words import title_of as metric_title

if TYPE_CHECKING:
    from pulens.groups.segments import Evaluations, Segment

WIDTH = 80
SHOWN = 3  # metrics in a table of 80 columns
ONE_LINE = 19  # characters of a metric with its interval, on one line
MOST_SHORT = 8  # segments that the short table shows one and all
AT_THE_ENDS = 3  # of more: those with the lowest and highest value
MOST_KINDS = 3  # of reasons why segments were left out
LONGEST_NAME = 40  # of a segment, within a sentence
MOST_ROWS = 2_000  # segments on a page and in Markdown; the JSON has all


class Cell(NamedTuple):
    """A number, and its interval below it."""

    value: str
    interval: str


class Line(NamedTuple):
    """One segment as the tables show it."""

    name: str
    labelled: str
    unlabelled: str
    source: str
    cells: tuple[Cell, ...]  # the class prior, then metrics


def titles(result: Evaluations) -> tuple[str, ...]:
    """Of the columns: the segment, rows, the class prior, metrics."""
    shown = (metric_title(name) for name in result.metrics[:SHOWN])
    return (result.group_by, "labelled", "unlabelled", "class prior", *shown)


def lines_of(result: Evaluations, segments: Iterable[Any]) -> Iterator[Line]:
    """What the tables show of some segments."""
    for segment in segments:
        yield line_of(result.segments[segment], result.metrics[:SHOWN])


def line_of(segment: Segment, metrics: tuple[str, ...]) -> Line:
    labelled, unlabelled, _ = segment.evaluation.tally.totals
    prior = segment.evaluation.class_prior
    cells = [Cell(_number(prior.value), _ends(prior.interval))]
    cells += [_cell(segment.estimates[name]) for name in metrics]
    return Line(segment.title, f"{labelled:,.10g}", f"{unlabelled:,.10g}", segment.prior_source, tuple(cells))


def _cell(estimate: Estimate) -> Cell:
    if estimate.undefined_because:
        return Cell("undefined", "")
    if estimate.withheld_because:
        return Cell(MARK, _ends(estimate.interval))
    return Cell(_number(estimate.value), _ends(estimate.interval))


def _number(value: float) -> str:
    return f"{value:.3f}"


def _ends(interval: Interval | None) -> str:
    return "" if interval is None or interval.width == 0 else f"{_number(interval.low)}-{_number(interval.high)}"


def shared_notices(result: Evaluations) -> list[Notice]:
    """Each kind of warning once, worst first: of the first segment that has it, and which others have it too."""
    return [replace(about.notice, message=_shared(about, result.group_by)) for about in result.warned]


def _shared(about: About, column: str) -> str:
    from pulens.groups.segments import title_of

    first, *others = [shortened(title_of(segment), LONGEST_NAME) for segment in about.names]
    words = f"{group_in_words(column, first)}: {about.notice}"
    if about.many == 1:
        return words
    left = about.many - len(about.names)
    named = f"{', '.join(others)} and {left:,} more" if left else spoken(others)
    return f"{words} Likewise {about.many - 1:,} more segment{'s' if about.many > 2 else ''} ({named})."


def head_of(result: Evaluations, way: str = "both") -> tuple[str, ...]:
    """Where class priors and labels came from, which threshold is used, clusters: what to read before the table."""
    said = f"{result.prior_words}.", f"labels: {labels_of(result, way)}.", f"threshold: {result.threshold_words}."
    return said if result.clusters is None else (*said, f"clusters: {result.clusters}.")


def labels_of(result: Evaluations, way: str = "both") -> str:
    """How the rows of all segments are taken to have got their labels."""
    return scenario_words(next(iter(result.values())).scenario, way)


def segments_text(result: Evaluations, way: str = "python", *, explain: bool = False) -> str:
    """The verdict, a line per segment, where class priors come from, the worst warning; all of it on request."""
    prior = in_command_words(result.prior_words) if way == "command" else result.prior_words
    same = [f"{prior}."] if result.says_same_prior else []
    lines = [line for words in (verdict_of(result), *same) for line in wrapped(f"{words[:1].upper()}{words[1:]}", 0)]
    if explain:
        shown = shown_segments(result)
        lines += ["", *wrapped(shown.words, 0)] if shown.words else []
        lines += ["", *table_lines(result, shown.segments), ""]
        lines += [line for words in head_of(result, way)[len(same) :] for line in wrapped(words)]
    else:
        lines += ["", *short_lines(result), ""]
        lines += [] if same else titled("class prior", prior.removeprefix("class priors: "))
        lines += titled("threshold", result.threshold_words)
        lines += titled("assumes", assumed_of(next(iter(result.values())).scenario, result.labelling, "segments"))
        lines += [] if result.clusters is None else titled("clusters", str(result.clusters))
    lines += folded(shared_notices(result), way, explain=explain)
    for line in skipped_lines(result, explain=explain):
        words = line if explain else first_sentences(line)
        lines += ["", *wrapped(in_command_words(words) if way == "command" else words)]
    return "\n".join(lines)


def verdict_of(result: Evaluations) -> str:
    """Which segment is worst, or that none clearly differs."""
    from pulens.groups.segments import title_of

    def named(one: Any) -> str:
        return group_in_words(result.group_by, shortened(title_of(one), LONGEST_NAME))

    return segments_verdict(result, result.metrics[:SHOWN], named)


def short_lines(result: Evaluations) -> list[str]:
    """A line per segment: labelled rows, and each metric with its interval; of many segments the ends of the list."""
    segments, many = list(result), len(result)
    if many > MOST_SHORT:
        ordered = by_value(result, result.metrics[0])
        segments = [*ordered[:AT_THE_ENDS], *ordered[-AT_THE_ENDS:]]
    lines = _metric_lines(result, segments)
    if len(segments) < many:
        title = metric_title(result.metrics[0])
        lines.append(f"  {len(segments)} of {many:,} segments: lowest and highest {title}; more: --explain, --json")
    return lines


def table_lines(result: Evaluations, segments: Sequence[Any]) -> list[str]:
    """Metrics of all these segments, and below them their class priors and where these come from."""
    return [*_metric_lines(result, segments), "", *_prior_lines(result, segments)]


def _metric_lines(result: Evaluations, segments: Sequence[Any]) -> list[str]:
    """The first metrics with their intervals, a line per segment, in the columns of a terminal."""
    metrics = result.metrics[:SHOWN]
    rows = [line_of(result.segments[segment], metrics) for segment in segments]
    titled_as = [metric_title(name) for name in metrics]
    return _joined(result, rows, "labelled", [row.labelled for row in rows], titled_as, [row.cells[1:] for row in rows])


def _prior_lines(result: Evaluations, segments: Sequence[Any]) -> list[str]:
    rows = [line_of(result.segments[segment], ()) for segment in segments]
    cells = [row.cells[:1] for row in rows]
    lines = _joined(result, rows, "unlabelled", [row.unlabelled for row in rows], ["class prior"], cells)
    return [f"{line:<{len(lines[0])}}  {source}" for line, source in zip(lines, _sources(rows), strict=True)]


def _sources(rows: Sequence[Line]) -> list[str]:
    return ["from", *(row.source for row in rows)]


def _joined(
    result: Evaluations,
    rows: Sequence[Line],
    count: str,
    counts: Sequence[str],
    heads: Sequence[str],
    cells: Sequence[tuple[Cell, ...]],
) -> list[str]:
    """Names, a column of counts, and values with their intervals, each line within a terminal."""
    room = max(len(count), *map(len, counts)) + 1
    left = WIDTH - room - ONE_LINE * len(heads)
    width = max(min(left, max(len(result.group_by), *(len(row.name) for row in rows))), 6)
    above = "".join(f"{shortened(head, ONE_LINE - 2):>{ONE_LINE}}" for head in heads)
    lines = [f"{shortened(result.group_by, width):<{width}}{count:>{room}}{above}"]
    for row, many, values in zip(rows, counts, cells, strict=True):
        said = "".join(f"{f'{cell.value} {cell.interval}'.rstrip():>{ONE_LINE}}" for cell in values)
        lines.append(f"{shortened(row.name, width):<{width}}{many:>{room}}{said}".rstrip())
    return lines


def skipped_lines(result: Evaluations, most: int | None = None, *, explain: bool = True) -> list[str]:
    """A sentence for each segment that was left out; segments with the same reason share one, unless asked for."""
    from pulens.groups.segments import title_of

    if most is None:
        most = len(result.skipped) if len(result.skipped) <= MOST_IN_FULL else MOST_SKIPPED
    if not explain:
        return _skipped_together(result)
    told = [f"{title_of(segment)}: not evaluated: {reason}" for segment, reason in islice(result.skipped.items(), most)]
    left = len(result.skipped) - len(told)
    return [*told, f"{left:,} more segments were not evaluated; the JSON says why."] if left else told


def _skipped_together(result: Evaluations) -> list[str]:
    """One sentence for each kind of reason, whatever its numbers."""
    from pulens.groups.segments import title_of

    kinds: dict[str, list[Any]] = {}
    for segment, reason in result.skipped.items():
        kinds.setdefault(re.sub(r"\d[\d,.]*", "#", reason), []).append(segment)
    lines = []
    for segments in list(kinds.values())[:MOST_KINDS]:
        first = shortened(title_of(segments[0]), LONGEST_NAME)
        reason = result.skipped[segments[0]]
        if len(segments) == 1:
            lines.append(f"{first}: not evaluated: {reason}")
        else:
            lines.append(f"{len(segments):,} segments were not evaluated, such as {first}: {reason}")
    return lines


def interval_name_of(result: Evaluations) -> str:
    resampling = next(iter(result.values())).resampling
    return "range" if resampling is None else f"{resampling.confidence:.0%}"


def shortened(name: str, width: int) -> str:
    """A name on one line of this many characters; what a terminal would obey instead of showing it is written out."""
    flat = name if name.startswith("  ") else " ".join(name.split())
    if not flat.isprintable():
        flat = "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in flat)
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"


def segments_html(result: Evaluations) -> str:
    """The table as a card for notebooks, with every text escaped."""
    from pulens.report.notebook_card import card

    shown = shown_segments(result)
    return card(
        "notebook_segments.html.j2",
        head=(verdict_of(result), *head_of(result)),
        left=shown.words,
        titles=titles(result),
        lines=list(lines_of(result, shown.segments)),
        notices=shared_notices(result),
        skipped=skipped_lines(result),
    )


def segments_markdown(result: Evaluations, *, title: str | None = None) -> str:
    """What was assumed, the table, the warnings and what was left out."""
    heads = titles(result)
    lines = [
        f"# {plain(title or f'By {result.group_by}')}",
        "",
        plain(verdict_of(result)),
        "",
        *(f"{plain(words)}  " for words in head_of(result)),
        "",
    ]
    header = (*heads[:4], "from", *heads[4:])
    lines += [
        f"| {' | '.join(map(plain, header))} |",
        f"| --- | ---: | ---: | ---: | --- |{' ---: |' * len(heads[4:])}",
    ]
    segments = list(result)
    if len(segments) > MOST_ROWS:
        segments = by_value(result, result.metrics[0])[:MOST_ROWS]
    for row in lines_of(result, segments):
        prior, *rest = (f"{cell.value} ({cell.interval})" if cell.interval else cell.value for cell in row.cells)
        cells = (row.name, row.labelled, row.unlabelled, prior, row.source, *rest)
        lines.append(f"| {' | '.join(map(plain, cells))} |")
    if len(segments) < len(result):
        left = len(result) - len(segments)
        lines += ["", f"The {len(segments):,} segments with the lowest {heads[4]}; {left:,} more are in the JSON."]
    for notice in shared_notices(result):
        lines += ["", f"> **{notice.severity.name.capitalize()}** {plain(str(notice))}"]
    if result.skipped:
        lines += ["", "## Not evaluated", "", *(f"- {plain(line)}" for line in skipped_lines(result, MOST_ROWS))]
    return "\n".join(lines)
