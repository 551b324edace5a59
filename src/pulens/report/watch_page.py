"""A watch as one self-contained page: the verdict, lines over time with their bands, trust, what to do next."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pulens.monitoring.numbers import of_reference
from pulens.report.html import render
from pulens.report.watch import (
    BANDS,
    CHANGE,
    SHARE,
    WindowTable,
    assumed,
    band_rows,
    next_steps,
    recall_is_constant,
    segment_table,
    status_of,
    table_of,
    verdict,
    vouching,
)
from pulens.report.watch_data import watch_data
from pulens.report.watch_sparks import spark_of

if TYPE_CHECKING:
    from pulens.estimate import Estimate
    from pulens.monitoring import Pulse, WatchedWindow

WHOLE = re.compile(r"(\d{4}-\d{2}-\d{2}|--[a-z][a-z-]*)")  # days and options, which no line may break
SCRIPTS = (
    *("words.js", "page_state.js", "chart.js", "figures.js", "watch_live.js", "watch_charts.js", "watch.js"),
    "theme.js",
)
LAST_WINDOWS = 7  # in the table; earlier ones stand behind a click
MOST_SMALL = 60  # segments drawn as small lines; a table has the others
LIVE = {SHARE: "prior", "precision": "precision", "recall": "recall", "F1": "f1"}  # columns that the slider moves
TITLES = {
    "prior": ("Share of positives", "Of all rows of the window"),
    "precision": ("Precision", "Of the rows flagged, how many are positive"),
    "recall": ("Recall", "Of the positives, how many are flagged"),
    "f1": ("F1", "Harmonic mean of precision and recall"),
    "shift": ("Change in share", "Share of the negatives that became positives"),
    "flagged": ("Flagged", "Of all rows, how many are flagged"),
}


FIXED = "; assumed constant"


def watch_page(pulse: Pulse, *, title: str | None = None) -> str:
    """The whole page as text."""
    doubt = vouching(pulse)
    windows = list(pulse.windows.values())
    data = watch_data(pulse)
    told = [one for one in pulse.notices if doubt is None or str(one) not in doubt]
    return render(
        "watch.html.j2",
        SCRIPTS,
        data,
        title=title or "Monitoring of a deployed model",
        status=status_of(pulse),
        is_random=pulse.labelling == "random" or pulse.life.judgement.monitor.prior is None,
        verdict=re.split(WHOLE, verdict(pulse)),
        doubt=doubt,
        about=_about(pulse),
        tiles=_tiles(pulse, windows),
        last=windows[-1].name if windows else "",
        trust=windows[-1].trust if windows else "ok",
        charts=_charts(pulse, data),
        live=data["live"],
        tables=_tables(windows),
        steps=[re.split(WHOLE, step) for step in next_steps(pulse)],
        segments=_segments(pulse),
        near=_near(pulse),
        bands=band_rows(pulse),
        band_columns=BANDS,
        lives=[
            {"from": life.accepted_from, "because": life.because, "alarms": _said(life.alarms), "spark": spark_of(life)}
            for life in pulse.lives[:-1]
        ],
        notices=told,
        log_line=pulse.log_line,
        confidence=f"{pulse.life.judgement.monitor.settings.confidence:.0%}",
    )


def _near(pulse: Pulse) -> list[dict[str, Any]]:
    """How near each line that is changing is to its alarm, as a bar."""
    result = []
    for change in pulse.changes:
        words = f"evidence {10**change.evidence:.2g} of the {10**change.bar:.3g} at which the {change.line} line alarms"
        result.append({"percent": round(100 * min(10 ** (change.evidence - change.bar), 1)), "words": words})
    return result


def _segments(pulse: Pulse) -> dict[str, Any]:
    """Every segment as a small line, those in alarm first, then by evidence."""
    table = segment_table(pulse)
    drawn = []
    for name, (status, row) in list(zip(pulse.by_evidence, table.rows, strict=True))[:MOST_SMALL]:
        cells = dict(zip(table.columns, row, strict=True))
        last = (cells[SHARE] and f"last share {cells[SHARE]}") or (cells[CHANGE] and f"last change {cells[CHANGE]}")
        drawn.append(
            {"name": name, "status": status, **cells, "last": last, "spark": spark_of(pulse.segments[name].life)}
        )
    return {
        "by": pulse.life.judgement.monitor.settings.group_by,
        "drawn": drawn,
        "count": len(table.rows),
        "table": table if len(table.rows) > MOST_SMALL else None,
        "unjudged": list(pulse.unjudged.items()),
    }


def _said(alarms: Sequence[Any]) -> str:
    return "; ".join(str(alarm) for alarm in alarms)


def _about(pulse: Pulse) -> str:
    monitor = pulse.life.judgement.monitor
    count = len(pulse.windows)
    words = (
        f"{count:,} window{'' if count == 1 else 's'} against a reference of {monitor.reference.rows:,.0f} rows, "
        f"{monitor.reference.n_labelled:,.0f} of them labelled"
    )
    prior = monitor.prior
    words += "" if prior is None else f"; class prior {prior.value:.3g} ({prior.source})"
    return words if prior is None and monitor.flagged is None else f"{words}. Assumed: {assumed(pulse)}."


def _charts(pulse: Pulse, data: dict[str, Any]) -> dict[str, bool]:
    """Which charts have something to draw."""
    labels = data["labels"]
    return {
        "windows": bool(pulse.windows),
        "share": data["base"] is not None,
        "metrics": any(result is not None for result in data["home"]["f1"]),
        "doubtful": any(window.trust != "ok" for window in pulse.windows.values()),
        "constant": recall_is_constant(list(pulse.windows.values())),
        "labels": labels["any"],
        "recall": labels["any"] and bool(labels["recall"]),
        "waits": labels["waits"],
        "capped": any(value > 6 for line in pulse.lines.values() for value in line.evidence if math.isfinite(value)),
    }


def _tiles(pulse: Pulse, windows: list[WatchedWindow]) -> list[dict[str, Any]]:
    """The last window's numbers, each beside the reference's."""
    if not windows:
        return []
    last = windows[-1]
    has_prior = pulse.life.judgement.monitor.prior is not None
    names = ("prior", "precision", "recall", "f1") if has_prior else ("shift", "flagged", "recall")
    result = []
    for name in names:
        estimate: Estimate | None = getattr(last, name)
        if estimate is None:
            continue
        was, sign = _before(pulse, name), "+" if name == "shift" else ""
        reach = None if estimate.undefined_because else estimate.interval
        result.append(
            {
                "name": name,
                "live": has_prior,
                "title": TITLES[name][0],
                "value": "withheld" if estimate.undefined_because else f"{estimate.value:{sign}.3f}",
                "range": "" if reach is None else f"{reach.low:{sign}.3f} to {reach.high:{sign}.3f}",
                "before": "" if math.isnan(was) else f"reference {was:.3f}",
                "meaning": TITLES[name][1] + (FIXED if name == "recall" and last.positives == "reference" else ""),
            }
        )
    return result


def _before(pulse: Pulse, name: str) -> float:
    """A number of the reference; nan where there is none."""
    monitor = pulse.life.judgement.monitor
    if name == "shift":
        return 0.0
    if name == "flagged":
        return math.nan if monitor.flagged is None else float(monitor.reference.q @ monitor.flagged)
    return of_reference(monitor, name)


def _tables(windows: list[WatchedWindow]) -> dict[str, Any]:
    """All windows as text, the newest first: the last ones in sight, earlier ones behind a click."""
    table: WindowTable = table_of(windows)
    rows = [
        {
            "place": place,
            "trust": trust,
            "cells": [
                {"text": cell, "name": column, "live": LIVE.get(column) if cell else None}
                for column, cell in zip(table.columns, row, strict=True)
            ],
        }
        for place, (trust, row) in enumerate(table.rows)
    ][::-1]
    return {"columns": table.columns, "last": rows[:LAST_WINDOWS], "earlier": rows[LAST_WINDOWS:]}
