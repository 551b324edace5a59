"""Which scores moved: bands of scores, how many rows stood in each, how many do since a change, how many should."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.monitoring.shift import shift_of

if TYPE_CHECKING:
    from pulens.monitoring.judging import Judgement

CUTS = (0.5, 0.8, 0.9, 0.95)  # shares of the reference's rows below which a band ends


@dataclass(frozen=True, slots=True)
class ScoreBand:
    """Scores from ``low`` on (None: from the lowest) and below ``high`` (None: to the highest), as shares of rows.

    ``explained`` is the share that more or fewer positives, and nothing else, would make of it.
    """

    low: float | None
    high: float | None
    reference: float
    since: float
    explained: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def score_bands(judgement: Judgement, first: int) -> tuple[ScoreBand, ...]:
    """Bands of the windows from the first on together, beside the reference's."""
    monitor = judgement.monitor
    q, p, edges = monitor.reference.q, monitor.reference.p, monitor.edges
    counts = np.sum([window.counts.population for window in judgement.windows[first:]], axis=0)
    d = shift_of(monitor.reference, counts).value
    begins = np.unique(np.searchsorted(np.cumsum(q) - 1e-12, CUTS, side="left") + 1)
    begins = np.concatenate([[0], begins[(begins > 0) & (begins < edges.size)]])
    result = []
    for index, start in enumerate(begins):
        end = int(begins[index + 1]) if index + 1 < begins.size else edges.size
        inside = slice(int(start), end)
        before = float(q[inside].sum())
        result.append(
            ScoreBand(
                None if index == 0 else float(edges[start]),
                None if end == edges.size else float(edges[end]),
                before,
                float(counts[inside].sum() / counts.sum()),
                (1 - d) * before + d * float(p[inside].sum()),
            )
        )
    return tuple(result)
