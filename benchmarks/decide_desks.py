"""Five desks on real tables: what pulens tells them to do, beside the truth and beside counting unlabelled as negative.

    python benchmarks/decide_desks.py [--draws 60] [--only fraud|screening|moderation|compounds|search]

fraud       Spambase thinned until one row in ten is a case: miss 500, false alarm 20, 50 checks per 1,000 rows.
screening   Pima: recall of at least .8, 95% sure.
moderation  IMDB reviews (MiniLM vectors): two filters, and the cost ratio at which they are worth the same.
compounds   proteins of Elkan and Noto: enrichment, BEDROC and hits of the first 200.
search      20 newsgroups (MiniLM vectors), posts about space: precision and NDCG of the first 200.

Each model is trained once on PU labels of one half of the table; the other half is judged. Of its positives a random
part is labelled, anew in every draw. Nothing of pulens was chosen on these tables. The tables lie in ../shared/data or
$PULENS_SHARED/data.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy is imported

import numpy as np

import pulens
from pulens.comparison.worth import crossovers
from pulens.counts.joint import JointTally
from pulens.decisions.costs import Costs

DATA = Path(os.environ.get("PULENS_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
Scored = tuple[np.ndarray, np.ndarray]


def logistic(strength: float = 1.0) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=500))


def judged_half(X: Any, positive: np.ndarray, model: Any, frequency: float = 0.3) -> Scored:
    """Scores and classes of the half that the model has not seen; it was trained on PU labels of the other."""
    rng = np.random.default_rng(1)
    order = rng.permutation(positive.size)
    learn, judge = np.array_split(order, 2)
    labels = positive[learn] & (rng.random(learn.size) < frequency)
    scores = model.fit(X[learn], labels).decision_function(X[judge])
    return scores, positive[judge]


def single_set(positive: np.ndarray, frequency: float, rng: np.random.Generator) -> np.ndarray:
    return (positive & (rng.random(positive.size) < frequency)).astype(int)


def told(name: str, said: list[float], truth: list[float], held: list[bool] | None, plain: list[float] | None) -> None:
    line = f"  {name:<34} told {np.mean(said):9.3f}   truth {np.mean(truth):9.3f}"
    line += "" if held is None else f"   intervals held {np.mean(held):5.1%}"
    print(line + ("" if plain is None else f"   unlabelled as negative {np.mean(plain):9.3f}"))


def inside(interval: Any, truth: float) -> bool:
    return interval is not None and interval.low - 1e-9 <= truth <= interval.high + 1e-9


def fraud(draws: int) -> None:
    """Cost at the chosen threshold, and what the threshold chosen by counting unlabelled as negative costs."""
    table = np.load(DATA / "spambase.npz")
    X, positive = table["X"], table["y"] == 1
    rng = np.random.default_rng(0)
    kept = np.concatenate([np.flatnonzero(~positive), rng.choice(np.flatnonzero(positive), 310, replace=False)])
    scores, case = judged_half(X[kept], positive[kept], logistic(0.1))
    prior = float(case.mean())
    costs = Costs(miss=500.0, alarm=20.0)
    found: dict[str, list[Any]] = {name: [] for name in ("said", "truth", "held", "naive", "none", "hits", "kept")}

    def cost(flagged: np.ndarray) -> float:
        return 1000 * float(costs.miss * np.mean(case & ~flagged) + costs.alarm * np.mean(flagged & ~case))

    for seed in range(draws):
        labels = single_set(case, 0.35, np.random.default_rng(seed))
        given = {"cost_miss": 500, "cost_alarm": 20, "capacity": "5%"}
        decision = pulens.decide(labels, scores, class_prior=prior, **given, redraws=400, seed=seed)
        truth = cost(scores >= decision.threshold)
        naive = pulens.decide(labels, scores, class_prior=float(labels.mean()), **given, confidence=None)
        found["said"].append(decision.cost.value)
        found["truth"].append(truth)
        found["held"].append(inside(decision.cost.interval, truth))
        found["naive"].append(cost(scores >= naive.threshold))
        free = pulens.decide(labels, scores, class_prior=prior, cost_miss=500, cost_alarm=20, confidence=None)
        off = pulens.decide(
            labels, scores, class_prior=float(labels.mean()), cost_miss=500, cost_alarm=20, confidence=None
        )
        found["none"].append(cost(scores >= free.threshold))
        found["kept"].append(cost(scores >= off.threshold))
        hits = int((case & (scores >= decision.threshold)).sum())
        found["hits"].append(decision.hits.low <= hits <= decision.hits.high)
    print(f"fraud desk: {case.size} rows, {prior:.3f} cases, {int(labels.sum())} confirmed")
    told("cost per 1,000 rows, 5% capacity", found["said"], found["truth"], found["held"], None)
    print(f"  hits among the alarms within their prediction {np.mean(found['hits']):.1%}")
    print(
        f"  without capacity: true cost of the threshold {np.mean(found['none']):,.0f}, of that chosen by counting "
        f"unlabelled as negative {np.mean(found['kept']):,.0f}; flagging none {1000 * 500 * prior:,.0f}"
    )


def screening(draws: int) -> None:
    """A promise of recall: how often it is kept, and by how many alarms."""
    table = np.load(DATA / "pima.npz")
    scores, ill = judged_half(table["X"], table["y"] == 1, logistic(), 0.5)
    kept, recalls, flagged = [], [], []
    for seed in range(draws):
        labels = single_set(ill, 0.4, np.random.default_rng(seed))
        decision = pulens.decide(labels, scores, class_prior=float(ill.mean()), recall_at_least=0.8)
        found = scores >= decision.threshold
        recalls.append(float(found[ill].mean()))
        kept.append(recalls[-1] >= 0.8)
        flagged.append(float(found.mean()))
    print(f"screening: {ill.size} people, {ill.mean():.3f} ill, about {int(0.4 * ill.sum())} diagnosed")
    print(f"  promised recall of .8 kept {np.mean(kept):.1%}; true recall {np.mean(recalls):.3f}, ", end="")
    print(f"{np.mean(flagged):.1%} of people called back")


def moderation(draws: int) -> None:
    """Two filters at their thresholds: which is worth more, and where they are worth the same."""
    table = np.load(DATA / "imdb_minilm.npz")
    rng = np.random.default_rng(0)
    bad = table["y_train"] == 0
    keep = np.concatenate([rng.choice(np.flatnonzero(~bad), 6000, False), rng.choice(np.flatnonzero(bad), 1500, False)])
    X, y = table["X_train"][keep].astype(np.float32), bad[keep]
    wide, take_down = judged_half(X, y, logistic(0.01))
    narrow, _ = judged_half(X[:, :48], y, logistic(0.01))
    prior = float(take_down.mean())
    thresholds = {"wide": float(np.quantile(wide, 0.9)), "narrow": float(np.quantile(narrow, 0.6))}
    flags = {"wide": wide >= thresholds["wide"], "narrow": narrow >= thresholds["narrow"]}
    recall = {name: float(each[take_down].mean()) for name, each in flags.items()}
    gap = float(flags["narrow"].mean() - flags["wide"].mean())
    truth = prior * (recall["narrow"] - recall["wide"]) / gap
    said, held, better = [], [], []
    for seed in range(draws):
        labels = single_set(take_down, 0.3, np.random.default_rng(seed))
        joint = JointTally.from_rows({"wide": wide, "narrow": narrow}, labels)
        evidences = {name: pulens.evidence.gather(joint.tally(name), class_prior=prior) for name in joint.names}
        (pair,) = crossovers(joint, evidences, thresholds, 0.3, 0.95)
        said.append(pair.ratio)
        held.append(inside(pair.ratio_interval, truth))
        if seed < 10:
            scores = {"wide": wide, "narrow": narrow}
            compared = pulens.compare(
                labels, scores, class_prior=prior, cost_ratio=0.3, threshold=thresholds, metrics=["net_benefit"],
                redraws=200,
            )  # fmt: skip
            better.append(compared.winner == "wide")
    print(f"moderation: {take_down.size} posts, {prior:.3f} to take down, about {int(0.3 * take_down.sum())} reported")
    told("cost ratio of equal worth", said, [truth], held, None)
    print(f"  at a cost ratio of .3 the wide filter was called better in {np.mean(better):.0%} of 10 draws")


def first_rows(
    name: str, scores: np.ndarray, positive: np.ndarray, k: int, labelled: int, draws: int, measures: tuple[str, ...]
) -> None:
    """Measures of the first k rows, labelled positives apart from the list."""
    rng = np.random.default_rng(9)
    found: dict[str, list[list[Any]]] = {each: [[], [], [], []] for each in (*measures, "hits")}
    for seed in range(draws):
        chosen = np.random.default_rng(seed).choice(np.flatnonzero(positive), labelled, replace=False)
        listed = np.setdiff1d(np.arange(scores.size), chosen)
        rows, truth = scores[listed], positive[listed]
        labels = np.repeat([1, 0], [labelled, listed.size])
        both = np.concatenate([scores[chosen], rows])
        given = {"class_prior": float(truth.mean()), "scenario": "case-control"}
        evaluation = pulens.evaluate(labels, both, **given, redraws=200)
        top = evaluation.top(k)
        every = {"negative": -1, "confidence": None}
        known = {each: top.get(each) for each in measures}
        if "bedroc" in measures:
            known["bedroc"] = pulens.metrics.bedroc(labels, both, **given, confidence=0.95, redraws=200)
        for each in measures:
            decide_by = {"k": k} if each in top else {}
            measure = getattr(pulens.metrics, each)
            right = measure(np.where(truth, 1, -1), rows, **every, **decide_by).value
            plain = measure(np.where(labels == 1, 1, -1), both, **every, **decide_by).value
            parts = (known[each].value, right, inside(known[each].interval, right), plain)
            for place, part in enumerate(parts):
                found[each][place].append(part)
        order = np.lexsort((rng.random(rows.size), -rows))[:k]
        hits = int(truth[order].sum())
        for place, part in enumerate((top.hits.expected, hits, top.hits.low <= hits <= top.hits.high, np.nan)):
            found["hits"][place].append(part)
    print(f"{name}: {scores.size - labelled} rows in the list, {truth.mean():.4f} positive, {labelled} labelled apart")
    for each, (said, right, held, plain) in found.items():
        told(each, said, right, held, None if each == "hits" else plain)


def compounds(draws: int) -> None:
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import TruncatedSVD

    z = np.load(DATA / "elkan_noto_protein.npz")
    X = csr_matrix((z["data"].astype(float), z["indices"], z["indptr"]), shape=z["shape"])
    X.data = np.log1p(X.data)
    X = TruncatedSVD(60, random_state=0).fit_transform(X)
    positive = z["y"] == 1
    rng = np.random.default_rng(0)
    kept = np.concatenate([np.flatnonzero(~positive), rng.choice(np.flatnonzero(positive), 700, replace=False)])
    scores, active = judged_half(X[kept], positive[kept], logistic(0.1))
    measures = ("enrichment_factor", "precision_at_k", "recall_at_k", "bedroc")
    first_rows("compounds", scores, active, 200, 120, draws, measures)


def search(draws: int) -> None:
    z = np.load(DATA / "newsgroups20_minilm.npz")
    X, y = z["X_train"].astype(np.float32), z["y_train"]
    scores, relevant = judged_half(X, y == 14, logistic(0.003))
    measures = ("precision_at_k", "recall_at_k", "ndcg_at_k")
    first_rows("search", scores, relevant, 200, 100, draws, measures)


DESKS = {"fraud": fraud, "screening": screening, "moderation": moderation, "compounds": compounds, "search": search}


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--only", choices=tuple(DESKS))
    asked = parser.parse_args()
    for name, desk in DESKS.items():
        if asked.only in (None, name):
            started = time.process_time()
            desk(asked.draws)
            print(f"  {time.process_time() - started:.0f} s of processor time\n")


if __name__ == "__main__":
    main()
