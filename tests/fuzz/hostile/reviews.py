"""Rows that people checked, beside the table they come from: logs of any shape, and queues with their plans."""

from __future__ import annotations

import random
from pathlib import Path

from hostile import audits
from hostile.call import Call
from hostile.damage import NUMBERS, some, spoilt_bytes
from hostile.options import MEASURES
from hostile.rows import scored
from hostile.tables import ENDINGS, Table, write, write_spoilt

MAKES = frozenset({"out.json", "a.html", "a.md"})
COMMANDS = {
    "evaluate": ["-q", "--redraws", "100"],
    "compare": ["-q", "--redraws", "100", "--score", "score", "--score", "other"],
    "calibrate": ["-q", "--scores-are"],
    "prior": [],
}
CHANCES = ["1", "0.5", "0.25", "0.05"]
STRANGE_CHANCES = ["0", "-1", "2", "nan", "", "x", "1e-300", "5e-324", "0.999999", "1e400"]
ANSWERS = ["1", "0", "0", "yes", "no", "?", ""]


def make(chance: random.Random, folder: Path) -> Call:
    """One of the commands with reviews: of a log, of a queue, or of a cutoff above which all was checked."""
    command = chance.choice(["evaluate", "evaluate", "compare", "calibrate", "prior"])
    way = chance.choice(["log", "log", "log", "queue", "queue", "above"])
    if way == "queue":
        queue = audits.answered(chance, folder, spoil=chance.choice([0, 0, 1]))
        source, shares, options = "scores.csv", True, ["--reviews", queue]
    else:
        table = scored(chance, [30, 120, 120])
        shares = all(0 <= float(row[1]) <= 1 for row in table.rows)
        options = (
            _log(chance, table, folder) if way == "log" else ["--reviewed-above", chance.choice(["0.5", "1.5", "0"])]
        )
        calm = chance.random() < 0.8
        ending = chance.choice(ENDINGS)
        source = (write(table, folder / f"a.{ending}") if calm else write_spoilt(chance, table, folder)).name
    options += ["--threshold", "0.5"] if command in ("evaluate", "compare") and chance.random() < 0.7 else []
    options += some(chance, [
        ["--reviewed-above", chance.choice(NUMBERS)], ["--reviewed-below-share", chance.choice(NUMBERS)],
        ["--id", chance.choice(["case", "site", "nope"])], ["--confidence", chance.choice(NUMBERS)],
        ["--class-prior", chance.choice(["0.4", "auto", "0.3:0.5"])] if command != "prior" else ["--all"],
        ["--weight", "weight"], ["--html", "a.html"] if command != "prior" else ["--all"],
        ["--metric", chance.choice(MEASURES)] if command == "compare" else ["--audit", "3/20"],
    ], 0.06)  # fmt: skip
    last = ["--scenario", chance.choice(["single-set", "case-control"]), "--json", "out.json"]
    first = [*COMMANDS[command], *([] if command != "calibrate" else ["probability" if shares else "logit"])]
    return Call("reviews", [command, source, *first, *options, *last], MAKES)


def _log(chance: random.Random, table: Table, folder: Path) -> list[str]:
    """Answers about some of the rows, as people would keep them; the options that name them."""
    by = chance.choice(["row", "row", "case", "line"])
    size = len(table.rows)
    rows = list(range(size)) if by == "line" else chance.sample(range(size), chance.choice([1, size // 2, size]))
    odd = chance.random() < 0.3
    chances = [*CHANCES * 8, *STRANGE_CHANCES] if odd else chance.sample(CHANCES, 2)
    answers = [*ANSWERS * 8, "nope", "2", "é", "9" * 400] if odd else ANSWERS[: chance.choice([2, 5, 7])]
    names = {"row": ["row"], "case": ["case"], "line": []}[by] + ["answer", "probability"]
    log = Table(names, [])
    for row in rows:
        place = str(row) if not odd or chance.random() < 0.98 else chance.choice(["-1", "1e9", "x", "", "9" * 30, "0"])
        own = {"row": [place], "case": [f"c{place}"], "line": []}[by]
        log.rows.append([*own, chance.choice(answers), chance.choice(chances)])
    ending = chance.choice(["csv", "csv", "tsv", "jsonl", "parquet"])
    path = write(log, folder / f"log.{ending}") if not odd else write_spoilt(chance, log, folder, "log")
    if odd:
        path.write_bytes(spoilt_bytes(chance, path.read_bytes()))
    return ["--reviews", path.name, *(["--id", "case"] if by == "case" else [])]
