"""A class prior on the terminal: both populations side by side, what it rests on, and the line to paste at the end."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pulens.counts.tally import Tally
    from pulens.doors.clustering import Clustering
    from pulens.estimate import Interval
    from pulens.priors import ClassPrior
    from pulens.priors.label_noise import LabelNoise
    from pulens.scenario import Scenario

WIDTH = 80
POPULATIONS = ("all rows (the class prior)", "unlabelled rows alone")
WHOLE = "the population (class prior)"
POSSIBLE = "possible at all: whatever the shapes of the scores are, if labels are random"


def prior_lines(
    prior: ClassPrior,
    tally: Tally,
    scenario: Scenario,
    clusters: Clustering | None,
    noise: LabelNoise | None,
    advice: Mapping[str, int],
) -> list[str]:
    """Rows, the shares with their intervals, assumptions, warnings."""
    from pulens.report.words import scenario_words

    labelled, unlabelled, negative = tally.totals
    known = f", {negative:,.10g} known negative" if negative else ""
    counts = f"{labelled:,.10g} labelled, {unlabelled:,.10g} unlabelled{known}; {len(tally):,} distinct scores"
    lines = [*_told("rows", counts), *([] if clusters is None else _told("clusters", str(clusters)))]
    lines += [*_told("labels", scenario_words(scenario, "command")), *_told("found by", prior.method), ""]
    lines += [*share_lines(prior), ""]
    if noise is not None:
        most = "" if noise.feasible is None else f"; at most {noise.feasible.high:.3f} is possible"
        lines += [*_told("label noise", f"{_words_of(noise)}{most}"), ""]
    lines += _told("assumes", prior.assumption)
    there = int(unlabelled)
    rows = ", ".join(f"{'all ' if rows == there else ''}{rows:,} for {width}" for width, rows in advice.items())
    lines += _told("audit", f"random unlabelled rows to check by hand for an interval of a given width: {rows}")
    for notice in prior.notices:
        said = f"{notice.severity.name.lower()}: {notice}"
        lines += ["", *textwrap.wrap(said, WIDTH, subsequent_indent="  ")]
    return lines


def _words_of(noise: LabelNoise) -> str:
    reach = "" if noise.interval is None else f", {_ends(noise.interval)}"
    return f"{noise.value:.4g}{reach}"


def share_lines(prior: ClassPrior) -> list[str]:
    """The share of positives in each population: number, interval, and what is possible at all, of the same rows."""
    interval = prior.interval
    named = (
        "" if interval is None else "range" if interval.confidence is None else f"{interval.confidence:.0%} interval"
    )
    both = prior.value != prior.unlabelled
    rows: list[tuple[str, float, Interval | None, Interval | None]]
    rows = [(POPULATIONS[0] if both else WHOLE, prior.value, prior.interval, prior.feasible)]
    if both:
        rows.append((POPULATIONS[1], prior.unlabelled, prior.unlabelled_interval, prior.unlabelled_feasible))
    possible = any(reach is not None and reach != own for _, _, own, reach in rows)
    # beside an estimate that an audit sharpens stands the audit's own interval
    beside = "by the audit alone" if "audit" in prior.method else "possible at all"
    head = f"{'share of positives among':<32}{'':>9}{named:>18}{beside if possible else '':>20}"
    lines = [head.rstrip()]
    for name, value, own, reach in rows:
        cells = f"{_ends(own):>18}{_ends(reach) if possible else '':>20}"
        lines.append(f"  {name:<30}{value:>9.4g}{cells}".rstrip())
    if possible and beside == "possible at all":
        lines.append(POSSIBLE)
        if prior.feasible_uneven is not None:
            from pulens.priors.feasible import UNEVEN

            often = f"if high scores were labelled up to {UNEVEN:g} times as often: {_ends(prior.feasible_uneven)}"
            lines.append(f"{often}{' of all rows' if both else ''}")
    return lines


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"


def _told(title: str, words: str) -> list[str]:
    return textwrap.wrap(f"{title:<13}{words}", WIDTH, subsequent_indent=" " * 13, break_on_hyphens=False)


def estimator_lines(estimators: Mapping[str, float]) -> list[str]:
    """What each estimator says, of the unlabelled rows."""
    from pulens.priors import find

    lines = ["", f"each estimator, of the {POPULATIONS[1]}"]
    for name, value in estimators.items():
        lines += textwrap.wrap(
            f"  {name:<18} {value:.4f}  {find(name).summary}", WIDTH, subsequent_indent=" " * 29, break_on_hyphens=False
        )
    return lines


def paste_lines(prior: ClassPrior, given: Mapping[str, Any], noise: LabelNoise | None = None) -> list[str]:
    """What to write elsewhere, and as the last line the command that evaluates with this very class prior."""
    from pulens.cli._typed import typed_command
    from pulens.report.next_steps import another_command

    interval = prior.interval
    reach = "" if interval is None or interval.width == 0 else f", with its doubt {_range(interval)}"
    number = f"--class-prior {prior.value:.4g}"
    options: list[str] = []
    for name in ("weight", "cluster", "reviews", "reviewed_above", "reviewed_below_share"):
        if given.get(name) is not None:
            options += [f"--{name.replace('_', '-')}", str(given[name])]
    if noise is not None:
        options += [
            "--class-prior",
            _ends_typed(interval) or f"{prior.value:.4g}",
            "--label-noise",
            f"{noise.value:.4g}",
        ]
    else:
        if given.get("audit") is not None:
            options += ["--audit", str(given["audit"])]
        elif given.get("reviews") is None and given.get("reviewed_above") is None:
            options += ["--class-prior", given.get("method") or "auto"]
        if given.get("label_noise") not in (None, "0"):
            options += ["--label-noise", str(given["label_noise"])]
    command = another_command(typed_command(click.get_current_context()), ("evaluate",), tuple(options))
    if given.get("combine"):
        command += " --combine"
    said = f"as a number: {number}{reach}. To evaluate with it, doubt and all:"
    return ["", *textwrap.wrap(said, WIDTH, break_on_hyphens=False), f"  {command}"]


def _range(interval: Interval) -> str:
    return f"--class-prior {_ends_typed(interval)}"


def _ends_typed(interval: Interval | None) -> str:
    """A range as it is typed, its ends rounded inwards: beyond them may lie what the counts rule out."""
    if interval is None:
        return ""
    low, high = (Decimal(repr(float(end))) for end in (interval.low, interval.high))
    return f"{_rounded(low, ROUND_CEILING)}:{_rounded(high, ROUND_FLOOR)}"


def _rounded(number: Decimal, way: str) -> str:
    """Four digits that count, never as a power of ten.

    >>> _rounded(Decimal("0.064333"), ROUND_CEILING), _rounded(Decimal("0"), ROUND_CEILING)
    ('0.06434', '0')
    """
    if not number:
        return "0"
    return f"{number.quantize(Decimal(1).scaleb(number.adjusted() - 3), rounding=way).normalize():f}"
