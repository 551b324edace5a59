"""Comparisons as plain text and as a small table for notebooks."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pulens.errors import spoken
from pulens.report.summary import number
from pulens.report.text import WIDTH
from pulens.report.words import scenario_words

if TYPE_CHECKING:
    from pulens.comparison import Comparison, Difference


def comparison_head(comparison: Comparison) -> list[tuple[str, str]]:
    """Rows, prior and redraws, in words."""
    labelled, unlabelled, negative = comparison.totals
    known = f", {negative:,.10g} known negative" if negative else ""
    evidence = comparison.evidence
    noise = f", label noise {evidence.label_noise:g}" if evidence.label_noise else ""
    return [
        ("rows", f"{labelled:,.10g} labelled, {unlabelled:,.10g} unlabelled{known} ({evidence.scenario}{noise})"),
        ("prior", str(comparison.class_prior)),
        ("labels", scenario_words(evidence.scenario)),
        *([("within", f"labels random within {' and '.join(comparison.within)} only")] if comparison.within else []),
        *([] if comparison.clusters is None else [("clusters", str(comparison.clusters))]),
        ("models", f"{', '.join(comparison.models)}; {found_by(comparison)}"),
        *([] if comparison.k is None else [("top", f"the first {comparison.k:,.10g} rows of the list")]),
    ]


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
    """Why a model may lead in nearly all redraws while p is large: the two answer different questions."""
    ranged, pairs = not comparison.class_prior.is_exact, len(comparison.models) > 2
    clustered = comparison.clusters is not None
    parts = ["counts both sides", *([] if clustered else ["allows for few labelled rows"])]
    parts += ["is the largest over the class priors in the range"] if ranged else []
    parts += ["is corrected for the number of pairs (Holm)"] if pairs else []
    where = ", at the class prior's own value" if ranged else ""
    if clustered:
        return (
            f"P(better) is what the clusters leave of doubt that the first model leads{where}. p is not one minus "
            f"that: it {spoken(parts)}."
        )
    return (
        f"P(better) is the share of redraws in which the first model leads{where}. p is not one minus that: it "
        f"{spoken(parts)}."
    )


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
    lines += [f"{title:<13}{text}" for title, text in comparison_head(comparison)]
    width = max(24, *(len(name) + 4 for name in comparison.models))
    columns = "".join(f"{name:>12}" for name in comparison.models)
    lines += ["", f"{'value':<{width}}{columns}"]
    for name, estimates in comparison.estimates.items():
        lines.append(f"  {name:<{width - 2}}" + "".join(f"{number(estimates[m]):>12}" for m in comparison.models))
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


_TEMPLATE = """\
<div class="pulens">
<p><b>{{ verdict }}</b></p>
<p>{% for title, text in head %}{{ title }}: {{ text }}<br>{% endfor %}</p>
<table><thead><tr><th scope="col" style="text-align:left">metric</th><th scope="col" style="text-align:left">pair</th>
<th scope="col">difference</th><th scope="col">{{ level }} interval</th><th scope="col">P(better)</th>
<th scope="col">p</th></tr></thead><tbody>
{%- for name, cells in rows %}
<tr><td style="text-align:left">{{ name }}</td><td style="text-align:left">{{ cells[0] }}</td>
{%- for cell in cells[1:] %}<td>{{ cell }}</td>{% endfor %}</tr>
{%- endfor %}
</tbody></table>
<p>{{ p_words }}</p>
<ul>{% for line in order %}<li>{{ line }}</li>{% endfor %}</ul>
</div>
"""


def comparison_html(comparison: Comparison) -> str:
    """The differences as HTML with every text escaped."""
    from jinja2 import Environment

    rows = [(name, difference_cells(pair)) for name, pairs in comparison.differences.items() for pair in pairs]
    return (
        Environment(autoescape=True)
        .from_string(_TEMPLATE)
        .render(
            verdict=comparison.verdict,
            p_words=p_words(comparison),
            head=comparison_head(comparison),
            rows=rows,
            order=order_lines(comparison),
            level=f"{comparison.confidence:.0%}",
        )
    )
