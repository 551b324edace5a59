"""Every answer in the terminal is 24 lines of 80 columns: the verdict, what it assumes, the next step."""

import csv
import datetime
import re
from contextlib import nullcontext

import numpy as np
import pytest

from pulens.cli import main

LABEL = ("--label", "outcome", "--positive", "fraud confirmed")
SCORE = ("claims.csv", "--score", "risk_v2", *LABEL)
QUEUE = ("--reviews", "queue.csv", "--id", "claim")
LINES, COLUMNS = 24, 80
ROWS = 6000


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A claims desk: two models, confirmed fraud among hidden fraud, more of it in the last days, a checked queue."""
    folder = tmp_path_factory.mktemp("desk")
    rng = np.random.default_rng(7)
    day = np.sort(rng.integers(0, 120, ROWS))
    fraud = rng.random(ROWS) < np.where(day >= 100, 0.2, 0.09)
    old, new = rng.normal(1.3 * fraud, 1), rng.normal(2.1 * fraud, 1)
    confirmed = fraud & (rng.random(ROWS) < 0.35 / (1 + np.exp(1 - new)))
    outcome = np.where(confirmed, "fraud confirmed", np.where(rng.random(ROWS) < 0.4, "paid", ""))
    columns = {
        "claim": [f"C{place:06d}" for place in range(ROWS)],
        "received": [str(datetime.date(2026, 5, 1) + datetime.timedelta(int(one))) for one in day],
        "region": rng.choice(["north", "south", "east", "west"], ROWS),
        "amount": np.round(np.exp(rng.normal(6 + 0.4 * fraud, 1)), 2),
        "risk_v1": np.round(1 / (1 + np.exp(3 - 1.3 * old)), 5),
        "risk_v2": np.round(1 / (1 + np.exp(4.4 - 2.1 * new)), 5),
        "outcome": outcome,
    }
    for name, rows in (("claims.csv", ROWS), ("few.csv", 3000)):
        with open(folder / name, "w", newline="") as file:
            csv.writer(file).writerows([columns, *zip(*(column[:rows] for column in columns.values()), strict=True)])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        plan = ["audit", "plan", *SCORE, "--id", "claim", "--threshold", "0.3", "--out", "queue.csv", "--quiet"]
        main(plan)
    with open(folder / "queue.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with open(folder / "queue.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"answer": int(fraud[int(row["claim"][1:])])} for row in rows)
    return folder


PRIOR = ("--class-prior", "0.1")
ASKED = {
    "evaluate": ("evaluate", *SCORE),
    "evaluate with a prior": ("evaluate", *SCORE, *PRIOR),
    "evaluate with a range": ("evaluate", *SCORE, "--class-prior", "0.08:0.13"),
    "evaluate, random labels": ("evaluate", *SCORE, *PRIOR, "--labelling", "random"),
    "evaluate, a factor": ("evaluate", *SCORE, *PRIOR, "--labelling", "3"),
    "evaluate, label noise": ("evaluate", *SCORE, *PRIOR, "--label-noise", "0.05"),
    "evaluate --group-by": ("evaluate", *SCORE, *PRIOR, "--same-prior", "--group-by", "region"),
    "evaluate --within": ("evaluate", *SCORE, *PRIOR, "--within", "region"),
    "evaluate --top": ("evaluate", *SCORE, *PRIOR, "--top", "20", "--top", "100", "--top", "1000"),
    "evaluate --reviews": ("evaluate", *SCORE, *QUEUE),
    "gaps": ("evaluate", *SCORE, *PRIOR, "--same-prior", "--group-by", "region", "--gaps", "recall"),
    "compare": ("compare", *SCORE, "--score", "risk_v1", *PRIOR),
    "compare --reviews": ("compare", *SCORE, "--score", "risk_v1", "--threshold", "0.3", *QUEUE),
    "calibrate": ("calibrate", *SCORE, *PRIOR),
    "calibrate --fit": ("calibrate", *SCORE, *PRIOR, "--fit", "isotonic"),
    "calibrate --reviews": ("calibrate", *SCORE, *QUEUE),
    "decide by costs": ("decide", *SCORE, *PRIOR, "--cost-miss", "500", "--cost-alarm", "20"),
    "decide by capacity": ("decide", *SCORE, *PRIOR, "--capacity", "10", "--volume", "190"),
    "watch": ("watch", *SCORE, *PRIOR, "--time", "received", "--reference-until", "2026-07-30"),
    "prior": ("prior", *SCORE),
    "prior --reviews": ("prior", *SCORE, *QUEUE),
    "audit plan": ("audit", "plan", *SCORE, "--id", "claim", "--budget", "200", "--out", "other.csv"),
    "audit read": ("audit", "read", "queue.csv"),
    "fit": ("fit", "few.csv", *LABEL, "--id", "claim", "--folds", "2", "--learner", "elkan_noto"),
    "fit --out": (
        *("fit", "few.csv", *LABEL, *PRIOR, "--id", "claim", "--folds", "2", "--learner", "elkan_noto"),
        *("--out", "model", "--scores", "scored.csv"),
    ),
}


@pytest.mark.parametrize("asked", ASKED)
def test_every_answer_fits_on_one_screen(asked, desk, monkeypatch, capsys):
    monkeypatch.chdir(desk)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    with pytest.raises(SystemExit, match="3") if asked == "watch" else nullcontext():  # it found a change
        main(list(ASKED[asked]))
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    assert 5 < len(lines) <= LINES, "\n".join(lines)
    logged = lines[:-1] if asked == "watch" else lines  # its last line is one for a log
    assert max(map(len, logged)) <= COLUMNS, max(logged, key=len)
    assert lines[0][0].isupper() or asked in ("compare", "gaps", "audit plan")  # a verdict comes first
    said = [one for one in re.split(r"(?<=[.:]) (?=[A-Z])", " ".join(" ".join(lines).split())) if len(one) > 60]
    assert len(said) == len(set(said)), said  # and nothing is said twice


OTHERS = {
    "evaluate --within --explain": ("evaluate", *SCORE, *PRIOR, "--within", "region", "--explain"),
    "evaluate --reviews --explain": ("evaluate", *SCORE, *QUEUE, *PRIOR, "--explain"),
    "evaluate --group-by --explain": ("evaluate", *SCORE, *PRIOR, "--group-by", "region", "--explain"),
    "bounds": ("evaluate", *SCORE, *PRIOR, "--bounds"),
    "tally": ("tally", *SCORE, "-o", "desk.tally"),
    "train": (*("train", "few.csv", *LABEL, "--id", "claim", "--learner", "elkan_noto"), *("--out", "trained")),
    "synthesise": (
        *("synthesise", "claims.csv", "--target", "region", "--positive", "north", "--labelled", "50"),
        *("--out", "made.csv"),
    ),
    "learners advise": ("learners", "advise", "claims.csv", *LABEL),
    "reproduce --list": ("reproduce", "--list"),
}


@pytest.mark.parametrize("asked", OTHERS)
def test_no_line_of_any_other_command_is_longer_than_a_terminal(asked, desk, monkeypatch, capsys):
    """``learners advise`` and ``bounds`` had no verdict, ``synthesise`` printed a repr, others 84 to 104 columns."""
    monkeypatch.chdir(desk)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    main(list(OTHERS[asked]))
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= COLUMNS, text
    assert "(single-set:" not in text
    if asked == "learners advise":  # 26 lines that named 16 data sets and nothing to type
        assert len(text.splitlines()) <= LINES, text
        assert text.endswith(
            "  pulens fit claims.csv --label outcome --positive 'fraud confirmed' \\\n    --learner boosted_pu\n"
        )
    assert "dkw" not in text


def test_a_scored_table_says_where_its_scores_are(desk, monkeypatch, capsys):
    """``pulens score`` ended without a word."""
    monkeypatch.chdir(desk)
    main(["train", "few.csv", *LABEL, "--id", "claim", "--learner", "elkan_noto", "--out", "model_of_few"])
    capsys.readouterr()
    main(["score", "model_of_few", "few.csv", "--out", "few_scored.csv"])
    assert capsys.readouterr().out == "Scored 3,000 rows: column score of few_scored.csv.\n"


def test_the_threshold_after_fit_has_the_digits_of_the_scored_table(desk, monkeypatch, capsys):
    """With all sixteen the row at the threshold, written with nine, could fall below it."""
    monkeypatch.chdir(desk)
    main(["fit", "few.csv", *LABEL, "--id", "claim", "--folds", "2", "--learner", "elkan_noto", "--scores", "nine.csv"])
    typed = re.search(r"--threshold (\S+)", capsys.readouterr().out)
    with open("nine.csv", newline="") as file:
        assert typed is not None
        assert typed[1] in {row["score"] for row in csv.DictReader(file)}


def test_the_first_rows_of_a_list_are_a_table_with_counts_that_are_possible(desk, monkeypatch, capsys):
    monkeypatch.chdir(desk)
    main(list(ASKED["evaluate --top"]))
    found = re.findall(r"^ +([\d,]+) +([\d,]+) +([\d,]+) to ([\d,]+) +([\d.]+)%$", capsys.readouterr().out, re.M)
    counts = [[float(cell.replace(",", "")) for cell in row] for row in found]
    assert [row[0] for row in counts] == [20, 100, 1000]
    for k, expected, low, high, share in counts:
        assert low <= expected <= high <= k
        assert share <= 100 * k / (0.1 * ROWS) + 0.1


@pytest.mark.parametrize("command", [(), ("learners",), ("bench",), ("audit",)])
def test_a_command_without_its_own_command_shows_its_help_line_by_line(command, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(list(command))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 8
    assert max(map(len, lines)) <= 110


def test_an_answer_that_assumes_labels_in_practice_says_how_to_assume_random_ones(desk, monkeypatch, capsys):
    monkeypatch.chdir(desk)
    main(list(ASKED["evaluate with a prior"]))
    assert "easy positives first, as in practice (if random: --labelling random)" in capsys.readouterr().out
    main(list(ASKED["evaluate, random labels"]))
    assert "if random" not in capsys.readouterr().out
