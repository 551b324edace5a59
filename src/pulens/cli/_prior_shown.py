"""A class prior on the terminal: a sentence, both populations, what it rests on, and the line to paste at the end."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

import click

from pulens.report.lines import ASSUMES, WIDTH, folded, pasteable, titled, wrapped

if TYPE_CHECKING:
    from pulens.counts.tally import Tally
    from pulens.estimate import Interval
    from pulens.evaluation.clustering import Clustering
    from pulens.priors import ClassPrior
    from pulens.priors.label_noise import LabelNoise
    from pulens.scenario import Scenario

POPULATIONS = ("all rows (the class prior)", "unlabelled rows alone")
WHOLE = "the population (class prior)"


def prior_lines(
    prior: ClassPrior,
    tally: Tally,
    scenario: Scenario,
    clusters: Clustering | None,
    noise: LabelNoise | None,
    advice: Mapping[str, int],
    *,
    explain: bool = False,
) -> list[str]:
    """The share in a sentence and a table, what it assumes, the worst warning; the rest where the reader asked."""
    lines = [*wrapped(verdict_words(prior), 0), "", *share_lines(prior), ""]
    if noise is not None:
        most = "" if noise.feasible is None else f"; at most {noise.feasible.high:.3f} is possible"
        lines += [*titled("label noise", f"{_words_of(noise)}{most}"), ""]
    distinct = f"; {len(tally):,} distinct scores" if explain else ""
    lines += titled("rows", f"{tally.totals}{distinct}")
    lines += [] if clusters is None else titled("clusters", str(clusters))
    by_audit = prior.method.startswith("audit")
    lines += titled("assumes", "checked rows were drawn at random" if by_audit else ASSUMES[scenario])
    if explain:
        lines += titled("estimator", prior.assumption)
        there = int(tally.totals.unlabelled)
        rows = ", ".join(f"{'all ' if rows == there else ''}{rows:,} for {width}" for width, rows in advice.items())
        lines += titled("audit", f"random unlabelled rows to check for an interval of a given width: {rows}")
    return [*lines, *folded(prior.notices, "command", explain=explain)]


def verdict_words(prior: ClassPrior) -> str:
    """How common positives are, and how far the data leave it open."""
    interval = prior.interval
    named = "" if interval is None or interval.confidence is None else f"{interval.confidence:.0%} interval "
    doubt = "" if interval is None or not interval.width else f" ({named}{_percents(interval)})"
    among = "of all rows" if prior.value != prior.unlabelled else "of the population"
    words = f"About {_hundredths(prior.value)}% {among} are positive{doubt}; {prior.method}."
    if prior.feasible is None or prior.feasible == interval or "audit" in prior.method:
        return words
    words = f"If labels are random, {words[0].lower()}{words[1:]}"
    words += f" For any score distribution {_percents(prior.feasible)} would be feasible"
    if prior.feasible_uneven is not None:
        from pulens.priors.feasible import UNEVEN

        most = f"{_hundredths(prior.feasible_uneven.high)}%"
        words += f"; up to {most} if high scores were labelled up to {UNEVEN:g} times as often"
    return f"{words}."


def _percents(interval: Interval) -> str:
    return f"{_hundredths(interval.low)} to {_hundredths(interval.high)}%"


def _hundredths(share: float) -> str:
    return f"{100 * share:.1f}" if share >= 0.01 or not share else f"{100 * share:.2g}"


def _words_of(noise: LabelNoise) -> str:
    reach = "" if noise.interval is None else f", {_ends(noise.interval)}"
    return f"{noise.value:.4g}{reach}"


def share_lines(prior: ClassPrior) -> list[str]:
    """The share of positives in each population: number, interval and feasible range, of the same rows."""
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
    other = "by the audit alone" if "audit" in prior.method else "feasible range"
    head = f"{'share of positives among':<32}{'':>9}{named:>18}{other if possible else '':>20}"
    lines = [head.rstrip()]
    for name, value, own, reach in rows:
        cells = f"{_ends(own):>18}{_ends(reach) if possible else '':>20}"
        lines.append(f"  {name:<30}{f'{value:.3f}' if value >= 0.01 else f'{value:.3g}':>9}{cells}".rstrip())
    return lines


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"


def estimator_lines(estimators: Mapping[str, float]) -> list[str]:
    """Each estimator's result, for the unlabelled rows."""
    from pulens.priors import find

    lines = ["", f"each estimator, for the {POPULATIONS[1]}"]
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
    reach = "" if interval is None or interval.width == 0 else f" (or {_ends_typed(interval)})"
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
    return ["", f"To reuse it: {number}{reach}", "To evaluate with it:", *pasteable(command)]


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
