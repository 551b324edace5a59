"""Every command reads every source, and the numbers are the same: docs/reference/files.md, source by source."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pulens
from pulens import calibration
from pulens.cli import main
from pulens.inputs import read_joint, read_tally
from pulens.inputs.tables.writing import write_table
from pulens.inputs.tally_files import TallyFile, write_tally_file

MODELS = ["a", "b"]
SETTINGS = {"class_prior": 0.3, "scenario": "case-control"}


def columns() -> dict[str, list[Any]]:
    """Probabilities with ties; the rows of day 2 are not like the others and must be left out where that is asked."""
    rng = np.random.default_rng(0)
    positive = rng.random(600) < 0.3
    logits = {name: rng.normal(by * (2 * positive - 1)) for name, by in zip(MODELS, (2.0, 1.0), strict=True)}
    scores = {name: np.round(1 / (1 + np.exp(-values)), 2) for name, values in logits.items()}
    labels = (positive & (rng.random(600) < 0.5)).astype(int)
    rows = {**scores, "label": labels, "day": np.repeat([1, 2], [450, 150])}
    rows["a"][450:] = 0.5
    return {name: values.tolist() for name, values in rows.items()}


ALL = columns()
FIRST_DAY = {name: values[:450] for name, values in ALL.items()}
WHERE = {"where": "day = 1"}

Source = tuple[Any, dict[str, Any]]  # what is handed over, and what is said beside it


def as_file(ending: str, rows: dict[str, list[Any]] = FIRST_DAY, **said: Any) -> Callable[[Path], Source]:
    def put(folder: Path) -> Source:
        write_table(str(folder / f"rows.{ending}"), rows)
        return str(folder / f"rows.{ending}"), said

    return put


def compressed(folder: Path) -> Source:
    import gzip

    plain, _ = as_file("csv")(folder)
    Path(f"{plain}.gz").write_bytes(gzip.compress(Path(plain).read_bytes()))
    return f"{plain}.gz", {}


def in_parts(
    ending: str, rows: dict[str, list[Any]] = FIRST_DAY, *, glob: bool = False, **said: Any
) -> Callable[[Path], Source]:
    def put(folder: Path) -> Source:
        (folder / "parts").mkdir()
        for place, part in enumerate((slice(0, 100), slice(100, None))):
            kept = {name: values[part] for name, values in rows.items()}
            write_table(str(folder / "parts" / f"{place}.{ending}"), kept)
        return str(folder / "parts" / f"*.{ending}") if glob else str(folder / "parts"), said

    return put


def duckdb_file(rows: dict[str, list[Any]], **said: Any) -> Callable[[Path], Source]:
    def put(folder: Path) -> Source:
        import duckdb

        path, _ = as_file("parquet", rows)(folder)
        with duckdb.connect(str(folder / "rows.db")) as connection:
            connection.execute(f"CREATE TABLE kept AS SELECT * FROM '{path}'")
        return f"duckdb:///{folder / 'rows.db'}", {"table": "kept", **said}

    return put


def sqlite_file(rows: dict[str, list[Any]], **said: Any) -> Callable[[Path], Source]:
    def put(folder: Path) -> Source:
        import sqlite3

        with closing(sqlite3.connect(folder / "rows.sqlite")) as connection, connection:
            connection.execute("CREATE TABLE kept (a DOUBLE, b DOUBLE, label INTEGER, day INTEGER)")
            connection.executemany("INSERT INTO kept VALUES (?, ?, ?, ?)", zip(*rows.values(), strict=True))
        connection.close()
        return f"sqlite:///{folder / 'rows.sqlite'}", {"table": "kept", **said}

    return put


def tally_file(folder: Path) -> Source:
    write_tally_file(folder / "rows.tally", TallyFile.of(read_joint(polars_frame(folder)[0], score=MODELS)))
    return str(folder / "rows.tally"), {}


def polars_frame(folder: Path) -> Source:
    import polars

    return polars.DataFrame(FIRST_DAY), {}


def pandas_frame(folder: Path) -> Source:
    import pandas

    return pandas.DataFrame(FIRST_DAY), {}


def arrow_table(folder: Path) -> Source:
    import pyarrow

    return pyarrow.table(FIRST_DAY), {}


def relation(folder: Path) -> Source:
    import duckdb

    path, _ = as_file("parquet", ALL)(folder)
    connection = duckdb.connect()
    return connection.sql(f"SELECT * FROM '{path}'"), WHERE


def sql_engine(folder: Path) -> Source:
    import sqlalchemy

    url, said = sqlite_file(ALL, **WHERE)(folder)
    return sqlalchemy.create_engine(url), said


SOURCES: dict[str, Callable[[Path], Source]] = {
    "CSV file": as_file("csv"),
    "TSV file": as_file("tsv"),
    "JSON Lines file": as_file("jsonl"),
    "Parquet file": as_file("parquet"),
    "Arrow file": as_file("arrow"),
    "compressed file": compressed,
    "standard input (`-`)": lambda folder: ("-", {}),
    "CSV file with `--where`": as_file("csv", ALL, **WHERE),
    "Parquet file with `--where`": as_file("parquet", ALL, **WHERE),
    "JSON Lines file with `--where`": as_file("jsonl", ALL, **WHERE),
    "Arrow file with `--where`": as_file("arrow", ALL, **WHERE),
    "folder of files": in_parts("parquet"),
    "glob of files": in_parts("csv", glob=True),
    "folder of files with `--where`": in_parts("csv", ALL, **WHERE),
    "DuckDB database with `--table`": duckdb_file(FIRST_DAY),
    "DuckDB database with `--table` and `--where`": duckdb_file(ALL, **WHERE),
    "other database (SQLAlchemy) with `--table`": sqlite_file(FIRST_DAY),
    "other database (SQLAlchemy) with `--table` and `--where`": sqlite_file(ALL, **WHERE),
    "tally file": tally_file,
    "Python: pandas frame": pandas_frame,
    "Python: Polars frame": polars_frame,
    "Python: PyArrow table": arrow_table,
    "Python: Polars lazy frame": lambda folder: (polars_frame(folder)[0].lazy(), {}),
    "Python: DuckDB relation": relation,
    "Python: SQLAlchemy engine": sql_engine,
    "Python: tally": lambda folder: (read_joint(polars_frame(folder)[0], score=MODELS), {}),
}
COMMANDS = ("evaluate", "prior", "calibrate", "compare", "tally")


def by_command(command: str, source: str, said: dict[str, Any], folder: Path) -> Any:
    """What a command writes as JSON, without what names the file."""
    words = [word for name, value in said.items() for word in (f"--{name}", str(value))]
    words += [word for name in (MODELS if command == "compare" else ["a"]) for word in ("--score", name)]
    words += ["--scenario", "case-control"] if command != "tally" else []
    words += ["--class-prior", "0.3"] if command not in ("prior", "tally") else []
    words += ["--redraws", "100"] if command in ("evaluate", "compare") else []
    words += ["--labelling", "random"] if command == "evaluate" else []
    if command == "tally":
        main(["tally", source, "-o", str(folder / "counted.tally"), *words])
        return in_python("evaluate", folder / "counted.tally", {})
    main([command, source, *words, "--json", str(folder / "answer.json"), *([] if command == "prior" else ["-q"])])
    answer = json.loads((folder / "answer.json").read_text())
    return {"prior": answer.get("class_prior"), "calibrate": answer.get("reliability")}.get(command, answer)


def in_python(command: str, source: Any, said: dict[str, Any]) -> Any:
    one = {"score": "a", **said}
    if command == "tally":
        source, one = read_tally(source, **one), {}
    if command in ("evaluate", "tally"):
        return pulens.evaluate(source, **one, **SETTINGS, redraws=100, labelling="random").to_dict()
    if command == "prior":
        return pulens.estimate_prior(source, scenario="case-control", **one).to_dict()
    if command == "calibrate":
        return calibration.reliability(source, **one, **SETTINGS, scores_are="probability").to_dict()
    return pulens.compare(source, **{**one, "score": MODELS}, **SETTINGS, redraws=100).to_dict()


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """Of arrays: labels and scores as they are."""
    labels, a = FIRST_DAY["label"], FIRST_DAY["a"]
    evaluation = pulens.evaluate(labels, a, **SETTINGS, redraws=100, labelling="random").to_dict()
    return {
        "evaluate": evaluation,
        "tally": evaluation,
        "prior": pulens.estimate_prior(labels, a, scenario="case-control").to_dict(),
        "calibrate": calibration.reliability(labels, a, **SETTINGS, scores_are="probability").to_dict(),
        "compare": pulens.compare(labels, {m: FIRST_DAY[m] for m in MODELS}, **SETTINGS, redraws=100).to_dict(),
    }


def leaves(value: Any, place: str = "") -> dict[str, Any]:
    """Every number and word of an answer by its place; what to type next names the file, and is left out."""
    if isinstance(value, dict):
        parts = {name: part for name, part in value.items() if name != "next_steps"}.items()
    elif isinstance(value, list | tuple):
        parts = {str(number): part for number, part in enumerate(value)}.items()
    else:
        return {place: value}
    return {name: leaf for key, part in parts for name, leaf in leaves(part, f"{place}/{key}").items()}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_every_source_to_the_same_numbers(command, source, expected, tmp_path, monkeypatch):
    given, said = SOURCES[source](tmp_path)
    if source.startswith("standard input"):
        content = Path(as_file("csv")(tmp_path)[0]).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    if source.startswith("Python"):
        answer = in_python(command, given, said)
    else:
        answer = by_command(command, given, said, tmp_path)
    result, wanted = leaves(answer), leaves(json.loads(json.dumps(expected[command])))
    assert result.keys() >= wanted.keys()
    assert len(wanted) > 10
    for place, value in wanted.items():
        if isinstance(value, float):
            assert result[place] == pytest.approx(value, rel=1e-9, abs=1e-12), place
        else:
            assert result[place] == value, place


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "compare"])
def test_a_tally_of_one_score_is_enough_for_commands_that_read_one(command, expected, tmp_path):
    write_tally_file(tmp_path / "one.tally", TallyFile.of(read_tally(FIRST_DAY["label"], FIRST_DAY["a"])))
    result = leaves(by_command(command, str(tmp_path / "one.tally"), {}, tmp_path))
    wanted = leaves(json.loads(json.dumps(expected[command])))
    assert {place: result[place] for place in wanted} == wanted


def test_the_list_in_the_docs_names_what_is_tested_and_nothing_else():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    words = page.partition("## Every command, every source")[2].partition("\n## ")[0]
    assert words.split("\n\n")[1].startswith(", ".join(f"`{command}`" for command in COMMANDS[:-1]))
    assert [line[2:] for line in words.splitlines() if line.startswith("- ")] == list(SOURCES)
