"""pulens synthesise: rows are copied, the truth goes elsewhere, nothing is half-written."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from pulens.cli import main


@pytest.fixture
def mail(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    spam = rng.random(300) < 0.4
    lines = [
        f"{i},{x:.3f},{'spam' if s else 'ham'}" for i, (x, s) in enumerate(zip(rng.normal(spam), spam, strict=True))
    ]
    (tmp_path / "mail.csv").write_text("\n".join(["id,length,class", *lines]) + "\n")
    return tmp_path


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def run(*words):
    main(["synthesise", "mail.csv", "--target", "class", "--positive", "spam", *map(str, words)])


def test_rows_are_copied_with_labels_and_the_truth_stands_apart(mail, capsys):
    parts = ["--out", "pu.csv", "--truth", "truth.csv", "--test", "test.csv", "--validation", "validation.csv"]
    shares = ["--label-frequency", 0.25, "--test-share", 0.2, "--validation-share", 0.1]
    run(*parts, *shares, "--json", "facts.json", "--scenario", "single-set")
    source, train, test = rows(mail / "mail.csv"), rows(mail / "pu.csv"), rows(mail / "test.csv")
    assert list(train[0]) == ["id", "length", "label"]
    assert list(test[0]) == ["id", "length"]
    truth = rows(mail / "truth.csv")
    by_part = {part: [row for row in truth if row["part"] == part] for part in ("train", "validation", "test")}
    assert len(by_part["test"]) == len(test) == 60
    for row, known in zip(train, by_part["train"], strict=True):
        original = source[int(known["row"]) - 1]
        assert (row["id"], row["length"]) == (original["id"], original["length"])
        assert known["is_positive"] == str(int(original["class"] == "spam"))
        assert row["label"] == known["label"]
    facts = json.loads((mail / "facts.json").read_text())
    assert facts["train"]["labelled"] == sum(row["label"] == "1" for row in train)
    shown = capsys.readouterr().out
    assert "single-set" in shown
    assert "class prior" in shown


def test_the_same_seed_writes_the_same_bytes(mail):
    for name in ("one.csv", "two.csv"):
        run("--out", name, "--mechanism", "S2", "--feature", "length", "--seed", 4)
    assert (mail / "one.csv").read_bytes() == (mail / "two.csv").read_bytes()


def test_parquet_and_standard_output(mail, capsys):
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv("mail.csv"), "mail.parquet")
    main(["synthesise", "mail.parquet", "--target", "class", "--positive", "spam", "--out", "-"])
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "id,length,label"
    run("--out", "pu.csv")
    assert len(shown) == len((mail / "pu.csv").read_text().splitlines())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--positive", "eggs"), "'eggs' is not a class"),
        (("--label-frequency", "2"), "label_frequency must be above 0"),
        (("--mechanism", "S9"), "no labelling mechanism 'S9'"),
        (("--mechanism", "S2", "--feature", "class"), "is the column of true classes"),
        (("--label", "id"), "column 'id' already"),
        (("--test", "test.csv"), "set --test-share above 0"),
        (("--feature", "size", "--mechanism", "S3"), "no column 'size'"),
    ],
)
def test_bad_wishes_end_with_a_message_and_write_nothing(mail, capsys, words, message):
    with pytest.raises(SystemExit) as stopped:
        run("--out", "pu.csv", "--truth", "truth.csv", *words)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert not (mail / "pu.csv").exists()
    assert not (mail / "truth.csv").exists()


def test_a_missing_file_or_column_is_named(mail, capsys):
    for words, message in (
        (["mial.csv", "--target", "class"], "mial.csv: there is no such file"),
        (["mail.csv", "--target", "clazz"], "no column 'clazz'"),
    ):
        with pytest.raises(SystemExit):
            main(["synthesise", *words, "--positive", "spam", "--out", "pu.csv"])
        assert message in capsys.readouterr().err
