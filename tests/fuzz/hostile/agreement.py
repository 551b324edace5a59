"""The same rows by several roads: every format, another order, through a tally. All must give the same numbers."""

from __future__ import annotations

import random
from pathlib import Path

from hostile.call import Call
from hostile.rows import scored
from hostile.tables import ENDINGS, write

OPTIONS = {
    "evaluate": ["-q", "--redraws", "100"],
    "compare": ["-q", "--redraws", "100", "--score", "score", "--score", "other"],
    "calibrate": ["-q", "--scores-are"],
    "prior": [],
}


def make(chance: random.Random, folder: Path) -> Call:
    """One command on rows without any damage, and the roads that must agree with it."""
    command = chance.choice(["evaluate", "evaluate", "compare", "calibrate", "prior"])
    table = scored(chance, [60, 200])
    options = [*OPTIONS[command], "--scenario", chance.choice(["single-set", "case-control"])]
    if command == "calibrate":
        options.insert(2, "probability" if max(float(row[1]) for row in table.rows) <= 1 else "logit")
    if command != "prior":
        options += ["--class-prior", chance.choice(["0.5", "0.35:0.45", "0.6", "auto"])]
    if command == "evaluate":
        options += ["--threshold", "0.5"] if chance.random() < 0.5 else []
    weighted = command in ("evaluate", "prior", "calibrate") and chance.random() < 0.3
    reading = ["--weight", "weight"] if weighted else []
    files = {ending: write(table, folder / f"a.{ending}").name for ending in ENDINGS}
    first = chance.choice(ENDINGS)

    def answering(source: str, name: str, more: list[str]) -> list[str]:
        return [command, source, *more, *options, "--json", name]

    alike = [([answering(file, f"{kind}.json", reading)], f"{kind}.json") for kind, file in files.items()]
    other = write(table.shuffled(chance), folder / f"b.{chance.choice(ENDINGS)}").name
    alike.append(([answering(other, "order.json", reading)], "order.json"))
    if command == "evaluate":
        counting = ["tally", files[chance.choice(ENDINGS)], *reading, "-o", "a.tally"]
        alike.append(([counting, answering("a.tally", "tally.json", [])], "tally.json"))
    return Call("agreement", answering(files[first], "out.json", reading), frozenset({"out.json"}), alike=alike)
