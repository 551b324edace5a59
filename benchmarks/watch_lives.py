"""Whole lives of a watch: how soon a step of the share is found, when amber comes, how often quiet lives alarm.

Five parts. ``surge``: 120 days of some 187 rows, positives at 9.3% and at 16.2% in the last 20 days, a score with ROC
AUC .81. ``steps``: the share times 1.25, 1.5, 1.74, 2 at windows of 100, 187, 1,000 rows (or weeks of such days) after
10, 30, 100 reference windows. ``quiet``: 365 windows without change, of independent rows, with day-to-day noise as
large as the rows' own and an autocorrelation of one half, with a weekly pattern. ``real``: windows drawn from the
scores of real tables (bank marketing, letter, species' sites of disdat), which do not change either. ``level``: the
running total of quiet windows of known noise, for 1,500 windows. Lives are taken in turn, so that a run that ends early
has as many of each kind as it could.

    python benchmarks/watch_lives.py --workers 2 --seconds 60 --out lives.json --data ../shared/data --lives 20
"""

from __future__ import annotations

import argparse
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
from pulens.watching.evidence_lines import RunningEvidence
from pulens.watching.noise import NoiseLevels

GRID = 400
BASE, AUC = 0.093, 0.81
QUIET_WINDOWS = 365
NEVER = 10**6
NOISES = ("default", "independent")
Counts = tuple[np.ndarray, np.ndarray]
Histograms = tuple[np.ndarray, np.ndarray, np.ndarray, float, str]  # scores, positives, others, share, scenario


@cache
def binormal(auc: float) -> Histograms:
    """Scores with the shares of positives and of negatives at each."""
    far = float(np.sqrt(2) * stats.norm.ppf(auc))
    scores = np.linspace(-4, far + 4, GRID)
    positive, negative = stats.norm.pdf(scores, far), stats.norm.pdf(scores)
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
    world: Histograms, days: list[Counts], reference: int, by: int, start: int, noises: tuple[str, ...] = NOISES
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
        amber = np.flatnonzero(run.near) if hasattr(run, "near") else np.zeros(0, int)
        certain = {alarm.line: places[alarm.certain] for alarm in pulse.alarms}
        found[noise] = told({"certain": certain, "amber": [int(place) for place in amber]}, start)
    return found


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
    return lived(world, days, reference, by, -(-100 // by) - reference)


def steps(life: int, times: float, rows: int, reference: int, by: int) -> dict[str, Any]:
    rng, world = np.random.default_rng([2, life, rows, reference, by]), binormal(AUC)
    shares = [BASE] * by * (reference + 10) + [times * BASE] * by * 20
    days = [drawn(rng, world, rows, share) for share in shares]
    return lived(world, days, reference, by, 10)


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
    return lived(world, days, reference, 1, QUIET_WINDOWS, ("default",))


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
    rng, world = np.random.default_rng([4, life, reference]), worlds[life % len(worlds)]
    labelled = 0.3 if world[4] == "single-set" else 150 / reference
    days = [drawn(rng, world, 187, world[3], labelled) for _ in range(reference + QUIET_WINDOWS)]
    return lived(world, days, reference, 1, QUIET_WINDOWS, ("default",))


def level(life: int, windows: int, reference: int) -> dict[str, Any]:
    """The running total of a level alone, of windows whose noise is known: how sharp a bar of one over alpha is."""
    rng = np.random.default_rng([6, life])
    values = rng.normal(size=windows) - rng.normal() / np.sqrt(reference)
    known = NoiseLevels(np.zeros(1), np.zeros(1), np.zeros(1), 1.0)
    evidence, totals = RunningEvidence(known, windows=windows, coordinates=1), np.empty(windows)
    evidence.add_reference(np.zeros(1), 1 / reference)
    for place, value in enumerate(values):
        evidence.add(np.array([value]), 1.0)
        totals[place] = evidence.starts().log_total
    first = np.flatnonzero(totals >= np.log(10))
    certain = {"share": int(first[0])} if first.size else {}
    return {f"bar 10 by {end}": told({"certain": certain, "amber": []}, end) for end in (QUIET_WINDOWS, windows)}


def kinds(data: str | None) -> Iterator[tuple[Any, ...]]:
    """Every kind of life, by name of its function and its settings."""
    for reference, by in ((60, 1), (100, 1), (9, 7), (14, 7)):
        yield "surge", reference, by
    for kind in ("independent", "autocorrelation .5", "weekly"):
        for reference in (30, 100):
            yield "quiet", kind, 187, reference
    yield "quiet", "independent", 1000, 30
    yield "quiet", "independent", 187, 10
    yield "level", 1500, 30
    if data:
        for table in ("bank", "letter", "species"):
            yield "real", table, 30, data
    for rows in (187, 100, 1000):
        for reference in (30, 10, 100):
            for times in (1.74, 1.25, 1.5, 2.0):
                for by in (1, 7):
                    if by == 1 or reference < 100:
                        yield "steps", times, rows, reference, by


def one(task: tuple[int, tuple[Any, ...]]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    life, kind = task
    try:
        return kind, {"surge": surge, "steps": steps, "quiet": quiet, "real": real, "level": level}[kind[0]](
            life, *kind[1:]
        )
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
        "amber or red within 20": float(np.mean(np.minimum(red, amber) <= 20)),
        "amber before red": float(np.mean([each["amber first"] for each in found if each["red"] < NEVER] or [np.nan])),
        "windows amber while quiet": float(np.mean([each["amber while quiet"] for each in found])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--data", help="a folder with bank_marketing.parquet, letter.npz, disdat_can_nz_awt_sa.npz")
    parser.add_argument("--lives", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first life's number: others have other seeds")
    parser.add_argument("--parts", nargs="*", default=["surge", "quiet", "real", "steps", "level"])
    given = parser.parse_args()
    begin, found = time.monotonic(), dict[str, list[dict[str, Any]]]()
    if given.data:  # once, before there are several processes
        for table in ("bank", "letter", "species"):
            real_worlds(table, given.data)
    chosen = [kind for kind in kinds(given.data) if kind[0] in given.parts]
    tasks = ((life, kind) for life in range(given.first, given.first + given.lives) for kind in chosen)
    with get_context("fork").Pool(given.workers) as pool:
        for kind, by_noise in pool.imap_unordered(one, tasks):
            for noise, each in by_noise.items():
                found.setdefault(" | ".join(map(str, (*kind, noise))), []).append(each)
            if time.monotonic() - begin > given.seconds:
                pool.terminate()
                break
    told_all = {name: summary(each) for name, each in sorted(found.items()) if not name.endswith("refused")}
    told_all |= {name: {"lives": len(each)} for name, each in sorted(found.items()) if name.endswith("refused")}
    if given.out:
        given.out.write_text(json.dumps({"seconds": time.monotonic() - begin, "found": told_all}, indent=1))
    for name, each in told_all.items():
        print(name, " ".join(f"{key} {value:.3g}" for key, value in each.items()), file=sys.stdout)


if __name__ == "__main__":
    main()
