"""Files of methods: planned without being run, and when they fail it is their fault and not our end."""

from __future__ import annotations

import json

import pytest
from pulens.benchmark import methods

from pulens.cli import main
from pulens.errors import InputError
from pulens.learning.learners.base.settings import check_settings
from pulens.research.benchmark.new_method import write_method
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.training import train
from pulens.research.benchmark.work import attempt

MARK = "from pathlib import Path\nPath(__file__).with_name('was_run').write_text('yes')\n"
FIELDS = """
from dataclasses import dataclass
from typing import ClassVar
from pulens.learners import NNPU

@dataclass(kw_only=True, eq=False, repr=False)
class Between(NNPU):
    learning_rate: float = 0.02

@dataclass(kw_only=True, eq=False, repr=False)
class Mine(Between):
    "Words."
    uses_truth: ClassVar[bool] = False
    needs_support = True
    strength: float = -1.5
    widths: tuple[int, ...] = (3, 4)
    word: str | None = None

    def helper(self):
        return 1

LEARNER = Mine
TITLE = "mine"
"""
PLAIN = """
from pulens.learners import PUET

class Mine(PUET):
    def __init__(self, *, class_prior="auto", n_estimators=3, random_state=None, scenario="case-control"):
        super().__init__(class_prior=class_prior)

LEARNER = Mine
"""

DECLARED = (
    FIELDS.replace("from typing", "from pulens.learning.learners.base.facts import GENERATIVE, Learner\nfrom typing")
    .replace("from typing", "from pulens.learning.learners.base.settings import setting as limited\nfrom typing", 1)
    .replace("word: str | None = None", "share: float = limited(0.5, least=0, most=1)")
    .replace("LEARNER = Mine", 'LEARNER = Learner(Mine, title="Mine (declared)", family=GENERATIVE)')
)


def planned(place):
    return expand(load_protocol("smoke", methods=[str(place), "nnpu"], scenario="case-control"))


@pytest.mark.parametrize("text", ["template", FIELDS, PLAIN, DECLARED])
def test_reading_a_file_plans_the_same_runs_as_running_it(text, tmp_path):
    if text == "template":
        place, _ = write_method("mine", tmp_path)
    else:
        place = tmp_path / "mine.py"
        place.write_text(text)
    with methods.without_running():
        read, facts = planned(place), methods.find(str(place))
    run, true = planned(place), methods.find(str(place))
    assert [one.to_dict() for one in read.runs] == [one.to_dict() for one in run.runs]
    assert [one.key for one in read.runs] == [one.key for one in run.runs]
    for name in ("name", "title", "family", "source", "digest", "is_network", "uses_truth", "needs_support"):
        assert getattr(facts, name) == getattr(true, name)
    assert set(facts.settings) == set(true.settings)


def test_limits_that_a_file_declares_are_kept_by_a_plan_that_does_not_run_it(tmp_path):
    place = tmp_path / "mine.py"
    place.write_text(DECLARED)
    with methods.without_running():
        result = methods.find(str(place))
        assert (result.title, result.family, result.told) == (
            "Mine (declared)",
            "generative",
            "true labels of a few rows of both classes",
        )
        with pytest.raises(InputError, match=r"share must be between 0 and 1, got 1\.5"):
            check_settings(result.learner(share=1.5))


def test_planning_runs_nothing_of_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    place, _ = write_method("mine", tmp_path)
    place.write_text(place.read_text() + MARK)
    main(["bench", "plan", "smoke", "--methods", "mine.py,nnpu"])
    assert "2 learners" in capsys.readouterr().out
    assert not (tmp_path / "was_run").exists()
    main(["bench", "plan", "smoke", "--methods", "mine.py,nnpu", "--run-methods"])
    assert (tmp_path / "was_run").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from elsewhere import Mine\nLEARNER = Mine", "neither in the file nor one of pulens"),
        ("LEARNER = make()", "is not the name of a class"),
        (DECLARED.replace("Learner(Mine,", "Learner(make(),"), "is not the name of a class"),
        (DECLARED.replace("Learner(Mine,", "Learner(Mine, Mine,"), "takes the class first"),
        (DECLARED.replace("family=GENERATIVE", "colour=3"), "unexpected keyword argument 'colour'"),
        (DECLARED.replace("least=0", "least=1 - 1"), "computed, not written"),
        (FIELDS.replace("-1.5", "1 / 3"), "computed, not written"),
        (PLAIN.replace('control"):', 'control", **rest):'), "takes more than it names"),
        (PLAIN.replace("__init__", "__post_init__"), "may change what the settings are"),
        ("class Mine(Mine): pass\nLEARNER = Mine", "is not the name of a class"),
        ("x = 1", "declares no LEARNER"),
        ("def (", "this is not Python"),
        ("\x00", "this is not Python"),
        ("(" * 10_000, "this is not Python"),
    ],
)
def test_what_cannot_be_read_is_said_and_not_run(text, words, tmp_path, capsys):
    place = tmp_path / "mine.py"
    place.write_text(MARK + text)
    with pytest.raises(SystemExit) as end:
        main(["bench", "plan", "smoke", "--methods", str(place)])
    assert end.value.code == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "was_run").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys\nsys.exit(7)", "SystemExit: 7"),
        ("raise RuntimeError('a' * 5000)", "RuntimeError: aaaa"),
        ("raise SystemExit", "SystemExit"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("def (", "SyntaxError"),
        ("LEARNER = 7", "LEARNER must be a class, got int"),
        ("class LEARNER: pass\nTITLE = 7", "TITLE must be a word"),
        (
            "from dataclasses import dataclass\n@dataclass\nclass LEARNER:\n    a: int = 1\n"
            "    def __post_init__(self): raise SystemExit(7)",
            "SystemExit: 7",
        ),
    ],
)
def test_a_file_that_raises_or_ends_the_process_is_a_sentence_and_exit_2(text, words, tmp_path, capsys):
    place = tmp_path / "mine.py"
    place.write_text(text)
    with pytest.raises(SystemExit) as end:
        main(["bench", "run", "smoke", "--methods", str(place), "--archive", str(tmp_path / "archive")])
    assert end.value.code == 2
    told = capsys.readouterr().err
    assert words in told
    assert len(told) < 600
    assert not (tmp_path / "archive").exists()


def test_a_method_that_ends_the_process_while_it_trains_is_a_failed_run(tmp_path):
    place, _ = write_method("mine", tmp_path)
    place.write_text(place.read_text().replace("z = self.stack.logits(batch)", "raise SystemExit(7)"))
    runs = expand(load_protocol("smoke", methods=[str(place)], seeds=[1], scenario="case-control")).runs[:1]
    assert attempt(runs, "cpu", None).startswith("SystemExit: 7")


AROUND = """
from sklearn.base import BaseEstimator
from pulens.learners import NNPU

class Mine(BaseEstimator):
    "A network that is fitted alone, in a learner of another kind."

    def __init__(self, *, class_prior="auto", random_state=None, scenario="case-control"):
        self.class_prior, self.random_state, self.scenario = class_prior, random_state, scenario

    def fit(self, X, y):
        self.network = NNPU(**self.get_params(), backbone="linear", device="cpu", progress=False).fit(X, y)
        self.rescues_ = self.network.rescues_
        return self

    def decision_function(self, X):
        return self.network.decision_function(X)

LEARNER = Mine
"""


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")
def test_what_a_learner_that_is_fitted_alone_was_rescued_by_is_archived(tmp_path):
    place = tmp_path / "mine.py"
    place.write_text(AROUND)
    run = expand(load_protocol("smoke", methods=[str(place)], seeds=[1], scenario="case-control")).runs[0]
    (row,) = train([run], "cpu")
    assert json.loads(row["found"])["rescues"].startswith("Rescued: warm start (began where 120 steps of nnPU lead")


def test_an_interrupt_is_still_an_interrupt(tmp_path):
    place = tmp_path / "mine.py"
    place.write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        methods.find(str(place))
    with pytest.raises(InputError, match="there is no file"):
        methods.find(str(tmp_path / "none.py"))
