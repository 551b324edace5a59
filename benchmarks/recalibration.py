"""Recalibration from PU data alone on three real data sets, judged with all labels; coverage of PU-ECE's interval.

Models learn from labelled against unlabelled rows; a known class prior turns that into probabilities, which are then
deliberately spoilt by a temperature. Maps are fitted to fresh PU samples, and the true calibration error before and
after is measured on other rows, whose labels nothing else sees. The interval of PU-ECE is compared with the true error
in the same bins over the whole pool the samples are drawn from.

Run: PULENS_MIRROR=folder-of-data python benchmarks/recalibration.py [--draws 20]
     python benchmarks/recalibration.py --worlds    (likelihood against risk, in worlds with known truth)
The folder must hold mnist.npz, connect4.npz and bank_marketing.parquet (the last needs pyarrow).
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pulens.calibration import expected_calibration_error, optimal_bins, recalibrate
from pulens.calibration._risk import Points
from pulens.calibration.recalibrators import RECALIBRATORS
from pulens.evidence import gather

SIZES = ((200, 2_000), (1_000, 10_000))
TEMPERATURES = (1 / 3, 1.0, 3.0)
TRUTH_BINS = 15
METHODS = (*RECALIBRATORS, "auto")


def load(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Features and classes of three data sets."""
    with np.load(folder / "mnist.npz") as result:
        images = np.concatenate([result["X_train"], result["X_test"]]).reshape(-1, 28, 28).astype(np.float32)
        digits = np.concatenate([result["y_train"], result["y_test"]])
    yield "mnist (5-9)", images.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196), digits >= 5
    with np.load(folder / "connect4.npz") as result:
        board, outcome, names = result["X"], result["y"], [str(name) for name in result["classes"]]
    yield "connect4 (win)", np.eye(3, dtype=np.float32)[board].reshape(len(board), -1), outcome == names.index("win")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(folder / "bank_marketing.parquet")
    columns = []
    for name in table.column_names:
        values = table.column(name).to_pylist()
        if name == "y":
            answer = np.array([value in ("yes", True, 1) for value in values])
        elif isinstance(values[0], str):
            levels = sorted(set(values))
            columns.append(np.eye(len(levels), dtype=np.float32)[[levels.index(value) for value in values]])
        else:
            columns.append(np.asarray(values, np.float32)[:, None])
    yield "bank (subscribed)", np.hstack(columns), answer


def models(seed: int) -> dict[str, object]:
    return {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300)),
        "boosting": HistGradientBoostingClassifier(max_iter=80, random_state=seed),
        "network": make_pipeline(StandardScaler(), MLPClassifier((64,), max_iter=8, alpha=1e-3, random_state=seed)),
    }


def true_error(scores: np.ndarray, positive: np.ndarray, edges: np.ndarray) -> float:
    """The calibration error with every label known, in given bins."""
    place = np.searchsorted(edges[1:-1], scores, side="left")
    gap = np.bincount(place, positive - scores, minlength=edges.size - 1)
    return float(np.abs(gap).sum() / scores.size)


def mass_edges(scores: np.ndarray, bins: int) -> np.ndarray:
    ordered = np.sort(scores)
    return np.concatenate([[0.0], ordered[(ordered.size * np.arange(1, bins)) // bins - 1], [1.0]])


def study(folder: Path, draws: int) -> None:
    rng = np.random.default_rng(0)
    rows: list[tuple[str, str, float, tuple[int, int], str, float, float]] = []
    covered: dict[tuple[str, tuple[int, int]], list[bool]] = {}
    for name, X, positive in load(folder):
        order = rng.permutation(positive.size)
        train, pool, test = np.split(order, [positive.size // 3, 2 * positive.size // 3])
        prior = float(positive[pool].mean())
        labelled = rng.choice(train[positive[train]], min(2_000, int(positive[train].sum()) // 2), replace=False)
        unlabelled = rng.choice(np.setdiff1d(train, labelled), 12_000, replace=False)
        X_train = X[np.concatenate([labelled, unlabelled])]
        y_train = np.repeat([1, 0], [labelled.size, unlabelled.size])
        for kind, model in models(0).items():
            model.fit(X_train, y_train)
            raw = np.clip(model.predict_proba(X)[:, 1].astype(float), 1e-9, 1 - 1e-9)
            odds = raw / (1 - raw) * unlabelled.size / labelled.size
            honest = logit(np.clip(prior * odds, 1e-6, 1 - 1e-3))  # P(positive) = prior * density ratio
            for temperature in TEMPERATURES:
                scores = expit(honest / temperature)
                before = true_error(scores[test], positive[test], mass_edges(scores[test], TRUTH_BINS))
                for size in SIZES:
                    after: dict[str, list[float]] = {method: [] for method in METHODS}
                    for _ in range(draws):
                        few = rng.choice(pool[positive[pool]], size[0])
                        many = rng.choice(pool, size[1])
                        labels = np.repeat([1, 0], size)
                        evidence = gather(
                            labels, scores[np.concatenate([few, many])], class_prior=prior, scenario="case-control"
                        )
                        bins = optimal_bins(prior, *size)
                        result = expected_calibration_error(
                            evidence.tally,
                            class_prior=prior,
                            bins=bins,
                            redraws=1,
                            scenario="case-control",
                            labelling="random",
                        )
                        edges = mass_edges(scores[many], bins)
                        truth = true_error(scores[pool], positive[pool], edges)
                        covered.setdefault((name, size), []).append(
                            result.interval.low <= truth <= result.interval.high
                        )
                        points = Points.of(evidence)
                        for method in METHODS:
                            if method == "auto":
                                fitted = recalibrate(
                                    evidence.tally,
                                    class_prior=prior,
                                    redraws=1,
                                    scenario="case-control",
                                    labelling="random",
                                ).map
                            else:
                                fitted = RECALIBRATORS[method].fit(points, "probability")
                            mapped = fitted(scores[test])
                            edges = mass_edges(mapped, TRUTH_BINS)
                            after[method].append(true_error(mapped, positive[test], edges))
                    rows += [
                        (name, kind, temperature, size, method, before, value)
                        for method, values in after.items()
                        for value in values
                    ]
                print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    report(rows, covered, draws)


def report(rows: list, covered: dict, draws: int) -> None:
    print(f"true calibration error ({TRUTH_BINS} bins of equal mass, all labels), mean over {draws} PU samples each\n")
    print(f"{'data':<19}{'model':<21}{'T':>5}{'before':>8}   after with 1,000 labelled, 10,000 unlabelled")
    print(f"{'':<53}   " + "".join(f"{method:>13}" for method in METHODS))
    for name, kind, temperature in dict.fromkeys((row[0], row[1], row[2]) for row in rows):
        chosen = [row for row in rows if row[:3] == (name, kind, temperature) and row[3] == SIZES[-1]]
        means = [np.mean([row[6] for row in chosen if row[4] == method]) for method in METHODS]
        print(f"{name:<19}{kind:<21}{temperature:>5.2f}{chosen[0][5]:>8.4f}   " + "".join(f"{m:>13.4f}" for m in means))
    print(f"\n{'labelled, unlabelled':<22}{'models':<26}{'method':<13}{'mean before':>12}{'mean after':>12}"
          f"{'mean fall':>11}{'worst rise':>12}")  # fmt: skip
    for size in SIZES:
        for title, spoilt in (("spoilt by temperature", True), ("as trained", False)):
            for method in METHODS:
                chosen = [r for r in rows if r[3] == size and r[4] == method and (r[2] != 1) == spoilt]
                before, after = np.array([row[5] for row in chosen]), np.array([row[6] for row in chosen])
                print(
                    f"{size[0]:>8,} {size[1]:>10,}   {title:<26}{method:<13}{before.mean():>12.4f}{after.mean():>12.4f}"
                    f"{np.mean(1 - after / before):>11.0%}{(after - before).max():>+12.4f}"
                )
    print("\ncoverage of PU-ECE's 95% interval for the true error in the same bins")
    for (name, size), hits in covered.items():
        print(f"{name:<19}{size[0]:>8,} {size[1]:>8,}{np.mean(hits):>9.1%} of {len(hits):,}")
    every = [hit for hits in covered.values() for hit in hits]
    print(f"{'all':<36}{np.mean(every):>9.1%} of {len(every):,}")


def worlds(draws: int) -> None:
    """Platt scaling by the likelihood of the labels against the PU risk with the logistic loss."""
    from scipy.optimize import minimize

    from pulens.testing import LogitMixture, logistic_world

    rng = np.random.default_rng(0)
    print(f"true calibration error of Platt scaling, mean of {draws} samples (no bins)")
    print(f"{'world':<26}{'labelled':>9}{'unlabelled':>11}{'before':>9}{'PU risk':>9}{'likelihood':>12}")
    for intercept, slope, prior in ((-0.5, 1.5, 0.5), (-1.6, 3.0, 0.3), (0.0, 1.0, 0.05)):
        world = logistic_world(intercept, slope, prior)
        for size in SIZES:
            left: dict[str, list[float]] = {"risk": [], "likelihood": []}
            for _ in range(draws):
                few, many, _ = world.draw(*size, rng)
                evidence = gather(
                    np.repeat([1, 0], size), np.concatenate([few, many]), class_prior=prior, scenario="case-control"
                )
                a, b = logit(few), logit(many)

                def risk(theta: np.ndarray, a: np.ndarray = a, b: np.ndarray = b, prior: float = prior) -> float:
                    share = np.logaddexp(0, theta[0] + theta[1] * b).mean()
                    return float(share - prior * (theta[0] + theta[1] * a).mean())

                lowest = minimize(risk, [0.0, 1.0], method="BFGS").x
                likely = RECALIBRATORS["platt"].fit(Points.of(evidence), "probability").logit
                for name, (start, steep) in (("risk", lowest), ("likelihood", likely)):
                    moved = [
                        [(weight, start + steep * mean, abs(steep) * deviation) for weight, mean, deviation in parts]
                        for parts in (world.positive, world.negative)
                    ]
                    left[name].append(LogitMixture(prior, *moved).true_calibration_error())
            before = world.true_calibration_error()
            means = [np.mean(values) for values in left.values()]
            print(f"{f'({intercept}, {slope}), prior {prior}':<26}{size[0]:>9,}{size[1]:>11,}{before:>9.4f}"
                  f"{means[0]:>9.4f}{means[1]:>12.4f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--worlds", action="store_true")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)  # a network that stops early is meant to
    if given.worlds:
        worlds(given.draws)
        return
    folder = os.environ.get("PULENS_MIRROR")
    if not folder:
        sys.exit("set PULENS_MIRROR to the folder that holds mnist.npz, connect4.npz and bank_marketing.parquet")
    study(Path(folder), given.draws)


if __name__ == "__main__":
    main()
