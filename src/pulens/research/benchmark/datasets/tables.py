"""Tables, most of them of the UCI repository: a line of ``tables.csv`` each, and how the makers' files become arrays.

``archive`` names the file of UCI by its number and its title there; where rows lie in training and test files they are
joined, as the papers use them, unless the split is kept.
"""

from __future__ import annotations

import csv
import io
import operator
from collections.abc import Callable, Mapping
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._archive import UCI, codes, exactly, member
from pulens.research.benchmark.datasets._dataset import (
    Arrays,
    DataFile,
    Dataset,
    LabelledData,
    Originals,
    joined,
    one_hot,
)
from pulens.research.benchmark.datasets._xls import read_numbers

Paths = Mapping[str, Path]


# --- which rows are positive -----------------------------------------------------------------------------------------


COMPARE = {">": operator.gt, ">=": operator.ge, "=": operator.eq, "<": operator.lt, "<=": operator.le}


def rows_as_they_are(arrays: Arrays, *, rule: str, features: str) -> LabelledData:
    """Rows whose target compares as the rule says, with a number or its own mean, are positive; parts are joined."""
    X, target = (
        arrays[what] if what in arrays else joined(arrays[f"{what}_train"], arrays[f"{what}_test"]) for what in "Xy"
    )
    sign, _, value = rule.partition(" ")
    chosen = COMPARE[sign](target, target.mean() if value == "mean" else float(value))
    return LabelledData(X, chosen, target=target, feature_names=tuple(filter(None, features.split("; "))))


def build_avila(arrays: Arrays) -> LabelledData:
    """Copyist A is positive; the official split."""
    return LabelledData(
        arrays["X_train"],
        arrays["y_train"] == 0,
        arrays["X_test"],
        arrays["y_test"] == 0,
        target=arrays["y_train"],
        target_test=arrays["y_test"],
        classes=COPYISTS,
    )


def build_bank_marketing(arrays: Arrays) -> LabelledData:
    """Numbers as they are, words as columns of zeros and ones; a deposit is positive."""
    columns, names = [], []
    for name, values in arrays.items():
        if name == "y":
            continue
        if values.dtype.kind in "iuf":
            columns.append(values.astype(np.float64))
            names.append(name)
            continue
        for level in np.unique(values).tolist():
            columns.append((values == level).astype(np.float64))
            names.append(f"{name}={level}")
    return LabelledData(np.stack(columns, 1), arrays["y"] == "yes", feature_names=tuple(names))


def build_connect4(arrays: Arrays) -> LabelledData:
    """One-hot columns, 126 in all, as on OpenML; a win of the first player is positive."""
    target = arrays["y"]
    return LabelledData(one_hot(arrays["X"], len(CELLS)), target == 0, target=target, classes=OUTCOMES)


def build_gas_drift(arrays: Arrays) -> LabelledData:
    """Gas 1 (positive) against gas 5, as the benchmark has them; other gases are left out."""
    kept = np.isin(arrays["y"], (1, 5))
    target = arrays["y"][kept]
    return LabelledData(arrays["X"][kept], target == 1, target=target)


def build_mushroom(arrays: Arrays) -> LabelledData:
    """One-hot columns, a missing value being a level of its own; poisonous is positive."""
    return LabelledData(
        one_hot(arrays["X"], [len(characters) for characters in MUSHROOM.values()]),
        arrays["y"] == 1,
        feature_names=tuple(f"{name}={level}" for name, characters in MUSHROOM.items() for level in characters),
    )


# --- from the makers' files to arrays --------------------------------------------------------------------------------


def numbers(paths: Paths, *, name: str, delimiter: str | None = None) -> Arrays:
    """One file of the archive: numbers in a line, the last one is the class."""
    (archive,) = paths.values()
    table = np.loadtxt(io.BytesIO(member(archive, name)), delimiter=delimiter)
    return {"X": table[:, :-1], "y": exactly(table[:, -1], "uint8")}


def whole_numbers(
    paths: Paths, *, train: str, test: str, kept_as: str = "uint8", delimiter: str | None = None
) -> Arrays:
    """Two files of the archive: whole numbers in a line, the last one is the class."""
    arrays = {}
    for part, name in (("train", train), ("test", test)):
        result = numbers(paths, name=name, delimiter=delimiter)
        arrays[f"X_{part}"], arrays[f"y_{part}"] = exactly(result["X"], kept_as), result["y"]
    return arrays


def convert_avila(paths: Paths) -> Arrays:
    """Ten numbers and the letter of a copyist in a line."""
    arrays = {}
    for part, name in (("train", "avila-tr.txt"), ("test", "avila-ts.txt")):
        rows = [line.split(",") for line in member(paths["avila.zip"], name).decode("ascii").splitlines()]
        arrays[f"X_{part}"] = np.array([row[:-1] for row in rows]).astype(np.float64)
        arrays[f"y_{part}"] = exactly([COPYISTS.index(row[-1]) for row in rows], "uint8")
    return arrays


def convert_bank_marketing(paths: Paths) -> Arrays:
    """The archive holds another one, and that a table with a line of names, semicolons and words in quotes."""
    inner = io.BytesIO(member(paths["bank_marketing.zip"], "bank.zip"))
    text = io.StringIO(member(inner, "bank-full.csv").decode("ascii"))
    names, *rows = csv.reader(text, delimiter=";")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return {
        name: np.array([int(value) for value in columns[name]] if name in BANK_NUMBERS else columns[name])
        for name in BANK.split()
    }


def convert_boston(paths: Paths) -> Arrays:
    """The file of StatLib: 22 lines of words, then 14 numbers on two lines for each district, the value last."""
    values = paths["boston.txt"].read_text("latin-1").split("\n", 22)[22].split()
    table = np.array([float(number) for number in values]).reshape(-1, 14)
    return {"X": table[:, :-1], "y": table[:, -1]}


def convert_concrete(paths: Paths) -> Arrays:
    """A legacy workbook, a line of names, then eight numbers and the strength in a row."""
    cells = read_numbers(member(paths["concrete.zip"], "Concrete_Data.xls"))
    rows = sorted({row for row, _ in cells})
    table = np.array([[cells[row, column] for column in range(9)] for row in rows])
    return {"X": table[:, :-1], "y": table[:, -1]}


def convert_connect4(paths: Paths) -> Arrays:
    """42 letters in a line and the outcome, all between commas."""
    lines = member(paths["connect4.zip"], "connect-4.data").decode("ascii").splitlines()
    cells = codes("".join(line[:84:2] for line in lines), CELLS)
    return {"X": cells.reshape(-1, 42), "y": exactly([OUTCOMES.index(line[84:]) for line in lines], "uint8")}


def convert_gas_drift(paths: Paths) -> Arrays:
    """A file per batch, in a line the gas and 128 numbers, each behind its place and a colon."""
    tables = []
    for batch in BATCHES:
        text = member(paths["gas_drift.zip"], f"batch{batch}.dat").decode("ascii")
        table = np.array([float(number) for number in text.replace(":", " ").split()]).reshape(-1, 257)
        if (table[:, 1::2] != np.arange(1, 129)).any():
            raise ValueError(f"batch {batch} has numbers out of place")
        tables.append(table)
    whole = np.concatenate(tables)
    batch_of = np.repeat(np.array(BATCHES, np.uint8), [len(table) for table in tables])
    return {"X": whole[:, 2::2], "y": exactly(whole[:, 0], "uint8"), "batch": batch_of}


def convert_grid_stability(paths: Paths) -> Arrays:
    """A line of names, then 12 numbers, the stability and a word, between commas.

    The benchmark's copy went through a spreadsheet, and so must this one: nine decimals, and three digits of numbers
    below 0.0001.
    """
    text = member(paths["grid_stability.zip"], "Data_for_UCI_named.csv").decode("ascii")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    exact = np.array([row[:-1] for row in rows]).astype(np.float64)
    table = np.round(exact, 9)
    small = np.abs(exact) < 1e-4
    table[small] = [float(f"{value:.2e}") for value in exact[small].tolist()]
    y = np.array([("unstable", "stable").index(row[-1].strip('"')) for row in rows], np.uint8)
    return {"X": table[:, :-1], "stab": table[:, -1], "y": y}


def convert_letter(paths: Paths) -> Arrays:
    """A capital and 16 whole numbers in a line."""
    text = member(paths["letter.zip"], "letter-recognition.data").decode("ascii")
    rows = [line.split(",") for line in text.splitlines()]
    X = np.array([row[1:] for row in rows]).astype(np.int64)
    return {"X": exactly(X, "uint8"), "y": exactly([ord(row[0]) - ord("A") for row in rows], "uint8")}


def convert_mushroom(paths: Paths) -> Arrays:
    """23 letters in a line between commas, the first one says poisonous or edible."""
    lines = member(paths["mushroom.zip"], "agaricus-lepiota.data").decode("ascii").splitlines()
    columns = zip(*(line[::2] for line in lines), strict=True)
    y, *X = (codes("".join(column), levels) for column, levels in zip(columns, ("ep", *MUSHROOM.values()), strict=True))
    return {"X": np.stack(X, 1), "y": y}


def convert_pima(paths: Paths) -> Arrays:
    """The file that comes with Weka: a head of attributes, then eight numbers and a word in a line."""
    text = paths["diabetes.arff"].read_text("ascii")
    rows = [line.rsplit(",", 1) for line in text[text.index("@data") :].splitlines()[1:] if line]
    table = np.loadtxt(io.StringIO("\n".join(values for values, _ in rows)), delimiter=",")
    words = ("tested_negative", "tested_positive")
    return {"X": table, "y": exactly([words.index(word) for _, word in rows], "uint8")}


def convert_wine_quality(paths: Paths) -> Arrays:
    """Two tables with a line of names and semicolons, quality last; red wines come first."""
    red, white = (
        np.loadtxt(io.BytesIO(member(paths["wine_quality.zip"], f"winequality-{color}.csv")), delimiter=";", skiprows=1)
        for color in ("red", "white")
    )
    table = np.concatenate([red, white])
    color = np.repeat(np.array([0, 1], np.uint8), [len(red), len(white)])
    return {"X": table[:, :-1], "y": exactly(table[:, -1], "uint8"), "color": color}


# --- names of columns and classes ------------------------------------------------------------------------------------

COPYISTS = tuple("ABCDEFGHIWXY")
BANK_NUMBERS = ("age", "balance", "day", "duration", "campaign", "pdays", "previous")
BANK = (
    "age job marital education default balance housing loan contact day month duration campaign pdays previous "
    "poutcome y"
)
CELLS = "box"  # of connect-4: an empty cell, the second player, the first player
OUTCOMES = ("win", "loss", "draw")
BATCHES = (1, 2, 3, 4, 5, 6, 8, 9)
MUSHROOM = {  # of each column, the letters that occur; "?" is a root that nobody described
    "cap-shape": "bcfksx",
    "cap-surface": "fgsy",
    "cap-color": "bcegnpruwy",
    "bruises": "ft",
    "odor": "acflmnpsy",
    "gill-attachment": "af",
    "gill-spacing": "cw",
    "gill-size": "bn",
    "gill-color": "beghknopruwy",
    "stalk-shape": "et",
    "stalk-root": "?bcer",
    "stalk-surface-above-ring": "fksy",
    "stalk-surface-below-ring": "fksy",
    "stalk-color-above-ring": "bcegnopwy",
    "stalk-color-below-ring": "bcegnopwy",
    "veil-type": "p",
    "veil-color": "nowy",
    "ring-number": "not",
    "ring-type": "eflnp",
    "spore-print-color": "bhknoruwy",
    "population": "acnsvy",
    "habitat": "dglmpuw",
}

# --- the table -------------------------------------------------------------------------------------------------------


CONVERT: dict[str, Callable[[Paths], Arrays]] = {
    "avila": convert_avila,
    "bank_marketing": convert_bank_marketing,
    "boston_housing": convert_boston,
    "concrete": convert_concrete,
    "connect4": convert_connect4,
    "gas_drift": convert_gas_drift,
    "grid_stability": convert_grid_stability,
    "landsat": partial(whole_numbers, train="sat.trn", test="sat.tst"),
    "letter": convert_letter,
    "mushroom": convert_mushroom,
    "page_blocks": partial(numbers, name="page-blocks.data"),
    "pendigits": partial(whole_numbers, train="pendigits.tra", test="pendigits.tes", delimiter=","),
    "pima": convert_pima,
    "shuttle": partial(whole_numbers, train="shuttle.trn", test="shuttle.tst", kept_as="int16"),
    "spambase": partial(numbers, name="spambase.data", delimiter=","),
    "wine_quality": convert_wine_quality,
}
BUILD = {
    "avila": build_avila,
    "bank_marketing": build_bank_marketing,
    "connect4": build_connect4,
    "gas_drift": build_gas_drift,
    "mushroom": build_mushroom,
}


def table(facts: Mapping[str, str]) -> Dataset:
    """A data set of kind ``table``: the benchmark's file and its checksum, the makers' and their arrays' digest."""
    name, archive = facts["name"], facts["archive"]
    file, _, url = (facts["original"] or f"{name}.zip {UCI}/{archive}.zip").partition(" ")
    return Dataset(
        files=(DataFile(facts["stored"], facts["sha256"]),),
        originals=Originals((DataFile(file, None, url),), CONVERT[name], facts["digest"]),
        kind="table",
        build=BUILD[name]
        if name in BUILD
        else partial(rows_as_they_are, rule=facts["rule"], features=facts["features"]),
        standardise=facts["standardise"] == "yes",
        title=facts["title"],
        citation=facts["citation"],
        positive=facts["positive"],
        rows=int(facts["rows"]),
        positives=int(facts["positives"]),
        papers=tuple(filter(None, facts["papers"].split("; "))),
        source=facts["source"] or f"https://archive.ics.uci.edu/dataset/{archive}",
        licence=facts["licence"] or "UCI Machine Learning Repository, CC BY 4.0 as stated there",
    )


_FACTS = (resources.files(__package__) / "tables.csv").read_text(encoding="utf-8")
DATASET = {facts["name"]: table(facts) for facts in csv.DictReader(io.StringIO(_FACTS))}
