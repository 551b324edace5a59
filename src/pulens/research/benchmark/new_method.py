"""A file to start a method of your own from, and its tests."""

from __future__ import annotations

import keyword
from pathlib import Path
from string import Template

from pulens.atomic_write import write_whole
from pulens.errors import InputError

METHOD = '''"""$title: one sentence on what it does, and where it is published."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from pulens.learning.learners.base.facts import Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Batch, Pooled
from pulens.learning.risks.losses import logistic
from pulens.learning.risks.means import masked_mean


class ${class_name}Program(Program):
    """What the method does. Everything carries a leading axis of R runs that are trained as one; R = 1 is usual."""

    needs_class_prior = True  # False: the class prior is neither asked for nor estimated

    def stages(self) -> list[Stage]:
        """Some epochs with a way to draw batches and an optimiser; several stages run one after the other."""
        return [Stage("training", self.value("epochs"), Pooled(self.value("batch_size")), self.adam())]

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        """One number per run, [R]. Rows are in batch.x [R, b, ...]; masks are 1 where a row counts, else 0:
        batch.labelled, batch.unlabelled, and batch.population for rows that follow the population. Use masks and means
        over axis 1 only: runs must not touch.

        This example is an unbiased PU risk with the logistic loss: replace it.
        """
        z = self.stack.logits(batch)  # [R, b]
        prior = self.stack.class_prior  # [R]
        as_positive = masked_mean(logistic(z, 1), batch.labelled)
        as_negative = masked_mean(logistic(z, -1), batch.labelled)
        population = masked_mean(logistic(z, -1), batch.population)
        return prior * as_positive + torch.clamp(population - prior * as_negative, min=0.0)

    # Further hooks, all optional: begin_stage, begin_epoch, after_step, end_epoch (what the method remembers),
    # cut (where positive begins, if not at a logit of 0), own_loss (for selection="loss"), facts (what it found).


@dataclass(kw_only=True, eq=False, repr=False)
class $class_name(PULearner):
    """$title, with scikit-learn's manners. Fields are settings: say where each default comes from."""

    epochs: int = 40
    batch_size: int = setting(256, least=1)  #: a value outside is refused before anything is trained
    learning_rate: float = setting(3e-4, above=0)
    weight_decay: float = setting(1e-4, least=0)
    strength: float = 1.0  #: a setting of your own; read it with self.value("strength")

    _program = ${class_name}Program


LEARNER = Learner($class_name, title="$title")  # what the benchmark looks for; the title is for tables
'''

TESTS = '''"""What every method must hold to; add what yours promises besides. Run: pytest test_$name.py"""

from __future__ import annotations

from pathlib import Path

from pulens.research.benchmark import contract, methods
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.training import train

FILE = Path(__file__).with_name("$name.py")
METHOD = methods.find(str(FILE))
QUICK = {"epochs": 30, "learning_rate": 0.01}  # with which it should learn an easy problem


def test_it_tells_two_clouds_apart():
    contract.check_learns(METHOD.learner, **QUICK)


def test_the_same_seed_repeats():
    contract.check_repeats(METHOD.learner, **QUICK)


def test_a_run_in_a_stack_gives_what_it_gives_alone():
    contract.check_stack(METHOD.learner)


def test_the_benchmark_can_run_it():
    plan = expand(load_protocol("smoke", methods=[str(FILE)], seeds=[1]))
    rows = train(plan.runs, "cpu")
    assert [row["status"] for row in rows] == ["done"] * len(plan.runs)
'''


def write_method(name: str, folder: Path) -> tuple[Path, Path]:
    """Write ``name.py`` and ``test_name.py``; files that are there stay as they are."""
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise InputError(
            f"a method's name is that of its Python file: lower case letters, digits and underscores, got {name!r}."
        )
    places = folder / f"{name}.py", folder / f"test_{name}.py"
    for place in places:
        if place.exists():
            raise InputError(f"{place} is there already; choose another name or folder.")
    folder.mkdir(parents=True, exist_ok=True)
    words = {
        "name": name,
        "title": name.replace("_", " "),
        "class_name": "".join(part.capitalize() for part in name.split("_")),
    }
    for place, text in zip(places, (METHOD, TESTS), strict=True):
        write_whole(place, Template(text).substitute(words).rstrip("\n"))
    return places
