"""Learners: trained on mutated tables with quick settings, and scoring from tampered folders."""

from __future__ import annotations

import io
import json
import random
import shutil
import zipfile
from pathlib import Path

import numpy as np

from hostile.call import Call
from hostile.damage import NUMBERS, STRANGE, some, spoilt_bytes, spoilt_tree
from hostile.originals import originals
from hostile.rows import measured, mixed
from hostile.tables import ENDINGS, write, write_spoilt

QUICK = {
    "boosted_pu": ["--set", "n_estimators=2", "--set", "iterations=3", "--set", "random_trees=3", "--set", "centres=9"],
    "puet": ["--set", "n_estimators=3", "--set", "max_depth=4"],
    "kernel_pusb": ["--set", "centres=10"],
    "elkan_noto": [],
    "weighted_elkan_noto": [],
    "naive": [],
    "pu_bagging": ["--set", "n_estimators=3"],
}


def train(chance: random.Random, folder: Path) -> Call:
    """Learn without a network, from a table that may be anything."""
    table = measured(chance, [0, 1, 5, 40, 80, 80])
    path = write(table, folder / f"a.{chance.choice(ENDINGS)}") if chance.random() < 0.5 else None
    path = path or write_spoilt(chance, table, folder)
    method = chance.choice(list(QUICK))
    words = ["train", path.name, "--method", method, *QUICK[method]]
    words += ["--drop", "class"] if chance.random() < 0.95 else []
    words += ["--out", chance.choice([*["model"] * 40, ".", "", path.name, "a/b", "\x00"])]
    if chance.random() < 0.5:
        words += ["--class-prior", chance.choice([*["0.5"] * 30, *NUMBERS, "auto", "0.3:0.4"])]
    options = [
        ["--feature", chance.choice(["height", "age", "label", "nope"])], ["--label", chance.choice(["class", "nope"])],
        ["--positive", chance.choice(["1", "0", "nope"])], ["--seed", chance.choice([*NUMBERS, str(2**40)])],
        ["--scenario", "case-control"], ["--no-standardise"], ["--backbone", "nope"], ["--device", "nope"],
        ["--set", f"{chance.choice(['n_estimators', 'max_depth', 'hold_out', 'centres', 'class_prior'])}="
                  f"{chance.choice([*NUMBERS, *STRANGE])}"],
        ["--set", chance.choice(["nope=1", "x", "="])], ["--method", chance.choice(["nope", "oracle", ""])],
    ]  # fmt: skip
    return Call("train", [*words, *some(chance, options, 0.04)], frozenset({"model", "a"}))


def fit(chance: random.Random, folder: Path) -> Call:
    """From a table of columns of every kind to a judged model, without a network."""
    table = mixed(chance, [0, 1, 8, *[50, 80] * 6])
    path = write(table, folder / f"a.{chance.choice(ENDINGS)}") if chance.random() < 0.5 else None
    path = path or write_spoilt(chance, table, folder)
    method = chance.choice(["boosted_pu", "elkan_noto", "puet"])
    words = ["fit", path.name, "--method", method, *QUICK[method], "--folds", "2", "--redraws", "100"]
    words += ["--drop", "class"] if chance.random() < 0.95 else []
    words += ["--class-prior", chance.choice([*["0.5", "0.45:0.7"] * 30, "auto", *NUMBERS])]
    makes = {"--json": "out.json", "--html": "out.html", "--scores": f"out.{chance.choice(ENDINGS)}", "--out": "model"}
    asked = [option for option in makes if chance.random() < 0.5] or ["--json"]
    words += [word for option in asked for word in (option, makes[option])]
    options = [
        ["--id", chance.choice(["name", "nope", "label"])], ["--cluster", chance.choice(["visit", "name", "age"])],
        ["--feature", chance.choice(["job", "age", "label"])], ["--positive", chance.choice(["1", "0", "nope"])],
        ["--category", chance.choice(["age", "nope"])], ["--missing", chance.choice([*STRANGE, "clerk", "2"])],
        ["--date", chance.choice(["day=%Y-%m-%d", "day=%d.%m.%Y", "job=%Y", "day", "day=%Q", "nope=%Y"])],
        ["--folds", chance.choice(["3", "3", *NUMBERS])], ["--seed", chance.choice([*NUMBERS, str(2**40)])],
        ["--audit", chance.choice(["3/20", "0/9", "30/20", "a/b"])], ["--threshold", chance.choice(NUMBERS)],
        ["--scenario", "case-control"], ["--column", chance.choice(["age", "", "fold", "chance"])],
        ["--scores", path.name], ["--out", path.name],
    ]  # fmt: skip
    changes = frozenset({makes[option] for option in asked} | {"model"})
    return Call("fit", [*words, *some(chance, options, 0.02)], changes)


def score(chance: random.Random, folder: Path) -> Call:
    """Score with a learner whose folder somebody changed."""
    kinds = sorted((originals() / "learners").iterdir())
    kind = chance.choice(kinds)
    model = Path(shutil.copytree(kind, folder / "model"))
    for _ in range(chance.choice([0, 1, 1, 1, 2])):
        _tamper(chance, model, kinds)
    rows = mixed if (kind.name in ("columns", "filled")) == (chance.random() < 0.95) else measured
    table = rows(chance, [1, 5, 40])
    path = write(table, folder / "a.csv") if chance.random() < 0.8 else write_spoilt(chance, table, folder)
    out = f"out.{chance.choice(ENDINGS)}"
    words = ["score", "model", path.name, "--out", out]
    options = [
        ["--label", chance.choice(["label", "class", "nope"])], ["--positive", "1"], ["--format", "csv"],
        ["--id", chance.choice(["name", "age", "nope"])], ["--all-columns"], ["--threshold", chance.choice(NUMBERS)],
        ["--column", chance.choice(["age", "chance", ""])],
    ]  # fmt: skip
    return Call("score", [*words, *some(chance, options)], frozenset({out}))


def _tamper(chance: random.Random, model: Path, kinds: list[Path]) -> None:
    files = sorted(entry for entry in model.iterdir() if entry.is_file())
    if not files:
        return
    file = chance.choice(files)
    way = chance.randrange(10)
    if way == 0:
        file.unlink()
    elif way == 1:
        other = chance.choice(sorted(chance.choice(kinds).iterdir()))
        file.write_bytes(other.read_bytes())
    elif way == 2:
        file.write_bytes(spoilt_bytes(chance, file.read_bytes(), share=1))
    elif file.suffix == ".json":
        facts = _parsed(file.read_bytes())
        file.write_text(json.dumps(spoilt_tree(chance, facts, times=chance.choice([1, 1, 1, 3]))))
    elif file.suffix == ".npz":
        _tamper_arrays(chance, file)
    elif file.suffix == ".skops":
        _tamper_pack(chance, file)
    else:
        _tamper_tensors(chance, file)


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:  # spoilt before
        return {}


def _tamper_arrays(chance: random.Random, file: Path) -> None:
    """One array replaced by another of the same name: other numbers, another shape, another type."""
    try:
        with np.load(file) as stored:
            arrays = {name: np.asarray(values) for name, values in stored.items()}  # spoilt, they may come as bytes
    except Exception:  # spoilt before, in one of many ways
        return
    name = chance.choice(sorted(arrays))
    old = arrays[name]
    ways = [
        lambda: np.full_like(old, chance.choice([0, 1, 10**9]), dtype=np.int64), lambda: old.ravel()[:-1],
        lambda: np.full(old.shape, chance.choice([np.nan, np.inf, -1.0, 1e308])), lambda: old[..., None],
        lambda: np.array(["a"] * max(old.size, 1)), lambda: np.zeros((0, 3)), lambda: old[::-1].copy(),
        lambda: np.concatenate([old.ravel(), old.ravel()]), lambda: old.astype(complex), lambda: -old,
    ]  # fmt: skip
    try:
        arrays[name] = chance.choice(ways)()
    except (ValueError, TypeError, IndexError):
        del arrays[name]
    np.savez(file, **arrays)


def _tamper_pack(chance: random.Random, file: Path) -> None:
    """The schema of a skops file with one value changed, or one of its members spoilt."""
    try:
        with zipfile.ZipFile(file) as pack:
            members = {name: pack.read(name) for name in pack.namelist()}
    except (OSError, zipfile.BadZipFile):
        return
    name = "schema.json" if chance.random() < 0.7 else chance.choice(sorted(members))
    if name.endswith(".json") and name in members:
        members[name] = json.dumps(spoilt_tree(chance, _parsed(members[name]))).encode()
    else:
        name = chance.choice(sorted(members))
        members[name] = spoilt_bytes(chance, members[name], share=1)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as pack:
        for name, inner in members.items():
            pack.writestr(name, inner)
    file.write_bytes(packed.getvalue())


def _tamper_tensors(chance: random.Random, file: Path) -> None:
    """The head of a safetensors file with one value changed, its length put right or left wrong."""
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    try:
        head = json.loads(content[8 : 8 + length])
    except ValueError:
        return
    changed = json.dumps(spoilt_tree(chance, head)).encode()
    size = len(changed) if chance.random() < 0.8 else chance.choice([0, length, 2**63, 10**9])
    file.write_bytes(size.to_bytes(8, "little") + changed + content[8 + length :])
