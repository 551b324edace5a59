"""Comparisons as plain text and as a card for notebooks."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from pulens.errors import spoken
from pulens.intervals.prior_doubt import PriorDoubt
from pulens.report.summary import number
from pulens.report.text import WIDTH
from pulens.report.words import scenario_words

SHOWN = 4  # models or pairs in a sentence

if TYPE_CHECKING:
    from pulens.comparison import Comparison, Difference
    from pulens.estimate import Estimate


def comparison_head(comparison: Comparison) -> list[tuple[str, str]]:
    """Rows, prior and redraws, in words."""
    labelled, unlabelled, negative = comparison.totals
    known = f", {negative:,.10g} known negative" if negative else ""
    evidence = comparison.evidence
    noise = f", label noise {evidence.label_noise:g}" if evidence.label_noise else ""
    return [
        ("rows", f"{labelled:,.10g} labelled, {unlabelled:,.10g} unlabelled{known} ({evidence.scenario}{noise})"),
        ("prior", ", ".join(filter(None, (str(comparison.class_prior), whose_prior(comparison))))),
        ("labels", scenario_words(evidence.scenario)),
        *([("within", f"labels random within {' and '.join(comparison.within)} only")] if comparison.within else []),
        *([] if comparison.clusters is None else [("clusters", str(comparison.clusters))]),
        ("models", f"{', '.join(comparison.models)}; {found_by(comparison)}"),
        *([] if comparison.k is None else [("top", f"the first {comparison.k:,.10g} rows of the list")]),
    ]


def whose_prior(comparison: Comparison) -> str:
    """By whose scores the class prior was estimated; empty where somebody said it."""
    told = comparison.prior_by
    if not told:
        return ""
    own = min(told, key=lambda model: told[model])
    each = ", ".join(f"{model} {value:.3f}" for model, value in list(told.items())[:SHOWN])
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return f"by the scores of {own}, the lowest of the models' own: {each}{more}"


def found_by(comparison: Comparison) -> str:
    """What the intervals of differences come from.

    Rows that belong together are not redrawn: every bucket of clusters is left out once.
    """
    if comparison.clusters is None:
        return f"{comparison.redraws:,} joint redraws of the rows"
    return f"each of {comparison.clusters.buckets:,} buckets of clusters left out in turn"


def difference_cells(pair: Difference) -> tuple[str, str, str, str, str]:
    """Pair, difference, interval, probability, p-value."""
    who = f"{pair.first} - {pair.second}"
    if pair.undefined_because or pair.interval is None:
        return who, "undefined", "", "", ""
    interval = f"{pair.interval.low:+.4f} to {pair.interval.high:+.4f}"
    p_value = f"{pair.adjusted_p_value:.3f}" if pair.adjusted_p_value >= 0.001 else "<0.001"
    return who, f"{pair.value:+.4f}", interval, f"{pair.probability:.3f}", p_value


def p_words(comparison: Comparison) -> str:
    """Why a model may lead in nearly all redraws while p is large, and which pairs look contradictory here."""
    treatment, pairs = PriorDoubt(comparison.evidence).treatment, len(comparison.models) > 2
    ranged = treatment == "range"
    clustered = comparison.clusters is not None
    parts = ["counts both sides", *([] if clustered else ["allows for few labelled rows"])]
    parts += ["is the largest over the class priors in the range"] if ranged else []
    parts += ["is corrected for the number of pairs (Holm)"] if pairs else []
    where = ", at the class prior's own value" if ranged else ""
    if treatment == "drawn" and not clustered:
        where = ", each with a class prior of its own"
    leads = "what the clusters leave of doubt that the first model leads"
    if not clustered:
        leads = "the share of redraws in which the first model leads"
    general = f"P(better) is {leads}{where}. p is not one minus that: it {spoken(parts)}."
    return " ".join([general, *disagreements(comparison)])


def disagreements(comparison: Comparison) -> list[str]:
    """A sentence for each pair of which P(better), p and the interval seem to say different things."""
    level = 1 - comparison.confidence
    found = []
    for name, pairs in comparison.differences.items():
        for pair in pairs:
            if pair.interval is None:
                continue
            apart, clear = 0.0 not in pair.interval, pair.is_clear(comparison.confidence)
            leads = max(pair.probability, 1 - pair.probability)
            if apart == clear and (clear or leads <= 1 - level / 2):
                continue
            ahead = pair.first if pair.probability >= 0.5 else pair.second
            seen = [f"{ahead} leads with chance {leads:.3f}", f"the interval {'leaves out' if apart else 'holds'} 0"]
            p_value = f"p is {pair.adjusted_p_value:.2g}"
            why = _why_apart(comparison, pair, apart=apart, clear=clear)
            found.append(f"{name}, {pair.first} - {pair.second}: {', '.join([*seen, p_value])}: {why}.")
    more = [f"So do {len(found) - SHOWN} more pairs."] if len(found) > SHOWN else []
    return [*found[:SHOWN], *more]


def _why_apart(comparison: Comparison, pair: Difference, *, apart: bool, clear: bool) -> str:
    """What makes the numbers of a pair differ; the verdict goes by p."""
    many = len(comparison.models) * (len(comparison.models) - 1) // 2
    level = 1 - comparison.confidence
    if apart and not clear and pair.p_value < level:
        return f"the interval is of this pair alone (p {pair.p_value:.2g} alone), p allows for all {many} pairs"
    if apart == clear and PriorDoubt(comparison.evidence).treatment == "range":
        return "P(better) is at one class prior, the interval and p are at the least favourable one in the range"
    if apart == clear:
        return "the interval and p allow for few labelled rows, P(better) counts redraws only"
    return "the pair lies at the edge of what can be told; the verdict goes by p"


def order_lines(comparison: Comparison) -> list[str]:
    """Where the class prior changes the order, metric by metric."""
    from pulens.metrics import METRICS

    lines = []
    for name, order in comparison.order.items():
        reach = f"class priors {order.class_priors[0]:.3f} to {order.class_priors[-1]:.3f}"
        if METRICS[name].order_is_fixed and not comparison.totals.negative:
            lines.append(f"{name}: the order is the same at every class prior, by its formula")
        elif METRICS[name].ignores_class_prior:
            lines.append(f"{name}: does not depend on the class prior")
        elif order.crossings:
            lines.append(f"{name}, {reach}: " + "; ".join(str(crossing) for crossing in order.crossings))
        else:
            lines.append(f"{name}, {reach}: the order never changes")
    return lines


def _told(found: Estimate) -> str:
    """A model's number in its column; the interval in place of a value that the class prior leaves open."""
    if found.withheld_because and found.interval is not None:
        return f"{found.interval.low:.2f}-{found.interval.high:.2f}"
    return number(found)


def reviewed_lines(comparison: Comparison) -> list[str]:
    """What the checked rows say, before anything that takes labels for random."""
    found = comparison.reviewed
    if found is None:
        return []
    lines = [*textwrap.wrap(f"checked rows: {found.verdict}", WIDTH, subsequent_indent="  "), ""]
    width = max(24, *(len(name) + 4 for name in comparison.models))
    lines.append(f"{'assuming nothing':<{width}}" + "".join(f"{name:>12}" for name in found.models))
    for name, estimates in found.estimates.items():
        lines.append(f"  {name:<{width - 2}}" + "".join(f"{number(estimates[m]):>12}" for m in found.models))
    lines += ["", f"{'difference':<{width}}{'value':>10}{f'{found.confidence:.0%} interval':>22}"]
    for name, pairs in found.differences.items():
        for pair in pairs:
            reach = "" if pair.interval is None else f"{pair.interval.low:+.4f} to {pair.interval.high:+.4f}"
            value = "undefined" if pair.undefined_because else f"{pair.value:+.4f}"
            lines.append(f"  {f'{name}, {pair.first} - {pair.second}':<{width - 2}}{value:>10}{reach:>22}".rstrip())
    return [*lines, ""]


def comparison_text(comparison: Comparison) -> str:
    """Verdict, values, differences, order, warnings."""
    lines = [*textwrap.wrap(f"verdict: {comparison.verdict}", WIDTH, subsequent_indent="  "), ""]
    lines += reviewed_lines(comparison)
    for title, text in comparison_head(comparison):
        lines += textwrap.wrap(
            f"{title:<13}{text}", WIDTH, subsequent_indent=" " * 13, break_on_hyphens=False, break_long_words=False
        )
    width = max(24, *(len(name) + 4 for name in comparison.models))
    columns = "".join(f"{name:>12}" for name in comparison.models)
    lines += ["", f"{'value':<{width}}{columns}"]
    for name, estimates in comparison.estimates.items():
        lines.append(f"  {name:<{width - 2}}" + "".join(f"{_told(estimates[m]):>12}" for m in comparison.models))
    header = (
        f"{'difference':<{width}}{'value':>10}{f'{comparison.confidence:.0%} interval':>22}{'P(better)':>11}{'p':>8}"
    )
    for name, pairs in comparison.differences.items():
        lines += ["", f"{name}", header]
        for pair in pairs:
            who, value, interval, probability, p_value = difference_cells(pair)
            lines.append(f"  {who:<{width - 2}}{value:>10}{interval:>22}{probability:>11}{p_value:>8}".rstrip())
    lines += ["", *textwrap.wrap(p_words(comparison), WIDTH)]
    lines += ["", "order over the class prior", *(f"  {line}" for line in order_lines(comparison))]
    if comparison.worth is not None:
        lines += ["", "worth the same"]
        for sentence in comparison.worth.sentences:
            lines += textwrap.wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")
    for notice in comparison.notices:
        text = f"{notice.severity.name.lower()}: {notice}"
        lines += ["", *textwrap.wrap(text, WIDTH, subsequent_indent="  ")]
    return "\n".join(lines)


def comparison_html(comparison: Comparison) -> str:
    """The differences as a card for notebooks, with every text escaped."""
    from pulens.report.notebook_card import card

    return card(
        "notebook_comparison.html.j2",
        verdict=comparison.verdict,
        p_words=p_words(comparison),
        head=comparison_head(comparison),
        metrics=[(name, _bars(comparison, pairs)) for name, pairs in comparison.differences.items()],
        order=order_lines(comparison),
        notices=comparison.notices,
        level=f"{comparison.confidence:.0%}",
    )


def _bars(comparison: Comparison, pairs: tuple[Difference, ...]) -> dict[str, Any]:
    """Rows of one metric, with their intervals on one scale that has zero on it, in units of 200."""
    reaches = [pair.interval for pair in pairs if pair.interval is not None]
    low = min((0.0, *(reach.low for reach in reaches)))
    high = max((0.0, *(reach.high for reach in reaches)))
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return round(200 * (value - low) / span, 1)

    rows = []
    for pair in pairs:
        bar = None
        if pair.interval is not None:
            ends = place(pair.interval.low), place(pair.interval.high)
            wide, clear = max(round(ends[1] - ends[0], 1), 1.0), pair.is_clear(comparison.confidence)
            bar = {"zero": place(0.0), "low": ends[0], "wide": wide, "clear": clear}
        rows.append((difference_cells(pair), bar))
    return {"rows": rows, "low": f"{low:+.3f}" if low else "0", "high": f"{high:+.3f}" if high else "0"}
