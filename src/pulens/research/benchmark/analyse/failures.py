"""How a run went wrong, or right: scores of labelled, hidden positive and negative test rows.

The view of PU-Bench, section D.2.3: where the middle halves of hidden positives and of negatives overlap, no threshold
separates them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pulens.research.benchmark.archive import Archive

KINDS = ("labelled", "hidden positive", "negative")


@dataclass(frozen=True)
class ScoreView:
    """Rows per bin of scores by kind; a row is predicted positive where its score is at least 0."""

    edges: np.ndarray
    counts: dict[str, np.ndarray]
    quartiles: dict[str, tuple[float, float, float]]
    overlap: float  # share of the narrower middle half (hidden positives or negatives) inside the other one
    above: dict[str, float]  # share predicted positive


def score_view(archive: Archive, key: str, selection: str = "own", bins: int = 40) -> ScoreView:
    """Score densities of one run's test rows at the epoch a criterion chose."""
    stored = archive.counts(key, "test", archive.epoch(key, selection))
    centre = (stored["lowest"] + stored["highest"]) / 2
    # labelled rows are positives; hidden are the other positives
    weights = dict(
        zip(KINDS, (stored["labelled"], stored["positive"] - stored["labelled"], stored["negative"]), strict=True)
    )
    low, high = _span(centre, sum(weights.values()))
    edges = np.linspace(low, high, bins + 1)
    place = np.clip(np.searchsorted(edges, centre, "right") - 1, 0, bins - 1)
    quartiles = {kind: _quartiles(centre, own) for kind, own in weights.items()}
    return ScoreView(
        edges,
        {kind: np.bincount(place, own, minlength=bins) for kind, own in weights.items()},
        quartiles,
        _overlap(quartiles["hidden positive"], quartiles["negative"]),
        {kind: float(own[stored["lowest"] >= 0].sum() / max(own.sum(), 1)) for kind, own in weights.items()},
    )


def _span(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """From the 0.5% to the 99.5% quantile: a few wild scores must not squeeze the rest into one bin."""
    low, high = (_quantile(values, weights, share) for share in (0.005, 0.995))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _quartiles(values: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    return tuple(_quantile(values, weights, share) for share in (0.25, 0.5, 0.75))  # type: ignore[return-value]


def _quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    if not weights.sum():
        return float("nan")
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, share * reached[-1])])


def _overlap(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    shared = min(one[2], other[2]) - max(one[0], other[0])
    narrow = min(one[2] - one[0], other[2] - other[0])
    if not shared > 0:
        return 0.0
    return min(1.0, shared / narrow) if narrow > 0 else 1.0
