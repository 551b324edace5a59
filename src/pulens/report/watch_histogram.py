"""Scores of a reference and of its windows in the same bins, from counts per cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.types import Floats

if TYPE_CHECKING:
    from pulens.monitoring import Pulse

BINS = 30
LEFT_OUT = 0.005  # of the rows at either end stand in the outermost bins


def histogram_data(pulse: Pulse) -> dict[str, Any]:
    """Shares of rows per bin: the reference, its labelled positives, every window, and all since a change."""
    judgement = pulse.life.judgement
    monitor = judgement.monitor
    reference = monitor.reference
    edges = bins_of(monitor.edges, reference.q + reference.p)

    def shares(counts: Floats) -> list[float]:
        return [float(f"{share:.3g}") for share in in_bins(counts / counts.sum(), monitor.edges, edges)]

    names = [window.name for window in judgement.windows]
    since = min((names.index(alarm.since) for alarm in pulse.alarms), default=None)
    together = None
    if since is not None and since < len(names) - 1:
        together = shares(np.sum([window.counts.population for window in judgement.windows[since:]], axis=0))
    return {
        "edges": [float(f"{edge:.6g}") for edge in edges],
        "reference": shares(reference.population),
        "labelled": shares(reference.labelled),
        "windows": [shares(window.counts.population) for window in judgement.windows],
        "since": None if together is None else [names[since or 0], together],
        "threshold": monitor.settings.threshold,
    }


def bins_of(cells: Floats, shares: Floats) -> Floats:
    """Edges of bins: one around each score where there are few, else equally wide ones that leave out the far ends.

    >>> bins_of(np.array([1.0, 2, 4]), np.ones(3))
    array([0.5, 1.5, 3. , 5. ])
    """
    if cells.size == 1:
        return np.array([cells[0] - 0.5, cells[0] + 0.5])
    if cells.size <= BINS:
        middle = (cells[1:] + cells[:-1]) / 2
        return np.concatenate([[2 * cells[0] - middle[0]], middle, [2 * cells[-1] - middle[-1]]])
    running = np.cumsum(shares) / shares.sum()
    first = cells[int(np.searchsorted(running, LEFT_OUT))]
    last = cells[min(int(np.searchsorted(running, 1 - LEFT_OUT)), cells.size - 1)]
    return np.linspace(first, last, BINS + 1) if last > first else np.linspace(cells[0], cells[-1], BINS + 1)


def in_bins(shares: Floats, cells: Floats, edges: Floats) -> Floats:
    """Shares of rows per bin; a cell's rows are spread evenly over it, what lies beyond stands in the outermost bins.

    >>> in_bins(np.array([0.5, 0.25, 0.25]), np.array([1.0, 2, 4]), np.array([0.5, 1.5, 3, 5]))
    array([0.5 , 0.25, 0.25])
    """
    if cells.size <= BINS:
        return shares
    running = np.concatenate([[0.0], np.cumsum(shares)])
    ends = np.append(cells, 2 * cells[-1] - cells[-2])
    below = np.interp(edges, ends, running)
    below[0], below[-1] = 0.0, running[-1]
    return np.diff(below)
