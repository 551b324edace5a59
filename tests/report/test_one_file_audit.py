"""The audit of the one page is that of the command line: the same queue to the byte, the same numbers from answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from one_file_driver import answers_of, audit_answers, audit_plan, differences
from pulens.audits import from_counts
from pulens.audits.queue import plan_bytes, queue_bytes
from pulens.audits.words import forecast_lines
from pulens.errors import PulensError
from pulens.evaluation.audit import more_audit, plan_audit, read_audit
from pulens.report.audit_summary import audit_verdict, checked_sentence


def table(size, *, seed, separator=",", comma=False, cell=lambda k: f"row {k}", ties=False):
    """A table of rows with an id and a note; three in ten positive, four in ten of those labelled."""
    rng = np.random.default_rng(seed)
    positive = rng.random(size) < 0.3
    labels = np.where(positive & (rng.random(size) < 0.4), "1", np.where(rng.random(size) < 0.1, "", "0"))
    labels[rng.random(size) < 0.05] = "-1"
    scores = np.round(rng.normal(1.5 * positive), 1 if ties else 4) + 0.0
    lines = [separator.join(["case", "score", "confirmed", "note"])]
    for k in range(size):
        score = f"{scores[k]:.4f}".replace(".", "," if comma else ".")
        lines.append(separator.join([f"{k * 7919 % 100_003:05d}", score, labels[k], cell(k)]))
    return "\n".join(lines) + "\n"


HOSTILE = ["=1+1", '"+x, ""y"""', "-5", "'=z", "@a", " b ", '"two\nlines"', "", "\u00e9\U0001f600", "'tis", "\uff1d1"]
WORLDS = {
    "row numbers": (table(3000, seed=1), {"threshold": 1.25, "budget": 100}, {}),
    "an id and columns to show": (
        table(3000, seed=2, cell=lambda k: HOSTILE[k % len(HOSTILE)]),
        {"threshold": 1.0, "goal": "recall", "id": "case", "keep": ["note", "confirmed", "note", "case"]},
        {"negative": ["-1"]},
    ),
    "ids in quotes": (
        table(500, seed=11, cell=lambda k: f'"{k}, ""a"""' if k % 2 else f"{k} b"),
        {"threshold": 1.0, "budget": 50, "id": "note"},
        {},
    ),
    "a class prior, case-control": (
        table(2000, seed=3),
        {"threshold": 0.5, "budget": 150, "goal": "f1", "seed": 77},
        {"scenario": "case-control", "class_prior": 0.2},
    ),
    "ties, semicolons and decimal commas": (
        table(5000, seed=4, separator=";", comma=True, ties=True, cell=lambda k: f"\u00e9{k}" + "x" * (k % 1500)),
        {"threshold": 2.05, "budget": 60, "goal": "class_prior", "id": "note"},
        {},
    ),
    "tabs": (table(400, seed=5, separator="\t"), {"threshold": 0.0, "budget": 40, "goal": "precision"}, {}),
    "every row": (table(90, seed=6), {"threshold": 1.0, "budget": 200}, {}),
    "all flagged": (table(300, seed=7), {"threshold": -90.0, "budget": 30}, {"negative": ["-1"]}),
    "none flagged": (table(300, seed=8), {"threshold": 90.0, "budget": 30, "goal": "roc_auc"}, {}),
    "only labelled rows flagged": (
        table(400, seed=10) + "99999,50.0,1,top\n",
        {"threshold": 40.0, "budget": 30, "keep": ["note"]},
        {},
    ),
    "few flagged rows, many scores": (table(20_000, seed=9), {"threshold": 4.0, "budget": 250}, {"class_prior": 0.35}),
}


def in_python(path, text, wanted, given):
    """The plan that ``pulens audit plan`` makes of the same table, asked the same."""
    path.write_text(text, newline="")
    separator = next(mark for mark in ",;\t" if mark in text.split("\n", 1)[0])
    said = {",": {}, ";": {"delimiter": ";", "decimal": ","}, "\t": {"format": "tsv"}}[separator]
    said |= {"negative": given["negative"]} if "negative" in given else {}
    asked = {name: value for name, value in given.items() if name != "negative"}
    return plan_audit(str(path), label="confirmed", positive=["1"], **said, **asked, **wanted)


@pytest.mark.slow
def test_the_queue_and_its_plan_are_those_of_the_command_line_to_the_byte(tmp_path):
    result = answers_of(
        audit_plan(text, wanted=wanted, label="confirmed", **given) for text, wanted, given in WORLDS.values()
    )
    for (name, (text, wanted, given)), answer in zip(WORLDS.items(), result, strict=True):
        plan = in_python(tmp_path / "t.csv", text, wanted, given)
        assert answer["queue"] == queue_bytes(plan, "csv").decode(), name
        assert answer["plan"].split("\n") == plan_bytes(plan).decode().split("\n"), name
        assert [notice["message"] for notice in answer["notices"]] == [str(notice) for notice in plan.notices], name


@pytest.mark.slow
def test_the_forecast_is_that_of_the_command_line_but_for_chance(tmp_path):
    """Sixty audits are simulated here and there, with other draws: half widths of .08 may be off by .01."""
    wanted = {
        name: WORLDS[name] for name in ("row numbers", "a class prior, case-control", "few flagged rows, many scores")
    }
    result = answers_of(
        audit_plan(text, wanted=wanted, label="confirmed", **given) for text, wanted, given in wanted.values()
    )
    for (name, (text, asked, given)), answer in zip(wanted.items(), result, strict=True):
        plan = in_python(tmp_path / "t.csv", text, asked, given)
        start, numbers = re.fullmatch(r"(With [\d,]+ rows: F1 known to ±) (.*?)\.", answer["forecast"]).groups()
        said = forecast_lines(plan.forecast, plan.budget)[0]
        assert said.startswith(start), name
        halves = [width / 2 for width in plan.forecast.width("f1", plan.budget)]
        ends = [float(one) for one in numbers.split(" to ")]
        np.testing.assert_allclose([ends[0], ends[-1]], halves, rtol=0.08, atol=0.006, err_msg=name)


REFUSED = {
    "too few rows": (table(100, seed=1), {"budget": 9}),
    "an id that is missing": (table(100, seed=1, cell=lambda k: "" if k == 61 else f"n{k}"), {"id": "note"}),
    "an id that is empty in quotes": (table(100, seed=1, cell=lambda k: '""' if k == 61 else f"n{k}"), {"id": "note"}),
    "an id that comes twice": (table(100, seed=1, cell=lambda k: f"n{k // 2}"), {"id": "note"}),
    "a column that the queue has": (table(100, seed=1).replace("note", "answer", 1), {"keep": ["answer"]}),
    "nothing to check": ("case,score,confirmed\n1,0.5,1\n2,0.7,1\n", {}),
    "a cell that is too long": (table(60, seed=1, cell=lambda _: "=" + "x" * 131_071), {"keep": ["note"]}),
}


@pytest.mark.slow
def test_what_cannot_be_drawn_is_refused_in_the_words_of_the_command_line(tmp_path):
    asked = [
        audit_plan(text, wanted={"threshold": 1.0, "budget": 50, **wanted}, label="confirmed")
        for text, wanted in REFUSED.values()
    ]
    for (name, (text, wanted)), answer in zip(REFUSED.items(), answers_of(asked), strict=True):
        with pytest.raises(PulensError) as refused:
            queue_bytes(in_python(tmp_path / "t.csv", text, {"threshold": 1.0, "budget": 50, **wanted}, {}), "csv")
        assert answer.get("refused") == str(refused.value), name


def answered(plan, path, *, share, write=lambda _, code: "yes" if code else "no", unsure=0.0, seed=0):
    """A queue with an answer in so many of its rows, more often yes the higher the score."""
    plan.write(path)
    rng = np.random.default_rng(seed)
    head, *lines = path.read_text().splitlines()
    reached = round(share * len(lines))
    codes = rng.random(len(lines)) < 1 / (1 + np.exp(1 - 1.5 * plan.rows.score))
    for k in range(reached):
        word = "unsure" if rng.random() < unsure else write(k, codes[k])
        lines[k] = f"{lines[k]}{word}"
    path.write_text("\n".join([head, *lines]) + "\n")
    return path.read_bytes(), path.with_suffix(".audit.json").read_bytes()


AUDITS = {
    "few found, many labelled": ({"threshold": 4.0, "budget": 40, "goal": "recall"}, {"rows": 9000}, {"share": 1.0}),
    "few found, few labelled": ({"threshold": 1.0, "budget": 12}, {"rows": 60}, {"share": 1.0, "seed": 11}),
    "as planned": ({"threshold": 1.25, "budget": 100}, {}, {"share": 1.0}),
    "stopped early": ({"threshold": 0.5}, {"scenario": "case-control"}, {"share": 0.4, "seed": 1}),
    "some unsure": ({"threshold": 1.0}, {"negative": ["-1"]}, {"share": 0.9, "unsure": 0.03, "seed": 2}),
    "many unsure": ({"threshold": 1.0, "budget": 60}, {}, {"share": 1.0, "unsure": 0.3, "seed": 3}),
    "nothing found": ({"threshold": 1.0, "budget": 60}, {}, {"share": 1.0, "write": lambda *_: "0"}),
    "all found": ({"threshold": 1.0, "budget": 60}, {}, {"share": 1.0, "write": lambda *_: "TRUE"}),
    "none below": ({"threshold": -1.0, "budget": 80, "seed": 9}, {}, {"share": 1.0, "write": lambda k, _: k % 2}),
    "strata left out": ({"threshold": 2.5, "budget": 200}, {}, {"share": 0.015, "seed": 4}),
    "every row": ({"threshold": 1.0, "budget": 5000}, {}, {"share": 1.0, "seed": 5}),
    "all flagged": ({"threshold": -90.0, "budget": 30}, {}, {"share": 1.0, "seed": 6}),
    "none flagged": ({"threshold": 90.0, "budget": 30}, {"scenario": "case-control"}, {"share": 1.0, "seed": 7}),
}


@pytest.mark.slow
def test_answers_prove_what_the_command_line_says_they_prove(tmp_path):
    asked, expected = [], []
    for number, (wanted, given, answers) in enumerate(AUDITS.values()):
        size, said = given.get("rows", 3000), {name: value for name, value in given.items() if name != "rows"}
        plan = in_python(tmp_path / "t.csv", table(size, seed=20 + number), wanted, said)
        path = tmp_path / f"queue{number}.csv"
        asked.append(audit_answers(*answered(plan, path, **answers)))
        expected.append(read_audit(path))
    for name, answer, result in zip(AUDITS, answers_of(asked), expected, strict=True):
        told = answer["answer"]
        assert differences(told["strata"], result.strata, name) == []
        estimates = {metric: found.to_dict() for metric, found in result.estimates.items()}
        assert list(told["estimates"]) == list(estimates), name
        assert differences(told["estimates"], estimates, name) == []
        assert told["labelling"] is None, name  # whether labels are random is the command line's
        assert [notice["message"] for notice in told["notices"]] == [str(notice) for notice in result.notices], name
        assert answer["verdict"] == list(audit_verdict(result)), name
        assert answer["checked"] == checked_sentence(result), name
    assert list(told) == [*expected[-1].to_dict(), "forecast"]


@pytest.mark.slow
def test_a_queue_that_was_enlarged_is_read_with_all_its_batches(tmp_path):
    plan = in_python(tmp_path / "t.csv", table(2000, seed=50), {"threshold": 1.0, "budget": 60}, {})
    answered(plan, tmp_path / "queue.csv", share=1.0)
    larger = more_audit(tmp_path / "queue.csv", budget=110, source=tmp_path / "t.csv")
    larger.write(tmp_path / "larger.csv")
    head, *lines = (tmp_path / "larger.csv").read_text().splitlines()
    lines = [line + ("no" if line.endswith(",") else "") for line in lines[:90]] + lines[90:]
    (tmp_path / "larger.csv").write_text("\n".join([head, *lines]))
    files = [(tmp_path / name).read_bytes() for name in ("larger.csv", "larger.audit.json")]
    (answer,) = answers_of([audit_answers(*files)])
    result = read_audit(tmp_path / "larger.csv")
    estimates = {metric: found.to_dict() for metric, found in result.estimates.items()}
    assert differences(answer["answer"]["strata"], result.strata) == []
    assert differences(answer["answer"]["estimates"], estimates) == []


def test_strata_of_more_rows_than_can_be_listed_have_the_limits_of_the_command_line():
    """Above 100,000 unseen rows both draw beta-binomial numbers one by one, with numpy's generator."""
    made = {"rows": [900, 30_000, 700_000], "checked": [90, 60, 80], "found": [61, 7, 2], "undecided": [0, 0, 0]}
    known = {"labelled": [400, 90, 30], "known_negative": [0, 20, 50]}
    result = from_counts(**made, **known, flagged=1, threshold=0.5, seed=3)
    counts = {**made, "labelled": known["labelled"], "knownNegative": known["known_negative"]}
    asked = {"flagged": 1, "threshold": 0.5, "scenario": "single-set"}
    (found,) = answers_of([{"request": "counts", "seed": 3, "counts": {**counts, **asked}}])
    for name, estimate in result.estimates.items():
        ends = {"low": estimate.interval.low, "high": estimate.interval.high}
        assert differences(found[name], {"value": estimate.value, "interval": ends}, name) == []


def lines_changed(queue, change):
    head, *lines = queue.decode().splitlines()
    return "\n".join([head, *change(lines)]).encode() + b"\n"


CHANGED = {
    "an unknown word": lambda lines: [lines[0] + "perhaps so", *lines[1:]],
    "a row that was not drawn": lambda lines: [*lines, "99999,note,1,0.5,yes", "99998,note,1,0.5,no"],
    "a row without its name": lambda lines: [*lines, ",note,1,0.5,yes"],
    "twice, and differently": lambda lines: [lines[0] + "1", *lines, lines[0] + "0"],
    "twice, and alike": lambda lines: [lines[0] + "1", lines[1] + "+", *lines, lines[0] + "yes"],
    "a chance of nothing": lambda lines: [lines[0].replace(lines[0].split(",")[3], "0") + "1", *lines[1:]],
    "a chance that is no number": lambda lines: [lines[0].replace(lines[0].split(",")[3], "a") + "1", *lines[1:]],
    "rows left out": lambda lines: [*(line + "no" for line in lines[5:40])],
    "another order, and blank lines": lambda lines: [line + "No" for line in reversed(lines)] + ["", ",,,,"],
    "zeros that a spreadsheet took away": lambda lines: [line.lstrip("0") + " 1.0" for line in lines],
    "numbers with a point": lambda lines: [line.replace(",", ".0,", 1) + "Not  sure" for line in lines],
    "no answer": lambda lines: lines,
    "another width": lambda lines: [*lines[:3], lines[3] + "yes,too many"],
}


@pytest.mark.slow
def test_answers_that_make_no_sense_are_refused_or_noted_in_the_words_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"threshold": 1.0, "budget": 60, "id": "case", "keep": ["note"]}
    in_python(tmp_path / "t.csv", table(900, seed=40), asked, {}).write("queue.csv")
    queue, text = Path("queue.csv").read_bytes(), Path("queue.audit.json").read_bytes()
    changed = {name: lines_changed(queue, change) for name, change in CHANGED.items()}
    changed["semicolons"] = lines_changed(queue, lambda lines: [line + "ja" for line in lines]).replace(b",", b";")
    changed["no column of answers"] = queue.replace(b",answer", b",said", 1)
    changed["two columns of answers"] = queue.replace(b"note,", b"answer,", 1)
    found = answers_of(audit_answers(content, text) for content in changed.values())
    for (name, content), answer in zip(changed.items(), found, strict=True):
        Path("queue.csv").write_bytes(content)
        try:
            result = read_audit("queue.csv")
        except PulensError as refused:
            said = str(refused).partition(" Did you mean")[0]  # which column is nearest the page does not say
            assert answer.get("refused") == said, name
            continue
        assert "refused" not in answer, name
        if not result.counts.checked.any():
            assert answer == {"isEmpty": True}, name
            continue
        assert differences(answer["answer"]["strata"], result.strata, name) == []
        assert [notice["message"] for notice in answer["answer"]["notices"]] == [str(one) for one in result.notices]


@pytest.mark.slow
def test_plans_that_were_changed_are_refused(tmp_path):
    plan = in_python(tmp_path / "t.csv", table(900, seed=41), {"threshold": 1.0, "budget": 60}, {})
    queue, text = answered(plan, tmp_path / "queue.csv", share=1.0)
    told = json.loads(text)
    damaged = {
        "no plan": b"{}",
        "no JSON": text[:-40],
        "another format": json.dumps(told | {"pulens_audit": 2}).encode(),
        "another count": json.dumps(told | {"strata": told["strata"] | {"labelled": [9] * 5}}).encode(),
        "another edge": text.replace(b'"edges": [1.0', b'"edges": [1.5', 1),
        "rows left out": json.dumps(told | {"rows": told["rows"] | {"name": told["rows"]["name"][1:]}}).encode(),
        "an unknown stratum": text.replace(b'"stratum": [0', b'"stratum": [7', 1),
        "labels with noise": json.dumps(told | {"label_noise": 0.1}).encode(),
        "no counts": json.dumps({name: value for name, value in told.items() if name != "counts"}).encode(),
    }
    for name, content in damaged.items():
        (tmp_path / "queue.audit.json").write_bytes(content)
        if name != "labels with noise":  # which the command line reads
            with pytest.raises(PulensError):
                read_audit(tmp_path / "queue.csv")
        (answer,) = answers_of([audit_answers(queue, content)])
        assert "plan" in answer.get("refused", ""), name
