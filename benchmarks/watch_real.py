"""Do the numbers of watched windows hold on real scores? Tables with known classes, their label shift made by drawing.

A model (logistic regression or boosted trees) learns from a third of a table. Of the others half are the reference, cut
into ten windows, a share of whose positives is labelled at random; windows of several shares of positives are drawn
from the rest without putting back. The truth is the window's own: precision, recall, F1, accuracy of its very rows.
CHOSEN are the tables that were in view while intervals were mended; OTHERS were looked at afterwards.

    python benchmarks/watch_real.py [--tables FOLDER] [--draws 25] [--only spambase ...]
    python benchmarks/watch_real.py --drift 5      # gas sensors and bank marketing, in their own order of time
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import pulens
from pulens.counts.tally import Tally

CHOSEN = ("spambase", "page_blocks")
OTHERS = ("grid_stability", "letter", "connect4", "pendigits", "wine_quality", "landsat")
POSITIVE = {
    "spambase": lambda y: y == 1,
    "page_blocks": lambda y: y > 1,
    "grid_stability": lambda y: y == 1,
    "letter": lambda y: y < 13,
    "connect4": lambda y: y == 1,  # a loss
    "pendigits": lambda y: y % 2 == 0,
    "wine_quality": lambda y: y >= 7,
    "landsat": lambda y: y >= 4,
}
SHARES = (0.1, 0.25, 0.4, 0.6)
NUMBERS = ("prior", "precision", "f1", "accuracy")
MOST_ROWS = 12_000


def folder() -> Path:
    return Path(os.environ.get("PULENS_SHARED", "../shared")) / "data"


def scored(name: str, tables: Path, model: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores and classes of rows that the model has not seen."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    arrays = np.load(tables / f"{name}.npz")
    split = "X" not in arrays
    x = np.concatenate([arrays["X_train"], arrays["X_test"]]) if split else arrays["X"]
    y = np.concatenate([arrays["y_train"], arrays["y_test"]]) if split else arrays["y"]
    order = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    x, y = x[order].astype(float), POSITIVE[name](y[order])
    if name == "connect4":
        x = (x[:, :, None] == np.arange(3)).reshape(len(x), -1).astype(float)
    third = len(y) // 3
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "trees": HistGradientBoostingClassifier(max_iter=60),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = models[model].fit(x[:third], y[:third])
        return np.round(fitted.predict_proba(x[third:])[:, 1], 4), y[third:]


def truth(scores: np.ndarray, y: np.ndarray, threshold: float) -> dict[str, float]:
    """Of these very rows."""
    flagged = scores >= threshold
    hit, share, q = np.mean(flagged & y), np.mean(y), np.mean(flagged)
    return {
        "prior": share,
        "precision": hit / q if q else np.nan,
        "recall": hit / share if share else np.nan,
        "f1": 2 * hit / (share + q) if share + q else np.nan,
        "accuracy": 1 - share - q + 2 * hit,
    }


def tally_of(scores: np.ndarray, y: np.ndarray, rng: np.random.Generator, labelled: float = 0.3) -> Tally:
    return Tally.from_arrays((y & (rng.random(y.size) < labelled)).astype(int), scores)


def draw(
    scores: np.ndarray, y: np.ndarray, rng: np.random.Generator, rows: int
) -> tuple[pulens.Pulse, dict[str, dict[str, float]], dict[str, dict[str, float]], float]:
    """One reference, windows of every share from the other half, and their truths: of their rows, and of the half."""
    order = rng.permutation(y.size)
    half = y.size // 2
    mine, rest = order[:half], order[half:]
    threshold = float(np.quantile(scores[mine], 1 - np.mean(y[mine])))
    parts = np.array_split(mine, 10)
    reference = {f"r{place}": tally_of(scores[part], y[part], rng) for place, part in enumerate(parts)}
    positive, negative = rest[y[rest]], rest[~y[rest]]
    windows, truths, wider = {}, {}, {}
    for share in SHARES:
        many = rng.binomial(rows, share)
        if many > positive.size or rows - many > negative.size:
            continue
        chosen = np.concatenate([rng.choice(positive, many, False), rng.choice(negative, rows - many, False)])
        windows[f"w{share}"] = tally_of(scores[chosen], y[chosen], rng)
        truths[f"w{share}"] = truth(scores[chosen], y[chosen], threshold)
        recall, alarm = np.mean(scores[y] >= threshold), np.mean(scores[~y] >= threshold)
        hit, q = share * recall, share * recall + (1 - share) * alarm
        wider[f"w{share}"] = {
            "prior": share,
            "precision": hit / q,
            "f1": 2 * hit / (share + q),
            "accuracy": 1 - share - q + 2 * hit,
        }
    found = pulens.watch(reference, windows, class_prior=float(np.mean(y[mine])), threshold=threshold)
    return found, truths, wider, threshold


def study(name: str, tables: Path, draws: int, model: str, seed: int = 1) -> None:
    """Coverage over all windows that are quoted as ok."""
    scores, y = scored(name, tables, model)
    held: dict[str, list[bool]] = {}
    ok, all_windows, fits, error, widths = 0, 0, [], [], []
    rows = int(min(600, 0.8 * (y.size // 2) * min(np.mean(y), 1 - np.mean(y)) / max(SHARES)))
    for one in range(draws):
        rng = np.random.default_rng([seed, one])
        found, truths, wider, _ = draw(scores, y, rng, max(rows, 150))
        for window in found.windows.values():
            all_windows += 1
            if window.trust != "ok":
                continue
            ok += 1
            fits.append(window.fit_p < 0.05)
            error.append(abs(window.f1.value - truths[window.name]["f1"]))
            widths.append(window.f1.interval.width)
            for number in NUMBERS:
                estimate = getattr(window, number)
                held.setdefault(number, []).append(truths[window.name][number] in estimate.interval)
                held.setdefault(f"{number}, population", []).append(wider[window.name][number] in estimate.interval)
                held.setdefault(f"{number} {window.name[1:]}", []).append(
                    truths[window.name][number] in estimate.interval
                )
    told = ", ".join(f"{number} {np.mean(held[number]):.3f}" for number in NUMBERS)
    wide = ", ".join(f"{number} {np.mean(held[f'{number}, population']):.3f}" for number in NUMBERS)
    print(
        f"{name}, {model}: {ok} of {all_windows} windows of {max(rows, 150)} rows ok; own truth held: {told}; "
        f"population's: {wide}; F1 errs by {np.mean(error):.3f}, interval {np.mean(widths):.3f} wide; fit rejects "
        f"{np.mean(fits):.3f}"
    )
    by_share = (f"{share} {np.mean(held[f'f1 {share}']):.2f}" for share in SHARES if f"f1 {share}" in held)
    print(f"    F1 by share: {', '.join(by_share)}", flush=True)


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def months(tables: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bank marketing: features, classes, and the number of months since January 2008; its rows are in order of time."""
    import pandas

    table = pandas.read_parquet(tables / "bank_marketing.parquet")
    month = np.array([MONTHS.index(str(one)) for one in table["month"]])
    year = 2008 + np.concatenate([[0], np.cumsum(np.diff(month) < 0)])
    y = (table["y"].astype(str) == "yes").to_numpy()
    # the length of a call is known only after it, and the month is the drift itself
    x = pandas.get_dummies(table.drop(columns=["y", "duration", "month", "day"])).to_numpy(float)
    return x, y, 12 * (year - 2008) + month


def batches(tables: Path, target: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gas sensors: features, one gas against the others, and the batch."""
    arrays = np.load(tables / "gas_drift_8of10.npz")
    return arrays["X"], arrays["y"] == target, arrays["batch"].astype(int)


def drift(
    what: str, x: np.ndarray, y: np.ndarray, when: np.ndarray, last: int, seed: int, model: str, alone: bool
) -> list[tuple[str, str, dict[str, bool]]]:
    """Windows after a reference, by trust, and whether each number holds the window's own truth.

    ``alone`` judges every window as if it were the first: the harder test, since no earlier one has alarmed.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng([9, seed])
    early = np.flatnonzero(when <= last)
    learn = rng.random(early.size) < 0.5
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
        "trees": HistGradientBoostingClassifier(max_iter=60, random_state=seed),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = np.round(models[model].fit(x[early[learn]], y[early[learn]]).predict_proba(x)[:, 1], 6)
    mine = early[~learn]
    threshold = float(np.quantile(scores[mine], 1 - np.mean(y[mine])))
    parts = np.array_split(rng.permutation(mine), 10) if what == "gas" else np.array_split(mine, 12)
    reference = {f"r{place:02d}": tally_of(scores[part], y[part], rng, 0.5) for place, part in enumerate(parts)}
    after = [place for place in np.unique(when) if place > last]
    rows = {f"w{place:03d}": np.flatnonzero(when == place) for place in after}
    windows = {name: tally_of(scores[part], y[part], rng, 0.5) for name, part in rows.items()}
    given = {"class_prior": float(np.mean(y[mine])), "threshold": threshold}
    try:
        lives = [pulens.watch(reference, windows, **given)]
        if alone:
            lives = [pulens.watch(reference, {name: one}, **given) for name, one in windows.items()]
    except pulens.PulensError:
        return []
    told = []
    for window in (one for life in lives for one in life.windows.values()):
        own = truth(scores[rows[window.name]], y[rows[window.name]], threshold)
        estimates = {number: getattr(window, number) for number in NUMBERS}
        held = {
            number: bool(own[number] in one.interval)
            for number, one in estimates.items()
            if one.interval is not None and np.isfinite(own[number])
        }
        told.append((window.name, window.trust, held))
    return told


def drifting(tables: Path, seeds: int) -> None:
    """Gas sensors and bank marketing: whatever is quoted as ok must hold its truth."""
    months_of = months(tables)
    for model in ("logistic", "trees"):
        for alone in (False, True):
            gas = [
                (f"class {target}, seed {seed}", one)
                for target in range(1, 7)
                for seed in range(seeds)
                for one in drift("gas", *batches(tables, target), 2, seed, model, alone)
            ]
            way = "each window alone" if alone else "one after the other"
            summary(f"gas sensors, {model}, {way}", gas)
            bank = [
                (f"seed {seed}", one)
                for seed in range(seeds)
                for one in drift("bank", *months_of, 7, seed, model, alone)
            ]
            summary(f"bank marketing, {model}, {way}", bank)


def summary(name: str, told: list[tuple[str, tuple[str, str, dict[str, bool]]]]) -> None:
    trust = {kind: sum(one[1] == kind for _, one in told) for kind in ("ok", "doubtful", "withheld")}
    held = {number: [one[2][number] for _, one in told if one[1] == "ok" and number in one[2]] for number in NUMBERS}
    shares = ", ".join(f"{number} {np.sum(each)} of {len(each)}" for number, each in held.items())
    greyed = [one[2]["f1"] for _, one in told if one[1] == "doubtful" and "f1" in one[2]]
    print(
        f"{name}: {len(told)} windows, {trust}; held where ok: {shares}; F1 where doubtful: {np.sum(greyed)} of "
        f"{len(greyed)}"
    )
    for where, (window, kind, each) in told:
        if kind == "ok" and not all(each.values()):
            print(f"    {where}, {window}: missed {[number for number, is_held in each.items() if not is_held]}")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=folder())
    parser.add_argument("--draws", type=int, default=25)
    parser.add_argument("--only", nargs="*", default=[*CHOSEN, *OTHERS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drift", type=int, default=0, metavar="SEEDS", help="gas sensors and bank marketing instead")
    given = parser.parse_args()
    if given.drift:
        drifting(given.tables, given.drift)
    for name in [] if given.drift else given.only:
        for model in ("logistic", "trees"):
            study(name, given.tables, given.draws, model, given.seed)
