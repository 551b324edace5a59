"""The evaluation road: evaluate, prior, calibrate, compare, decide and tally, on tables, tallies and databases."""

from __future__ import annotations

import random
from pathlib import Path

from hostile import databases, tallies
from hostile.call import Call
from hostile.options import calm, last, odd
from hostile.rows import scored
from hostile.tables import ENDINGS, write, write_spoilt

MAKES = frozenset({"out.json", "a.html", "a.md", "mapped.csv"})
TALLIED = ("evaluate", "prior", "compare", "decide")


def make(chance: random.Random, folder: Path, command: str) -> Call:
    """A call of one of the commands: all as it might be meant, or one thing odd, or everything.

    What is odd in one way only gets further: the first mistake that is found hides all others.
    """
    mood = chance.choice(["calm", "calm", "one option", "one option", "source", "wild"])
    source, standard_input, named = source_of(chance, folder, command, calm=mood in ("calm", "one option"))
    options = [] if mood == "wild" else calm(chance, command)
    if mood in ("wild", "one option"):
        options += odd(chance, command, once=mood == "one option")
    words = [command, source, *named, *options, *last(chance, command, calm=mood != "wild")]
    makes = frozenset({"out.tally"}) if command == "tally" else MAKES
    codes = frozenset({0, 1, 2} if command == "decide" else {0, 2})  # no threshold may meet all that is demanded
    return Call(command, words, makes, codes=codes, standard_input=standard_input)


def source_of(chance: random.Random, folder: Path, command: str, *, calm: bool) -> tuple[str, bytes, list[str]]:
    """Where to read, what stands on standard input, and the options that the source needs."""
    if calm:
        return write(scored(chance, [30, 120, 300]), folder / f"a.{chance.choice(ENDINGS)}").name, b"", []
    if command in TALLIED and chance.random() < 0.12:
        return tallies.write(chance, folder / "a.tally").name, b"", []
    table = scored(chance)
    if command in ("evaluate", "compare", "decide", "tally") and chance.random() < 0.12:
        return databases.write(chance, table, folder), b"", databases.table_name(chance)
    path = write_spoilt(chance, table, folder)
    if chance.random() < 0.06:
        given = path.read_bytes()
        path.unlink()
        return "-", given, ["--format", path.suffix.removeprefix(".")] if chance.random() < 0.8 else []
    if chance.random() < 0.06:
        return databases.odd_address(chance, path), b"", []
    if chance.random() < 0.04:
        odd = [".", "*", "*.csv", "nope.csv", "x" * 5000, "", "\x00", f"{path.name}/", "-", "/dev/null"]
        return chance.choice(odd), b"", []
    return path.name, b"", []
