"""A watch on one screen: the verdict and its caveat, the last windows, what to do next, a line for a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulens.command_words import in_command_words
from pulens.errors import listed
from pulens.report.lines import MORE, folded, titled, wrapped
from pulens.report.watch import (
    BANDS,
    CHANGE,
    SHARE,
    assumed,
    band_rows,
    next_steps,
    recall_is_constant,
    segment_table,
    table_of,
    unvouched,
    verdict,
    vouching,
)

if TYPE_CHECKING:
    from pulens.monitoring import Pulse

WINDOWS, SEGMENTS, STEPS = 2, 3, 2  # in the short answer; all of them are in JSON and on the page
EXPLAINED = 10


def watch_text(pulse: Pulse, way: str = "python", *, explain: bool = False) -> str:
    """The answer in 24 lines of 80 columns; with ``explain`` every note, which scores moved, and more windows.

    Only the last line, for a log, may be longer than 80 columns: nothing that reads logs should have to join lines.
    """
    doubt = vouching(pulse)
    lines = wrapped(verdict(pulse), 0)
    if doubt is not None:
        lines += wrapped(in_command_words(doubt) if way == "command" else doubt, 0)
    lines += ["", *_head(pulse, explain=explain), *_windows(pulse, explain=explain)]
    lines += _segments(pulse, way, explain=explain)
    if explain:
        lines += _bands(pulse)
    said = unvouched(pulse)
    told = [notice for notice in pulse.notices if notice is not said]
    notes = folded(told, way, explain=explain)
    if doubt is not None and told and not explain:  # one caveat is enough for one screen
        notes = ["", f"({len(told)} note{'s' if len(told) > 1 else ''}: {MORE[way]})"]
    return "\n".join([*lines, *notes, *_steps(pulse, way, explain=explain), "", pulse.log_line])


def _head(pulse: Pulse, *, explain: bool) -> list[str]:
    """The reference, the recall that is assumed constant, and the scores that moved most."""
    monitor = pulse.life.judgement.monitor
    about = f"{monitor.reference.rows:,.0f} rows, {monitor.reference.n_labelled:,.0f} labelled"
    if monitor.prior is not None:
        about += f"; class prior {monitor.prior.value:.3g} ({monitor.prior.source})"
    result = titled("reference", about)
    if len(pulse.lives) > 1:
        begins = f"{pulse.lives[-2].accepted_from}, where this reference begins (number {len(pulse.lives)})"
        result += titled("accepted", begins)
    if explain:
        result += titled("score", f"labelled rows outscore all rows in {100 * monitor.area:.0f}% of pairs")
    recall = monitor.recall
    if recall is not None and recall_is_constant(list(pulse.windows.values())):
        result += titled("recall", f"{recall[0]:.2f} ({recall[1]:.2f} to {recall[2]:.2f}), assumed constant")
    if monitor.prior is not None or recall is not None:
        result += titled("assumes", assumed(pulse))
    if pulse.score_bands and not explain:
        far = [
            max(band.since, band.reference) / max(min(band.since, band.reference), 1e-9) for band in pulse.score_bands
        ]
        name, before, since, _ = band_rows(pulse)[far.index(max(far))]
        result += titled("moved", f"scores {name}: {before} of rows before, {since} since the change")
    return result


def _windows(pulse: Pulse, *, explain: bool) -> list[str]:
    """The last windows: the share of positives with its interval (d without a class prior), metrics, and use."""
    windows = list(pulse.windows.values())
    last = windows[-(EXPLAINED if explain else WINDOWS) :]
    if (pulse.segments or vouching(pulse) is not None) and not explain:
        last = last[-1:]
    if not last:
        return []
    table = table_of(last, windows)
    left_out = {*([] if explain else ["score shape p"]), *(["recall"] if recall_is_constant(windows) else [])}
    chosen = [place for place, name in enumerate(table.columns) if name not in left_out]
    short = {place for place in chosen[1:] if table.columns[place] not in (SHARE, CHANGE)}  # without intervals
    cells = [[row[at].split(" (")[0] if at in short else row[at] for at in chosen] for _, row in table.rows]
    count = f"the last {len(last)} of {len(windows)} windows" if explain and len(windows) > len(last) else ""
    return ["", *([count] if count else []), *_aligned([[table.columns[at] for at in chosen], *cells])]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _segments(pulse: Pulse, way: str, *, explain: bool) -> list[str]:
    """The clearest segments, how many there are, and those that could not be watched."""
    if not pulse.segments:
        return []
    table, shown = segment_table(pulse), EXPLAINED if explain else SEGMENTS
    rows = [table.columns, *(row for _, row in table.rows[:shown])]
    if not explain:
        chosen = [table.columns.index(name) for name in ("segment", "changed", SHARE, "usable")]
        rows = [[row[place] for place in chosen] for row in rows]
    left = len(pulse.segments) - shown
    more = f"; {left} more: {MORE[way] if not explain else 'see the JSON'}" if left > 0 else ""
    by = pulse.life.judgement.monitor.settings.group_by
    result = ["", f"{len(pulse.segments)} segments of {by}, clearest first{more}", *_aligned(rows)]
    if pulse.unjudged:
        result.append(f"{len(pulse.unjudged)} not watched ({listed(list(pulse.unjudged))}).")
    return result


def _bands(pulse: Pulse) -> list[str]:
    rows = band_rows(pulse)
    return ["", "which scores moved, as shares of rows", *_aligned([BANDS, *rows])] if rows else []


def _steps(pulse: Pulse, way: str, *, explain: bool) -> list[str]:
    """What to do: the first step and the last one, or all of them."""
    steps = next_steps(pulse, way)
    if not steps:
        return []
    chosen = steps if explain or len(steps) <= STEPS else [steps[0], steps[-1]]
    first, *rest = (f"{step[0].lower()}{step[1:]}" for step in chosen)
    return ["", *wrapped(f"next: {first}"), *(line for step in rest for line in wrapped(f"  {step}", 4))]
