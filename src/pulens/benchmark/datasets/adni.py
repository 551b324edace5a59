"""ADNI: brain scans in four stages of dementia, from a folder of pictures that the user has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from pulens.benchmark.datasets._dataset import Arrays, Dataset, LabelledData
from pulens.benchmark.datasets._fetch import DataUnavailableError
from pulens.errors import MissingDependencyError

STAGES = ("NonDemented", "VeryMildDemented", "ModerateDemented", "MildDemented")
FOLDER = "PULENS_ADNI"
SIDE = 128


def read(folder: str | None = None) -> dict[str, Any]:
    """Grey pictures of 128 x 128 from one folder per stage, in the order of their names."""
    place = folder or os.environ.get(FOLDER)
    if not place or not Path(place).is_dir():
        raise DataUnavailableError(
            f"adni: these pictures may not be passed on. Say where your copy is: load('adni', folder=...) or the "
            f"variable {FOLDER}, a folder that holds {', '.join(STAGES)}; got {place!r}."
        )
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError("Pillow", purpose="reading the ADNI pictures", extra="bench") from error
    pictures, stages = [], []
    for stage, name in enumerate(STAGES):
        files = sorted(
            path for path in (Path(place) / name).glob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png")
        )
        if not files:
            raise DataUnavailableError(f"adni: there is no picture in {str(Path(place) / name)!r}.")
        for path in files:
            with Image.open(path) as picture:
                grey = picture.convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
                pictures.append(np.asarray(grey))
            stages.append(stage)
    return {"X": np.stack(pictures)[:, None], "y": np.array(stages, np.uint8)}


def build(arrays: Arrays) -> LabelledData:
    """Not demented is positive, as in paper 004; pictures of one channel, bytes."""
    return LabelledData(arrays["X"], arrays["y"] == 0, target=arrays["y"], classes=STAGES, scale=(127.5, 1.0))


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
