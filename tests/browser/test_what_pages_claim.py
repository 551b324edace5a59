"""No page claims more than its numbers: colours of badges, shares, curves, assumptions, and words on paper."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

import pulens
from every_page import sampled
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.evaluation.decide import decide
from pulens.report.decision import decision_text
from pulens.report.top import top_places
from pulens.report.watch import status_of

GREEN = """() => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = "var(--good)";
  return getComputedStyle(probe).color;
}"""
COLOUR = "(badge) => getComputedStyle(badge).color"
POINTS = "(element) => parseFloat(getComputedStyle(element).fontSize) * 0.75"


def table_of(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(list(columns))
        writer.writerows(zip(*(list(each) for each in columns.values()), strict=True))
    return str(path)


@pytest.mark.parametrize("given", [{}, {"class_prior": 0.2}, {"class_prior": 0.2, "labelling": "random"}])
def test_no_badge_is_green_beside_an_estimate(open_page, tmp_path, given):
    labels, scores, _ = sampled(1500)
    pulens.evaluate(labels, scores, redraws=100, **given).to_html(tmp_path / "page.html")
    opened = open_page(tmp_path / "page.html")
    badge = opened.page.locator("#verdict .badge")
    assert badge.evaluate(COLOUR) != opened.page.evaluate(GREEN)
    assert "tested" not in badge.inner_text()


def days(rng, shares, month):
    """One tally a day, of 600 rows with these numbers of positives."""
    result = {}
    for day, share in enumerate(shares, start=1):
        positive = rng.random(600) < share
        scores = np.round(rng.normal(positive * 1.466), 3)
        result[f"2026-{month}-{day:02d}"] = Tally.from_arrays((positive & (rng.random(600) < 0.3)).astype(int), scores)
    return result


def test_a_watch_that_may_have_changed_is_not_green(open_page, tmp_path):
    """No line moves, and all windows together leave "no change" out: quiet for a log, amber for a reader."""
    reference = days(np.random.default_rng(1), [0.2] * 30, "03")
    pulse = pulens.watch(reference, days(np.random.default_rng(3), [0.22] * 3, "05"), class_prior=0.2)
    assert pulse.status == "quiet"
    assert pulse.verdict.startswith("No change is certain yet")
    assert status_of(pulse) == "open"
    pulse.to_html(tmp_path / "watch.html")
    opened = open_page(tmp_path / "watch.html")
    status = opened.page.locator("#verdict .status")
    assert status.inner_text() == "NO CHANGE CERTAIN YET"
    assert status.evaluate("(badge) => getComputedStyle(badge).backgroundColor") != opened.page.evaluate(GREEN)
    assert "grey area" not in opened.page.inner_text("main"), "which there is not"


def test_a_contradicted_page_draws_no_curve_of_a_perfect_model_and_warns_once(open_page, tmp_path):
    labels, scores, _ = sampled(3000, labelled=0.3)
    result = pulens.evaluate(labels, scores, class_prior=0.7, labelling="random")
    assert result.contradiction is not None
    result.to_html(tmp_path / "page.html")
    opened = open_page(tmp_path / "page.html")
    for chart in ("roc", "precision-recall"):
        assert "recovered" not in opened.page.locator(f"#chart-{chart} svg").text_content()
        assert "rule out this class prior" in opened.page.inner_text(f"#chart-{chart} figcaption")
    assert opened.page.locator("ul.notices[aria-label] li").count() == 1
    opened.page.fill("#prior-number", "0.1")
    opened.page.keyboard.press("Enter")
    opened.settle()
    assert "recovered" in opened.page.locator("#chart-roc svg").text_content()


def test_a_share_that_was_cut_at_all_rows_is_shown_as_a_range():
    labels, scores, _ = sampled(1500)
    top = pulens.evaluate(labels, scores, class_prior=0.2, redraws=100).top(20)
    top = replace(top, hits=top.hits._replace(expected=20.0, low=6.0, high=20.0))
    assert top.sentence.startswith("Check 20 rows: expect 6 to 20 positives, ")
    (place,) = top_places([top])
    assert place["bars"][0] == ("positive among them", "0", "30 to 100%")


def test_checked_rows_are_not_said_to_assume_random_labels(tmp_path):
    labels, scores, truth = sampled(1500, share=0.3)
    other = np.random.default_rng(0).normal(scores, 0.3).round(4)
    path = table_of(tmp_path / "s.csv", {"label": labels.tolist(), "score": scores.tolist(), "other": other.tolist()})
    queue = str(tmp_path / "queue.csv")
    main(["audit", "plan", path, "--threshold", "0.5", "--budget", "200", "--out", queue, "--quiet"])
    with open(queue, newline="") as file:
        rows = list(csv.DictReader(file))
    answers = {name: [row[name] for row in rows] for name in rows[0]}
    answers["answer"] = [int(truth[int(row["row"])]) for row in rows]
    table_of(tmp_path / "queue.csv", answers)
    out = tmp_path / "page.html"
    main(["calibrate", path, "--reviews", queue, "--html", str(out), "--quiet"])
    page = out.read_text()
    assert "Assumes nothing about labels" in page
    assert "a random draw of all positives" not in page
    out = tmp_path / "evaluation.html"
    main(["evaluate", path, "--reviews", queue, "--html", str(out), "--quiet"])
    assert "a random draw of all positives" not in out.read_text()
    out = tmp_path / "comparison.html"
    asked = ["--score", "other", "--score", "score", "--threshold", "0.5", "--reviews", queue]
    main(["compare", path, *asked, "--html", str(out), "--quiet"])
    page = out.read_text()
    assert "a random draw of all positives" not in page
    assert "differs by -" not in page, "the better model stands first"


def test_a_diagrams_table_counts_rows_not_weights(open_page, tmp_path):
    labels, scores, _ = sampled(1500, share=0.3)
    path = table_of(tmp_path / "s.csv", {"label": labels.tolist(), "score": scores.tolist()})
    out = tmp_path / "page.html"
    main(["calibrate", path, "--class-prior", "0.3", "--html", str(out), "--quiet"])
    opened = open_page(out)
    opened.page.click("#chart-reliability details.data summary")
    counts = opened.page.locator("#chart-reliability details.data td:nth-child(3)").all_inner_texts()
    assert counts
    assert all(each.isdigit() for each in counts)


def test_gaps_say_what_they_assume(tmp_path):
    labels, scores, _ = sampled(3000)
    columns = {"label": labels.tolist(), "score": scores.tolist(), "site": ["north", "south"] * 1500}
    path = table_of(tmp_path / "s.csv", columns)
    out = tmp_path / "page.html"
    asked = ["--group-by", "site", "--gaps", "recall", "--threshold", "0.5", "--class-prior", "0.2", "--quiet"]
    main(["evaluate", path, *asked, "--html", str(out)])
    verdict = out.read_text().split('id="verdict"')[1].split("</section>")[0]
    assert "Assumes that easy positives are labelled first" in verdict


def test_a_decision_has_the_terminals_digits_and_says_what_it_assumes(open_page, tmp_path):
    labels, scores, _ = sampled(900)
    result = decide(labels, scores, class_prior=0.2, cost_miss=500, cost_alarm=20, capacity=400, redraws=100)
    result.to_html(tmp_path / "page.html")
    opened = open_page(tmp_path / "page.html")
    said = decision_text(result, "command")
    for name in ("recall", "precision"):
        tile = opened.page.locator(f".tile:has([data-tile={name}])")
        value, reach = tile.locator(".big").inner_text(), tile.locator(".range").inner_text()
        assert f"{value} ({reach})" in said
    assumed = " ".join(said.split("assumes")[1].split())
    assert assumed in opened.page.inner_text("#verdict")


def test_notes_on_paper_are_no_larger_than_numbers_and_no_label_is_cut(open_page, tmp_path):
    labels, scores, _ = sampled(900)
    result = decide(labels, scores, class_prior=(0.1, 0.3), cost_miss=500, cost_alarm=20, redraws=100)
    result.to_html(tmp_path / "page.html")
    opened = open_page(tmp_path / "page.html", viewport={"width": 703, "height": 1000})
    opened.page.emulate_media(media="print")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    cell = opened.page.locator("table.assumptions td").first.evaluate(POINTS)
    for words in ("footer p", "figcaption p", ".tile .means"):
        assert opened.page.locator(words).first.evaluate(POINTS) <= cell + 0.1, words
    label = opened.page.locator("#chart-decision-curve svg text", has_text="cost ratio").first
    box, frame = label.bounding_box(), opened.page.locator("#chart-decision-curve svg").bounding_box()
    assert box["x"] >= frame["x"] - 1
    assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
