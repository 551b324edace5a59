"""Small pictures of a notebook's answer, as parts of inline SVG: bars under a number, and two curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.metrics import METRICS
from pulens.report.summary import Row

if TYPE_CHECKING:
    from pulens.estimate import Curve, Estimate
    from pulens.evaluation.evaluate import Evaluation

BAR = 200.0  # units along a bar
WIDE, HIGH = 280.0, 190.0  # of a curve's frame
MOST_POINTS = 140  # of a curve: more than a picture of this size can show


@dataclass(frozen=True, slots=True)
class Bars:
    """Where a number, the uncorrected one and the interval lie between a metric's ends, in units of a bar."""

    after: float | None
    before: float | None
    interval: tuple[float, float] | None
    words: str


def bars_of(row: Row) -> Bars | None:
    """The bars of a metric, or ``None`` where it has no ends between which a bar could stand."""
    facts = METRICS[row.name]
    low, high = facts.lowest, facts.highest
    if not (math.isfinite(low) and math.isfinite(high) and high > low):
        return None

    def place(value: float) -> float:
        return round(BAR * min(max((value - low) / (high - low), 0.0), 1.0), 1)

    def end(result: Estimate) -> float | None:
        return None if math.isnan(result.value) else place(result.value)

    reach = row.recovered.interval
    known = row.interval and reach is not None
    after = None if row.is_a_range else end(row.recovered)
    before = end(row.uncorrected)
    told = [f"recovered {row.value or row.interval}", f"uncorrected {row.naive}"]
    return Bars(after, before, (place(reach.low), place(reach.high)) if known and reach else None, ", ".join(told))


@dataclass(frozen=True, slots=True)
class CurvePicture:
    """Both lines of a curve, the point of the threshold, and the line of a ranking by chance."""

    title: str
    x_name: str
    y_name: str
    after: str
    before: str
    point: tuple[float, float] | None
    chance: str
    words: str


def curves_of(evaluation: Evaluation) -> list[CurvePicture]:
    """ROC and precision against recall, recovered and uncorrected."""
    point = evaluation.at(evaluation.threshold)
    result = {name: point.estimates[name].value for name in ("recall", "specificity", "precision")}
    share = evaluation.evidence.recovery.class_prior
    roc = (evaluation.roc, evaluation.uncorrected_roc)
    precision_recall = (evaluation.precision_recall, evaluation.uncorrected_precision_recall)
    return [
        _picture("ROC", *roc, (1 - result["specificity"], result["recall"]), ((0, 0), (1, 1)), evaluation, "roc_auc"),
        _picture(
            "Precision and recall",
            *precision_recall,
            (result["recall"], result["precision"]),
            ((0, share), (1, share)),
            evaluation,
            "average_precision",
        ),
    ]


def _picture(
    title: str,
    after: Curve,
    before: Curve,
    point: tuple[float, float],
    chance: tuple[tuple[float, float], tuple[float, float]],
    evaluation: Evaluation,
    area: str,
) -> CurvePicture:
    at = _on_paper(np.array([point])) if all(map(math.isfinite, point)) else None
    recovered, uncorrected = evaluation.estimates[area], evaluation.uncorrected[area]
    known = f"{recovered.interval}" if recovered.withheld_because else f"{recovered.value:.3f}"
    said = [f"{METRICS[area].title or area.replace('_', ' ')}: recovered {known}"]
    said.append(f"uncorrected {uncorrected.value:.3f}")
    return CurvePicture(
        title,
        after.x_name,
        after.y_name,
        _path(after),
        _path(before),
        None if at is None else (float(at[0, 0]), float(at[0, 1])),
        _joined(_on_paper(np.array(chance, float))),
        ", ".join(said),
    )


def _path(curve: Curve) -> str:
    places = np.column_stack([curve.x, curve.y]).astype(float)
    places = places[np.isfinite(places).all(axis=1)]
    return "" if not len(places) else _joined(_on_paper(places[_kept(places)]))


def _kept(places: Any) -> Any:
    """Points at equal steps along the line, its ends among them."""
    if len(places) <= MOST_POINTS:
        return np.arange(len(places))
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(places, axis=0)).sum(axis=1))])
    steps = np.linspace(0, along[-1], MOST_POINTS - 1)
    return np.unique(np.append(np.searchsorted(along, steps).clip(0, len(places) - 1), len(places) - 1))


def _on_paper(places: Any) -> Any:
    inside = places.clip(0, 1)
    return np.column_stack([WIDE * inside[:, 0], HIGH * (1 - inside[:, 1])]).round(1)


def _joined(places: Any) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in places.tolist())
