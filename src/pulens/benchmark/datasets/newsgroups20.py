"""20 Newsgroups: posts as sentence vectors of 384 numbers (all-MiniLM-L6-v2, unit length)."""

from __future__ import annotations

import numpy as np

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData

POSITIVE = ("alt", "comp", "misc", "rec")


def build(arrays: Arrays) -> LabelledData:
    """Topics alt, comp, misc and rec are positive, as in paper 004; the official split by date."""
    classes = tuple(arrays["classes"].tolist())
    positive = [place for place, topic in enumerate(classes) if topic.split(".")[0] in POSITIVE]
    return LabelledData(
        arrays["X_train"],
        np.isin(arrays["y_train"], positive),
        arrays["X_test"],
        np.isin(arrays["y_test"], positive),
        target=arrays["y_train"],
        target_test=arrays["y_test"],
        classes=classes,
    )


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
    unpublished=(
        "This file of sentence vectors was made for the figures of this project and is not published. The texts are: "
        "the documentation's page on data says how to make vectors of them and use those as a data set of your own."
    ),
)
