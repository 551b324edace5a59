"""Comparisons as plain text and as a card for notebooks."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pulens.errors import spoken
from pulens.inference.prior_uncertainty import PriorUncertainty
from pulens.report.lines import IF_RANDOM, NOTHING, RECOVERED, WIDTH, assumed_of, folded, titled, wrapped
from pulens.report.summary import number
from pulens.report.words import prior_in_short, title_of

SHOWN = 4  # models or pairs in a sentence
MOST_METRICS = 6  # in the short answer
MOST_COLUMNS = 2  # metrics where each model has a line
MOST_MODELS = 8
LEAD = 27  # columns of a difference with its interval

if TYPE_CHECKING:
    from pulens.comparison import Comparison, Difference
    from pulens.estimate import Estimate


def comparison_head(comparison: Comparison, *, explain: bool = True) -> list[tuple[str, str]]:
    """Rows, class prior and assumptions, in words; where the intervals come from only if asked."""
    evidence = comparison.evidence
    noise = f"; label noise {evidence.label_noise:g}" if evidence.label_noise else ""
    prior = prior_in_short(comparison.class_prior)
    whose = whose_prior(comparison) if explain else ""
    return [
        ("rows", str(comparison.totals)),
        ("class prior", ", ".join(filter(None, (prior, whose)))),
        ("assumes", f"{assumed_of(evidence.scenario, comparison.labelling, 'compare')}{noise}"),
        *([("within", f"labels random within {' and '.join(comparison.within)} only")] if comparison.within else []),
        *([] if comparison.clusters is None else [("clusters", str(comparison.clusters))]),
        *([("intervals", found_by(comparison))] if explain else []),
        *([] if comparison.k is None else [("top", f"the first {comparison.k:,.10g} rows of the list")]),
    ]


def whose_prior(comparison: Comparison) -> str:
    """By whose scores the class prior was estimated; empty where it was given."""
    told = comparison.prior_by
    if not told:
        return ""
    own = min(told, key=lambda model: told[model])
    each = ", ".join(f"{model} {value:.3f}" for model, value in list(told.items())[:SHOWN])
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return f"from the scores of {own}, the lowest of the models' estimates: {each}{more}"


def found_by(comparison: Comparison) -> str:
    """What the intervals of differences come from.

    Rows of one cluster are not resampled one by one: every bucket of clusters is left out once.
    """
    if comparison.clusters is None:
        return f"{comparison.redraws:,} joint resamples of the rows"
    return f"each of {comparison.clusters.buckets:,} buckets of clusters left out in turn"


def best_first(comparison: Comparison) -> tuple[str, ...]:
    """Models by how many others they beat in the metric of the verdict; the same order for every metric."""
    sign = 1 if comparison.higher_is_better[comparison.metric] else -1
    wins = dict.fromkeys(comparison.models, 0)
    for pair in comparison.differences[comparison.metric]:
        if not pair.undefined_because and pair.value:
            wins[pair.first if sign * pair.value > 0 else pair.second] += 1
    return tuple(sorted(comparison.models, key=lambda model: -wins[model]))


def ordered_pairs(comparison: Comparison, metric: str) -> list[Difference]:
    """All pairs, each the better model minus the other by the metric of the verdict: one sign everywhere."""
    order = best_first(comparison)
    return [
        comparison.difference(first, second, metric)
        for place, first in enumerate(order)
        for second in order[place + 1 :]
    ]


def difference_cells(pair: Difference) -> tuple[str, str, str, str]:
    """Pair, difference, interval, p-value."""
    who = f"{pair.first} - {pair.second}"
    if pair.undefined_because or pair.interval is None:
        return who, "undefined", "", ""
    interval = f"{pair.interval.low:+.3f} to {pair.interval.high:+.3f}"
    p_value = f"{pair.adjusted_p_value:.3f}" if pair.adjusted_p_value >= 0.001 else "<0.001"
    return who, f"{pair.value:+.3f}", interval, p_value


def p_words(comparison: Comparison) -> str:
    """What p allows for, and which pairs look contradictory here."""
    treatment, pairs = PriorUncertainty(comparison.evidence).treatment, len(comparison.models) > 2
    clustered = comparison.clusters is not None
    parts = ["is two-sided", *([] if clustered else ["allows for few labelled rows"])]
    parts += ["is the largest over the class priors in the range"] if treatment == "range" else []
    parts += ["is corrected for the number of pairs (Holm)"] if pairs else []
    return " ".join([f"p {spoken(parts)}.", *disagreements(comparison)])


def disagreements(comparison: Comparison, metric: str | None = None) -> list[str]:
    """A sentence for each pair of which p and the interval seem to contradict each other."""
    result = []
    for name, pairs in comparison.differences.items():
        for pair in pairs if metric in (None, name) else ():
            if pair.interval is None:
                continue
            apart, clear = 0.0 not in pair.interval, pair.is_clear(comparison.confidence)
            if apart == clear:
                continue
            seen = f"the interval {'excludes' if apart else 'includes'} 0 and p is {pair.adjusted_p_value:.2g}"
            why = _why_apart(comparison, pair, apart=apart, clear=clear)
            result.append(f"{title_of(name)}, {pair.first} - {pair.second}: {seen}: {why}.")
    more = [f"So do {len(result) - SHOWN} more pairs."] if len(result) > SHOWN else []
    return [*result[:SHOWN], *more]


def _why_apart(comparison: Comparison, pair: Difference, *, apart: bool, clear: bool) -> str:
    """What makes the numbers of a pair differ; the verdict goes by p."""
    many = len(comparison.models) * (len(comparison.models) - 1) // 2
    if apart and not clear and pair.p_value < 1 - comparison.confidence:
        return f"the interval is for this pair alone (p {pair.p_value:.2g} alone), p allows for all {many} pairs"
    return "a borderline case; the verdict goes by p"


def order_lines(comparison: Comparison) -> list[str]:
    """Where the class prior changes the order, metric by metric."""
    from pulens.metrics import METRICS

    lines = []
    for name, order in comparison.order.items():
        title = title_of(name)
        reach = f"class priors {order.class_priors[0]:.3f} to {order.class_priors[-1]:.3f}"
        if METRICS[name].order_is_fixed and not comparison.totals.negative:
            lines.append(f"{title}: the order is the same at every class prior, by its formula")
        elif METRICS[name].ignores_class_prior:
            lines.append(f"{title}: does not depend on the class prior")
        elif order.crossings:
            lines.append(f"{title}, {reach}: " + "; ".join(str(crossing) for crossing in order.crossings))
        else:
            lines.append(f"{title}, {reach}: the order never changes")
    return lines


def _told(result: Estimate) -> str:
    """A model's number in its column; the interval in place of a value that the class prior leaves open."""
    if result.withheld_because and result.interval is not None:
        return f"{result.interval.low:.2f}-{result.interval.high:.2f}"
    return number(result)


def _named(model: str, width: int) -> str:
    """A model's name in a column of some width."""
    return model if len(model) < width else f"{model[: width - 2]}…"


def _two_models(comparison: Comparison, metrics: Sequence[str]) -> list[str]:
    """Two models: each metric on one line, with the difference and its interval."""
    best, other = best_first(comparison)
    name = max(len(title_of(metric)) for metric in comparison.estimates) + 2
    column = max(min((WIDTH - name - 11 - 19) // 2, max(len(best), len(other)) + 2), 11)
    level = f"{comparison.confidence:.0%} interval"
    lines = [
        f"{'':<{name}}{_named(best, column):>{column}}{_named(other, column):>{column}}{'difference':>12}{level:>19}"
    ]
    for metric in metrics:
        (pair,) = ordered_pairs(comparison, metric)
        _, value, interval, _ = difference_cells(pair)
        told = (_told(comparison.estimates[metric][model]) for model in (best, other))
        lines.append(
            f"{title_of(metric):<{name}}{''.join(f'{one:>{column}}' for one in told)}{value:>12}{interval:>19}".rstrip()
        )
    return lines


def _ranked(comparison: Comparison, metrics: Sequence[str]) -> list[str]:
    """More models: one line for each, best first, with the lead of the best over it by the first metric."""
    best, *_ = order = best_first(comparison)
    shown = {metric: max(len(title_of(metric)) + 2, 11) for metric in list(metrics)[:MOST_COLUMNS]}
    name = max(min(max(map(len, order)) + 1, WIDTH - sum(shown.values()) - LEAD), 8)
    titles = "".join(f"{title_of(metric):>{width}}" for metric, width in shown.items())
    lines = [f"{'':<{name}}{titles}{'lead of the best':>{LEAD}}"]
    for model in order[:MOST_MODELS]:
        told = "".join(f"{_told(comparison.estimates[metric][model]):>{width}}" for metric, width in shown.items())
        lead = ""
        if model != best:
            _, value, interval, _ = difference_cells(comparison.difference(best, model))
            lead = f"{value} ({interval})" if interval else value
        lines.append(f"{_named(model, name + 1):<{name}}{told}{lead:>{LEAD}}".rstrip())
    left = len(order) - MOST_MODELS
    return [*lines, *([f"and {left:,} more models"] if left > 0 else [])]


def _reviewed(comparison: Comparison) -> list[str]:
    """What the checked rows show: each model, and of two models the difference with its interval."""
    result = comparison.reviewed
    if result is None:
        return []
    order = best_first(comparison)
    width = max(17, *(len(title_of(name)) + 2 for name in result.estimates))
    head = f"{'by checked rows':<{width}}" + "".join(f"{_named(name, 12):>12}" for name in order)
    level = f"{result.confidence:.0%} interval"
    lines = ["", head + (f"{'difference':>12}{level:>19}" if len(order) == 2 else "")]
    for name, estimates in result.estimates.items():
        told = "".join(f"{number(estimates[model]):>12}" for model in order)
        for pair in result.differences[name] if len(order) == 2 else ():
            sign = 1 if pair.first == order[0] else -1
            ends = () if pair.interval is None else sorted((sign * pair.interval.low, sign * pair.interval.high))
            told += f"{'undefined' if pair.undefined_because else f'{sign * pair.value:+.3f}':>12}"
            told += f"{' to '.join(f'{end:+.3f}' for end in ends):>19}"
        lines.append(f"{title_of(name):<{width}}{told}".rstrip())
    return lines


def _reviewed_differences(comparison: Comparison) -> list[str]:
    result = comparison.reviewed
    if result is None:
        return []
    width = max(24, *(len(name) + 4 for name in comparison.models))
    lines = ["", f"{'by checked rows':<{width}}{'difference':>12}{f'{result.confidence:.0%} interval':>22}"]
    for name, pairs in result.differences.items():
        for pair in pairs:
            reach = "" if pair.interval is None else f"{pair.interval.low:+.3f} to {pair.interval.high:+.3f}"
            value = "undefined" if pair.undefined_because else f"{pair.value:+.3f}"
            who = f"{title_of(name)}, {pair.first} - {pair.second}"
            lines.append(f"  {who:<{width - 2}}{value:>12}{reach:>22}".rstrip())
    return lines


def comparison_text(comparison: Comparison, way: str = "python", *, explain: bool = False) -> str:
    """Verdict, values and differences, what is assumed, the worst warning; all of it where the reader asked.

    ``way`` is how the reader asked: a ``command`` or ``python``.
    """
    result = comparison.reviewed
    lines = [] if result is None else [*wrapped(result.verdict, 0), *_reviewed(comparison), ""]
    if result is not None and not explain:
        rows, prior, *_ = comparison_head(comparison, explain=False)
        more = f"{'--explain' if way == 'command' else '.estimates, .differences'}: {IF_RANDOM}"
        return "\n".join([*lines, *_line_of_each([rows, prior, ("assumes", NOTHING)]), "", *titled("more", more)])
    if result is not None:
        lines += [RECOVERED, ""]
    lines += [*wrapped(comparison.verdict, 0), ""]
    metrics = list(comparison.estimates) if explain else list(comparison.estimates)[:MOST_METRICS]
    lines += (_two_models if len(comparison.models) == 2 else _ranked)(comparison, metrics)
    if not explain:
        lines += [
            line for words in disagreements(comparison, comparison.metric)[:1] for line in ("", *wrapped(words, 0))
        ]
    lines += ["", *_line_of_each(comparison_head(comparison, explain=explain))]
    lines += _order(comparison, explain=explain)
    if comparison.worth is not None:
        lines += ["", "worth the same"]
        for sentence in comparison.worth.sentences:
            lines += [f"  {line}" for line in wrapped(sentence, 2)]
    lines += _reviewed_differences(comparison) if explain else []
    lines += _every_pair(comparison) if explain else []
    new = [notice for notice in comparison.notices if explain or str(notice) not in comparison.verdict]
    return "\n".join([*lines, *folded(new, way, explain=explain)])


def _line_of_each(head: list[tuple[str, str]]) -> list[str]:
    return [line for title, text in head for line in titled(title, text)]


def _order(comparison: Comparison, *, explain: bool) -> list[str]:
    """Where the class prior changes the order of models; that it does not is told on request."""
    changes = any(order.crossings for order in comparison.order.values())
    if not explain and not changes:
        return []
    lines = [line for line in order_lines(comparison) if explain or "better below" in line]
    return ["", "order over the class prior", *(part for line in lines for part in _indented(line))]


def _indented(words: str) -> list[str]:
    return [f"  {line}" for line in textwrap.wrap(words, WIDTH - 4, subsequent_indent="  ")]


def _every_pair(comparison: Comparison) -> list[str]:
    """Every metric and pair, with p."""
    width = max(24, *(len(pair.first) + len(pair.second) + 7 for pair in ordered_pairs(comparison, comparison.metric)))
    lines = []
    for name in comparison.differences:
        lines += [
            "",
            f"{title_of(name):<{width}}{'difference':>12}{f'{comparison.confidence:.0%} interval':>20}{'p':>8}",
        ]
        for pair in ordered_pairs(comparison, name):
            who, value, interval, p_value = difference_cells(pair)
            lines.append(f"  {who:<{width - 2}}{value:>12}{interval:>20}{p_value:>8}".rstrip())
    return [*lines, "", *wrapped(p_words(comparison), 0)]


def comparison_html(comparison: Comparison) -> str:
    """The differences as a card for notebooks, with every text escaped."""
    from pulens.report.notebook_card import card

    return card(
        "notebook_comparison.html.j2",
        verdict=comparison.verdict,
        p_words=p_words(comparison),
        head=comparison_head(comparison),
        metrics=[
            (title_of(name), _bars(comparison, ordered_pairs(comparison, name))) for name in comparison.differences
        ],
        order=order_lines(comparison),
        notices=comparison.notices,
        level=f"{comparison.confidence:.0%}",
    )


def _bars(comparison: Comparison, pairs: Sequence[Difference]) -> dict[str, Any]:
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
