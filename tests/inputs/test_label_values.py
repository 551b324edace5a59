"""A label value that no row has is answered with those that there are."""

from __future__ import annotations

import polars
import pytest

import pulens
from pulens.cli import main

ROWS = {"score": [0.9, 0.8, 0.2, 0.1], "label": ["fraud confirmed", "paid", "", "paid"], "other": [1, 2, 3, 4]}
SAID = "no label is 'fraud': column 'label' holds 'paid' (2), 'fraud confirmed' (1), empty (1)."


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_the_values_and_the_likely_one_are_named(kind, tmp_path):
    """It used to say only that there is no labelled positive, although it knew the values."""
    table = polars.DataFrame(ROWS)
    table.write_csv(tmp_path / "claims.csv")
    source = table if kind == "frame" else str(tmp_path / "claims.csv")
    with pytest.raises(pulens.PulensError) as caught:
        pulens.evaluate(source, positive="fraud")
    assert str(caught.value) == f"{SAID} Did you mean 'fraud confirmed'?"
    with pytest.raises(pulens.PulensError, match="Did you mean 'fraud confirmed'"):
        pulens.compare(source, score=["score", "other"], positive="fraud", labelling="random")


def test_labels_given_as_an_array_are_named_too():
    with pytest.raises(pulens.PulensError, match="the labels hold 'paid' "):
        pulens.evaluate(ROWS["label"], ROWS["score"], positive="fraud")


def test_the_command_says_it_in_one_line(tmp_path, capsys):
    polars.DataFrame(ROWS).write_csv(tmp_path / "claims.csv")
    with pytest.raises(SystemExit):
        main(["evaluate", str(tmp_path / "claims.csv"), "--positive", "fraud"])
    assert capsys.readouterr().err == f"pulens: {SAID} Did you mean 'fraud confirmed'?\n"
