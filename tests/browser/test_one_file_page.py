"""The one page in a browser: a table goes in, the report comes out; hostile files are refused in plain words."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from pulens.audits.queue import plan_bytes, queue_bytes
from pulens.demo import run_demo
from pulens.evaluation.audit import plan_audit, read_audit
from pulens.evaluation.evaluate import evaluate
from pulens.report.audit_summary import audit_verdict
from pulens.report.one_file import example_table, one_page
from pulens.report.summary import summarise
from pulens.report.words import verdict


@pytest.fixture(scope="module")
def one_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("one") / "pulens.html"
    path.write_text(one_page(), encoding="utf-8")
    return path


def take(opened, content, name="rows.csv"):
    """Choose a file and wait for the form or a refusal."""
    data = content if isinstance(content, bytes) else content.encode()
    kind = {"name": name, "mimeType": "text/csv", "buffer": data}
    opened.page.set_input_files("#file", kind)
    opened.page.wait_for_selector("#form:not([hidden]), #problem:not([hidden])")


def ask(opened, prior="0.3"):
    if opened.page.is_visible("#change"):
        opened.page.click("#change")
    opened.page.fill("#prior-number-given", prior)
    opened.page.click("#evaluate")
    opened.page.wait_for_selector("#report:not([hidden]) dd[data-live], #problem:not([hidden])", timeout=60_000)


def problem(opened):
    return opened.page.inner_text("#problem") if opened.page.is_visible("#problem") else None


def test_from_opening_the_file_to_a_report_in_a_few_clicks(one_file, open_page, tmp_path):
    opened = open_page(one_file)
    opened.page.click("#example")
    opened.page.wait_for_selector("#form:not([hidden])")
    ask(opened)
    path = tmp_path / "example.csv"
    path.write_text(example_table())
    expected = evaluate(str(path), score="score", label="confirmed", positive="1", class_prior=0.3)
    assert opened.page.inner_text("#verdict .badge") == "assumes labels as in practice"
    assert not opened.page.is_visible("#form")
    for name, found in expected.estimates.items():
        assert opened.number(name) == pytest.approx(found.value, rel=1e-9)
    assert opened.page.locator("#verdict .sentence").all_inner_texts() == list(verdict(expected))
    shown = opened.page.inner_text(".tile:has([data-live=precision]) .range")
    interval = expected.estimates["precision"].interval
    assert shown == f"{interval.low:.3f} to {interval.high:.3f}"
    opened.keep("one-file")
    opened.on_paper("one-file")

    # what is saved is what the command line writes
    with opened.page.expect_download() as numbers:
        opened.page.click("#save-numbers")
    saved = json.loads(numbers.value.path().read_text())
    assert list(saved) == list(expected.to_dict())
    assert saved["estimates"]["f1"]["value"] == pytest.approx(expected.estimates["f1"].value, rel=1e-9)
    with opened.page.expect_download() as counts:
        opened.page.click("#save-counts")
    tally = tmp_path / "example.tally"
    tally.write_bytes(counts.value.path().read_bytes())
    counted = evaluate(str(tally), class_prior=0.3, confidence=None)
    assert counted.estimates["f1"].value == pytest.approx(expected.estimates["f1"].value, rel=1e-9)
    with opened.page.expect_download() as report:
        opened.page.click("#save-report")
    again = tmp_path / "report.html"
    again.write_bytes(report.value.path().read_bytes())
    reopened = open_page(again)
    assert reopened.number("roc_auc") == pytest.approx(expected.estimates["roc_auc"].value, rel=1e-9)
    reopened.page.click("#theme")

    # and the counts can come back
    opened.page.set_input_files("#file", str(tally))
    opened.page.wait_for_selector("#of-a-table", state="hidden")
    opened.page.wait_for_selector("#form:not([hidden])")
    assert "counted already" in opened.page.inner_text("#told")
    opened.page.fill("#audit-positives", "18")
    opened.page.fill("#audit-checked", "100")
    opened.page.click("#evaluate")
    opened.page.wait_for_selector("#report:not([hidden]) dd[data-live]", timeout=60_000)
    audited = evaluate(str(tally), audit=(18, 100), confidence=None)
    assert opened.number("f1") == pytest.approx(audited.estimates["f1"].value, rel=1e-9)
    assert "--audit 18/100" in opened.page.inner_text("#results code")


def test_a_reader_without_a_command_line_draws_rows_to_check_in_the_page(one_file, open_page):
    opened = open_page(one_file)
    assert ".xlsx" in opened.page.get_attribute("#file", "accept"), "a workbook can be chosen, and is told what to do"
    opened.page.click("#example")
    opened.page.wait_for_selector("#form:not([hidden])")
    ask(opened)
    assert "if random: had labels been a random draw" in opened.page.inner_text(".tile-keys")
    opened.page.click("#audit-here")
    assert opened.page.is_visible("#save-queue")


def test_random_labels_can_be_chosen_and_sliders_recompute_as_python_does(one_file, open_page, tmp_path):
    opened = open_page(one_file)
    path = tmp_path / "example.csv"
    path.write_text(example_table())
    take(opened, example_table(), "example.csv")
    opened.page.check("input[name='labelling-given'][value='random']")
    ask(opened)
    given = {"score": "score", "label": "confirmed", "positive": "1", "labelling": "random"}
    for prior in (0.3, 0.25):
        expected = evaluate(str(path), class_prior=prior, confidence=None, **given)
        opened.page.fill("#prior-number", str(prior))
        opened.page.keyboard.press("Enter")
        opened.settle()
        assert opened.number("roc_auc") == pytest.approx(expected.estimates["roc_auc"].value, rel=1e-9)
    assert opened.page.inner_text("#verdict .badge") == "assumes random labels"
    assert "--labelling random" in opened.page.inner_text("#results code")


def test_every_shown_number_of_biased_labels_is_pythons(one_file, open_page, tmp_path):
    """A table whose easy positives were labelled first: values and intervals as the command line prints them."""
    rng = np.random.default_rng(8)
    positive = rng.random(4000) < 0.1
    scores = 1 / (1 + np.exp(-rng.normal(np.where(positive, 1.0, -2.0), 1.2)))
    first = np.argsort(-np.where(positive, np.log(scores) + rng.gumbel(size=4000), -np.inf))[:150]
    outcome = np.full(4000, "", object)
    outcome[first] = "fraud confirmed"
    path = tmp_path / "claims.csv"
    amounts = rng.lognormal(7, 1, 4000)
    rows = [f"C{k},{amounts[k]:.2f},{scores[k]:.5f},{outcome[k]}" for k in range(4000)]
    path.write_text("claim,amount,risk,outcome\n" + "\n".join(rows))
    opened = open_page(one_file)
    opened.page.set_input_files("#file", str(path))
    opened.page.wait_for_selector("#form:not([hidden])")
    ask(opened, "0.1")
    given = {"score": "risk", "label": "outcome", "positive": "fraud confirmed", "class_prior": 0.1}
    expected = summarise(evaluate(str(path), **given))
    for row in (*expected.ranking, *expected.at_threshold):
        line = opened.page.locator(f"tr:has(td[data-live={row.name}])")
        assert line.locator("[data-live]").text_content() == row.value
        assert line.locator("[data-interval]").text_content() == row.interval
        assert line.locator("[data-naive]").text_content() == row.naive
    assert opened.page.locator("#verdict .sentence").all_inner_texts() == list(expected.verdict)
    assert opened.page.input_value("#audit-id") == "0"


def test_no_column_is_chosen_where_two_are_as_likely_and_a_workbook_is_called_one(one_file, open_page):
    opened = open_page(one_file)
    rows = [f"{k / 60},{(k * 7 % 60) / 60},{'yes' if k > 50 else ''}" for k in range(60)]
    take(opened, "risk_v1,risk_v2,outcome\n" + "\n".join(rows))
    assert opened.page.input_value("#score") == ""
    assert opened.page.locator("#label option:checked").inner_text() == "outcome"
    opened.page.click("#evaluate")
    opened.page.wait_for_selector("#problem:not([hidden])")
    assert problem(opened) == "Choose the column of scores: risk_v1 or risk_v2."
    assert opened.page.locator("#preview th").all_inner_texts() == ["risk_v1", "risk_v2", "outcome"]
    assert opened.page.evaluate("document.activeElement.id") == "score"
    german = [f"C{k};{1000 * k},{k % 10};0,{k:02d};{'ja' if k > 50 else ''}" for k in range(60)]
    take(opened, "claim;amount;Risiko;Ergebnis\n" + "\n".join(german))
    assert opened.page.locator("#score option:checked").inner_text() == "Risiko"
    assert opened.page.locator("#label option:checked").inner_text() == "Ergebnis"
    take(opened, b"PK\x03\x04" + b"\0" * 400, "claims.xlsx")
    assert "claims.xlsx is an Excel workbook. In Excel: File > Save as > CSV" in problem(opened)


def test_a_queue_of_rows_to_check_is_that_of_the_command_line(one_file, open_page, tmp_path):
    opened = open_page(one_file, viewport={"width": 390, "height": 800})
    take(opened, example_table(), "example.csv")
    ask(opened)
    opened.page.click("#audit-card summary")
    opened.page.fill("#audit-budget", "60")
    opened.page.select_option("#audit-goal", "recall")
    opened.page.select_option("#audit-id", label="case")
    opened.page.check("#audit-keep label:has-text('confirmed') input")
    with opened.page.expect_download() as queue:
        opened.page.click("#save-queue")
    with opened.page.expect_download() as plan:
        opened.page.click("#save-plan")
    assert (queue.value.suggested_filename, plan.value.suggested_filename) == (
        "example-queue.csv",
        "example-queue.audit.json",
    )
    (tmp_path / "example.csv").write_text(example_table())
    threshold = float(opened.page.input_value("#audit-threshold"))
    expected = plan_audit(
        str(tmp_path / "example.csv"),
        label="confirmed",
        positive=["1"],
        class_prior=0.3,
        threshold=threshold,
        budget=60,
        goal="recall",
        id="case",
        keep=["confirmed"],
    )
    assert queue.value.path().read_bytes() == queue_bytes(expected, "csv")
    assert plan.value.path().read_bytes() == plan_bytes(expected)
    assert "--goal recall --id case --keep confirmed" in opened.page.inner_text("#audit-command")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    opened.keep("one-file-queue-phone")


def answered(queue):
    """Every answer of a queue filled in, yes where the row's number can be divided by three."""
    head, *lines = queue.decode().splitlines()
    return "\n".join([head, *(line + ("yes" if int(line.split(",")[0]) % 3 == 0 else "no") for line in lines)]).encode()


def drop(opened, *files):
    """Choose files that are no table, and wait for what the page says of them."""
    opened.page.evaluate("document.querySelector('#audited').replaceChildren()")
    opened.page.set_input_files(
        "#file", [{"name": name, "mimeType": "text/plain", "buffer": content} for name, content in files]
    )
    opened.page.wait_for_selector("#audited-title, #problem:not([hidden])")


def test_answers_dropped_back_in_prove_what_the_command_line_says(one_file, open_page, tmp_path):
    opened = open_page(one_file)
    take(opened, example_table(), "example.csv")
    ask(opened)
    opened.page.click("#audit-card summary")
    opened.page.select_option("#audit-id", "")  # the number of the row
    with opened.page.expect_download() as queue:
        opened.page.click("#save-queue")
    with opened.page.expect_download() as plan:
        opened.page.click("#save-plan")
    content, text = answered(queue.value.path().read_bytes()), plan.value.path().read_bytes()
    (tmp_path / "example-queue.csv").write_bytes(content)
    (tmp_path / "example-queue.audit.json").write_bytes(text)
    result = read_audit(tmp_path / "example-queue.csv")

    # the page that drew the rows remembers how, and its report and form stay
    drop(opened, ("example-queue.csv", content))
    assert opened.page.locator("#audited .sentence").all_inner_texts() == list(audit_verdict(result))
    for name in ("Precision", "Recall", "F1", "Class prior", "Matthews correlation", "ROC AUC"):
        assert opened.page.locator(f"#audited td:text-is('{name}')").count() == 1
    assert opened.page.is_visible("#report")
    assert opened.page.is_visible("#change")
    assert opened.page.evaluate("document.activeElement.id") == "audited-title"
    with opened.page.expect_download() as numbers:
        opened.page.click("#save-audit")
    saved = json.loads(numbers.value.path().read_text())
    for name in ("precision", "recall", "f1", "class_prior", "accuracy", "specificity", "matthews_correlation"):
        estimate = result.estimates[name]
        expected = (estimate.value, estimate.interval.low, estimate.interval.high)
        assert tuple(saved["estimates"][name][key] for key in ("value", "low", "high")) == pytest.approx(expected)
    opened.keep("one-file-audited")
    drop(opened, ("other.csv", b"row,batch,probability,answer\n999,1,0.5,yes\n"))
    assert "1 row is not in the plan: row '999'" in problem(opened)
    assert "drop both at once" in problem(opened)

    # on another day it needs the plan, and says so
    later = open_page(one_file, viewport={"width": 390, "height": 800}, color_scheme="dark")
    drop(later, ("example-queue.csv", content))
    assert "Drop example-queue.audit.json" in problem(later)
    drop(later, ("example-queue.csv", content.replace(b"yes", b"fraud")), ("example-queue.audit.json", text))
    assert "the answer 'fraud' in data row" in problem(later)
    drop(later, ("example-queue.audit.json", text))
    assert problem(later) is None
    assert "Now drop the queue" in later.page.inner_text("#audited")
    drop(later, ("example-queue.csv", content))
    assert later.page.locator("#audited .sentence").all_inner_texts() == list(audit_verdict(result))
    assert later.page.evaluate("document.documentElement.scrollWidth") <= 390
    later.keep("one-file-audited-phone-dark")
    take(later, example_table(), "example.csv")
    assert not later.page.is_visible("#audited")
    drop(later, ("notes.json", b"{}"))
    assert problem(later) == "notes.json: this is not the plan of an audit."
    assert later.page.is_visible("#form")


DROP = """([name, text]) => {
  const given = new DataTransfer();
  given.items.add(new File([text], name));
  const dropped = new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true });
  document.querySelector("#drop").dispatchEvent(dropped);
}"""


def test_the_demos_table_is_dropped_in_and_judged_by_clicks_in_under_a_minute(
    one_file, open_page, record_testsuite_property
):
    shown = run_demo()
    began = time.perf_counter()
    opened = open_page(one_file)
    opened.page.evaluate(DROP, ["digits.csv", shown.table])
    opened.page.wait_for_selector("#form:not([hidden])")
    assert "3 columns, separated by commas" in opened.page.inner_text("#told")
    told = {id: opened.page.locator(f"#{id} option:checked").inner_text() for id in ("score", "label", "positive")}
    assert told["score"] == "score"
    assert told["label"] == "label"
    assert told["positive"] == f"1 ({shown.labels.sum()} rows)"
    opened.page.click("text=out of one sample")
    opened.page.click("text=I do not know")
    opened.page.click("#evaluate")
    opened.page.wait_for_selector("#report:not([hidden]) dd[data-live]", timeout=60_000)
    assert "Class prior not known: " in opened.page.inner_text("#verdict .source")
    took = time.perf_counter() - began
    record_testsuite_property("seconds from opening the file to the report", round(took, 1))
    assert took < 60

    # what it shows is what Python says of the same rows over the same class priors
    with opened.page.expect_download() as numbers:
        opened.page.click("#save-numbers")
    saved = json.loads(numbers.value.path().read_text())
    told = saved["class_prior"]
    expected = evaluate(shown.labels, shown.scores)
    assert told["high"] == pytest.approx(expected.class_prior.interval.high, rel=1e-9)
    assert saved["estimates"]["precision"]["withheld_because"]  # nobody knows the class prior
    for name in ("roc_auc", "average_precision"):  # the page, which estimates no class prior, chooses its own threshold
        assert saved["estimates"][name]["low"] == pytest.approx(expected[name].interval.low, rel=1e-9)


def test_the_page_begins_below_the_edge_and_fits_a_phone(one_file, open_page):
    opened = open_page(one_file, viewport={"width": 360, "height": 740})
    assert opened.page.evaluate("document.querySelector('.brand').getBoundingClientRect().top") >= 20
    opened.page.click("#example")
    opened.page.wait_for_selector("#form:not([hidden])")
    ask(opened)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_another_table_takes_the_place_of_the_first(one_file, open_page):
    opened = open_page(one_file)
    lines = [f"{k / 40},{'yes' if k > 30 and k % 2 else ''}" for k in range(40)]
    take(opened, "p;confirmed\n" + "\n".join(line.replace(",", ";").replace(".", ",") for line in lines))
    assert "semicolons; numbers have decimal commas" in opened.page.inner_text("#told")
    assert opened.page.input_value("#positive") != ""
    ask(opened)
    first = opened.number("roc_auc")
    opened.page.click("#paste")
    opened.page.fill("#pasted", "score\tlabel\n" + "\n".join(f"{k % 7}\t{int(k % 3 == 0)}" for k in range(60)))
    opened.page.click("#take-pasted")
    opened.page.wait_for_selector("#report", state="hidden")
    opened.page.wait_for_selector("#form:not([hidden])")
    ask(opened, "0.5")
    assert opened.number("roc_auc") != first
    assert "pasted rows" in opened.page.inner_text("#results code")
    opened.page.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))")  # only the report shown listens
    opened.settle()


def test_keys_reach_everything_and_nobody_knows_the_class_prior(one_file, open_page):
    opened = open_page(one_file, viewport={"width": 390, "height": 800}, color_scheme="dark")
    for _ in range(4):
        opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")  # the example, the third button after the link home
    opened.page.wait_for_selector("#form:not([hidden])")
    assert opened.page.evaluate("document.activeElement.id") == "score"
    for _ in range(60):
        if opened.page.evaluate("document.activeElement.id") == "evaluate":
            break
        opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    opened.page.wait_for_selector("#report:not([hidden]) dd[data-live]", timeout=60_000)
    assert "estimates the class prior" in opened.page.inner_text("#command-lead")
    assert "--class-prior" not in opened.page.inner_text("#results code")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    unnamed = opened.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea")].filter((each) => !each.ariaHidden
        && !each.labels?.length && !each.ariaLabel && !each.textContent.trim()).map((each) => each.outerHTML)"""
    )
    assert unnamed == []
    opened.keep("one-file-phone-dark")


SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script>"
REFUSED = {
    "empty": (b"", "not even a line of column names"),
    "only a header": (b"score,label\n", "it has no data rows"),
    "binary": (bytes(range(256)) * 40, "this is a binary file"),
    "a workbook": (b"PK\x03\x04" + b"\0" * 400, "this is a zip file"),
    "Latin-1": ("score,label\n1,\xe9\n".encode("latin-1") * 3, "this is not text in UTF-8"),
    "a million columns": (b"c," * 999_999 + b"c\n" + b"1," * 999_999 + b"1\n", "1,000,000 columns"),
    "one column": (b"score\n0.5\n0.25\n", "needs two: one of scores, one of labels"),
    "lines of another width": (b"score,label\n0.5,1\n0.5,0,7\n", "line 3 has 3 fields but the header has 2"),
}


def test_hostile_files_are_refused_in_plain_words(one_file, open_page):
    opened = open_page(one_file)
    for name, (content, words) in REFUSED.items():
        take(opened, content, "hostile.csv")
        assert words in (problem(opened) or ""), name
        assert not opened.page.is_visible("#form"), name


def test_hostile_cells_are_shown_as_text_and_counted_as_python_counts_them(one_file, open_page, tmp_path):
    opened = open_page(one_file)
    lines = [
        f'{k % 9},"{label}"' for k, label in enumerate(['=cmd|"" /C calc""!A0', "1", "", "maybe", "-1", SCRIPT] * 12)
    ]
    text = f'"{SCRIPT}","label <b>"\n' + "\n".join(lines)
    take(opened, text, f"{SCRIPT.replace('/', '')}.csv")
    opened.page.select_option("#positive", label="1 (12 rows)")
    opened.page.select_option("#negative", label="-1 (12 rows)")
    ask(opened, "0.4")
    assert problem(opened) is None
    path = tmp_path / "t.csv"
    path.write_text(text)
    asked = {"score": SCRIPT, "label": "label <b>", "positive": "1", "negative": "-1", "class_prior": 0.4}
    expected = evaluate(str(path), confidence=None, **asked)
    assert opened.number("roc_auc") == pytest.approx(expected.estimates["roc_auc"].value, rel=1e-9)
    assert opened.page.locator("img, #report script:not([type])").count() == 1  # the report's own script

    take(opened, "score,label\n0.5,1\nNaN,0\n0.25,0\n")
    ask(opened)
    assert "got nan in data row 2" in problem(opened)


def test_a_file_of_two_hundred_megabytes_is_counted_or_refused(one_file, open_page, tmp_path):
    opened = open_page(one_file)
    line = tmp_path / "line.csv"
    with line.open("wb") as file:  # no end of a line anywhere
        for _ in range(200):
            file.write(b"score label " * 83_334)
    opened.page.set_input_files("#file", str(line))
    opened.page.wait_for_selector("#problem:not([hidden])", timeout=60_000)
    assert "million characters" in problem(opened)

    rows = [f"{k * 7919 % 1009},{int(k % 7 == 0)}" for k in range(20_000)]
    large = tmp_path / "large.csv"
    note = "n" * 10_000  # of a column that nobody asked for
    with large.open("w") as file:
        file.write("score,label,note\n")
        file.writelines(f"{row},{note}\n" for row in rows)
    assert large.stat().st_size > 200e6
    opened.page.set_input_files("#file", str(large))
    opened.page.wait_for_selector("#form:not([hidden])", timeout=120_000)
    ask(opened)
    scores, labels = zip(*(map(int, row.split(",")) for row in rows), strict=True)
    expected = evaluate(labels, scores, class_prior=0.3, confidence=None)
    assert opened.number("roc_auc") == pytest.approx(expected.estimates["roc_auc"].value, rel=1e-9)


def test_work_under_way_can_be_cancelled(one_file, open_page):
    opened = open_page(one_file)
    take(opened, "score,label\n" + "".join(f"{k * 7919 % 100_003},{int(k % 11 == 0)}\n" for k in range(60_000)))
    opened.page.fill("#prior-number-given", "0.2")
    opened.page.click("#evaluate")
    opened.page.wait_for_selector("#progress:not([hidden])")
    opened.page.click("#cancel")
    assert not opened.page.is_visible("#report")
    take(opened, example_table())
    ask(opened)
    assert opened.number("roc_auc") > 0.5
