"""The archive says what happened: choices are the epochs that criteria choose, tallies give the metrics back."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from pulens.benchmark import archive as archives
from pulens.benchmark import methods, training
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from pulens.errors import InputError
from pulens.learning.learners.base.proxies import proxy_accuracy, proxy_auc
from pulens.learning.learners.stack.dense.chain import DenseChain
from pulens.research.benchmark.archive.counts import binned_counts, decisions, exact_metrics
from pulens.research.benchmark.plan import expand, stacks
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.splits import JudgedRows, prepare, table_of
from pulens.research.benchmark.watch import Watch, area


def test_every_planned_run_is_there_once_with_its_key(smoke, undisturbed):
    assert sorted(row["key"] for row in undisturbed.runs) == sorted(run.key for run in smoke.runs)
    by_key = {run.key: run for run in smoke.runs}
    for row in undisturbed.runs:
        run = by_key[row["key"]]
        assert (row["learner"], row["seed"], row["label_frequency"]) == (run.learner, run.seed, run.label_frequency)
        assert json.loads(row["settings"]) == dict(run.settings)
        assert row["seconds"] > 0
        assert row["stack_peak_memory"] > 0


def test_tallies_give_back_the_metrics_at_the_decision(undisturbed):
    """Exactly, binned or not: zero is always an edge."""
    for row in undisturbed.results("own"):
        tally = undisturbed.tally(row["key"], truth=True)
        hits, _, false_hits = tally.at(0.0)
        positives, _, negatives = tally.totals
        assert (positives, positives + negatives) == (row["test_positives"], row["test_rows"])
        assert (hits + negatives - false_hits) / row["test_rows"] == pytest.approx(row["accuracy"], abs=1e-12)
        assert hits / positives == pytest.approx(row["recall"], abs=1e-12)
        labelled, unlabelled, _ = undisturbed.tally(row["key"]).totals
        assert (labelled, unlabelled) == (row["test_labelled"], row["test_unlabelled"])


def test_one_line_of_duckdb_reads_it(undisturbed):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'pulens[data]'")
    result = duckdb.sql(
        f"SELECT learner, count(*) AS runs FROM '{undisturbed.folder}/runs/*.parquet' GROUP BY learner ORDER BY learner"
    ).fetchall()
    assert result == [("elkan_noto", 4), ("naive_network", 4), ("nnpu", 4), ("pn", 4), ("vpu", 4)]


@pytest.mark.parametrize("name", ["nnpu", "vpu"])
def test_the_watch_chooses_what_plain_loops_choose(name, monkeypatch):
    """The slow witness: scores of every epoch on the host, criteria by numpy and scikit-learn, first best epoch."""
    plan = expand(load_protocol("smoke", learners=[name]))
    prepared = [prepare(run, table_of(run)) for run in plan.runs]
    seen = []
    real = Watch.see

    def see(self, number, validation, test, losses):
        seen.append((number, validation.numpy().copy(), test.numpy().copy(), losses))
        real(self, number, validation, test, losses)

    monkeypatch.setattr(Watch, "see", see)
    outcomes, _, _ = training._fit_stack(methods.find(name), prepared, table_of(plan.runs[0]), "cpu")
    for run, (one, outcome) in enumerate(zip(prepared, outcomes, strict=True)):
        held, tested = one.validation, one.test
        values = {"proxy_accuracy": [], "proxy_roc_auc": [], "oracle_accuracy": [], "loss": []}
        values |= {"oracle_f1": [], "oracle_macro_f1": []}
        for _, validation, test, losses in seen:
            v = validation[run, : held.rows.size]
            recall, negative = (v[held.labelled] > 0).mean(), (v[held.unlabelled] <= 0).mean()
            values["proxy_accuracy"].append(proxy_accuracy(recall, negative, one.class_prior))
            values["proxy_roc_auc"].append(proxy_auc(v[held.labelled], v[held.unlabelled]))
            values["oracle_accuracy"].append(((v > 0) == held.truth).mean())
            values["oracle_f1"].append(f1_score(held.truth, v > 0, zero_division=0))
            values["oracle_macro_f1"].append(f1_score(held.truth, v > 0, average="macro", zero_division=0))
            values["loss"].append(np.nan if losses is None else -float(losses[run]))
            t = test[run, : tested.rows.size]
            place = len(values["loss"]) - 1
            assert outcome.curve["test_accuracy"][place] == pytest.approx(((t > 0) == tested.truth).mean())
            assert outcome.curve["test_roc_auc"][place] == pytest.approx(roc_auc_score(tested.truth, t))
            assert outcome.curve["test_f1"][place] == pytest.approx(f1_score(tested.truth, t > 0, zero_division=0))
        for criterion, history in values.items():
            if criterion not in outcome.choices:
                assert criterion == "loss"
                assert name == "nnpu"
                continue
            best = int(np.argmax(history))
            chosen = outcome.choices[criterion]
            assert chosen.epoch == seen[best][0]
            np.testing.assert_array_equal(chosen.test, seen[best][2][run, : tested.rows.size])
        assert outcome.choices["last"].epoch == 3


def test_patience_stops_a_run_without_touching_the_others(monkeypatch):
    plan = expand(load_protocol("smoke", learners=["nnpu"]))
    trained, scored = Counter(), Counter()
    for name, counts in (("forward", trained), ("own", scored)):
        real = getattr(DenseChain, name)

        def counting(self, run, *given, real=real, counts=counts):
            counts[run] += 1
            return real(self, run, *given)

        monkeypatch.setattr(DenseChain, name, counting)

    def fitted(runs, **settings):
        runs = [replace(run, settings={**run.settings, **settings}) for run in runs]
        prepared = [prepare(run, table_of(run)) for run in runs]
        return training._fit_stack(methods.find("nnpu"), prepared, table_of(runs[0]), "cpu")[0]

    free = fitted(plan.runs, epochs=8)
    steps = trained[0] // 8
    trained.clear()
    scored.clear()
    patient = fitted(plan.runs, epochs=8, patience=1)
    stopped = [outcome.curve["epoch"][-1] for outcome in patient]
    assert min(stopped) < 8
    # a run that stopped is neither trained nor scored any more; a pass takes its weights once, and so does scoring
    assert [trained[run] for run in range(len(stopped))] == [steps * end for end in stopped]
    assert [scored[run] - trained[run] for run in range(len(stopped))] == [2 * end for end in stopped]
    for whole, short, end in zip(free, patient, stopped, strict=True):
        history = np.array(whole.curve["proxy_accuracy"])
        best = int(np.argmax(history[:end]))
        assert short.choices["proxy_accuracy"].epoch == best + 1
        assert end == min(8, best + 1 + 1)  # one epoch that was no better is all the patience there was
        np.testing.assert_allclose(short.curve["proxy_accuracy"], history[:end])


def test_a_run_of_a_stack_gives_what_it_gives_alone():
    plan = expand(load_protocol("smoke", learners=["nnpu"]))
    together = {row.key: row for stack in stacks(plan.runs, lambda group: 9) for row in training.train(stack, "cpu")}
    for run in plan.runs[:2]:
        alone = training.train([run], "cpu")[0]
        for mine, theirs in zip(alone.curve, together[run.key].curve, strict=True):
            for name, value in mine.to_dict().items():
                if name != "seconds":
                    np.testing.assert_allclose(value, getattr(theirs, name), atol=1e-5)


def test_areas_on_the_device_are_those_of_scikit_learn():
    import torch

    rng = np.random.default_rng(0)
    scores = rng.integers(-3, 4, size=(5, 60)).astype(np.float32)  # many ties
    truth = rng.random((5, 60)) < 0.4
    used = rng.random((5, 60)) < 0.8
    result = area(torch.as_tensor(scores), torch.as_tensor(truth & used), torch.as_tensor(~truth & used))
    for run in range(5):
        expected = roc_auc_score(truth[run][used[run]], scores[run][used[run]])
        assert float(result[run]) == pytest.approx(expected, abs=1e-12)


def test_exact_metrics_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    scores = decisions(rng.integers(-3, 4, 80) / 4)
    truth = rng.random(80) < 0.4
    result = exact_metrics(scores, truth)
    called = scores >= 0
    assert result["precision"] == pytest.approx(precision_score(truth, called))
    assert result["recall"] == pytest.approx(recall_score(truth, called))
    assert result["f1"] == pytest.approx(f1_score(truth, called))
    assert result["roc_auc"] == pytest.approx(roc_auc_score(truth, scores))
    assert result["average_precision"] == pytest.approx(average_precision_score(truth, scores))


def test_bins_are_few_keep_every_row_and_never_straddle_zero():
    rng = np.random.default_rng(2)
    scores = decisions(rng.normal(size=5000))
    truth = rng.random(5000) < 0.3
    labelled = truth & (rng.random(5000) < 0.2)
    result = binned_counts(scores, JudgedRows(np.arange(5000), truth, labelled, ~labelled), 64)
    assert result["lowest"].size <= 64
    assert ((result["lowest"] >= 0) == (result["highest"] >= 0)).all()
    assert (result["highest"][:-1] < result["lowest"][1:]).all()
    assert [int(result[kind].sum()) for kind in ("positive", "negative", "labelled", "unlabelled")] == [
        truth.sum(),
        (~truth).sum(),
        labelled.sum(),
        (~labelled).sum(),
    ]
    assert result["positive"][result["lowest"] >= 0].sum() == (truth & (scores >= 0)).sum()


def test_numbers_too_small_for_single_precision_stay_positive():
    assert (decisions(np.array([1e-60, -1e-60, 0.0])) >= 0).tolist() == [True, False, False]


def test_differences_are_found(undisturbed, tmp_path, smoke):
    store = archives.Store(tmp_path / "other").open()
    rows = undisturbed.table().to_pylist()
    rows[0]["choices"][0]["accuracy"] += 1e-9
    rows[1]["seconds"] = 1e9  # timings do not count
    store.add(rows[:-1])
    result = archives.differences(undisturbed, archives.read(tmp_path / "other"))
    assert result == [f"{rows[-1]['key']} is in the first only", f"{rows[0]['key']}: choices differs"]


def test_folders_that_are_no_archives_are_left_alone(tmp_path):
    (tmp_path / "thesis.doc").write_text("years of work")
    with pytest.raises(InputError, match="holds something else"):
        archives.Store(tmp_path).open()
    with pytest.raises(InputError, match="there is no archive"):
        archives.read(tmp_path / "nowhere")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "archive.json").write_text('{"pulens_benchmark": 99}')
    with pytest.raises(InputError, match="format 99"):
        archives.read(tmp_path / "new")
