"""No command takes away what somebody had: inputs, other people's files, models, the folder one stands in."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pulens.atomic_write import whole_folder
from pulens.cli import main
from pulens.errors import InputError, PulensError

ROWS = [(i / 200, (i * 7 % 200) / 200, int(i > 150 and i % 2)) for i in range(200)]
TABLE = "score,other,label\n" + "".join(f"{a},{b},{label}\n" for a, b, label in ROWS)
EVALUATE = ["--class-prior", "0.3", "--quiet"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(TABLE)
    (tmp_path / "days").mkdir()
    for day in "ab":
        (tmp_path / "days" / f"{day}.csv").write_text(TABLE)
    with closing(sqlite3.connect("db.sqlite")) as database, database:
        database.execute("create table t (score real, label integer)")
        database.executemany("insert into t values (?, ?)", [(a, label) for a, _, label in ROWS])
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["tally", "scores.csv", "-o", "scores.csv"],
        ["tally", "scores.csv", "-o", "./days/../scores.csv"],
        ["evaluate", "--labelling", "random", "days", *EVALUATE, "--json", "days/a.csv"],
        ["evaluate", "--labelling", "random", "days", *EVALUATE, "--json", "days/new.csv"],
        ["evaluate", "--labelling", "random", "days/*.csv", *EVALUATE, "--json", "days/a.csv"],
        ["evaluate", "--labelling", "random", "days/*.csv", *EVALUATE, "--json", "days/new.csv"],
        ["evaluate", "--labelling", "random", "sqlite:///db.sqlite", "--table", "t", *EVALUATE, "--json", "db.sqlite"],
        ["compare", "days/*.csv", "--score", "score", "--score", "other", *EVALUATE, "--html", "days/b.csv"],
    ],
)
def test_no_output_is_one_of_the_inputs_or_lies_among_them(words, here, capsys):
    before = contents(here)
    assert "read" in refused(words, capsys)
    assert contents(here) == before


def test_a_merged_tally_never_replaces_a_part(here, capsys):
    for name in ("one", "two"):
        main(["tally", "scores.csv", "-o", f"{name}.tally"])
    before = contents(here)
    assert "read" in refused(["merge", "one.tally", "two.tally", "--allow-repeats", "-o", "two.tally"], capsys)
    assert contents(here) == before


def test_a_page_may_be_written_beside_the_files_that_are_read(here):
    main(["evaluate", "--labelling", "random", "days", *EVALUATE, "--html", "days/page.html"])
    assert (here / "days" / "page.html").exists()


def test_an_empty_name_is_no_folder(here, capsys):
    assert "the name of the file is empty" in refused(["evaluate", "--labelling", "random", "", *EVALUATE], capsys)


@pytest.mark.parametrize("address", ["sqlite:///missing.sqlite", "sqlite+pysqlite:///missing.sqlite"])
def test_a_database_that_is_not_there_is_not_created(address, here, capsys):
    assert "there is no such file" in refused(
        ["evaluate", "--labelling", "random", address, "--table", "t", *EVALUATE], capsys
    )
    assert not (here / "missing.sqlite").exists()


def test_nothing_secret_of_an_address_is_shown_or_stored(here, capsys):
    main(["tally", "sqlite:///db.sqlite?timeout=7123", "--table", "t", "-o", "t.tally"])
    import pyarrow.parquet

    told = pyarrow.parquet.read_schema("t.tally").metadata[b"pulens"].decode()
    assert "sqlite:///db.sqlite" in told
    assert "7123" not in told
    words = refused(
        ["evaluate", "--labelling", "random", "sqlite:///db.sqlite?timeout=7123", "--table", "nothing", *EVALUATE],
        capsys,
    )
    assert "7123" not in words
    address = "postgresql://me:hunter2@127.0.0.1:1/db?password=hunter3&connect_timeout=2"
    words = refused(["evaluate", "--labelling", "random", address, "--table", "t", *EVALUATE], capsys)
    assert "127.0.0.1" in words
    assert "hunter" not in words


def test_a_folder_is_replaced_whole_and_other_folders_stay(tmp_path):
    (tmp_path / "other").mkdir()
    for words in ("old", "new"):
        with whole_folder(tmp_path / "model") as made:
            (made / "a").write_text(words)
    assert (tmp_path / "model" / "a").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "other"]


def test_a_failure_while_writing_a_folder_leaves_the_old_one(tmp_path):
    with whole_folder(tmp_path / "model") as made:
        (made / "a").write_text("old")

    def fails():
        with whole_folder(tmp_path / "model") as made:
            (made / "a").write_text("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert contents(tmp_path) == {str(tmp_path / "model" / "a"): b"old"}


def test_a_failure_while_folders_are_swapped_leaves_the_old_one(tmp_path, monkeypatch):
    with whole_folder(tmp_path / "model") as made:
        (made / "a").write_text("old")
    replace, calls = Path.replace, []

    def fails_once(self, target):
        calls.append(target)
        if len(calls) == 2:  # the old folder is aside, the new one not yet in its place
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr("pulens.atomic_write._exchange", lambda one, other: False)  # a disk that needs two steps
    monkeypatch.setattr(Path, "replace", fails_once)
    with pytest.raises(PulensError, match="No space left"), whole_folder(tmp_path / "model") as made:
        (made / "a").write_text("new")
    assert contents(tmp_path) == {str(tmp_path / "model" / "a"): b"old"}


@pytest.mark.parametrize("out", [".", "../model", "..", "./"])
def test_the_folder_one_stands_in_is_never_replaced(out, here, monkeypatch, capsys):
    """`cd model && pulens train ../d.csv --out .` once emptied the folder."""
    model = here / "model"
    model.mkdir()
    (model / "learner.json").write_text("{}")
    (model / "weights.safetensors").write_text("old")
    monkeypatch.chdir(model)
    before = contents(here)
    words = refused(["train", "../scores.csv", "--method", "elkan_noto", "--out", out], capsys)
    assert "the folder you are in" in words
    assert contents(here) == before


def test_training_into_a_folder_with_other_files_loses_none_of_them(here, capsys):
    model = here / "model"
    model.mkdir()
    (model / "learner.json").write_text("{}")
    (model / "notes.txt").write_text("three years of notes")
    before = contents(here)
    words = refused(["train", "scores.csv", "--method", "elkan_noto", "--out", "model"], capsys)
    assert "'notes.txt'" in words
    assert contents(here) == before


def test_scores_are_not_written_into_the_model_that_is_read(here, capsys):
    (here / "model").mkdir()
    (here / "model" / "learner.json").write_text("{}")
    words = refused(["score", "model", "scores.csv", "--out", "model/scores.csv"], capsys)
    assert "lies in 'model'" in words


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    pytest.importorskip("torch")
    from pulens.learners import NNPU

    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [60, 140])
    features = rng.normal(size=(200, 2)) + 4 * (np.arange(200) < 100)[:, None]
    folder = tmp_path_factory.mktemp("saved") / "model"
    learner = NNPU(class_prior=0.3, backbone="linear", epochs=40, learning_rate=0.1, standardise=True, device="cpu")
    learner.set_params(scenario="case-control", random_state=0, progress=False).fit(features, labels).save(folder)
    return folder


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cut_", float("nan"), "cut_"),
        ("deviation_", [0.0, 1.0], "deviation_ holds 0.0"),
        ("mean_", [1.0], "mean_ is not 2 finite numbers"),
    ],
)
def test_a_saved_model_that_would_score_nan_is_called_damaged(name, value, words, saved, tmp_path):
    import shutil

    from pulens.learners import load

    folder = Path(shutil.copytree(saved, tmp_path / "model"))
    facts = json.loads((folder / "learner.json").read_text())
    assert name in facts["fitted"]
    facts["fitted"][name] = value
    (folder / "learner.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match=words):
        load(folder)


@pytest.mark.torch
def test_a_saved_model_with_weights_that_are_no_numbers_is_called_damaged(saved, tmp_path):
    import shutil

    import torch
    from pulens.learners import load
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(saved, tmp_path / "model"))
    weights = load_file(str(folder / "weights.safetensors"))
    first = next(iter(weights))
    save_file({**weights, first: torch.full_like(weights[first], torch.nan)}, str(folder / "weights.safetensors"))
    with pytest.raises(InputError, match="not finite"):
        load(folder)
