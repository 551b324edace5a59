"""The first rows of a list in reports: what leads, and what is withheld."""

from __future__ import annotations

import numpy as np

from pulens.evaluation.evaluate import evaluate
from pulens.report.words import percent


def rows(seed, n=300, known=False):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    labels = (positive & (rng.random(n) < 0.5)).astype(int)
    if known:
        labels[~positive & (rng.random(n) < 0.2)] = -1
    return labels, np.round(rng.normal(1.5 * positive), 1)


def test_markdown_and_page_lead_with_the_top_of_the_list():
    labels, scores = rows(0)
    evaluation = evaluate(labels, scores, class_prior=0.3, redraws=100, labelling="random")
    first = evaluation.top(40)
    text = evaluation.to_markdown(top=[40, "5%"])
    assert text.splitlines()[2] == f"**{first.sentence}**"
    assert text.index("the first 15 of 300 rows") < text.index(evaluation.to_markdown().splitlines()[2])
    page = evaluation.to_html(top=40)
    assert page.index('id="verdict"') < page.index(first.sentence) < page.index('class="tiles"')
    assert f"width:{100 * first['precision_at_k'].value:.1f}%" in page
    assert "card top" not in evaluation.to_html().split("<body>")[1]


def test_the_sentence_says_what_to_expect_and_what_is_known_already():
    labels, scores = rows(0)
    first = evaluate(labels, scores, class_prior=0.3, redraws=100, labelling="random").top(40)
    low, high = first.hits.low, first.hits.high
    assert f", {percent(first['recall_at_k'].value)} of all positives" in first.sentence  # as the card's bar says it
    assert first.sentence.startswith(f"Check 40 rows: expect {low:.0f} to {high:.0f} positives; the estimate is ")
    known = int((labels[np.argsort(-scores, kind="stable")[:40]] == 1).sum())
    assert abs(first.known - known) < 4  # ties share their places
    assert f"{first.known:.0f} of them labelled already" in first.sentence
    apart = evaluate(labels, scores, class_prior=0.3, scenario="case-control", redraws=100, labelling="random").top(40)
    assert "already" not in apart.sentence


def test_the_first_rows_of_clusters_have_what_needs_no_ranks():
    labels, scores = rows(0)
    result = evaluate(
        labels, scores, class_prior=0.3, cluster=np.arange(300) // 3, redraws=100, labelling="random"
    ).top(40)
    assert sorted(result) == ["enrichment_factor", "precision_at_k", "recall_at_k"]
