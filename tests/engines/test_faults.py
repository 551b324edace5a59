"""What goes wrong on the way to the counts gives a clear error, and never a wrong or half-written answer."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import pulens
from postgresql_server import postgresql_server
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError
from pulens.inputs import read_tally
from pulens.inputs.engines import drive
from pulens.inputs.engines.stream import SortedStream
from pulens.inputs.tally_files import TallyFile, merge, read_tally_file, write_tally_file


def some_tally(seed: int = 0, rows: int = 200) -> Tally:
    rng = np.random.default_rng(seed)
    return Tally.from_arrays((rng.random(rows) < 0.3).astype(np.int8), rng.normal(size=rows))


def write_parquet(path: Path, rows: int = 20_000) -> Path:
    import pyarrow as pa
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    table = pa.table({"score": rng.random(rows), "label": (rng.random(rows) < 0.3).astype(np.int8)})
    pyarrow.parquet.write_table(table, path, row_group_size=1000)
    return path


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.999])
def test_a_truncated_parquet_file_is_an_error(tmp_path, monkeypatch, large, kept):
    monkeypatch.setattr("pulens.inputs.tallies.LARGE_FILE", 0 if large else 1 << 60)
    path = write_parquet(tmp_path / "scores.parquet")
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    with pytest.raises(InputError, match=r"scores\.parquet"):
        read_tally(path)


def test_a_parquet_file_damaged_in_the_middle_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("pulens.inputs.tallies.LARGE_FILE", 0)
    path = write_parquet(tmp_path / "scores.parquet")
    content = bytearray(path.read_bytes())
    content[1000:9000] = bytes(8000)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"scores\.parquet"):
        read_tally(path)


def test_a_csv_file_with_a_broken_line_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("pulens.inputs.tallies.LARGE_FILE", 0)
    path = tmp_path / "scores.csv"
    path.write_text("score,label\n" + "0.5,1\n0.25,0\n" * 500 + "0.1\n")
    with pytest.raises(InputError, match=r"scores\.csv"):
        read_tally(path)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_spark_task_killed_on_the_way_is_retried_and_counts_once(spark, tmp_path):
    rng = np.random.default_rng(3)
    scores, labels = np.round(rng.random(2000), 3), (rng.random(2000) < 0.2).astype(int)
    rows = spark.createDataFrame(list(zip(scores.tolist(), labels.tolist(), strict=True)), "score double, label int")
    marker = str(tmp_path / "killed")

    def kill_the_first_worker(partition):
        from pathlib import Path

        for place, row in enumerate(partition):
            if place == 100 and not Path(marker).exists():
                Path(marker).touch()
                import os
                import signal

                os.kill(os.getpid(), signal.SIGKILL)
            yield row

    fragile = spark.createDataFrame(rows.repartition(2).rdd.mapPartitions(kill_the_first_worker), rows.schema)
    assert read_tally(fragile) == read_tally(labels, scores)
    assert Path(marker).exists()


def test_a_database_that_goes_away_is_an_error(postgresql, monkeypatch):
    import sqlalchemy as sa

    engine = sa.create_engine(postgresql)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE IF EXISTS leaving"))
        connection.execute(
            sa.text("CREATE TABLE leaving AS SELECT random() AS score, 1 AS label FROM generate_series(1, 9)")
        )
    survey = drive._check_survey

    def then_the_server_hangs_up(*given):
        survey(*given)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            ours = sa.text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE query LIKE '%leaving%' AND pid <> pg_backend_pid()"
            )
            assert connection.execute(ours).all()

    monkeypatch.setattr(drive, "_check_survey", then_the_server_hangs_up)
    with pytest.raises(InputError, match="the connection was lost"):
        read_tally(postgresql, table="leaving")
    engine.dispose()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the driver complains of the cursor that was cut off
        gc.collect()


def test_an_unreachable_database_is_an_error_that_hides_the_password():
    with pytest.raises(InputError, match="connection failed") as failure:
        read_tally("postgresql://reader:hunter2@127.0.0.1:1/scores", table="t")
    assert "hunter2" not in str(failure.value)


def test_nothing_is_left_of_a_tally_that_could_not_be_written(tmp_path):
    """The operating system refuses to let the file grow, as a full disk does."""
    script = """
        import resource, signal, sys
        import numpy as np
        from pulens.errors import PulensError
        from pulens.inputs.tally_files import TallyFile, write_tally_file
        from pulens.counts.tally import Tally

        rng = np.random.default_rng(0)
        tally = Tally.from_arrays((rng.random(20_000) < 0.3).astype(np.int8), rng.normal(size=20_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            write_tally_file(sys.argv[1], TallyFile.of(tally))
        except PulensError as error:
            print(error)
    """
    target = tmp_path / "all.tally"
    write_tally_file(target, TallyFile.of(some_tally()))
    before = target.read_bytes()
    command = [sys.executable, "-c", textwrap.dedent(script), str(target)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "all.tally: cannot be written" in said
    assert target.read_bytes() == before
    assert os.listdir(tmp_path) == ["all.tally"]


def test_a_folder_that_does_not_exist_cannot_take_a_tally(tmp_path, capsys):
    path = write_parquet(tmp_path / "scores.parquet", 100)
    with pytest.raises(SystemExit) as end:
        main(["tally", str(path), "-o", str(tmp_path / "no" / "x.tally")])
    assert end.value.code == 2
    assert "cannot be written" in capsys.readouterr().err


WEIRD = 't"; DROP TABLE kept; --'


@pytest.mark.parametrize("where", ["duckdb", "sqlite", "postgresql"])
def test_table_and_column_names_with_quotes_and_semicolons_are_only_names(where, tmp_path, request):
    import duckdb
    import sqlalchemy as sa

    quoted, column = '"' + WEIRD.replace('"', '""') + '"', '"p""; --"'
    statements = [
        "CREATE TABLE kept (score double precision, label int)",
        f"CREATE TABLE {quoted} ({column} double precision, label int)",
        f"INSERT INTO {quoted} VALUES (0.9, 1), (0.5, 0), (0.1, 0)",
    ]
    if where == "duckdb":
        url = f"duckdb:///{tmp_path / 'x.db'}"
        with duckdb.connect(str(tmp_path / "x.db")) as connection:
            for statement in statements:
                connection.execute(statement)
    else:
        url = f"sqlite:///{tmp_path / 'x.sqlite'}" if where == "sqlite" else request.getfixturevalue("postgresql")
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            for name in ("kept", quoted):
                connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")
            for statement in statements:
                connection.exec_driver_sql(statement)
        engine.dispose()
    assert read_tally(url, table=WEIRD, score='p"; --').totals == (1, 2, 0)
    with pytest.raises(InputError, match="the table is empty"):  # the other table is still there
        read_tally(url, table="kept")
    with pytest.raises(InputError, match="there is no table"):
        read_tally(url, table="kept; DROP TABLE kept")


def test_a_condition_is_an_expression_and_no_second_statement(tmp_path):
    import duckdb

    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT * FROM (VALUES (0.9, 1), (0.5, 0)) t(score, label)")
    with pytest.raises(InputError, match="the condition"):
        read_tally(f"duckdb:///{tmp_path / 'x.db'}", table="kept", where="true; DROP TABLE kept")
    assert read_tally(f"duckdb:///{tmp_path / 'x.db'}", table="kept").totals.rows == 2


def test_rows_out_of_order_are_refused():
    stream = SortedStream(None, score_type=np.dtype(np.float64), weighted=False, segmented=False)
    ones = np.ones(3, np.int64)
    stream.add(np.array([0.9, 0.8, 0.7]), ones, ones, None, None)
    with pytest.raises(InputError, match="out of order"):
        stream.add(np.array([0.75, 0.6, 0.5]), ones, ones, None, None)


def test_a_table_that_changes_between_the_passes_is_refused(monkeypatch):
    import polars as pl

    frame = pl.DataFrame({"score": [0.9, 0.5, 0.1], "label": [1, 0, 0]}).lazy()
    monkeypatch.setattr("pulens.inputs.engines.counts.EngineCounts.rows", property(lambda self: 4.0))
    with pytest.raises(InputError, match="it changed while it was read"):
        read_tally(frame)


def test_the_same_part_is_not_counted_twice():
    part = TallyFile.of(some_tally(), source="monday")
    other = TallyFile.of(some_tally(1), source="tuesday")
    with pytest.raises(InputError, match="'monday' has exactly the counts of 'monday'"):
        merge([merge([part, other]), part])
    assert merge([part, part], allow_repeats=True).tally.totals.rows == 400


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-50]), "not a readable tally file"),
        (lambda path: path.write_text("score,labelled\n"), "not a readable tally file"),
        (lambda path: write_parquet(path, 10), "not a tally file"),
        (lambda path: path.unlink(), "no such file"),
    ],
)
def test_a_damaged_tally_file_is_an_error(tmp_path, change, said):
    path = tmp_path / "x.tally"
    write_tally_file(path, TallyFile.of(some_tally()))
    change(path)
    with pytest.raises(PulensError, match=said):
        read_tally_file(path)


def test_a_database_whose_text_cannot_be_read_is_named_in_words(tmp_path, monkeypatch) -> None:
    import sqlite3

    path = tmp_path / "rows.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (label INTEGER, score REAL)")
    connection.close()

    def damaged(*_):
        raise UnicodeDecodeError("utf-8", b"\x9e", 0, 1, "invalid start byte")

    monkeypatch.setattr("pulens.inputs.engines.sql._find_table", damaged)
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_tally(f"sqlite:///{path}", table="t")


def test_line_ends_in_the_names_of_columns_are_read_in_postgresql():
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    with postgresql_server() as server:
        engine = sqlalchemy.create_engine(server.address())
        with engine.begin() as connection:
            columns = '"la\nbel" INT, "sco\nre" DOUBLE PRECISION, "num\nber" NUMERIC, "i\nd" TEXT'
            connection.exec_driver_sql(f'CREATE TABLE "ta\nble" ({columns})')
            values = "(i % 3 = 0)::INT, i / 90.0, i, 'row' || i"
            connection.exec_driver_sql(
                f'INSERT INTO "ta\nble" SELECT {values} FROM generate_series(1, 90) i'.replace("%", "%%")
            )
        for score in ("sco\nre", "num\nber"):
            told = {"table": "ta\nble", "label": "la\nbel", "score": score}
            assert pulens.inputs.read_tally(server.address(), **told).totals.labelled == 30
            assert (
                len(pulens.plan_audit(server.address(), **told, id="i\nd", budget=20, threshold=0.5).rows.batch) == 20
            )
        engine.dispose()
