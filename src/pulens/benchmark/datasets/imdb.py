"""IMDb: film reviews as sentence vectors of 384 numbers (all-MiniLM-L6-v2, unit length)."""

from __future__ import annotations

from pulens.benchmark.datasets._dataset import Arrays, DataFile, Dataset, LabelledData


def build(arrays: Arrays) -> LabelledData:
    """Favourable reviews are positive; the official split."""
    return LabelledData(
        arrays["X_train"],
        arrays["y_train"] == 1,
        arrays["X_test"],
        arrays["y_test"] == 1,
        target=arrays["y_train"],
        target_test=arrays["y_test"],
        classes=tuple(arrays["classes"].tolist()),
    )


DATASET = Dataset(
    build=build,
    files=(DataFile("imdb_minilm.npz", "ab9802f1e65ca09007ed6efe90353a47bb21834c7c03484239dd1257b5eafc7e"),),
    title="IMDb (MiniLM vectors)",
    source="https://ai.stanford.edu/~amaas/data/sentiment, through sentence-transformers/all-MiniLM-L6-v2",
    licence="none stated",
    citation="Maas et al. (2011)",
    positive="favourable reviews",
    kind="text",
    rows=50000,
    positives=25000,
    papers=("004",),
    unpublished=(
        "This file of sentence vectors was made for the figures of this project and is not published. The texts are: "
        "the documentation's page on data says how to make vectors of them and use those as a data set of your own."
    ),
)
