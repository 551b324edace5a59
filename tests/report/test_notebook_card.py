"""What a notebook shows of an answer: one card that loads nothing, can be read on any paper, and says it all."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import pulens
from pulens.report.html import asset
from pulens.report.notebook_card import SAYS_DARK, SAYS_LIGHT, notebook_style
from pulens.report.notebook_pictures import BAR, HIGH, MOST_POINTS, WIDE

MOST_BYTES = 60_000
VOID = {"br", "rect", "path", "circle"}


def world(size=3000, seed=1, favour=False):
    rng = np.random.default_rng(seed)
    hidden = rng.random(size) < 0.25
    scores = rng.normal(1.6 * hidden)
    rate = np.where(scores > 1.5, 0.9, 0.05) if favour else 0.4
    return (hidden & (rng.random(size) < rate)).astype(int), scores


@pytest.fixture(scope="module")
def evaluation():
    return pulens.evaluate(*world(), class_prior=0.25, threshold=1.0, redraws=200, labelling="random")


@pytest.fixture(scope="module")
def answers(evaluation):
    labels, scores = world(800)
    regions = np.where(np.arange(800) % 2, "<b>north</b>", "south")
    rng = np.random.default_rng(2)
    table = {"label": labels, "score": scores, "region": regions}
    import polars

    return {
        "given": evaluation,
        "estimated": pulens.evaluate(labels, scores, redraws=200, labelling="random"),
        "contradicted": pulens.evaluate(*world(2000, favour=True), class_prior=0.6, redraws=200, labelling="random"),
        "without intervals": pulens.evaluate(labels, scores, class_prior=0.3, confidence=None, labelling="random"),
        "three rows": pulens.evaluate([1, 0, 0], [0.9, 0.4, 0.1], class_prior=0.4, labelling="random"),
        "comparison": pulens.compare(
            labels,
            {"<i>a": scores, "b": scores + rng.normal(size=800)},
            class_prior=(0.2, 0.3),
            redraws=100,
            labelling="random",
        ),
        "segments": pulens.evaluate_by(
            polars.DataFrame(table), "region", class_prior=0.25, same_prior=True, labelling="random"
        ),
    }


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.texts, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


WHICH = ["given", "estimated", "contradicted", "without intervals", "three rows", "comparison", "segments"]


@pytest.mark.parametrize("which", WHICH)
def test_a_card_is_small_whole_and_loads_nothing(answers, which):
    shown = answers[which]._repr_html_()
    assert len(shown.encode()) < MOST_BYTES
    for part in ("<script", "http://", "https://", "url(", "@import", "<link", "<img"):
        assert part not in shown
    parser = Balanced()
    parser.feed(shown)
    assert parser.open == []
    assert not [name for name, _ in parser.attributes if name.startswith("on")]
    assert "nan" not in " ".join(value or "" for _, value in parser.attributes)


def test_names_of_users_are_shown_and_not_obeyed(answers):
    assert "<b>north" not in answers["segments"]._repr_html_()
    assert "&lt;b&gt;north" in answers["segments"]._repr_html_()
    assert "&lt;i&gt;a" in answers["comparison"]._repr_html_()


def test_many_rows_make_no_larger_card():
    rng = np.random.default_rng(0)
    labels = (rng.random(50_000) < 0.1).astype(int)
    shown = pulens.evaluate(
        labels, rng.normal(labels), class_prior=0.2, confidence=None, labelling="random"
    )._repr_html_()
    assert len(shown) < 40_000
    lines = re.findall(r'class="line[^"]*"[^>]* d="([^"]*)"', shown)
    assert len(lines) == 4
    assert all(line.count("L") < MOST_POINTS for line in lines)


def test_the_card_leads_with_the_verdict_and_shows_both_numbers_of_each_tile(evaluation):
    shown = evaluation._repr_html_()
    card = shown[shown.index("</style>") :]
    sentences = re.findall(r"<p><b>([^<]*)</b></p>", card)
    assert sentences[0].startswith("The model ranks")
    for name in pulens.metrics.leading("tiles"):
        result, before = evaluation[name], evaluation.uncorrected[name]
        tile = re.search(rf"<dt>{re.escape(pulens.report.words.title_of(name))}</dt>.*?</div>", card, re.DOTALL)[0]
        assert f">{result.value:.3f}<" in tile
        assert f"uncorrected {before.value:.3f}" in tile
        assert f"{result.interval.low:.3f} to {result.interval.high:.3f}" in tile


def test_bars_are_as_long_as_the_numbers(evaluation):
    shown = evaluation._repr_html_()
    tile = re.search(r"<dt>Precision</dt>.*?</div>", shown, re.DOTALL)[0]
    after, before = (
        float(re.search(rf'class="{which}"[^>]* width="([\d.]+)"', tile)[1]) for which in ("after", "before")
    )
    assert after == pytest.approx(BAR * evaluation["precision"].value, abs=0.06)
    assert before == pytest.approx(BAR * evaluation.uncorrected["precision"].value, abs=0.06)
    low, high = map(float, re.search(r'class="doubt"[^>]* d="M([\d.]+) 5H([\d.]+)M', tile).groups())
    assert low == pytest.approx(BAR * evaluation["precision"].interval.low, abs=0.06)
    assert high == pytest.approx(BAR * evaluation["precision"].interval.high, abs=0.06)


def test_curves_run_from_end_to_end_with_a_dot_at_the_threshold(evaluation):
    shown = evaluation._repr_html_()
    roc, curve = re.findall(r"<figure>.*?</figure>", shown, re.DOTALL)
    line = re.search(r'class="line" [^>]*d="M([\d.]+) ([\d.]+)L.*?L([\d.]+) ([\d.]+)"', roc)
    assert [float(part) for part in line.groups()] == [0, HIGH, WIDE, 0]
    x, y = map(float, re.search(r'cx="([\d.]+)" cy="([\d.]+)"', curve).groups())
    assert x == pytest.approx(WIDE * evaluation["recall"].value, abs=0.06)
    assert y == pytest.approx(HIGH * (1 - evaluation["precision"].value), abs=0.06)


def test_a_class_prior_that_rows_hardly_tell_gives_ranges_and_a_word_under_the_curves(answers):
    shown = answers["estimated"]._repr_html_()
    assert 'class="big reach"' in shown
    assert "which these rows hardly tell" in shown


def test_what_is_serious_stands_open_before_the_curves(answers):
    shown = answers["contradicted"]._repr_html_()
    assert shown.index('class="serious"') < shown.index('class="curves"')
    assert "which these rows rule out" in shown


def colours(theme):
    block = re.search(rf"color-scheme:{theme};([^}}]*)}}", notebook_style())[1]
    return dict(part.split(":") for part in block.split(";") if part)


def luminance(colour):
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "paper", "least"),
    [
        ("--ink", "--card", 7),
        ("--soft", "--card", 4.5),
        ("--ink", "--warn-bg", 7),
        ("--ink", "--bad-bg", 7),
        ("--ink", "--note-bg", 7),
        ("--ink", "--paper", 7),
        ("--main", "--card", 3),
        ("--plain", "--card", 3),
    ],
)
def test_every_ink_can_be_read_on_its_paper(theme, ink, paper, least):
    result = colours(theme)
    light, dark = sorted((luminance(result[ink]), luminance(result[paper])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= least


def test_the_card_follows_the_notebook_before_the_system():
    style = notebook_style()
    system = style.index("prefers-color-scheme:dark")
    for host in (*SAYS_LIGHT, *SAYS_DARK):
        assert style.index(f"{host} .pulens-report") > system


def test_the_style_touches_nothing_but_the_card():
    for selector in re.findall(r"(?:^|})([^@{}]+){", asset("notebook.css").replace("\n", " ")):
        assert all(part.strip().startswith(".pulens-report") for part in selector.split(","))
