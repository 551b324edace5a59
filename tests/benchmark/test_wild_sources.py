"""Real labels from the makers' files: the same arrays as the prepared ones, and licences told before fetching."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pulens.research.benchmark import wild_sources
from pulens.research.benchmark.wild_sources import SOURCES, WildSource, fetch_wild


def test_a_prepared_file_of_the_mirror_is_taken_and_nothing_is_fetched(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror" / "wild"
    mirror.mkdir(parents=True)
    np.savez(mirror / "swiss_tits.npz", worlds=json.dumps([]))
    monkeypatch.setenv("PULENS_MIRROR", str(mirror.parent))
    monkeypatch.setattr(wild_sources, "fetch", None)
    told = []
    assert (
        fetch_wild("swiss_tits", tmp_path / "own", told.append).read_bytes() == (mirror / "swiss_tits.npz").read_bytes()
    )
    assert not told


def test_the_licence_is_told_before_anything_is_fetched(tmp_path, monkeypatch):
    monkeypatch.delenv("PULENS_MIRROR", raising=False)
    told = []

    def fetch(file):
        assert told, "fetched before the licence was told"
        return tmp_path / file.name

    files = SOURCES["swiss_tits"].files
    made = WildSource("A", "B", "CC BY-NC 4.0.", files, lambda paths: {"names": np.array(sorted(paths))}, False)
    monkeypatch.setitem(SOURCES, "made", made)
    monkeypatch.setattr(wild_sources, "fetch", fetch)
    with np.load(fetch_wild("made", tmp_path, told.append)) as stored:
        assert stored["names"].tolist() == ["SwissTits.rda"]
    assert "CC BY-NC 4.0. Not for commercial use." in told[0]


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_source_pins_its_files(name):
    for file in SOURCES[name].files:
        assert len(file.sha256) == 64
        commit = file.url.split("/")[5]
        assert len(commit) == 40, "a file of a branch would change under its checksum"
        assert int(commit, 16)


def test_seen_at_the_first_visit_is_labelled_and_ever_seen_is_positive():
    visits = np.array([[1, 0, np.nan], [0, 0, 2], [0, 0, 0], [3, 1, 1]])
    arrays = wild_sources._first_visit("f", np.zeros((4, 1)), {"Red Kite": visits}, [0, 0, 1, 1], prefix="mhb")
    assert arrays["mhb-Red_Kite-labelled"].tolist() == [1, 0, 0, 1]
    assert arrays["mhb-Red_Kite-truth"].tolist() == [1, 1, 0, 1]
    (world,) = json.loads(str(arrays["worlds"]))
    assert world["scenario"] == "single-set"
    assert world["group"] == "group"
    none = wild_sources._first_visit("f", np.zeros((4, 1)), {"Rare": visits}, fewest=3, prefix="mhb")
    assert json.loads(str(none["worlds"])) == []


def test_signals_confirmed_early_are_labelled_and_confirmed_late_positive(tmp_path):
    """Undecided signals are left out, logarithms are cut at the least value, and stars keep their planets together."""
    fields = ["kepid", "kepoi_name", "koi_disposition", *wild_sources.IN_2013]
    fields += [name for name in wild_sources.IN_2019 if name not in fields]
    early = [(7, "a", "CONFIRMED"), (7, "b", "CANDIDATE"), (3, "c", "CANDIDATE"), (5, "d", "CANDIDATE")]
    late = [(7, "a", "CONFIRMED"), (7, "b", "CONFIRMED"), (3, "c", "FALSE POSITIVE"), (5, "d", "CANDIDATE")]
    paths = {}
    for year, rows in (("2013", early), ("2019", early), ("2025", late)):
        lines = ["# a comment of the archive", ",".join(fields)]
        for star, name, verdict in rows:
            values = {"koi_period": "0" if name == "a" else "10", "koi_impact": "" if name == "b" else "0.5"}
            own = [values.get(field, "1") for field in fields[3:]]
            lines.append(",".join([str(star), name, verdict, *own]))
        paths[f"koi_{year}.csv"] = tmp_path / f"koi_{year}.csv"
        paths[f"koi_{year}.csv"].write_text("\n".join(lines) + "\n", encoding="utf-8")
    arrays = wild_sources.kepler(paths)
    assert arrays["koi-2013-labelled"].tolist() == [1, 0, 0]
    assert arrays["koi-2013-truth"].tolist() == [1, 1, 0]
    assert arrays["koi-2013-group"].tolist() == [7, 7, 3]
    columns = dict(zip(arrays["koi-2013-names"].tolist(), arrays["koi-2013-X"].T, strict=True))
    np.testing.assert_allclose(columns["koi_period"], np.log([1e-6, 10, 10]), rtol=1e-6)
    np.testing.assert_array_equal(columns["koi_impact"], np.array([0.5, np.nan, 0.5], np.float32))
    assert columns["n_in_system"].tolist() == [2, 2, 1]
    assert [world["scenario"] for world in json.loads(str(arrays["worlds"]))] == ["single-set", "single-set"]


def test_chosen_coats_rated_high_are_labelled_and_drawn_coats_are_not(tmp_path):
    rng = np.random.default_rng(0)
    tables = {
        "train": rng.integers(0, 6, (12, 15)),
        "test": rng.integers(0, 6, (12, 15)) * (rng.random((12, 15)) < 0.3),
        "user": rng.integers(0, 2, (12, 6)),
        "item": rng.integers(0, 2, (15, 9)),
    }
    paths = {}
    for name, table in tables.items():
        paths[f"coat_{name}.ascii"] = tmp_path / f"coat_{name}.ascii"
        np.savetxt(paths[f"coat_{name}.ascii"], table, fmt="%d")
    arrays = wild_sources.coat(paths)
    labelled, truth = arrays["coat-rating-4-labelled"], arrays["coat-rating-4-truth"]
    drawn = tables["test"][tables["test"] > 0]
    assert labelled.sum() == (tables["train"] >= 4).sum()
    assert truth[labelled == 1].all()
    assert truth[labelled == 0].tolist() == (drawn >= 4).tolist()
    assert arrays["coat-rating-4-X"].shape == (labelled.size, 6 + 9 + wild_sources.SHARED_TASTES)
    assert {world["scenario"] for world in json.loads(str(arrays["worlds"]))} == {"case-control"}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_makers_files_give_the_prepared_arrays(name, shared, tmp_path, monkeypatch):
    """Runs where the originals are in PULENS_ORIGINALS, a folder of files by name."""
    import os

    if any(file.name.endswith((".rda", ".rds")) for file in SOURCES[name].files):
        pytest.importorskip("rdata", reason="R files: pip install 'pulens[wild]'")
    originals = os.environ.get("PULENS_ORIGINALS")
    if not originals or not (shared / "data" / "wild").is_dir():
        pytest.skip("the makers' files are fetched from the network: name their folder in PULENS_ORIGINALS")
    monkeypatch.setenv("PULENS_MIRROR", originals)
    monkeypatch.setenv("PULENS_DATA_HOME", str(tmp_path / "cache"))
    with np.load(fetch_wild(name, tmp_path)) as made, np.load(shared / "data" / "wild" / f"{name}.npz") as known:
        assert sorted(made.files) == sorted(known.files)
        assert json.loads(str(made["worlds"])) == json.loads(str(known["worlds"]))
        for key in set(known.files) - {"worlds"}:
            np.testing.assert_array_equal(made[key], known[key])
