"""What a plan will take: by rows and epochs of its own, with what runs on no GPU beside what does."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pulens.cli import main
from pulens.research.benchmark.forecast import plan_lines
from pulens.research.benchmark.memory import run_bytes
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.rates import Rate, forecast, load_rates, measured_rates, rates_text
from pulens.research.benchmark.schedule import work

LONG = {"epochs": 40, "batch_size": 256}


def rate(**changes):
    facts = {"learner": "nnpu", "dataset": "spambase", "kind": "table", "device": "cpu", "seconds": 8.0}
    facts |= {"memory": 1e6, "runs": 3, "stack": 3.0, "rows": 4601, "settings": LONG}
    return Rate(**(facts | changes))


def runs(settings=None, *, rows=None, learner="nnpu", dataset="spambase"):
    protocol = load_protocol("conventional", learners=[learner], datasets=[dataset], seeds=[1, 2])
    chosen = {learner: {"all": settings or {}}}
    return expand(protocol.model_copy(update={"rows": rows, "settings": chosen})).runs


def test_runs_like_the_measured_ones_take_what_was_measured():
    result = forecast(runs(), [rate()], "cpu")
    assert (result.seconds, result.measured, result.adjusted) == (16.0, 2, 0)
    assert not result.unrecorded


@pytest.mark.parametrize(
    ("settings", "rows", "factor"),
    [
        ({"epochs": 4}, None, 0.1),
        (None, 460, 460 / 4601),
        ({"epochs": 4}, 460, 46 / 4601),
        ({"epochs": 80}, 10**6, 2.0),  # no more rows than there are
    ],
)
def test_fewer_rows_and_epochs_take_less(settings, rows, factor):
    result = forecast(runs(settings, rows=rows), [rate()], "cpu")
    assert result.seconds == pytest.approx(16 * factor)
    assert (result.measured, result.adjusted) == (0, 2)


def test_epochs_of_so_many_steps_do_not_depend_on_rows():
    measured = rate(learner="vpu", settings={"epochs": 50, "steps_per_epoch": 30, "batch_size": 500})
    assert forecast(runs(learner="vpu"), [measured], "cpu").measured == 2
    assert forecast(runs(rows=600, learner="vpu"), [measured], "cpu").seconds == pytest.approx(16)
    few = forecast(runs({"steps_per_epoch": 3}, learner="vpu"), [measured], "cpu")
    assert few.seconds == pytest.approx(1.6)


def test_every_stage_counts():
    measured = rate(learner="dist_pu", settings={"warm_up_epochs": 60, "epochs": 60, "batch_size": 256})
    assert forecast(runs({"epochs": 20, "warm_up_epochs": 10}, learner="dist_pu"), [measured], "cpu").seconds == 4.0


def test_the_rate_of_runs_as_long_is_taken_where_there_is_one():
    own = rate(seconds=0.5, settings={"epochs": 4, "batch_size": 256})
    assert forecast(runs({"epochs": 4}), [rate(), own], "cpu").seconds == 1.0


def test_other_data_of_the_kind_are_scaled_by_rows_and_epochs():
    result = forecast(runs({"epochs": 4}, dataset="mushroom"), [rate()], "cpu")
    assert (result.scaled, result.seconds) == (2, pytest.approx(1.6 * 8124 / 4601))


def test_files_that_do_not_say_what_was_measured_scale_by_rows_and_say_so(tmp_path):
    old = {name: value for name, value in vars(rate()).items() if name not in ("rows", "settings")}
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"source": "old", "rates": [old]}))
    result = forecast(runs({"epochs": 4}, rows=460), load_rates(path)[1], "cpu")
    assert result.seconds == pytest.approx(16 * 460 / 4601)
    protocol = load_protocol("conventional", learners=["nnpu"], datasets=["spambase"])
    text = "\n".join(plan_lines(expand(protocol), path))
    assert "rates that do not say with which epochs they were measured: other settings are not accounted for" in text


@pytest.mark.parametrize("entry", ["nnpu", 0.5, None, [1], [["learner", "nnpu"]]])
def test_an_entry_of_rates_that_has_no_names_is_refused_in_one_line(entry, tmp_path, capsys):
    path = tmp_path / "rates.json"
    path.write_text(json.dumps({"source": "mine", "rates": [vars(rate()), entry]}))
    with pytest.raises(SystemExit) as end:
        main(["bench", "plan", "smoke", "--rates", str(path)])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "not a file of rates: a rate must be names with values" in said


def test_archives_remember_rows_and_lengths(tmp_path, undisturbed):
    rates = {one.learner: one for one in measured_rates(undisturbed)}
    assert rates["nnpu"].rows == 400
    assert rates["nnpu"].settings == {"epochs": 3, "batch_size": 64}
    assert rates["vpu"].settings == {"epochs": 3, "batch_size": 64, "steps_per_epoch": 3}
    path = tmp_path / "rates.json"
    path.write_text(rates_text(undisturbed, "here"))
    assert load_rates(path)[1] == measured_rates(undisturbed)
    result = forecast(expand(load_protocol("smoke")).runs, measured_rates(undisturbed), "cpu")
    whole = sum((row["stack_seconds"] + row["stack_watching_seconds"]) / row["stack_runs"] for row in undisturbed.done)
    assert (result.measured, result.adjusted, result.unknown) == (20, 0, 0)
    assert result.seconds == pytest.approx(whole, rel=0.5)  # medians of four


def test_runs_of_several_lengths_are_several_rates(undisturbed):
    row = next(row for row in undisturbed.done if row["learner"] == "nnpu")
    longer = {**json.loads(row["settings"]), "epochs": 40}
    rows = [row, {**row, "settings": json.dumps(longer)}, {**row, "rows_used": None}]
    result = measured_rates(SimpleNamespace(done=rows))
    assert sorted((one.rows, one.settings["epochs"]) for one in result) == [(400, 3), (400, 40), (1797, 3)]


def test_the_shipped_rates_know_what_they_were_measured_with():
    _, rates = load_rates()
    assert all(one.rows and one.settings is not None for one in rates)
    plan = expand(load_protocol("conventional", learners=["nnpu", "dist_pu", "pan", "puet"], datasets=["spambase"]))
    result = forecast(plan.runs, rates, "cpu")
    assert (result.adjusted, result.unknown, result.unrecorded) == (0, 0, False)


def test_hours_of_methods_that_use_no_gpu_stand_beside_those_of_the_gpu(capsys):
    main(["bench", "plan", "conventional", "--datasets", "spambase", "--learners", "nnpu,puet"])
    lines = capsys.readouterr().out.splitlines()
    gpu = next(place for place, line in enumerate(lines) if line.startswith("NVIDIA"))
    assert "never measured" not in lines[gpu]
    assert lines[gpu + 1].startswith("  and on one CPU core: ")
    assert lines[gpu + 1].endswith("for 10 runs of puet, which use no GPU")
    main(["bench", "plan", "conventional", "--datasets", "spambase", "--learners", "nnpu"])
    assert "use no GPU" not in capsys.readouterr().out


@pytest.mark.parametrize("learner", ["nnpu", "lbe", "puet"])
def test_memory_is_that_of_the_rows_used(learner):
    whole, part = runs(learner=learner)[0], runs(learner=learner, rows=500)[0]
    assert run_bytes(part) < run_bytes(whole)
    assert run_bytes(replace(part, rows=10**6)) == run_bytes(whole)


def test_work_that_no_double_holds_is_still_a_number() -> None:
    assert work({"epochs": 10**400, "batch_size": 10}, 1000) < math.inf


def test_learners_without_a_rate_are_not_given_a_time(tmp_path):
    """It said "1 second (without 4 runs of elkan_noto: never measured) for 4 runs of elkan_noto"."""
    path = tmp_path / "rates.json"
    gpu = [
        vars(rate(device="a GPU", dataset="digits", learner=name)) for name in ("nnpu", "vpu", "pn", "naive_network")
    ]
    path.write_text(json.dumps({"source": "mine", "rates": [*gpu, vars(rate())]}))
    text = "\n".join(plan_lines(expand(load_protocol("smoke")), path))
    assert "  never measured, and on no GPU: 4 runs of elkan_noto" in text
    assert "for 4 runs of elkan_noto" not in text


def test_the_smoke_plan_knows_the_rate_of_every_learner():
    assert "never measured" not in "\n".join(plan_lines(expand(load_protocol("smoke"))))
