"""scikit-learn's ``random_state``, read in one place."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.errors import InputError, shown


def state_number(random_state: Any) -> int | None:
    """The number that chance begins with; ``None`` where it is new every time.

    A ``RandomState`` or ``Generator`` gives its next number.

    >>> state_number(3), state_number(None), state_number(np.random.RandomState(0))
    (3, None, 209652396)
    >>> state_number("three")
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: random_state must be a whole number of at least 0, None or a numpy generator, got 'three'.
    """
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(1 << 31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(1 << 31))
    raise InputError(
        f"random_state must be a whole number of at least 0, None or a numpy generator, got {shown(random_state)}."
    )
