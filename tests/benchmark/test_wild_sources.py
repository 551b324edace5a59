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


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_makers_files_give_the_prepared_arrays(name, shared, tmp_path, monkeypatch):
    """Runs where the originals are in PULENS_ORIGINALS, a folder of files by name."""
    import os

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
