"""Every kind of page that pulens writes, small and seeded: for tests of what all pages owe a reader."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars
from pulens.benchmark import leaderboard

import pulens
from pulens.cli import main
from pulens.comparison import compare
from pulens.counts.tally import Tally
from pulens.evaluation.decide import decide
from pulens.research.benchmark.leaderboard import judged
from pulens.research.benchmark.leaderboard.page import leaderboard_page
from synthetic_archive import LEARNERS, make


def sampled(n, share=0.2, apart=2.0, labelled=0.4, seed=0):
    """Labels, probabilities and the truth behind them."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    scores = np.round(1 / (1 + np.exp(-rng.normal(apart * positive - 1))), 5)
    return (positive & (rng.random(n) < labelled)).astype(int), scores, positive


def evaluations(folder):
    labels, scores, _ = sampled(1500)
    result = pulens.evaluate(labels, scores, class_prior=(0.15, 0.25), redraws=100, labelling="random")
    result.to_html(folder / "evaluation.html", top=[200, 50], scores_are="probability")
    pulens.evaluate(labels, scores, redraws=100, labelling="random").to_html(folder / "evaluation-estimated.html")


def groups(folder):
    rng = np.random.default_rng(0)
    site = rng.choice(["north", "south", "east", "a site with a rather long name of its own"], 4000)
    positive = rng.random(4000) < np.where(site == "north", 0.15, 0.3)
    labels = (positive & (rng.random(4000) < 0.4)).astype(int)
    apart = np.where(site == "south", 0.8, 1.8)
    table = polars.DataFrame({"score": rng.normal(apart * positive).round(3), "label": labels, "site": site})
    given = {"class_prior": 0.26, "threshold": 1.0}
    pulens.evaluate_by(table, "site", **given, redraws=100, labelling="random").to_html(folder / "segments.html")
    pulens.gaps_by(table, "site", threshold=1.0, redraws=100, labelling="random").to_html(folder / "gaps.html")
    priors = {"north": 0.15, "south": 0.3, "east": 0.3, "a site with a rather long name of its own": 0.3}
    within = pulens.evaluate(
        table, labelled_within="site", class_prior=priors, threshold=1.0, redraws=100, labelling="random"
    )
    within.to_html(folder / "evaluation-cells.html")


def comparisons(folder):
    rng = np.random.default_rng(0)
    positive = rng.random(1200) < 0.25
    labels = (positive & (rng.random(1200) < 0.5)).astype(int)
    models = {"gradient boosting": rng.normal(1.2 * positive), "logistic": rng.normal(1.8 * positive + 0.4)}
    result = compare(
        labels, models, class_prior=(0.05, 0.4), scenario="case-control", threshold=1.0, redraws=100, labelling="random"
    )
    result.to_html(folder / "comparison.html")


def calibrations(folder):
    labels, scores, _ = sampled(1500, share=0.3)
    rare, low, _ = sampled(6000, share=0.01, labelled=0.5, seed=3)
    for name, label, score, prior in (("", labels, scores, 0.3), ("-rare", rare, np.round(low**3, 6), 0.01)):
        with (folder / f"s{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["label", "score"])
            writer.writerows(zip(label.tolist(), score.tolist(), strict=True))
        out = str(folder / f"calibration{name}.html")
        common = ["--class-prior", str(prior), "--scenario", "single-set", "--quiet", "--fit", "beta"]
        main(["calibrate", str(folder / f"s{name}.csv"), *common, "--html", out])


def audits(folder):
    rng = np.random.default_rng(2)
    truth = rng.random(2000) < 0.15
    scores = rng.normal(1.7 * truth)
    labels = (truth & (rng.random(2000) < np.where(scores > 1.7, 0.6, 0.15))).astype(int)
    pulens.plan_audit(labels, scores, threshold=1.5, budget=200).write(folder / "queue.csv")
    with (folder / "queue.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "queue.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "answer": int(truth[int(row["row"])])} for row in rows)
    result = pulens.read_audit(folder / "queue.csv")
    result.to_html(folder / "audit.html")
    pulens.evaluate(labels, scores, reviews=result, redraws=100, labelling="random").to_html(
        folder / "evaluation-audit.html"
    )


def decisions(folder):
    labels, scores, _ = sampled(900)
    result = decide(
        labels, scores, class_prior=0.2, cost_miss=500, cost_alarm=20, capacity=400, redraws=100, labelling="random"
    )
    result.to_html(folder / "decision.html")


def watches(folder):
    rng = np.random.default_rng(1)

    def window(moved=0.0, n=400):
        positive = rng.random(n) < 0.2
        scores = np.round(rng.normal(positive * 1.466 + moved), 3)
        return Tally.from_arrays((positive & (rng.random(n) < 0.3)).astype(int), scores)

    reference = {f"r{day:02d}": window() for day in range(30)}
    days = {f"2026-03-{day + 1:02d}": window(1.2 * (day > 8)) for day in range(13)}
    pulens.watch(reference, days, class_prior=0.2, threshold=0.8, labels_lag=4).to_html(folder / "watch.html")


def boards(folder):
    conditions = (("S1", 0.05), ("S1", 0.1), ("S2", 0.1))
    learners = [name for name in LEARNERS if name in ("nnpu", "dist_pu", "lagam", "pn")]
    made = {"learners": learners, "datasets": ("spambase", "connect4", "mnist")}
    archive = make(folder / "archive", **made, conditions=conditions, seeds=(2,), rows=100, epochs=3)
    board = leaderboard.board(archive)
    fared = judged.judge_within(archive, board.condition, 2, redraws=20)
    (folder / "leaderboard.html").write_text(leaderboard_page(archive, board, fared), encoding="utf-8")


def notebooks(folder):
    """What a notebook shows of each answer, in a part of a page that scrolls by itself, as notebooks have it."""
    labels, scores, _ = sampled(600)
    shown = {
        "evaluation": pulens.evaluate(labels, scores, class_prior=(0.15, 0.25), redraws=100, labelling="random"),
        "comparison": compare(
            labels, {"one": scores, "two": scores**2 + 0.01 * labels}, class_prior=0.2, redraws=100, labelling="random"
        ),
    }
    for name, answer in shown.items():
        page = f"<!doctype html><meta charset=utf-8><div style='overflow-x:auto'>{answer._repr_html_()}</div>"
        (folder / f"notebook-{name}.html").write_text(page, encoding="utf-8")


KINDS = (evaluations, groups, comparisons, calibrations, audits, decisions, watches, boards, notebooks)


def write_every_page(folder: Path) -> list[Path]:
    """All pages, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        kind(folder)
    return sorted(folder.glob("*.html"))
