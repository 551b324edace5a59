"""The page of a calibration, and the reliability diagram on the page of an evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from pulens import calibration
from pulens.cli import main
from pulens.evaluation.evaluate import evaluate

NAME = "p <b>&\"'</b> 🧪"


def rows(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    scores = np.round(1 / (1 + np.exp(-rng.normal(2 * positive - 1))), 6)
    return (positive & (rng.random(n) < 0.4)).astype(int), scores


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    import csv

    folder = tmp_path_factory.mktemp("calibration")
    labels, scores = rows()
    with open(folder / "s.csv", "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow([NAME, "label"])
        writer.writerows(zip(scores.tolist(), labels.tolist(), strict=True))
    common = ["--score", NAME, "--class-prior", "0.3", "--scenario", "single-set", "--labelling", "random", "--quiet"]
    main(["calibrate", str(folder / "s.csv"), *common, "--fit", "isotonic", "--html", str(folder / "calibration.html")])
    return folder / "calibration.html"


def test_the_diagram_follows_the_class_prior_as_python_does(open_page, report):
    opened = open_page(report)
    assert opened.page.locator("h1").text_content().strip() == f"{NAME} in s.csv"
    assert opened.page.locator("figure svg").count() == 3
    edges = opened.page.evaluate("page.raw.bins.edges")
    home = calibration.expected_calibration_error(*rows(), class_prior=0.3, scenario="single-set", labelling="random")
    shown = opened.page.locator("[data-live-error]")
    assert float(shown.get_attribute("data-value")) == pytest.approx(home.value, abs=1e-9)
    opened.keep("calibration-light")
    field = opened.page.locator("#prior-number")
    field.fill("0.22")
    field.press("Enter")
    opened.settle()
    # the bins stay those of the page; Python is asked for the same ones
    from pulens.calibration.masses import count_bins
    from pulens.calibration.probabilities import calibration_evidence
    from pulens.calibration.reliability import reliability_of_bins

    evidence = calibration_evidence(*rows(), class_prior=0.22, scenario="single-set", labelling="random")
    there = reliability_of_bins(evidence, count_bins(evidence.tally, np.array(edges)))
    assert float(shown.get_attribute("data-value")) == pytest.approx(there.error.value, abs=1e-9)
    np.testing.assert_allclose(
        opened.page.evaluate("page.current.share"), [one.fraction for one in there.bins], rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(
        opened.page.evaluate("page.current.promised"), [one.confidence for one in there.bins], rtol=0, atol=1e-9
    )
    assert opened.page.locator("#moved").is_visible()
    assert "prior=0.22" in opened.page.evaluate("location.hash")


def test_an_evaluation_with_probabilities_has_the_diagram(open_page, tmp_path):
    path = tmp_path / "report.html"
    evaluate(*rows(), class_prior=0.3, redraws=100, labelling="random").to_html(path, scores_are="probability")
    opened = open_page(path)
    assert opened.page.locator("#chart-reliability svg").count() == 1
    assert opened.page.locator("figure svg").count() == 6
    opened.page.evaluate("page.moveTo({prior: 0.2})")
    opened.settle()
    there = calibration.reliability(
        *rows(),
        unlabelled_prior=0.2,
        bins=len(opened.page.evaluate("page.raw.reliability.edges")) - 1,
        labelling="random",
    )
    result = opened.page.evaluate(
        "reliability.evaluate(page.raw.reliability, page.data.totals, page.current.given).error"
    )
    assert result == pytest.approx(there.error.value, abs=1e-9)


def test_fits_a_phone(open_page, report):
    opened = open_page(report, viewport={"width": 375, "height": 740}, color_scheme="dark")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375
    opened.keep("calibration-phone-dark")


def test_scores_that_only_rank_have_a_map_and_no_diagram(open_page, tmp_path):
    labels, scores = rows()
    np.savetxt(
        tmp_path / "s.csv", np.column_stack([10 * scores, labels]), delimiter=",", header="score,label", comments=""
    )
    main(["calibrate", str(tmp_path / "s.csv"), "--class-prior", "0.3", "--scores-are", "rank", "--fit", "isotonic",
          "--html", str(tmp_path / "r.html"), "-q"])  # fmt: skip
    opened = open_page(tmp_path / "r.html")
    assert opened.page.locator("figure svg").count() == 1
    assert opened.page.locator("#prior").count() == 0


def test_axes_show_where_the_rows_are(open_page, report, tmp_path):
    import csv

    rng = np.random.default_rng(0)
    positive = rng.random(4000) < 0.02
    scores = np.round(1 / (1 + np.exp(-rng.normal(2 * positive - 5))), 6)
    labels = (positive & (rng.random(4000) < 0.5)).astype(int)
    with (tmp_path / "rare.csv").open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["score", "label"])
        writer.writerows(zip(scores.tolist(), labels.tolist(), strict=True))
    out = str(tmp_path / "rare.html")
    given = ["--class-prior", "0.02", "--scenario", "single-set", "--quiet", "--fit", "platt"]
    main(["calibrate", str(tmp_path / "rare.csv"), *given, "--html", out])
    opened = open_page(tmp_path / "rare.html")
    page = opened.page
    dots = "document.querySelectorAll('#chart-reliability g[clip-path] circle')"
    places = f"[...{dots}].map((dot) => Number(dot.getAttribute('cx')))"

    def spread():
        opened.settle()
        result = sorted(page.evaluate(places))
        return result[len(result) * 3 // 4] - result[0]

    assert page.locator("[data-scale=log]").get_attribute("aria-pressed") == "true"
    by_powers = spread()
    page.locator("[data-scale=even]").click()
    assert by_powers > 5 * spread(), "three quarters of the rows stood in a corner"
    said = page.locator("#verdict").inner_text()
    assert "Mapped by" not in said
    assert "instead of" in said
    assert open_page(report).page.locator("[data-scale=even]").get_attribute("aria-pressed") == "true"
