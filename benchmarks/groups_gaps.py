"""Gaps between groups: coverage of all pairs at once, the level of the test, bank marketing, and fairlearn beside us.

Usage: python benchmarks/groups_gaps.py [--sets 600] [--bank FILE] [--labellings 500] [--only NAME] [--seed NUMBER]

``--only clusters`` is the small study of groups whose rows share clusters.
``--bank`` is UCI's bank marketing as Parquet (columns job, month, y, ...). fairlearn is compared where it can be
imported, and its absence is said.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from pulens.groups.clustered_rates import ClusteredRates
from pulens.groups.gap_rates import CountedRates, difference_ends, quantile_of_equality, rest_ends
from pulens.inference.kernels.quantiles import normal_quantile
from pulens.inference.kernels.simultaneous import LargestOf, independent_quantile

SEED = 20261


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=600, help="simulated sets of each world")
    parser.add_argument("--bank", help="bank marketing as Parquet")
    parser.add_argument("--labellings", type=int, default=500)
    parser.add_argument("--seed", type=int, default=SEED + 4, help="of the study of clusters")
    parser.add_argument("--only", choices=["pairs", "clusters", "bank", "priors", "fairlearn"])
    asked = parser.parse_args()
    if asked.only in (None, "pairs"):
        pairs(asked.sets)
    if asked.only in (None, "clusters"):
        clusters(asked.sets, asked.seed)
    if asked.only in (None, "priors"):
        priors(min(asked.sets, 300))
    if asked.only in (None, "bank") and asked.bank:
        bank(asked.bank, asked.labellings)
    if asked.only in (None, "fairlearn"):
        fairlearn()


def worlds(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Recalls and labelled rows of groups."""
    for groups in (2, 5, 10, 20):
        rows = np.exp(rng.uniform(np.log(10), np.log(300), groups)).round()
        yield f"{groups} groups, 10 to 300 rows", rng.uniform(0.35, 0.95, groups), rows
    yield "2 groups, 10 and 300 rows", np.array([0.8, 0.6]), np.array([10.0, 300.0])
    for groups in (5, 20):
        rows = np.geomspace(10, 300, groups).round()
        yield f"{groups} equal groups, recall .7, 10 to 300 rows", np.full(groups, 0.7), rows
    yield "5 groups, recall .95, 20 rows each", np.full(5, 0.95), np.full(5, 20.0)


def pairs(sets: int) -> None:
    """How often the intervals of all pairs, of all groups and of all against the rest hold the truth at once."""
    rng = np.random.default_rng(SEED)
    print(f"all intervals of a set hold at once, confidence .95, {sets} sets; p: share of sets with p < .05")
    print(f"{'world':<48}{'pairs':>7}{'Wald':>7}{'single':>8}{'own':>7}{'rest':>7}{'p':>7}")
    for name, recall, rows in worlds(rng):
        one, other = np.triu_indices(recall.size, 1)
        truth = recall[one] - recall[other]
        weights = rows / rows.sum()
        held = []
        for _ in range(sets):
            rates = CountedRates(rng.binomial(rows.astype(int), recall).astype(float), rows)
            largest = LargestOf.pairs(rates.errors)
            critical = largest.quantile(0.95)
            apart, spread = rates.values[one] - rates.values[other], np.hypot(rates.errors[one], rates.errors[other])
            lows, highs = rates.ends(independent_quantile(recall.size, 0.95))
            _, below, above = rest_ends(rates, weights, 0.95)
            rest = recall - (weights @ recall - weights * recall) / (1 - weights)
            reached = quantile_of_equality(rates, one, other)
            held.append(
                (
                    _holds(*difference_ends(rates, one, other, critical), truth),
                    _holds(apart - critical * spread, apart + critical * spread, truth),
                    _holds(*difference_ends(rates, one, other, normal_quantile(0.95)), truth),
                    _holds(lows, highs, recall),
                    _holds(below, above, rest),
                    largest.beyond(reached) < 0.05,
                )
            )
        shares = zip(np.mean(held, axis=0), (7, 7, 8, 7, 7, 7), strict=True)
        print(f"{name:<48}" + "".join(f"{share:>{width}.3f}" for share, width in shares))


def clusters(sets: int, seed: int = SEED + 4) -> None:
    """Five groups whose rows share clusters: one effect on all rows of a cluster, in whatever group they are."""
    rng = np.random.default_rng(seed)
    shifts = np.array([-0.6, -0.2, 0.0, 0.3, 0.8])
    one, other = np.triu_indices(5, 1)
    print(
        f"\nfive groups whose labelled rows share clusters, effect of a cluster .8 standard deviations, {sets} sets: "
        "all at once\n"
        f"{'world':<60}{'pairs':>7}{'own':>7}{'rest':>7}{'alone':>7}{'p':>7}{'linked':>8}"
    )
    for many, each, sizes, equal, shared in (
        (20, 8.0, "equal", False, True),
        (40, 8.0, "equal", False, True),
        (40, 8.0, "unequal", False, True),
        (100, 4.0, "unequal", False, True),
        (40, 8.0, "unequal", True, True),
        (250, 3.0, "unequal", True, True),
        (100, 8.0, "equal", True, False),
        (100, 8.0, "equal", False, False),
        (200, 8.0, "unequal", False, False),
    ):
        shares = np.full(5, 0.2) if sizes == "equal" else np.array([0.4, 0.25, 0.15, 0.12, 0.08])
        moved = np.zeros(5) if equal else shifts
        # a row is found where its own noise and its cluster's effect stay below the shift: known in closed form
        recall = _normal((moved + 0.6) / np.sqrt(1 + 0.8**2))
        held, linked = [], []
        for _ in range(sets):
            hits, rows = _clustered_rows(rng, many, each, shares, moved, shared=shared)
            if (np.count_nonzero(rows, axis=0) < 5).any():
                continue
            totals = hits.sum(axis=0), rows.sum(axis=0)
            rates, plain = ClusteredRates.counted(*totals, hits, rows), CountedRates(*totals)
            largest = LargestOf.pairs(rates.errors, rates.root)
            gap, weights = recall[one] - recall[other], rows.sum(axis=0) / rows.sum()
            _, below, above = rest_ends(rates, weights, 0.95)
            rest = recall - (weights @ recall - weights * recall) / (1 - weights)
            alone = LargestOf.pairs(plain.errors).quantile(0.95)
            held.append(
                (
                    _holds(*difference_ends(rates, one, other, largest.quantile(0.95)), gap),
                    _holds(*rates.ends(independent_quantile(5, 0.95)), recall),
                    _holds(below, above, rest),
                    _holds(*difference_ends(plain, one, other, alone), gap),
                    largest.beyond(quantile_of_equality(rates, one, other)) < 0.05,
                )
            )
            linked.append(rates.correlations[one, other].mean())
        words = f"{sizes}{', same recall' if equal else ''}{'' if shared else ', each in one group'}"
        name = f"{many} clusters of {each:g} rows, {words} ({len(held)})"
        result = "".join(f"{share:>7.3f}" for share in np.mean(held, axis=0))
        print(f"{name:<60}{result}{np.mean(linked):>8.2f}")


def _clustered_rows(
    rng: np.random.Generator, many: int, each: float, shares: np.ndarray, shifts: np.ndarray, *, shared: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Hits and labelled rows by cluster and group; a cluster has one row and a geometric number more."""
    sizes = rng.geometric(1 / each, many)
    cluster = np.repeat(np.arange(many), sizes)
    group = rng.choice(5, cluster.size, p=shares) if shared else rng.choice(5, many, p=shares)[cluster]
    effect = 0.8 * rng.normal(size=many)
    result = shifts[group] + 0.6 + effect[cluster] + rng.normal(size=cluster.size) > 0
    place = cluster * 5 + group
    hits, rows = (np.bincount(place, weights, 5 * many).reshape(many, 5) for weights in (result, None))
    return hits, rows.astype(float)


def _holds(low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> bool:
    return bool(((low <= truth) & (truth <= high)).all())


def priors(sets: int) -> None:
    """Gaps that rest on class priors: each group's interval, stretched; priors given, and one label frequency."""
    import polars

    import pulens

    rng = np.random.default_rng(SEED + 1)
    share, apart, many = np.array([0.1, 0.2, 0.3, 0.15]), np.array([1.2, 1.6, 1.4, 2.0]), 700
    threshold = 1.0
    hits, alarms = 1 - _normal(threshold - apart), np.full(4, 1 - _normal(threshold))
    flagged = share * hits + (1 - share) * alarms
    truth = {
        "precision": share * hits / flagged,
        "false_positive_rate": alarms,
        "accuracy": share * hits + (1 - share) * (1 - alarms),
        "recall": hits,
    }
    names = [f"g{place}" for place in range(4)]
    print(f"\ngaps of four groups of {many} rows, label frequency .4, {sets} sets: all pairs at once")
    for kind in ("given", "implied"):
        held = dict.fromkeys(truth, 0)
        for _ in range(sets):
            group = np.repeat(np.arange(4), many)
            positive = rng.random(group.size) < share[group]
            labels = (positive & (rng.random(group.size) < 0.4)).astype(int)
            scores = rng.normal(apart[group] * positive)
            frame = polars.DataFrame({"score": scores, "label": labels, "group": np.array(names)[group]})
            prior = dict(zip(names, share.tolist(), strict=True)) if kind == "given" else float(share.mean())
            result = pulens.evaluate_by(
                frame,
                "group",
                class_prior=prior,
                threshold=threshold,
                metrics=tuple(truth),
                redraws=400,
                labelling="random",
            )
            for metric, values in truth.items():
                known = dict(zip(names, values, strict=True))
                held[metric] += all(
                    gap.low <= known[gap.first] - known[gap.second] <= gap.high
                    for gap in result.gaps(metric).differences
                )
        print(f"  class priors {kind:<8}" + "".join(f"  {metric} {many / sets:.3f}" for metric, many in held.items()))


def _normal(values: np.ndarray | float) -> np.ndarray:
    from scipy.special import ndtr

    return np.asarray(ndtr(values))


def bank(path: str, labellings: int) -> None:
    """Groups are jobs; labels are drawn with rates that depend on the job, or on job and month; the truth is known."""
    import polars
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    table = polars.read_parquet(path)
    target = next(name for name in ("y", "subscribed", "class", "deposit") if name in table.columns)
    positive = table[target].cast(polars.String).is_in(["yes", "1", "true", "True"]).to_numpy()
    plain = table.drop([target, "job", "month", "duration"], strict=False)
    words = [name for name, kind in plain.schema.items() if not kind.is_numeric()]
    features = StandardScaler().fit_transform(plain.to_dummies(words).to_numpy().astype(float))
    model = LogisticRegression(max_iter=200).fit(features, positive)
    scores = model.predict_proba(features)[:, 1]
    threshold = float(np.quantile(scores, 0.85))
    result = (scores >= threshold)[positive]
    jobs, job = np.unique(table["job"].to_numpy()[positive], return_inverse=True)
    months, month = np.unique(table["month"].to_numpy()[positive], return_inverse=True)
    truth = np.array([result[job == place].mean() for place in range(jobs.size)])
    print(
        f"\nbank marketing: {positive.sum():,} positives of {positive.size:,} rows, {jobs.size} jobs, recall by job "
        f"{truth.min():.2f} to {truth.max():.2f}; {labellings} labellings of rows drawn again"
    )
    rng = np.random.default_rng(SEED + 2)
    by_job, by_month = rng.uniform(0.1, 0.6, jobs.size), np.exp(rng.normal(0, 0.7, months.size))
    kinds = {
        "rates by job": by_job[job],
        "rates by job and month": np.clip(by_job[job] * by_month[month], 0.02, 0.95),
    }
    for name, rates in kinds.items():
        pooled = (rates * result).sum() / rates.sum()
        print(f"  {name}: recall of all rows {result.mean():.3f}, of labelled rows together {pooled:.3f}")
        _bank_coverage(rng, rates, result, job, truth, labellings)


def _bank_coverage(
    rng: np.random.Generator,
    rates: np.ndarray,
    result: np.ndarray,
    job: np.ndarray,
    truth: np.ndarray,
    labellings: int,
) -> None:
    one, other = np.triu_indices(truth.size, 1)
    held, plain, largest, sizes = 0, 0, 0, []
    for _ in range(labellings):
        rows = rng.integers(0, result.size, result.size)
        labelled = rows[rng.random(rows.size) < rates[rows]]
        many = np.bincount(job[labelled], minlength=truth.size).astype(float)
        hits = np.bincount(job[labelled], weights=result[labelled], minlength=truth.size)
        kept = many >= 5
        first, second = (places[kept[one] & kept[other]] for places in (one, other))
        index = np.cumsum(kept) - 1
        counted = CountedRates(hits[kept], many[kept])
        critical = LargestOf.pairs(counted.errors).quantile(0.95)
        gap = truth[first] - truth[second]
        low, high = difference_ends(counted, index[first], index[second], critical)
        held += _holds(low, high, gap)
        plain += _holds(*difference_ends(counted, index[first], index[second], normal_quantile(0.95)), gap)
        most = np.ptp(truth[kept])
        largest += max(0.0, low.max(), (-high).max()) <= most <= max(high.max(), (-low).max())
        sizes.append(many.min())
    print(
        f"    all pairs at once {held / labellings:.3f}, without correction {plain / labellings:.3f}, "
        f"largest gap {largest / labellings:.3f}; smallest group {np.median(sizes):.0f} labelled rows"
    )


def fairlearn() -> None:
    """Every row labelled: recall, share flagged, false positive rate and gaps by group beside fairlearn's."""
    try:
        from fairlearn.metrics import (
            MetricFrame,
            equal_opportunity_difference,
            false_positive_rate,
            selection_rate,
            true_positive_rate,
        )
    except ImportError:
        print("\nfairlearn is not installed: pip install fairlearn to compare")
        return
    import pandas

    import pulens

    rng = np.random.default_rng(SEED + 3)
    worst = 0.0
    for groups in (2, 5, 20):
        group = rng.integers(0, groups, 5000)
        truth = rng.random(5000) < rng.uniform(0.2, 0.6, groups)[group]
        score = rng.normal(1.5 * truth)
        predicted = score >= 0.8
        measures = {
            "recall": true_positive_rate,
            "predicted_positive_rate": selection_rate,
            "false_positive_rate": false_positive_rate,
        }
        frame = MetricFrame(metrics=measures, y_true=truth, y_pred=predicted, sensitive_features=group)
        table = pandas.DataFrame({"score": score, "label": np.where(truth, 1, -1), "group": group})
        result = pulens.evaluate_by(table, "group", threshold=0.8, negative=-1, labelling="random")
        for metric in measures:
            gaps = result.gaps(metric)
            for each in gaps.groups:
                worst = max(worst, abs(each.estimate.value - frame.by_group[metric][each.name]))
            worst = max(worst, abs(gaps.largest.value - frame.difference(method="between_groups")[metric]))
        other = equal_opportunity_difference(truth, predicted, sensitive_features=group)
        worst = max(worst, abs(result.gaps("recall").largest.value - other))
    print(
        f"\nfairlearn MetricFrame and equal_opportunity_difference, 2, 5 and 20 groups: largest difference {worst:.2g}"
    )


if __name__ == "__main__":
    main()
