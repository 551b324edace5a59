"""Rows that might be real: scores of two models, PU labels, weights and sites; or features and classes."""

from __future__ import annotations

import math
import random

from hostile.tables import Table

SIZES = [0, 1, 5, 30, 120, 120, 300, 300, 300]
PRIORS = [
    *["0.3", "0.1:0.4", "0.35:0.45", "0.5"] * 6,
    *["0", "1", "1e-9", "1e-300", "0.5:0.5", "0.4:0.1", "a:b", "auto", "nope", ":", "0.2:0.3:0.4"],
]


def scored(chance: random.Random, sizes: list[int] = SIZES) -> Table:
    """Label, two scores, weight, site, patient, day and case of each row; scores may tie, be tiny, huge or shares."""
    grid = chance.choice([0, 1, 3, 12])
    scale = chance.choice([*[1.0] * 12, 1e-300, 1e300, 1e307])
    as_shares = chance.random() < 0.5
    patients, days = chance.choice([2, 30, 90, 90, 400]), chance.choice([1, 8, 8, 12])
    rows = []
    for place in range(chance.choice(sizes)):
        positive = chance.random() < 0.4
        label = "1" if positive and chance.random() < 0.6 else chance.choice(["0", "0", "0", "-1"])
        scores = [scale * round(chance.gauss(1.5 * positive, 1), grid) for _ in range(2)]
        if as_shares:
            scores = [1 / (1 + math.exp(-max(-30, min(30, score)))) for score in scores]
        weight = chance.choice(["1", "2", "0", "0.5"])
        patient, day = f"p{chance.randrange(patients)}", f"2026-01-{1 + place * days // 300 % days:02d}"
        rows.append([label, repr(scores[0]), repr(scores[1]), weight, chance.choice("abc"), patient, day, f"c{place}"])
    return Table(["label", "score", "other", "weight", "site", "patient", "day", "case"], rows)


def mixed(chance: random.Random, sizes: list[int]) -> Table:
    """Label, class and features of every kind: numbers with gaps, words, dates, truth values, an id."""
    jobs, rows = ["clerk", "nurse", "", "=1+1", "é"], []
    for place in range(chance.choice(sizes)):
        positive = chance.random() < 0.5
        label = str(int(positive and chance.random() < 0.6))
        age = "" if chance.random() < 0.2 else repr(round(chance.gauss(2 * positive, 1), 3))
        job = chance.choice(jobs[: 2 + positive * 3])
        day = f"20{chance.randrange(10, 30)}-0{1 + chance.randrange(9)}-1{chance.randrange(10)}"
        member, visit = chance.choice(["true", "false"]), str(chance.randrange(4))
        rows.append([label, "spam" if positive else "ham", age, job, day, member, visit, f"id{place}"])
    return Table(["label", "class", "age", "job", "day", "member", "visit", "name"], rows)


def measured(chance: random.Random, sizes: list[int]) -> Table:
    """Label, class and three features of each row."""
    rows = []
    for _ in range(chance.choice(sizes)):
        positive = chance.random() < 0.5
        label = str(int(positive and chance.random() < 0.6))
        features = [repr(round(chance.gauss(2 * positive, 1), 6)) for _ in range(3)]
        rows.append([label, "spam" if positive else chance.choice(["ham", "list"]), *features])
    return Table(["label", "class", "height", "weight", "age"], rows)
