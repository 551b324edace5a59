"""One finaliser, several carriers, the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.splitmix import GOLDEN, WORD, kernel_source, mix, mix_array, mix_tensor, mix_twice, mixed, signed

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

    result = mix_tensor(torch.tensor([signed(word) for word in WORDS]))
    assert result.tolist() == [signed(mix(word)) for word in WORDS]


@pytest.mark.torch
def test_pairs_and_the_source_of_their_kernel_give_the_same_bits():
    import torch

    keys, places = WORDS[3:8], WORDS[20:30]
    wanted = [[signed(mix(mix(key) + place)) for place in places] for key in keys]
    result = mix_twice(*(torch.tensor([signed(word) for word in words]) for words in (keys, places)))
    assert result.tolist() == wanted
    body = (
        kernel_source().partition("{")[2].partition("return")[0].replace("unsigned long long ", "").replace("ULL", "")
    )
    for row, key in zip(wanted, keys, strict=True):
        for word, place in zip(row, places, strict=True):
            known = {"key": key, "place": place, "z": 0}
            for statement in filter(str.strip, body.split(";")):
                exec(statement.strip(), known)  # a statement of C that Python reads alike, but for the length of words
                known["z"] &= WORD
            assert signed(known["z"]) == word
