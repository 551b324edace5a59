"""The same rows by several roads: every format, another order, through a tally. All must give the same numbers."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from hostile.call import Call
from hostile.originals import originals
from hostile.rows import scored
from hostile.tables import ENDINGS, write

OPTIONS = {
    "evaluate": ["-q", "--redraws", "100"],
    "compare": ["-q", "--redraws", "100", "--score", "score", "--score", "other"],
    "calibrate": ["-q", "--scores-are"],
    "decide": ["-q", "--redraws", "100", "--cost-miss", "5", "--cost-alarm", "1"],
    "prior": [],
}
APART = {  # further ways to look at rows, one at a time; whether a tally can tell the same
    "evaluate": [
        (["--cluster", "patient"], ["--cluster", "patient"]), (["--within", "site"], None), (["--top", "10"], []),
        (["--group-by", "site", "--gaps", "recall", "--threshold", "0.5"], None),
        (["--group-by", "site", "--same-prior"], None),
    ],
    "compare": [(["--cluster", "patient"], None), (["--within", "site"], None)],
    "calibrate": [(["--cluster", "patient"], None), (["--within", "site"], None)],
    "decide": [
        (["--capacity", "5%"], []), (["--recall-at-least", "0.5"], []), (["--capacity", "20", "--volume", "500"], []),
    ],
    "prior": [(["--within", "site"], None)],
}  # fmt: skip


def make(chance: random.Random, folder: Path) -> Call:
    """One command on rows without any damage, and the roads that must agree with it."""
    command = chance.choice(["evaluate", "evaluate", "evaluate", "compare", "calibrate", "prior", "decide", "watch"])
    if command == "watch":
        return _watch(chance, folder)
    table = scored(chance, [60, 200])
    options = [*OPTIONS[command], "--scenario", chance.choice(["single-set", "case-control"])]
    if command == "calibrate":
        options.insert(2, "probability" if max(float(row[1]) for row in table.rows) <= 1 else "logit")
    if command != "prior":
        options += ["--class-prior", chance.choice(["0.5", "0.35:0.45", "0.6", "auto"])]
    if command == "evaluate":
        options += ["--threshold", "0.5"] if chance.random() < 0.5 else []
    apart, counted = chance.choice(APART[command]) if chance.random() < 0.5 else ([], [])
    weighted = not apart and command in ("evaluate", "prior", "calibrate", "decide") and chance.random() < 0.3
    reading = ["--weight", "weight"] if weighted else apart
    files = {ending: write(table, folder / f"a.{ending}").name for ending in ENDINGS}
    first = chance.choice(ENDINGS)

    def answering(source: str, name: str, more: list[str]) -> list[str]:
        return [command, source, *more, *options, "--json", name]

    alike = [([answering(file, f"{kind}.json", reading)], f"{kind}.json") for kind, file in files.items()]
    other = write(table.shuffled(chance), folder / f"b.{chance.choice(ENDINGS)}").name
    alike.append(([answering(other, "order.json", reading)], "order.json"))
    if command in ("evaluate", "decide") and counted is not None:
        counting = ["tally", files[chance.choice(ENDINGS)], *(reading if weighted else counted), "-o", "a.tally"]
        told = [] if weighted or counted else apart
        alike.append(([counting, answering("a.tally", "tally.json", told)], "tally.json"))
    codes = frozenset({0, 1, 2} if command == "decide" else {0, 2})
    words = answering(files[first], "out.json", reading)
    return Call("agreement", words, frozenset({"out.json"}), codes=codes, alike=alike)


def _watch(chance: random.Random, folder: Path) -> Call:
    """Windows at once, in another order, and day by day with a state between them."""
    for part in ("reference", "days"):
        shutil.copytree(originals() / "watched" / part, folder / part)
    options = ["--scenario", chance.choice(["single-set", "case-control"]), "-q"]
    for more in (["--threshold", "0.5"], ["--class-prior", "0.3"], ["--labels-lag", "1"], ["--kernel", "placement"]):
        options += more if chance.random() < 0.5 else []
    days = [f"days/days-{day}.tally" for day in range(5)]
    first = ["watch", "reference/*.tally"]
    other = [*first, *chance.sample(days, len(days)), *options, "--json", "order.json"]
    by_day = [
        [*first, *days[:count], *options, "--state", "b.state", "--json", "day.json"]
        for count in (chance.randint(1, 4), 5)
    ]
    alike = [([other], "order.json"), (by_day, "day.json")]
    words = [*first, "days/*.tally", *options, "--json", "out.json"]
    return Call("agreement", words, frozenset({"out.json"}), codes=frozenset({0, 2, 3}), alike=alike)
