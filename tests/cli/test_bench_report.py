"""pulens bench report: options, files whole or not at all, errors that exit with 2."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the archive is Parquet: pip install 'pulens[bench]'")

import pulens
from pulens.cli import main
from synthetic_archive import LEARNERS, make


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("report") / "archive"
    few = {name: LEARNERS[name] for name in ("nnpu", "vpu", "dist_pu", "pan", "pn")}
    make(place, learners=few, datasets={"spambase": 0.4, "mnist": 0.5}, seeds=(1, 2), epochs=4)
    return place


@pytest.mark.slow
def test_prints_every_section(folder, capsys):
    main(["bench", "report", str(folder), "--judge", "all", "--reference", "vpu", "--explain"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for words in ("mean ± sd", "critical difference", "against vpu", "costs per run", "evaluation without negatives"):
        assert words in out
    assert "which criterion picks the best epoch" in out
    main(["bench", "report", str(folder), "--judge", "0", "--selection", "oracle_f1", "--explain"])
    out = capsys.readouterr().out
    assert "ORACLE" in out
    assert "evaluation without negatives" not in out


def test_the_answer_is_one_screen_and_begins_with_a_verdict(folder, capsys):
    """It was 80 lines of up to 127 columns, without a verdict."""
    main(["bench", "report", str(folder), "--reference", "vpu"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "ranks best" in lines[0]
    assert "--explain" in " ".join(lines)


def test_writes_the_page_and_the_tables(folder, tmp_path, capsys):
    files = {name: tmp_path / f"out.{name}" for name in ("html", "csv", "latex")}
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    main(["bench", "report", str(folder), *options, "-q", "--judge", "0", "--metric", "f1"])
    assert capsys.readouterr().out == ""
    assert files["html"].read_text(encoding="utf-8").startswith("<!doctype html>")
    with files["csv"].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["metric"] for row in rows} == {"f1"}
    assert len(rows) == 10
    assert files["latex"].read_text(encoding="utf-8").rstrip().endswith(r"\end{tabular}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.html", "out.latex"]


def test_standard_output_carries_one_table_alone(folder, capsys):
    main(["bench", "report", str(folder), "--csv", "-", "--judge", "0"])
    out = capsys.readouterr().out
    assert out.startswith("learner,dataset,seeds,mean")
    assert "critical difference" not in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--metric", "acuracy"], "Did you mean 'accuracy'"),
        (["--selection", "orcle_f1"], "Did you mean 'oracle_f1'"),
        (["--reference", "nobody"], "has no run here"),
        (["--condition", "S4 0.1"], "names no condition"),
        (["--judge", "few"], "--judge must be a number of runs"),
    ],
)
def test_wrong_options_exit_with_2_and_write_nothing(folder, tmp_path, capsys, options, words):
    out = tmp_path / "page.html"
    with pytest.raises(SystemExit) as stopped:
        main(["bench", "report", str(folder), "--html", str(out), *options])
    assert stopped.value.code == 2
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_an_empty_or_missing_archive_is_an_error(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["bench", "report", str(tmp_path / "nothing")])
    assert stopped.value.code == 2
    assert "there is no archive" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["bench", "report", str(tmp_path)])
    assert "no finished run yet" in capsys.readouterr().err


def test_writes_a_summary_of_every_run(folder, tmp_path, capsys):
    from pulens.research.benchmark.archive import read
    from pulens.research.benchmark.archive.summary import read_summary

    for name in ("runs.csv", "runs.csv.gz"):
        main(["bench", "report", str(folder), "--summary", str(tmp_path / name), "-q", "--judge", "0"])
        assert len(read_summary(tmp_path / name)) == 4 * len(read(folder).done)
    assert capsys.readouterr().out == ""


def test_what_is_shipped_fits_a_screen_and_ranks_only_learners_with_every_data_set(capsys):
    """It was 26 lines, and began with a learner that had no mean and no rank."""
    main(["bench", "report", str(Path(pulens.__file__).parent / "research" / "benchmark" / "summary.csv.gz")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    table = lines[lines.index("") + 2 : next(place for place, one in enumerate(lines) if "more learners" in one)]
    assert len(table) == 12
    assert not any("–" in one for one in table)
    assert lines[lines.index("") + 1].endswith("against nnPU")
