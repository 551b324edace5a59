"""Pictures side by side: what a generative learner drew, or what the data look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pulens.errors import InputError
from pulens.plots.backend import pyplot

GAP = 2  # pixels between pictures
SPACE = 3  # further gaps between groups


def draw_pictures(groups: Mapping[str, ArrayLike], *, columns: int = 10, ax: Any = None) -> Any:
    """Draw groups of pictures as a grid, each group named at its left; returns the axes.

    Pictures are [n, height, width], [n, 1, height, width] (grey) or [n, 3, height, width] (colour). The darkest and the
    brightest value of all groups span the scale.

    >>> ax = draw_pictures({"noise": np.random.default_rng(0).random((12, 1, 5, 5))}, columns=6)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['noise']
    """
    pictures = {name: as_pictures(rows) for name, rows in groups.items()}
    values = np.concatenate([result.reshape(-1) for result in pictures.values()])
    low, high = float(values.min()), float(values.max())
    span = high - low if high > low else 1.0
    blocks: list[NDArray[np.float64]] = []
    places, top = [], 0
    for result in pictures.values():
        if blocks:
            blocks.append(np.ones((SPACE * GAP, blocks[0].shape[1], blocks[0].shape[2])))
            top += SPACE * GAP
        blocks.append(tiled((result - low) / span, columns))
        places.append(top + blocks[-1].shape[0] / 2)
        top += blocks[-1].shape[0]
    whole = np.concatenate(blocks)
    if ax is None:
        size = (8.2, 7 * whole.shape[0] / whole.shape[1] + 0.2)
        ax = pyplot().subplots(figsize=size, layout="constrained")[1]
    if whole.shape[2] == 1:
        ax.imshow(whole[:, :, 0], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    else:
        ax.imshow(whole, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks(places, list(pictures))
    ax.tick_params(left=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def as_pictures(rows: ArrayLike) -> NDArray[np.float64]:
    """[n, height, width, channels]"""
    result = np.asarray(rows, float)
    if result.ndim == 4 and result.shape[1] not in (1, 3):
        raise InputError(f"pictures have 1 or 3 channels, got rows of shape {result.shape[1:]}.")
    return result[..., None] if result.ndim == 3 else result.transpose(0, 2, 3, 1)


def tiled(pictures: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
    """One picture of many, white where there is none; every tile ends in a white gap."""
    n, height, width, channels = pictures.shape
    rows = -(-n // columns)
    tiles = np.ones((rows * columns, height + GAP, width + GAP, channels))
    tiles[:n, :height, :width] = pictures
    grid = tiles.reshape(rows, columns, height + GAP, width + GAP, channels)
    result: NDArray[np.float64] = grid.transpose(0, 2, 1, 3, 4).reshape(rows * (height + GAP), -1, channels)
    return result[:-GAP, :-GAP]
