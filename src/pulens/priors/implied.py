r"""The class prior of a segment that one common label frequency implies, in one sample of which some rows are labelled.

With the class prior :math:`\pi` of all n rows, of which :math:`n_L` are labelled, the label frequency is
:math:`c = n_L/(\pi n)`. If positives are labelled equally often in every segment, one with :math:`n_{Lg}` labelled
among :math:`n_g` rows holds :math:`n_{Lg}/c` positives, so its class prior is
:math:`\pi_g = \pi\,q_g/q` with :math:`q_g = n_{Lg}/n_g` and :math:`q = n_L/n`. Given the sizes of the segments, the
numbers of labelled rows inside and outside are independent binomials, so that the doubt about
:math:`q_g/q_{rest}` is that of a ratio of two rates, and :math:`q = w q_g + (1-w) q_{rest}` with w the segment's share
of the rows. Label noise cancels where it is the same in every segment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pulens.counts.tally import Tally, Totals
from pulens.errors import AssumptionError
from pulens.estimate import Interval
from pulens.inference.kernels.quantiles import jeffreys_quantiles
from pulens.notice import Notice, Severity
from pulens.priors.class_prior import ClassPrior, Implied
from pulens.priors.feasible import highest_prior
from pulens.special import ndtri

METHOD = "ratio of labelled shares"


def label_frequency(whole: Totals, prior: ClassPrior, label_noise: float = 0.0) -> float:
    """Share of the positives that carry a label, from the class prior of all rows.

    >>> label_frequency(Totals(50, 950, 0), ClassPrior(0.2, 0.15 / 0.95, "given"))
    0.25
    """
    return (1 - label_noise) * whole.labelled / (prior.value * whole.rows)


def error_from_sizes(parts: Iterable[Totals], prior: ClassPrior) -> float:
    r"""Standard error, as a share of it, of the class prior of all rows from the sizes of segments being random.

    The class prior is about the population; in n rows drawn from it segments are larger or smaller by chance, and
    the mixture of their class priors moves by :math:`\sqrt{\sum w_g(\pi_g - \pi)^2/n}`.

    >>> round(error_from_sizes([Totals(40, 160, 0), Totals(10, 790, 0)], ClassPrior(0.2, 0.15 / 0.95, "given")), 4)
    0.0474
    """
    sizes = [(part.labelled, part.rows) for part in parts]
    labelled, rows = (sum(column) for column in zip(*sizes, strict=True))
    spread = sum(size / rows * (hits / size / (labelled / rows) - 1) ** 2 for hits, size in sizes if size)
    return math.sqrt(spread / rows)


def implied_prior(
    tally: Tally,
    whole: Totals,
    prior: ClassPrior,
    *,
    label_noise: float = 0.0,
    confidence: float = 0.95,
    size_error: float = 0.0,
) -> ClassPrior:
    """A segment's class prior if its positives are labelled as often as those of all rows.

    ``whole`` counts the rows of all segments, ``prior`` is their class prior and ``size_error`` what
    :func:`error_from_sizes` says of it. An interval of ``prior`` keeps its own confidence; over a bare range the
    answer's interval holds at each end.

    >>> import numpy as np
    >>> tally = Tally.from_arrays(np.repeat([1, 0], [20, 180]), np.arange(200))
    >>> print(implied_prior(tally, Totals(50, 950, 0), ClassPrior(0.2, 0.15 / 0.95, "given")))
    class prior 0.4 [0.277, 0.532] (implied by label frequency 0.25)
    """
    result = implied_by_totals(
        tally.totals, whole, prior, label_noise=label_noise, confidence=confidence, size_error=size_error
    )
    if result.implied is None or result.interval is None:  # a single segment holds all rows
        return result
    limit = highest_prior(tally, confidence=result.interval.confidence or confidence, label_noise=label_noise)
    return within_limit(result, tally.totals, limit, label_noise)


def implied_by_totals(
    totals: Totals,
    whole: Totals,
    prior: ClassPrior,
    *,
    label_noise: float = 0.0,
    confidence: float = 0.95,
    size_error: float = 0.0,
) -> ClassPrior:
    """:func:`implied_prior` from numbers of rows alone, without a look at what the segment's scores allow."""
    if totals.rows >= whole.rows:
        return prior
    beta, frequency = 1 - label_noise, label_frequency(whole, prior, label_noise)
    ceiling = beta * (1 - 1e-6)
    share = totals.rows / whole.rows
    value = prior.value * (totals.labelled / totals.rows) / (whole.labelled / whole.rows)
    room = (beta * totals.labelled + ceiling * totals.unlabelled) / totals.rows
    _check_room(value, room, frequency, prior, totals)
    known = None if prior.interval is None or prior.interval.width == 0 else prior.interval
    level = confidence if known is None or known.confidence is None else known.confidence
    inside = _limits(totals.labelled, totals.rows, level)
    outside = _limits(whole.labelled - totals.labelled, whole.rows - totals.rows, level)
    sizes = size_error * float(ndtri((1 + level) / 2))

    def ends(rate: _Rate) -> tuple[float, float]:
        """Of the class prior, from the labelled shares and the class prior's own ends, added in squares of logs."""
        down, up = _distances(rate, outside, share)
        least, most = (1.0, 1.0) if known is None else (known.low / prior.value, known.high / prior.value)
        if known is not None and known.confidence is None:  # at each end of the range
            return value * least * math.exp(-math.hypot(down, sizes)), value * most * math.exp(math.hypot(up, sizes))
        low = value * math.exp(-math.hypot(down, sizes, math.log(least))) if least > 0 else 0.0
        return low, value * math.exp(math.hypot(up, sizes, math.log(most)))

    def among(end: float) -> float:
        return min(max((end * totals.rows - beta * totals.labelled) / totals.unlabelled, 0.0), ceiling)

    # the population's share may lie below what is labelled of these rows, though not that among the unlabelled below 0
    full = [min(end, 1.0) for end in ends(inside)]
    held = [among(end) for end in ends(_Rate(inside.value, inside.value, inside.value))]
    unlabelled = among(value)
    is_range = known is not None and known.confidence is None
    over = " over the range of the class prior of all rows" if is_range else ""
    confidence_held = level if known is None else known.confidence
    return ClassPrior(
        value,
        unlabelled,
        f"implied by label frequency {frequency:.3g}",
        Interval(full[0], full[1], level, f"{METHOD}{over}"),
        Interval(among(full[0]), among(full[1]), level, f"{METHOD}{over}"),
        f"Positives are labelled equally often in every segment (label frequency {frequency:.3g}, from the class prior "
        f"{prior.value:.4g} of all rows).",
        prior.notices,
        implied=Implied(Interval(min(held), max(held), confidence_held, METHOD), whole.labelled - totals.labelled),
    )


def _check_room(value: float, room: float, frequency: float, prior: ClassPrior, totals: Totals) -> None:
    """Refuse a label frequency that implies more positives than a segment has rows for."""
    if value > room:
        raise AssumptionError(
            f"one label frequency for all segments ({frequency:.3g}, from the class prior {prior.value:.4g} of all "
            f"rows) implies {value * totals.rows:,.0f} positives here, and {totals.rows:,.0f} rows with "
            f"{totals.labelled:,.10g} labelled hold fewer: positives of this segment are labelled more often than "
            "others, or the class prior of all rows is too high. Give this segment a class prior of its own."
        )


def within_limit(result: ClassPrior, totals: Totals, limit: float, label_noise: float = 0.0) -> ClassPrior:
    """An implied class prior, with a notice if it is above the most that the segment's scores allow."""
    assert result.unlabelled_interval is not None
    if result.unlabelled_interval.low <= limit:
        return result
    most = ((1 - label_noise) * totals.labelled + limit * totals.unlabelled) / totals.rows
    notice = Notice(
        Severity.SERIOUS,
        "implied-prior-impossible",
        f"The class prior {result.value:.3g} that one label frequency implies is above {most:.3g}, the most that these "
        "scores allow: positives of this segment are labelled more often than those of others. Give it a class "
        "prior of its own.",
    )
    return replace(result, notices=(*result.notices, notice))


class _Rate(NamedTuple):
    """A rate with its Jeffreys limits."""

    value: float
    low: float
    high: float


def _limits(hits: float, rows: float, confidence: float) -> _Rate:
    """A rate of which none was seen is taken for half a row, and so is never certain."""
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    low, high = jeffreys_quantiles(hits, rows, tails).tolist()
    value = min(max(max(hits, 0.5) / rows, low), high)
    return _Rate(value, low, high)


def _distances(inside: _Rate, outside: _Rate, share: float) -> tuple[float, float]:
    """How far the ends of q_g/q lie from its value, down and up, on the log scale.

    Of a ratio of rates, each end is as far as the two rates' own limits, added in squares (Zou and Donner 2008).
    """

    def relative(ratio: float) -> float:
        return math.log(ratio / (share * ratio + 1 - share))

    ratio = inside.value / outside.value
    down = math.hypot(math.log(inside.value / inside.low), math.log(outside.high / outside.value))
    up = math.hypot(math.log(inside.high / inside.value), math.log(outside.value / outside.low))
    middle = relative(ratio)
    return middle - relative(ratio * math.exp(-down)), relative(ratio * math.exp(up)) - middle
