"""What the one page computes in a browser is what Python computes: numbers to 1e-9, sentences to the letter."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest
from scipy import special

from one_file_driver import answers_of, differences, file, rows, unpacked, worlds
from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.evaluation.evaluate import Evaluation, evaluate
from pulens.inputs import read_tally
from pulens.inputs.tally_files import TallyFile, digest, read_tally_file, write_tally_file
from pulens.metrics.parts.withholding import BECAUSE, WIDE
from pulens.report import next_steps
from pulens.report.html import HOME, _data, evaluation_page, made_on
from pulens.report.one_file import one_page
from pulens.report.summary import summarise
from pulens.selection import distort
from tests_support import case_rows


@pytest.fixture(scope="module", params=["practice", "random"])
def shown(request):
    """Python's evaluations and the page's answers, with the page's default labelling and with random labels."""
    labelling = request.param
    found = answers_of(rows(labels, scores, labelling=labelling, **asked) for labels, scores, asked in worlds())
    made = [evaluate(labels, scores, **asked, labelling=labelling) for labels, scores, asked in worlds()]
    return list(zip(made, found, strict=True))


@pytest.fixture(autouse=True)
def without_forecast(monkeypatch):
    """The page names rows to check without simulating what they would buy."""
    monkeypatch.setattr(next_steps, "_forecast", lambda evaluation, most: (most, next_steps.SETTLED))


def tolerance(evaluation):
    """An audit's distribution stands on a grid that the last bits of scipy's quantiles decide."""
    return 3e-4 if evaluation.class_prior.method.startswith("audit") else 1e-9


#: what Python's page finds for labels random among all rows only, and this page leaves to the command line
LEFT_TO_PYTHON = ("confidence", "scenarios", "sensitivity", "bounds")


@pytest.mark.slow
def test_the_page_carries_what_python_would_have_given_it(shown):
    assert all(evaluation.contradiction is None for evaluation, _ in shown)
    for number, (evaluation, answer) in enumerate(shown[::3]):
        expected = _data(evaluation, summarise(evaluation), None)
        if evaluation.labelling == "random":
            expected = {name: value for name, value in expected.items() if name not in LEFT_TO_PYTHON}
        found = unpacked(answer["data"])
        assert differences(found, unpacked(expected), f"world {number}", within=tolerance(evaluation)) == []


@pytest.mark.slow
def test_the_saved_numbers_have_the_keys_and_values_of_the_command_line(shown):
    for number, (evaluation, answer) in enumerate(shown):
        expected = evaluation.to_dict()
        assert list(answer["answer"]) == list(expected)
        if evaluation.labelling == "random":  # which numbers the other scenario would move is the command line's
            expected |= {"other_scenario": None, "scenario_note": ""}
            expected["warnings"] = [
                words for words in expected["warnings"] if "labelled rows are taken to be" not in words
            ]
        elif evaluation.if_random.contradiction is not None:  # then random labels give the page no number
            assert {found["value"] for found in answer["answer"]["if_random"].values()} == {None}
            del expected["if_random"]
        assert differences(answer["answer"], expected, f"world {number}", within=tolerance(evaluation)) == []


@pytest.mark.slow
def test_the_whole_page_reads_the_same_to_the_letter(shown, monkeypatch):
    monkeypatch.setattr(Evaluation, "ladder", lambda self: [])
    # not those with fewer thresholds: their error is one of rounding; nor random labels: Python shows more of them
    compared = 0
    for evaluation, answer in shown[1::9]:
        if evaluation.labelling == "random" or evaluation.if_random.contradiction is not None:
            continue
        compared += 1
        typed = [("pulens",), ("evaluate",), ("my rows.csv",)]
        page = evaluation_page(evaluation, title="A <b>title</b>", typed=typed)
        page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
        page = re.sub(r"\n?<script>.*?</script>", "", page, flags=re.DOTALL)
        page = re.sub(r'(id="page-data">).*?</script>', r"\1</script>", page, flags=re.DOTALL)
        page = re.sub(r"pulens(</a>)? \d[\w.+]*", r"pulens\1 1", page)
        page = page.replace(f"on {made_on()}.", "on DAY.")
        assert answer["page"].split("\n") == page.split("\n")
    assert compared >= 4 or evaluation.labelling == "random"


def test_the_distortion_by_uneven_labels_is_pythons():
    tilts = [-30.0, -2.0, -1e-10, 0.0, 1e-6, 0.7, 5.0, 900.0]
    given = [(rate, tilt, c) for rate in (0.0, 0.2, 0.5, 1.0) for tilt in tilts for c in (0.0, 0.4)]
    (found,) = answers_of([{"request": "call", "path": "practice.distort", "given": given}])
    np.testing.assert_allclose(found, distort(*np.transpose(given)), rtol=1e-12, atol=1e-15)


@pytest.mark.slow
def test_without_a_class_prior_intervals_are_pythons_and_no_value_is_shown():
    """The value is that of an estimated class prior, which the page does not have; the set of possible ones it has."""
    rng = np.random.default_rng(4)
    positive = rng.random(3000) < 0.2
    labels = (positive & (rng.random(3000) < 0.3)).astype(int)
    scores = rng.normal(1.5 * positive)
    for scenario in ("single-set", "case-control"):
        asked = {"scenario": scenario, "threshold": 1.0}
        (answer,) = answers_of([rows(labels, scores, labelling="practice", **asked)])
        python = evaluate(labels, scores, **asked)
        reach = answer["answer"]["class_prior"]
        assert reach["low"] == pytest.approx(python.class_prior.interval.low, abs=1e-9)
        assert reach["high"] == pytest.approx(python.class_prior.interval.high, abs=1e-9)
        for name, found in answer["answer"]["estimates"].items():
            interval = python.estimates[name].interval
            assert found["low"] == pytest.approx(interval.low, abs=1e-9), name
            assert found["high"] == pytest.approx(interval.high, abs=1e-9), name
            assert (found["value"] is None) == (name != "predicted_positive_rate"), name


def test_numbers_that_random_labels_cannot_have_given_are_refused_with_the_largest_class_prior():
    labels = np.repeat([1, 0], [100, 900])
    scores = np.concatenate([np.full(100, 2.0), np.full(90, 2.0), np.zeros(810)])
    asked = {"class_prior": 0.4, "scenario": "single-set"}
    (answer,) = answers_of([rows(labels, scores, **asked)])
    labelling = evaluate(labels, scores, confidence=None, **asked, labelling="random").contradiction
    most = f"{100 * labelling.largest_possible_prior:.1f}".removesuffix(".0")
    assert f"with 40% positives, labels cannot be a random draw. Either at most {most}% are" in answer["refused"]


@pytest.mark.slow
def test_an_audit_that_missed_by_chance_is_told_from_a_contradiction_as_in_python():
    rng = np.random.default_rng(0)
    asked, expected = [], []
    for favour in (1.0, 6.0):
        for _ in range(12):
            found = rng.normal(3, 1, 8000)
            found = found[rng.random(8000) < np.where(found > 3, 1.0, 1 / favour)][:800]
            positive = rng.random(8000) < 0.2
            labels, scores = np.repeat([1, 0], [800, 8000]), np.concatenate([found, rng.normal(3.0 * positive, 1)])
            audit = [int(rng.binomial(200, 0.2)), 200]
            asked.append(rows(labels, scores, audit=audit, scenario="case-control", threshold=2.0, confidence=None))
            python = evaluate(
                labels, scores, audit=audit, scenario="case-control", threshold=2.0, confidence=None, labelling="random"
            )
            expected.append(python.contradiction is not None)
    found = [answer.get("refused") is not None for answer in answers_of(asked)]
    assert found == expected
    assert 3 < sum(expected) < 21


def test_worked_cases_have_their_exact_answers(reference_cases):
    asked = []
    for name in ("d1", "d3", "d5"):
        case = reference_cases[name]
        labels, scores = case_rows(case)
        given = {"class_prior": case["params"]["alpha"], "threshold": case["params"].get("threshold", 0.5)}
        asked.append(rows(labels, scores, scenario="case-control", confidence=None, **given))
    proxy = reference_cases["e2"]
    labels, scores = case_rows(proxy)
    asked.append(rows(labels, scores, class_prior=0.25, scenario="case-control", threshold=0.5, confidence=None))
    *recovered, last = answers_of(asked)
    for name, answer in zip(("d1", "d3", "d5"), recovered, strict=True):
        expected = reference_cases[name]["expected"]
        assert answer["answer"]["estimates"]["roc_auc"]["value"] == pytest.approx(expected["auc_direct"], rel=1e-9)
        assert answer["answer"]["estimates"]["average_precision"]["value"] == pytest.approx(
            expected["aucpr_ap"], rel=1e-9
        )
        for metric in ("accuracy", "precision", "recall", "f1"):
            if "at_threshold" in expected:
                found = answer["answer"]["estimates"][metric]["value"]
                assert found == pytest.approx(expected["at_threshold"][metric], rel=1e-9)
    two = proxy["expected"]["two_sample"]
    assert last["answer"]["estimates"]["accuracy"]["value"] == pytest.approx(two["accuracy"], rel=1e-9)
    assert last["answer"]["estimates"]["roc_auc"]["value"] == pytest.approx(two["auc"], rel=1e-9)


def test_a_class_prior_that_nobody_knows_becomes_the_range_that_the_rows_cannot_exclude():
    labels, scores, _ = next(worlds())
    (answer,) = answers_of([rows(labels, scores, class_prior=None, scenario="single-set")])
    prior = answer["data"]["prior"]
    assert prior["low"] == pytest.approx((labels == 1).mean())
    assert prior["low"] < prior["high"] <= 1


def test_draws_are_those_of_numpy_to_the_bit():
    means, chances = [0.0, 0.4, 3.0, 11.0, 90.0, 2000.0] * 40, [0.02, 0.0, 0.3, 0.48, 0.2]
    (found,) = answers_of([{"request": "draws", "seed": 5, "key": 3, "many": 4000, "means": means, "chances": chances}])
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(5).spawn(4)[3]))
    np.testing.assert_allclose(found["normal"], rng.standard_normal(4000), rtol=1e-12)
    assert found["poisson"] == [int(rng.poisson(mean)) for mean in means]
    assert found["multinomial"] == [rng.multinomial(40 * k, chances).tolist() for k in range(50)]
    assert found["uniform"] == rng.random(5).tolist()
    assert found["shuffled"] == [rng.permutation(np.arange(size)).tolist() for size in (7, 100, 20_000)]
    np.testing.assert_allclose(found["exponential"], rng.standard_exponential(4000), rtol=1e-12)
    for drawn, (a, b) in zip(found["beta"], ((1, 1), (1, 30), (2, 5), (40, 300)), strict=True):
        np.testing.assert_allclose(drawn, rng.beta(a, b, 500), rtol=1e-12)


def test_special_functions_are_those_of_scipy():
    rng = np.random.default_rng(2)
    levels = np.concatenate([10 ** -rng.uniform(0.1, 9, 40), rng.uniform(0.01, 0.99, 40)])
    shapes = [(float(a), float(b)) for a, b in 10 ** rng.uniform(-0.3, 6, (80, 2))]
    freedoms = (10 ** rng.uniform(0, 8, 80)).tolist()
    ends = rng.normal(0, 4, 80)
    asked = {
        "numbers.normalQuantile": [(level,) for level in levels.tolist()],
        "numbers.normalTail": [(end,) for end in ends.tolist()],
        "numbers.betaQuantile": [(a, b, level) for (a, b), level in zip(shapes, levels.tolist(), strict=True)],
        "numbers.studentQuantile": [(n, level) for n, level in zip(freedoms, levels.tolist(), strict=True)],
    }
    found = answers_of({"request": "call", "path": path, "given": given} for path, given in asked.items())
    np.testing.assert_allclose(found[0], special.ndtri(levels), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found[1], special.ndtr(-ends), rtol=1e-11)
    np.testing.assert_allclose(found[2], special.betaincinv(*np.transpose(shapes), levels), rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(found[3], special.stdtrit(freedoms, levels), rtol=1e-9)


def test_numbers_are_written_as_python_writes_them():
    values = [0.125, 0.0625, 2.5, 0.5, 12345.5, 0.00012345, 1e-7, 99999.5, 1e21, 0.1 + 0.2, 7.0, 123456789.0, -0.375]
    values += np.random.default_rng(3).lognormal(0, 6, 60).tolist()
    asked = [
        (path, digits, form)
        for path, form in (("general", "g"), ("fixed", "f"))
        for digits in (2, 3, 4, 6)
        for form in [form]
    ]
    found = answers_of(
        {"request": "call", "path": f"numbers.{path}", "given": [(value, digits) for value in values if value < 1e20]}
        for path, digits, _ in asked
    )
    for (_, digits, form), texts in zip(asked, found, strict=True):
        assert texts == [f"{value:.{digits}{form}}" for value in values if value < 1e20]


TABLES = {
    "plain": "id,score,label\n1,0.9,1\n2,0.4,0\n3,0.25,\n4,.5,0\n5,1e-3,1\n",
    "quoted": 'label,"the, score",note\n1,"0.5","a ""quoted"" word"\n0,0.25,"two\nlines"\n0,7,plain "inside"\n',
    "windows ends and blank lines": "score,label\r\n0.5,1\r\n\r\n0.25,0\r\n0.25,0",
    "a mark at the beginning": "\ufeffscore,label\n0.5,1\n0.25,0\n",
    "old ends of lines": "score,label\r0.5,1\r0.25,0\r",
    "underscores, signs and spaces": "score,label\n1_000,1\n+2.5, 1 \n -3 ,0\n0012,0\n5.,1\n",
    "seventeen digits": "score,label\n0.12345678901234567,1\n123456789012345.678,0\n9007199254740992,0\n1e22,1\n",
}


def test_tables_are_counted_as_python_counts_them(tmp_path):
    score = {"quoted": "the, score"}
    found = answers_of(file(text, score=score.get(name, "score")) for name, text in TABLES.items())
    for (name, text), answer in zip(TABLES.items(), found, strict=True):
        path = tmp_path / "t.csv"
        path.write_bytes(text.encode())
        tally = read_tally(str(path), score=score.get(name, "score"), label="label", positive="1")
        assert answer["thresholds"] == tally.thresholds.tolist(), name
        assert answer["labelled"] == tally.labelled.tolist(), name
        assert answer["unlabelled"] == tally.unlabelled.tolist(), name


def test_separators_decimal_commas_and_encodings_are_told_apart():
    rows_of = [("score", "label"), ("0,9", "1"), ("0,4", "0"), ("12", "1")]
    made = {}
    for separator in (";", "\t", "|"):
        made[separator] = "\n".join(separator.join(row) for row in rows_of)
    asked = [file(text) for text in made.values()]
    asked += [file(made["\t"].encode(encoding)) for encoding in ("utf-16", "utf-16-le", "utf-16-be")]
    found = answers_of(asked)
    assert [answer["separator"] for answer in found] == [";", "\t", "|", "\t", "\t", "\t"]
    assert all(answer["thresholds"] == [12.0, 0.9, 0.4] for answer in found)


BAD_TABLES = {
    "empty": "",
    "only a header": "score,label\n",
    "not a number": "score,label\n0.5,1\nhigh,0\n",
    "a formula": "score,label\n0.5,1\n\"=HYPERLINK('x')\",0\n",
    "no number": "score,label\n0.5,1\n,0\n",
    "nan": "score,label\n0.5,1\nnan,0\ninf,0\n",
    "another width": "score,label\n0.5,1\n0.25,0,9\n",
    "a line break in quotes before": 'score,label,x\n0.5,1,"a\nb"\n0.25,0\n',
    "too long to be told apart": "score,label\n0.5,1\n9007199254740993,0\n",
    "hexadecimal": "score,label\n0.5,1\n0x10,0\n",
}


def test_bad_cells_are_named_by_row_value_and_column_as_python_names_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = answers_of(file(text) for text in BAD_TABLES.values())
    for (name, text), answer in zip(BAD_TABLES.items(), found, strict=True):
        (tmp_path / "t.csv").write_text(text, newline="")
        with pytest.raises(PulensError) as refused:
            read_tally("t.csv", score="score", label="label", positive="1")
        assert answer["refused"] == str(refused.value), name


def test_counts_go_to_the_command_line_and_back_as_a_tally_file(tmp_path):
    labels, scores, _ = next(worlds())
    tally = Tally.from_arrays(labels, scores)
    write_tally_file(tmp_path / "python.tally", TallyFile.of(tally, source="rows.csv"))
    content = (tmp_path / "python.tally").read_bytes()
    (answer,) = answers_of([{"request": "tally", "bytes": base64.b64encode(content).decode(), "name": "python.tally"}])
    assert answer["labelled"] == tally.labelled.tolist()
    assert answer["negative"] == tally.negative.tolist()
    (tmp_path / "page.tally").write_bytes(base64.b64decode(answer["written"]))
    found = read_tally_file(tmp_path / "page.tally")
    assert found.tally == tally
    (part,) = found.parts
    assert part == {"source": 'the "page"', "rows": float(len(labels)), "digest": digest(tally)}


def test_damaged_and_foreign_tallies_are_refused(tmp_path):
    labels, scores, _ = next(worlds())
    write_tally_file(tmp_path / "a.tally", TallyFile.of(Tally.from_arrays(labels, scores), source="a"))
    content = (tmp_path / "a.tally").read_bytes()
    binned = Tally.from_arrays(labels, scores).binned(1)
    write_tally_file(tmp_path / "b.tally", TallyFile.of(binned, source="b"))
    tried = [
        b"",
        b"PAR1" * 3,
        content[:-30] + content[-8:],
        content[: len(content) // 2],
        (tmp_path / "b.tally").read_bytes(),
    ]
    found = answers_of(
        {"request": "tally", "bytes": base64.b64encode(each).decode(), "name": "t.tally"} for each in tried
    )
    assert all("refused" in answer for answer in found)
    assert "binned" in found[-1]["refused"]


def test_the_file_is_small_and_allows_nothing_but_its_own_script():
    page = one_page()
    assert len(page.encode()) <= 500_000
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page.split("<script", 1)[0])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy.replace("style-src-attr 'unsafe-inline'", "")
    assert set(re.findall(r'(?:src|href)="((?!#)[^"]*)', page.split("<script", 1)[0])) == {HOME}


@pytest.mark.slow
def test_a_class_prior_that_nobody_knows_withholds_what_it_leaves_open_and_blames_nobody():
    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.1
    labels = (positive & (rng.random(3000) < 0.35)).astype(int)
    scores = rng.normal(1.3 * positive)
    (answer,) = answers_of([rows(labels, scores, class_prior=None, scenario="single-set", threshold=1.0)])
    told, data = answer["answer"], answer["data"]
    precision = told["estimates"]["precision"]
    assert precision["value"] is None
    assert precision["withheld_because"] == BECAUSE
    assert precision["high"] - precision["low"] > WIDE
    assert told["estimates"]["recall"]["value"] == pytest.approx(labels[scores >= 1.0].sum() / labels.sum())
    shown = next(metric for metric in data["metrics"] if metric["name"] == "precision")
    assert shown["only_interval"]
    assert shown["value"] is None
    assert "somewhere between" in told["verdict"][1]
    assert told["class_prior"]["method"] == "not known"
    words = json.dumps(answer, ensure_ascii=False)
    assert "was given as" not in words
    assert "given as a range" not in words
    narrow = [
        name
        for name, found in told["estimates"].items()
        if "class prior (not known)" in found["rests_on"] and found["value"] is not None
    ]
    assert "accuracy" in narrow
