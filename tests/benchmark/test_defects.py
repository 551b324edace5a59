"""Known defects of published PU benchmarks, each with a test that would fail if ours had it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from pulens.benchmark import methods, training

from pulens import labelling, learners
from pulens.cli import main
from pulens.research.benchmark.archive import read
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.run import run_plan
from pulens.research.benchmark.splits import PreparedRun, prepare, scaled, table_of

SHORT = {
    **dict.fromkeys(("epochs", "warm_up_epochs", "pretraining_steps", "pretraining_epochs", "epochs_per_episode"), 1),
    **dict.fromkeys(("fence_epochs", "steps_per_epoch"), 2),
    "trend_epochs": 3,
    "n_estimators": 3,
    "centres": 30,
    "bandwidths": [5.0, 20.0],
    "penalties": [0.1],
}


def one_run(learner: str, **changes):
    run = expand(load_protocol("smoke", learners=[learner])).runs[0]
    short = {name: value for name, value in SHORT.items() if name in run.settings}
    return replace(run, settings={**run.settings, **short}, **changes)


def outcome(run, prepared, table=None):
    method = methods.find(run.learner)
    fit = training._fit_stack if method.is_network else training._fit_one_by_one
    return fit(method, [prepared], table_of(run) if table is None else table, "cpu")[0][0]


# every learner of the package, and the benchmark's own references
ALL = (*learners.names(), *methods.REFERENCES)
TOLD = [name for name in ALL if methods.find(name).uses_truth]
SUPPORTED = [name for name in ALL if methods.find(name).needs_support]
UNTOLD = [name for name in ALL if name not in (*TOLD, *SUPPORTED)]


@dataclass(frozen=True, eq=False)
class GivenSupport(PreparedRun):
    """A run whose support set is not drawn by the truth, but given."""

    given: tuple[np.ndarray, np.ndarray] | None = None

    def support(self):
        return self.given


def supported(prepared):
    """The run with the support set that it would draw, fixed."""
    facts = {field.name: getattr(prepared, field.name) for field in fields(prepared)}
    return GivenSupport(**facts, given=prepared.support())


def lied_to(prepared):
    """The run with the truth of every training, validation and test row turned round; PU labels stay."""
    parts = {name: getattr(prepared, name) for name in ("validation", "test")}
    turned = {name: replace(part, truth=~part.truth) for name, part in parts.items()}
    return replace(prepared, pool_truth=~prepared.pool_truth, **turned)


def assert_same_scores(run, one, other):
    table = table_of(run)
    first, second = outcome(run, one), outcome(run, other, replace(table, y=~table.y))
    for selection in ("last", "proxy_accuracy", "proxy_roc_auc"):
        for part in ("validation", "test"):
            np.testing.assert_array_equal(
                *(getattr(result.choices[selection], part) for result in (first, second)),
                err_msg=f"{selection}, {part}",
            )


def test_only_these_are_told_true_labels():
    """PN, the reference; and LaGAM, whose support set of true labels is its authors' setting: its title says so."""
    assert TOLD == ["oracle", "pn"]
    assert SUPPORTED == ["lagam"]
    assert "true support labels" in methods.find("lagam").title


def test_every_public_learner_is_tried_on_hidden_labels():
    """A learner that the tests below do not reach, because nobody named it or it asks for the truth, is found here."""
    public = {name for name in learners.__all__ if hasattr(getattr(learners, name), "predict")}
    reached = {methods.find(name).learner.__name__ for name in (*UNTOLD, *SUPPORTED)}
    assert public - reached == {"OracleClassifier"}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNTOLD)
def test_no_method_reads_hidden_labels(name):
    """Turning the truth of every row round changes nothing that a PU learner does."""
    run = one_run(name)
    prepared = prepare(run, table_of(run))
    assert_same_scores(run, prepared, lied_to(prepared))


@pytest.mark.parametrize("name", SUPPORTED)
def test_a_support_set_is_all_the_truth_that_is_read(name):
    """Turning the truth of every row round but that of the support set changes nothing; turning its truth does."""
    run = one_run(name)
    prepared = supported(prepare(run, table_of(run)))
    rows, codes = prepared.given
    assert set(codes) == {1, -1}
    np.testing.assert_array_equal(table_of(run).y[rows], codes == 1)
    assert_same_scores(run, prepared, lied_to(prepared))
    turned = replace(prepared, given=(rows, -codes))
    first, second = (outcome(run, one).choices["last"].test for one in (prepared, turned))
    assert not np.array_equal(first, second)


def test_the_reference_that_is_told_the_truth_reads_it():
    """The test above can fail: PN changes when the truth is turned round."""
    run = one_run("pn")
    prepared = prepare(run, table_of(run))
    turned = replace(prepared, pool_truth=~prepared.pool_truth)
    first, second = (outcome(run, one).choices["last"].test for one in (prepared, turned))
    assert not np.array_equal(first, second)


def test_labels_that_learners_get_are_pu_labels_only():
    run = one_run("nnpu")
    prepared = prepare(run, table_of(run))
    truth = table_of(run).y
    labelled = prepared.rows[prepared.labels == 1]
    assert set(np.unique(prepared.labels)) == {0, 1}
    assert truth[labelled].all()
    assert len(labelled) == int(0.2 * truth[prepared.pool].sum())
    assert np.array_equal(np.sort(prepared.rows[prepared.labels == 0]), np.sort(prepared.pool))  # U is the whole pool


def test_parts_share_no_row():
    run = one_run("nnpu")
    prepared = prepare(run, table_of(run))
    everything = np.concatenate([prepared.pool, prepared.validation.rows, prepared.test.rows])
    assert len(np.unique(everything)) == len(everything) == len(table_of(run).y)
    assert np.isin(prepared.rows, prepared.pool).all()


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_methods_are_told_the_share_of_positives_in_the_population(scenario):
    """Not the share among labelled and unlabelled rows together, which the first release handed over."""
    unlabelled = "whole-pool" if scenario == "case-control" else "disjoint"
    run = one_run("nnpu", scenario=scenario, unlabelled=unlabelled, label_frequency=0.5)
    prepared = prepare(run, table_of(run))
    truth = table_of(run).y[prepared.pool]
    inflated = (truth.sum() + (prepared.labels == 1).sum()) / prepared.rows.size
    assert prepared.class_prior == truth.mean()
    assert abs(inflated - prepared.class_prior) > 0.05
    assert outcome(run, prepared).facts["given_class_prior"] == pytest.approx(truth.mean())


def test_metrics_do_not_change_with_the_batch_size_of_scoring(monkeypatch):
    from pulens.learning.learners.stack import networks

    run = one_run("nnpu")
    prepared = prepare(run, table_of(run))
    whole = outcome(run, prepared)
    monkeypatch.setattr(networks, "EVALUATION_ROWS", 7)
    pieces = outcome(run, prepared)
    for name, values in whole.curve.items():
        if name != "seconds":
            np.testing.assert_allclose(values, pieces.curve[name], atol=1e-6)


@pytest.mark.parametrize("name", ["nnpu", "elkan_noto"])
def test_columns_are_scaled_by_training_rows_alone(name):
    """Other test rows change nothing that was learned, labelled (S4 reads scaled rows) or selected."""
    run = one_run(name, standardise=True, mechanism=labelling.canonical_name("S4"), label_frequency=0.5)
    table = table_of(run)
    one = prepare(run, table)
    loud = table.X.copy()
    loud[one.test.rows] = 1000 * loud[one.test.rows] + 5000
    other = replace(table, X=loud)
    again = prepare(run, other)
    np.testing.assert_array_equal(one.rows, again.rows)
    np.testing.assert_array_equal(one.labels, again.labels)
    method = methods.find(name)
    fit = training._fit_stack if method.is_network else training._fit_one_by_one
    result, changed = (fit(method, [prepared], rows, "cpu")[0][0] for prepared, rows in ((one, table), (again, other)))
    for selection in ("last", "proxy_accuracy"):
        np.testing.assert_array_equal(result.choices[selection].validation, changed.choices[selection].validation)
    assert not np.array_equal(result.choices["last"].test, changed.choices["last"].test)


def test_scaled_columns_have_mean_0_and_deviation_1_on_the_training_pool():
    X = np.array([[1.0, 5.0], [3.0, 5.0], [100.0, 7.0]], np.float32)
    np.testing.assert_allclose(scaled(X, np.array([0, 1])), [[-1, 0], [1, 0], [98, 2]])


def test_the_reference_is_trained_on_every_row_of_the_pool_once(monkeypatch):
    """Not on labelled and unlabelled rows together, where labelled positives occur twice."""
    seen, real = {}, learners.fit_many

    def spy(stack, X, labels, **given):
        seen.update(labels=labels, **given)
        return real(stack, X, labels, **given)

    monkeypatch.setattr(learners, "fit_many", spy)
    run = one_run("pn")
    prepared = prepare(run, table_of(run))
    assert prepared.rows.size > prepared.pool.size  # the multiset of the PU learners repeats rows
    outcome(run, prepared)
    np.testing.assert_array_equal(seen["rows"][0], prepared.pool)
    np.testing.assert_array_equal(seen["labels"][0], table_of(run).y[prepared.pool])
    assert np.unique(seen["rows"][0]).size == seen["rows"][0].size


@pytest.mark.parametrize("name", ["nnpu", "elkan_noto"])
def test_seconds_are_those_of_the_whole_training(name):
    """Not the time to the reported epoch, which the first release calls the duration."""
    run = one_run(name)
    if name == "nnpu":
        run = replace(run, settings={**run.settings, "epochs": 4})
    rows = training.train([run, replace(run, seed=2)], "cpu")
    for row in rows:
        marks = [point.seconds for point in row.curve]
        assert marks == sorted(marks)
        assert row.stack_seconds >= marks[-1] > 0
        assert row.seconds == row.stack_seconds / 2
    assert len(rows[0].curve) == (4 if name == "nnpu" else 1)
    if name == "elkan_noto":  # one after the other
        assert rows[0].stack_seconds == pytest.approx(sum(row.curve[0].seconds for row in rows))


def test_a_run_without_a_labelled_validation_row_fails_with_its_reason(tmp_path):
    plan = expand(load_protocol("smoke", learners=["nnpu"], seeds=[1]))
    bad = replace(plan.runs[0], validation_share=0.02)
    good = plan.runs[1]
    summary = run_plan(replace(plan, runs=(bad, good)), tmp_path / "archive")
    assert (summary.done, summary.failed) == (1, 1)
    failed = read(tmp_path / "archive").failed
    assert [row["key"] for row in failed] == [bad.key]
    assert "none of the 7 validation rows is labelled" in failed[0]["reason"]


def test_few_labelled_validation_rows_are_told(undisturbed):
    row = next(row for row in undisturbed.done if row["label_frequency"] == 0.2)
    assert row["validation_labelled"] == 8
    assert row["notices"] == ["epochs were selected with 8 labelled validation rows"]


@pytest.mark.slow
def test_failed_runs_end_with_an_exit_code(tmp_path, capsys):
    broken = tmp_path / "broken.py"
    broken.write_text(
        "from dataclasses import dataclass\n"
        "from pulens.learning.learners.nnpu import NNPU, NonNegativeProgram\n"
        "class Program(NonNegativeProgram):\n"
        "    def loss(self, stage, batch):\n"
        "        raise ZeroDivisionError('nothing works')\n"
        "@dataclass(kw_only=True, eq=False, repr=False)\n"
        "class Broken(NNPU):\n"
        "    epochs: int = 1\n"
        "    _program = Program\n"
        "LEARNER = Broken\n"
    )
    words = ["bench", "run", "smoke", "--archive", str(tmp_path / "archive"), "--learners", f"{broken},naive_network"]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 1
    shown = capsys.readouterr()
    assert "4 of 8 runs done, 4 failed" in shown.out
    assert "ZeroDivisionError: nothing works" in shown.err
    archive = read(tmp_path / "archive")
    assert {row["learner"] for row in archive.failed} == {"broken"}
    assert {row["learner"] for row in archive.done} == {"naive_network"}
    broken.write_text(
        broken.read_text().replace("raise ZeroDivisionError('nothing works')", "return super().loss(stage, batch)")
    )
    main(words)  # a changed file is another learner: its runs are not the failed ones
    assert "8 of 8 runs done" in capsys.readouterr().out


@pytest.mark.slow
def test_failed_runs_are_tried_again_when_asked(tmp_path, monkeypatch):
    from pulens.benchmark import work

    plan = expand(load_protocol("smoke", learners=["naive_network"]))
    real = work.train

    def poor(stack, device, cache):
        if len(stack) > 2 or any(run.seed == 2 for run in stack):
            raise MemoryError("out of memory")
        return real(stack, device, cache)

    monkeypatch.setattr(work, "train", poor)
    first = run_plan(plan, tmp_path / "archive")
    # a stack of four was halved twice; the runs that could not be done alone were told
    assert (first.done, first.failed) == (2, 2)
    monkeypatch.setattr(work, "train", real)
    assert run_plan(plan, tmp_path / "archive").failed == 2
    from pulens.research.benchmark.run import Options

    last = run_plan(plan, tmp_path / "archive", Options(retry_failed=True))
    assert (last.done, last.failed, last.added) == (4, 0, 2)
    assert len(read(tmp_path / "archive").table(["key"])) == 4
