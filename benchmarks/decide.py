"""Do decisions keep their word? Coverage in worlds with a known truth.

How often intervals of the first rows of a list, of the cost at the chosen threshold and of a whole decision curve hold
the truth, and how often a promised recall or precision is not kept; the first rows of every query, with 15 to 100
queries. coverage.py has more worlds, peers/decide.py other tools.

Usage: python benchmarks/decide.py [--sets 100] [--only top,early,cost,floors,curve,queries,crossing]
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import brentq

import pulens
from pulens import metrics
from pulens.testing import RankingWorld

SEED = 20_261_116
WORLDS = {
    "gaussian .85": RankingWorld("gaussian", 0.85, 0.1, 100, 1500),
    "gaussian .85, one sample": RankingWorld("gaussian", 0.85, 0.1, 80, 1520, "single-set"),
    "beta .9": RankingWorld("beta", 0.9, 0.2, 60, 1000),
    "skewed .75, one sample": RankingWorld("skewed", 0.75, 0.3, 150, 1350, "single-set"),
    "unequal .8": RankingWorld("unequal", 0.8, 0.05, 200, 4000),
    "gaussian .95, 30 labels": RankingWorld("gaussian", 0.95, 0.15, 30, 800),
}
MISS, ALARM = 500.0, 20.0
ALL_KNOWN = {"negative": -1, "scenario": "single-set"}


def rates(world: RankingWorld, threshold: float) -> tuple[float, float]:
    """True recall and flagged share at a threshold."""
    if not np.isfinite(threshold):
        return 0.0, 0.0
    result = world.values_at(threshold)
    recall, precision = result["recall"], result["precision"]
    return recall, world.class_prior * recall / precision if precision > 0 else 0.0


def top(sets: int) -> None:
    for name, world in WORLDS.items():
        rows = world.unlabelled if world.scenario == "case-control" else world.labelled + world.unlabelled
        line = []
        for k in (0.01, 0.05, 100):
            share = np.ceil(k * rows) / rows if k < 1 else k / rows
            cut = brentq(lambda t, world=world, share=share: rates(world, t)[1] - share, *_reach(world))
            recall = rates(world, cut)[0]
            truths = {"recall_at_k": recall, "precision_at_k": world.class_prior * recall / share}
            held = dict.fromkeys(truths, 0)
            rng = np.random.default_rng([SEED, 1])
            for _ in range(sets):
                labels, scores = world.draw(rng)
                given = {"class_prior": world.class_prior, "scenario": world.scenario, "confidence": 0.95, "k": k}
                for metric, truth in truths.items():
                    held[metric] += truth in getattr(metrics, metric)(labels, scores, **given).interval
            line.append(f"k={k:g}: {'/'.join(f'{100 * count / sets:.1f}' for count in held.values())}")
        print(f"  {name:<26} recall/precision held, % of {sets}: {'  '.join(line)}", flush=True)


def early(sets: int) -> None:
    """Rank weights: the truth is an integral over the scores of positives of what their ranks weigh on average."""
    from scipy.stats import binom

    for name, world in WORLDS.items():
        rows = world.unlabelled if world.scenario == "case-control" else world.labelled + world.unlabelled
        levels = (np.arange(1000) + 0.5) / 1000  # of recall: positives, the highest first
        cuts = [
            brentq(lambda t, world=world, level=level: rates(world, t)[0] - level, *_reach(world)) for level in levels
        ]
        flagged = np.array([rates(world, cut)[1] for cut in cuts])
        ranks = np.arange(1, 101)
        gains = (binom.pmf(ranks - 1, rows - 1, flagged[:, None]) / np.log2(ranks + 1)).sum(axis=1).mean()
        early_weight = np.exp(-20 * flagged).mean() * 20 / -np.expm1(-20.0)
        truths = {"rie": (early_weight, {}), "dcg_at_k": (world.class_prior * rows * gains, {"k": 100})}
        held = dict.fromkeys(truths, 0)
        rng = np.random.default_rng([SEED, 5])
        for _ in range(sets):
            labels, scores = world.draw(rng)
            given = {"class_prior": world.class_prior, "scenario": world.scenario, "confidence": 0.95}
            for metric, (truth, parameters) in truths.items():
                held[metric] += truth in getattr(metrics, metric)(labels, scores, **given, **parameters).interval
        said = ", ".join(f"{metric} {100 * count / sets:.1f}%" for metric, count in held.items())
        print(f"  {name:<26} held: {said}", flush=True)


def _reach(world: RankingWorld) -> tuple[float, float]:
    low, high = world.draw(np.random.default_rng(0))[1].min() - 1, world.draw(np.random.default_rng(0))[1].max() + 6
    return (1e-9, 1 - 1e-9) if world.family == "beta" else (max(low, 1e-9) if world.family == "skewed" else low, high)


def cost(sets: int) -> None:
    for name, world in WORLDS.items():
        held = 0
        optimism, over = [], []
        rng = np.random.default_rng([SEED, 2])
        for seed in range(sets):
            labels, scores = world.draw(rng)
            decision = pulens.decide(
                labels, scores, class_prior=world.class_prior, scenario=world.scenario, cost_miss=MISS,
                cost_alarm=ALARM, redraws=400, seed=seed, labelling="random",
            )  # fmt: skip
            recall, flagged = rates(world, decision.threshold)
            prior = world.class_prior
            truth = 1000 * (MISS * prior + ALARM * flagged - (MISS + ALARM) * prior * recall)
            held += truth in decision.cost.interval
            optimism.append(decision.optimism)
            over.append(truth - decision.cost.value)
        print(
            f"  {name:<26} cost held {100 * held / sets:.1f}%; optimism said "
            f"{np.mean(optimism):.0f}, was {np.mean(over):.0f} per 1,000 rows",
            flush=True,
        )


def floors(sets: int) -> None:
    for name, world in WORLDS.items():
        rng = np.random.default_rng([SEED, 3])
        below = {"recall": 0, "precision": 0}
        result = {"recall": 0, "precision": 0}
        floor = {"recall": 0.8, "precision": min(0.8 * world.values["precision"], 0.8)}
        for _ in range(sets):
            labels, scores = world.draw(rng)
            given = {"class_prior": world.class_prior, "scenario": world.scenario, "redraws": 100}
            for which, least in floor.items():
                decision = pulens.decide(labels, scores, **given, **{f"{which}_at_least": least})
                if decision.threshold is not None and np.isfinite(decision.threshold):
                    result[which] += 1
                    below[which] += world.values_at(decision.threshold)[which] < least
        said = [f"{which} {100 * below[which] / max(result[which], 1):.1f}% of {result[which]}" for which in floor]
        print(f"  {name:<26} promise not kept: {', '.join(said)}", flush=True)


def curve(sets: int) -> None:
    for name, world in WORLDS.items():
        rng = np.random.default_rng([SEED, 4])
        held = pointwise = 0
        low, high = _reach(world)
        spread = np.sort(world.draw(rng)[1])
        grid = np.quantile(spread, [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98])
        ratios = np.linspace(0.3, 3.0, grid.size) * world.class_prior
        ratios = np.minimum(ratios, 0.9)
        odds = ratios / (1 - ratios)
        truth = np.array([rates(world, at) for at in grid])
        benefits = (1 + odds) * world.class_prior * truth[:, 0] - odds * truth[:, 1]
        for _ in range(sets):
            labels, scores = world.draw(rng)
            # scores moved to where each ratio is the threshold: a band depends on their order only
            moved = np.interp(scores, [low - 9, *grid, high + 9], [0.0, *ratios, 1.0])
            evaluation = pulens.evaluate(
                labels, moved, class_prior=world.class_prior, scenario=world.scenario, threshold=0.5, labelling="random"
            )
            result = evaluation.decision_curve(ratios=ratios, scores_are="probability")
            inside = (result.low <= benefits) & (benefits <= result.high)
            held += inside.all()
            pointwise += inside.mean()
        print(
            f"  {name:<26} whole curve held {100 * held / sets:.1f}%, each point {100 * pointwise / sets:.1f}%",
            flush=True,
        )


def draw_queries(
    rng: np.random.Generator, queries: int, *, varying: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores, queries and classes: 60 rows a query, 0 to 10 of them positive, 30% of these labelled."""
    rows = np.arange(60)
    positive = rows < rng.integers(0, 11, queries)[:, None]
    own = 0.5 * rng.normal(size=(queries, 1))  # some queries are harder than others
    scores = rng.normal((1.5 + own) * positive).round(1)
    rate = rng.beta(2, 2 / 0.3 - 2, (queries, 1)) if varying else np.full((queries, 1), 0.3)
    labelled = positive & (rng.random(positive.shape) < rate)
    return labelled.ravel().astype(int), scores.ravel(), np.repeat(np.arange(queries), 60), positive.ravel()


def queries(sets: int) -> None:
    """Recall of a positive and of a query, precision and DCG of the first ten rows of every query."""
    k, names = 10, ("recall_at_k", "recall_at_k_macro", "precision_at_k", "dcg_at_k")
    for many in (15, 30, 100):
        for varying in (False, True):
            rng = np.random.default_rng([SEED, 6, many, varying])
            labels, scores, ids, positive = draw_queries(rng, 20_000, varying=varying)
            known = np.where(positive, 1, -1)
            whole = pulens.evaluate(known, scores, per=ids, confidence=None, **ALL_KNOWN, labelling="random").top(
                k, per="query"
            )
            truths = {name: whole[name].value for name in names}
            kept = np.isin(ids, ids[labels == 1])  # the mean over queries is one of those with labelled rows
            told = pulens.evaluate(
                known[kept], scores[kept], per=ids[kept], confidence=None, **ALL_KNOWN, labelling="random"
            )
            truths["recall_at_k_macro"] = told.top(k, per="query")["recall_at_k_macro"].value
            held, made = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
            for _ in range(sets):
                labels, scores, ids, _ = draw_queries(rng, many, varying=varying)
                result = pulens.evaluate(
                    labels, scores, per=ids, class_prior=5 / 60, threshold=1.0, labelling="random"
                ).top(k, per="query")
                for name, truth in truths.items():
                    interval = result[name].interval
                    made[name] += interval is not None
                    held[name] += interval is not None and truth in interval
            said = ", ".join(f"{name} {100 * held[name] / made[name]:.1f}%" for name in names)
            rates = "labelling rates that vary" if varying else "one labelling rate"
            print(f"  {many:>3} queries, {rates:<25} held: {said}", flush=True)


def crossing(sets: int) -> None:
    """Two models at their thresholds in one sample: Fieller's interval with and without what both parts share."""
    from scipy.stats import multivariate_normal, norm

    from pulens.decisions.crossings import fieller

    together = multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]])

    def only_one(mean: float, cuts: tuple[float, float]) -> np.ndarray:
        """Chances that the second model alone flags a row, and that the first alone does."""
        both = together.cdf([mean - cut for cut in cuts])
        return np.array([norm.sf(cuts[1] - mean) - both, norm.sf(cuts[0] - mean) - both])

    rng = np.random.default_rng([SEED, 7])
    for prior, frequency, rows, cuts in (
        (0.2, 0.4, 2000, (1.6, 0.6)),
        (0.1, 0.3, 3000, (1.5, 0.8)),
        (0.3, 0.5, 800, (1.4, 0.5)),
    ):
        high, low = only_one(1.5, cuts), only_one(0.0, cuts)
        labelled = prior * frequency * np.r_[high, 1 - high.sum()]
        others = prior * (1 - frequency) * high + (1 - prior) * low
        gap, flagged = high[0] - high[1], prior * (high[0] - high[1]) + (1 - prior) * (low[0] - low[1])
        for odds in (0.15, 0.25):
            truth = odds * flagged / ((1 + odds) * gap)
            held, placed = np.zeros(2), 0
            for counts in rng.multinomial(rows, np.r_[labelled, others, 1 - labelled.sum() - others.sum()], sets):
                known = counts[:3].sum()
                recall = (counts[0] - counts[1]) / known
                share = (counts[0] + counts[3] - counts[1] - counts[4]) / rows
                spread = (counts[0] + counts[1]) / known - recall**2
                whole = (counts[:2].sum() + counts[3:5].sum()) / rows - share**2
                parts = (1 + odds) * recall, odds * share, (1 + odds) ** 2 * spread / known, odds**2 * whole / rows
                result = [fieller(*parts, 1.96, shared) for shared in (odds * (1 + odds) * spread / rows, 0.0)]
                if result[0] is not None and result[1] is not None:
                    placed += 1
                    held += [each[0] <= truth <= each[1] for each in result if each is not None]
            told = " and ".join(f"{100 * each / placed:.1f}%" for each in held)
            print(f"  class prior {prior}, odds {odds}: held {told} of {placed} that place it", flush=True)


PARTS = {
    "top": top,
    "early": early,
    "cost": cost,
    "floors": floors,
    "curve": curve,
    "queries": queries,
    "crossing": crossing,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between them")
    given = parser.parse_args()
    for name in given.only.split(","):
        print(name)
        PARTS[name](given.sets)


if __name__ == "__main__":
    main()
