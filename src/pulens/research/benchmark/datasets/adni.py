"""ADNI: brain scans in four stages of dementia, from a folder of pictures that the user has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from pulens.errors import MissingDependencyError
from pulens.research.benchmark.datasets._dataset import Arrays, Dataset, LabelledData
from pulens.research.benchmark.datasets._fetch import DataUnavailableError

STAGES = ("NonDemented", "VeryMildDemented", "ModerateDemented", "MildDemented")
FOLDER = "PULENS_ADNI"
SIDE = 128
PARTS = ("train", "test")


def read(folder: str | None = None) -> dict[str, Any]:
    """Grey pictures of 128 x 128 from one folder per stage, in the order of their names.

    The stages may lie in two folders, train and test: the test pictures are then the official test rows.
    """
    place = folder or os.environ.get(FOLDER)
    if not place or not Path(place).is_dir():
        raise DataUnavailableError(
            f"adni: these pictures may not be passed on. Say where your copy is: load('adni', folder=...) or the "
            f"variable {FOLDER}, a folder that holds {', '.join(STAGES)}, or train and test with these in each; got "
            f"{place!r}."
        )
    parts = {path.name.lower(): path for path in Path(place).iterdir() if path.name.lower() in PARTS and path.is_dir()}
    if not parts:
        return dict(zip(("X", "y"), _pictures(Path(place)), strict=True))
    lacking = [part for part in PARTS if part not in parts]
    if lacking or any((Path(place) / stage).exists() for stage in STAGES):
        problem = f"there is no folder {lacking[0]!r} next to it" if lacking else "stages lie next to it"
        raise DataUnavailableError(f"adni: {str(place)!r} has the folder {min(parts)!r}, but {problem}.")
    arrays = {}
    for part, ending in zip(PARTS, ("", "_test"), strict=True):
        arrays[f"X{ending}"], arrays[f"y{ending}"] = _pictures(parts[part])
    return arrays


def _pictures(place: Path) -> tuple[Any, Any]:
    """Pictures and stages of one folder."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError("Pillow", purpose="reading the ADNI pictures", extra="bench") from error
    pictures, stages = [], []
    for stage, name in enumerate(STAGES):
        files = sorted(path for path in (place / name).glob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
        if not files:
            raise DataUnavailableError(f"adni: there is no picture in {str(place / name)!r}.")
        for path in files:
            with Image.open(path) as picture:
                grey = picture.convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
                pictures.append(np.asarray(grey))
            stages.append(stage)
    return np.stack(pictures)[:, None], np.array(stages, np.uint8)


def build(arrays: Arrays) -> LabelledData:
    """Not demented is positive, as in PU-Bench; pictures of one channel, bytes."""
    test = arrays.get("y_test")
    return LabelledData(
        arrays["X"],
        arrays["y"] == 0,
        arrays.get("X_test"),
        None if test is None else test == 0,
        target=arrays["y"],
        target_test=test,
        classes=STAGES,
        scale=(127.5, 1.0),
    )


DATASET = Dataset(
    build=build,
    read=read,
    options={"folder": None},
    where=("folder",),
    title="ADNI (Alzheimer MRI, four classes)",
    source="https://adni.loni.usc.edu, on application",
    licence="data use agreement of ADNI: may not be redistributed",
    citation="Jack et al. (2008)",
    positive="not demented",
    kind="picture",
    rows=6400,
    positives=3200,
    papers=("004",),
)
