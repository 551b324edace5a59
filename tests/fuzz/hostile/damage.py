"""Ways to spoil things: words that are hardly values, bytes changed, one value in a tree of values replaced."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Sequence
from typing import Any

STRANGE = [
    "", " ", "nan", "NaN", "inf", "-inf", "1e400", "-1e308", "1.7e308", "1e307", "5e-324", "-0.0", "0x10", "1_000", "é",
    "null", "None", "true", "TRUE", "-1", "2", "1.0", "01", "9" * 30, "9" * 400, "1e19", "9223372036854775808", "\x00",
    "a" * 300, '"', "'", ";", "\\", "1,5", "{}", "[1]", "=1+1", "\ufeff", "2024-01-01", "１",
    "\udcff", "\u202e", "a / b",
]  # fmt: skip
NUMBERS = ["0", "1", "-1", "0.5", "1e-300", "1e300", "nan", "inf", "abc", "", "0.999999", "1e-9", "2", "0.05", "1e9"]
VALUES: list[Any] = [
    None, True, False, "", "words", "a" * 5000, {}, [], [1], [[]], {"a": [1]}, math.nan, -math.inf, 0, -1, 1, 0.5, 2,
    10**9, 2**63, -(2**63) - 1, 1e308, -1e308, 5e-324, 10**400, [math.nan] * 3, [10**9] * 3, [-1.0] * 3, "é\n\x00",
]  # fmt: skip


def some(chance: random.Random, options: Sequence[list[str]], share: float = 0.08) -> list[str]:
    """The words of a few of the options."""
    return [word for option in options if chance.random() < share for word in option]


def spoilt_bytes(chance: random.Random, content: bytes, *, share: float = 0.15) -> bytes:
    """Mostly as it is; else a few bytes changed, a part left out, doubled or added."""
    if not content or chance.random() >= share:
        return content
    result = bytearray(content)
    for _ in range(chance.choice([1, 1, 3, 20])):
        place = chance.randrange(len(result) or 1)
        way = chance.randrange(5)
        if way == 0 and result:
            result[place] = chance.randrange(256)
        elif way == 1:
            del result[place : place + chance.choice([1, 10, 1000])]
        elif way == 2:
            result[place:place] = result[place : place + chance.choice([1, 30])]
        elif way == 3:
            result[place:place] = chance.choice(STRANGE).encode("utf-8", "surrogatepass")
        elif result:
            result[place] ^= 1 << chance.randrange(8)
    return bytes(result)


def spoilt_tree(chance: random.Random, tree: Any, *, values: Sequence[Any] = VALUES, times: int = 1) -> Any:
    """Lists and mappings in one another with something inside replaced, removed, doubled or renamed."""
    result = copy.deepcopy(tree)
    for _ in range(times):
        places = list(_places(result))
        if not places:
            return chance.choice(list(values))
        inside, key = chance.choice(places)
        way = chance.randrange(8)
        if way == 0:
            del inside[key]
        elif way == 1 and isinstance(inside, list):
            inside.append(copy.deepcopy(inside[key]))
        elif way == 1:
            inside[chance.choice(["a", "", key * 2, "x" * 300])] = inside.pop(key)
        elif way == 2:
            other, place = chance.choice(places)
            inside[key] = copy.deepcopy(other[place])
        else:
            inside[key] = copy.deepcopy(chance.choice(list(values)))
    return result


def _places(tree: Any) -> Any:
    keys = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else []
    for key in keys:
        yield tree, key
        yield from _places(tree[key])
