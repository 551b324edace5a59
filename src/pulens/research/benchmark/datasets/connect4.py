"""Connect-4: positions of a game, and who wins it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pulens.research.benchmark.datasets._archive import UCI, codes, exactly, member
from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, Originals, one_hot

LEVELS = "box"  # an empty cell, the second player, the first player
OUTCOMES = ("win", "loss", "draw")


def build(arrays: Arrays) -> LabelledData:
    """One-hot columns, 126 in all, as on OpenML; a win of the first player is positive."""
    target = arrays["y"]
    return LabelledData(one_hot(arrays["X"], len(LEVELS)), target == 0, target=target, classes=OUTCOMES)


def convert(paths: Mapping[str, Path]) -> Arrays:
    """The archive of UCI: 42 letters in a line and the outcome, all between commas."""
    lines = member(paths["connect4.zip"], "connect-4.data").decode("ascii").splitlines()
    cells = codes("".join(line[:84:2] for line in lines), LEVELS)
    outcomes = [OUTCOMES.index(line[84:]) for line in lines]
    return {"X": cells.reshape(-1, 42), "y": exactly(outcomes, "uint8")}


DATASET = Dataset(
    build=build,
    files=(DataFile("connect4.npz", "9a3417e97c174b5d2f147178419666d3089993fac18db874e2adc42557a05c65"),),
    title="Connect-4",
    source="https://archive.ics.uci.edu/dataset/26/connect+4",
    licence="UCI Machine Learning Repository, CC BY 4.0 as stated there",
    citation="Tromp (1995)",
    positive="win; loss and draw are negative",
    kind="table",
    rows=67557,
    positives=44473,
    papers=("004",),
    originals=Originals(
        (DataFile("connect4.zip", None, f"{UCI}/26/connect+4.zip"),),
        convert,
        "caa8625d91c34755c0387a4d27c08b477d176738ba25626d9400c193dd24fe7e",
    ),
)
