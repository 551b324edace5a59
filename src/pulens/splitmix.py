"""The finaliser of splitmix64 (Steele, Lea and Flood 2014): 64 bits scrambled, in wrapping arithmetic.

One recipe, ``ROUNDS``, and carriers that give the same bits: a Python integer, numpy's unsigned words, torch's signed
ones, a kernel of a GPU. What is drawn with it is a function of what is drawn, never of how many draws came before.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

__all__ = ["GOLDEN", "WORD", "mix", "mix_array", "mix_tensor", "mix_twice", "mixed", "signed"]

GOLDEN = 0x9E3779B97F4A7C15  # steps of this size visit all words before one comes again
ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, None))  # shift and xor, then multiply
WORD = (1 << 64) - 1
# arrays without axes: numpy takes as long to wrap a number as to mix a thousand words
_ARRAYS = tuple(
    (np.array(shift, np.uint64), None if factor is None else np.array(factor, np.uint64)) for shift, factor in ROUNDS
)


def mix(word: int) -> int:
    """The finaliser on one Python integer.

    >>> hex(mix(GOLDEN))
    '0xe220a8397b1dcdaf'
    """
    word &= WORD
    for shift, factor in ROUNDS:
        word ^= word >> shift
        if factor is not None:
            word = word * factor & WORD
    return word


def mix_array(words: NDArray[np.uint64], shifted: NDArray[np.uint64]) -> None:
    """The finaliser on unsigned words, in place, with room for as many; numpy is twice as fast at this as torch."""
    for shift, factor in _ARRAYS:
        np.bitwise_xor(words, np.right_shift(words, shift, out=shifted), out=words)
        if factor is not None:
            np.multiply(words, factor, out=words)


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scrambled words; those given stay as they are.

    >>> [hex(word) for word in mixed(np.array([0, GOLDEN], np.uint64)).tolist()]
    ['0x0', '0xe220a8397b1dcdaf']
    """
    result = words.copy()
    mix_array(result, np.empty_like(result))
    return result


def mix_tensor(words: torch.Tensor) -> torch.Tensor:
    """The finaliser on int64 tensors, in place; shifts are masked since torch shifts the sign in."""
    for shift, factor in ROUNDS:
        words ^= (words >> shift).bitwise_and_((1 << (64 - shift)) - 1)
        if factor is not None:
            words *= signed(factor)
    return words


def mix_twice(keys: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """A word for every key and place, [keys, places]: the mixed key, moved on by the place and mixed again."""
    if keys.is_cuda and (kernel := _kernel()) is not None:
        result: torch.Tensor = kernel(keys[:, None], places)
        return result
    return mix_tensor(mix_tensor(keys)[:, None] + places)


def kernel_source() -> str:
    """The same for one pair as CUDA has it: as 24 operations on tensors it would be half the kernels of a step."""
    lines = [f"z ^= z >> {shift};" + ("" if factor is None else f" z *= {factor:#x}ULL;") for shift, factor in ROUNDS]
    body = " ".join([*lines, "z += place;", *lines])
    return f"template <typename T> T mix_twice(T key, T place) {{ unsigned long long z = key; {body} return z; }}"


@cache
def _kernel() -> Any:
    """The kernel, compiled at its first use; None where that cannot be, or gives other bits."""
    import torch

    try:
        from torch.cuda.jiterator import _create_jit_fn

        result = _create_jit_fn(kernel_source())
        word = int(result(torch.full((1, 1), 3, device="cuda"), torch.full((1,), -5, device="cuda")))
    except (ImportError, RuntimeError, AssertionError):
        return None
    return result if word == signed(mix(mix(3) - 5)) else None


def signed(word: int) -> int:
    """A 64-bit word as torch's int64 holds it.

    >>> signed(WORD)
    -1
    """
    word &= WORD
    return word - (1 << 64) if word >> 63 else word
