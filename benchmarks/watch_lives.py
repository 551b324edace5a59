"""Whole lives of a watch: how soon a step of the share is found, when amber comes, how often quiet lives alarm.

Six parts. ``surge``: 120 days of some 187 rows, positives at 9.3% and at 16.2% in the last 20 days, a score with ROC
AUC .81. ``steps``: the share times 1.25, 1.5, 1.74, 2 at windows of 100, 187, 1,000 rows (or weeks of such days) after
10, 30, 100 reference windows. ``quiet``: 365 windows without change, of independent rows, with day-to-day noise as
large as the rows' own and an autocorrelation of one half, with a weekly pattern. ``real``: windows drawn from the
scores of real tables (bank marketing, letter, species' sites of disdat), which do not change either. ``falls``: the
surge upside down, to four tenths. ``oracle``: the surge seen by a rule that knows the size of the step, the level
before it and that there is no noise, its bar set so that 5% of quiet lives of 365 windows reach it. Beside the watch:
``--noise independent``, and NannyML and Evidently where they can be imported (``--peers``; at most ``--peer-lives`` of
each kind, days only). Lives are taken in turn, so that a run that ends early has as many of each kind as it could.

    python benchmarks/watch_lives.py --workers 16 --seconds 200 --out FOLDER --data ../shared/data
    python benchmarks/watch_lives.py --peers --parts surge --peer-lives 50 --lives 50

FOLDER then holds lives.csv, a line for each kind of life and each way, and lives.json, the same with the settings.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import pulens
from pulens.counts.tally import Tally
from pulens.watching.evidence_lines import start_weights
from pulens.watching.weights import weights

GRID = 400
BASE, AUC = 0.093, 0.81
QUIET_WINDOWS = 365
NEVER = 10**6
NOISES = ("default", "independent")
PEERS: dict[str, Any] = {}  # by name, those that can be imported and were asked for
PEER_LIVES = 0
ALPHA = 0.05
Counts = tuple[np.ndarray, np.ndarray]
Histograms = tuple[np.ndarray, np.ndarray, np.ndarray, float, str]  # scores, positives, others, share, scenario


@cache
def binormal(auc: float) -> Histograms:
    """Scores, calibrated probabilities at the usual share, with the shares of positives and of negatives at each."""
    far = float(np.sqrt(2) * stats.norm.ppf(auc))
    places = np.linspace(-4, far + 4, GRID)
    positive, negative = stats.norm.pdf(places, far), stats.norm.pdf(places)
    scores = BASE * positive / (BASE * positive + (1 - BASE) * negative)
    return scores, positive / positive.sum(), negative / negative.sum(), BASE, "single-set"


def drawn(rng: np.random.Generator, world: Histograms, rows: int, share: float, labelled: float = 0.345) -> Counts:
    """Labelled and other rows of one day at each score."""
    _, positive, negative, _, scenario = world
    if scenario == "case-control":  # records are a sample of their own
        return rng.multinomial(rng.poisson(labelled), positive), rng.multinomial(rows, negative)
    positives = rng.binomial(rows, min(max(share, 0.0), 1.0))
    own = rng.multinomial(positives, positive)
    named = rng.binomial(own, labelled)
    return named, rng.multinomial(rows - positives, negative) + own - named


def tally(world: Histograms, days: list[Counts]) -> Tally:
    named, others = (np.sum([day[kind] for day in days], axis=0) for kind in (0, 1))
    seen = named + others > 0
    return Tally.from_increments(world[0][seen], named[seen], others[seen])


def lived(
    life: int,
    world: Histograms,
    days: list[Counts],
    reference: int,
    by: int,
    start: int,
    noises: tuple[str, ...] = NOISES,
) -> dict[str, Any]:
    """Watches of these days in windows of so many, the first of which are the reference; a change at ``start``."""
    parts = [tally(world, days[place : place + by]) for place in range(0, len(days) - by + 1, by)]
    names = [str(date(2026, 1, 5) + timedelta(by * place)) for place in range(len(parts))]
    places = {name: place - reference for place, name in enumerate(names)}
    pairs, found = list(zip(names, parts, strict=True)), {}
    for noise in noises:
        given = {"class_prior": world[3], "noise": noise, "scenario": world[4]}
        pulse = pulens.watch(dict(pairs[:reference]), dict(pairs[reference:]), **given)
        run = pulse.life.judgement.runs["share"]
        amber = np.flatnonzero(run.near)
        certain = {alarm.line: places[alarm.certain] for alarm in pulse.alarms}
        found[noise] = told({"certain": certain, "amber": [int(place) for place in amber]}, start)
    if by == 1 and life < PEER_LIVES:
        frames = [frame(world, day) for day in days]
        for name, peer in PEERS.items():
            places_of = np.flatnonzero(np.array(peer(frames[:reference], frames[reference:])[1], bool))
            late = places_of[places_of >= start]
            certain = {"share": int(late[0])} if late.size else {}
            found[name] = told({"certain": certain, "amber": []}, start) | {"false": bool((places_of < start).any())}
    return found


def frame(world: Histograms, day: Counts) -> Any:
    """The rows of a day as other monitors want them."""
    import pandas

    scores = np.concatenate([np.repeat(world[0], each) for each in day])
    label = np.repeat([1, 0], [each.sum() for each in day])
    # rows in the order of their arrival: neither by score nor by label
    order = np.random.default_rng(scores.size).permutation(scores.size)
    columns = {"score": np.round(scores, 5), "label": label, "flagged": (scores >= 2 * BASE) * 1}
    return pandas.DataFrame(columns).iloc[order].reset_index(drop=True)


def told(found: dict[str, Any], start: int) -> dict[str, Any]:
    """How a change that begins with a window was seen: windows until amber and until red, and whether before it."""
    red = found["certain"].get("share", NEVER)
    amber = [place for place in found["amber"] if place >= start]
    first = min(amber, default=NEVER)
    return {
        "false": min(found["certain"].values(), default=NEVER) < start,
        "red": red - start + 1 if red < NEVER else NEVER,
        "amber": first - start + 1 if first < NEVER else NEVER,
        "amber first": first < red,
        "amber while quiet": len([place for place in found["amber"] if place < start]) / max(start, 1),
    }


def surge(life: int, reference: int, by: int) -> dict[str, Any]:
    rng, world = np.random.default_rng([1, life]), binormal(AUC)
    days = [drawn(rng, world, rng.poisson(187), BASE if day < 100 else 0.162) for day in range(120)]
    return lived(life, world, days, reference, by, -(-100 // by) - reference)


def falls(life: int, reference: int) -> dict[str, Any]:
    rng, world = np.random.default_rng([7, life]), binormal(AUC)
    days = [drawn(rng, world, rng.poisson(187), BASE if day < 100 else 0.4 * BASE) for day in range(120)]
    return lived(life, world, days, reference, 1, 100 - reference)


def steps(life: int, times: float, rows: int, reference: int, by: int) -> dict[str, Any]:
    rng, world = np.random.default_rng([2, life, rows, reference, by]), binormal(AUC)
    shares = [BASE] * (reference + 10) + [times * BASE] * 20
    windows = [drawn(rng, world, by * rows, share) for share in shares]
    none = (np.zeros(GRID, int), np.zeros(GRID, int))
    days = [each for window in windows for each in (window, *[none] * (by - 1))]
    return lived(life, world, days, reference, by, 10)


def autoregressive(rng: np.random.Generator, count: int, alike: float) -> np.ndarray:
    """Noise of variance one, neighbours alike."""
    fresh = rng.normal(size=count) * np.sqrt(1 - alike**2)
    fresh[0] /= np.sqrt(1 - alike**2)
    for place in range(1, count):
        fresh[place] += alike * fresh[place - 1]
    return fresh


def quiet(life: int, kind: str, rows: int, reference: int) -> dict[str, Any]:
    rng, world = np.random.default_rng([3, life, rows, reference]), binormal(AUC)
    count = reference + QUIET_WINDOWS
    alike = {"independent": 0.0, "autocorrelation .5": 1.0, "weekly": 0.0}[kind] * autoregressive(rng, count, 0.5)
    week = np.sqrt(2) * np.sin(2 * np.pi * (np.arange(count) + rng.integers(7)) / 7) * (kind == "weekly")
    own = 0.0595 * np.sqrt(187 / rows) * (1 - BASE)  # standard error of the share in a window of so many rows
    days = [drawn(rng, world, rows, BASE + own * one) for one in alike + week]
    return lived(life, world, days, reference, 1, QUIET_WINDOWS, ("default",))


@cache
def real_worlds(name: str, data: str) -> tuple[Histograms, ...]:
    """Scores of rows that a model has not seen, with their true classes; of disdat one world for each species."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def fitted(x: np.ndarray, y: np.ndarray) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(x, y)

    rng = np.random.default_rng(5)
    if name == "species":
        arrays, worlds = np.load(_file(data, "disdat_can_nz_awt_sa.npz")), []
        for one in sorted(each.removesuffix("-records") for each in arrays.files if each.endswith("-records")):
            place = one.removeprefix("disdat-")[:-2].upper()
            sites = [each for each in arrays.files if each.startswith(place) and each.endswith("-sites")]
            records, survey = arrays[f"{one}-records"], arrays[f"{one}-survey"]
            sites = [each for each in sites if len(arrays[each]) == len(survey)]
            if not sites:
                continue
            half = rng.random(len(records)) < 0.5
            x = np.concatenate([records[half], arrays[f"{place}-background"][:3000]])
            model = fitted(x, np.arange(len(x)) < half.sum())
            of_records, of_sites = (model.predict_proba(each)[:, 1] for each in (records[~half], arrays[sites[0]]))
            world = _histograms(of_records, of_sites, float(survey.mean()), "case-control")
            if _outscores(world, len(of_records)):
                worlds.append(world)
        return tuple(worlds)
    if name == "bank":
        import pandas

        table = pandas.read_parquet(_file(data, "bank_marketing.parquet"))
        y = (table["y"].astype(str) == "yes").to_numpy()
        x = pandas.get_dummies(table.drop(columns=["y", "duration"])).to_numpy(float)
        share = float(y.mean())
    else:
        arrays = np.load(_file(data, "letter.npz"))
        x, y, share = arrays["X"].astype(float), np.asarray(arrays["y"]) < 3, BASE
    order = rng.permutation(len(y))
    learn, rest = order[: len(y) // 3], order[len(y) // 3 :]
    scores = fitted(x[learn], y[learn]).predict_proba(x[rest])[:, 1]
    return (_histograms(scores[y[rest]], scores[~y[rest]], share, "single-set"),)


def _file(data: str, name: str) -> Path:
    return next(Path(data).rglob(name))


def _histograms(positive: np.ndarray, others: np.ndarray, share: float, scenario: str) -> Histograms:
    scores = np.unique(np.round(np.concatenate([positive, others]), 3))
    counts = [
        np.bincount(np.searchsorted(scores, np.round(each, 3)), minlength=scores.size) for each in (positive, others)
    ]
    return scores, counts[0] / counts[0].sum(), counts[1] / counts[1].sum(), share, scenario


def _outscores(world: Histograms, records: int) -> bool:
    """Whether a watch would accept the reference: records stand clearly above the sites."""
    _, positive, others, _, _ = world
    below = np.cumsum(others) - others / 2
    area = float(positive @ below)
    return area - 0.5 > 6 * float(np.sqrt(positive @ (below - area) ** 2 / records))


def real(life: int, table: str, reference: int, data: str) -> dict[str, Any]:
    worlds = real_worlds(table, data)
    rng, world = np.random.default_rng([4, life, reference, len(table)]), worlds[life % len(worlds)]
    labelled = 0.3 if world[4] == "single-set" else 150 / reference
    days = [drawn(rng, world, 187, world[3], labelled) for _ in range(reference + QUIET_WINDOWS)]
    return lived(life, world, days, reference, 1, QUIET_WINDOWS, ("default",))


@cache
def known_weights() -> tuple[np.ndarray, float, float]:
    """The weight of each score, the step of the surge and the variance of a row's weight, all as they truly are."""
    _, positive, negative, _, _ = binormal(AUC)
    population = BASE * positive + (1 - BASE) * negative
    found = weights(positive, population, 1e6, 1e6)
    return found, (0.162 - BASE) / (1 - BASE), float(population @ found**2)


def oracle_totals(rng: np.random.Generator, shares: list[float]) -> np.ndarray:
    """The likelihood ratio of a step of known size, averaged over its starts, after each window."""
    world = binormal(AUC)
    weight, step, variance = known_weights()
    ratio, found = 0.0, np.empty(len(shares))
    for place, (share, start) in enumerate(zip(shares, start_weights(len(shares)), strict=True)):
        rows = rng.poisson(187)
        value = np.sum(drawn(rng, world, rows, share), axis=0) @ weight / rows
        ratio = (ratio + start) * np.exp(rows * step * (value - step / 2) / variance)
        found[place] = ratio
    return found


@cache
def oracle_bar() -> float:
    quiet_lives = [oracle_totals(np.random.default_rng([8, life]), [BASE] * QUIET_WINDOWS) for life in range(1000)]
    return float(np.quantile([each.max() for each in quiet_lives], 1 - ALPHA))


def oracle(life: int, reference: int) -> dict[str, Any]:
    start = 100 - reference
    totals = oracle_totals(np.random.default_rng([9, life]), [BASE] * start + [0.162] * 20)
    first = np.flatnonzero(totals >= oracle_bar())
    certain = {"share": int(first[0])} if first.size else {}
    return {"knows all": told({"certain": certain, "amber": []}, start)}


def kinds(data: str | None) -> Iterator[tuple[Any, ...]]:
    """Every kind of life, by name of its function and its settings."""
    for reference, by in ((60, 1), (100, 1), (9, 7), (14, 7)):
        yield "surge", reference, by
    yield "falls", 60
    yield "oracle", 60
    for kind in ("independent", "autocorrelation .5", "weekly"):
        for reference in (30, 100):
            yield "quiet", kind, 187, reference
    yield "quiet", "independent", 1000, 30
    yield "quiet", "independent", 187, 10
    if data:
        for table in ("bank", "letter", "species"):
            yield "real", table, 30, data
    for rows in (187, 100, 1000):
        for reference in (30, 10, 100):
            for times in (1.74, 1.25, 1.5, 2.0):
                for by in (1, 7):
                    yield "steps", times, rows, reference, by


PARTS = {part.__name__: part for part in (surge, falls, oracle, steps, quiet, real)}


def one(task: tuple[int, tuple[Any, ...]]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    life, kind = task
    try:
        return kind, PARTS[kind[0]](life, *kind[1:])
    except pulens.PulensError:  # so few labelled rows that no change could be read from them
        return kind, {"refused": {}}


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Delay, share found, false alarms, amber."""
    red, amber = (np.array([each[name] for each in found]) for name in ("red", "amber"))
    seen = np.array([each["red"] < NEVER and not each["false"] for each in found])
    return {
        "lives": len(found),
        "false": float(np.mean([each["false"] for each in found])),
        "median": float(np.median(red)),
        "90%": float(np.quantile(red, 0.9)),
        "within 3": float(np.mean(seen & (red <= 3))),
        "within 10": float(np.mean(seen & (red <= 10))),
        "within 20": float(np.mean(seen & (red <= 20))),
        "within 20, early alarms or not": float(np.mean(red <= 20)),
        "amber or red within 20": float(np.mean(np.minimum(red, amber) <= 20)),
        "amber before red": float(np.mean([each["amber first"] for each in found if each["red"] < NEVER] or [np.nan])),
        "windows amber while quiet": float(np.mean([each["amber while quiet"] for each in found])),
    }


def import_peers() -> None:
    """NannyML and Evidently, those that are there."""
    from watch_peers import WAYS

    PEERS.update({name: way for name, way in WAYS.items() if "pulens" not in name and "true" not in name})
    print("beside:", ", ".join(PEERS) or "nobody, neither NannyML nor Evidently can be imported", file=sys.stderr)


def written(folder: Path, given: argparse.Namespace, seconds: float, found: dict[str, dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    settings = {name: str(value) for name, value in vars(given).items()}
    text = json.dumps({"settings": settings, "seconds": seconds, "found": found}, indent=1)
    (folder / "lives.json").write_text(text)
    columns = list(next(each for each in found.values() if len(each) > 1))
    with (folder / "lives.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["kind", *columns])
        table.writerows([name, *(each.get(column, "") for column in columns)] for name, each in found.items())


def main() -> None:
    global PEER_LIVES
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    parser.add_argument("--data", help="a folder with bank_marketing.parquet, letter.npz, disdat_can_nz_awt_sa.npz")
    parser.add_argument("--lives", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first life's number: others have other seeds")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--only", default="", help="only kinds whose name has this in it, as 'surge | 60'")
    parser.add_argument("--peers", action="store_true", help="NannyML and Evidently beside it, where there are any")
    parser.add_argument("--peer-lives", type=int, default=20)
    given = parser.parse_args()
    begin, found = time.monotonic(), dict[str, list[dict[str, Any]]]()
    if given.peers:
        import_peers()
        PEER_LIVES = given.first + given.peer_lives
    chosen = [kind for kind in kinds(given.data) if kind[0] in given.parts]
    chosen = [kind for kind in chosen if given.only in " | ".join(map(str, kind))]
    for kind in chosen:  # once, before there are several processes
        if kind[0] == "real":
            real_worlds(kind[1], given.data)
        if kind[0] == "oracle":
            oracle_bar()
    tasks = ((life, kind) for life in range(given.first, given.first + given.lives) for kind in chosen)
    with get_context("fork").Pool(given.workers) as pool:
        for kind, by_way in pool.imap_unordered(one, tasks, chunksize=4):
            for way, each in by_way.items():
                found.setdefault(" | ".join(map(str, (*kind, way))).replace(f" | {given.data}", ""), []).append(each)
            if time.monotonic() - begin > given.seconds:
                pool.terminate()
                break
    told_all = {name: summary(each) for name, each in sorted(found.items()) if not name.endswith("refused")}
    told_all |= {name: {"lives": len(each)} for name, each in sorted(found.items()) if name.endswith("refused")}
    if given.out:
        written(given.out, given, time.monotonic() - begin, told_all)
    for name, each in told_all.items():
        print(name, " ".join(f"{key} {value:.3g}" for key, value in each.items()), file=sys.stdout)


if __name__ == "__main__":
    main()
