"""One finaliser, three carriers, the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.splitmix import GOLDEN, mix, mix_array, mix_tensor, mixed, signed

WORDS = [0, 1, 2**63, 2**64 - 1, *(place * GOLDEN % 2**64 for place in range(1, 200))]


def test_the_bits_are_those_of_the_published_generator():
    """The first words that splitmix64 gives from seed 1234567, as its reference implementation prints them."""
    first = [mix(1234567 + place * GOLDEN) for place in range(1, 4)]
    assert first == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_arrays_and_integers_give_the_same_bits():
    given = np.array(WORDS, np.uint64)
    assert mixed(given).tolist() == [mix(word) for word in WORDS]
    assert given.tolist() == WORDS
    in_place = given.copy()
    mix_array(in_place, np.empty_like(in_place))
    assert in_place.tolist() == mixed(given).tolist()


@pytest.mark.torch
def test_tensors_and_integers_give_the_same_bits():
    import torch

    found = mix_tensor(torch.tensor([signed(word) for word in WORDS]))
    assert found.tolist() == [signed(mix(word)) for word in WORDS]
