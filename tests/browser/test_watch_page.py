"""The page of a watch: a class prior to move, windows to look at; it fits a phone, the dark and paper."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pulens
from pulens.counts.tally import Tally

PHONE = {"viewport": {"width": 390, "height": 800}}
METRICS = ("prior", "precision", "recall", "f1")


def rows(rng, share, n=500, moved=0.0):
    positive = rng.random(n) < share
    scores = np.round(rng.normal(positive * 1.466 + moved), 3)
    return Tally.from_arrays((positive & (rng.random(n) < 0.3)).astype(int), scores)


@pytest.fixture(scope="module")
def reference():
    rng = np.random.default_rng(1)
    return {f"r{day:02d}": rows(rng, 0.2) for day in range(30)}


@pytest.fixture(scope="module")
def windows():
    rng = np.random.default_rng(2)
    result = {f"<i>{day:02d}</i>": rows(rng, 0.2) for day in range(8)}
    result |= {f"<i>{day:02d}</i>": rows(rng, 0.2, moved=1.2) for day in range(8, 12)}
    return result | {"<i>12</i>": rows(rng, 0.2, 10)}


@pytest.fixture(scope="module")
def report(tmp_path_factory, reference, windows):
    path = tmp_path_factory.mktemp("watch") / "pulse.html"
    pulens.watch(reference, windows, class_prior=0.2, threshold=0.8, labels_lag=4).to_html(path)
    return path


@pytest.fixture(scope="module")
def year(tmp_path_factory, reference):
    rng = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("watch") / "year.html"
    days = {f"d{day:03d}": rows(rng, 0.2 if day < 300 else 0.35, 200) for day in range(420)}
    pulens.watch(reference, days, class_prior=0.2, threshold=0.8).to_html(path)
    return path


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
def test_the_page_is_whole_and_fits(open_page, report, options):
    opened = open_page(report, **options)
    page = opened.page
    assert "scores themselves have moved" in page.inner_text("#verdict")
    assert page.inner_text("#verdict .status") == "ALARM"
    charts = [one.get_attribute("data-chart") for one in page.locator("figure.chart").all()]
    assert charts == ["positives", "precision", "f1", "evidence", "labels-recall", "labels-rate", "scores"]
    assert "Recall is assumed constant" in page.inner_text("#chart-f1"), "which needs no chart"
    for figure in page.locator("figure.chart").all():
        assert figure.locator("svg path").count() > 0, "every chart is drawn"
    assert page.locator("#chart-positives svg circle").count() >= 8
    assert page.locator("table.windows tbody tr").count() == 13
    assert page.locator("i:not(.keys i)").count() == 0, "names of windows are text"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("#theme")
    opened.keep(f"watch-{options.get('color_scheme', 'phone' if options else 'light')}")


def numbers(page):
    """What the table holds, to the last digit: by window and metric."""
    result = {}
    for cell in page.locator("td[data-live]").all():
        place = int(cell.evaluate("cell => cell.closest('tr').dataset.place"))
        text = cell.get_attribute("data-value")
        result[place, cell.get_attribute("data-live")] = [float(each) for each in text.split()] if text else None
    return result


def priors_of(page):
    """The class priors at which the slider stops."""
    return page.evaluate("() => JSON.parse(document.getElementById('page-data').textContent).live.priors")


def test_a_moved_class_prior_gives_the_numbers_of_python(open_page, report, reference, windows):
    page = open_page(report).page
    priors = priors_of(page)
    page.click("#earlier-windows summary")
    before = page.locator("table.windows tbody").all_inner_texts()
    stood = page.inner_text("#verdict .sentence")
    for step in (1, len(priors) - 2):
        page.locator("#prior").evaluate(
            "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", str(step)
        )
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        given = {"class_prior": priors[step], "threshold": 0.8, "labels_lag": 4}
        truth = list(pulens.watch(reference, windows, **given).windows.values())
        compared = 0
        for (place, name), result in numbers(page).items():
            estimate = getattr(truth[place], name)
            if estimate.undefined_because:
                assert result is None
                continue
            ends = (estimate.value, estimate.interval.low, estimate.interval.high)
            assert result == pytest.approx(ends, abs=2e-5)
            compared += 1
        assert compared > 20
        assert f"{priors[step]:.3g}" in page.inner_text("#moved")
    assert page.inner_text("#verdict .sentence") == stood
    page.click("#moved button")
    assert page.locator("#moved").is_hidden()
    assert page.locator("table.windows tbody").all_inner_texts() == before


def test_a_class_prior_can_be_typed_and_nonsense_is_ignored(open_page, report):
    page = open_page(report).page
    page.fill("#prior-number", "0.3")
    page.keyboard.press("Enter")
    priors = priors_of(page)
    nearest = min(range(len(priors)), key=lambda step: abs(math.log(priors[step] / 0.3)))
    assert page.input_value("#prior") == str(nearest)
    page.fill("#prior-number", "many")
    page.keyboard.press("Enter")
    assert page.input_value("#prior-number") == f"{priors[nearest]:.3g}"
    page.focus("#prior")
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#prior") == str(nearest - 1)


def test_a_window_can_be_chosen_for_its_scores_by_menu_and_by_key(open_page, report):
    page = open_page(report).page
    assert "all since" in page.text_content("#chart-scores svg")
    page.select_option("#scores-window", label="<i>03</i>")
    assert "<i>03</i>" in page.text_content("#chart-scores svg")
    page.focus("#chart-positives .plot")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert page.input_value("#scores-window") == "11"
    assert "<i>11</i>" in page.inner_text("#chart-positives .tip")


def test_every_chart_has_its_table(open_page, report):
    page = open_page(report).page
    columns_of = {"positives": 6, "precision": 5, "f1": 5, "evidence": 4, "labels-recall": 5, "scores": 5}
    for name, columns in columns_of.items():
        page.locator(f"#chart-{name} details.data summary").click()
        heads = page.locator(f"#chart-{name} details.data th")
        heads.first.wait_for()
        assert heads.count() == columns


def test_hundreds_of_windows_become_a_band_and_a_short_table(open_page, year):
    opened = open_page(year)
    page = opened.page
    assert page.locator("#chart-positives svg circle").count() <= 1
    assert page.locator("#every-window > div > table.windows tbody tr").count() == 7
    assert page.locator("details.earlier summary").inner_text() == "413 earlier windows"
    assert year.stat().st_size < 700_000
    opened.keep("watch-year")


def test_the_page_goes_to_paper(open_page, report):
    assert open_page(report, **PHONE).on_paper("watch").startswith(b"%PDF")


def test_a_watch_without_class_prior_or_threshold_has_no_slider(open_page, reference, windows, tmp_path):
    pulens.watch(reference, windows).to_html(tmp_path / "free.html")
    page = open_page(tmp_path / "free.html").page
    assert page.locator("#prior").count() == 0
    charts = [one.get_attribute("data-chart") for one in page.locator("figure.chart").all()]
    assert charts == ["positives", "evidence", "labels-rate", "scores"]
    assert "shift d" in page.text_content("#chart-positives svg")


def test_a_monitor_that_has_judged_nothing_yet_says_so(open_page, reference, windows, tmp_path):
    quiet = pulens.watch(reference, dict(list(windows.items())[:8]), class_prior=0.2, threshold=0.8)
    quiet.accept("<i>00</i>", "<b>new</b> start").to_html(tmp_path / "new.html")
    page = open_page(tmp_path / "new.html").page
    assert "No window has been judged yet" in page.inner_text("#verdict")
    assert "<b>new</b> start" in page.inner_text(".small-lines")
    assert page.locator(".small-lines svg.spark").count() == 1


def test_segments_are_small_lines_those_in_alarm_first(open_page, tmp_path):
    import polars

    rng = np.random.default_rng(4)
    day = np.repeat(np.arange(44), 400)
    place = np.where(rng.random(day.size) < 0.5, "<b>north</b>", "south")
    positive = rng.random(day.size) < np.where((day >= 38) & (place == "south"), 0.6, 0.2)
    table = polars.DataFrame(
        {
            "score": np.round(rng.normal(positive * 1.5), 2),
            "label": (positive & (rng.random(day.size) < 0.4)) * 1,
            "day": [f"d{one:02d}" for one in day],
            "place": place,
        }
    )
    result = pulens.watch(table, time="day", reference_until="d29", class_prior=0.2, group_by="place")
    result.to_html(tmp_path / "segments.html")
    page = open_page(tmp_path / "segments.html", **PHONE).page
    assert page.locator(".small-lines li b").all_text_contents() == ["south", "<b>north</b>"]
    assert page.locator(".small-lines svg.spark").count() == 2
    assert "share since" in page.locator(".small-lines li.alarm").inner_text()
    assert page.locator(".small-lines b b").count() == 0, "names of segments are text"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def hard(kind):
    rng = np.random.default_rng(5)
    coarse = [Tally.from_arrays(rng.random(300) < 0.05, np.round(rng.random(300))) for _ in range(12)]
    usual = [rows(rng, 0.2, 300) for _ in range(12)]
    if kind == "two scores":
        known = Tally.from_increments([1.0, 0.0], [27, 3], [10, 90])
        return known, {f"w{place}": one for place, one in enumerate(coarse[:4])}, {"threshold": 1.0}
    if kind == "all withheld":
        small = {f"{'long name ' * 20}{place}": rows(rng, 0.2, 12) for place in range(3)}
        return {f"r{place}": one for place, one in enumerate(usual)}, small, {"threshold": 0.8}
    if kind == "nothing flagged":
        windows = {"‮reversed نموذج": usual[10], "</script>": usual[11]}
        return {f"r{place}": one for place, one in enumerate(usual[:10])}, windows, {"threshold": 50.0}
    windows = {f"w{place}": one for place, one in enumerate(usual[10:])}
    return {f"r{place}": one for place, one in enumerate(usual[:10])}, windows, {"threshold": 0.8, "label_noise": 0.1}


@pytest.mark.parametrize("kind", ["two scores", "all withheld", "nothing flagged", "a range"])
def test_hard_cases_are_drawn_without_stray_numbers(open_page, tmp_path, kind):
    reference, windows, options = hard(kind)
    prior = (0.15, 0.3) if kind == "a range" else 0.2
    given = options if kind == "two scores" else {**options, "class_prior": prior}
    scenario = "case-control" if kind == "two scores" else "single-set"
    pulens.watch(reference, windows, scenario=scenario, **given).to_html(tmp_path / "hard.html")
    page = open_page(tmp_path / "hard.html", **PHONE).page
    if kind != "two scores":
        page.focus("#prior")
        page.keyboard.press("ArrowRight")
        assert page.locator("#moved").is_visible()
    text = page.locator("body").inner_text()
    drawn = page.evaluate("[...document.querySelectorAll('figure svg')].map((svg) => svg.outerHTML).join('')")
    for word in ("NaN", "Infinity", "undefined", "[object", "null"):
        assert word not in text
        assert word not in drawn
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
