"""Protocols of benchmarks that are mutated, planned and never run."""

from __future__ import annotations

import json
import random
from pathlib import Path

import yaml

from hostile.call import Call
from hostile.damage import NUMBERS, STRANGE, VALUES, some, spoilt_bytes, spoilt_tree

BASE = {
    "name": "mine",
    "title": "A protocol of mine",
    "methods": ["nnpu", "vpu", "elkan_noto"],
    "datasets": ["digits"],
    "rows": 100,
    "seeds": [1, 2],
    "scenario": "case-control",
    "conditions": [
        {"mechanisms": ["S1"], "label_frequencies": [0.2, 0.5]},
        {"mechanisms": ["S3"], "label_frequencies": [0.5], "parameters": {"offset": 1.5}},
    ],
    "class_prior": "known",
    "validation_share": 0.25,
    "test_share": 0.2,
    "precision": "float32",
    "precisions": {"digits": "tf32"},
    "backbones": {"digits": "mlp"},
    "tally_bins": 64,
    "settings": {"nnpu": {"all": {"epochs": 3, "batch_size": 64}}, "elkan_noto": {"table": {}}},
}
ODD = [*VALUES, "S2", "all", "digits", "full", "nope.py", "mine.py", 2**63, [1] * 2000, list(range(5000)), "*a", "1e-2"]
RATE = {
    "method": "nnpu", "dataset": "digits", "kind": "table", "device": "cpu", "seconds": 1.5, "memory": 1e6, "runs": 3,
    "stack": 1.0, "rows": 1797, "settings": {"batch_size": 64, "epochs": 3},
}  # fmt: skip
METHODS = [
    "class Mine: pass", "import sys; sys.exit(7)", "raise RuntimeError('no')", "def", "", "x = 1 / 0", "\x00",
    "é" * 999,
    "from dataclasses import dataclass\n@dataclass\nclass Mine:\n    epochs: int = 3\n    def fit(self, X, y): ...\n",
]  # fmt: skip


def make(chance: random.Random, folder: Path) -> Call:
    tree = dict(BASE) if chance.random() < 0.8 else {"extends": "smoke", "name": "mine", "seeds": [3]}
    tree = spoilt_tree(chance, tree, values=ODD, times=chance.choice([0, 1, 1, 1, 1, 2]))
    text = yaml.safe_dump(tree, allow_unicode=True)
    if chance.random() < 0.1:
        text += chance.choice(
            ["\n&a [*a]", "\nx: !!python/object:os.system {}", "\n- a", "\n? [a]\n: b", "\n\t", "\n..."]
        )
    (folder / "mine.yaml").write_bytes(spoilt_bytes(chance, text.encode("utf-8", "surrogatepass")))
    (folder / "mine.py").write_text(chance.choice(METHODS))
    rates = {"source": "me", "rates": [RATE]}
    (folder / "rates.json").write_text(json.dumps(spoilt_tree(chance, rates, times=chance.choice([0, 1]))))
    options = [
        ["--methods", chance.choice(["nnpu", "mine.py", "all", "nope", "nope.py", ",", *STRANGE])],
        ["--datasets", chance.choice(["digits", "nope", "mnist", ",", *STRANGE])],
        ["--seeds", chance.choice([*NUMBERS, "1,2", "9" * 30])], ["--precision", chance.choice(["tf32", "nope"])],
        ["--rates", "rates.json"], ["--list"], ["--standardise"], ["--archive", chance.choice(["nope", "mine.yaml"])],
        ["--run-methods"],
    ]  # fmt: skip
    source = chance.choice([*["mine.yaml"] * 200, "smoke", "smok", "", ".", "nope.yaml", "x" * 5000])
    return Call("bench plan", ["bench", "plan", source, *some(chance, options)])
