"""Looking at a stack after every epoch, on its device: every criterion of every run, and the scores of the best epochs.

Everything is a tensor over runs. Scores leave the device once, at the end, for the epochs that were chosen.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from pulens.errors import PulensError
from pulens.learning.learners.base.proxies import proxy_accuracy
from pulens.learning.learners.stack.program import Program, Stage
from pulens.learning.learners.stack.rows import Part, StackedRows
from pulens.learning.learners.stack.watching import Watcher, not_scored
from pulens.research.benchmark.splits import JudgedRows
from pulens.scenario import Scenario

CRITERIA = ("proxy_accuracy", "proxy_roc_auc", "loss", "oracle_accuracy", "oracle_f1", "oracle_macro_f1")
SEEN = ("test_accuracy", "test_f1", "test_roc_auc")


@dataclass(frozen=True)
class Chosen:
    """The epoch a criterion chose for a run, what the criterion said, and the run's decision values there."""

    epoch: int
    value: float
    validation: Any  # numpy float32, one per judged row
    test: Any


class JudgedStack:
    """Judged rows of every run as padded tensors; masks are false on padding."""

    def __init__(self, parts: Sequence[JudgedRows], offsets: Sequence[int], table: torch.Tensor) -> None:
        device = table.device
        self.sizes = [part.rows.size for part in parts]
        widest = max(self.sizes)

        def padded(values: list[Any], dtype: torch.dtype) -> torch.Tensor:
            result = torch.zeros(len(values), widest, dtype=dtype)
            for run, own in enumerate(values):
                result[run, : len(own)] = torch.as_tensor(np.asarray(own))
            return result.to(device)

        nobody = np.empty(0, np.int64)
        places = [Part(part.rows + offset, nobody) for part, offset in zip(parts, offsets, strict=True)]
        self.rows = StackedRows(table, places, Scenario.SINGLE_SET)  # only to be scored
        self.real = padded([np.ones(size, bool) for size in self.sizes], torch.bool)
        self.truth = padded([part.truth for part in parts], torch.bool)
        self.labelled = padded([part.labelled for part in parts], torch.bool)
        self.unlabelled = padded([part.unlabelled for part in parts], torch.bool)

    def accuracy(self, predicted: torch.Tensor) -> torch.Tensor:
        return ((predicted == self.truth) & self.real).sum(1).double() / self.real.sum(1)

    def f1(self, predicted: torch.Tensor) -> torch.Tensor:
        """F1 of the positive class; 0 where nothing is predicted positive."""
        both = (predicted & self.truth).sum(1).double()
        return 2 * both / ((predicted & self.real).sum(1) + self.truth.sum(1)).clamp(min=1)

    def macro_f1(self, predicted: torch.Tensor) -> torch.Tensor:
        """Mean of the F1 of both classes; that of a class which nobody has and nothing is predicted as is 0."""
        neither = (self.real & ~predicted & ~self.truth).sum(1).double()
        spoken = (self.real & ~predicted).sum(1) + (self.real & ~self.truth).sum(1)
        return (self.f1(predicted) + 2 * neither / spoken.clamp(min=1)) / 2


def area(scores: torch.Tensor, upper: torch.Tensor, lower: torch.Tensor) -> torch.Tensor:
    """Chance [R] that a row of ``upper`` outscores one of ``lower``, ties counting half; nan scores give nan.

    >>> scores = torch.tensor([[3.0, 1.0, 2.0, 1.0]])
    >>> area(scores, torch.tensor([[True, True, False, False]]), torch.tensor([[False, False, True, True]]))
    tensor([0.6250], dtype=torch.float64)
    """
    ordered = scores.masked_fill(~lower, torch.inf).sort(1).values
    below = torch.searchsorted(ordered, scores) + torch.searchsorted(ordered, scores, right=True)
    pairs = upper.sum(1).double() * lower.sum(1)
    result = (below.double() * upper).sum(1) / 2 / pairs
    broken = (scores.isnan() & (upper | lower)).any(1)
    return result.masked_fill(broken, torch.nan)


class Watch(Watcher):
    """What :func:`pulens.learners.fit_many` calls after every epoch: it keeps scores, where ``fit`` keeps parameters.

    ``class_priors`` are those that PU-only criteria read; None stands for the one that the run itself works with, which
    is known when its training begins.
    """

    def __init__(
        self,
        table: torch.Tensor,
        validation: JudgedStack,
        test: JudgedStack,
        class_priors: Sequence[float | None],
        *,
        single_set: bool,
        own: str = "last",
        patience: int | None = None,
    ) -> None:
        super().__init__(len(class_priors), table.device, by=own, patience=None if own == "last" else patience)
        self.table, self.validation, self.test = table, validation, test
        self.class_priors = class_priors
        self.priors = torch.tensor(
            [torch.nan if prior is None else prior for prior in class_priors], dtype=torch.float64, device=table.device
        )
        self.population = validation.labelled | validation.unlabelled if single_set else validation.unlabelled
        self.has_loss = True
        self.kept: dict[str, dict[str, torch.Tensor]] = {}
        self.trace: list[Any] = []
        self.training_seconds: list[float] = []
        self.watching = 0.0
        self.program: Program | None = None
        self.started = self._now()

    def _now(self) -> float:
        if self.table.device.type == "cuda":
            torch.cuda.synchronize(self.table.device)
        return time.perf_counter()

    def begin(self) -> None:
        """Start the clock."""
        self.started, self.watching = self._now(), 0.0

    def seconds(self) -> float:
        """Training alone so far."""
        return self._now() - self.started - self.watching

    def __call__(self, program: Program, number: int, stage: Stage) -> torch.Tensor | None:
        """Look at an epoch; gives back which runs go on, where a run that stops saves something."""
        running = super().__call__(program, number, stage)
        # on a GPU all runs are one product, and recorded steps would change: the stopped ones train on, unseen
        rests = self.table.device.type == "cpu" or not bool(self.running.any())
        return running if rests else None

    def _take_over(self, at_work: Sequence[float | None]) -> None:
        """Fill in the class priors that runs work with, where nobody said which to select by."""
        for run, (said, own) in enumerate(zip(self.class_priors, at_work, strict=True)):
            if said is None and own is not None:
                self.priors[run] = own

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def look(self, program: Program, number: int) -> None:
        """Score the runs that have not stopped; what is said of the others is never read."""
        before = self._now()
        if self.program is None:
            self._take_over(program.stack.class_priors)
        self.training_seconds.append(before - self.started - self.watching)
        stopped = (~self.running).nonzero().flatten().tolist() if self.table.device.type == "cpu" else ()
        with not_scored(program.stack, stopped):
            self._look(program, number)
        self.program = program
        self.watching += self._now() - before

    def _look(self, program: Program, number: int) -> None:
        cuts = torch.tensor(
            [program.cut(scores, run) for run, scores in enumerate(program.reference_scores())],
            dtype=torch.float32,
            device=self.table.device,
        )
        raw = [program.score(part.rows) for part in (self.validation, self.test)]
        losses = self._own_losses(program, raw[0])
        validation, test = (scores - cuts[:, None] for scores in raw)
        self.see(number, validation, test, losses)

    def see(self, number: int, validation: torch.Tensor, test: torch.Tensor, losses: torch.Tensor | None) -> None:
        """Take decision values of an epoch: positive means predicted positive."""
        held = self.validation
        called, tested = validation > 0, test > 0
        recall = (called & held.labelled).sum(1).double() / held.labelled.sum(1)
        negative = (~called & self.population).sum(1).double() / self.population.sum(1)
        values = {
            "proxy_accuracy": proxy_accuracy(recall, negative, self.priors),
            "proxy_roc_auc": area(validation, held.labelled, held.unlabelled),
            "loss": torch.full_like(recall, torch.nan) if losses is None else losses,
            "oracle_accuracy": held.accuracy(called),
            "oracle_f1": held.f1(called),
            "oracle_macro_f1": held.macro_f1(called),
        }
        seen = [
            self.test.accuracy(tested),
            self.test.f1(tested),
            area(test, self.test.truth, self.test.real & ~self.test.truth),
        ]
        self.trace.append(torch.stack([*values.values(), *seen]))
        broken = validation.isnan().any(1) | test.isnan().any(1)
        better = {
            name: (-value if name == "loss" else value).masked_fill(broken, torch.nan)
            for name, value in values.items()
            if name != "loss" or losses is not None
        }
        self.scores = {"validation": validation, "test": test}
        self.note(number, better | {"last": torch.full_like(recall, number)})

    def keep(self, name: str, better: torch.Tensor) -> None:
        """The decision values of this epoch."""
        kept = self.kept.get(name)
        self.kept[name] = {
            part: new.clone() if kept is None else torch.where(better[:, None], new, kept[part])
            for part, new in self.scores.items()
        }

    def _own_losses(self, program: Program, scores: torch.Tensor) -> torch.Tensor | None:
        """The method's own validation loss, where it has one."""
        if not self.has_loss:
            return None
        here, labelled, population = scores.cpu(), self.validation.labelled.cpu(), self.population.cpu()
        try:
            result = [
                program.own_loss(here[run][labelled[run]], here[run][population[run]]) for run in range(self.runs)
            ]
        except PulensError:
            self.has_loss = False
            return None
        return torch.tensor(result, dtype=torch.float64, device=scores.device)

    def curves(self) -> list[dict[str, list[Any]]]:
        """For every run what was seen at every epoch until it stopped."""
        result = torch.stack(self.trace).cpu().numpy()  # [epochs, what, runs]
        columns = (*CRITERIA, *SEEN)
        ends = self.best["last"].epoch.tolist()
        lengths = [self.epochs.index(end) + 1 for end in ends]
        return [
            {
                "epoch": self.epochs[:length],
                "seconds": self.training_seconds[:length],
                **{name: result[:length, place, run].tolist() for place, name in enumerate(columns)},
            }
            for run, length in enumerate(lengths)
        ]

    def found(self, run: int) -> dict[str, Any]:
        """The class prior a run worked with, and what it found besides its parameters."""
        if self.program is None:
            return {}
        return {"class_prior": self.program.stack.class_priors[run], **self.program.facts(run)}

    def choices(self) -> list[dict[str, Chosen]]:
        """For every run and criterion the chosen epoch; a criterion that was never a number chose the last one."""
        host = {name: {part: values.cpu().numpy() for part, values in kept.items()} for name, kept in self.kept.items()}
        epochs = {name: best.epoch.tolist() for name, best in self.best.items()}
        values = {name: best.value.tolist() for name, best in self.best.items()}
        result: list[dict[str, Chosen]] = []
        for run in range(self.runs):
            sizes = {"validation": self.validation.sizes[run], "test": self.test.sizes[run]}

            def at(name: str, value: float, run: int = run, sizes: dict[str, int] = sizes) -> Chosen:
                kept = host[name]
                return Chosen(epochs[name][run], value, *(kept[part][run, :size] for part, size in sizes.items()))

            chosen = {"last": at("last", float("nan"))}
            for name in host:
                value = values[name][run]
                if name != "last":
                    never = epochs[name][run] < 0
                    chosen[name] = chosen["last"] if never else at(name, -value if name == "loss" else value)
            result.append(chosen)
        return result
