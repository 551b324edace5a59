"""Learners, and ``fit``: tiny tables in odd containers, few steps, odd settings."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pulens
from pulens import learners
from python_calls import worlds
from python_calls.call import PythonCall
from python_calls.containers import clothed
from python_calls.libraries import library
from python_calls.values import for_option, odd

NETWORK = {"epochs": 2, "batch_size": 32}
QUICK: dict[str, dict[str, Any]] = {
    "elkan_noto": {},
    "weighted_elkan_noto": {},
    "naive": {},
    "pu_bagging": {"n_estimators": 3},
    "puet": {"n_estimators": 3, "max_depth": 4},
    "kernel_pusb": {"centres": 9, "folds": 2},
    "boosted_pu": {"n_estimators": 2, "iterations": 3, "random_trees": 3, "centres": 9},
    "nnpu": NETWORK,
    "upu": NETWORK,
    "pusb": NETWORK,
    "pan": NETWORK,
    "mpe_pu": {**NETWORK, "warm_up_epochs": 1},
    "self_pu": NETWORK,
    "vpu": {**NETWORK, "steps_per_epoch": 2},
    "lbe": {"epochs": 2, "steps_per_epoch": 2, "pretraining_steps": 3},
    "dist_pu": {**NETWORK, "warm_up_epochs": 1},
    "pulda": {**NETWORK, "warm_up_epochs": 1},
}
# what makes a learner slow, or a large one: no huge number is meant here
AMOUNTS = ("epochs", "steps", "estimators", "iterations", "trees", "centres", "folds", "n_jobs", "depth", "candidates")
NO_AMOUNT: tuple[Any, ...] = (None, "x", "", -1, 0, 0.5, float("nan"), True, [], [2], {}, "2", object(), b"2")
USUAL: dict[str, tuple[Any, ...]] = {
    "class_prior": (None, 0.3, 0.6),
    "rescue": ("auto", "none"),
    "random_state": (0, 7, None),
    "scenario": ("single-set", "case-control"),
    "positive": (None, 1),
    "standardise": (True, False),
    "cut": (None,),
}


def _tables() -> dict[str, Callable[[Any], Any]]:
    return {
        "array": lambda X: X,
        "Fortran": np.asfortranarray,
        "lists": lambda X: X.tolist(),
        "read-only": _read_only,
        "objects": lambda X: X.astype(object),
        "frame": lambda X: library("pandas").DataFrame(X, columns=[f"f{place}" for place in range(X.shape[1])]),
        "polars": lambda X: library("polars").DataFrame({f"f{place}": part for place, part in enumerate(X.T)}),
        "pyarrow": lambda X: library("pyarrow").table({f"f{place}": part for place, part in enumerate(X.T)}),
        "tensor": lambda X: library("torch").tensor(X),
    }


def _read_only(values: Any) -> Any:
    kept = values.copy()
    kept.flags.writeable = False
    return kept


def _put(X: Any, value: Any) -> Any:
    spoilt = X.copy()
    spoilt[::5, 0] = value
    return spoilt


ODD_TABLES: dict[str, Callable[[Any, random.Random], Any]] = {
    "with nan": lambda X, chance: _put(X, np.nan),
    "with inf": lambda X, chance: _put(X, np.inf),
    "huge": lambda X, chance: X * 1e308,
    "tiny": lambda X, chance: X * 1e-300,
    "constant": lambda X, chance: np.ones_like(X),
    "no columns": lambda X, chance: X[:, :0],
    "no rows": lambda X, chance: X[:0],
    "too short": lambda X, chance: X[:-1],
    "one dimension": lambda X, chance: X[:, 0],
    "three dimensions": lambda X, chance: X[:, :, None],
    "texts": lambda X, chance: X.astype(str),
    "words": lambda X, chance: np.full(X.shape, "a", dtype=object),
    "complex": lambda X, chance: X.astype(complex),
    "booleans": lambda X, chance: X > 0,
    "half": lambda X, chance: X.astype(np.float16),
    "masked": lambda X, chance: np.ma.array(X, mask=X > 1),
    "dates": lambda X, chance: np.abs(X).astype("datetime64[s]"),
    "objects with None": lambda X, chance: _put(X.astype(object), None),
    "ragged": lambda X, chance: [row[: 1 + place % 2] for place, row in enumerate(X.tolist())],
    "sparse": lambda X, chance: library("scipy.sparse").csr_matrix(X),
    "category": lambda X, chance: library("pandas").DataFrame({"a": X[:, 0]}).astype("category"),
    "gradient": lambda X, chance: library("torch").tensor(X, requires_grad=True),
    "bfloat16": lambda X, chance: library("torch").tensor(X).to(library("torch").bfloat16),
    "other thing": lambda X, chance: odd(chance),
}


def _features(chance: random.Random, X: Any, share_of_odd: float) -> tuple[str, Any, bool]:
    while True:
        strange = chance.random() < share_of_odd
        name = chance.choice(tuple(ODD_TABLES if strange else _tables()))
        try:
            with np.errstate(all="ignore"):
                return name, ODD_TABLES[name](X, chance) if strange else _tables()[name](X), not strange
        except Exception:  # this container cannot hold these values, or its library is missing
            continue


def _setting(chance: random.Random, name: str, share_of_odd: float) -> Any:
    if name in USUAL and chance.random() >= share_of_odd:
        return chance.choice(USUAL[name])
    if any(part in name for part in AMOUNTS) or name in ("size", "hidden", "latent", "pool_size"):
        return chance.choice(NO_AMOUNT)
    return for_option(chance, name, share_of_odd)


def _world(chance: random.Random) -> tuple[Any, Any]:
    world = worlds.draw(chance, sizes=(25, 40, 60), ordinary=True)
    rng = np.random.default_rng(chance.getrandbits(32))
    return np.stack([world.scores, world.weights, rng.normal(size=world.labels.size)], axis=1), world.labels


def learner(chance: random.Random, folder: Path) -> PythonCall:
    """Fit a learner and ask for the chances of the same rows."""
    name = chance.choice(tuple(QUICK))
    kind = learners.find(name)
    X, labels = _world(chance)
    odd_rows, odd_settings = chance.choice(((0.0, 0.0), (0.0, 0.0), (0.5, 0.0), (0.0, 0.8), (0.2, 0.3)))
    shape, rows, faithful = _features(chance, X, odd_rows)
    y = clothed(chance, labels, odd_rows / 2)
    settings = {"class_prior": 0.5, "random_state": 0, **QUICK[name]}
    known = [each for each in inspect.signature(kind).parameters if each not in ("n_jobs", "device", "progress")]
    for each in chance.sample(known, chance.choice((0, 1, 2))):
        if odd_settings or each in USUAL:
            settings[each] = _setting(chance, each, odd_settings)
    settings = {each: value for each, value in settings.items() if each in known}

    def fitted(features: Any, given: Any) -> dict[str, Any]:
        made = kind(**settings).fit(features, given)
        chances = np.asarray(made.predict_proba(features))
        assert chances.shape == (labels.size, 2), f"chances of the shape {chances.shape}"
        assert ((chances >= 0) & (chances <= 1)).all(), "chances that are no shares"
        assert np.shape(made.predict(features)) == (labels.size,)
        repr(made)
        return {"chances": chances[:, 1].tolist()}

    same = faithful and y.faithful and settings.get("random_state") is not None
    twin = functools.partial(fitted, X, labels) if same else None
    words = ", ".join([shape, y.name, *(f"{each}={str(value)[:60]!r}" for each, value in settings.items())])
    return PythonCall("learner", fitted, (rows, y.rows), {}, f"{name}({words})", twin, follow=0)


def fit(chance: random.Random, folder: Path) -> PythonCall:
    """From rows to a judged model, in two folds."""
    name = chance.choice(("elkan_noto", "naive", "pu_bagging", "puet", "nnpu"))
    method: Any = learners.find(name)(**QUICK[name]) if chance.random() < 0.9 else odd(chance)
    X, labels = _world(chance)
    odd_rows, odd_options = chance.choice(((0.0, 0.0), (0.4, 0.0), (0.0, 0.5)))
    shape, rows, faithful = _features(chance, X, odd_rows)
    y = clothed(chance, labels, odd_rows / 2)
    options: dict[str, Any] = {"method": method, "class_prior": 0.5, "folds": 2, "redraws": 100}
    if odd_options:
        names = [each for each in inspect.signature(pulens.fit).parameters if each not in ("table", "labels", "tell")]
        for each in chance.sample(names, 2):
            options[each] = _setting(chance, each, odd_options)
    words = ", ".join([shape, y.name, name, *(f"{each}={str(value)[:60]!r}" for each, value in options.items())])
    twin = None
    if faithful and y.faithful and not odd_options and shape in ("array", "Fortran", "lists", "read-only"):
        twin = functools.partial(pulens.fit, X, labels, **options)  # tables have names of their own for columns
    return PythonCall("fit", pulens.fit, (rows, y.rows), options, f"fit({words})", twin, follow=1)
