"""Pages, Markdown and JSON as files: whole or not at all, same bytes for the same rows, everything escaped."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import pulens
from pulens.audits import from_counts
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.report.audit_page import columns_table
from pulens.report.audit_summary import summarise_audit
from pulens.report.html import HOME, thinning_words
from pulens.report.page_data import histogram, packed, page_data
from pulens.report.summary import summarise
from pulens.report.thinning import thin


def rows(n=800, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    return (positive & (rng.random(n) < 0.5)).astype(int), rng.normal(2 * positive)


@pytest.fixture(scope="module")
def evaluation():
    return pulens.evaluate(*rows(), class_prior=0.3, scenario="single-set", labelling="random")


def test_the_page_stands_alone(evaluation):
    page = evaluation.to_html(title="model")
    assert "default-src 'none'" in page
    assert set(re.findall(r"""(?:src|href)=["']((?!#)[^"']+)""", page)) == {HOME}  # a link, which nobody fetches
    assert "@import" not in page
    assert "url(#" in page  # clip paths of charts, the only urls
    assert re.findall(r"url\((?!#)", page) == []
    # beside it the only address is SVG's name space, which nobody fetches either
    assert set(re.findall(r"https?://[^\s\"'<>)]+", page)) == {"http://www.w3.org/2000/svg", HOME}


def test_same_rows_same_bytes(evaluation):
    again = pulens.evaluate(*rows(), class_prior=0.3, scenario="single-set", labelling="random")
    assert evaluation.to_html() == again.to_html()
    assert evaluation.to_markdown() == again.to_markdown()


def test_hostile_names_stay_text(evaluation):
    name = "</script><script>alert(1)</script>"
    page = evaluation.to_html(title=name)
    assert name not in page
    assert "&lt;/script&gt;" in page


def test_the_data_cannot_close_their_script():
    from pulens.report.html import script_safe_json

    text = script_safe_json({"a": "</script><!--", "b": 1.5})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--", "b": 1.5}


def test_markdown_says_what_the_page_says(evaluation):
    text = evaluation.to_markdown(title="a *model* | of <mine>")
    assert text.startswith(r"# a \*model\* \| of \<mine\>")
    for sentence in summarise(evaluation).verdict:
        assert sentence in text
    for row in summarise(evaluation).at_threshold:
        assert f"| {row.title} | {row.value} |" in text
    assert "random draw of all positives" in text


def test_files_are_written_whole_or_not_at_all(evaluation, tmp_path):
    target = tmp_path / "missing" / "report.html"
    with pytest.raises(PulensError, match="cannot be written"):
        evaluation.to_html(target)
    evaluation.to_html(tmp_path / "report.html")
    evaluation.to_markdown(tmp_path / "report.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.md"]


def test_the_command_writes_every_form_and_can_be_quiet(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    labels, scores = rows()
    np.savetxt("s.csv", np.column_stack([labels, scores]), delimiter=",", header="label,score", comments="")
    main(
        [
            "evaluate",
            "--labelling",
            "random",
            "s.csv",
            "--class-prior",
            "0.3",
            "--html",
            "r.html",
            "--markdown",
            "r.md",
            "--json",
            "r.json",
            "-q",
        ]
    )
    out, err = capsys.readouterr()
    assert (out, err) == ("", "")
    assert "s.csv · pulens</title>" in (tmp_path / "r.html").read_text()
    assert (tmp_path / "r.md").read_text().startswith("# s.csv")
    answer = json.loads((tmp_path / "r.json").read_text())
    assert answer["estimates"]["roc_auc"]["value"] > 0.8
    assert answer["verdict"][0].startswith("The model ranks")
    assert "random draw" in answer["assumptions"][0]["statement"]
    main(["evaluate", "--labelling", "random", "s.csv", "--class-prior", "0.3", "--markdown", "-"])
    assert capsys.readouterr().out.startswith("# s.csv")
    main(["evaluate", "--labelling", "random", "s.csv", "--class-prior", "0.3"])
    assert "\x1b[" not in capsys.readouterr().out  # no colour codes in a pipe


def test_two_forms_cannot_share_standard_output(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    labels, scores = rows()
    np.savetxt("s.csv", np.column_stack([labels, scores]), delimiter=",", header="label,score", comments="")
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "--labelling", "random", "s.csv", "--class-prior", "0.3", "--markdown", "-", "--json", "-"])
    assert end.value.code == 2
    assert "only one of --markdown and --json" in capsys.readouterr().err


def test_thinned_counts_are_the_counts():
    labels, scores = rows(20_000)
    tally = Tally.from_arrays(labels, scores)
    wanted = float(tally.thresholds[7777])
    thinned = thin(tally, most=500, keep=(wanted,))
    assert 400 < len(thinned.tally) <= 500
    assert thinned.tally.totals == tally.totals
    assert wanted in thinned.tally.thresholds
    for threshold in thinned.tally.thresholds[::50]:
        assert thinned.tally.at(threshold) == tally.at(threshold)
    # the head of the ranking is kept row by row
    np.testing.assert_array_equal(thinned.tally.thresholds[:10], tally.thresholds[:10])


def test_no_point_left_out_is_further_than_stated():
    labels, scores = rows(20_000)
    tally = Tally.from_arrays(labels, scores)
    thinned = thin(tally, most=300)
    places = np.searchsorted(-thinned.tally.thresholds, -tally.thresholds)  # the next kept threshold at or below
    before = np.maximum(places - 1, 0)
    for kind, stated in (("labelled", thinned.labelled_gap), ("unlabelled", thinned.unlabelled_gap)):
        whole, kept = getattr(tally, kind) / getattr(tally, kind)[-1], getattr(thinned.tally, kind)
        kept = kept / kept[-1]
        left_out = ~np.isin(tally.thresholds, thinned.tally.thresholds)
        off = (whole - kept[before])[left_out]
        assert off.max() <= stated + 1e-12
        assert stated < 0.02


def test_few_thresholds_are_all_kept():
    tally = Tally.from_arrays(*rows(100))
    thinned = thin(tally)
    assert thinned.tally == tally
    assert (thinned.labelled_gap, thinned.is_thinned) == (0.0, False)
    assert "exact" in thinning_words({"kept": 100, "of": 100})


def test_histograms_count_every_row_whatever_the_scores():
    for scores in (np.array([0.5] * 5), np.array([1e300, -1e300, 0, 1, 2.0]), np.array([0.1, 0.2, 0.9, 0.95, 1.0])):
        counted = histogram(Tally.from_arrays(np.array([1, 0, 0, 1, 0]), scores))
        assert sum(counted["labelled"]) == 2
        assert sum(counted["unlabelled"]) == 3
        assert np.all(np.diff(counted["edges"]) > 0)


def test_large_and_weighted_counts_survive_packing():
    import base64

    for values in (np.array([1, 2**33]), np.array([0.5, 1.25])):
        stored = packed(values)
        assert stored["type"] == "f8"
        np.testing.assert_array_equal(np.frombuffer(base64.b64decode(stored["data"]), "<f8"), values)


def test_the_slider_marks_where_the_data_contradict_the_prior(evaluation):
    prior = page_data(evaluation, summarise(evaluation))["prior"]
    assert prior["track"][0] < prior["value"] < prior["possible"] < prior["track"][1]


def test_addresses_of_databases_do_not_reach_the_title():
    from pulens.cli._output import page_title

    assert page_title("postgresql://me:secret@host/scores?password=secret", {}) == "scores"
    assert page_title("a/what?.csv", {"score": "p"}) == "p in what?.csv"
    assert page_title("-", {"score": "score"}) == "standard input"


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_the_slider_of_rows_whose_classes_are_known_has_a_track(scenario):
    labels = np.repeat([1, -1], [20, 60])
    evaluation = pulens.evaluate(
        labels, np.arange(80.0), negative=-1, scenario=scenario, redraws=100, labelling="random"
    )
    prior = page_data(evaluation, summarise(evaluation))["prior"]
    low, high = prior["track"]
    assert prior["fixed"]
    assert low < prior["value"] < high
    assert prior["possible"] >= high


def test_a_page_of_labels_as_in_practice_draws_uncorrected_curves_of_the_rows_themselves():
    labels, scores = rows()
    page = pulens.evaluate(labels, scores, class_prior=0.3, threshold=0.5, redraws=100).to_html()
    data = json.loads(re.search(r'id="page-data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    thresholds, labelled = (
        np.frombuffer(base64.b64decode(packed["data"]), {"u4": "<u4", "f8": "<f8", "f4": "<f4"}[packed["type"]])
        for packed in (data["counts"]["thresholds"], data["plain"]["labelled"])
    )
    assert labelled.tolist() == [int((labels[scores >= threshold] == 1).sum()) for threshold in thresholds]


def test_an_audit_that_contradicts_random_labels_leads_to_one_number_a_metric():
    summary = summarise_audit(from_counts(rows=[200, 300], checked=[60, 40], found=[6, 4], flagged=1, labelled=[20, 5]))
    first = summary.rows[0]
    random = replace(summary, rows=(replace(first, recovered=first.assuming_nothing),))
    assert columns_table(random)["rows"][0]["picture"]["recovered"]
    table = columns_table(replace(random, contradicted="contradicted by the audit (p < 0.001)"))
    assert not table["has_recovered"]
    assert table["rows"][0]["picture"]["recovered"] == ""
