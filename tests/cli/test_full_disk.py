"""A disk that is really full: a sentence and exit code 2, the old files whole, nothing half-written beside them.

Each command runs with no room at all, then with a page, four, sixteen, ... until what it writes fits.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from command_lines import EVALUATE
from pulens.cli import main
from small_disk import PAGE, SIZE, small_disk

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="commands on the small disk are forked")

JUDGE = ["--class-prior", "0.3", "--scenario", "case-control", "--quiet"]
TRAIN = ["--class-prior", "0.3", "--scenario", "case-control"]
NETWORK = ["--backbone", "linear", "--set", "epochs=2", "--set", "progress=false", "--device", "cpu"]
FEW = ["--redraws", "100"]
MODELS = ["--score", "score", "--score", "other"]
COMMANDS = {
    "evaluate": [*EVALUATE, "ROWS", *JUDGE, *FEW, "--html", "a.html", "--json", "a.json", "--markdown", "a.md"],
    "evaluate segments": [*EVALUATE, "ROWS", *JUDGE, "--group-by", "site", "--same-prior", "--json", "a.json"],
    "compare": ["compare", "ROWS", *JUDGE, *FEW, *MODELS, "--html", "a.html", "--json", "a.json"],
    "calibrate": ["calibrate", "ROWS", *JUDGE, "--fit", "platt", "--out", "a.csv", "--html", "a.html"],
    "calibrate to Parquet": ["calibrate", "ROWS", *JUDGE, "--fit", "platt", "--out", "a.parquet", "--json", "a.json"],
    "prior": ["prior", "ROWS", "--plot", "a.png", "--json", "a.json"],
    "tally": ["tally", "ROWS", "-o", "a.tally"],
    "merge": ["merge", "ONE", "OTHER", "-o", "a.tally"],
    "audit": ["audit", "plan", "ROWS", "--threshold", "0.5", "--budget", "50", "--quiet", "--out", "a.csv"],
    "fit": [
        *("fit", "ROWS", *JUDGE, *FEW, "--method", "elkan_noto", "--folds", "2"),
        *("--html", "a.html", "--json", "a.json", "--scores", "a.csv", "--column", "chance"),
    ],
    "score": ["score", "MODEL", "ROWS", "--out", "a.csv"],
    "score to Arrow": ["score", "MODEL", "ROWS", "--label", "label", "--out", "a.arrow"],
    "synthesise": [
        *("synthesise", "ROWS", "--target", "site", "--positive", "north", "--label", "marked"),
        *("--out", "a.parquet", "--truth", "a.csv", "--json", "a.json"),
    ],
}


def rows(seed: int) -> str:
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [60, 140])
    scores = 1 / (1 + np.exp(-rng.normal(size=200) - 2 * (np.arange(200) < 100)))
    others = rng.random(200)
    sites = np.array(["north", "south"])[np.arange(200) % 2]
    return "score,other,site,label\n" + "".join(
        f"{a:.6f},{b:.6f},{site},{label}\n" for a, b, site, label in zip(scores, others, sites, labels, strict=True)
    )


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict[str, str]:
    """What commands read, on a disk with room."""
    folder = tmp_path_factory.mktemp("sources")
    places = {name: str(folder / file) for name, file in (("ROWS", "rows.csv"), ("NEW", "new.csv"), ("MODEL", "m"))}
    for name, seed in (("ROWS", 1), ("NEW", 2)):
        Path(places[name]).write_text(rows(seed))
    for name, file in (("ONE", "ROWS"), ("OTHER", "NEW")):
        places[name] = str(folder / f"{name}.tally")
        main(["tally", places[file], "-o", places[name]])
    words = ["--method", "puet", "--set", "n_estimators=2", "--feature", "score", "--feature", "other"]
    main(["train", places["ROWS"], *words, "--out", places["MODEL"], *TRAIN])
    return places


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk") as made:
        yield made


def rooms():
    """Pages that are left free: none, one, four, ... all."""
    yield 0
    pages = 1
    while pages < SIZE // PAGE:
        yield pages
        pages *= 4
    yield SIZE // PAGE


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_full_disk_old_results_stay_and_the_fault_is_named(command, disk, sources):
    words = [sources.get(word, word) for word in COMMANDS[command]]
    names = [word for word in words if word.startswith("a.")]
    names += ["a.audit.json"] if command == "audit" else []  # the plan goes beside its queue
    for name in names:
        (disk.seen / name).write_bytes(b"old")
    old = disk.contents()
    failed = 0
    for pages in rooms():
        disk.leave(pages)
        code, said = disk.run(*words)
        if code == 0:
            break
        failed += 1
        assert (code, said.count("\n")) == (2, 1), said
        assert any(said.startswith(f"pulens: {name}: cannot be written: ") for name in names), said
        assert "No space left on device" in said
        assert disk.contents() == old
    assert failed
    assert code == 0
    new = disk.contents()
    assert sorted(new) == sorted(old)
    assert all(len(content) > len(b"old") for content in new.values())


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_where_only_some_of_the_results_fit_none_is_written(command, disk, sources):
    words = [sources.get(word, word) for word in COMMANDS[command]]
    assert disk.run(*words)[0] == 0
    sizes = {name: -(-len(content) // PAGE) for name, content in disk.contents().items()}
    assert sizes["a.json"] > 3
    for name in sizes:
        (disk.seen / name).write_bytes(b"old")
    old = disk.contents()
    disk.leave(sum(sizes.values()) - sizes["a.json"] + 1)  # room for all but the JSON, which is written last
    code, said = disk.run(*words)
    assert (code, said) == (2, "pulens: a.json: cannot be written: No space left on device.\n")
    assert disk.contents() == old


@pytest.mark.parametrize("method", ["nnpu", "puet", "elkan_noto"])
def test_on_a_full_disk_the_old_model_stays(method, disk, sources):
    pytest.importorskip("torch", reason="training networks needs PyTorch: pip install 'pulens[torch]'")
    words = ["train", "--method", method, "--out", "m", *TRAIN, "--feature", "score", "--feature", "other"]
    words += NETWORK if method == "nnpu" else []
    assert disk.run(*words, sources["ROWS"])[0] == 0
    old = disk.contents()
    failed = 0
    for pages in rooms():
        disk.leave(pages)
        code, said = disk.run(*words, sources["NEW"])
        if code == 0:
            break
        failed += 1
        assert (code, said.count("\n")) == (2, 1), said
        assert said.startswith("pulens: m: cannot be written: "), said
        assert "No space left on device" in said
        assert disk.contents() == old
    assert failed
    assert code == 0
    assert sorted(disk.contents()) == sorted(old)
    assert disk.contents() != old


def test_a_disk_without_room_for_one_more_name_is_full_too(disk, sources):
    (disk.seen / "a.json").write_bytes(b"old")
    try:
        for number in range(1000):
            (disk.seen / f"other-{number}").touch()
    except OSError:
        pass
    before = disk.contents()
    code, said = disk.run("evaluate", "--labelling", "random", sources["ROWS"], *JUDGE, "--json", "a.json")
    assert code == 2
    assert said == "pulens: a.json: cannot be written: No space left on device.\n"
    assert disk.contents() == before


def test_a_benchmark_on_a_full_disk_goes_on_once_there_is_room(disk, tmp_path):
    pytest.importorskip("torch", reason="training networks needs PyTorch: pip install 'pulens[torch]'")
    pytest.importorskip("pyarrow", reason="the archive is Parquet: pip install 'pulens[bench]'")
    from pulens.research.benchmark.archive import differences, read

    words = ["bench", "run", "smoke", "--methods", "elkan_noto", "--seeds", "1", "--device", "cpu", "--archive"]
    main([*words, str(tmp_path / "whole")])
    failed = 0
    for pages in rooms():
        disk.leave(pages)
        code, said = disk.run(*words, "archive")
        assert "Traceback" not in said
        if code == 0:
            break
        failed += 1
        assert code == 2, said
        assert "No space left on device" in said
        assert not [name for name in disk.contents() if Path(name).name.startswith(".")]
        if (disk.seen / "archive" / "archive.json").exists():
            assert read(disk.seen / "archive").damaged == {}
    assert failed
    assert code == 0
    assert differences(read(tmp_path / "whole"), read(disk.seen / "archive")) == []
