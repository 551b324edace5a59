"""Archives of format 1 lie on people's disks: they are read, reported and continued as ever.

``format_1/`` holds a small one and what reports said of it when format 1 was the newest; three errors of recovered
numbers are smaller since tables are cut to possible ones by one rule.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pulens.cli import main
from pulens.research.benchmark.archive import Store, read
from pulens.research.benchmark.archive.summary import LATER
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.run import Options, run_plan

OLD = Path(__file__).parent / "format_1"


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(OLD / "archive", tmp_path / "archive")


def numbers(text):
    return [number.rstrip(".,") for number in re.findall(r"[+-]?\d[\d.,]*%?", text)]


def test_the_report_has_every_number_that_it_had(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder.parent)
    main(["bench", "report", "archive", "--selection", "proxy_auc", "--judge", "all", "--explain"])
    said, stored = capsys.readouterr().out, (OLD / "report.txt").read_text(encoding="utf-8")
    assert numbers(said) == numbers(stored)
    assert "elkan_noto on digits, 1 run: no memory left" in said


def test_tables_have_every_number_that_they_had(folder, tmp_path):
    out = {name: tmp_path / f"auc.{name}" for name in ("csv", "tex")}
    files = ["--csv", str(out["csv"]), "--latex", str(out["tex"])]
    main(["bench", "report", str(folder), "--metric", "auc", "-q", "--judge", "0", *files])
    for name, path in out.items():
        assert numbers(path.read_text(encoding="utf-8")) == numbers((OLD / f"auc.{name}").read_text(encoding="utf-8"))


def test_the_summary_says_what_it_said(folder, tmp_path):
    main(["bench", "report", str(folder), "--summary", str(tmp_path / "s.csv"), "-q", "--judge", "0"])
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "s.csv", OLD / "summary.csv")]
    mine, stored = (list(csv.reader(text.splitlines())) for text in texts)
    later = [mine[0].index(name) for name in LATER - {"needs_support"}]
    mine = [[value for place, value in enumerate(line) if place not in later] for line in mine]
    assert mine[1:] == stored[1:]  # columns may have other names, never other values


def test_every_value_of_a_file_is_read_under_its_name_of_today(folder):
    names = {"method": "learner", "strategy": "mechanism_alias", "auc": "roc_auc"}
    names |= {"proxy_auc": "proxy_roc_auc", "test_auc": "test_roc_auc"}

    def renamed(value):
        if isinstance(value, dict):
            return {names.get(name, name): renamed(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [renamed(inner) for inner in value]
        return names.get(value, value) if value == "proxy_auc" else value

    files = sorted((folder / "runs").glob("*.parquet"))
    stored = [row for path in files for row in pq.read_table(path).to_pylist()]
    result = read(folder).table().to_pylist()
    assert len(result) == 13
    later = {"macro_f1", "oracle_macro_f1", "variant", "told_class_prior"}  # what format 1 never had is empty
    rows = [inner for row in result for name in ("choices", "curve") for inner in row[name] or ()] + result
    assert {one.pop(name) for one in rows for name in later & set(one)} == {None}
    assert repr(result) == repr(sorted(renamed(stored), key=lambda row: row["key"]))  # as text: nan is not nan


def test_an_archive_says_the_newer_format_once_it_holds_a_file_of_it(folder):
    assert json.loads((folder / "archive.json").read_text()) == {"pulens_benchmark": 1}
    store = Store(folder).open()
    assert json.loads((folder / "archive.json").read_text()) == {"pulens_benchmark": 1}
    again = read(folder).table().to_pylist()[0] | {"key": "f" * 20, "seed": 99}
    store.add([again])
    store.close()
    assert json.loads((folder / "archive.json").read_text()) == {"pulens_benchmark": 2}
    assert len(read(folder)) == 14


def test_finished_runs_are_not_done_again_and_the_rest_is(folder):
    as_it_was = {"elkan_noto": {"all": {"hold_out": 0.1}}}  # by default
    settings = {**load_protocol("smoke").settings, **as_it_was}
    plan = expand(load_protocol("smoke", methods=["nnpu", "vpu", "pn", "elkan_noto"], settings=settings))
    before = {row["key"]: row for row in read(folder).done}
    assert set(before) < {run.key for run in plan.runs}
    result = run_plan(plan, folder, Options(retry_failed=True))
    assert (result.done, result.failed, result.added) == (16, 0, 4)
    after = read(folder)
    assert {row["key"]: row for row in after.done if row["key"] in before}.keys() == before.keys()
    assert after.failed == ()
    for key in before:
        assert repr(after.choice(key)) == repr(read(OLD / "archive").choice(key))  # nan is not nan
