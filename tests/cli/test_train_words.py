"""pulens train and pulens score: what contradicts itself, or means nothing, is refused in words that help."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from pulens.cli import main
from pulens.cli._settings import read_value
from pulens.errors import PulensError

QUICK = ["--method", "puet", "--set", "n_estimators=2", "--class-prior", "0.4"]


def write_rows(path, label="label", values=("0", "1"), separator=",", more=()):
    rng = np.random.default_rng(0)
    labelled = np.arange(60) % 3 == 0
    X = rng.normal(size=(60, 2)) + labelled[:, None]
    cells = [[f"{a:.3f}", f"{b:.3f}", values[int(s)]] for (a, b), s in zip(X, labelled, strict=True)]
    lines = [["a", "b", label], *cells, *more]
    path.write_text("\n".join(separator.join(row) for row in lines) + "\n")


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "rows.csv")
    return tmp_path


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A network and a forest, both trained."""
    folder = tmp_path_factory.mktemp("models")
    write_rows(folder / "rows.csv")
    told = [str(folder / "rows.csv"), "--class-prior", "0.4", "--out"]
    main(
        [
            "train",
            *told,
            str(folder / "network"),
            "--method",
            "nnpu",
            "--backbone",
            "linear",
            "--set",
            "epochs=1",
            "--device",
            "cpu",
        ]
    )
    main(["train", *told, str(folder / "forest"), "--method", "puet", "--set", "n_estimators=2"])
    return folder


def refused(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(list(map(str, words)))
    assert stopped.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--feature", "label"], "--feature 'label' is the column of labels (--label)"),
        (["--feature", "a", "--drop", "a"], "--feature 'a' and --drop 'a' contradict each other"),
        (["--feature", "a", "--feature", "a"], "--feature 'a' was given 2 times"),
        (["--set", "n_estimators=3"], "n_estimators was given twice"),
        (["--set", "class_prior=0.3"], "--class-prior was given twice"),
        (["--set", "positive=yes"], "is said with --positive"),
        (["--set", "max_depths=3"], "Did you mean 'max_depth'?"),
        (["--set", "max_depth=deep"], "--set max_depth must be a whole number or none, got 'deep'"),
        (["--set", "strict_leaves=maybe"], "--set strict_leaves must be true or false, got 'maybe'"),
        (["--out", "rows.csv/model"], "is not a folder that may be written to"),
        (["--out", ""], "--out must name a folder"),
        (["--positive", "yse"], "no row of column 'label' has the label value 'yse'"),
        (["--positive", "0", "--positive", "1"], "no row of column 'label' is unlabelled"),
        (["--positive", "yse"], "The column holds '1', '0': say with --positive"),
    ],
)
def test_wishes_that_cannot_be_meant(rows, capsys, words, message):
    assert message in refused(capsys, "train", "rows.csv", "--out", "model", *QUICK, *words)
    assert os.listdir(rows) == ["rows.csv"]


@pytest.mark.parametrize("option", [["--class-prior", "0.1:0.3"], ["--set", "class_prior=0.1:0.3"]])
def test_a_range_of_class_priors_cannot_be_trained_with(rows, capsys, option):
    words = refused(capsys, "train", "rows.csv", "--out", "model", "--method", "puet", *option)
    assert "one number such as 0.2, or an estimator (" in words
    assert "dedpul" in words
    assert "got '0.1:0.3': a learner trains with one class prior, not with a range" in words
    assert "such as 0.1:0.3" not in words


def test_an_unknown_estimator_is_told_without_speaking_of_ranges(rows, capsys):
    words = refused(capsys, "train", "rows.csv", "--out", "model", "--class-prior", "dedpull")
    assert "got 'dedpull'" in words
    assert ":" not in words.split("pulens: ")[1]


@pytest.mark.parametrize(
    ("annotation", "default", "text", "value"),
    [
        ("float | None", None, "0.5", 0.5),
        ("float | None", None, "None", None),
        ("float", 0.1, "1", 1.0),
        ("int | str | None", "sqrt", "2", 2),
        ("int | str | None", "sqrt", "log2", "log2"),
        ("int | str | None", "sqrt", "none", None),
        ("str", "none", "none", "none"),
        ("str", "e1", "2", "2"),
        ("bool | None", None, "true", True),
        ("Any", None, "3", 3),
        ("Any", None, "0.5", 0.5),
        ("Any", None, "false", False),
        ("Any", None, "none", None),
        ("Any", "mlp", "linear", "linear"),
        ("tuple[int, ...]", (1,), "64,32", (64, 32)),
    ],
)
def test_settings_are_read_as_their_type(annotation, default, text, value):
    result = read_value("setting", text, annotation, default)
    assert (result, type(result)) == (value, type(value))


@pytest.mark.parametrize(
    ("annotation", "text"),
    [("int", "1e3"), ("float", "nan"), ("float | None", "inf"), ("bool", "1"), ("tuple[int, ...]", "1,a"), ("str", "")],
)
def test_settings_of_another_type_are_refused(annotation, text):
    with pytest.raises(PulensError, match=r"--set setting must be .*, got "):
        read_value("setting", text, annotation, (1,) if annotation.startswith("tuple") else None)


def test_class_priors_are_numbers_or_estimators(rows):
    assert read_value("class_prior", "0.05", "Any", "auto") == 0.05
    assert read_value("class_prior", "dedpul", "float | str", "auto") == "dedpul"
    with pytest.raises(PulensError, match="got 'bogus'"):
        read_value("class_prior", "bogus", "Any", "auto")


def test_every_setting_of_every_learner_takes_its_own_default():
    """What a learner starts with can be said on the command line, and comes back as it is."""
    import inspect

    from pulens import learners

    for name in learners.names():
        for parameter in inspect.signature(learners.find(name)).parameters.values():
            default = parameter.default
            text = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
            assert read_value(parameter.name, text, str(parameter.annotation), default) == default, (name, parameter)


def test_numbers_that_were_words_reach_the_learner(rows):
    words = ["--set", "max_features=2", "--set", "class_prior=0.4", "--set", "n_estimators=2"]
    main(["train", "rows.csv", "--out", "model", "--method", "puet", *words])
    parameters = json.loads((rows / "model" / "learner.json").read_text())["parameters"]
    assert (parameters["max_features"], parameters["class_prior"]) == (2, 0.4)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"more": [["1", "2", "0", "7"]]}, "line 62 has 4 fields but the header has 3"),
        ({"more": [["1", "2"]]}, "line 62 has 2 fields but the header has 3"),
        ({"more": [["1e300", "2", "0"]]}, "got 1e+300 in data row 61. Scale the column"),
    ],
)
def test_tables_that_are_not_what_they_seem(rows, capsys, written, message):
    write_rows(rows / "rows.csv", **written)
    assert message in refused(capsys, "train", "rows.csv", "--out", "model", *QUICK)
    assert os.listdir(rows) == ["rows.csv"]


@pytest.mark.parametrize("road", [[], ["--tolerance", "0"]])
def test_evaluate_refuses_a_row_with_a_cell_too_many(tmp_path, capsys, road):
    (tmp_path / "scores.csv").write_text("score,label\n" + "0.5,1\n0.2,0\n" * 5 + "0.1,0,7\n" + "0.3,1\n" * 5)
    refused(capsys, "evaluate", tmp_path / "scores.csv", "--class-prior", "0.4", *road)


@pytest.mark.parametrize("road", [[], ["--tolerance", "0"]])
def test_evaluate_speaks_of_a_separator_that_was_said_wrongly(tmp_path, capsys, road):
    (tmp_path / "scores.csv").write_text("score;label\n" + "0.5;1\n0.2;0\n" * 5)
    words = refused(capsys, "evaluate", tmp_path / "scores.csv", "--class-prior", "0.4", "--delimiter", ",", *road)
    assert "scores.csv: there is no column" in words
    assert "with the separator ',' the first line is one column, 'score;label'" in words
    assert "--delimiter ';'" in words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "rows.csv"], "--out and the file that is read are both 'rows.csv'"),
        (["--out", "nowhere/scores.csv"], "the folder 'nowhere' does not exist"),
        (["--out", "scores.xlsx"], "the file name must end with the format"),
        (["--positive", "1"], "name their column with --label"),
    ],
)
def test_scores_that_could_not_be_written(rows, models, capsys, words, message):
    before = (rows / "rows.csv").read_bytes()
    assert message in refused(capsys, "score", models / "forest", "rows.csv", *words)
    assert (rows / "rows.csv").read_bytes() == before
    assert os.listdir(rows) == ["rows.csv"]


def test_scores_are_written_in_the_format_of_the_ending(rows, models):
    import pyarrow.parquet

    for ending in ("csv", "tsv", "jsonl", "parquet"):
        main(["score", str(models / "forest"), "rows.csv", "--label", "label", "--out", f"scores.{ending}"])
    table = pyarrow.parquet.read_table("scores.parquet")
    assert [str(kind) for kind in table.schema.types] == ["int64", "double"]
    lines = (rows / "scores.csv").read_text().splitlines()
    assert lines[0] == "label,score"
    assert (rows / "scores.tsv").read_text() == "\n".join(lines).replace(",", "\t") + "\n"
    records = [json.loads(line) for line in (rows / "scores.jsonl").read_text().splitlines()]
    assert records == table.to_pylist()
    np.testing.assert_allclose(table["score"], [float(line.split(",")[1]) for line in lines[1:]], rtol=1e-8)


def test_a_label_value_that_no_row_has_is_spoken_of(rows, models, capsys):
    main(["score", str(models / "forest"), "rows.csv", "--label", "label", "--positive", "yse"])
    assert "no row of column 'label' has the label value 'yse'; the column holds '1', '0'" in capsys.readouterr().err


def words_for(command, models):
    if command == "train":
        return ["train", "rows.csv", "--method", "nnpu", "--out", "model", "--class-prior", "0.4"]
    return ["score", str(models / "network"), "rows.csv"]


@pytest.mark.parametrize("command", ["train", "score"])
def test_a_network_without_torch_says_what_to_install(rows, models, command):
    program = "import sys; sys.modules['torch'] = None; from pulens.cli import main; main(sys.argv[1:])"
    words = [sys.executable, "-c", program, *words_for(command, models)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # another process: none has loaded it
    assert done.returncode == 2
    told = "NNPU: training networks needs PyTorch, which is not installed. Install it with: pip install 'pulens[torch]'"
    assert done.stderr == f"pulens: {told}\n"
    assert os.listdir(rows) == ["rows.csv"]


@pytest.mark.parametrize("command", ["train", "score"])
def test_a_network_without_safetensors_says_so_before_it_is_trained(rows, models, command, capsys, monkeypatch):
    from pulens.learners import NNPU

    monkeypatch.setattr(NNPU, "fit", lambda *_: pytest.fail("trained in vain"))
    for name in ("safetensors", "safetensors.torch"):
        monkeypatch.setitem(sys.modules, name, None)
    told = "needs safetensors, which is not installed. Install it with: pip install 'pulens[torch]'"
    assert told in refused(capsys, *words_for(command, models))
    assert os.listdir(rows) == ["rows.csv"]


@pytest.mark.parametrize(
    ("labels", "message"),
    [("1100", "cannot be estimated from 2 labelled and 2 unlabelled rows"), ("1000", "got 1 of a kind")],
)
def test_a_class_prior_is_not_estimated_from_a_handful_of_rows(rows, capsys, labels, message):
    (rows / "rows.csv").write_text("a,label\n" + "".join(f"{place},{one}\n" for place, one in enumerate(labels)))
    assert message in refused(capsys, "train", "rows.csv", "--out", "model", "--method", "puet")


def test_a_seed_below_zero_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,label\n1,1\n2,0\n")
    with pytest.raises(SystemExit) as stop:
        main(["train", "rows.csv", "--seed", "-1", "--out", "model"])
    assert stop.value.code == 2
    assert "-1" in capsys.readouterr().err
