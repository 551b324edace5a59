"""Do the intervals hold on real scores? Worlds made of real tables and real models, with the truth known.

    python benchmarks/real_worlds.py [--tables FOLDER] [--pools FILE] [--processes 2] [--samples 40]
                                     [--only worlds|growth|learn] [--quick]

A world is a table, a target and a kind of model. The model is trained on PU labels of one half of the table; the
scores of the other half, with their true classes, are the pool. Samples are drawn from the pool with replacement:
50 to 1,500 labelled rows, 1,000 to 20,000 others, class priors from 0.02 to 0.6, half of them case-control, half
single-set. The truth is that of the pool at the class prior drawn.

Three parts. `worlds`: one line per table and model, intervals with the class prior known and estimated, the estimate
beside the peers. `growth`: the same worlds at 100 to 6,400 labelled rows. `learn`: the constants of the default
estimator (`pulens.priors._uncertainty`), learned anew with each table left out. The form of the doubt was chosen
with the tables in SEEN in view; the others were looked at only afterwards, and are reported apart.

FOLDER holds the tables (default: ../shared/data or $PULENS_SHARED/data); --pools keeps the trained worlds in a file.
With two cores the three parts take hours; --quick takes 8 worlds and few samples.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
import zlib
from collections import defaultdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when numpy is imported: processes share the cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

MOST_ROWS, FEWEST_POOLED = 8000, 60

# table: targets, each a rule for the classes
TABLES = {
    "avila": {"A": lambda y: y == 0, "E, F": lambda y: (y == 4) | (y == 5)},
    "bank_marketing": {"yes": lambda y: y == 1},
    "boston_housing": {"above mean": lambda y: y > y.mean()},
    "concrete": {"above mean": lambda y: y > y.mean()},
    "connect4": {"win": lambda y: y == 0, "loss": lambda y: y == 1},
    "elkan_noto_protein": {"transport": lambda y: y == 1},
    "fashion_mnist": {"tops": lambda y: np.isin(y, (0, 2, 4, 6)), "sneaker": lambda y: y == 7},
    "gas_drift_8of10": {"ethanol": lambda y: y == 1, "acetone": lambda y: y == 5},
    "grid_stability": {"stable": lambda y: y == 1},
    "imdb_minilm": {"positive": lambda y: y == 1},
    "landsat": {"class 7": lambda y: y == 7, "class 4 or more": lambda y: y >= 4, "class 1": lambda y: y == 1},
    "letter": {"A to M": lambda y: y < 13, "vowels": lambda y: np.isin(y, (0, 4, 8, 14, 20)), "B": lambda y: y == 1},
    "matching_tweets100k": {"match": lambda y: y == 1},
    "mnist": {"even": lambda y: y % 2 == 0, "three": lambda y: y == 3},
    "mushroom": {"poisonous": lambda y: y == 1},
    "newsgroups20_minilm": {"science": lambda y: (y >= 11) & (y <= 14), "talk": lambda y: y >= 15},
    "page_blocks": {"not text": lambda y: y > 1},
    "pendigits": {"0, 1, 2": lambda y: y <= 2, "even": lambda y: y % 2 == 0, "8": lambda y: y == 8},
    "pima": {"positive": lambda y: y == 1},
    "shuttle": {"not 1": lambda y: y > 1},
    "spambase": {"spam": lambda y: y == 1},
    "wine_quality": {"6 or more": lambda y: y >= 6, "7 or more": lambda y: y >= 7},
}
SEEN = (
    "avila", "bank_marketing", "boston_housing", "gas_drift_8of10", "grid_stability", "landsat", "letter", "mushroom",
    "page_blocks", "pendigits", "pima", "spambase",
)  # fmt: skip
MODELS = ("logistic", "svm", "boosting", "forest", "bayes", "neighbours", "network")


class World(NamedTuple):
    """Scores of a model on rows that it has not seen, by their true class."""

    table: str
    target: str
    model: str
    positive: np.ndarray
    negative: np.ndarray

    @property
    def name(self):
        return f"{self.table}, {self.target}, {self.model}"

    @property
    def seed(self):
        return zlib.crc32(self.name.encode())


def load(folder, name):
    """Features, classes; or scores of somebody else's model."""
    if name == "bank_marketing":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(folder / f"{name}.parquet").to_pandas()
        classes = (table.pop("y") == "yes").to_numpy().astype(int)
        import pandas

        return _capped(pandas.get_dummies(table).to_numpy(float), classes)
    arrays = np.load(folder / f"{name}.npz")
    if "score" in arrays:
        return arrays["score"], arrays["y"]
    if name == "elkan_noto_protein":
        from scipy.sparse import csr_matrix
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer

        parts = (arrays["data"].astype(float), arrays["indices"], arrays["indptr"])
        counts = TfidfTransformer().fit_transform(csr_matrix(parts, shape=arrays["shape"]))
        return TruncatedSVD(60, random_state=0).fit_transform(counts), arrays["y"]
    if "X" in arrays:
        features, classes = _capped(arrays["X"], arrays["y"])
    else:
        features, classes = _capped(
            np.concatenate([arrays["X_train"], arrays["X_test"]]),
            np.concatenate([arrays["y_train"], arrays["y_test"]]),
        )
    if "levels" in arrays:  # category codes
        features = np.concatenate([features == level for level in range(int(features.max()) + 1)], axis=1)
    return features.reshape(len(features), -1).astype(float), classes


def _capped(features, classes):
    if classes.size <= MOST_ROWS:
        return features, classes
    rows = np.sort(np.random.default_rng(0).permutation(classes.size)[:MOST_ROWS])
    return features[rows], classes[rows]


def classifier(name):
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    scaled = partial(make_pipeline, StandardScaler())
    return {
        "logistic": lambda: scaled(LogisticRegression(max_iter=500)),
        "svm": lambda: scaled(LinearSVC(max_iter=3000)),
        "boosting": lambda: HistGradientBoostingClassifier(max_iter=100, random_state=0),
        "forest": lambda: RandomForestClassifier(100, min_samples_leaf=5, random_state=0),
        "bayes": lambda: GaussianNB(),
        "neighbours": lambda: scaled(KNeighborsClassifier(25)),
        "network": lambda: scaled(MLPClassifier((32,), max_iter=80, early_stopping=True, random_state=0)),
    }[name]()


def pool(folder, wanted):
    """One world; None where a class has too few pooled rows."""
    table, target, model = wanted
    warnings.filterwarnings("ignore")  # models that stopped early say so
    features, classes = load(folder, table)
    positive = TABLES[table][target](classes)
    if features.ndim == 1:
        return World(table, target, model, features[positive], features[~positive])
    rng = np.random.default_rng(zlib.crc32(f"{table}, {target}".encode()))
    order = rng.permutation(positive.size)
    train, rest = order[: order.size // 2], order[order.size // 2 :]
    labels = positive[train] & (rng.random(train.size) < rng.uniform(0.2, 0.6))
    fitted = classifier(model).fit(features[train], labels)
    if hasattr(fitted, "predict_proba"):
        scores = fitted.predict_proba(features[rest])[:, 1]
    else:
        scores = fitted.decision_function(features[rest])
    there = positive[rest]
    if min(there.sum(), (~there).sum()) < FEWEST_POOLED:
        return None
    return World(table, target, model, scores[there].astype(np.float32), scores[~there].astype(np.float32))


def pools(folder, processes, tables):
    wanted = [
        (table, target, model)
        for table in tables
        for target in TABLES[table]
        for model in (("svm",) if table.startswith("matching") else MODELS)
    ]
    with get_context("fork").Pool(processes) as workers:
        result = workers.map(partial(pool, folder), wanted, chunksize=1)
    return [world for world in result if world is not None]


class Sample(NamedTuple):
    labels: np.ndarray
    scores: np.ndarray
    scenario: str
    class_prior: float  # of the population
    unlabelled_prior: float
    label_frequency: float


def draw(world, rng, *, labelled=None, others=None, prior=None, scenario=None):
    """One sample from a world; what is not given is drawn."""
    scenario = scenario or str(rng.choice(["case-control", "single-set"]))
    prior = prior or float(np.exp(rng.uniform(np.log(0.02), np.log(0.6))))
    while True:
        n = labelled or round(float(np.exp(rng.uniform(np.log(50), np.log(1500)))))
        m = others or round(float(np.exp(rng.uniform(np.log(1000), np.log(20000)))))
        if scenario == "case-control":
            hidden, frequency = rng.binomial(m, prior), float("nan")
        else:  # m rows in all; the wanted number of labelled ones gives the label frequency
            frequency = n / (m * prior)
            if frequency > 0.8:
                frequency = max(round(0.8 * m * prior * rng.uniform(0.1, 1)), 20) / (m * prior)
            if frequency > 0.9:
                continue
            positives = rng.binomial(m, prior)
            n = rng.binomial(positives, frequency)
            hidden = positives - n
            m = m - n
        if n >= 20:
            break
    above = rng.choice(world.positive, n + hidden)
    below = rng.choice(world.negative, m - hidden)
    labels = np.repeat([1, 0], [n, m])
    among = prior if scenario == "case-control" else prior * (1 - frequency) / (1 - prior * frequency)
    return Sample(labels, np.concatenate([above, below]), scenario, prior, among, frequency)


def save(worlds, path):
    """Pools in one file, so that they need not be trained again."""
    arrays = {}
    for place, world in enumerate(worlds):
        arrays |= {f"{place}+": world.positive, f"{place}-": world.negative}
    np.savez_compressed(path, names=np.array([world[:3] for world in worlds]), **arrays)


def restore(path):
    arrays = np.load(path)
    return [World(*map(str, name), arrays[f"{i}+"], arrays[f"{i}-"]) for i, name in enumerate(arrays["names"])]


PEERS = ("dedpul", "alphamax", "tilt")
METRICS = ("roc_auc", "precision", "recall", "f1")


def truths(world, prior, threshold):
    """Metrics of the pool at a class prior."""
    hits, alarms = (np.mean(scores >= threshold) for scores in (world.positive, world.negative))
    order = np.sort(world.negative)
    below = (np.searchsorted(order, world.positive, "left") + np.searchsorted(order, world.positive, "right")) / 2
    result = prior * hits
    called = result + (1 - prior) * alarms
    return {
        "roc_auc": float(below.mean() / order.size),
        "precision": result / called if called else float("nan"),
        "recall": float(hits),
        "f1": 2 * result / (called + prior),
    }


def study(samples, world):
    """What every sample of a world gives: whether intervals hold, how wide they are, how far values are off."""
    import pulens
    from pulens.counts.tally import Tally
    from pulens.priors import find
    from pulens.priors.estimate import estimate_from_tally

    rng = np.random.default_rng(world.seed)
    lines = []
    for _ in range(samples):
        drawn = draw(world, rng)
        tally = Tally.from_arrays(drawn.labels, drawn.scores)
        # about as many rows are called positive as there are positives
        pooled = np.concatenate([world.positive, world.negative])
        weights = np.repeat(
            [drawn.class_prior / world.positive.size, (1 - drawn.class_prior) / world.negative.size],
            [world.positive.size, world.negative.size],
        )
        order = np.argsort(-pooled)
        place = min(int(np.searchsorted(np.cumsum(weights[order]), drawn.class_prior)), order.size - 1)
        threshold = float(pooled[order][place])
        truth = truths(world, drawn.class_prior, threshold)
        line = {"labelled": tally.totals.labelled, "truth": drawn.unlabelled_prior}
        prior = estimate_from_tally(tally, scenario=drawn.scenario)
        before = find("auto").compute(tally, doubt=0, discount=0)
        line |= _held("prior", prior.interval, prior.value, drawn.class_prior)
        line |= _held("full trust", pulens.Interval(before.low, before.high, 0.95, ""), before.value, line["truth"])
        line["width among unlabelled"] = prior.unlabelled_interval.width
        line["error among unlabelled"] = abs(prior.unlabelled - line["truth"])
        for peer in PEERS:
            line[f"{peer} error"] = abs(find(peer).compute(tally).value - line["truth"])
        for kind, given in (("known", drawn.class_prior), ("estimated", prior)):
            options = {"class_prior": given, "scenario": drawn.scenario}
            try:
                result = {
                    **pulens.evaluate(tally, threshold=threshold, **options, labelling="random").at(threshold).estimates
                }
                result["roc_auc"] = pulens.metrics.roc_auc(tally, confidence=0.95, **options)
            except pulens.PulensError:  # a known class prior below the labelled share of one sample
                continue
            for name in METRICS:
                if result[name].interval is not None:
                    line |= _held(f"{name} {kind}", result[name].interval, result[name].value, truth[name])
        lines.append(line)
    return lines


def _held(name, interval, value, truth):
    inside = interval.low - 1e-9 <= truth <= interval.high + 1e-9
    return {f"{name} held": inside, f"{name} width": interval.width, f"{name} error": abs(value - truth)}


def grow(samples, world):
    """Coverage of the class prior at growing numbers of rows, case-control, class priors 0.1 and 0.3."""
    from pulens.counts.tally import Tally
    from pulens.priors import find

    rng = np.random.default_rng(world.seed + 7)
    lines = []
    for labelled in (100, 400, 1600, 6400):
        for prior in (0.1, 0.3):
            for _ in range(samples):
                drawn = draw(world, rng, labelled=labelled, others=10 * labelled, prior=prior, scenario="case-control")
                tally = Tally.from_arrays(drawn.labels, drawn.scores)
                line = {"labelled": labelled}
                for name, options in (("doubted", {}), ("full trust", {"doubt": 0, "discount": 0})):
                    result = find("auto").compute(tally, **options)
                    line |= {
                        f"{name} held": result.low <= prior <= result.high,
                        f"{name} width": result.high - result.low,
                    }
                lines.append(line)
    return lines


DOUBTS, PURITIES = (0.15, 0.2, 0.25, 0.3, 0.35), (0.1, 0.2, 0.3)
ENOUGH = 0.978  # mean coverage to reach: more than 95%, since the promise is meant for each table of a user


def weigh(samples, world):
    """Whether each choice of constants holds the truth: of samples as they come, and of many rows."""
    from pulens.counts.tally import Tally
    from pulens.priors._cells import cut
    from pulens.priors._misfit import misfit
    from pulens.priors._shapes import profile
    from pulens.priors._uncertainty import doubted
    from pulens.priors.feasible import highest_prior
    from pulens.priors.from_scores.auto import CELLS, SHAPES

    rng = np.random.default_rng(world.seed + 13)
    many = {"labelled": 3200, "others": 32000, "scenario": "case-control"}
    held = {False: [], True: []}
    for place in range(2 * samples):
        drawn = draw(world, rng, **(many if place % 2 else {}))
        tally = Tally.from_arrays(drawn.labels, drawn.scores)
        cells = cut(tally, CELLS)
        result = profile(cells, SHAPES)
        facts = {"limit": highest_prior(tally), "observed_auc": cells.auc, "misfit": misfit(cells, result)}
        evidence = np.logaddexp.reduce(result.integrated, axis=0)
        row = []
        for doubt in DOUBTS:
            for purity in PURITIES:
                low, high = doubted(result.values, evidence, doubt=doubt, purity=purity, **facts).distribution.interval(
                    0.95
                )
                row.append(low <= drawn.unlabelled_prior <= high)
        held[bool(place % 2)].append(row)
    return [np.mean(held[which], axis=0).reshape(len(DOUBTS), len(PURITIES)) for which in (False, True)]


def chosen(usual, many):
    """The smallest constants that hold often enough; tables count equally: axes table, doubt, purity."""
    usual, many = usual.mean(axis=0), many.mean(axis=0)
    doubt = next((i for i in range(len(DOUBTS)) if usual[i, 1] >= ENOUGH), len(DOUBTS) - 1)
    purity = next((i for i in range(len(PURITIES)) if many[doubt, i] >= ENOUGH), len(PURITIES) - 1)
    return DOUBTS[doubt], PURITIES[purity]


def over(worlds, work, processes):
    if processes == 1:
        return list(map(work, worlds))
    with get_context("fork").Pool(processes) as workers:
        return workers.map(work, worlds, chunksize=1)


def mean(lines, name):
    values = [line[name] for line in lines if name in line]
    return float(np.mean(values)) if values else float("nan")


def report_worlds(worlds, result):
    print("\ncoverage of nominal 95% intervals, in %: class prior (as before the doubt), then known / estimated prior")
    print(
        f"{'table, model':32}{'prior':>7}{'(full)':>7}"
        + "".join(f"{name:>15}" for name in METRICS)
        + f"{'width':>8}{'(full)':>7}{'error':>8}"
        + "".join(f"{peer:>9}" for peer in PEERS)
    )
    groups = defaultdict(list)
    for world, lines in zip(worlds, result, strict=True):
        groups[world.table, world.model] += lines
    for (table, model), lines in groups.items():
        print(f"{table + ', ' + model:32}" + _line(lines))
    by_model = defaultdict(list)
    for world, lines in zip(worlds, result, strict=True):
        by_model[world.model] += lines
    for model, lines in by_model.items():
        print(f"{'all tables, ' + model:32}" + _line(lines))
    for name, kept in (
        ("tables seen", [world.table in SEEN for world in worlds]),
        ("tables not looked at", [world.table not in SEEN for world in worlds]),
        ("all", [True] * len(worlds)),
    ):
        inside = [lines for lines, keep in zip(result, kept, strict=True) if keep]
        if not inside:
            continue
        lines = [line for world in inside for line in world]
        print(f"\n{name + f', {len(inside)} worlds':32}" + _line(lines))
        for what in ("prior", "full trust", *(f"{m} {kind}" for m in METRICS for kind in ("known", "estimated"))):
            each = np.array([mean(world, f"{what} held") for world in inside])
            print(
                f"    {what:24} mean {100 * each.mean():5.1f}, worlds below 90 / 80 / 60%: {(each < 0.9).sum()} / "
                f"{(each < 0.8).sum()} / {(each < 0.6).sum()}, worst {100 * each.min():.0f}"
            )
        ratio = mean(lines, "width among unlabelled") / mean(lines, "full trust width")
        errors = mean(lines, "error among unlabelled") / mean(lines, "full trust error")
        print(f"    against full trust in the shapes: width {ratio:.3f} times, error {errors:.3f} times")


def _line(lines):
    cells = [f"{100 * mean(lines, 'prior held'):7.1f}{100 * mean(lines, 'full trust held'):7.1f}"]
    for name in METRICS:
        both = (100 * mean(lines, f"{name} {kind} held") for kind in ("known", "estimated"))
        cells.append(f"{' / '.join(f'{value:.1f}' for value in both):>15}")
    cells.append(f"{mean(lines, 'width among unlabelled'):8.3f}{mean(lines, 'full trust width'):7.3f}")
    cells.append(f"{mean(lines, 'error among unlabelled'):8.4f}")
    return "".join(cells) + "".join(f"{mean(lines, f'{peer} error'):9.4f}" for peer in PEERS)


def report_growth(worlds, result):
    print("\nthe class prior's interval at growing numbers of labelled rows, ten times as many others")
    for name, kept in (("all", worlds), ("tables not looked at", [w for w in worlds if w.table not in SEEN])):
        for labelled in (100, 400, 1600, 6400):
            inside = [
                [line for line in lines if line["labelled"] == labelled]
                for world, lines in zip(worlds, result, strict=True)
                if world in kept
            ]
            if not inside:
                continue
            lines = [line for world in inside for line in world]
            low = sum(mean(world, "doubted held") < 0.6 for world in inside)
            print(
                f"{name:22}{labelled:6} labelled: {100 * mean(lines, 'doubted held'):5.1f}% width "
                f"{mean(lines, 'doubted width'):.3f}, full trust {100 * mean(lines, 'full trust held'):5.1f}% width "
                f"{mean(lines, 'full trust width'):.3f}; {low} of {len(inside)} worlds below 60%"
            )


def report_learning(worlds, result):
    tables = sorted({world.table for world in worlds})
    parts = []
    for which in range(2):
        per_table = [
            np.mean([part[which] for world, part in zip(worlds, result, strict=True) if world.table == table], axis=0)
            for table in tables
        ]
        parts.append(np.array(per_table))
    print("\nmean coverage, tables weighted equally: doubt down, purity across")
    for title, part in zip(("samples as they come", "3,200 labelled rows"), parts, strict=True):
        print(f"  {title}\n" + f"{'':8}" + "".join(f"{purity:9}" for purity in PURITIES))
        for doubt, row in zip(DOUBTS, part.mean(axis=0), strict=True):
            print(f"{doubt:8}" + "".join(f"{value:9.4f}" for value in row))
    print(f"learned on all tables: doubt {chosen(*parts)[0]}, purity {chosen(*parts)[1]}")
    for place, table in enumerate(tables):
        doubt, purity = chosen(*(np.delete(part, place, axis=0) for part in parts))
        print(f"  without {table:22} doubt {doubt}, purity {purity}")


def folder_of_tables(given):
    root = Path(__file__).resolve().parents[1]
    places = [given, Path(os.environ.get("PULENS_SHARED", "")) / "data", *(p / "shared" / "data" for p in root.parents)]
    return next((place for place in places if place is not None and place.is_dir()), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--pools", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--only", choices=("worlds", "growth", "learn"))
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    start = time.perf_counter()
    if asked.pools is not None and asked.pools.exists():
        worlds = restore(asked.pools)
    else:
        folder = folder_of_tables(asked.tables)
        if folder is None:
            raise SystemExit("no folder of tables found: give --tables FOLDER")
        worlds = pools(folder, asked.processes, ("pima", "page_blocks") if asked.quick else tuple(TABLES))
        if asked.pools is not None:
            save(worlds, asked.pools)
    if asked.quick:
        worlds = worlds[:8]
    samples = 4 if asked.quick else asked.samples
    print(f"{len(worlds)} worlds, {samples} samples each", flush=True)
    if asked.only in (None, "worlds"):
        report_worlds(worlds, over(worlds, partial(study, samples), asked.processes))
    if asked.only in (None, "growth"):
        report_growth(worlds, over(worlds, partial(grow, max(samples // 5, 1)), asked.processes))
    if asked.only in (None, "learn"):
        report_learning(worlds, over(worlds, partial(weigh, samples), asked.processes))
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
