"""A method of one's own: one file, checked by the contract, run beside the others; other packages add theirs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pulens.benchmark import contract, datasets, methods
from pulens.learners import NNPU

from pulens.cli import main
from pulens.errors import InputError, PulensError
from pulens.learning.learners.nnpu import NonNegativeProgram
from pulens.research.benchmark.new_method import write_method


@pytest.mark.slow
def test_the_template_passes_its_own_tests_and_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main(["bench", "new-method", "my_idea"])
    assert "Wrote my_idea.py and test_my_idea.py" in capsys.readouterr().out
    namespace: dict = {"__file__": str(tmp_path / "test_my_idea.py"), "__name__": "test_my_idea"}
    exec(compile((tmp_path / "test_my_idea.py").read_text(), "test_my_idea.py", "exec"), namespace)
    tests = [test for name, test in namespace.items() if name.startswith("test_")]
    assert len(tests) == 4
    for test in tests:
        test()
    assert methods.find("my_idea.py").title == "my idea"


def test_nothing_is_overwritten_and_names_are_checked(tmp_path):
    write_method("mine", tmp_path)
    with pytest.raises(InputError, match="is there already"):
        write_method("mine", tmp_path)
    for name in ("My-Idea", "class", "1st"):
        with pytest.raises(InputError, match="lower case letters"):
            write_method(name, tmp_path)


class Mixing(NonNegativeProgram):
    """Wrong: a mean over the wrong axis."""

    def loss(self, stage, batch):
        z = self.stack.logits(batch)
        return (z - z.mean(0)).square().mean(1)


@dataclass(kw_only=True, eq=False, repr=False)
class MixesRuns(NNPU):
    _program = Mixing


@dataclass(kw_only=True, eq=False, repr=False)
class LearnsNothing(NNPU):
    learning_rate: float = 1e-30


def test_the_contract_notices_runs_that_touch():
    with pytest.raises(AssertionError):
        contract.check_stack(MixesRuns)


def test_the_contract_notices_a_method_that_learns_nothing():
    with pytest.raises(AssertionError, match="easy problem"):
        contract.check_learns(LearnsNothing, epochs=1)


def test_forests_and_wrappers_keep_the_contract_too():
    from pulens.learners import ElkanNoto, KernelPUSB

    contract.check_learner(ElkanNoto)
    contract.check_learner(KernelPUSB, centres=60)


class Point:
    """An entry point of some other package."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def load(self):
        return self.value


def test_other_packages_add_methods_and_data_sets(monkeypatch):
    points = {methods.GROUP: [Point("theirs", NNPU)], datasets.GROUP: [Point("their_data", datasets.find("digits"))]}
    monkeypatch.setattr(methods, "entry_points", lambda group: points[group])
    monkeypatch.setattr(datasets, "entry_points", lambda group: points[group])
    assert methods.find("theirs").learner is NNPU
    assert "theirs" in methods.names()
    assert "their_data" in datasets.names()
    assert datasets.load("their_data").y.size == 1797


def test_a_file_that_declares_no_learner_is_refused(tmp_path):
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(InputError, match="declares no LEARNER"):
        methods.find(str(tmp_path / "empty.py"))
    with pytest.raises(PulensError, match="there is no file"):
        methods.find(str(tmp_path / "nowhere.py"))


def test_judging_prints_tables(undisturbed, capsys, tmp_path):
    main(["bench", "judge", str(undisturbed.folder), "--prior", "known"])
    shown = capsys.readouterr().out
    assert "choosing the epoch" in shown
    assert "proxy_accuracy" in shown
    main(["bench", "judge", str(undisturbed.folder), "--prior", "known", "--json", str(tmp_path / "found.json")])
    assert (tmp_path / "found.json").stat().st_size > 1000


def test_planning_says_how_much_there_is_to_do(undisturbed, capsys):
    main(["bench", "plan", "smoke", "--archive", str(undisturbed.folder)])
    shown = " ".join(capsys.readouterr().out.split())
    assert "3 learners x 1 data set x 2 conditions = 6 evaluations" in shown
    assert "20 done, 0 failed, 0 to do" in shown
    main(["bench", "plan", "smoke", "--methods", "nnpu", "--seeds", "2", "--list"])
    assert len(capsys.readouterr().out.splitlines()) == 2
