"""One cut off or foreign file in an archive costs that file and nothing else: it is named, and the rest goes on."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pulens.atomic_write import whole_file
from pulens.cli import main
from pulens.errors import InputError
from pulens.research.benchmark.analyse.failures import score_view
from pulens.research.benchmark.analyse.judgement import coverage, judge
from pulens.research.benchmark.archive import Store, differences, read
from pulens.research.benchmark.archive.summary import summary_text
from pulens.research.benchmark.leaderboard.board import board
from pulens.research.benchmark.leaderboard.page_data import page_data
from pulens.research.benchmark.run import run_plan
from pulens.research.benchmark.splits import _stored_odds
from synthetic_archive import LEARNERS, make, rewritten


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def text(path: Path) -> None:
    path.write_text("no parquet at all")


def of_somebody_else(path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), path)


def of_other_types(path: Path) -> None:
    pq.write_table(pa.table({"key": [1], "status": [2.0], "choices": ["a"]}), path)


def without_status(path: Path) -> None:
    table = pq.read_table(path)
    place = table.column_names.index("status")
    pq.write_table(table.set_column(place, "status", pa.nulls(len(table), pa.string())), path)


def _with_settings(path: Path, text: str) -> None:
    table = pq.read_table(path)
    place = table.column_names.index("settings")
    pq.write_table(table.set_column(place, "settings", pa.array([text] * len(table))), path)


def with_settings_that_are_none(path: Path) -> None:
    _with_settings(path, "{")


def with_settings_without_names(path: Path) -> None:
    _with_settings(path, "[]")


def _with_first(path: Path, column: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """The file again with the first entry of a run's choices, curve or tallies changed."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[1][column][0] = change(rows[1][column][0])
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def with_a_point_that_is_none(path: Path) -> None:
    _with_first(path, "curve", lambda point: None)


def with_a_point_of_no_epoch(path: Path) -> None:
    _with_first(path, "curve", lambda point: point | {"epoch": None})


def with_a_choice_that_is_none(path: Path) -> None:
    _with_first(path, "choices", lambda choice: None)


def with_a_tally_without_bins(path: Path) -> None:
    _with_first(path, "tallies", lambda tally: tally | {"labelled": None})


def with_a_bin_without_a_count(path: Path) -> None:
    _with_first(path, "tallies", lambda tally: tally | {"labelled": [None, *tally["labelled"][1:]]})


def with_a_bin_too_few(path: Path) -> None:
    _with_first(path, "tallies", lambda tally: tally | {"labelled": tally["labelled"][1:]})


def with_an_infinite_metric(path: Path) -> None:
    _with_first(path, "choices", lambda choice: choice | {"accuracy": float("-inf")})


def with_an_infinite_label_frequency(path: Path) -> None:
    table = pq.read_table(path)
    place = table.column_names.index("label_frequency")
    pq.write_table(table.set_column(place, "label_frequency", pa.array([float("inf")] * len(table))), path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def overwritten_inside(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    path.write_bytes(bytes(content))


DAMAGES = [
    cut,
    without_end,
    emptied,
    text,
    of_somebody_else,
    of_other_types,
    without_status,
    with_settings_that_are_none,
    with_settings_without_names,
    with_a_point_that_is_none,
    with_a_point_of_no_epoch,
    with_a_choice_that_is_none,
    with_a_tally_without_bins,
    with_a_bin_without_a_count,
    with_a_bin_too_few,
    with_an_infinite_metric,
    with_an_infinite_label_frequency,
    a_folder,
    overwritten_inside,
]


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    few = {name: LEARNERS[name] for name in ("nnpu", "vpu", "lagam", "pn")}
    place = tmp_path_factory.mktemp("synthetic") / "archive"
    return make(place, learners=few, datasets={"mnist": 0.49, "spambase": 0.39}, rows=120, epochs=4).folder


@pytest.fixture(params=DAMAGES, ids=lambda damage: damage.__name__)
def hurt(request, synthetic, tmp_path):
    """An archive with one damaged file among its good ones, and the damaged file's name."""
    folder = Path(shutil.copytree(synthetic, tmp_path / "archive"))
    path = sorted((folder / "runs").glob("vpu-*.parquet"))[0]
    request.param(path)
    return folder, path.name


def test_what_is_left_is_read_and_the_file_is_named(hurt, synthetic):
    folder, name = hurt
    result = read(folder)
    assert list(result.damaged) == [name]
    whole = read(synthetic)
    assert whole.damaged == {}
    assert len(result.files) == len(whole.files) - 1
    assert len(result) == len(whole) - 3  # the three seeds of that file
    assert len(list(result.results())) == len(list(whole.results())) - 3


@pytest.mark.parametrize(
    "command", [["report", "--judge", "0"], ["judge", "--prior", "known"], ["rates"]], ids=lambda words: words[0]
)
def test_commands_go_on_without_it(command, hurt, capsys):
    folder, name = hurt
    main(["bench", command[0], str(folder), *command[1:]])
    told = capsys.readouterr()
    assert len(told.out) > 100
    assert told.err.count("\n") == 1
    assert f"{name} was left out: " in told.err
    assert len(told.err) < 500


def test_planning_names_it_too(hurt, capsys):
    folder, name = hurt
    main(["bench", "plan", "smoke", "--archive", str(folder)])
    shown = "".join(capsys.readouterr().out.split())  # broken into lines of 80 columns
    assert f"left out of {folder}: {name}: ".replace(" ", "") in shown


@pytest.mark.parametrize("damage", [cut, of_somebody_else, a_folder], ids=lambda damage: damage.__name__)
def test_a_run_does_again_what_was_lost(damage, smoke, undisturbed, tmp_path, capsys):
    folder = Path(shutil.copytree(undisturbed.folder, tmp_path / "archive"))
    path = sorted((folder / "runs").glob("vpu-*.parquet"))[0]
    damage(path)
    (folder / "runs" / "foreign.parquet").write_text("somebody's notes")
    if damage is a_folder:
        path.rename(folder / "runs" / "odd.parquet")
    summary = run_plan(smoke, folder)
    assert (summary.done, summary.failed, summary.left) == (20, 0, 0)
    assert summary.added > 0
    assert "foreign.parquet" in summary.damaged
    assert path.name not in summary.damaged  # it was replaced by a whole one
    assert differences(undisturbed, read(folder)) == []
    main(["bench", "run", "smoke", "--archive", str(folder)])
    told = capsys.readouterr()
    assert "foreign.parquet was left out" in told.err
    assert "20 of 20 runs done; 0 in this call" in told.out


def test_a_damaged_file_that_somebody_else_replaces_is_seen(synthetic, tmp_path):
    folder = Path(shutil.copytree(synthetic, tmp_path / "archive"))
    path = sorted((folder / "runs").glob("vpu-*.parquet"))[0]
    content, store = path.read_bytes(), Store(folder).open()
    everything = store.finished()
    cut(path)
    again = Store(folder).open()
    assert len(again.finished()) == len(everything) - 3
    assert path.name in again.damaged
    path.write_bytes(content)
    assert again.finished() == everything
    assert again.damaged == {}


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000, '{"pulens_benchmark": 99}'])
def test_an_archive_with_another_description_is_refused_in_words(text, synthetic, tmp_path, capsys):
    folder = Path(shutil.copytree(synthetic, tmp_path / "archive"))
    (folder / "archive.json").write_text(text)
    with pytest.raises(SystemExit) as end:
        main(["bench", "report", str(folder)])
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"text", "short", "objects", "lie"])
def test_a_damaged_cache_is_computed_anew(content, tmp_path):
    place = tmp_path / "odds.npy"
    np.save(place, np.arange(5.0))
    assert _stored_odds(place, 5) is not None
    if isinstance(content, bytes):
        place.write_bytes(content)
    elif content == "short":
        np.save(place, np.arange(4.0))
    elif content == "objects":
        np.save(place, np.array([{}, 1]), allow_pickle=True)
    else:
        with place.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (5,)})
    assert _stored_odds(place, 5) is None
    assert _stored_odds(tmp_path / "none.npy", 5) is None


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in (folder / "runs").glob(".*")]


@pytest.mark.parametrize("jump", [-1e9, 4000.0, 1e9])
def test_a_clock_that_jumps_does_not_sweep_what_is_being_written(jump, tmp_path, monkeypatch):
    folder = tmp_path / "archive"
    writer = Store(folder).open()
    with whole_file(folder / "runs" / "a.parquet") as temporary:
        temporary.write_bytes(b"half")
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + jump)
        os.utime(temporary, (now - abs(jump), now - abs(jump)))
        Store(folder).open().close()
        assert temporary.exists()
    assert (folder / "runs" / "a.parquet").read_bytes() == b"half"
    writer.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this test kills a process")
def test_what_a_killed_runner_left_is_swept_at_once_however_young(tmp_path):
    folder = tmp_path / "archive"
    child = os.fork()
    if child == 0:
        Store(folder).open()
        with whole_file(folder / "runs" / "a.parquet"):
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(leftovers(folder)) == 1
    alive = Store(folder).open()
    assert leftovers(folder) == []
    alive.close()
    assert json.loads((folder / "archive.json").read_text()) == {"pulens_benchmark": 2}


def test_a_place_where_no_archive_can_be_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "archive", tmp_path / ("a" * 300)):
        with pytest.raises(SystemExit) as end:
            main(["bench", "run", "smoke", "--archive", str(place)])
        assert end.value.code == 2
        assert "cannot be written: " in capsys.readouterr().err


def test_a_full_disk_while_running_is_a_sentence_and_the_next_run_goes_on(smoke, tmp_path, capsys):
    resource = pytest.importorskip("resource", reason="a limit on files stands in for a full disk")
    folder, limits = tmp_path / "archive", resource.getrlimit(resource.RLIMIT_FSIZE)
    words = ["bench", "run", "smoke", "--learners", "elkan_noto", "--seeds", "1", "--archive", str(folder)]
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))  # the protocol fits, a result does not
    try:
        with pytest.raises(SystemExit) as end:
            main(words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert end.value.code == 2
    assert "cannot be written: " in capsys.readouterr().err
    assert list((folder / "runs").iterdir()) == []
    main(words)
    assert "2 of 2 runs done; 2 in this call" in capsys.readouterr().out


def test_runs_whose_mechanism_has_no_alias_are_judged_under_its_name(synthetic, tmp_path, capsys):
    def change(row):
        return row | {"mechanism_alias": None, "needs_support": None} if row["learner"] == "vpu" else row

    hurt = rewritten(read(synthetic), tmp_path / "archive", change)
    main(["bench", "judge", str(hurt.folder), "--prior", "known", "--json", "-"])
    told = json.loads(capsys.readouterr().out)["95% intervals from PU labels of the test rows"]
    assert {row["mechanism_alias"] for row in told} == {"S1", "scar"}
    judged = judge(hurt, metrics=["recall"], redraws=100)
    assert [row["needs_support"] for row in coverage(judged, ["needs_support"])] == [False, True, None]


def test_a_summary_counts_what_a_run_does_not_say_as_no(synthetic, tmp_path):
    def change(row):
        return row | {"uses_truth": None, "needs_support": None} if row["learner"] == "vpu" else row

    hurt = rewritten(read(synthetic), tmp_path / "archive", change)
    assert summary_text(hurt) == summary_text(read(synthetic))


def test_a_run_without_a_choice_by_its_own_criterion_is_shown_without_densities(synthetic, tmp_path, capsys):
    def change(row):
        return row | {"own_selection": "nobody's"} if row["learner"] == "vpu" else row

    hurt = rewritten(read(synthetic), tmp_path / "archive", change)
    key = next(row["key"] for row in hurt.done if row["learner"] == "vpu")
    with pytest.raises(InputError, match=f"run {key} has no selection 'own'; it has 'proxy_accuracy'"):
        score_view(hurt, key)
    page = tmp_path / "page.html"
    main(["bench", "report", str(hurt.folder), "--html", str(page), "--judge", "0"])
    assert capsys.readouterr().err == ""
    assert key in page.read_text()
    assert "This run made no choice by its own criterion, nobody" in page.read_text()
    assert "some were not finite" not in page.read_text()


def test_a_run_whose_scores_were_not_finite_is_shown_with_that_reason(synthetic, tmp_path):
    def change(row):
        return row | {"tallies": []} if row["learner"] == "vpu" else row

    hurt = rewritten(read(synthetic), tmp_path / "archive", change)
    for run in page_data(hurt, board(hurt))["runs"]:
        lost = hurt._row(run["key"])["learner"] == "vpu"
        assert (run["density"] is None) == lost
        assert run.get("undrawn") == ("Scores of this run were not kept: some were not finite." if lost else None)


@pytest.mark.parametrize(("positives", "rows"), [(0, 0), (5, 3), (None, 60), (-1, 60), (5, None)])
def test_a_run_of_impossible_counts_gets_a_reason_in_place_of_a_judgement(positives, rows, synthetic, tmp_path):
    def change(row):
        return row | {"test_positives": positives, "test_rows": rows} if row["learner"] == "vpu" else row

    hurt = rewritten(read(synthetic), tmp_path / "archive", change)
    judged = judge(hurt, prior="known", redraws=100)
    for row in judged:
        assert ("test rows are positive" in (row["reason"] or "")) == (row["learner"] == "vpu"), row
