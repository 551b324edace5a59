"""Pages that break careless ones: hostile names, tiny and huge data, ties, extreme class priors, hopeless models."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from pulens.cli import main
from pulens.evaluation.evaluate import evaluate

NAMES = {
    "script": "<script>alert('x')</script>",
    "closing": "</title></script><img src=x onerror=alert(1)>",
    "quotes": """a "quoted" 'name' with `ticks` & ampersands""",
    "emoji": "🧪 model 👩🏽‍🔬 v2",
    "right-to-left": "نموذج الاحتيال ‮reversed",
    "long": "x" * 300,
    "template": "{{ 7 * 7 }} {% raw %}",
}


def rows(n, prior=0.3, separation=1.5, seed=1):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prior
    scores = rng.normal(separation * positive)
    labels = (positive & (rng.random(n) < 0.5)).astype(int)
    labels[0] = 1
    return labels, scores


def check_sensible(opened, charts=5):
    """The page works: sliders move, nothing reads nan, all charts are drawn without stray numbers."""
    page = opened.page
    assert page.locator("figure svg").count() == charts
    page.locator("#prior").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#threshold").focus()
    page.keyboard.press("ArrowLeft")
    opened.settle()
    text = page.locator("body").inner_text()
    for word in ("NaN", "nan%", "Infinity", "undefined%", "[object", "null"):
        assert word not in text, word
    drawn = page.evaluate("[...document.querySelectorAll('figure svg')].map((svg) => svg.outerHTML).join('')")
    assert "NaN" not in drawn
    assert "Infinity" not in drawn
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_names_are_shown_as_text(open_page, tmp_path, name):
    path = tmp_path / "report.html"
    evaluate(*rows(200), class_prior=0.3, redraws=100, labelling="random").to_html(path, title=name)
    opened = open_page(path, viewport={"width": 375, "height": 740})
    assert opened.page.locator("h1").text_content().strip() == name
    assert opened.page.title() == " ".join(f"{name} · pulens".split())
    assert opened.page.locator("img").count() == 0
    check_sensible(opened)


def test_names_of_files_and_columns_reach_the_page_as_text(open_page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    column = NAMES["closing"]
    file = "a <b>'quoted' \"name\"</b> 🧪.csv".replace("/", "")
    with open(file, "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow([column, "label"])
        writer.writerows(zip(rows(60)[1], rows(60)[0], strict=True))
    main(
        [
            "evaluate",
            "--labelling",
            "random",
            file,
            "--score",
            column,
            "--class-prior",
            "0.3",
            "--html",
            "r.html",
            "--quiet",
        ]
    )
    assert capsys.readouterr().out == ""
    opened = open_page(tmp_path / "r.html")
    assert opened.page.locator("h1").text_content().strip() == f"{column} in {file}"
    check_sensible(opened)


def test_ten_rows(open_page, tmp_path):
    path = tmp_path / "report.html"
    labels = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    scores = [0.9, 0.8, 0.4, 0.95, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05]
    evaluate(labels, scores, class_prior=0.4, labelling="random").to_html(path)
    opened = open_page(path)
    assert "Only 3 labelled positives" in opened.page.locator(".notices").first.inner_text()
    opened.keep("ten-rows")
    check_sensible(opened)


def test_all_scores_tied(open_page, tmp_path):
    path = tmp_path / "report.html"
    evaluate([1] * 40 + [0] * 60, [0.5] * 100, class_prior=0.5, labelling="random").to_html(path)
    opened = open_page(path)
    assert opened.number("roc_auc") == pytest.approx(0.5)
    assert "do not show that it beats guessing" in opened.page.locator("#verdict").inner_text()
    opened.keep("all-tied")
    check_sensible(opened)


def test_a_class_prior_of_zero(open_page, tmp_path):
    path = tmp_path / "report.html"
    evaluation = evaluate(*rows(500), unlabelled_prior=0.0, scenario="case-control", labelling="random")
    evaluation.to_html(path)
    opened = open_page(path)
    assert opened.number("precision") == evaluation.estimates["precision"].value
    assert opened.page.locator("#prior-number").input_value() == "0"
    opened.keep("prior-zero")
    check_sensible(opened)


def test_a_hopeless_model(open_page, tmp_path):
    path = tmp_path / "report.html"
    labels, scores = rows(3000, separation=0.0)
    evaluate(labels, scores, class_prior=0.3, scenario="single-set", labelling="random").to_html(path)
    opened = open_page(path)
    assert opened.number("roc_auc") == pytest.approx(0.5, abs=0.06)
    opened.keep("hopeless")
    check_sensible(opened)


def test_fully_labelled_rows_have_no_class_prior_to_argue_about(open_page, tmp_path):
    path = tmp_path / "report.html"
    labels, scores = rows(300)
    evaluate(np.where(labels == 1, 1, -1), scores, negative=-1, labelling="random").to_html(path)
    opened = open_page(path)
    assert opened.page.locator("#prior").is_disabled()
    assert opened.page.locator("figure svg").count() >= 5


def test_very_many_rows(open_page, tmp_path, everything):
    """A million of them in ``make everything``."""
    count = 1_000_000 if everything else 200_000
    path = tmp_path / "report.html"
    labels, scores = rows(count, prior=0.1)
    evaluation = evaluate(labels, scores, class_prior=0.1, scenario="single-set", redraws=100, labelling="random")
    evaluation.to_html(path, title="very many rows")
    assert path.stat().st_size < 500_000
    opened = open_page(path)
    assert f"of {count:,} distinct scores" in opened.page.locator("footer").inner_text()
    # thinning leaves ROC AUC and everything at the threshold exact, at any class prior
    opened.page.evaluate("page.moveTo({prior: 0.04})")
    opened.settle()
    there = evaluate(
        labels,
        scores,
        unlabelled_prior=0.04,
        scenario="single-set",
        threshold=evaluation.threshold,
        confidence=None,
        labelling="random",
    )
    for name in ("roc_auc", "precision", "recall", "f1", "matthews_correlation"):
        assert opened.number(name) == pytest.approx(there.estimates[name].value, abs=1e-9)
    off = abs(opened.number("average_precision") - there.estimates["average_precision"].value)
    stated = opened.page.evaluate("page.raw.thinning.average_precision.error")
    assert off < 2 * stated + 1e-9
    assert off < 1e-5
    opened.keep("very-many-rows")
    check_sensible(opened)


KINDS = {
    "weights": {"weights": True},
    "known negatives": {"negatives": True},
    "label noise": {"label_noise": 0.1},
    "no intervals": {"confidence": None},
    "estimated prior": {"class_prior": None},
    "huge scores": {"scale": 1e300},
    "tiny scores": {"scale": 1e-300},
    "single precision": {"kind": np.float32},
    "threshold above every score": {"threshold": 1e9},
    "logits": {"scores_are": "logit"},
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_kind_of_data_has_a_sensible_page(open_page, tmp_path, kind):
    labels, scores = rows(400)
    options = {"class_prior": 0.3, "redraws": 100, **kind}
    scores = (scores * options.pop("scale", 1.0)).astype(options.pop("kind", np.float64))
    if options.pop("negatives", False):
        labels[(labels == 0) & (np.arange(400) % 5 == 0)] = -1
    if options.pop("weights", False):
        options["weights"] = np.linspace(0.5, 2.0, 400)
    meaning = options.pop("scores_are", None)
    evaluation = evaluate(labels, scores, **options, labelling="random")
    evaluation.to_html(tmp_path / "report.html", scores_are=meaning)
    opened = open_page(tmp_path / "report.html")
    result = evaluation.estimates
    for name in ("roc_auc", "recall", "f1"):
        if result[name].withheld_because:
            assert opened.page.locator(f"td[data-live='{name}']").get_attribute("data-value") == ""
            continue
        assert opened.number(name) == result[name].value
    # what the page computes by itself, where it stands, is what Python said
    live = opened.page.evaluate("({ ...page.current.values })")
    for name in ("roc_auc", "recall", "f1", "average_precision"):
        if not result[name].withheld_because:
            assert live[name] == pytest.approx(result[name].value, abs=1e-9), name
    charts = 5 + (meaning is not None)
    check_sensible(opened, charts)
