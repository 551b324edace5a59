"""What fitted generative learners share: rows from a latent vector, in the scale of the data, and their picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pulens.errors import InputError
from pulens.learning.learners.base.chance import state_number
from pulens.learning.learners.parts.output import shaped

PIECE = 1024  # rows decoded at once


class Generates:
    """A learner with ``sample``; mixed into :class:`PULearner`."""

    row_shape_: Any
    output_: str
    standardise: bool | None

    def plot_samples(self, n: int = 20, *, shape: Any = None, random_state: Any = None, ax: Any = None) -> Any:
        """Draw n generated pictures of each kind; ``shape`` says how vectors are pictures, such as (8, 8)."""
        from pulens.plots import draw_pictures

        groups = self._groups(n, random_state)
        given = tuple(self.row_shape_) if shape is None else tuple(np.atleast_1d(shape).tolist())
        if len(given) not in (2, 3) or int(np.prod(given)) != int(np.prod(self.row_shape_)):
            raise InputError(
                f"rows of shape {tuple(self.row_shape_)} are no pictures as {given}. Say how to read them: "
                "plot_samples(shape=(height, width))."
            )
        return draw_pictures({name: rows.reshape(len(rows), *given) for name, rows in groups.items()}, ax=ax)

    def _groups(self, n: int, random_state: Any) -> dict[str, NDArray[np.float64]]:
        """What :meth:`plot_samples` draws, by name."""
        raise NotImplementedError

    def _decoded(self, network: str, latent: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows in the scale of the data from latent vectors [n, width]."""
        module = getattr(self, f"{network}_")
        with torch.no_grad():
            parts = [
                shaped(module(part).reshape(len(part), *self.row_shape_), self.output_)
                for part in torch.as_tensor(latent, dtype=torch.float32).split(PIECE)
            ]
        return self._own_scale(torch.cat(parts).double().numpy())

    def _own_scale(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Undo what ``standardise`` did."""
        if not hasattr(self, "deviation_"):
            return rows
        result: NDArray[np.float64] = rows * np.array(self.deviation_) + np.array(self.mean_)
        return result

    mean_: Any


def check_number(n: Any) -> None:
    """How many rows to generate."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n must be a whole number of at least 1, got {n!r}.")


def generator_of(random_state: Any) -> np.random.Generator:
    """A numpy generator from scikit-learn's ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(state_number(random_state))
