"""20 Newsgroups: posts as sentence vectors of 384 numbers (all-MiniLM-L6-v2, unit length)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pulens.research.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData, official_split
from pulens.research.benchmark.datasets._fetch import read_parquet
from pulens.research.benchmark.datasets._vectors import PARTS, Texts, TextVectors

POSITIVE = ("alt", "comp", "misc", "rec")
CLASSES = (
    *("alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    *("comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey"),
    *("sci.crypt", "sci.electronics", "sci.med", "sci.space", "soc.religion.christian", "talk.politics.guns"),
    *("talk.politics.mideast", "talk.politics.misc", "talk.religion.misc"),
)


def build(arrays: Arrays) -> LabelledData:
    """Topics alt, comp, misc and rec are positive, as in PU-Bench; the official split by date."""
    classes = tuple(arrays["classes"].tolist())
    positive = [place for place, topic in enumerate(classes) if topic.split(".")[0] in POSITIVE]
    return official_split(arrays, positive, classes=classes)


def read_texts(place: Path | None) -> Texts:
    """Posts with headers, quotes and footers: from a Parquet file (text, label, split), or as scikit-learn has them."""
    if place is not None:
        posts = read_parquet(place).to_pylist()  # an array of words would give every post the room of the longest
        chosen = {part: [post for post in posts if post["split"] == part] for part in PARTS}
        return {
            part: ([post["text"] for post in own], np.array([post["label"] for post in own], np.uint8))
            for part, own in chosen.items()
        }
    from sklearn.datasets import fetch_20newsgroups

    result = {part: fetch_20newsgroups(subset=part) for part in PARTS}
    return {part: (one.data, one.target.astype(np.uint8)) for part, one in result.items()}


DATASET = Dataset(
    build=build,
    files=(DataFile("newsgroups20_minilm.npz", "4ae5bc8f4dbc9734c6b28d5b0286ecc1e9f665935a52c78f5cf40a19203fd859"),),
    title="20 Newsgroups (MiniLM vectors)",
    source="http://qwone.com/~jason/20Newsgroups, through sentence-transformers/all-MiniLM-L6-v2",
    licence="none stated by the collector (UCI lists CC BY 4.0)",
    citation="Lang (1995)",
    positive="topics alt, comp, misc, rec; sci, soc and talk are negative",
    kind="text",
    rows=18846,
    positives=10644,
    papers=("000", "004"),
    vectors=TextVectors(
        read_texts,
        "newsgroups20_minilm_made.npz",
        "cdb686fa5ba8e34d035aa3e1c6934bde857a7f55cf175a6543d707d109273527",
        CLASSES,
    ),
)
