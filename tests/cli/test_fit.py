"""pulens fit: from a table of mixed columns to a judged model, and everything it leaves behind."""

from __future__ import annotations

import csv
import json
import os

import numpy as np
import pytest

from pulens.cli import main

QUICK = ["--set", "n_estimators=4", "--set", "iterations=5", "--set", "random_trees=8", "--folds", "2"]
LABEL = ["--label", "status", "--positive", "confirmed"]
JUDGE = ["--redraws", "100", "--class-prior", "0.3"]


def write_customers(path, rows=240, *, leak=False):
    rng = np.random.default_rng(5)
    positive = rng.random(rows) < 0.3
    labelled = positive & (rng.random(rows) < 0.5)
    lines = [["customer_id", "age", "job", "since", "member", "status", "truth", *(["closed"] if leak else [])]]
    for row in range(rows):
        age = "" if rng.random() < 0.1 else f"{rng.normal(40 + 15 * positive[row], 6):.1f}"
        job = "nurse" if positive[row] and rng.random() < 0.7 else rng.choice(["clerk", "cook", ""])
        since = f"20{rng.integers(10, 24)}-0{rng.integers(1, 10)}-1{rng.integers(0, 10)}"
        member = rng.choice(["true", "false"])
        status = "confirmed" if labelled[row] else ""
        end = [["", "yes"][int(labelled[row])]] if leak else []
        lines.append([f"C{row:04d}", age, job, since, member, status, int(positive[row]), *end])
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    return positive


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """One run with every output, and the truth."""
    folder = tmp_path_factory.mktemp("fitted")
    truth = write_customers(folder / "customers.csv")
    out = ["--html", "report.html", "--json", "answer.json", "--out", "model", "--scores", "scored.csv"]
    before = os.getcwd()
    os.chdir(folder)
    try:
        main(["fit", "customers.csv", *LABEL, "--id", "customer_id", "--drop", "truth", *QUICK, *JUDGE, *out, "-q"])
    finally:
        os.chdir(before)
    return folder, truth


def refused(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(list(map(str, words)))
    assert stopped.value.code == 2
    return capsys.readouterr().err


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_scored_table_keeps_every_column_and_its_text(fitted):
    folder, truth = fitted
    given, scored = rows_of(folder / "customers.csv"), rows_of(folder / "scored.csv")
    assert [{name: row[name] for name in given[0]} for row in scored] == given
    assert {row["fold"] for row in scored} == {"1", "2"}
    scores = np.array([float(row["score"]) for row in scored])
    assert np.mean(scores[truth][:, None] > scores[~truth]) > 0.8
    threshold = json.loads((folder / "answer.json").read_text())["threshold"]
    assert [int(row["predicted"]) for row in scored] == (scores >= threshold - 1e-9).astype(int).tolist()


def test_the_answer_is_that_of_evaluating_the_scored_table(fitted, monkeypatch, capsys):
    folder, _ = fitted
    monkeypatch.chdir(folder)
    main(["evaluate", "scored.csv", *LABEL, *JUDGE, "--json", "-"])
    again, answer = json.loads(capsys.readouterr().out), json.loads((folder / "answer.json").read_text())
    for name in ("roc_auc", "recall", "precision"):
        assert again["estimates"][name]["value"] == pytest.approx(answer["estimates"][name]["value"], abs=1e-6)
    assert answer["fit"]["columns"] == {"age": "number", "job": "category", "since": "date", "member": "boolean"}
    assert answer["fit"]["folds"] == 2


def test_the_model_scores_new_rows_and_nothing_in_it_is_pickled(fitted, monkeypatch):
    folder, truth = fitted
    monkeypatch.chdir(folder)
    assert sorted(os.listdir("model")) == ["arrays.npz", "columns.json", "learner.json"]
    json.loads((folder / "model" / "columns.json").read_text())
    with np.load(folder / "model" / "arrays.npz", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "fiub" for name in arrays.files)
    words = ["--id", "customer_id", "--id", "job", "--threshold", "0.5", "--out", "new.csv"]
    main(["score", "model", "customers.csv", *words])
    result = rows_of(folder / "new.csv")
    assert list(result[0]) == ["customer_id", "job", "score", "predicted"]
    scores = np.array([float(row["score"]) for row in result])
    assert np.mean(scores[truth][:, None] > scores[~truth]) > 0.85
    assert [int(row["predicted"]) for row in result] == (scores >= 0.5).astype(int).tolist()


def test_the_same_seed_gives_the_same_bytes(here):
    write_customers(here / "customers.csv", 120)
    for name in ("a", "b"):
        out = ["--html", f"{name}.html", "--json", f"{name}.json", "--out", name, "--scores", f"{name}.csv"]
        main(["fit", "customers.csv", *LABEL, "--drop", "truth", *QUICK, *JUDGE, *out, "-q"])
    for ending in ("json", "csv", "html"):
        first, second = ((here / f"{name}.{ending}").read_text() for name in ("a", "b"))
        assert first.replace("a.csv", "b.csv") == second
    assert (here / "a" / "learner.json").read_bytes() == (here / "b" / "learner.json").read_bytes()


def test_identifiers_and_leaks_are_told(here, capsys):
    write_customers(here / "customers.csv", leak=True)
    main(["fit", "customers.csv", *LABEL, "--drop", "truth", *QUICK, *JUDGE, "--json", "-"])
    answer = json.loads(capsys.readouterr().out)
    told = " ".join(answer["warnings"])
    assert "'closed' gives the labels away: the labelled rows have a value in it, and no other row has" in told
    assert "'customer_id' holds 240 different words in 240 rows" in told
    assert list(answer["fit"]["left_out"]) == ["customer_id"]


def test_new_rows_with_other_columns_are_told_or_refused_by_name(fitted, monkeypatch, capsys):
    folder, _ = fitted
    monkeypatch.chdir(folder)
    text = (folder / "customers.csv").read_text()
    (folder / "pilots.csv").write_text(text.replace("nurse", "pilot"))
    main(["score", "model", "pilots.csv", "--out", "p.csv"])
    assert "'job' holds words never seen in training" in capsys.readouterr().err
    lines = text.splitlines()
    (folder / "words.csv").write_text("\n".join([lines[0], "C1,old,nurse,2020-01-01,true,,0"]))
    assert "column 'age' must hold numbers, as it did when the model was trained, got 'old'" in refused(
        capsys, "score", "model", "words.csv"
    )
    (folder / "fewer.csv").write_text("age,job\n40,cook\n")
    assert "there are no columns 'since', 'member'" in refused(capsys, "score", "model", "fewer.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--folds", "1"], "folds must be a whole number of at least 2"),
        (["--folds", "99"], "--folds 99 needs at least 99 labelled rows"),
        (["--method", "oracle"], "needs the true class of every training row"),
        (["--positive", "maybe", "--label", "truth"], "no row of column 'truth' has the label value"),
        (["--feature", "status"], "--feature 'status' is the column of labels"),
        (["--category", "jbo"], "Did you mean 'job'?"),
        (["--date", "since"], "--date must be COLUMN=FORMAT"),
        (["--date", "since=%d.%m.%Y"], "which is not a date written as '%d.%m.%Y'"),
        (["--scores", "customers.csv"], "one would replace the other"),
        (["--out", "model", "--html", "model/report.html"], "lies in --out 'model'"),
        (["--scores", "scored.csv", "--column", "age"], "the table has a column 'age' already"),
        (["--scores", "scored.xyz"], "the file name must end with the format"),
        (["--class-prior", "0.01"], "impossible in the single-set scenario"),
        (["--id", "nobody"], "there is no column 'nobody'"),
        (["--cluster", "age"], "the cluster column 'age' has no value"),
    ],
)
def test_mistakes_end_with_one_message_and_nothing_written(here, capsys, words, message):
    write_customers(here / "customers.csv", 60)
    if words[0] == "--out":
        (here / "model").mkdir()
    label = ["--label", "status"] if "--positive" in words else LABEL
    err = refused(capsys, "fit", "customers.csv", *label, "--drop", "truth", "--json", "answer.json", *QUICK, *words)
    assert message in err
    assert sorted(os.listdir(here)) == ["customers.csv", *(["model"] if words[0] == "--out" else [])]


def test_a_mostly_numeric_column_is_refused_with_the_options_that_say_what_it_is(here, capsys):
    write_customers(here / "customers.csv", 60)
    text = (here / "customers.csv").read_text().replace("C0003,", "C0003,n/a#", 1)
    text = "\n".join(line.replace("#" + line.partition("#")[2].partition(",")[0], "") for line in text.splitlines())
    (here / "customers.csv").write_text(text)
    words = ["fit", "customers.csv", *LABEL, "--drop", "truth", *QUICK, *JUDGE, "-q", "--json", "answer.json"]
    said = refused(capsys, *words)
    assert "column 'age' must hold numbers, as most of its rows do, got 'n/a' in data row 4 (1 such row)" in said
    assert "--missing 'n/a'" in said
    main([*words, "--missing", "n/a"])
    main([*words, "--category", "age"])
    assert json.loads((here / "answer.json").read_text())["fit"]["left_out"].keys() >= {"age"}


@pytest.mark.parametrize("method", ["puet", "elkan_noto"])
def test_other_learners_get_columns_prepared_for_them(here, method):
    truth = write_customers(here / "customers.csv")
    quick = ["--set", "n_estimators=5"] if method == "puet" else []
    words = ["--method", method, *quick, "--folds", "2", *JUDGE, "-q", "--scores", "s.csv", "--out", "m"]
    main(["fit", "customers.csv", *LABEL, "--id", "customer_id", "--drop", "truth", *words])
    scores = np.array([float(row["score"]) for row in rows_of(here / "s.csv")])
    assert np.mean(scores[truth][:, None] > scores[~truth]) > 0.8
    main(["score", "m", "customers.csv", "--out", "again.csv"])


def test_next_steps_do_not_read_a_file_that_nobody_wrote(here, capsys):
    write_customers(here / "customers.csv")
    words = ["fit", "customers.csv", *LABEL, "--drop", "truth", "--method", "elkan_noto", "--folds", "2", *JUDGE]
    main(words)
    shown = " ".join(capsys.readouterr().out.split())  # said before the command that reads it, not after
    step = shown.partition(" next First write the scored rows: add --scores scored.csv to this command. ")[2]
    assert "audit plan scored.csv" in step
    main([*words, "--scores", "mine.csv"])
    shown = capsys.readouterr().out
    assert "wrote       mine.csv" in shown
    assert "scored.csv" not in shown


def test_training_takes_the_same_columns(here, capsys):
    write_customers(here / "customers.csv")
    quick = QUICK[:-2]
    main(["train", "customers.csv", *LABEL, "--id", "customer_id", "--drop", "truth", *quick, "--out", "m",
          "--class-prior", "0.2:0.4"])  # fmt: skip
    assert "with 4 columns. Written to m. next: pulens score m new.csv" in " ".join(capsys.readouterr().out.split())
    main(["score", "m", "customers.csv", "--all-columns", "--column", "chance", "--out", "s.jsonl"])
    first = json.loads((here / "s.jsonl").read_text().splitlines()[0])
    assert list(first)[:2] == ["customer_id", "age"]
    assert 0 < first["chance"] < 1


def test_rows_of_one_cluster_stay_in_one_fold(here):
    write_customers(here / "customers.csv", 120)
    rows = rows_of(here / "customers.csv")
    with (here / "visits.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "patient"])
        writer.writerows([*row.values(), f"p{place // 3}"] for place, row in enumerate(rows))
    words = ["--drop", "truth", "--drop", "customer_id", *QUICK, *JUDGE, "--scores", "s.csv", "-q"]
    main(["fit", "visits.csv", *LABEL, "--cluster", "patient", *words])
    folds = {}
    for row in rows_of(here / "s.csv"):
        folds.setdefault(row["patient"], set()).add(row["fold"])
    assert {len(result) for result in folds.values()} == {1}


def test_a_table_with_semicolons_read_as_one_with_commas_is_told_by_its_separator(here, capsys):
    (here / "table.csv").write_text("customer_id;age;status\n1;41,5;confirmed\n2;38,0;\n")
    with pytest.raises(SystemExit, match="2"):
        main(["fit", "table.csv", "--delimiter", ",", *LABEL])
    assert "If columns are separated by ';', say so: --delimiter ';'" in " ".join(capsys.readouterr().err.split())


def test_where_nobody_watches_a_line_says_from_time_to_time_what_is_done(monkeypatch, capsys):
    import time

    from pulens.cli import _output

    monkeypatch.setattr(_output, "EVERY", 0.05)
    with _output.working("Reading rows") as tell:
        tell("Training without fold 1 (1 of 7)")
        time.sleep(0.3)
    assert "Training without fold 1 (1 of 7): 0 min so far\n" in capsys.readouterr().err
    with _output.working("Reading rows", quiet=True):
        time.sleep(0.2)
    monkeypatch.setattr(_output, "EVERY", 60.0)
    with _output.working("Reading rows"):
        pass
    assert capsys.readouterr().err == ""
