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
from pulens.report.one_file import SHARED, TEMPLATES, computing_script
from pulens.report.script_templates import templates_as_script

REQUESTS = """
const plain = (key, value) => (typeof value === "number" && !Number.isFinite(value) ? null : value);
const HOME = "https://pulens.github.io/pulens/";
const requests = {
  rows({ labels, scores, asked }) {
    const kinds = [1, 0, -1].map((kind) => scores.filter((_, i) => labels[i] === kind));
    const evaluation = evaluating.evaluate(tallies.fromScores(kinds), asked);
    const context = evaluating.context(evaluation, "A <b>title</b>", [["pulens"], ["evaluate"], ["my rows.csv"]]);
    const { data, ...rest } = context;
    const filled = { ...rest, styles: "", scripts: [], data: "", version: "1", home: HOME, made_on: "DAY" };
    return { data, answer: context.answer, page: filling.render("evaluation.html.j2", filled) };
  },
  async file({ bytes, name, score, label, positive, negative }) {
    const file = new Blob([Buffer.from(bytes, "base64")]);
    const table = await reading.preview(file, name);
    const place = (column) => table.names.indexOf(column);
    const asked = { score: place(score), label: place(label), positive, negative: negative ?? [] };
    const tally = await columns.count(file, name, table, asked, null);
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
  async plan({ bytes, name, score, label, positive, negative, asked, wanted }) {
    const file = new Blob([Buffer.from(bytes, "base64")]);
    const table = await reading.preview(file, name);
    const place = (column) => table.names.indexOf(column);
    const given = { ...asked, score: place(score), label: place(label), positive, negative };
    const tally = await columns.count(file, name, table, given);
    const { id, keep } = wanted;
    const drawn = { ...wanted, id: id === null ? null : place(id), keep: keep.map(place) };
    return auditQueue.make({ file, name, table }, given, tally, drawn);
  },
  async answers({ bytes, name, plan }) {
    return auditShown.read(new Blob([Buffer.from(bytes, "base64")]), name, plan, "the plan");
  },
  counts({ counts, seed }) {
    return auditEstimates.estimates(counts, seed);
  },
  call({ path, given }) {
    const found = path.split(".").reduce((whole, part) => whole[part], { numbers, practice });
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
      shuffled: [7, 100, 20000].map((size) => [...generator.shuffle(Array.from({ length: size }, (_, k) => k))]),
      exponential: Array.from({ length: many }, () => generator.exponential()),
      beta: [[1, 1], [1, 30], [2, 5], [40, 300]].map((ends) =>
        Array.from({ length: 500 }, () => generator.beta(...ends))),
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
    """All that the page computes and fills with."""
    shared, filling = ("\n".join(map(asset, names)) for names in (SHARED, ["one_file/filling.js"]))
    templates = templates_as_script(TEMPLATES)
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


def rows(
    labels, scores, *, scenario, labelling="random", class_prior=None, audit=None, threshold=None, confidence=0.95
):
    prior = [class_prior] if isinstance(class_prior, float) else class_prior and list(class_prior)
    asked = {
        "classPrior": prior,
        "audit": audit,
        "scenario": scenario,
        "labelling": labelling,
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


def audit_plan(content, *, wanted, scenario="single-set", class_prior=None, **given):
    """A queue drawn from a table: ``wanted`` as the card asks for it, columns by their names."""
    asked = {"scenario": scenario, "classPrior": None if class_prior is None else [class_prior], "audit": None}
    drawn = {"budget": 200, "goal": "all", "seed": 0, "id": None, "keep": [], **wanted}
    return {**file(content, **given), "request": "plan", "asked": asked, "wanted": drawn}


def audit_answers(queue, plan, *, name="queue.csv"):
    """The answers of a queue read beside its plan, both as the files hold them."""
    return {"request": "answers", "bytes": base64.b64encode(queue).decode(), "name": name, "plan": plan.decode()}


def worlds():
    """Rows of many kinds: ties, few rows, known negatives, both scenarios, numbers and ranges, given thresholds."""
    rng = np.random.default_rng(11)
    for number in range(60):
        size = int(rng.integers(12, 50))
        if number == 30:
            size = 2300  # more distinct scores than a page holds, and Poisson redraws
        yield world(rng, number, size)


def world(rng, number, size):
    """Labels, scores and what is asked of them; which kinds they are of goes by the number."""
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
    return labels, scores, {**given, "scenario": scenario, "threshold": threshold}


def differences(got, expected, place="", within=1e-9):
    """Where an answer is not what Python says; numbers may differ by so much."""
    if isinstance(expected, dict):
        missing = [f"{place}/{key} is missing" for key in expected if key not in got]
        return missing + [
            result
            for key in expected
            if key in got
            for result in differences(got[key], expected[key], f"{place}/{key}", within)
        ]
    if isinstance(expected, list | tuple):
        if len(got) != len(expected):
            return [f"{place}: {len(got)} instead of {len(expected)}"]
        pairs = enumerate(zip(got, expected, strict=True))
        return [result for k, (one, other) in pairs for result in differences(one, other, f"{place}[{k}]", within)]
    if isinstance(expected, float) and got is not None and math.isfinite(expected):
        return (
            [] if abs(got - expected) <= within * max(1.0, abs(expected)) else [f"{place}: {got} instead of {expected}"]
        )
    return [] if got == expected else [f"{place}: {got!r} instead of {expected!r}"]


def unpacked(data):
    """A page's data with its packed counts as numbers: the last bits of weights are those of an exponential."""

    def numbers(packed):
        return packed and np.frombuffer(base64.b64decode(packed["data"]), f"<{packed['type']}").astype(float).tolist()

    return {**data, "counts": {name: numbers(packed) for name, packed in data["counts"].items()}}
