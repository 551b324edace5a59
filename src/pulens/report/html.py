"""Evaluations as one self-contained page: nothing is loaded, everything typed by users is escaped."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pulens._version import __version__
from pulens.metrics import METRICS, leading
from pulens.notice import Notice, Severity
from pulens.report.cells import cell_header, cell_rows
from pulens.report.page_data import as_rows, page_data
from pulens.report.summary import Row, Summary, summarise
from pulens.report.text import AGAINST, IMPOSSIBLE
from pulens.report.top import ladder_rows, top_places
from pulens.report.words import percent, prior_words, title_of

if TYPE_CHECKING:
    from jinja2 import Environment, Template

    from pulens.estimate import Interval
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.top import Top
    from pulens.evidence import Evidence

HOME = "https://pulens.github.io/pulens/"

#: what stays while a slider moves, by what the labelled rows are weighted for
SLIDERS_KEEP = {
    "cells": "Moving a slider keeps each cell's share of the positives; intervals are those of the report only.",
    "practice": "Moving a slider keeps how much labels favour easy positives; intervals are those of the report only.",
    "random": "Intervals are those of the report only.",
}


def scripts_for(data: Mapping[str, Any] = MappingProxyType({})) -> tuple[str, ...]:
    """The scripts that a page of an evaluation needs for what it carries, each after those that it uses."""
    given = data.get
    return (
        *("words.js", "page_state.js", "recovery.js"),
        *("prior.js", "chart.js", "figures.js"),
        *(("reliability.js",) if given("reliability") is not None else ()),
        *(("labelling_curve.js",) if given("curve") is not None else ()),
        *("evaluation_charts.js", "evaluation.js", "theme.js"),
    )


def evaluation_page(
    evaluation: Evaluation,
    *,
    title: str | None = None,
    scores_are: str | None = None,
    typed: Sequence[tuple[str, ...]] | None = None,
    tops: Sequence[Top] = (),
) -> str:
    """The whole page as text; with ``scores_are="probability"`` (or ``"logit"``) it has a reliability diagram.

    ``typed`` is the command that the evaluation came from, if it came from one: next steps then show commands. The
    page leads with ``tops``, places of the list.

    >>> from pulens import evaluate
    >>> page = evaluation_page(evaluate([1, 0, 0], [0.9, 0.4, 0.1], class_prior=0.4), title="<script>")
    >>> "<title>&lt;script&gt; · pulens</title>" in page
    True
    """
    summary = summarise(evaluation)
    data = _data(evaluation, summary, scores_are)
    audit = _audit(evaluation, summary)
    if audit is not None:
        data["curve"] = audit["curve"]
        summary = replace(summary, assumptions=summary.assumptions[1:])  # the checked rows need no assumption of labels
    steps = [step for step in evaluation.ladder() if step.hits is not None]
    rows = (*summary.ranking, *summary.at_threshold)
    above = AGAINST if evaluation.audit is not None else ""  # said before the numbers that it is about
    return render(
        "evaluation.html.j2",
        scripts_for(data),
        data,
        title=title or "Evaluation",
        summary=summary,
        tops=top_places(tops),
        ladder=ladder_rows(steps),
        tiles=[(row, tile_bar(row)) for row in _tiles(rows)],
        groups=(("From the whole ranking", summary.ranking), ("At the threshold", summary.at_threshold)),
        chips=_chips(data["metrics"]),
        derived=rows,
        prior_sentence=prior_words(evaluation.evidence),
        audit=audit,
        **_notices(summary, above),
        has_reliability=scores_are is not None,
        weighted=data["weighted"],
        slider_note=_slider_note(evaluation),
        cells=None if summary.cells is None else (cell_header(summary.cells), cell_rows(summary.cells)),
        cell_sentences=() if summary.cells is None else summary.cells.sentences,
        next_steps=[
            (step.sentence, unbroken(step.call if typed is None else step.shell(typed))) for step in summary.next_steps
        ],
        thinning=thinning_words(data["thinning"]),
        interval_name=interval_name_of(evaluation.class_prior.interval),
    )


def unbroken(command: str) -> list[str]:
    """A command in parts that a page breaks between, not within: no option is cut at its hyphens.

    >>> unbroken("pulens evaluate scores.csv --class-prior 0.1")
    ['pulens evaluate scores.csv', '--class-prior 0.1']
    """
    return re.split(r" (?=--)", command) if command else []


def _data(evaluation: Evaluation, summary: Summary, scores_are: str | None) -> dict[str, Any]:
    """What the page's scripts read, with the reliability diagram that was asked for."""
    data = page_data(evaluation, summary, _weighted(evaluation))
    if scores_are is not None:
        data["reliability"] = _reliability(evaluation, scores_are)
    return data


def _weighted(evaluation: Evaluation) -> Evidence | None:
    """The evidence whose labelled rows are weighted, by cells or by the labelling; ``None`` where all count alike."""
    if evaluation.within is not None:
        return as_rows(evaluation.within)
    return None if evaluation._masses is evaluation.evidence else evaluation._masses


def _slider_note(evaluation: Evaluation) -> str:
    """What stays while a slider moves."""
    weighted = "random" if evaluation._masses is evaluation.evidence else "practice"
    return SLIDERS_KEEP[weighted if evaluation.within is None else "cells"]


def interval_name_of(interval: Interval | None) -> str:
    """What a page calls an interval of the class prior."""
    if interval is None:
        return ""
    return "range" if interval.confidence is None else f"{interval.confidence:.0%} interval"


def _chips(metrics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Metrics that the page can draw, those people ask for first in front."""
    first = leading("tiles")
    computed = [
        {**metric, "first": metric["name"] in first} for metric in metrics if METRICS[metric["name"]].page_computes
    ]
    return sorted(computed, key=lambda metric: first.index(metric["name"]) if metric["first"] else len(first))


def _notices(summary: Summary, above: str) -> dict[str, list[Notice]]:
    """Warnings and notes; ``above`` is the code of what is said before the numbers that it is about.

    What a contradiction implies is a note: the verdict has said it.
    """
    is_said = summary.status == "contradicted"
    told = [
        replace(notice, severity=Severity.NOTE) if is_said and notice.code == IMPOSSIBLE else notice
        for notice in summary.notices
    ]
    against = [notice for notice in told if notice.code == above and notice.severity > Severity.NOTE]
    return {"against": against, "notices": [notice for notice in told if notice not in against]}


def _audit(evaluation: Evaluation, summary: Summary) -> dict[str, Any] | None:
    """Both columns, and the numbers people ask for first, as the checked rows give them."""
    if summary.audit is None or evaluation.audit is None:
        return None
    from pulens.report.audit_page import columns_table, labelling_curve_data

    table = columns_table(summary.audit)
    return {**table, "curve": labelling_curve_data(evaluation.audit)}


def _tiles(rows: tuple[Row, ...]) -> list[Row]:
    """The numbers people ask for first; what rests on a class prior that is hardly known comes after the rest."""
    first = leading("tiles")
    result = [row for name in first for row in rows if row.name == name]
    return sorted(result, key=lambda row: row.is_a_range and row.name != first[0])


def tile_bar(row: Row) -> dict[str, str]:
    """Where the marks of a tile's bar stand, from 0 to 100; empty what is not known."""
    result = row.recovered.interval
    known = {
        "value": None if row.is_a_range else row.recovered.value,
        "naive": row.uncorrected.value,
        "low": None if result is None else result.low,
        "high": None if result is None else result.high,
    }
    return {
        name: "" if at is None or math.isnan(at) else f"{100 * min(max(at, 0), 1):.2f}" for name, at in known.items()
    }


def _reliability(evaluation: Evaluation, scores_are: str) -> dict[str, Any]:
    from pulens.calibration import reliability
    from pulens.report.calibration_page import reliability_data

    diagram = reliability(evaluation._masses, scores_are=scores_are, labelling="random")  # what is said is in them
    return reliability_data(_weighted(evaluation) or evaluation.evidence, diagram, scores_are)


def render(
    name: str, scripts: tuple[str, ...], data: dict[str, Any], /, *, notices: Iterable[Notice] = (), **context: Any
) -> str:
    """Fill a template; scripts, styles and data go inline, and notes of ``notices`` are folded."""
    from markupsafe import Markup

    told = list(notices)
    text: str = template(name).render(
        styles=Markup(asset("page.css")),
        scripts=[Markup(asset(script)) for script in scripts],
        data=Markup(script_safe_json(data)),
        version=__version__,
        home=HOME,
        made_on=made_on(),
        alarming=[notice for notice in told if notice.severity > Severity.NOTE],
        notes=[notice for notice in told if notice.severity == Severity.NOTE],
        **context,
    )
    return text.strip()


def made_on() -> str:
    """Today, as a page says it."""
    now = datetime.now().astimezone()
    return f"{now.day} {now:%B %Y}"


@cache
def template(name: str) -> Template:
    """One of the package's own templates; each is compiled once, however many pages it fills."""
    return _templates().get_template(name)


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(loader=PackageLoader("pulens.report", "templates"), autoescape=True, undefined=StrictUndefined)


def script_safe_json(data: Any) -> str:
    """JSON that cannot end the script element it stands in.

    >>> script_safe_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def asset(name: str) -> str:
    """One of the package's own scripts or styles."""
    return (files("pulens.report") / "assets" / name).read_text(encoding="utf-8")


def thinning_words(thinning: dict[str, Any]) -> str:
    """What the page left out, in a sentence or two."""
    kept, distinct = thinning["kept"], thinning["of"]
    if kept == distinct:
        return f"All {distinct:,} distinct scores are in this page, so sliders and curves are exact."
    words = (
        f"This page holds {kept:,} of {distinct:,} distinct scores. {title_of('roc_auc')} and everything at a "
        f"threshold shown are exact; between two neighbouring points of a curve lie at most "
        f"{_small(max(thinning['labelled_gap'], thinning['unlabelled_gap']))} of the rows"
    )
    error = thinning["average_precision"]["error"]
    words += f", and average precision recomputed here was off by at most {error:.1g} at class priors the data allow"
    return f"{words}."


def _small(share: float) -> str:
    return percent(share) if share >= 0.001 else f"{100 * share:.2g}%"
