"""What people do in their first minutes, step by step: every refusal names the next step, and following it arrives.

An analyst with a spreadsheet's CSV, a notebook user, a lake of Parquet files, a person whose labels are 1 and -1.
"""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest

import pulens
from pulens.cli import main

TRUE_PRIOR = 0.25


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(11)
    hidden = rng.random(4000) < TRUE_PRIOR
    scores = 1 / (1 + np.exp(-rng.normal(np.where(hidden, 1.4, -1.0), 1.0)))
    return {"hidden": hidden, "scores": scores.round(4), "labelled": hidden & (rng.random(4000) < 0.3)}


def true_precision(truth, threshold):
    flagged = truth["scores"] >= threshold
    return truth["hidden"][flagged].mean()


class Terminal:
    """Runs commands as typed, and keeps what was said."""

    def __init__(self, capsys):
        self.capsys = capsys

    def __call__(self, command: str) -> tuple[int, str]:
        code = 0
        try:
            main(shlex.split(command)[1:])
        except SystemExit as end:
            code = int(end.code or 0)
        said = self.capsys.readouterr()
        return code, said.out if code == 0 else said.err

    def refused(self, command: str) -> str:
        """The one message of a command that is refused, short enough to read."""
        code, said = self(command)
        assert code == 2, said
        words = said.removeprefix("pulens: ").strip()
        assert len(words) <= 400
        assert "\n" not in words
        return words

    def answered(self, command: str) -> str:
        code, said = self(command)
        assert code == 0, said
        return said


@pytest.fixture
def terminal(capsys):
    return Terminal(capsys)


def test_an_analyst_with_a_semicolon_table_follows_the_messages(tmp_path, terminal, truth):
    file = tmp_path / "export.csv"
    rows = zip(truth["scores"], truth["labelled"], strict=True)
    lines = [f"{score:.4f}".replace(".", ",") + (";bestätigt" if label else ";") for score, label in rows]
    file.write_text("\n".join(["wert;status", *lines]), encoding="utf-8-sig")
    command = f"pulens evaluate {file} --class-prior {TRUE_PRIOR}"

    words = terminal.refused(command)  # semicolons and decimal commas are detected
    assert "'label' (set by --label)" in words
    assert "'score' (--score)" in words
    assert "'wert', 'status'" in words
    command += " --score wert --label status"

    words = terminal.refused(command)
    assert "'bestätigt'" in words
    assert "--positive" in words
    command += f" --positive bestätigt --threshold 0.5 --html {tmp_path / 'report.html'}"

    said = terminal.answered(command)
    row = r"Precision +([\d.]+) +([\d.]+) to ([\d.]+) +([\d.]+) +([\d.]+)\s"
    value, low, high, random, uncorrected = map(float, re.search(row, said).groups())
    assert low < value < high
    assert random == pytest.approx(true_precision(truth, 0.5), abs=0.06)  # labels were drawn at random here
    assert uncorrected < value / 1.5
    assert (tmp_path / "report.html").stat().st_size > 50_000


def test_a_notebook_user_gets_numbers_tables_a_card_and_help(truth):
    import pandas

    frame = pandas.DataFrame({"p": truth["scores"], "status": np.where(truth["labelled"], "confirmed", None)})
    with pytest.raises(pulens.PulensError, match=r"'label' \(set by label= .* nor 'score' \(score= .*'p', 'status'"):
        pulens.evaluate(frame, labelling="random")
    evaluation = pulens.evaluate(
        *(frame,),
        score="p",
        label="status",
        positive="confirmed",
        class_prior=TRUE_PRIOR,
        threshold=0.5,
        labelling="random",
    )
    with pytest.raises(KeyError, match="Did you mean 'roc_auc'"):
        evaluation["auc"]
    assert evaluation["precision"].interval.low < true_precision(truth, 0.5) < evaluation["precision"].interval.high
    table = evaluation.to_frame("pandas").set_index("metric")
    assert table.loc["precision", "value"] == evaluation["precision"].value
    card = evaluation._repr_html_()
    assert f"uncorrected {table.loc['precision', 'uncorrected']:.3f}" in card
    assert len(card) < 60_000


def test_a_lake_of_parquet_files_is_read_as_one_table(tmp_path, terminal, truth):
    polars = pytest.importorskip("polars")
    for day in range(4):
        place = tmp_path / "lake" / f"day=2026-01-0{day + 1}"
        place.mkdir(parents=True)
        part = slice(1000 * day, 1000 * (day + 1))
        columns = {"score": truth["scores"][part], "fraud": truth["labelled"][part].astype(int)}
        polars.DataFrame(columns).write_parquet(place / "part.parquet")
    command = f"pulens evaluate {tmp_path / 'lake'} --class-prior {TRUE_PRIOR} --threshold 0.5"
    words = terminal.refused(command)
    assert "no column 'label' (set by --label)" in words
    assert "'fraud'" in words
    said = terminal.answered(command + " --label fraud")
    whole = pulens.evaluate(
        truth["labelled"].astype(int), truth["scores"], class_prior=TRUE_PRIOR, threshold=0.5, labelling="random"
    )
    assert f"{whole['precision'].value:.3f}" in said
    later = terminal.answered(command + " --label fraud --where \"day > '2026-01-02'\"")
    assert f"{truth['labelled'][2000:].sum():,} labelled" in later
    by_day = terminal.answered(f"{command} --label fraud --group-by day --same-prior")
    assert by_day.count("2026-01-0") >= 4


def test_labels_of_one_and_minus_one_ask_what_minus_one_means(tmp_path, terminal, truth):
    file = tmp_path / "scores.csv"
    rows = zip(truth["scores"], truth["labelled"], strict=True)
    lines = [f"{score},{1 if label else -1}" for score, label in rows]
    file.write_text("\n".join(["score,label", *lines]))
    command = f"pulens evaluate {file} --class-prior {TRUE_PRIOR} --threshold 0.5"
    words = terminal.refused(command)
    assert "known negative" in words
    assert "--negative -1 or --unlabelled -1" in words  # which of the two it is, only the person knows
    said = terminal.answered(f"{command} --unlabelled -1")
    random = re.search(r"Precision +[\d.]+ +[\d.]+ to [\d.]+ +([\d.]+)", said)[1]
    assert float(random) == pytest.approx(true_precision(truth, 0.5), abs=0.06)  # labels were drawn at random here
    with pytest.raises(pulens.PulensError, match="negative=-1 or unlabelled=-1"):
        pulens.evaluate(np.where(truth["labelled"], 1, -1), truth["scores"], class_prior=TRUE_PRIOR, labelling="random")
