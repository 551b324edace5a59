"""PU data out of tables with true classes."""

from __future__ import annotations

import random
from pathlib import Path

from hostile.call import Call
from hostile.damage import NUMBERS, STRANGE, some
from hostile.rows import measured
from hostile.tables import ENDINGS, write, write_spoilt

MECHANISMS = ["S1", "S2", "S3", "S4", "scenario-1", "scenario-2", "nope", ""]


def make(chance: random.Random, folder: Path) -> Call:
    table = measured(chance, [0, 1, 5, 40, 120, 120])
    path = write(table, folder / f"a.{chance.choice(ENDINGS)}") if chance.random() < 0.5 else None
    path = path or write_spoilt(chance, table, folder)
    given = {option: f"{option}.{chance.choice(ENDINGS)}" for option in ("truth", "validation", "test")}
    out = f"out.{chance.choice([*ENDINGS * 3, 'nope'])}"
    options = [
        ["--truth", given["truth"]], ["--validation", given["validation"], "--validation-share", "0.2"],
        ["--validation-share", chance.choice([*NUMBERS, *["0.2"] * 20])],
        ["--test", given["test"], "--test-share", chance.choice(["0.3", "0.3", "1"])],
        ["--json", "out.json"], ["--label-frequency", chance.choice(NUMBERS)], ["--labelled", chance.choice(NUMBERS)],
        ["--mechanism", chance.choice(MECHANISMS)], ["--feature", chance.choice(["height", "class", "nope"])],
        ["--label-noise", chance.choice(NUMBERS)], ["--class-prior", chance.choice(NUMBERS)],
        ["--unlabelled", "whole-pool"], ["--seed", chance.choice([*NUMBERS, *STRANGE])],
        ["--label", chance.choice(["height", "", "é", "row"])],
    ]  # fmt: skip
    words = ["synthesise", path.name, "--target", chance.choice([*["class"] * 12, "label", "height", "nope"])]
    words += ["--positive", chance.choice([*["spam"] * 12, "1", "nope", ""]), "--out", out]
    words += ["--label", "pu"] if chance.random() < 0.9 else []  # the table has a column label already
    words += ["--scenario", chance.choice(["single-set", "case-control"])]
    return Call("synthesise", [*words, *some(chance, options, 0.06)], frozenset({out, "out.json", *given.values()}))
