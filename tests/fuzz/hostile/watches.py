"""Watching: folders of tallies, one table with a column of time, states that somebody changed."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

from hostile import tallies
from hostile.call import Call
from hostile.damage import NUMBERS, STRANGE, some, spoilt_bytes, spoilt_tree
from hostile.originals import originals
from hostile.rows import PRIORS, scored
from hostile.tables import ENDINGS, write, write_spoilt

STATE = "a.state"
CODES = frozenset({0, 2, 3})  # 3: an alarm stands
NAMES = ["days-9.tally", "9" * 200 + ".tally", "٣.tally", "days-01.tally", "é\n.tally", " .tally", "reference-1.tally"]
TIMES = [
    *["2026-01-03", "2026-01-03 13:00", "2026-01-03T13:00:00+14:00", "2026-01-03 23:59:59.999999", "2026-W01-3"] * 2,
    "0001-01-01", "9999-12-31", "9999-12-31T23:59:59-12:00", "0000-01-01", "2026-02-30", "20260103", "3", "1e300",
    "9" * 300, "9" * 5000, "-1", "", "nan", "x", "\x00", "٢٠٢٦-٠١-٠٣",
]  # fmt: skip
LAGS = ["1", "2d", "90d", "0", "-1", "x", "", "1e300", "9" * 30, "9" * 5000, "1.5d", "nand", "d"]


def make(chance: random.Random, folder: Path) -> Call:
    """Windows by one of the roads, with odd options or odd sources."""
    way = chance.choice(["folders", "folders", "folders", "time", "time", "state", "state"])
    mood = chance.choice(["calm", "one option", "source"])
    words = {"folders": _folders, "time": _time, "state": _state}[way](chance, folder, mood == "source")
    words += some(chance, [
        ["--threshold", "0.5"], ["--class-prior", "0.3"], ["--html", "a.html"], ["--kernel", "placement"],
        ["--noise", chance.choice(["independent", "slow"])], ["--labels-lag", "1"], ["--positives", "window"],
        ["--label-noise", "0.02"],
    ], 0.15 if way != "state" else 0.02)  # fmt: skip
    if mood == "one option":
        words += chance.choice(_odd(chance))
    words += ["-q", "--json", "out.json"]
    steady = "--accept" not in words  # what is accepted once cannot be accepted again
    return Call("watch", words, frozenset({"out.json", "a.html"}), frozenset({STATE}), CODES, repeats=steady)


def _folders(chance: random.Random, folder: Path, spoil: bool) -> list[str]:
    """Tallies of a reference and of days after it."""
    source = originals() / "watched"
    for part in ("reference", "days"):
        shutil.copytree(source / part, folder / part)
    for _ in range(chance.choice([1, 1, 3]) if spoil else 0):
        _spoil(chance, folder)
    state = [] if chance.random() < 0.6 else ["--state", STATE]
    days = chance.choice(["days/*.tally", "days/*.tally", "days/days-[0-2].tally", "days/days-4.tally"])
    return ["watch", "reference/*.tally", days, "--scenario", chance.choice(["single-set", "case-control"]), *state]


def _spoil(chance: random.Random, folder: Path) -> None:
    """One of the tallies damaged, removed, foreign, doubled, or under a name that orders oddly."""
    files = sorted(folder.glob("*/*.tally"))
    if not files:
        return
    file = chance.choice(files)
    way = chance.randrange(5)
    if way == 0:
        file.write_bytes(spoilt_bytes(chance, file.read_bytes(), share=1))
    elif way == 1:
        file.unlink()
    elif way == 2:
        tallies.write(chance, file)
    else:
        other = file.parent / chance.choice(NAMES)
        shutil.copyfile(file, other) if way == 3 and other != file else file.rename(other)


def _time(chance: random.Random, folder: Path, spoil: bool) -> list[str]:
    """One table whose column of time tells the windows."""
    table = scored(chance, [120, 300, 300])
    until = "2026-01-04"
    if spoil:
        column = table.names.index("day")
        times = [chance.choice(TIMES) for _ in range(chance.choice([1, 2, 12]))]
        for _ in range(chance.choice([1, 40])):
            chance.choice(table.rows)[column] = chance.choice(times)
        until = chance.choice([until, until, *times])
    path = write_spoilt(chance, table, folder) if spoil else write(table, folder / f"a.{chance.choice(ENDINGS)}")
    by = [] if chance.random() < 0.3 else ["--by", chance.choice(["day", "day", "hour", "week", "month"])]
    state = [] if chance.random() < 0.8 else ["--state", STATE]
    return ["watch", path.name, "--time", "day", "--reference-until", until, *by, *state]


def _state(chance: random.Random, folder: Path, spoil: bool) -> list[str]:
    """Go on from a state: with all windows again, or with nothing but the state."""
    kind = chance.choice(["calm", "alarm"])
    told = (originals() / "watched" / f"{kind}.state").read_bytes()
    if spoil and chance.random() < 0.85:
        changed = spoilt_tree(chance, json.loads(told), times=chance.choice([1, 1, 1, 4]))
        if isinstance(changed, dict) and chance.random() < 0.9:
            changed.pop("checksum", None)  # somebody who knows what it is for; older states have none
        told = json.dumps(changed).encode("utf-8", "surrogatepass")
    elif spoil:
        told = spoilt_bytes(chance, told, share=1)
    (folder / STATE).write_bytes(told)
    words = ["watch", "--state", STATE]
    if chance.random() < 0.6:
        for part in ("reference", "days"):
            shutil.copytree(originals() / "watched" / part, folder / part)
        words = ["watch", "reference/*.tally", "days/*.tally", "--state", STATE]
        words += ["--threshold", "0.5", "--class-prior", "0.3"]
    accepting = [*["days-3", "days-4"] * 3, "days-0", "nope", ""]
    words += ["--accept", chance.choice(accepting), "--because", "a reason"] if chance.random() < 0.3 else []
    return words


def _odd(chance: random.Random) -> list[list[str]]:
    return [
        ["--threshold", chance.choice(NUMBERS)], ["--class-prior", chance.choice(PRIORS)], ["--audit", "3/20"],
        ["--audit", chance.choice(["0/0", "5/2", "a"])], ["--label-noise", chance.choice(NUMBERS)],
        ["--alpha", chance.choice(NUMBERS)], ["--life", chance.choice(NUMBERS)], ["--rejudge"], ["--tolerance", "0"],
        ["--confidence", chance.choice(NUMBERS)], ["--kernel", "nope"], ["--labels-lag", chance.choice(LAGS)],
        ["--labels-lag", chance.choice(LAGS), "--positives", "window"], ["--time", chance.choice(["day", "nope", ""])],
        ["--by", chance.choice(["week", "nope"])], ["--reference-until", chance.choice(TIMES)],
        ["--accept", chance.choice(STRANGE)], ["--because", chance.choice(STRANGE)], ["--state", STATE],
        ["--score", chance.choice(["other", "nope"])], ["--weight", "weight"], ["--where", "label >= 0"],
        ["--state", chance.choice(["", ".", "\x00", "nope/a.state"])], ["--tolerance", chance.choice(NUMBERS)],
    ]  # fmt: skip
