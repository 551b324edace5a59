"""pulens calibrate: report, JSON, diagram, mapped rows; whole files or none."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from pulens.calibration import CalibrationMap, expected_calibration_error
from pulens.cli import main
from pulens.testing import logistic_world


@pytest.fixture(scope="module")
def rows():
    few, many, _ = logistic_world(-0.5, 1.5, 0.3).draw(150, 1_500, np.random.default_rng(1))
    return np.repeat([1, 0], [150, 1_500]), np.concatenate([few, many])


@pytest.fixture
def table(tmp_path, rows):
    path = tmp_path / "scores.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label", "p", "note"])
        for place, (label, score) in enumerate(zip(*rows, strict=True)):
            writer.writerow([f"{place:05d}", label, repr(float(score)), "a, b"])
    return path


def run(capsys, *arguments) -> tuple[int, str, str]:
    code = 0
    try:
        main(["calibrate", *(str(argument) for argument in arguments)])
    except SystemExit as end:
        code = end.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_for_programs(capsys, table, rows):
    code, out, err = run(capsys, table, "--score", "p", "--class-prior", "0.3", "--labelling", "random", "--json", "-")
    answer = json.loads(out)
    expected = expected_calibration_error(*rows, class_prior=0.3, labelling="random")
    assert (code, err) == (0, "")
    assert answer["reliability"]["error"]["value"] == pytest.approx(expected.value)
    assert answer["reliability"]["error"]["noise_floor"] == pytest.approx(expected.noise_floor)
    assert {"brier_score", "log_loss", "calibration_slope", "calibration_in_the_large"} <= set(answer)
    assert "recalibration" not in answer


def test_a_report_for_people(capsys, table):
    code, out, _ = run(capsys, table, "--score=p", "--class-prior=0.3", "--fit=platt", "--bins=6", "--labelling=random")
    assert code == 0
    for words in ("robabilities are", "Recalibrated (platt)", "5 of 6 bins", "was not fitted to (5 folds)"):
        assert words in " ".join(out.split())
    assert len(out.splitlines()) <= 24
    assert all(len(line) <= 80 for line in out.splitlines() if str(table) not in line)
    code, out, _ = run(capsys, table, "--score", "p", "--class-prior", "0.3", "--bins", "6", "--explain")
    for words in ("noise floor", "bias-corrected", "p corrected for"):
        assert words in " ".join(out.split())
    assert "\x1b[" not in out


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_mapped_rows_keep_every_column(capsys, table, rows, tmp_path, ending):
    out_path = tmp_path / f"mapped.{ending}"
    json_path = tmp_path / "answer.json"
    code, out, _ = run(
        capsys,
        table,
        "--score",
        "p",
        "--class-prior",
        "0.3",
        "--fit",
        "isotonic",
        "--out",
        out_path,
        "--json",
        json_path,
    )
    assert code == 0
    assert f"wrote {out_path}" in out
    if ending == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        result = parquet.read_table(out_path).to_pydict()
        columns = {name: [str(value) for value in values] for name, values in result.items()}
    else:
        with open(out_path, newline="") as file:
            lines = list(csv.reader(file, delimiter="\t" if ending == "tsv" else ","))
        columns = dict(zip(lines[0], zip(*lines[1:], strict=True), strict=True))
        assert columns["id"][:2] == ("00000", "00001")  # text is copied as it stands
    assert list(columns) == ["id", "label", "p", "note", "calibrated"]
    fitted = CalibrationMap.from_dict(json.loads(json_path.read_text())["recalibration"]["map"])
    np.testing.assert_allclose([float(value) for value in columns["calibrated"]], fitted(rows[1]), atol=1e-12)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl"])
def test_other_inputs_can_be_mapped_too(capsys, rows, tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    feather, parquet = (pytest.importorskip(f"pyarrow.{name}") for name in ("feather", "parquet"))
    source, target = tmp_path / f"scores.{kind}", tmp_path / "mapped.csv"
    columns = {"label": rows[0].tolist(), "p": rows[1].tolist()}
    if kind == "parquet":
        parquet.write_table(pa.table(columns), source)
    elif kind == "arrow":
        feather.write_feather(pa.table(columns), source)
    else:
        lines = (json.dumps({"label": label, "p": p}) for label, p in zip(*columns.values(), strict=True))
        source.write_text("\n".join(lines))
    code, _, err = run(capsys, source, "--score", "p", "--class-prior", "0.3", "--fit", "platt", "--out", target)
    assert (code, err) == (0, "")
    assert target.read_text().splitlines()[0].replace('"', "") == "label,p,calibrated"


def test_ranks_can_be_fitted(capsys, rows, tmp_path):
    path = tmp_path / "ranks.csv"
    lines = (f"{label},{100 * score - 3}\n" for label, score in zip(*rows, strict=True))
    path.write_text("label,score\n" + "".join(lines))
    code, _, err = run(capsys, path, "--class-prior", "0.3")
    assert code == 2
    assert "--scores-are logit" in err
    code, _, err = run(capsys, path, "--class-prior", "0.3", "--scores-are", "rank")
    assert code == 2
    assert "--fit isotonic" in err
    code, out, _ = run(capsys, path, "--class-prior", "0.3", "--scores-are", "rank", "--fit", "isotonic", "--json", "-")
    assert code == 0
    assert json.loads(out)["recalibration"]["before"] is None


def test_a_diagram_is_saved(capsys, table, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    path = tmp_path / "diagram.png"
    code, _, err = run(capsys, table, "--score", "p", "--class-prior", "0.3", "--plot", path)
    assert (code, err) == (0, "")
    assert path.read_bytes()[:4] == b"\x89PNG"
    code, _, err = run(capsys, table, "--score", "p", "--class-prior", "0.3", "--plot", tmp_path / "diagram.xyz")
    assert code == 2
    assert "cannot be written" in err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["diagram.png", "scores.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "mapped.csv"], "choose how with --fit"),
        (["--fit", "platt", "--out", "mapped.xlsx"], "must be .csv, .tsv or .parquet"),
        (["--fit", "platt", "--out", "nowhere/mapped.csv"], "does not exist"),
        (["--fit", "platt", "--out", "mapped.csv", "--column", "note"], "has a column 'note' already"),
        (["--bins", "0"], "whole number from 1"),
        (["--confidence", "95"], "between 0 and 1"),
        (["--scores-are", "rank"], "--fit isotonic"),
    ],
)
def test_bad_input_ends_with_exit_code_2_and_nothing_written(capsys, table, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, table, "--score", "p", "--class-prior", "0.3", *arguments)
    assert code == 2
    assert message in err
    assert [entry.name for entry in tmp_path.iterdir()] == ["scores.csv"]


def test_a_column_without_a_name_is_refused(capsys, table, tmp_path):
    fit = ("--score", "p", "--class-prior", "0.3", "--fit", "isotonic", "--out", tmp_path / "mapped.csv")
    code, _, err = run(capsys, table, *fit, "--column", "")
    assert code == 2
    assert "--column must name" in err
    assert not (tmp_path / "mapped.csv").exists()


def test_standard_input_cannot_be_copied(capsys):
    code, _, err = run(capsys, "-", "--class-prior", "0.3", "--fit", "platt", "--out", "mapped.csv")
    assert code == 2
    assert "save standard input" in err
