"""Rows that belong together: how often intervals hold the truth, and what counting by cluster costs.

    python benchmarks/groups_clusters.py coverage [SETS [WORLD [SEED]]]    worlds by numbers of clusters, ten metrics
    python benchmarks/groups_clusters.py chosen [SETS]       thresholds chosen on the same rows; two models' difference
    python benchmarks/groups_clusters.py prior [SETS [CLUSTERS [WORLD]]]   estimated class priors with clusters
    python benchmarks/groups_clusters.py writers [DRAWS [FOLDER]]   20 Newsgroups, clusters are those who wrote
    python benchmarks/groups_clusters.py obuchowski          jackknife of the AUC against Obuchowski's (1997) variance
    python benchmarks/groups_clusters.py duckdb [ROWS]       time and memory of a tally by cluster over the plain one

The truth of a world is found on two million of its rows. "independent" takes rows for independent, as pulens does
without ``cluster=``; its intervals stand beside as the cost of not saying it.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.evidence import Evidence, gather
from pulens.intervals.doubts import Doubts
from pulens.intervals.kernels.jackknife import LeftOut, jackknife_error
from pulens.intervals.kernels.redraws import compress
from pulens.intervals.kernels.resampling import Resampling
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.recovery.point import pairwise_auc
from pulens.scenario import Scenario

METRICS_TRIED = (
    *("recall", "precision", "roc_auc", "average_precision", "f1", "specificity"),
    *("accuracy", "balanced_accuracy", "matthews_correlation", "lift"),
)
CLUSTERS = (10, 20, 30, 100, 400)
THRESHOLD = 1.0
PUBLISHED = """\
the specification's table (one world like "strong", recall / precision / AUC; 400 sets)
  clusters               10           20           30          100          400
  independent   .83 .88 .87  .86 .88 .85  .87 .88 .87  .89 .89 .93  .93 .89 .93
  jackknife     .89 .99 .98  .96 .96 .96  .96 .96 .96  .96 .96 .97  .98 .95 .97
  10 clusters with the hull: .99 1.00 1.00"""


@dataclass(frozen=True)
class World:
    """Clusters of rows: how strongly a cluster moves its scores, how its sizes and its labels spread."""

    name: str
    effect: float  # standard deviations by which a cluster moves all of its scores
    prevalence: float  # spread of the log odds of being positive
    sizes: Callable[[np.random.Generator, int], np.ndarray]
    labelling: float = 0.0  # spread of the log odds of being labelled: labels concentrate in few clusters
    apart: float = 1.5  # standard deviations between positives and negatives
    of_positives: float = 0.0  # standard deviations by which a cluster moves the scores of its positives alone

    def draw(self, clusters: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Labels, scores, cluster and class of every row."""
        sizes = self.sizes(rng, clusters)
        cluster = np.repeat(np.arange(clusters), sizes)
        odds = rng.normal(-1.1, self.prevalence, clusters)[cluster]
        positive = rng.random(cluster.size) < 1 / (1 + np.exp(-odds))
        scores = rng.normal(0, self.effect, clusters)[cluster] + rng.normal(size=cluster.size) + self.apart * positive
        if self.of_positives:
            scores += rng.normal(0, self.of_positives, clusters)[cluster] * positive
        chance = 1 / (1 + np.exp(-rng.normal(0.0, self.labelling, clusters)))[cluster] if self.labelling else 0.5
        labels = positive & (rng.random(cluster.size) < chance)
        return labels.astype(np.int8), scores, cluster, positive


def heavy(rng: np.random.Generator, clusters: int) -> np.ndarray:
    """Eight rows on average, geometric."""
    return 1 + rng.negative_binomial(1, 1 / 8, clusters)


def unequal(rng: np.random.Generator, clusters: int) -> np.ndarray:
    """Very different sizes: log-normal, from one row to hundreds."""
    return np.maximum(1, np.round(np.exp(rng.normal(1.8, 1.0, clusters)))).astype(int)


def many(rng: np.random.Generator, clusters: int) -> np.ndarray:
    """Forty rows each, so that even ten clusters hold labelled rows."""
    return 1 + rng.poisson(39, clusters)


def large_and_unequal(rng: np.random.Generator, clusters: int) -> np.ndarray:
    """Very different sizes, five times as large."""
    return 5 * unequal(rng, clusters)


WORLDS = (
    World("strong", 0.8, 0.7, heavy),
    World("weak", 0.25, 0.2, heavy),
    World("unequal", 0.6, 0.5, unequal),
    World("concentrated", 0.6, 0.5, heavy, labelling=2.5),
    World("large", 0.8, 0.7, many),
    World("long tail", 0.8, 0.5, large_and_unequal),
)
PRIOR_WORLDS = (  # wide apart, as scores must be for an estimate; more rows, as it needs
    World("both kinds", 0.8, 0.7, many, apart=3.0),
    World("positives", 0.0, 0.7, many, apart=3.0, of_positives=1.0),
    World("prevalence", 0.0, 1.5, many, apart=3.0),
    World("labels", 0.5, 0.5, many, apart=3.0, labelling=1.5),
)


def truth_of(world: World, rng: np.random.Generator) -> tuple[float, dict[str, float]]:
    """The class prior and every metric on rows whose class is known."""
    _labels, scores, _, positive = world.draw(240_000, rng)
    evidence = gather(np.where(positive, 1, -1), scores, negative=-1)
    found = {name: estimate(name, METRICS[name], evidence, threshold=THRESHOLD).value for name in METRICS_TRIED}
    return float(positive.mean()), found


def coverage(sets: int = 200, only: str = "", seed: int = 20_261) -> None:
    """The share of sets whose interval holds the truth, with the class prior known."""
    print(PUBLISHED)
    for world in (world for world in WORLDS if only in ("", world.name)):
        rng = np.random.default_rng([seed, len(world.name)])
        prior, truth = truth_of(world, rng)
        print(f"\n{world.name}: effect {world.effect}, prevalence spread {world.prevalence}, class prior {prior:.3f}")
        print(f"  {'clusters':>8} {'':<12}" + "".join(f"{name[:9]:>10}" for name in METRICS_TRIED) + f"{'none':>8}")
        for clusters in CLUSTERS:
            held, missed = {kind: {name: [] for name in METRICS_TRIED} for kind in ("jackknife", "independent")}, 0
            for _ in range(sets if clusters < 400 else max(sets // 2, 1)):
                labels, scores, cluster, _ = world.draw(clusters, rng)
                if not 0 < labels.sum() < labels.size or prior * labels.size <= labels.sum():
                    continue
                buckets = BucketTally.from_rows(labels, scores, cluster)
                plain = gather(buckets.tally, class_prior=prior)
                dependent = Evidence(
                    plain.tally, plain.class_prior, 0.0, Scenario.SINGLE_SET, "population", buckets=buckets
                )
                alone = Evidence(plain.tally, plain.class_prior, 0.0, Scenario.SINGLE_SET, "population")
                for kind, evidence in (("jackknife", dependent), ("independent", alone)):
                    doubts = Doubts(evidence, Resampling(redraws=400))
                    for name in METRICS_TRIED:
                        found = estimate(name, METRICS[name], evidence, threshold=THRESHOLD, doubts=doubts)
                        if found.interval is None or found.interval.confidence is None:
                            missed += kind == "jackknife" and name == "recall"
                            continue
                        held[kind][name].append(truth[name] in found.interval)
            for kind, names in held.items():
                shares = "".join(f"{np.mean(found) if found else np.nan:>10.3f}" for found in names.values())
                print(f"  {clusters:>8} {kind:<12}{shares}{missed if kind == 'jackknife' else '':>8}", flush=True)


def chosen(sets: int = 60, seed: int = 11) -> None:
    """Coverage at the threshold with the best F1 on the same rows, and of the difference of two models."""
    import pulens

    world = WORLDS[0]
    rng = np.random.default_rng(seed)
    _, scores, _, positive = world.draw(240_000, rng)
    prior, noise = float(positive.mean()), 1.0
    other = scores + noise * rng.normal(size=scores.size)
    order = np.argsort(-scores)
    hits, ordered = np.cumsum(positive[order]), scores[order]

    def area(values: np.ndarray) -> float:
        return float(pairwise_auc(Tally.from_arrays(positive.astype(np.int8), values), "labelled", "unlabelled"))

    gap = area(scores) - area(other)
    print(f"{'clusters':>8}{'precision':>11}{'recall':>9}{'f1':>7}{'difference of AUC':>20}")
    for clusters in (30, 100, 400):
        held: list[list[bool]] = []
        for _ in range(sets):
            labels, mine, cluster, _ = world.draw(clusters, rng)
            if labels.sum() < 2 or prior * labels.size <= labels.sum():
                continue
            options = {"class_prior": prior, "cluster": cluster}
            found = pulens.evaluate(labels, mine, redraws=400, **options)
            above = int(np.searchsorted(-ordered, -found.threshold, side="right"))
            flagged, caught = max(above, 1), float(hits[max(above - 1, 0)])
            truth = {"precision": caught / flagged, "recall": caught / positive.sum()}
            truth["f1"] = 2 * caught / (flagged + positive.sum())
            rival = {"mine": mine, "other": mine + noise * rng.normal(size=mine.size)}
            pair = pulens.compare(labels, rival, metrics=["roc_auc"], **options).difference("mine", "other")
            intervals = [found.estimates[name].interval for name in truth]
            if any(one is None or one.confidence is None for one in (*intervals, pair.interval)):
                continue
            held.append(
                [*(truth[name] in one for name, one in zip(truth, intervals, strict=True)), gap in pair.interval]
            )
        shares = np.mean(held, axis=0)
        print(
            f"{clusters:>8}{shares[0]:>11.3f}{shares[1]:>9.3f}{shares[2]:>7.3f}{shares[3]:>20.3f}  ({len(held)} sets)"
        )


def estimated_prior(sets: int = 40, clusters: int = 100, only: str = "", seed: int = 5_231) -> None:
    """How often the interval of an estimated class prior, and of precision with it, holds the truth."""
    import pulens

    print(f"{'world':<14}{'clusters':>9}{'':>14}{'prior':>8}{'width':>8}{'precision':>11}{'recall':>8}{'  sets'}")
    for world in (world for world in PRIOR_WORLDS if only in ("", world.name)):
        rng = np.random.default_rng([seed, clusters, len(world.name)])
        _, scores, _, positive = world.draw(240_000, rng)
        truth = float(positive.mean()), float(positive[scores >= THRESHOLD].mean())
        caught = float((scores[positive] >= THRESHOLD).mean())
        held: dict[str, list[tuple[float, ...]]] = {"clusters": [], "independent": []}
        for _ in range(sets):
            labels, mine, cluster, _ = world.draw(clusters, rng)
            for kind, told in (("clusters", {"cluster": cluster}), ("independent", {})):
                try:
                    found = pulens.evaluate(labels, mine, threshold=THRESHOLD, redraws=400, **told)
                except pulens.PulensError:  # too few labelled rows to estimate from
                    continue
                prior, rates = (
                    found.class_prior.interval,
                    [found.estimates[one].interval for one in ("precision", "recall")],
                )
                if prior is None or any(one is None for one in rates):
                    continue
                inside = truth[1] in rates[0], caught in rates[1]
                held[kind].append((truth[0] in prior, prior.width, *inside))
        for kind, rows in held.items():
            share = np.mean(rows, axis=0) if rows else np.full(4, np.nan)
            print(
                f"{world.name:<14}{clusters:>9}{kind:>14}{share[0]:>8.3f}{share[1]:>8.3f}{share[2]:>11.3f}{share[3]:>8.3f}"
                f"{len(rows):>6}",
                flush=True,
            )


def writers(draws: int = 300, folder: str = "", seed: int = 80_611) -> None:
    """Real rows: posts of 20 Newsgroups, a cluster for each address in a From line; writers are drawn, then labels.

    A logistic regression on embeddings of the training posts tells science, society and talk from the rest; the posts
    of the test part, whose classes are known, are the population. Each draw takes so many of its writers with all that
    they wrote, and labels half of the positive posts.
    """
    import re

    import polars
    from sklearn.linear_model import LogisticRegression

    place = Path(folder) if folder else Path(__file__).resolve().parents[2] / "shared/data"
    posts = polars.read_parquet(place / "newsgroups20_text.parquet")
    vectors = np.load(place / "newsgroups20_minilm.npz")
    names = posts["label_name"].cast(polars.String)
    positive = names.str.contains("^(sci|soc|talk)").to_numpy()
    is_test = posts["split"].cast(polars.String).to_numpy() == "test"
    model = LogisticRegression(max_iter=300).fit(vectors["X_train"].astype(float), positive[~is_test])
    scores, classes = model.decision_function(vectors["X_test"].astype(float)), positive[is_test]

    def writer(number: int, text: str) -> str:
        line = re.search(r"^From:(.*)$", text, re.MULTILINE)
        address = re.search(r"[^\s<>()]+@[^\s<>()]+", line.group(1)) if line else None
        return address.group(0).lower() if address else f"nobody {number}"

    test = posts.filter(is_test)["text"].to_list()
    ids, cluster = np.unique([writer(*one) for one in enumerate(test)], return_inverse=True)
    sizes = np.bincount(cluster)
    prior, threshold = float(classes.mean()), 0.0
    shown = ("recall", "precision", "roc_auc", "average_precision", "f1", "accuracy")
    print(
        f"{classes.size:,} posts of {ids.size:,} writers (most {sizes.max()}, {np.mean(sizes[cluster] > 1):.0%} of "
        f"posts by writers of several), {prior:.3f} positive; {draws} draws"
    )
    mine = [np.flatnonzero(cluster == one) for one in range(ids.size)]
    many = sizes >= 3  # those of one post belong together with nothing
    for told, among in (("all writers", np.arange(ids.size)), ("writers of three posts or more", np.flatnonzero(many))):
        own = np.concatenate([mine[one] for one in among])
        share = float(classes[own].mean())
        part = gather(np.where(classes[own], 1, -1), scores[own], negative=-1)
        truth = {name: estimate(name, METRICS[name], part, threshold=threshold).value for name in shown}
        print(f"{told}: {among.size:,}, {own.size:,} posts, {share:.3f} positive")
        for size in (50, 200, 500):
            rng = np.random.default_rng([seed, size, among.size])
            held: dict[str, list[list[bool]]] = {"clusters": [], "independent": []}
            for _ in range(draws):
                drawn = rng.choice(among, size)  # with replacement: the population is as good as endless
                rows = np.concatenate([mine[one] for one in drawn])
                who = np.repeat(np.arange(size), [mine[one].size for one in drawn])
                labels = (classes[rows] & (rng.random(rows.size) < 0.5)).astype(np.int8)
                if labels.sum() < 2 or share * labels.size <= labels.sum():
                    continue
                buckets = BucketTally.from_rows(labels, scores[rows], who)
                plain = gather(buckets.tally, class_prior=share)
                common = (plain.tally, plain.class_prior, 0.0, Scenario.SINGLE_SET, "population")
                for kind, evidence in (
                    ("clusters", Evidence(*common, buckets=buckets)),
                    ("independent", Evidence(*common)),
                ):
                    doubts = Doubts(evidence, Resampling(redraws=300))
                    found = [
                        estimate(name, METRICS[name], evidence, threshold=threshold, doubts=doubts).interval
                        for name in shown
                    ]
                    if all(one is not None and one.confidence is not None for one in found):
                        held[kind].append([truth[name] in one for name, one in zip(shown, found, strict=True)])
            for kind, rows_held in held.items():
                shares = np.mean(rows_held, axis=0)
                words = "  ".join(f"{name} {one:.3f}" for name, one in zip(shown, shares, strict=True))
                print(f"  {size:>4} writers {kind:<12}({len(rows_held)})  {words}", flush=True)


def obuchowski_variance(labels: np.ndarray, scores: np.ndarray, clusters: np.ndarray) -> float:
    r"""Variance of the area between labelled and unlabelled rows of clustered data (Obuchowski 1997, equation 4).

    With :math:`V_i` the placements of labelled and :math:`W_j` those of unlabelled rows, summed over each cluster:
    :math:`\hat V = S_{10}/n_L + S_{01}/n_U + 2 S_{11}/(n_L n_U)`, in sums of squares of cluster totals around their
    expected values.
    """
    labelled, unlabelled = scores[labels == 1], scores[labels == 0]
    ordered_unlabelled, ordered_labelled = np.sort(unlabelled), np.sort(labelled)
    below = np.searchsorted(ordered_unlabelled, labelled, "left") + np.searchsorted(
        ordered_unlabelled, labelled, "right"
    )
    above = np.searchsorted(ordered_labelled, unlabelled, "left") + np.searchsorted(
        ordered_labelled, unlabelled, "right"
    )
    placed = below / (2 * unlabelled.size), 1 - above / (2 * labelled.size)
    area = float(placed[0].mean())
    many = int(clusters.max()) + 1
    away = [
        np.bincount(clusters[labels == kind], place - area, many) for kind, place in ((1, placed[0]), (0, placed[1]))
    ]
    held = [np.bincount(clusters[labels == kind], minlength=many) > 0 for kind in (1, 0)]
    groups = [int(one.sum()) for one in held]
    every = int((held[0] | held[1]).sum())
    first, second = (float((one**2).sum()) * g / (g - 1) for one, g in zip(away, groups, strict=True))
    cross = float((away[0] * away[1]).sum()) * every / (every - 1)
    sizes = labelled.size, unlabelled.size
    return first / sizes[0] ** 2 + second / sizes[1] ** 2 + 2 * cross / (sizes[0] * sizes[1])


def jackknife_variance(labels: np.ndarray, scores: np.ndarray, clusters: np.ndarray) -> float:
    """The same by leaving out each bucket."""
    buckets = BucketTally.from_rows(labels, scores, clusters)
    whole = compress(buckets.without([]))
    left = LeftOut.of(buckets, whole.thresholds)
    return (
        float(
            jackknife_error(
                np.array([pairwise_auc(tally, "labelled", "unlabelled") for tally in left.tallies(whole.thresholds)])
            )
        )
        ** 2
    )


def obuchowski(sets: int = 60, seed: int = 7) -> None:
    """Mean standard errors of the area by both, and the spread that the area really has."""
    world = WORLDS[0]
    print(f"{'clusters':>8}{'obuchowski':>12}{'jackknife':>12}{'ratio':>8}{'true':>10}")
    for clusters in (30, 100, 400):
        rng = np.random.default_rng([seed, clusters])
        found = []
        for _ in range(sets):
            labels, scores, cluster, _ = world.draw(clusters, rng)
            area = pairwise_auc(Tally.from_arrays(labels, scores), "labelled", "unlabelled")
            found.append(
                (obuchowski_variance(labels, scores, cluster), jackknife_variance(labels, scores, cluster), area)
            )
        theirs, ours, areas = np.array(found).T
        errors = np.sqrt(theirs).mean(), np.sqrt(ours).mean()
        print(f"{clusters:>8}{errors[0]:>12.4f}{errors[1]:>12.4f}{errors[1] / errors[0]:>8.3f}{areas.std():>10.4f}")


def duckdb_cost(rows: int = 10_000_000, clusters: int = 1_000_000) -> None:
    """Time and peak memory of counting a Parquet file by DuckDB, plainly and by cluster, each in its own process."""
    import subprocess

    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        begin = time.perf_counter()
        duckdb.sql(
            f"COPY (SELECT (hash(i) % 20 = 0)::INT AS label, (hash(i + 1) % 1000000007) / 1000000007.0 AS score, "
            f"hash(i + 2) % {clusters} AS patient FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"
        )
        print(f"{rows:,} rows, {clusters:,} clusters written in {time.perf_counter() - begin:.1f} s")
        for name in ("plain", "clusters"):
            done = subprocess.run(
                [sys.executable, __file__, "count", name, path], capture_output=True, text=True, check=True
            )
            print(f"  {name:<10}{done.stdout.strip()}", flush=True)


def count(which: str, path: str) -> None:
    """Count one file and say how long it took; run in a process of its own, for its memory."""
    from pulens.inputs import read_buckets, read_tally

    begin = time.perf_counter()
    found = (
        read_tally(path, tolerance=1e-4) if which == "plain" else read_buckets(path, cluster="patient", tolerance=1e-4)
    )
    took = time.perf_counter() - begin
    spent = resource.getrusage(resource.RUSAGE_SELF)
    cost = f"{took:7.1f} s ({spent.ru_utime + spent.ru_stime:.1f} s of processors)"
    print(f"{cost}, peak {spent.ru_maxrss / 1024:,.0f} MB: {found}")


if __name__ == "__main__":
    command, *given = sys.argv[1:] or ["coverage"]
    if command == "coverage":
        coverage(*(int(one) if one.isdigit() else one for one in given))
    elif command == "chosen":
        chosen(*(int(one) for one in given))
    elif command == "prior":
        estimated_prior(*(int(one) if one.isdigit() else one for one in given))
    elif command == "writers":
        writers(*(int(one) if one.isdigit() else one for one in given))
    elif command == "obuchowski":
        obuchowski()
    elif command == "duckdb":
        duckdb_cost(*(int(one) for one in given))
    else:
        count(*given)
