"""What to say where the class prior and random labels do not fit together: first of all, that they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulens.estimate import Estimate

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation


def share(value: float) -> str:
    """A share in per cent, to a tenth where that says something.

    >>> share(0.0709), share(0.3806), share(0.4), share(0.00042)
    ('7.1%', '38.1%', '40%', '0.042%')
    """
    hundred = 100 * value
    return (f"{hundred:.2g}" if hundred < 0.1 else f"{hundred:.1f}".removesuffix(".0")) + "%"


def times(factor: float) -> str:
    """How many times as often, to two digits.

    >>> times(4.917), times(21.3), times(1.02), times(1340.0)
    ('4.9', '21', '1.02', '1,300')
    """
    if factor < 1.1:
        return f"{factor:.3g}"
    return f"{factor:.2g}" if factor < 100 else f"{float(f'{factor:.2g}'):,.0f}"


def contradiction_verdict(evaluation: Evaluation) -> tuple[str, ...]:
    """The contradiction, both explanations with the way out, and what is possible."""
    result = evaluation.contradiction
    assert result is not None
    first = (
        f"These numbers do not fit together: with {share(evaluation.class_prior.value)} positives, labels cannot be a "
        "random draw."
    )
    other = "labels were given by something other than chance and score"
    if evaluation.evidence.label_noise:
        other = "labels are not random, or the label noise differs"
    elif result.favours is not None and result.least_factor is not None:
        unfavoured = {"high": "low", "low": "high"}[result.favours]
        other = (
            f"{result.favours} scores were labelled at least {times(result.least_factor)} times as often as "
            f"{unfavoured} ones"
        )
    second = (
        f"Either at most {share(result.largest_possible_prior)} are positive, or {other}; checking some unlabelled "
        "rows by hand (an audit) shows which."
    )
    area, precision, recall = (evaluation.estimates[name] for name in ("roc_auc", "precision", "recall"))
    if area.undefined_because:
        return first, second, f"Nothing can be said about the model: {area.undefined_because}."
    assert result.factor is not None
    often = f"If {result.favours} scores were labelled up to {times(result.factor)} times as often"
    third = f"{often}, ROC AUC is {_ends(area)}"
    if not precision.undefined_because:
        third += (
            f", and of the rows flagged at {evaluation.threshold:.6g} or above {_per_cents(precision)} are truly "
            "positive"
        )
    return first, second, f"{third}; recall is {_per_cents(recall)}."


def _ends(estimate: Estimate) -> str:
    assert estimate.interval is not None
    return f"{estimate.interval.low:.3f} to {estimate.interval.high:.3f}"


def _per_cents(estimate: Estimate) -> str:
    assert estimate.interval is not None
    return f"{100 * estimate.interval.low:.0f} to {100 * estimate.interval.high:.0f}%"
