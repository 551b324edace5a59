"""Every row labelled, are our numbers those of the tools people use? Each package runs beside us, if it is installed.

dcurves: net benefit on the data that it ships (750 patients, and its case-control rows with a prevalence) and on random
sets. RDKit: RIE, BEDROC and enrichment on the list of its own unit test (20 actives of 400, all first and all last) and
on random lists without ties. scikit-learn: DCG and NDCG, with and without ties. pytrec_eval and ranx: precision,
recall, DCG and NDCG of the first rows of each query. Prints the largest difference of each.

Usage: pip install dcurves rdkit pytrec_eval-terrier ranx; python benchmarks/peers/decide.py [--sets 300]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import pulens
from pulens import metrics

SEED = 31_2026
ALL_KNOWN = {"negative": -1, "scenario": "single-set"}
Gaps = Iterator[tuple[str, float]]


def random_set(rng: np.random.Generator, *, ties: bool) -> tuple[np.ndarray, np.ndarray]:
    size = int(rng.integers(20, 200))
    classes = np.r_[1, 0, rng.random(size - 2) < rng.uniform(0.1, 0.5)].astype(int)
    scores = rng.random(size).round(1) if ties else rng.permutation(size) / size
    return classes, scores


def ours(name: str, classes: np.ndarray, scores: np.ndarray, **asked: object) -> float:
    return getattr(metrics, name)(np.where(classes, 1, -1), scores, **asked, **ALL_KNOWN).value


def dcurves(sets: int) -> Gaps:
    import dcurves as package
    import pandas as pd

    ratios = np.arange(1, 99) / 100

    def gap(table: pd.DataFrame, outcome: str, model: str, points: np.ndarray, prevalence: float | None) -> float:
        result = package.dca(table, outcome=outcome, modelnames=[model], thresholds=points, prevalence=prevalence)
        theirs = result[result["model"] == model].set_index("threshold")["net_benefit"]
        classes, scores = table[outcome].to_numpy(int), table[model].to_numpy(float)
        worst = 0.0
        for ratio in points.tolist():
            if prevalence is None:
                mine = ours("net_benefit", classes, scores, threshold=ratio, cost_ratio=ratio)
            else:  # rates of cases and controls, weighed by a prevalence from elsewhere
                rates = (ours(name, classes, scores, threshold=ratio) for name in ("recall", "false_positive_rate"))
                hits, alarms = rates
                mine = prevalence * hits - ratio / (1 - ratio) * (1 - prevalence) * alarms
            worst = max(worst, abs(mine - float(theirs.loc[ratio])))
        return worst

    folder = Path(package.data)
    patients = pd.read_csv(folder / "df_binary.csv").astype({"cancer": int})
    yield "its 750 patients, 98 ratios", gap(patients, "cancer", "cancerpredmarker", ratios, None)
    cases = pd.read_csv(folder / "df_case_control.csv").astype({"casecontrol": int})
    yield "its case-control rows, prevalence .2", gap(cases, "casecontrol", "cancerpredmarker", ratios, 0.2)
    rng, worst = np.random.default_rng(SEED), 0.0
    for number in range(sets):
        classes, scores = random_set(rng, ties=bool(number % 2))
        table = pd.DataFrame({"y": classes, "m": scores})
        worst = max(worst, gap(table, "y", "m", np.array([0.1, 0.25, 0.5, 0.7]), None))
    yield f"{sets} random sets", worst


def rdkit(sets: int) -> Gaps:
    from rdkit.ML.Scoring import Scoring

    def gap(classes: np.ndarray, decay: float, share: float) -> float:
        rows = [[int(one)] for one in classes]
        scores = -np.arange(classes.size, dtype=float)
        pairs = [
            (ours("rie", classes, scores, decay=decay), Scoring.CalcRIE(rows, 0, decay)),
            (ours("bedroc", classes, scores, decay=decay), Scoring.CalcBEDROC(rows, 0, decay)),
            (ours("enrichment_factor", classes, scores, k=share), Scoring.CalcEnrichment(rows, 0, [share])[0]),
        ]
        return max(abs(mine - theirs) / max(abs(theirs), 1.0) for mine, theirs in pairs)

    first = np.repeat([1, 0], [20, 380])
    yield "the list of its unit test, best and worst", max(gap(first, 100.0, 0.05), gap(first[::-1], 100.0, 0.05))
    rng, worst = np.random.default_rng(SEED), 0.0
    for _ in range(sets):
        classes, scores = random_set(rng, ties=False)
        order = classes[np.argsort(-scores)]
        worst = max(worst, gap(order, float(rng.choice([5.0, 20.0, 160.9])), float(rng.choice([0.05, 0.1, 0.25]))))
    yield f"{sets} random lists", worst
    theirs = Scoring.CalcEnrichment([[1]] * 7 + [[0]] * 93, 0, [0.07])[0]
    mine = ours("enrichment_factor", np.repeat([1, 0], [7, 93]), -np.arange(100.0), k=0.07)
    yield f"first .07 of 100 rows: {mine:.6g} here, {theirs:.6g} there, which takes 8 rows", abs(mine - theirs)


def scikit_learn(sets: int) -> Gaps:
    from sklearn.metrics import dcg_score, ndcg_score

    for ties in (False, True):
        rng, worst = np.random.default_rng(SEED), 0.0
        for _ in range(sets):
            classes, scores = random_set(rng, ties=ties)
            k = int(rng.integers(1, classes.size + 1))
            for name, theirs in (("dcg_at_k", dcg_score), ("ndcg_at_k", ndcg_score)):
                worst = max(worst, abs(ours(name, classes, scores, k=k) - theirs([classes], [scores], k=k)))
        yield f"DCG and NDCG, {sets} sets {'with' if ties else 'without'} ties", worst


def runs(sets: int) -> Iterator[tuple[dict, dict, pulens.Evaluation, int]]:
    """Judgements and scores of many queries as these packages take them, and our evaluation of the same rows."""
    rng = np.random.default_rng(SEED)
    for _ in range(sets):
        labels, scores, ids = [], [], []
        judged: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for query in range(int(rng.integers(5, 30))):
            size = int(rng.integers(12, 40))
            classes = np.r_[1, 0, rng.random(size - 2) < 0.2].astype(int)
            # ranx keeps scores, and pytrec_eval breaks ties by name: there are none
            points = rng.permutation(size) / 64 + 1
            judged[f"q{query}"] = {f"d{row}": int(one) for row, one in enumerate(classes)}
            run[f"q{query}"] = {f"d{row}": float(one) for row, one in enumerate(points)}
            labels += np.where(classes, 1, -1).tolist()
            scores += points.tolist()
            ids += [f"q{query}"] * size
        yield (
            judged,
            run,
            pulens.evaluate(labels, scores, per=ids, negative=-1, confidence=None, labelling="random"),
            int(rng.integers(1, 12)),
        )


def pytrec_eval(sets: int) -> Gaps:
    import pytrec_eval as package

    worst = dict.fromkeys(("precision_at_k", "recall_at_k_macro", "ndcg_at_k"), 0.0)
    for judged, run, evaluation, k in runs(sets):
        names = {"precision_at_k": f"P_{k}", "recall_at_k_macro": f"recall_{k}", "ndcg_at_k": f"ndcg_cut_{k}"}
        asked = {f"P.{k}", f"recall.{k}", f"ndcg_cut.{k}"}
        theirs = package.RelevanceEvaluator(judged, asked).evaluate(run)
        result = evaluation.top(k, per="query")
        for name, other in names.items():
            mean = float(np.mean([query[other] for query in theirs.values()]))
            worst[name] = max(worst[name], abs(result[name].value - mean))
    yield f"P, recall and NDCG at k, {sets} runs of 5 to 29 queries", max(worst.values())


def ranx(sets: int) -> Gaps:
    from ranx import Qrels, Run, evaluate

    worst = 0.0
    for judged, run, evaluation, k in runs(sets):
        kept = {query: {row: one for row, one in rows.items() if one} for query, rows in judged.items()}
        wanted = {
            "precision_at_k": f"precision@{k}",
            "recall_at_k_macro": f"recall@{k}",
            "dcg_at_k": f"dcg@{k}",
            "ndcg_at_k": f"ndcg@{k}",
        }
        result = evaluation.top(k, per="query")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = evaluate(Qrels(kept), Run(run), list(wanted.values()), make_comparable=True, labelling="random")
        for name, other in wanted.items():
            worst = max(worst, abs(result[name].value - float(theirs[other])))
    yield f"precision, recall, DCG and NDCG at k, {sets} runs", worst


#: package: its name on the index, and what is compared
PEERS: dict[str, tuple[str, Callable[[int], Gaps]]] = {
    "dcurves": ("dcurves", dcurves),
    "rdkit": ("rdkit", rdkit),
    "sklearn": ("scikit-learn", scikit_learn),
    "pytrec_eval": ("pytrec_eval-terrier", pytrec_eval),
    "ranx": ("ranx", ranx),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--only", default=",".join(PEERS))
    given = parser.parse_args()
    # numba, which ranx imports, looks for the package "coverage" and would find the script of that name beside this one
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]
    for package in given.only.split(","):
        distribution, compare = PEERS[package]
        if find_spec(package) is None:
            print(f"{distribution}: not installed")
            continue
        print(f"{distribution} {version(distribution)}")
        for what, gap in compare(given.sets):
            print(f"  {what}: largest difference {gap:.2g}", flush=True)


if __name__ == "__main__":
    main()
