"""Search: is the first page of results any good, if a few clicks are all that is known of relevance?

The pages are the handwritten digits of scikit-learn: the query asks for fours, a reader has clicked on three in ten of
them, and of the rest nobody knows. Which of two rankings has the better first fifty?
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ndcg_score
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import pulens

digits = load_digits()
relevant = digits.target == 4
rng = np.random.default_rng(1)
clicked = (relevant & (rng.random(relevant.size) < 0.3)).astype(int)
pixels = digits.data + rng.normal(0, 9, digits.data.shape)  # poor scans: neither ranking is perfect
rankings = {
    "logistic": cross_val_predict(
        LogisticRegression(C=1e-4, max_iter=300), pixels, clicked, cv=5, method="predict_proba"
    ),
    "bayes": cross_val_predict(GaussianNB(), pixels, clicked, cv=5, method="predict_log_proba"),
}
scores = {name: found[:, 1] for name, found in rankings.items()}

comparison = pulens.compare(clicked, scores, class_prior=0.1, k=50, redraws=300, labelling="random")
print(comparison.verdict)
for name in ("precision_at_k", "ndcg_at_k"):
    print(comparison.difference("logistic", "bayes", name))

for name, each in scores.items():
    top = pulens.evaluate(clicked, each, class_prior=0.1, redraws=300, labelling="random").top(50)
    order = np.argsort(-each, kind="stable")[:50]
    truth = relevant[order].mean()
    gain = ndcg_score(relevant[None].astype(int), each[None], k=50, ignore_ties=True)
    naive = clicked[order].mean()
    print(f"\n{name}: {top.sentence}")
    print(f"  precision {top['precision_at_k'].value:.2f}, truth {truth:.2f}, by clicks alone {naive:.2f}")
    print(f"  NDCG {top['ndcg_at_k'].value:.2f}, truth {gain:.2f}")
    assert top["precision_at_k"].interval.low <= truth <= top["precision_at_k"].interval.high
