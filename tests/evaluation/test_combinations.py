"""What is refused together, and the table that says so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars
import pytest

import pulens
from pulens.cli import main
from pulens.errors import PulensError
from pulens.evidence.combinations import COMBINATIONS, table_lines

ROOT = Path(__file__).parents[2]
PRIORS = {"n": 0.2, "s": 0.4}


@pytest.fixture(scope="module")
def visits() -> polars.DataFrame:
    rng = np.random.default_rng(0)
    site = rng.choice(["n", "s"], 800)
    positive = rng.random(800) < np.where(site == "n", 0.2, 0.4)
    labels = positive & (rng.random(800) < 0.5)
    scores = rng.normal(1.5 * positive)
    return polars.DataFrame(
        {
            "score": scores,
            "b": scores + rng.normal(size=800),
            "label": labels * 1,
            "site": site,
            "who": rng.integers(0, 60, 800),
        }
    )


def test_the_page_about_limits_prints_the_table():
    page = (ROOT / "docs" / "concepts" / "limits.md").read_text()
    assert "\n".join(table_lines()) in page


def test_no_other_place_refuses_a_combination():
    """Whoever refuses one of these asks the table for its words, and all of the table is asked for.

    Parts of a design are checked against one another by the design itself; what a function adds, such as bounds, it
    names when it asks.
    """
    parts = {"cells", "clusters", "segments", "queries", "reviews", "noise"}
    named, added = set(), set()
    for path in (ROOT / "src" / "pulens").rglob("*.py"):
        text = path.read_text()
        if path.parent.name != "evidence":
            if "refuse_together" in text:
                named |= set(re.findall(r'"((?:cells|clusters|practice|reviews)-[a-z-]+)"', text))
            added |= set(re.findall(r'\.(?:check|refused_beside)\("([a-z-]+)"', text))
    assert named <= set(COMBINATIONS)
    for which in set(COMBINATIONS) - named:
        assert set(which.split("-", 1)) <= parts | added, which


def refused(which: str):
    words = f"{COMBINATIONS[which].this} cannot be combined with {COMBINATIONS[which].beside}".replace("`", "")
    return pytest.raises(PulensError, match=re.escape(words))


def test_each_combination_of_the_table_is_refused_in_its_words(visits, tmp_path, capsys):
    within = pulens.evaluate(visits, class_prior=PRIORS, labelled_within="site", threshold=1.0, labelling="random")
    for ask in (
        lambda: within.sensitivity("recall", factor=2),
        lambda: within.sensitivity_curve("recall"),
        lambda: within.robustness("recall > 0.5"),
    ):
        with refused("cells-sensitivity"):
            ask()
    with refused("cells-bounds"):
        within.bounds()
    by_half = visits.with_columns(half=polars.col("who") % 2)
    segments = pulens.evaluate_by(
        by_half, "half", labelled_within="site", class_prior={0: PRIORS, 1: PRIORS}, threshold=1.0, metrics=["recall"]
    )
    with refused("cells-gaps"):
        segments.gaps("recall")
    with refused("clusters-bounds"):
        pulens.bounds(visits, class_prior=0.3, cluster="who")
    with refused("clusters-watch"):
        pulens.watch({"before": visits}, {"after": visits}, cluster="who")
    visits.write_csv(tmp_path / "visits.csv")
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "evaluate",
                "--labelling",
                "random",
                str(tmp_path / "visits.csv"),
                "--group-by",
                "site",
                "--reviewed-above",
                "1",
            ]
        )
    assert ended.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "checked rows (--reviews) cannot be combined with segments (--group-by)" in told


def test_the_top_of_the_list_works_within_cells(visits):
    within = pulens.evaluate(visits, class_prior=PRIORS, labelled_within="site", threshold=1.0, labelling="random")
    top = within.top(100)
    cut = np.sort(visits["score"].to_numpy())[-100]
    hits = held = 0.0
    for site, prior in PRIORS.items():
        own = visits.filter(polars.col("site") == site)
        labelled = own.filter(polars.col("label") == 1)["score"].to_numpy()
        held += prior * own.height
        hits += prior * own.height * (labelled >= cut).mean()
    assert top["recall_at_k"].value == pytest.approx(hits / held, abs=1e-9)
    assert top["recall_at_k"].interval.low < hits / held < top["recall_at_k"].interval.high
    assert top.labelled == int((visits.filter(polars.col("label") == 1)["score"].to_numpy() >= cut).sum())
    together = pulens.evaluate(
        visits, class_prior=PRIORS, labelled_within="site", threshold=1.0, cluster="who", labelling="random"
    )
    assert together.top(100)["recall_at_k"].interval is not None
