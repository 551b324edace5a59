"""Tables, most of them of the UCI repository: one row of facts each, and how the makers' files become arrays.

``archive`` names the file of UCI by its number and its title there; where rows lie in training and test files they are
joined, as the papers use them, unless the split is kept.
"""

from __future__ import annotations

import csv
import io
import operator
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

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


def rows_as_they_are(
    arrays: Arrays, *, compare: Callable[[Any, Any], Any], value: float | None, features: tuple[str, ...] = ()
) -> LabelledData:
    """Rows whose target compares so with a value, or with its own mean, are positive; parts are joined."""
    X, target = (
        arrays[what] if what in arrays else joined(arrays[f"{what}_train"], arrays[f"{what}_test"]) for what in "Xy"
    )
    chosen = compare(target, target.mean() if value is None else value)
    return LabelledData(X, chosen, target=target, feature_names=features)


def positive(compare: Callable[[Any, Any], Any], value: float | None, features: str = "") -> Any:
    """A ``build`` that takes rows as they are; the names of their columns stand between spaces."""
    return partial(rows_as_they_are, compare=compare, value=value, features=tuple(features.split()))


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
        found = numbers(paths, name=name, delimiter=delimiter)
        arrays[f"X_{part}"], arrays[f"y_{part}"] = exactly(found["X"], kept_as), found["y"]
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
CONCRETE = (
    "Cement (component 1)(kg in a m^3 mixture)",
    "Blast Furnace Slag (component 2)(kg in a m^3 mixture)",
    "Fly Ash (component 3)(kg in a m^3 mixture)",
    "Water  (component 4)(kg in a m^3 mixture)",
    "Superplasticizer (component 5)(kg in a m^3 mixture)",
    "Coarse Aggregate  (component 6)(kg in a m^3 mixture)",
    "Fine Aggregate (component 7)(kg in a m^3 mixture)",
    "Age (day)",
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
SPAM_WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses free business email "
    "you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85 technology 1999 parts pm direct "
    "cs meeting original project re edu table conference"
)
SPAM = " ".join(
    (
        *(f"word_freq_{word}" for word in SPAM_WORDS.split()),
        *(f"char_freq_{character}" for character in ";([!$#"),
        *(f"capital_run_length_{what}" for what in ("average", "longest", "total")),
    )
)
WINE = (
    "fixed acidity",
    "volatile acidity",
    "citric acid",
    "residual sugar",
    "chlorides",
    "free sulfur dioxide",
    "total sulfur dioxide",
    "density",
    "pH",
    "sulphates",
    "alcohol",
)


# --- the table -------------------------------------------------------------------------------------------------------


def table(
    stored: str,
    sha256: str,
    digest: str,
    convert: Callable[[Paths], Arrays],
    *,
    archive: str = "",
    original: DataFile | None = None,
    standardise: bool = True,
    **facts: Any,
) -> Dataset:
    """A data set of kind ``table``: the benchmark's file and its checksum, the makers' and their arrays' digest."""
    if original is None:
        name = Path(stored).stem.removesuffix("_8of10")
        original = DataFile(f"{name}.zip", None, f"{UCI}/{archive}.zip")
        facts |= {"licence": "UCI Machine Learning Repository, CC BY 4.0 as stated there"}
        facts.setdefault("source", f"https://archive.ics.uci.edu/dataset/{archive}")
    return Dataset(
        files=(DataFile(stored, sha256),),
        originals=Originals((original,), convert, digest),
        kind="table",
        standardise=standardise,
        **facts,
    )


DATASET = {
    "avila": table(
        "avila.npz",
        "329aea4c6937bde3bc9e7dfa9399841f3aae9234da91e113dd1307ad922575ed",
        "17ffdc2ca047e2e5800faee04cdf0275c3b5fa0de33644a339189cb97acaaa5b",
        convert_avila,
        archive="459/avila",
        build=build_avila,
        title="Avila",
        citation="De Stefano et al. (2018)",
        positive="copyist A",
        rows=20867,
        positives=8572,
    ),
    "bank_marketing": table(
        "bank_marketing.parquet",
        "dcde4eb74d4b2630d962af5ca08c07cabed7eebab24447c97a169da3e7d8112b",
        "2073e0ee9ef8041ffbb17d09e9683b5f823395be625703a22ba32e93f4f99d29",
        convert_bank_marketing,
        archive="222/bank+marketing",
        build=build_bank_marketing,
        title="Bank marketing",
        citation="Moro, Cortez and Rita (2014)",
        positive="took out a deposit. Jain et al. 2017 has 5188 of 45000 rows",
        rows=45211,
        positives=5289,
        papers=("003",),
    ),
    "boston_housing": table(
        "boston_housing.npz",
        "a0abf47eff58f0ea3030de597743b474bad4811f6517ee2fbe86e395f654b6e7",
        "9e06b89ff628a75575a41ecefbb503b2b53ceb28827a2110165dc41c1fe63a70",
        convert_boston,
        original=DataFile("boston.txt", None, "http://lib.stat.cmu.edu/datasets/boston"),
        source="StatLib; formerly https://archive.ics.uci.edu/dataset/housing",
        licence="none stated",
        build=positive(operator.gt, None, "CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT"),
        title="Boston housing",
        citation="Harrison and Rubinfeld (1978). One column encodes race: for comparison with Jain et al. only",
        positive="median value above its mean",
        rows=506,
        positives=209,
        papers=("003",),
    ),
    "concrete": table(
        "concrete.npz",
        "0f2ea7da51de6b57dad69a32f6359e2f05e56bfb770d06267b6e81313caca744",
        "4aff5af17e7be6eb8679297615016e9887454427939fa76417218b5b9142046b",
        convert_concrete,
        archive="165/concrete+compressive+strength",
        build=partial(rows_as_they_are, compare=operator.gt, value=None, features=CONCRETE),
        title="Concrete compressive strength",
        citation="Yeh (1998)",
        positive="strength above its mean",
        rows=1030,
        positives=490,
        papers=("003",),
    ),
    "connect4": table(
        "connect4.npz",
        "9a3417e97c174b5d2f147178419666d3089993fac18db874e2adc42557a05c65",
        "caa8625d91c34755c0387a4d27c08b477d176738ba25626d9400c193dd24fe7e",
        convert_connect4,
        archive="26/connect+4",
        build=build_connect4,
        title="Connect-4",
        citation="Tromp (1995)",
        positive="win; loss and draw are negative",
        rows=67557,
        positives=44473,
        standardise=False,
        papers=("004",),
    ),
    "gas_drift": table(
        "gas_drift_8of10.npz",
        "247c5046263a4caa30dac4647ae45f22dce5bf23807517a5e14596ef7774bbd7",
        "54a665dd20d7a88be3c4ea9b7eb17296d12ac5d074c913b5179645a2847a7e2b",
        convert_gas_drift,
        archive="224/gas+sensor+array+drift+dataset",
        build=build_gas_drift,
        title="Gas sensor array drift (8 of 10 batches)",
        citation="Vergara et al. (2012)",
        positive="gas 1; gas 5 is negative. Jain et al. 2017 has 2565 of 5574 rows: batches 7 and 10 are missing here",
        rows=3095,
        positives=1316,
        papers=("003",),
    ),
    "grid_stability": table(
        "grid_stability.npz",
        "72c9f278a0de28186d1738feca1e9e9519571044934f6258cf967f1588750e8a",
        "b67f30a1019cf92067861837c0d5022684d580f5868ddaee5bbc88206bfed309",
        convert_grid_stability,
        archive="471/electrical+grid+stability+simulated+data",
        build=positive(operator.eq, 1, "tau1 tau2 tau3 tau4 p1 p2 p3 p4 g1 g2 g3 g4"),
        title="Electrical grid stability",
        citation="Arzamasov, Boehm and Jochem (2018)",
        positive="stable",
        rows=10000,
        positives=3620,
    ),
    "landsat": table(
        "landsat.npz",
        "60f7772982986878436c27de2c2887abfb8376b615dc4604e79eef0e93632d01",
        "1f15bb909cf0f5b95ee693d7e05136d9adaee704c62d33606ea99c273f93817f",
        partial(whole_numbers, train="sat.trn", test="sat.tst"),
        archive="146/statlog+landsat+satellite",
        build=positive(operator.eq, 7),
        title="Statlog Landsat",
        citation="Srinivasan (1993)",
        positive="class 7",
        rows=6435,
        positives=1508,
        papers=("003",),
    ),
    "letter": table(
        "letter.npz",
        "a62d6d4fad6fa26378a8d648c75888122c379caf52826074b970319622d544a4",
        "1555a08789d26d2e5c2d20bce3bc89f446a7bc7c7577773ed29b665c0fdf7c58",
        convert_letter,
        archive="59/letter+recognition",
        build=positive(
            operator.lt,
            13,
            "x.box y.box width high onpix x.bar y.bar x2bar y2bar xybar x2ybr xy2br x.ege xegvy y.ege yegvx",
        ),
        title="Letter recognition",
        citation="Frey and Slate (1991)",
        positive="A to M",
        rows=20000,
        positives=9940,
    ),
    "mushroom": table(
        "mushroom.npz",
        "95d9c0c52c42b9557a47a7b405e6744d6066452f2c1b9a9294a367bb87947995",
        "7bd2f273c50743f93db09cb26a0865d5a7efa82c2cc9d9089a6e6fe0bada5a94",
        convert_mushroom,
        archive="73/mushroom",
        build=build_mushroom,
        title="Mushroom",
        citation="Schlimmer (1987)",
        positive="poisonous",
        rows=8124,
        positives=3916,
        standardise=False,
        papers=("003", "004 (program only)"),
    ),
    "page_blocks": table(
        "page_blocks.npz",
        "230db3416687b6e468f48e4d3ee14cd5b6701c96d8fec4017da7edb3dfca9a35",
        "33f80c63e890831be4e061330c75f82f73b2ddfe8cf80160ba29b66bd7a86789",
        partial(numbers, name="page-blocks.data"),
        archive="78/page+blocks+classification",
        build=positive(  # spelled as by the maker
            operator.gt, 1, "height lenght area eccen p_black p_and mean_tr blackpix blackand wb_trans"
        ),
        title="Page blocks",
        citation="Malerba (1994)",
        positive="not text (class above 1)",
        rows=5473,
        positives=560,
        papers=("003",),
    ),
    "pendigits": table(
        "pendigits.npz",
        "fb46299fd1c6471606aa7d757b31e87331aa0f21f1459fb62321d67c0a25854f",
        "3699690c6de617b94f3626a844512a2f6b0c2319cbad30409e45a031e86c97b7",
        partial(whole_numbers, train="pendigits.tra", test="pendigits.tes", delimiter=","),
        archive="81/pen+based+recognition+of+handwritten+digits",
        build=positive(operator.le, 2),
        title="Pen-based digits",
        citation="Alpaydin and Alimoglu (1996)",
        positive="digits 0, 1 and 2",
        rows=10992,
        positives=3430,
        papers=("003",),
    ),
    "pima": table(
        "pima.npz",
        "028863bd535fee42226d96be73c414be667f91ec8c57b5abc1bc975198e9fa28",
        "c0b7131a1c401c842a869f2bc4f33f84991b3529c5910ec3a1e8056729e539c0",
        convert_pima,
        original=DataFile(
            "diabetes.arff",
            None,
            "https://raw.githubusercontent.com/bnjmn/weka/5f12404511a3eaeb2415ec1311bc510f14eae52b/wekadocs/data/diabetes.arff",
        ),
        source="Debian package r-cran-mlbench 2.1-3-1; formerly UCI, whose file comes with Weka",
        licence="data of the NIDDK; the package is GPL-2",
        build=positive(operator.eq, 1, "pregnant glucose pressure triceps insulin mass pedigree age"),
        title="Pima Indians diabetes",
        citation="Smith et al. (1988)",
        positive="diabetes",
        rows=768,
        positives=268,
        papers=("003",),
    ),
    "shuttle": table(
        "shuttle.npz",
        "fe3331a020fe311137e084514ef6bbc22498109445bb2a3222b9e664c6f5322e",
        "b39652a12bce306f304868ddf38975e360d6561f4ef86df33dd1d9b339c36b7b",
        partial(whole_numbers, train="shuttle.trn", test="shuttle.tst", kept_as="int16"),
        archive="148/statlog+shuttle",
        build=positive(operator.eq, 4),
        title="Statlog Shuttle",
        citation="Catlett (1993)",
        positive="class 4",
        rows=58000,
        positives=8903,
        papers=("003",),
    ),
    "spambase": table(
        "spambase.npz",
        "e5039f6d1632de3f8bab32be77a69fd2eb4f1733cbb8fa4340d3e68da1667961",
        "f245fd54b7f64d0495f5264f9d75a93d74555b6fe92fb558fc1ee18bbb23639c",
        partial(numbers, name="spambase.data", delimiter=","),
        archive="94/spambase",
        build=positive(operator.eq, 1, SPAM),
        title="Spambase",
        citation="Hopkins, Reeber, Forman and Suermondt (1999)",
        positive="spam",
        rows=4601,
        positives=1813,
        papers=("003", "004"),
    ),
    "wine_quality": table(
        "wine_quality.npz",
        "d44876f22d4aad66d23356c35d83673a8b7b4b6a051210757867f45c6c43a4ca",
        "5b81a75f8421fd01cd68471d5ec5f991f0dcdc53093275563190f6406f121386",
        convert_wine_quality,
        archive="186/wine+quality",
        build=partial(rows_as_they_are, compare=operator.ge, value=6, features=WINE),
        title="Wine quality",
        citation="Cortez et al. (2009)",
        positive="quality of 6 or more",
        rows=6497,
        positives=4113,
        papers=("003",),
    ),
}
