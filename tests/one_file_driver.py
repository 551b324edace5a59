"""The one page's scripts, run by node on rows and on files, as its worker runs them."""

from __future__ import annotations

import base64
import json
import math
import shutil
import subprocess

import numpy as np
import pytest

from pulens.report.html import asset
from pulens.report.one_file import SHARED, computing_script
from pulens.report.script_templates import templates_as_script
from pulens.report.slimming import slim_script

REQUESTS = """
const plain = (key, value) => (typeof value === "number" && !Number.isFinite(value) ? null : value);
const requests = {
  rows({ labels, scores, asked }) {
    const kinds = [1, 0, -1].map((kind) => scores.filter((_, i) => labels[i] === kind));
    const evaluation = evaluating.evaluate(tallies.fromScores(kinds), asked);
    const context = evaluating.context(evaluation, "A <b>title</b>", [["pulens"], ["evaluate"], ["my rows.csv"]]);
    const { data, ...rest } = context;
    const filled = { ...rest, styles: "", scripts: [], data: "", version: "1" };
    return { data, answer: context.answer, page: filling.render("evaluation.html.j2", filled) };
  },
  async file({ bytes, name, score, label, positive, negative }) {
    const file = new Blob([Buffer.from(bytes, "base64")]);
    const table = await reading.preview(file, name);
    const place = (column) => table.names.indexOf(column);
    const asked = { score: place(score), label: place(label), positive, negative: negative ?? [] };
    const tally = await columns.count(file, name, table, asked);
    const plain = (values) => Array.from(values);
    return { names: table.names, separator: table.separator, guess: columns.guess(table),
      thresholds: plain(tally.thresholds), labelled: plain(tally.labelled), unlabelled: plain(tally.unlabelled),
      negative: plain(tally.negative) };
  },
  async tally({ bytes, name }) {
    const tally = await tallyFile.read(new Blob([Buffer.from(bytes, "base64")]), name);
    const written = Buffer.from(await tallyFile.write(tally, { source: 'the "page"' }, "1").arrayBuffer());
    const [labelled, negative] = [tally.labelled, tally.negative].map((counts) => Array.from(counts));
    return { labelled, negative, written: written.toString("base64") };
  },
  call({ path, given }) {
    const found = path.split(".").reduce((whole, part) => whole[part], { numbers });
    return given.map((each) => found(...each));
  },
  draws({ seed, key, many, means, chances }) {
    const generator = random.Generator.seeded(seed, key);
    const row = new Float64Array(chances.length);
    return {
      normal: Array.from({ length: many }, () => generator.normal()),
      poisson: means.map((mean) => generator.poisson(mean)),
      multinomial: Array.from({ length: 50 }, (_, k) => [...generator.multinomial(40 * k, chances, row)]),
      uniform: Array.from({ length: 5 }, () => generator.uniform()),
    };
  },
};
"""
LINES = """
(async () => {
  const answers = [];
  for (const each of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
    try {
      answers.push(await requests[each.request](each));
    } catch (error) {
      if (!(error instanceof evidence.Refusal)) throw error;
      answers.push({ refused: error.message });
    }
  }
  console.log(JSON.stringify(answers, plain));
})();
"""


def page_scripts():
    """All that the page computes and fills with, slimmed as it is there."""
    shared, filling = (slim_script("\n".join(map(asset, names))) for names in (SHARED, ["one_file/filling.js"]))
    templates = slim_script(templates_as_script(["evaluation.html.j2"]))
    return "\n".join([shared, computing_script(), templates, filling])


def answers_of(requests):
    """What the page's scripts answer, one for each request."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed; the browser tests run the same scripts")
    script = "\n".join([page_scripts(), REQUESTS, LINES])
    done = subprocess.run(
        [node, "-"],
        input=_with(script, requests),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def _with(script, requests):
    """The script with its requests inside: standard input is the script itself."""
    return script.replace(
        'JSON.parse(require("fs").readFileSync(0, "utf8"))', json.dumps(list(requests), allow_nan=False)
    )


def rows(labels, scores, *, scenario, class_prior=None, audit=None, threshold=None, confidence=0.95):
    prior = [class_prior] if isinstance(class_prior, float) else class_prior and list(class_prior)
    asked = {
        "classPrior": prior,
        "audit": audit,
        "scenario": scenario,
        "threshold": threshold,
        "confidence": confidence,
    }
    return {
        "request": "rows",
        "labels": np.asarray(labels).tolist(),
        "scores": np.asarray(scores, float).tolist(),
        "asked": asked,
    }


def file(content, *, name="t.csv", score="score", label="label", positive=("1",), negative=()):
    data = content.encode() if isinstance(content, str) else content
    return {
        "request": "file",
        "bytes": base64.b64encode(data).decode(),
        "name": name,
        "score": score,
        "label": label,
        "positive": list(positive),
        "negative": list(negative),
    }


def worlds():
    """Rows of many kinds: ties, few rows, known negatives, both scenarios, numbers and ranges, given thresholds."""
    rng = np.random.default_rng(11)
    for number in range(60):
        size = int(rng.integers(12, 50))
        if number == 30:
            size = 2300  # more distinct scores than a page holds, and Poisson redraws
        positive = rng.random(size) < rng.uniform(0.15, 0.5)
        labels = (positive & (rng.random(size) < 0.4)).astype(int)
        if number % 3 == 0:
            labels[~positive & (rng.random(size) < 0.2)] = -1
        labels[:2], labels[2:5] = 1, 0
        scores = rng.normal(positive * rng.uniform(0, 2))
        if number % 4 == 1:
            scores = np.round(scores) + 0.0  # no -0.0, which only Python keeps apart
        scenario = "case-control" if number % 2 else "single-set"
        prior = float(rng.uniform(0.02, 0.35))
        if scenario == "single-set":
            prior = float(((labels == 1).sum() + prior * (labels == 0).sum()) / size)
        given = {"class_prior": prior if number % 5 else (prior, min(1.3 * prior, 0.9))}
        if number % 10 == 7:
            given = {"audit": (int(rng.integers(0, 12)), 60)}
        threshold = None if number % 3 else float(rng.choice(scores))
        yield labels, scores, {**given, "scenario": scenario, "threshold": threshold}


def longer_worlds():
    """Rows enough for a ladder, some with a handful of labelled rows only; otherwise as :func:`worlds`."""
    rng = np.random.default_rng(12)
    for number in range(24):
        size = int(rng.integers(110, 700)) if number % 8 else 2600
        positive = rng.random(size) < rng.uniform(0.15, 0.5)
        labels = (positive & (rng.random(size) < (0.02 if number % 6 == 5 else 0.4))).astype(int)
        if number % 3 == 0:
            labels[~positive & (rng.random(size) < 0.2)] = -1
        labels[:2], labels[2:5] = 1, 0
        scores = rng.normal(positive * rng.uniform(0, 2))
        if number % 4 == 1:
            scores = np.round(4 * scores) + 0.0
        scenario = "case-control" if number % 2 else "single-set"
        prior = float(rng.uniform(0.02, 0.2))
        if scenario == "single-set":
            prior = float(((labels == 1).sum() + prior * (labels == 0).sum()) / size)
        given = {"class_prior": prior if number % 5 else (prior, min(1.3 * prior, 0.9))}
        if number % 10 == 7:
            given = {"audit": (int(rng.integers(0, 12)), 60)}
        threshold = None if number % 3 else float(rng.choice(scores))
        yield labels, scores, {**given, "scenario": scenario, "threshold": threshold}


def differences(got, expected, place="", within=1e-9):
    """Where an answer is not what Python says; numbers may differ by so much."""
    if isinstance(expected, dict):
        missing = [f"{place}/{key} is missing" for key in expected if key not in got]
        return missing + [
            found
            for key in expected
            if key in got
            for found in differences(got[key], expected[key], f"{place}/{key}", within)
        ]
    if isinstance(expected, list | tuple):
        if len(got) != len(expected):
            return [f"{place}: {len(got)} instead of {len(expected)}"]
        pairs = enumerate(zip(got, expected, strict=True))
        return [found for k, (one, other) in pairs for found in differences(one, other, f"{place}[{k}]", within)]
    if isinstance(expected, float) and got is not None and math.isfinite(expected):
        return (
            [] if abs(got - expected) <= within * max(1.0, abs(expected)) else [f"{place}: {got} instead of {expected}"]
        )
    return [] if got == expected else [f"{place}: {got!r} instead of {expected!r}"]
