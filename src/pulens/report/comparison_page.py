"""A comparison of models as one self-contained page: who leads, how sure that is, and where the class prior decides."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

from pulens.comparison.answer import verdict
from pulens.errors import spoken
from pulens.metrics import METRICS
from pulens.notice import Severity
from pulens.report.axis import plain
from pulens.report.comparison import difference_cells, found_by, ordered_pairs, p_words, whose_prior
from pulens.report.html import render
from pulens.report.lines import NOTHING, RECOVERED, assumed_of
from pulens.report.summary import MARK
from pulens.report.words import assumed, counts_of, prior_words, title_of

if TYPE_CHECKING:
    from pulens.audits.comparing import ReviewedDifference
    from pulens.comparison import Comparison
    from pulens.estimate import Estimate, Interval

SCRIPTS = ("words.js", "page_state.js", "chart.js", "figures.js", "comparison.js", "theme.js")
LONGEST_NAME = 28  # of a model, in a legend


def comparison_page(comparison: Comparison, *, title: str | None = None) -> str:
    """The whole page as text."""
    models, prior = comparison.models, comparison.class_prior
    interval = prior.interval
    data = {
        "models": list(comparison.models),
        "short_names": [_short(model) for model in comparison.models],
        "metric": comparison.metric,
        "prior": {
            "value": prior.value,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "confidence": None if interval is None else interval.confidence,
        },
        "confidence": comparison.confidence,
        "metrics": {name: _metric(comparison, name) for name in comparison.estimates},
        "worth": _worth(comparison),
    }
    whose, said = whose_prior(comparison), verdict(comparison)
    return render(
        "comparison.html.j2",
        SCRIPTS,
        data,
        title=title or (" against ".join(models) if len(models) == 2 else spoken(models)),
        counts=counts_of(comparison.evidence),
        verdict=_kept_apart(said, comparison.models),
        p_words=p_words(comparison),
        prior_sentence=prior_words(comparison.evidence) + (f". Estimated {whose}" if whose else ""),
        confidence=f"{comparison.confidence:.0%}",
        found_by=found_by(comparison),
        clusters="" if comparison.clusters is None else str(comparison.clusters),
        assumptions=assumed(comparison.evidence, comparison.labelling, " and ".join(comparison.within or ()))[
            comparison.reviewed is not None :  # checked rows need nothing of how positives came by their labels
        ],
        notices=[one for one in comparison.notices if one.severity == Severity.NOTE or str(one) not in said],
        metrics=[_tables(comparison, name) for name in comparison.estimates],
        assumes=assumed_of(comparison.evidence.scenario, comparison.labelling, "compare"),
        nothing=NOTHING,
        recovered=RECOVERED,
        reviewed=_reviewed(comparison),
        has_bands=comparison.bands is not None,
        worth=None
        if comparison.worth is None
        else [_kept_apart(sentence, comparison.models) for sentence in comparison.worth.sentences],
    )


def _worth(comparison: Comparison) -> dict[str, Any] | None:
    """What the chart of net benefit over the cost ratio is drawn from: recall and flagged share of each model."""
    result = comparison.worth
    if result is None:
        return None
    rates = {
        model: {"hits": one.hits(pair.class_prior), "flagged": one.flagged}
        for pair in result.pairs
        for model, one in pair.rates.items()
    }
    prior = result.pairs[0].class_prior
    ratios = [pair.ratio for pair in result.pairs if not math.isnan(pair.ratio)]
    every = [result.cost_ratio, *ratios]
    return {
        "cost_ratio": result.cost_ratio,
        "class_prior": prior,
        "track": [max(min(*every, prior) / 4, 1e-6), min(max(*every, prior) * 4, 0.95)],
        "rates": [rates[model] for model in comparison.models],
        "pairs": [
            {
                "ratio": plain(pair.ratio),
                "low": None if pair.ratio_interval is None else pair.ratio_interval.low,
                "high": None if pair.ratio_interval is None else pair.ratio_interval.high,
            }
            for pair in result.pairs
        ],
    }


def _better_first(pair: ReviewedDifference) -> tuple[str, str, str, str]:
    """A difference with the better model first, as the verdict says it."""
    if pair.undefined_because:
        return pair.first, pair.second, "undefined", _ends(pair.interval, sign="+")
    if pair.value >= 0 or pair.interval is None:
        return pair.first, pair.second, f"{pair.value:+.3f}", _ends(pair.interval, sign="+")
    turned = replace(pair.interval, low=-pair.interval.high, high=-pair.interval.low)
    return pair.second, pair.first, f"{-pair.value:+.3f}", _ends(turned, sign="+")


def _reviewed(comparison: Comparison) -> dict[str, Any] | None:
    """Values and differences by checked rows, as the template takes them."""
    result = comparison.reviewed
    if result is None:
        return None
    return {
        "verdict": _kept_apart(result.verdict, comparison.models),
        "rows": [
            {
                "title": title_of(name),
                "models": [
                    (model, "undefined" if one.undefined_because else f"{one.value:.3f}", _ends(one.interval))
                    for model, one in result.estimates[name].items()
                ],
                "pairs": [_better_first(pair) for pair in pairs if pair.interval is not None],
            }
            for name, pairs in result.differences.items()
        ],
    }


def _kept_apart(sentence: str, names: tuple[str, ...]) -> str:
    """Names written from right to left, isolated, so that they do not turn the sentence around them."""
    for name in sorted(names, key=len, reverse=True):
        if any(bidirectional(letter) in ("R", "AL", "RLO", "RLE") for letter in name):
            sentence = sentence.replace(name, f"\u2068{name}\u2069")
    return sentence


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _metric(comparison: Comparison, name: str) -> dict[str, Any]:
    order, facts = comparison.order[name], METRICS.get(name)
    return {
        "title": title_of(name),
        "lowest": None if facts is None else plain(facts.lowest),
        "highest": None if facts is None else plain(facts.highest),
        "band": _band(comparison, name),
        "sign": 1 if comparison.higher_is_better[name] else -1,
        "priors": order.class_priors.tolist(),
        "values": {model: [plain(value) for value in values] for model, values in order.values.items()},
        "pairs": [[pair.first, pair.second] for pair in ordered_pairs(comparison, name)],
        "intervals": [
            None if pair.interval is None else [pair.interval.low, pair.interval.high]
            for pair in ordered_pairs(comparison, name)
        ],
        "crossings": [crossing.to_dict() for crossing in order.crossings],
    }


def _band(comparison: Comparison, name: str) -> dict[str, Any] | None:
    """Every model's interval at every second class prior traced, those between being looked at only."""
    if comparison.bands is None:
        return None
    result = comparison.bands.over(name, comparison.order[name].class_priors[::2].tolist())
    return {
        end: {model: [None if one is None else getattr(one, end) for one in ends] for model, ends in result.items()}
        for end in ("low", "high")
    }


def _tables(comparison: Comparison, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "title": title_of(name),
        "models": [
            {
                "model": model,
                "value": _value(result),
                "interval": _ends(result.interval),
            }
            for model, result in comparison.estimates[name].items()
        ],
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "value": "undefined" if pair.undefined_because else f"{pair.value:+.3f}",
                "interval": _ends(pair.interval, sign="+"),
                "p_value": difference_cells(pair)[3],
            }
            for pair in ordered_pairs(comparison, name)
        ],
        "crossings": [_kept_apart(str(crossing), comparison.models) for crossing in comparison.order[name].crossings],
    }


def _value(result: Estimate) -> str:
    if result.undefined_because:
        return "undefined"
    return MARK if result.withheld_because else f"{result.value:.3f}"


def _ends(interval: Interval | None, sign: str = "") -> str:
    return "" if interval is None else f"{interval.low:{sign}.3f} to {interval.high:{sign}.3f}"
