"""Evaluations beside checked rows: what is proved comes first, what is contradicted is said before it is shown."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import pulens
from pulens.errors import AssumptionError, InputError
from pulens.notice import Severity
from pulens.report.text import evaluation_text


def world(seed: int = 3, rows: int = 1500, factor: float = 4.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, scores, and labels that favour positives with high scores by a factor."""
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.15
    scores = rng.normal(1.6 * truth, 1)
    chance = np.where(scores > 1.6, 0.6, 0.6 / factor)
    return truth, scores, (truth & (rng.random(rows) < chance)).astype(int)


def queue_of(folder: Path, seed: int = 3, factor: float = 4.0, budget: int = 200, **options) -> tuple[Path, Path]:
    """A table and its answered queue."""
    truth, scores, labels = world(seed, factor=factor)
    table, queue = folder / "scores.csv", folder / "queue.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "score", "label"])
        writer.writerows([f"c{k}", repr(float(s)), y] for k, (s, y) in enumerate(zip(scores, labels, strict=True)))
    pulens.plan_audit(str(table), threshold=1.4, budget=budget, **options).write(queue)
    answered(queue, truth)
    return table, queue


def answered(queue: Path, truth: np.ndarray) -> None:
    with queue.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["answer"] = "yes" if truth[int(row["row"])] else "no"
    with queue.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_headlines_are_the_numbers_that_assume_nothing(tmp_path: Path) -> None:
    table, queue = queue_of(tmp_path)
    evaluation = pulens.evaluate(str(table), reviews=str(queue), redraws=100, labelling="random")
    assert evaluation.threshold == 1.4
    assert evaluation.audit is not None
    assert evaluation.audit.counts.checked.sum() == 200
    precision = evaluation.audit.estimates["precision"]
    assert precision.basis == "design"
    text = str(evaluation)
    assert text.startswith(f"Of the rows flagged at 1.4 or above, {100 * precision.value:.0f}%")
    assert "assuming nothing" in text
    assert evaluation.class_prior.method.startswith("audit of 200 rows")
    told = evaluation.to_dict()
    assert told["audit"]["estimates"]["recall"]["basis"] == "design"
    assert told["estimates"]["recall"]["basis"] in ("random labelling", "possible worlds")


def test_labels_that_are_not_random_are_said_before_every_recovered_number(tmp_path: Path) -> None:
    table, queue = queue_of(tmp_path, factor=8.0, budget=300)
    evaluation = pulens.evaluate(str(table), reviews=str(queue), redraws=100, labelling="random")
    assert evaluation.audit.labelling.contradicted
    assert (evaluation.notices[0].severity, evaluation.notices[0].code) == (Severity.SERIOUS, "labelling-not-random")
    text = evaluation_text(evaluation, explain=True)
    assert text.index("serious: Random labelling is contradicted") < text.index("uncorrected")
    header = next(line for line in text.splitlines() if "assuming nothing" in line)
    assert header.split() == ["assuming", "nothing"]
    page = evaluation.to_html()
    assert page.index("labels favoured high scores") < page.index("Recovered, if labels are random: contradicted")
    assert "contradicted by the audit" in evaluation.to_markdown()


def test_recovered_numbers_are_shown_beside_those_of_the_audit(tmp_path: Path) -> None:
    table, queue = queue_of(tmp_path, factor=1.0)
    evaluation = pulens.evaluate(str(table), reviews=str(queue), redraws=100, labelling="random")
    assert not evaluation.audit.labelling.contradicted
    header = next(
        line
        for line in evaluation_text(evaluation, explain=True).splitlines()
        if "assuming nothing" in line and "recovered" in line
    )
    assert header.split() == ["assuming", "nothing", "recovered"]
    assert "labelling-not-random" not in {notice.code for notice in evaluation.notices}
    assert "would be noticed with probability" in " ".join(evaluation_text(evaluation, explain=True).split())


def test_an_answer_with_checked_rows_prints_one_number_to_quote(tmp_path: Path) -> None:
    """Three precisions were printed: of the audit, with random labels, and recovered."""
    table, queue = queue_of(tmp_path)
    text = str(pulens.evaluate(str(table), reviews=str(queue), redraws=100))
    assert sum(line.startswith("  Precision ") for line in text.splitlines()) == 1
    assert "recovered  " not in text


def test_a_table_that_changed_since_the_plan_is_refused(tmp_path: Path) -> None:
    table, queue = queue_of(tmp_path)
    lines = table.read_text().splitlines()
    table.write_text("\n".join([*lines, "new,0.3,0"]))
    with pytest.raises(InputError, match="the table has changed since the plan"):
        pulens.evaluate(str(table), reviews=str(queue), redraws=100, labelling="random")


def test_answers_written_into_the_table_as_labels_are_taken_out_again(tmp_path: Path) -> None:
    table, queue = queue_of(tmp_path)
    before = pulens.evaluate(str(table), reviews=str(queue), redraws=100, labelling="random")
    with queue.open(newline="") as file:
        result = {int(row["row"]): row["answer"] for row in csv.DictReader(file)}
    lines = table.read_text().splitlines()
    for place, answer in result.items():
        head = lines[place + 1].rpartition(",")[0]
        lines[place + 1] = f"{head},{1 if answer == 'yes' else -1}"
    table.write_text("\n".join(lines))
    after = pulens.evaluate(str(table), reviews=str(queue), redraws=100, labelling="random")
    assert after.tally == before.tally
    assert after.estimates["recall"].value == before.estimates["recall"].value


def test_a_queue_without_its_plan_is_read_as_reviews_by_its_chances(tmp_path: Path) -> None:
    table, queue = queue_of(tmp_path)
    planned = pulens.evaluate(str(table), reviews=str(queue), redraws=100, labelling="random")
    queue.with_suffix(".audit.json").unlink()
    alone = pulens.evaluate(str(table), reviews=str(queue), threshold=1.4, labelling="random")
    for name in ("precision", "recall", "class_prior"):
        assert alone.audit.estimates[name].value == pytest.approx(planned.audit.estimates[name].value)


def test_rows_and_ids_join_the_same_answers(tmp_path: Path) -> None:
    truth, scores, labels = world()
    chance = np.where(scores > 1.4, 0.5, 0.05)
    looked = (np.random.default_rng(1).random(scores.size) < chance) & (labels == 0)
    answer = ["" if not one else int(y) for one, y in zip(looked, truth, strict=True)]
    by_line = pulens.read_reviews(labels, scores, reviews={"answer": answer, "probability": chance}, threshold=1.4)
    assert by_line.counts.checked.sum() == looked.sum()
    table = tmp_path / "scores.csv"
    log = tmp_path / "log.csv"
    order = np.random.default_rng(2).permutation(scores.size)
    table.write_text(
        "case,score,label\n" + "".join(f"c{k},{float(scores[k])!r},{labels[k]}\n" for k in range(scores.size))
    )
    log.write_text("case,answer,probability\n" + "".join(f"c{k},{answer[k]},{chance[k]}\n" for k in order))
    by_id = pulens.read_reviews(str(table), reviews=str(log), id="case", threshold=1.4)
    assert by_id.counts.found.tolist() == by_line.counts.found.tolist()
    assert by_id.counts.rows.tolist() == by_line.counts.rows.tolist()


def test_a_review_from_the_top_says_what_it_leaves_open() -> None:
    truth, scores, labels = world()
    answer = ["" if s < 1.4 or y else int(t) for t, s, y in zip(truth, scores, labels, strict=True)]
    evaluation = pulens.evaluate(
        labels, scores, reviews={"answer": answer}, reviewed_above=1.4, class_prior=0.15, labelling="random"
    )
    assert evaluation.threshold == 1.4
    recall = evaluation.audit.estimates["recall"]
    assert (recall.basis, recall.interval.confidence) == ("bounds", None)
    result = evaluation.audit.estimates["precision"]
    assert result.value == pytest.approx(truth[scores >= 1.4].mean())
    assert result.interval.width == pytest.approx(0)
    assert "had no chance of being checked" in " ".join(str(evaluation).split())
    assert evaluation.to_dict()["identified"]["exactly"] == ["precision"]


def test_labels_that_are_all_answers_leave_the_review_alone() -> None:
    truth, scores, _ = world()
    labels = np.where(scores >= 1.4, np.where(truth, 1, -1), 0)
    with pytest.raises(InputError, match=r"pulens\.read_reviews"):
        pulens.evaluate(labels, scores, reviewed_above=1.4, labelling="random")
    result = pulens.read_reviews(labels, scores, reviewed_above=1.4)
    assert result.estimates["precision"].value == pytest.approx(truth[scores >= 1.4].mean())
    assert result.estimates["recall"].undefined_because


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": np.ones(1500)}, "weighted rows are not supported"),
        ({"label_noise": 0.1}, "it is not known which are not"),
        ({"audit": (3, 20)}, "give one"),
        ({"reviewed_below_share": 0.1}, "needs reviewed_above"),
        ({"scenario": "case-control"}, "say scenario='single-set'"),
    ],
)
def test_what_does_not_go_with_reviews_is_refused(tmp_path: Path, options: dict, words: str) -> None:
    table, queue = queue_of(tmp_path)
    _, scores, labels = world()
    source = (labels, scores) if "weights" in options else (str(table),)
    with pytest.raises((InputError, AssumptionError), match=words):
        pulens.evaluate(*source, reviews=str(queue), **options, labelling="random")


def test_pages_of_audits_escape_what_users_typed(tmp_path: Path) -> None:
    _, queue = queue_of(tmp_path)
    result = pulens.read_audit(queue)
    page = result.to_html(tmp_path / "audit.html", title="<script>alert(1)</script>")
    assert (tmp_path / "audit.html").read_text(encoding="utf-8").strip() == page
    assert "<script>alert(1)" not in page
    assert "default-src 'none'" in page
    assert result.plan.digest in page
    assert "Who gets labelled" in page
    assert "What more rows would give" in page


def test_notebooks_show_both_columns_before_what_is_recovered(tmp_path: Path) -> None:
    table, queue = queue_of(tmp_path)
    shown = pulens.evaluate(str(table), reviews=str(queue), redraws=100, labelling="random")._repr_html_()
    assert shown.index("assuming nothing") < shown.index("uncorrected")


def test_answers_joined_to_rows_are_those_of_the_plan(tmp_path: Path) -> None:
    table, queue = queue_of(tmp_path)
    rows = pulens.join_reviews(str(table), reviews=str(queue))
    planned = pulens.read_audit(queue).counts
    counts = rows.counts(rows.scores >= 1.4)
    for name in ("rows", "checked", "found", "labelled"):
        assert getattr(counts, name).tolist() == getattr(planned, name).tolist()


def test_an_answer_that_was_read_before_is_taken_as_it_is() -> None:
    truth, scores, labels = world()
    chance = np.where(scores > 1.4, 0.5, 0.05)
    looked = (np.random.default_rng(1).random(scores.size) < chance) & (labels == 0)
    log = {"answer": ["" if not one else int(y) for one, y in zip(looked, truth, strict=True)], "probability": chance}
    result = pulens.read_reviews(labels, scores, reviews=log, threshold=1.4)
    evaluation = pulens.evaluate(labels, scores, reviews=result, confidence=None, labelling="random")
    assert evaluation.audit is result
    assert evaluation.threshold == 1.4
    with pytest.raises(InputError, match="has changed since"):
        pulens.evaluate(labels[:-1], scores[:-1], reviews=result, labelling="random")


def test_a_queue_without_answers_is_refused(tmp_path: Path) -> None:
    _, scores, labels = world()
    pulens.plan_audit(labels, scores, threshold=1.4, budget=50).write(tmp_path / "queue.csv")
    with pytest.raises(InputError, match="answered yet"):
        pulens.evaluate(labels, scores, reviews=str(tmp_path / "queue.csv"), labelling="random")
