"""Options of the evaluation road: such as might be meant, and such as nobody means."""

from __future__ import annotations

import random

from hostile.damage import NUMBERS, STRANGE, some
from hostile.rows import PRIORS

AUDITS = ["3/20", "3/20", "0/0", "5/2", "a", "-1/3", "0/50", "50/50", "1/1"]
METHODS = ["nope", "auto", "alphamax", "dedpul", "elkan_noto_e1", "best_bin"]
MEASURES = ["nope", "recall", "roc_auc", "f1", "average_precision", "log_pulp"]
FITS = ["isotonic", "platt", "beta", "temperature", "histogram", "auto"]
GAPS = ["recall", "recall", "precision", "roc_auc", "f1", "false_positive_rate", "nope", ""]
COLUMNS = [*["patient"] * 6, "site", "case", "label", "score", "day", "nope", ""]
TOPS = [
    "1",
    "10",
    "10",
    "50%",
    "1%",
    "1e-3",
    "0",
    "-1",
    "0.5",
    "1.5",
    "101%",
    "nan%",
    "%",
    "inf",
    "9" * 30,
    "1e300",
    "",
]
CELLS = ["a=0.3", "b=0.1:0.2", "a / p1=0.3", "a=auto", "a", "=", "nope=0.1", "a=2", "a=nan"]
COSTS = [*["1", "5", "0.5"] * 3, *NUMBERS, "-5", "1e308"]
CAPACITIES = ["10", "5%", "0.1", "1", "0", "-1", "101%", "nan", "1e300", "x", "", "%", "5 %", "9" * 30]
VOLUMES = [*["100", "1000", "12000"] * 2, "0", "-1", "1", "x", "9" * 30, str(2**63), "9" * 5000]


def calm(chance: random.Random, command: str) -> list[str]:
    """Options that might be meant."""
    result = some(chance, {
        "evaluate": [
            ["--threshold", "0.5"], ["--sensitivity", "2"], ["--bounds"], ["--audit", "3/20"], ["--markdown", "a.md"],
            ["--html", "a.html"], ["--worlds", "2"], ["--weight", "weight"], ["--label-noise", "0.05"],
            ["--confidence", chance.choice(["0.5", "0.9", "0.999"])], *_apart(chance),
        ],
        "prior": [
            ["--method", chance.choice(METHODS[1:])], ["--all"], ["--audit", "3/20"], ["--weight", "weight"],
            ["--within", "site"],
        ],
        "calibrate": [
            ["--fit", chance.choice(FITS)], ["--bins", chance.choice(["1", "5", "50"])], ["--binning", "width"],
            ["--fit", "isotonic", "--out", "mapped.csv"], ["--html", "a.html"], ["--weight", "weight"],
            ["--cluster", "patient"], ["--within", "site"],
        ],
        "compare": [
            ["--metric", chance.choice(MEASURES[1:])], ["--threshold", "0.5"], ["--html", "a.html"],
            ["--cluster", "patient"], ["--within", "site"],
        ],
        "decide": [
            ["--benefit-hit", "3"], ["--cost-flag", "0.2"], ["--capacity", chance.choice(["10", "5%"])],
            ["--capacity", "20", "--volume", "500"],
            ["--capacity", "20", "--volume", "500", "--capacity-certainty", "0.9"],
            ["--recall-at-least", "0.6"], ["--precision-at-least", "0.6"], ["--choose", "regret"], ["--audit", "3/20"],
            ["--weight", "weight"],
        ],
        "tally": [["--weight", "weight"], ["--cluster", "patient"], ["--cluster", "patient"]],
    }[command], 0.1)  # fmt: skip
    if command == "calibrate":
        result += chance.choice([["--scores-are", "rank", "--fit", "isotonic"], *[["--scores-are", "logit"]] * 3])
    if command == "decide":
        result += chance.choice([["--cost-miss", "5", "--cost-alarm", "1"]] * 9 + [["--cost-miss", "500"]])
    if command not in ("prior", "tally"):
        result += ["--class-prior", chance.choice(["0.4", "0.35:0.45", "0.5", "0.6", "0.5:0.5", "auto"])]
    return result


def _apart(chance: random.Random) -> list[list[str]]:
    """Ways to look at the rows of a table that exclude one another, mostly none of them."""
    ways = [
        ["--group-by", "site", "--same-prior"], ["--cluster", "patient"], ["--top", "10", "--top", "5%"],
        ["--within", "site"], ["--within", "site", "--threshold", "0.5"], ["--within", "site", "--cluster", "patient"],
        ["--within", "site", "--split", "equal"], ["--within", "site", "--cell-prior", "a=0.4", "--cell-prior", "b=0.5",
         "--cell-prior", "c=0.3:0.6"], ["--group-by", "site", "--gaps", "recall", "--threshold", "0.5"],
        ["--group-by", "site", "--gaps", chance.choice(GAPS[:6]), "--same-prior"],
        ["--group-by", "site", "--group-by", "patient", "--gaps", "recall"],
        ["--group-by", "site", "--gaps", "recall", "--cluster", "patient"], ["--top", "20", "--cluster", "patient"],
    ]  # fmt: skip
    return [chance.choice(ways)] * 3


def odd(chance: random.Random, command: str, *, once: bool) -> list[str]:
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
            ["--top", chance.choice(TOPS)], ["--top", chance.choice(TOPS), "--html", "a.html"],
            ["--cluster", chance.choice(COLUMNS)], ["--cluster", chance.choice(COLUMNS), "--html", "a.html"],
            ["--within", chance.choice(COLUMNS)], ["--within", "site", "--within", chance.choice(COLUMNS)],
            ["--within", "site", "--cell-prior", chance.choice(CELLS)], ["--split", "equal"],
            ["--within", "site", "--label-noise", chance.choice(NUMBERS)],
            ["--within", "site", "--class-prior", chance.choice(PRIORS)],
            ["--group-by", chance.choice(COLUMNS), "--gaps", chance.choice(GAPS)], ["--gaps", "recall"],
            ["--group-by", "site", "--gaps", chance.choice(GAPS), "--threshold", chance.choice(NUMBERS)],
            ["--group-by", "site", "--gaps", "recall", "--html", "a.html", "--markdown", "a.md"],
            ["--reviewed-above", chance.choice(NUMBERS)], ["--reviewed-below-share", chance.choice(NUMBERS)],
            ["--reviewed-above", "0.5", "--reviewed-below-share", chance.choice(NUMBERS)],
        ],
        "prior": [
            ["--method", chance.choice(METHODS)], ["--label-noise", chance.choice(["estimate", *NUMBERS])], ["--all"],
            ["--audit", chance.choice(AUDITS)], ["--combine"], ["--within", chance.choice(COLUMNS)],
            ["--within", "site", "--method", chance.choice(METHODS)], ["--reviewed-above", chance.choice(NUMBERS)],
        ],
        "calibrate": [
            ["--scores-are", chance.choice(["logit", "rank", "probability"])], ["--folds", chance.choice(NUMBERS)],
            ["--fit", chance.choice(FITS)], ["--bins", chance.choice(NUMBERS)], ["--html", "a.html"],
            ["--fit", "isotonic", "--out", "mapped.csv"], ["--column", chance.choice(["score", "new", ""])],
            ["--binning", "width"], ["--audit", chance.choice(AUDITS)], ["--cluster", chance.choice(COLUMNS)],
            ["--within", chance.choice(COLUMNS)], ["--reviewed-above", chance.choice(NUMBERS)],
        ],
        "compare": [
            ["--metric", chance.choice(MEASURES)], ["--html", "a.html"], ["--audit", chance.choice(AUDITS)],
            ["--threshold", chance.choice([*NUMBERS, "score=0.5", "other=1e300", "nope=1", "="])],
            ["--where", "label >= 0"], ["--cluster", chance.choice(COLUMNS)], ["--within", chance.choice(COLUMNS)],
            ["--within", "site", "--cell-prior", chance.choice(CELLS)], ["--reviewed-above", chance.choice(NUMBERS)],
        ],
        "decide": [
            ["--cost-miss", chance.choice(COSTS)], ["--cost-alarm", chance.choice(COSTS)],
            ["--cost-flag", chance.choice(COSTS)], ["--benefit-hit", chance.choice(COSTS)],
            ["--capacity", chance.choice(CAPACITIES)], ["--volume", chance.choice(VOLUMES)],
            ["--capacity", chance.choice(CAPACITIES), "--volume", chance.choice(VOLUMES)],
            ["--capacity", "20", "--volume", "500", "--capacity-certainty", chance.choice(NUMBERS)],
            ["--recall-at-least", chance.choice(NUMBERS)], ["--precision-at-least", chance.choice(NUMBERS)],
            ["--choose", chance.choice(["regret", "nope"])], ["--audit", chance.choice(AUDITS)], ["--combine"],
            ["--tolerance", chance.choice(NUMBERS)], ["--where", chance.choice(["label >= 0", "'"])],
        ],
        "tally": [
            ["--tolerance", chance.choice(NUMBERS)], ["--where", "label >= 0"], ["--cluster", chance.choice(COLUMNS)],
            ["--cluster", "patient", "--tolerance", chance.choice(NUMBERS)], ["--score", "score", "--score", "other"],
            ["--cluster", "patient", "--score", "score", "--score", "other"],
        ],
    }[command]  # fmt: skip
    if once:
        return chance.choice([*given, *_common(chance, command)])
    result = some(chance, given)
    if chance.random() < 0.05 and command != "compare":
        result += ["--score", chance.choice(["other", "label", "nope", "z" * 5000])]
    if chance.random() < 0.1 and command not in ("compare", "tally"):
        result += ["--weight", chance.choice([*["weight"] * 6, "score", "nope"])]
    if chance.random() < 0.05:
        result += [chance.choice(["--positive", "--negative", "--unlabelled"]), chance.choice([*STRANGE, "1"])]
    if chance.random() < 0.05:
        odd = ["--format", "--delimiter", "--nope", "--confidence", "--table", "--seed", "--label"]
        result += [chance.choice(odd), chance.choice(STRANGE)]
    if command not in ("prior", "tally"):
        if chance.random() < 0.7:
            result += [chance.choice(["--class-prior"] * 6 + ["--unlabelled-prior"]), chance.choice(PRIORS)]
        result += ["--label-noise", chance.choice(NUMBERS)] if chance.random() < 0.05 else []
    return result


def _common(chance: random.Random, command: str) -> list[list[str]]:
    """Options that most commands have, with values of any kind."""
    result = [["--positive", "1"], ["--negative", "-1"], ["--delimiter", chance.choice(STRANGE)]]
    result += [["--confidence", chance.choice(NUMBERS)], ["--label-noise", chance.choice(NUMBERS)]]
    if command not in ("prior", "tally"):
        result += [["--class-prior", chance.choice(PRIORS)], ["--seed", chance.choice([*NUMBERS, str(2**70)])]]
    if command in ("evaluate", "compare", "decide"):
        result += [["--redraws", chance.choice([*NUMBERS, "101"])]]
    return result if command != "tally" else result[:3]


def last(chance: random.Random, command: str, *, calm: bool) -> list[str]:
    """What nearly every call of a command has."""
    if command == "tally":
        return ["-o", "out.tally"]
    result = (
        [] if command == "prior" else [chance.choice(["-q", "-q", "-q", "--sql"])] if command == "decide" else ["-q"]
    )
    if command == "compare":
        second = "other" if calm else chance.choice([*["other"] * 8, "score", "site", "nope"])
        result += ["--score", "score", "--score", second]
    if command in ("evaluate", "compare", "decide"):
        result += ["--redraws", "100" if calm else chance.choice([*["100"] * 20, "x", "0"])]
    return [*result, "--scenario", chance.choice(["single-set", "case-control"]), "--json", "out.json"]
