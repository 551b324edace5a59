"""The evaluation road: evaluate, prior, calibrate, compare and tally, on tables, tallies and databases."""

from __future__ import annotations

import random
from pathlib import Path

from hostile import databases, tallies
from hostile.call import Call
from hostile.damage import NUMBERS, STRANGE, some
from hostile.rows import PRIORS, scored
from hostile.tables import ENDINGS, write, write_spoilt

MAKES = frozenset({"out.json", "a.html", "a.md", "mapped.csv"})
AUDITS = ["3/20", "3/20", "0/0", "5/2", "a", "-1/3", "0/50", "50/50", "1/1"]
METHODS = ["nope", "auto", "alphamax", "dedpul", "elkan_noto_e1", "best_bin"]
MEASURES = ["nope", "recall", "roc_auc", "f1", "average_precision", "log_pulp"]
FITS = ["isotonic", "platt", "beta", "temperature", "histogram", "auto"]


def make(chance: random.Random, folder: Path, command: str) -> Call:
    """A call of one of the commands: all as it might be meant, or one thing odd, or everything.

    What is odd in one way only gets further: the first mistake that is found hides all others.
    """
    mood = chance.choice(["calm", "calm", "one option", "one option", "source", "wild"])
    source, standard_input, named = _source(chance, folder, command, calm=mood in ("calm", "one option"))
    options = [] if mood == "wild" else _calm(chance, command)
    if mood in ("wild", "one option"):
        options += _odd(chance, command, once=mood == "one option")
    words = [command, source, *named, *options, *_last(chance, command, calm=mood != "wild")]
    makes = frozenset({"out.tally"}) if command == "tally" else MAKES
    return Call(command, words, makes, standard_input=standard_input)


def _source(chance: random.Random, folder: Path, command: str, *, calm: bool) -> tuple[str, bytes, list[str]]:
    """Where to read, what stands on standard input, and the options that the source needs."""
    if calm:
        return write(scored(chance, [30, 120, 300]), folder / f"a.{chance.choice(ENDINGS)}").name, b"", []
    if command in ("evaluate", "prior", "compare") and chance.random() < 0.12:
        return tallies.write(chance, folder / "a.tally").name, b"", []
    table = scored(chance)
    if command in ("evaluate", "compare", "tally") and chance.random() < 0.12:
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


def _calm(chance: random.Random, command: str) -> list[str]:
    """Options that might be meant."""
    found = some(chance, {
        "evaluate": [
            ["--threshold", "0.5"], ["--sensitivity", "2"], ["--bounds"], ["--audit", "3/20"], ["--markdown", "a.md"],
            ["--html", "a.html"], ["--worlds", "2"], ["--weight", "weight"], ["--label-noise", "0.05"],
            ["--group-by", "site", "--same-prior"], ["--confidence", chance.choice(["0.5", "0.9", "0.999"])],
        ],
        "prior": [["--method", chance.choice(METHODS[1:])], ["--all"], ["--audit", "3/20"], ["--weight", "weight"]],
        "calibrate": [
            ["--fit", chance.choice(FITS)], ["--bins", chance.choice(["1", "5", "50"])], ["--binning", "width"],
            ["--fit", "isotonic", "--out", "mapped.csv"], ["--html", "a.html"], ["--weight", "weight"],
        ],
        "compare": [["--metric", chance.choice(MEASURES[1:])], ["--threshold", "0.5"], ["--html", "a.html"]],
        "tally": [["--weight", "weight"]],
    }[command], 0.1)  # fmt: skip
    if command == "calibrate":
        found += chance.choice([["--scores-are", "rank", "--fit", "isotonic"], *[["--scores-are", "logit"]] * 3])
    if command not in ("prior", "tally"):
        found += ["--class-prior", chance.choice(["0.4", "0.35:0.45", "0.5", "0.6", "0.5:0.5", "auto"])]
    return found


def _odd(chance: random.Random, command: str, *, once: bool) -> list[str]:
    """Options of any kind, with values of any kind; one of them, or any number."""
    given = {
        "evaluate": [
            ["--threshold", chance.choice(NUMBERS)], ["--sensitivity", chance.choice(NUMBERS)], ["--bounds"],
            ["--audit", chance.choice(AUDITS)], ["--worlds", chance.choice(NUMBERS)], ["--markdown", "a.md"],
            ["--where", chance.choice(["label >= 0", "score > 0", "1 = 1", "nope", "'", "1; DROP TABLE x"])],
            ["--group-by", chance.choice(["site", "label", "nope"]), chance.choice(["--same-prior", "--bounds"])],
            ["--tolerance", chance.choice(NUMBERS)], ["--scores-are", "probability", "--html", "a.html"],
            ["--group-by", "site", "--segment-prior", chance.choice(["a=0.3", "a=auto", "b=0.1:0.2", "a", "=", "d=1"])],
            ["--group-by", "site", "--class-prior-column", chance.choice(["other", "weight", "nope"])], ["--combine"],
            ["--group-by", "site", "--metric", chance.choice(MEASURES)], ["--html", "a.html"],
        ],
        "prior": [
            ["--method", chance.choice(METHODS)], ["--label-noise", chance.choice(["estimate", *NUMBERS])], ["--all"],
            ["--audit", chance.choice(AUDITS)], ["--combine"],
        ],
        "calibrate": [
            ["--scores-are", chance.choice(["logit", "rank", "probability"])], ["--folds", chance.choice(NUMBERS)],
            ["--fit", chance.choice(FITS)], ["--bins", chance.choice(NUMBERS)], ["--html", "a.html"],
            ["--fit", "isotonic", "--out", "mapped.csv"], ["--column", chance.choice(["score", "new", ""])],
            ["--binning", "width"], ["--audit", chance.choice(AUDITS)],
        ],
        "compare": [
            ["--metric", chance.choice(MEASURES)], ["--html", "a.html"], ["--audit", chance.choice(AUDITS)],
            ["--threshold", chance.choice([*NUMBERS, "score=0.5", "other=1e300", "nope=1", "="])],
            ["--where", "label >= 0"],
        ],
        "tally": [["--tolerance", chance.choice(NUMBERS)], ["--where", "label >= 0"]],
    }[command]  # fmt: skip
    if once:
        return chance.choice([*given, *_common(chance, command)])
    found = some(chance, given)
    if chance.random() < 0.05 and command != "compare":
        found += ["--score", chance.choice(["other", "label", "nope", "z" * 5000])]
    if chance.random() < 0.1 and command not in ("compare", "tally"):
        found += ["--weight", chance.choice([*["weight"] * 6, "score", "nope"])]
    if chance.random() < 0.05:
        found += [chance.choice(["--positive", "--negative", "--unlabelled"]), chance.choice([*STRANGE, "1"])]
    if chance.random() < 0.05:
        odd = ["--format", "--delimiter", "--nope", "--confidence", "--table", "--seed", "--label"]
        found += [chance.choice(odd), chance.choice(STRANGE)]
    if command not in ("prior", "tally"):
        if chance.random() < 0.7:
            found += [chance.choice(["--class-prior"] * 6 + ["--unlabelled-prior"]), chance.choice(PRIORS)]
        found += ["--label-noise", chance.choice(NUMBERS)] if chance.random() < 0.05 else []
    return found


def _common(chance: random.Random, command: str) -> list[list[str]]:
    """Options that most commands have, with values of any kind."""
    found = [["--positive", "1"], ["--negative", "-1"], ["--delimiter", chance.choice(STRANGE)]]
    found += [["--confidence", chance.choice(NUMBERS)], ["--label-noise", chance.choice(NUMBERS)]]
    if command not in ("prior", "tally"):
        found += [["--class-prior", chance.choice(PRIORS)], ["--seed", chance.choice([*NUMBERS, str(2**70)])]]
    if command in ("evaluate", "compare"):
        found += [["--redraws", chance.choice([*NUMBERS, "101"])]]
    return found if command != "tally" else found[:3]


def _last(chance: random.Random, command: str, *, calm: bool) -> list[str]:
    """What nearly every call of a command has."""
    if command == "tally":
        return ["-o", "out.tally"]
    found = [] if command == "prior" else ["-q"]
    if command == "compare":
        second = "other" if calm else chance.choice([*["other"] * 8, "score", "site", "nope"])
        found += ["--score", "score", "--score", second]
    if command in ("evaluate", "compare"):
        found += ["--redraws", "100" if calm else chance.choice([*["100"] * 20, "x", "0"])]
    return [*found, "--scenario", chance.choice(["single-set", "case-control"]), "--json", "out.json"]
