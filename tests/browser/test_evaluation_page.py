"""The page of an evaluation, opened from disk in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.evaluation.evaluate import evaluate
from pulens.report.html import HOME, made_on

LIVE = ("roc_auc", "average_precision", "precision", "recall", "f1", "accuracy", "matthews_correlation", "lift")


def rows(n=1500, prior=0.2, separation=2.0, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < prior
    scores = 1 / (1 + np.exp(-rng.normal(separation * positive - 1)))
    return (positive & (rng.random(n) < 0.4)).astype(int), np.round(scores, 6)


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(*rows(), class_prior=(0.15, 0.25), scenario="single-set", redraws=200, labelling="random")


@pytest.fixture(scope="module")
def report(evaluation, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    evaluation.to_html(path, title="churn model, March")
    return path


def check_against_python(opened, prior, threshold):
    """What the page shows beside what Python says for the same rows."""
    labels, scores = rows()
    there = evaluate(
        labels,
        scores,
        class_prior=prior,
        scenario="single-set",
        threshold=threshold,
        confidence=None,
        labelling="random",
    )
    for name in LIVE:
        assert opened.number(name) == pytest.approx(there.estimates[name].value, abs=1e-9), name
    table = there.at(threshold).table
    for shown, cell in (("truePositive", "true_positive"), ("falsePositive", "false_positive"),
                        ("falseNegative", "false_negative"), ("trueNegative", "true_negative")):  # fmt: skip
        assert opened.cell(shown) == pytest.approx(float(getattr(table, cell)[0]), abs=1e-9)


def test_opens_with_the_numbers_of_the_evaluation(open_page, evaluation, report):
    opened = open_page(report)
    for name in LIVE:
        assert opened.number(name) == evaluation.estimates[name].value
    assert opened.page.title() == "churn model, March · pulens"
    assert opened.page.locator("figure svg").count() == 5
    sentence = opened.page.locator("#verdict .sentence").first.inner_text()
    assert "ranks a random positive above a random negative" in sentence
    opened.keep("evaluation-light")


def test_the_slider_recomputes_everything_as_python_does(open_page, evaluation, report):
    opened = open_page(report)
    before = opened.page.locator("#chart-roc svg").inner_html()
    slider = opened.page.locator("#prior")
    slider.focus()
    for _ in range(12):
        opened.page.keyboard.press("ArrowRight")
    opened.settle()
    prior = opened.page.evaluate("Number(document.getElementById('prior').value)")
    assert prior > evaluation.class_prior.value
    held = opened.page.evaluate("recovery.populationPrior(page.state.prior, page.data.totals, 'single-set', 0)")
    check_against_python(opened, held, evaluation.threshold)
    assert opened.page.locator("#chart-roc svg").inner_html() != before
    assert opened.page.locator("#moved").is_visible()
    opened.page.locator("#reset").click()
    opened.settle()
    assert opened.number("roc_auc") == evaluation.estimates["roc_auc"].value
    assert not opened.page.locator("#moved").is_visible()


def test_a_typed_prior_counts(open_page, evaluation, report):
    opened = open_page(report)
    field = opened.page.locator("#prior-number")
    field.fill("0.12")
    field.press("Enter")
    opened.settle()
    check_against_python(opened, 0.12, evaluation.threshold)
    field.fill("nonsense")
    field.press("Enter")
    opened.settle()
    assert float(field.input_value()) == pytest.approx(0.12)


def test_a_click_on_the_curve_moves_the_threshold(open_page, evaluation, report):
    opened = open_page(report)
    for chart, where in (("roc", (0.5, 0.3)), ("precision-recall", (0.4, 0.5)), ("threshold", (0.3, 0.5))):
        plot = opened.page.locator(f"#chart-{chart} .plot")
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        opened.page.mouse.move(box["x"] + where[0] * box["width"], box["y"] + where[1] * box["height"])
        assert "threshold" in plot.locator(".tip").inner_text()
        opened.page.mouse.click(box["x"] + where[0] * box["width"], box["y"] + where[1] * box["height"])
        opened.settle()
        threshold = opened.page.evaluate("page.data.counts.thresholds[page.state.index - 1]")
        assert threshold != evaluation.threshold
        check_against_python(opened, evaluation.class_prior.value, threshold)


def test_the_curve_can_be_walked_by_keyboard(open_page, report):
    opened = open_page(report)
    plot = opened.page.locator("#chart-roc .plot")
    plot.focus()
    for _ in range(5):
        opened.page.keyboard.press("ArrowRight")
    told = plot.locator(".tip").inner_text()
    opened.page.keyboard.press("Enter")
    opened.settle()
    shown = opened.page.locator("#threshold-number").input_value()
    assert f"threshold {shown}" in told


def test_the_address_keeps_the_state(open_page, evaluation, report):
    first = open_page(report)
    first.page.evaluate("page.moveTo({prior: 0.07, index: 100})")
    first.settle()
    fragment = first.page.evaluate("location.hash")
    assert "prior=" in fragment
    assert "threshold=" in fragment
    second = open_page(report, fragment)
    for name in LIVE:
        assert second.number(name) == pytest.approx(first.number(name), abs=1e-12)
    second.page.evaluate("location.hash = '#prior=0.2'")
    second.settle()
    check_against_python(second, 0.2, evaluation.threshold)


def test_a_prior_that_the_data_contradict_is_called_so(open_page, report):
    opened = open_page(report)
    assert not opened.page.locator("#live-warning").is_visible()
    opened.page.evaluate("page.moveTo({prior: 0.5})")
    opened.settle()
    assert "contradict" in opened.page.locator("#live-warning").inner_text()


def test_the_theme_can_be_switched_and_follows_the_system(open_page, report):
    opened = open_page(report, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = opened.page.evaluate(background)
    drawn = opened.page.locator("#chart-roc svg").get_attribute("fill")
    opened.keep("evaluation-dark")
    opened.page.locator("#theme").click()
    assert opened.page.evaluate(background) != dark
    assert opened.page.locator("#chart-roc svg").get_attribute("fill") != drawn
    opened.page.locator("#theme").click()
    assert opened.page.evaluate(background) == dark


def test_charts_are_saved_and_their_data_copied(open_page, report, tmp_path):
    opened = open_page(report)
    for chart in ("roc", "precision-recall", "prior", "threshold", "scores"):
        figure = opened.page.locator(f"#chart-{chart}")
        with opened.page.expect_download() as download:
            figure.locator("[data-save=svg]").click()
        svg = (tmp_path / "a.svg").with_stem(chart)
        download.value.save_as(svg)
        assert svg.read_text().startswith("<svg xmlns=")
        with opened.page.expect_download() as download:
            figure.locator("[data-save=png]").click()
        png = svg.with_suffix(".png")
        download.value.save_as(png)
        assert png.read_bytes().startswith(b"\x89PNG")
        figure.locator("[data-save=csv]").click()
        figure.get_by_text("Copied").wait_for()
        figure.locator("details.data summary").click()
        figure.locator("table tbody tr").first.wait_for()
        assert figure.locator("table tbody tr").count() > 5
    csv = opened.page.evaluate("figures.all[0].csv()").splitlines()
    assert csv[0] == "threshold,false positive rate,true positive rate"
    assert len(csv) == len(opened.page.evaluate("page.current.roc.x")) + 1


def test_fits_a_phone_and_paper(open_page, report):
    opened = open_page(report, viewport={"width": 375, "height": 740}, device_scale_factor=2)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375
    opened.keep("evaluation-phone")
    printed = open_page(report, color_scheme="dark")
    assert printed.on_paper("evaluation-print").startswith(b"%PDF")


def test_every_control_has_a_name_and_every_chart_a_table(open_page, report):
    opened = open_page(report)
    nameless = opened.page.evaluate(
        """() => [...document.querySelectorAll("button, input, [tabindex='0']")].filter((element) =>
             !(element.getAttribute("aria-label") || element.labels?.length || element.textContent.trim())
           ).map((element) => element.outerHTML)"""
    )
    assert nameless == []
    assert opened.page.locator("figure details.data").count() == opened.page.locator("figure").count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(open_page, report, scheme):
    """Contrast of at least 4.5 to 1 for the colours that text is set in (WCAG AA)."""
    opened = open_page(report, color_scheme=scheme)
    low = opened.page.evaluate(
        """() => {
          const style = getComputedStyle(document.documentElement);
          const channel = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
          const light = (name) => {
            const hex = style.getPropertyValue(name).trim().slice(1);
            const [r, g, b] = [0, 2, 4].map((k) => channel(parseInt(hex.slice(k, k + 2), 16) / 255));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ratio = (a, b) => {
            const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
            return (x + 0.05) / (y + 0.05);
          };
          const pairs = [];
          for (const text of ["--ink", "--soft", "--main", "--accent"])
            for (const ground of ["--paper", "--card", "--note-bg"]) pairs.push([text, ground, ratio(text, ground)]);
          for (const ground of ["--warn-bg", "--bad-bg"]) pairs.push(["--ink", ground, ratio("--ink", ground)]);
          return pairs.filter(([, , found]) => found < 4.5);
        }"""
    )
    assert low == []


def test_numbers_that_rest_on_an_estimate_say_so_until_the_prior_is_chosen(open_page, tmp_path):
    estimated = evaluate(*rows(separation=3.0), scenario="single-set", redraws=200, labelling="random")
    path = tmp_path / "estimated.html"
    estimated.to_html(path)
    opened = open_page(path)
    mark = "(name) => getComputedStyle(document.querySelector(`td[data-live=${name}]`), '::before').content"
    assert opened.page.evaluate(mark, "precision") == '"~"'
    assert opened.page.evaluate(mark, "recall") == "none"
    opened.page.evaluate("page.moveTo({prior: 0.1})")
    opened.settle()
    assert opened.page.evaluate(mark, "precision") == "none"


def test_where_rows_hardly_speak_about_the_prior_the_page_leads_with_the_rest(open_page, tmp_path):
    weak = evaluate(*rows(separation=0.4), scenario="single-set", threshold=0.4, redraws=200, labelling="random")
    path = tmp_path / "weak.html"
    weak.to_html(path)
    opened = open_page(path)
    sentences = opened.page.locator("#verdict .sentence")
    assert sentences.first.inner_text().startswith("Flagging the ")
    interval = weak.estimates["precision"].interval
    assert opened.page.locator("dd[data-live='precision']").inner_text() == f"{interval.low:.3f} to {interval.high:.3f}"
    assert opened.page.locator("td[data-live='precision']").inner_text() == ""
    opened.page.evaluate("page.moveTo({prior: 0.1})")
    opened.settle()
    assert sentences.first.inner_text().startswith("The model ranks")
    assert "to" not in opened.page.locator("dd[data-live='precision']").inner_text()


def test_counts_and_shares_of_the_contingency_table_stand_apart(open_page, report):
    opened = open_page(report)
    for cell in opened.page.locator("[data-cell]").all():
        count, share = (cell.locator(part).bounding_box() for part in (".count", ".share"))
        assert count["height"] > 12
        assert count["y"] + count["height"] <= share["y"] + 1


def test_what_to_do_next_stands_on_the_page(open_page, evaluation, report):
    from pulens.report.next_steps import next_steps

    opened = open_page(report)
    commands = opened.page.locator(".next code").all_inner_texts()
    assert commands == [step.call for step in next_steps(evaluation)]


def test_tiles_show_the_uncorrected_number_beside_the_recovered_one(open_page, evaluation, report):
    opened = open_page(report)
    page = opened.page
    for name in ("roc_auc", "precision", "f1"):
        shown = page.locator(f"dd span[data-naive='{name}']")
        assert shown.inner_text() == f"{evaluation.uncorrected[name].value:.3f}"
        rail, span, dot = (page.locator(f"[data-bar-of='{name}']{part}").bounding_box() for part in ("", " i", " b"))
        interval = evaluation.estimates[name].interval
        assert (span["x"] - rail["x"]) / rail["width"] == pytest.approx(interval.low, abs=0.02)
        assert (span["x"] + span["width"] - rail["x"]) / rail["width"] == pytest.approx(interval.high, abs=0.02)
        assert dot["width"] / rail["width"] == pytest.approx(evaluation.estimates[name].value, abs=0.02)
    page.evaluate("page.moveTo({index: 300})")
    opened.settle()
    threshold = page.evaluate("page.data.counts.thresholds[299]")
    there = evaluate(
        *rows(), class_prior=0.2, scenario="single-set", threshold=threshold, confidence=None, labelling="random"
    )
    for name in ("precision", "f1", "recall", "roc_auc", "accuracy"):
        held = float(page.locator(f"td[data-naive='{name}']").get_attribute("data-value"))
        assert held == pytest.approx(there.uncorrected[name].value, abs=1e-9), name


def test_what_nobody_asked_for_is_folded_and_drawn_when_it_is_opened(open_page, report):
    opened = open_page(report, folded=True)
    page = opened.page
    folds = page.locator("details.fold")
    titles = folds.locator("> summary").all_inner_texts()
    assert [title.split()[0] for title in titles] == ["What", "All", "Assumptions", "Formulas"]
    assert page.locator("details.fold[open]").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < 4000
    folds.first.locator("> summary").click()
    opened.settle()
    assert page.locator("#chart-prior svg").bounding_box()["width"] > 400
    assert page.locator("footer a").get_attribute("href") == HOME
    assert made_on() in page.inner_text("footer")


def test_a_thumb_can_move_the_sliders_and_paper_opens_the_notes(open_page, report):
    opened = open_page(report, folded=True, viewport={"width": 390, "height": 844})
    for slider in ("#prior", "#threshold"):
        assert opened.page.locator(slider).bounding_box()["width"] > 300
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    opened.page.emulate_media(media="print")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator("details.on-paper:not([open])").count() == 0
    sizes = [
        opened.page.locator(f".tile:first-child {part}").evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
        for part in (".big", ".range", ".means")
    ]
    assert sizes[0] > sizes[1] >= sizes[2]


def test_words_of_a_chart_keep_their_size_on_paper(open_page, report):
    """Two charts side by side were scaled down to half: words of four points."""
    page = open_page(report).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 1000})
    for chart in ("roc", "precision-recall"):
        drawn, shown = page.locator(f"#chart-{chart} svg").evaluate(
            "each => [each.viewBox.baseVal.width, each.getBoundingClientRect().width]"
        )
        assert shown > 0.9 * drawn
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_what_is_known_at_the_reports_class_prior_only_is_said_to_be(open_page, evaluation, report):
    """Intervals vanish and the ladder fades when the prior moves: every page has them for the report's own only."""
    opened = open_page(report)
    page = opened.page
    steps = evaluation.ladder()
    lines = page.locator(".ladder tbody tr")
    assert [line.locator("td").all_inner_texts()[:2] for line in lines.all()] == [
        [f"{step.k:,.0f}", f"{step.hits.expected:,.0f}"] for step in steps
    ]
    interval = evaluation.estimates["roc_auc"].interval
    assert page.locator("td[data-interval='roc_auc']").inner_text() == f"{interval.low:.3f} to {interval.high:.3f}"
    page.evaluate("page.moveTo({prior: 0.08})")
    opened.settle()
    assert page.locator("td[data-interval='roc_auc']").inner_text() == ""
    after = "getComputedStyle(document.querySelector('.ladder'), '::after').content"
    assert page.evaluate(after) == '"At the class prior of the report."'
    page.locator("#reset").click()
    opened.settle()
    assert page.evaluate(after) == "none"


def test_a_withheld_precision_is_not_given_away_by_the_counts(open_page, tmp_path):
    weak = evaluate(*rows(separation=0.4), scenario="single-set", threshold=0.4, redraws=200, labelling="random")
    assert weak.estimates["precision"].withheld_because is not None
    path = tmp_path / "weak.html"
    weak.to_html(path)
    opened = open_page(path)
    assert opened.page.locator("[data-cell] .count").all_inner_texts() == ["~"] * 4
    told = opened.page.locator("#chart-precision-recall figcaption p")
    assert "depends on the class prior" in told.inner_text()
    opened.page.evaluate("page.moveTo({prior: 0.1})")
    opened.settle()
    assert "~" not in opened.page.locator("[data-cell] .count").all_inner_texts()
    told.scroll_into_view_if_needed()
    opened.settle()
    assert told.inner_text() == "Precision as recall increases."


def test_a_withheld_area_has_no_curve_until_a_class_prior_is_chosen(open_page, report):
    opened = open_page(report)
    page = opened.page
    curve = "() => document.querySelector('#chart-roc svg').textContent.includes('recovered')"
    assert page.evaluate(curve)
    page.evaluate("page.raw.metrics.find(({ name }) => name === 'roc_auc').only_interval = true; figures.redrawAll()")
    assert not page.evaluate(curve)
    page.evaluate("page.moveTo({prior: 0.1})")
    page.locator("#chart-roc").scroll_into_view_if_needed()
    opened.settle()
    assert page.evaluate(curve)
