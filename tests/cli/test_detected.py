"""A text table's separator and decimal mark are read off its first lines, and said."""

from __future__ import annotations

import json

import pytest

from pulens.cli import main

ROWS = [(round(i / 40, 3), int(i > 25 and i % 2)) for i in range(40)]


def written(path, separator, comma):
    lines = [f"{str(score).replace('.', ',' if comma else '.')}{separator}{label}" for score, label in ROWS]
    path.write_text("\n".join([f"score{separator}label", *lines]) + "\n")
    return str(path)


def numbers(capsys, *words):
    main(["evaluate", *words, "--class-prior", "0.4", "--labelling", "random", "--json", "-"])
    out, err = capsys.readouterr()
    return json.loads(out)["estimates"], err


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
@pytest.mark.parametrize("comma", [False, True])
def test_tables_written_otherwise_give_the_same_numbers(tmp_path, capsys, separator, name, comma):
    expected, said = numbers(capsys, written(tmp_path / "plain.csv", ",", False))
    assert said == ""  # the usual needs no word
    result, said = numbers(capsys, written(tmp_path / "other.csv", separator, comma))
    assert result == expected
    assert f"columns separated by {name}{' and decimal commas' if comma else ''} (detected" in said


def test_what_the_user_says_of_a_separator_counts(tmp_path, capsys):
    file = written(tmp_path / "other.csv", ";", False)
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "--labelling", "random", file, "--delimiter", "|"])
    assert end.value.code == 2
    assert "detected" not in capsys.readouterr().err


def test_a_training_table_is_read_the_same_way(tmp_path, capsys):
    lines = [f"{i % 7},5;{i};{int(i % 4 == 0)}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["x;y;label", *lines]) + "\n")
    quick = ["--learner", "puet", "--set", "n_estimators=2", "--class-prior", "0.4"]
    main(["train", str(tmp_path / "a.csv"), *quick, "-o", str(tmp_path / "model")])
    assert "--delimiter ';' --decimal ," in capsys.readouterr().err
    assert (tmp_path / "model").is_dir()
