"""Many learners of one class fitted as one stack: from settings and rows to fitted networks."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pulens.counts.sample import LABELLED
from pulens.errors import InputError, listed
from pulens.learning.learners.base.chance import state_number
from pulens.learning.learners.base.prior import estimated_class_prior, resolved_prior
from pulens.learning.learners.base.settings import check_settings, own_settings, settled
from pulens.learning.learners.stack.aside import set_aside
from pulens.learning.learners.stack.device import find_device
from pulens.learning.learners.stack.division import Division, divide, positives_first
from pulens.learning.learners.stack.loop import EpochHook, Report, train
from pulens.learning.learners.stack.modules import builder_of
from pulens.learning.learners.stack.networks import CONVOLUTIONS, StackedNetwork, built
from pulens.learning.learners.stack.program import Builder, Program, Stack
from pulens.learning.learners.stack.rows import Part, StackedRows
from pulens.learning.learners.stack.selection import Selection, check_selection
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.learners.stack.warm_start import WarmStart
from pulens.scenario import Scenario, check_scenario


def fit_many(
    learners: Sequence[Any],
    X: Any,
    labels: Sequence[Any],
    *,
    rows: Sequence[Any] | None = None,
    validation: Sequence[tuple[Any, Any]] | None = None,
    support: Sequence[tuple[Any, Any]] | None = None,
    on_epoch: EpochHook | None = None,
    convolution: str | None = None,
    groups: Sequence[Any] | None = None,
    sample_weight: Sequence[Any] | None = None,
    start: nn.Module | WarmStart | None = None,
) -> list[Any]:
    """Fit learners of one class as a stack: parameters side by side, the table on the device once.

    They may differ in ``random_state``, ``class_prior`` and numeric settings such as ``learning_rate``; run r gives
    what it gives alone. ``rows[r]`` are the rows of X that run r uses (repeats allowed) and ``labels[r]`` their labels;
    ``validation[r]`` is a pair (rows, labels), and so is ``support[r]``, with true labels 1 and -1, for methods that
    ask for a few rows of known class. ``on_epoch(program, epoch, stage)`` is called after every epoch; where it gives
    back a boolean tensor [runs], runs that are false there stop with the parameters they have. ``groups[r]`` says which
    of run r's rows belong together: they stay so where rows are held out, and in the folds of an estimated class prior.
    ``sample_weight[r]`` says of every row of X how many rows it stands for in run r, for methods that can use it.
    ``start`` is a network like the backbone, from which all runs begin instead of from weights drawn by their seeds;
    a ``pulens.learners.stack.warm_start.WarmStart()`` lets a single run begin where a few steps of nnPU lead.

    >>> import numpy as np
    >>> from pulens.learners import NNPU, fit_many
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> labels = (X[:, 0] > 0.8).astype(int)
    >>> options = {"class_prior": 0.4, "backbone": "linear", "epochs": 2}
    >>> fitted = fit_many([NNPU(random_state=seed, **options) for seed in range(3)], X, [labels] * 3)
    >>> [len(learner.predict(X)) for learner in fitted]
    [80, 80, 80]
    """
    _check_stack(learners, convolution)
    first, seeds = learners[0], [_seed(learner.random_state) for learner in learners]
    device, scenario = find_device(first.device), check_scenario(first.scenario)
    # a tensor that is on the device already stays there: a benchmark scores the same rows
    values = X if isinstance(X, torch.Tensor) else torch.as_tensor(np.ascontiguousarray(X, np.float32))
    for learner in learners:
        learner.row_shape_ = tuple(int(size) for size in values.shape[1:])
    division = divide(first, len(values), labels, rows, validation, seeds, groups)
    if _leaves_out_copies(first, scenario):
        division = division.without_copies(values)
    together = _groups_of_rows(len(values), rows, groups, len(learners))
    priors = [
        _class_prior(learner, values, part, np.asarray(codes), scenario, seed, ids)
        for learner, part, codes, seed, ids in zip(learners, division.training, labels, seeds, together, strict=True)
    ]
    table = values.to(device, torch.float32)
    judged = division.judged(table, scenario, sample_weight)
    streams = Streams(seeds, device)
    data, watched = _training_rows(first, division, table, scenario, streams, judged, sample_weight)
    fresh = builder_of(first.backbone, first.row_shape_)
    backbone = _beginning(fresh, start, data, priors, seeds)
    builders = first._program.builders(first, first.row_shape_, backbone)
    builders |= dict.fromkeys(first._program.always_fresh, fresh)
    stack = Stack(
        data,
        streams,
        _networks(first, builders, seeds, device, convolution),
        torch.tensor([np.nan if prior is None else prior for prior in priors], dtype=torch.float32, device=device),
        _settings(learners, device),
        watched,
        priors,
        _known(first, support, table, scenario),
        backbone,
    )
    _check_batch_norm(stack)
    program = first._program(stack)
    report = train(
        program,
        criterion=_criterion(first.selection, judged, priors, division),
        patience=first.patience,
        on_epoch=on_epoch,
        progress=first.progress,
        deterministic=first.deterministic,
    )
    _hand_over(learners, program, builders, report)
    return list(learners)


def _check_stack(learners: Sequence[Any], convolution: str | None) -> None:
    """Refuse what could not be trained, or not as one."""
    for learner in learners:
        check_settings(learner)
    _check_alike(learners)
    first = learners[0]
    check_selection(first.selection)
    if convolution is not None and convolution not in CONVOLUTIONS:
        raise InputError(f"convolution must be one of {listed(CONVOLUTIONS)}, got {convolution!r}.")


def _leaves_out_copies(first: Any, scenario: Scenario) -> bool:
    """Whether training compares held-out rows with one another: then none may be trained on as an unlabelled copy."""
    program = first._program
    return bool(scenario is Scenario.CASE_CONTROL and program.leaves_out_copies and program.needs_held_out_rows(first))


def _training_rows(
    first: Any,
    division: Division,
    table: torch.Tensor,
    scenario: Scenario,
    streams: Streams,
    judged: StackedRows | None,
    weights: Sequence[Any] | None = None,
) -> tuple[StackedRows, StackedRows | None]:
    """Rows to train on, and rows that the method may watch: those held out, unless these carry true classes."""
    data = StackedRows(table, division.training, scenario, weights)
    if not division.is_true:
        return data, judged
    if first._program.needs_held_out_rows(first):
        return set_aside(data, first.validation_fraction, streams, copies=not _leaves_out_copies(first, scenario))
    return data, None


def _networks(
    first: Any, builders: dict[str, Builder], seeds: Sequence[int], device: torch.device, convolution: str | None
) -> list[StackedNetwork]:
    return [
        StackedNetwork(
            build,
            seeds,
            device,
            precision=first.precision,
            convolution=convolution,
            name=name,
            compiled=first.compile,
        )
        for name, build in builders.items()
    ]


def _beginning(
    build: Builder,
    start: nn.Module | WarmStart | None,
    data: StackedRows,
    priors: Sequence[float | None],
    seeds: Sequence[int],
) -> Builder:
    """A function that makes the network from which runs begin."""
    if start is None:
        return build
    if not isinstance(start, nn.Module):
        if data.runs > 1:
            raise InputError(f"a warm start is for a single run, not for {data.runs}.")
        start = start(build, data, priors[0], seeds[0])
    return partial(deepcopy, start)


def _check_batch_norm(stack: Stack) -> None:
    if stack.runs > 1 and not stack.data.is_even and any(network.has_batch_norm for network in stack.networks):
        raise InputError(
            "runs of a stack whose network has batch norm must have equal numbers of labelled and of unlabelled rows."
        )


def _known(
    first: Any, support: Sequence[tuple[Any, Any]] | None, table: torch.Tensor, scenario: Scenario
) -> StackedRows | None:
    """Rows of known class, for methods that ask for some."""
    if support is None:
        return None
    return StackedRows(table, [positives_first(pair, type(first).__name__) for pair in support], scenario)


def _criterion(
    selection: str, judged: StackedRows | None, priors: Sequence[float | None], division: Division
) -> Selection | None:
    """What chooses the epoch that is kept, or none to keep the last."""
    if selection == "last":
        return None
    assert judged is not None
    if selection not in ("proxy_auc", "loss") and not division.is_true and None in priors:
        raise InputError(
            f"selection={selection!r} needs the class prior, which was not given; use selection='proxy_auc'."
        )
    return Selection(selection, judged, priors, division.truths)


def _hand_over(learners: Sequence[Any], program: Program, builders: dict[str, Builder], report: Report) -> None:
    """Give every learner the network, the cut and all else that its run has found."""
    stack = program.stack
    assert stack.backbone is not None
    cuts = [program.cut(scores, run) for run, scores in enumerate(program.reference_scores())]
    for run, learner in enumerate(learners):
        learner.network_ = _module_of(stack.network, stack.backbone, run)
        for name in program.kept:
            setattr(learner, f"{name}_", _module_of(stack.named(name), builders[name], run))
        learner.cut_ = float(cuts[run])
        learner.class_prior_ = stack.class_priors[run]
        learner.classes_ = np.array([0, 1])
        learner.rescues_ = ()
        learner.best_epoch_ = report.best_epoch[run]
        learner.history_ = [{"epoch": entry["epoch"], "selection": entry["selection"][run]} for entry in report.history]
        facts = {name: settled(learner, name) for name in own_settings(learner)} | program.facts(run)
        learner.facts_ = sorted(f"{name}_" for name in facts)  # what saving writes down besides the usual
        for name, value in facts.items():
            setattr(learner, f"{name}_", value)


def _module_of(network: StackedNetwork, build: Builder, run: int) -> nn.Module:
    """One run's network as an ordinary module, for evaluation on the CPU."""
    module = built(build, 0)
    module.load_state_dict(network.state_of(run))
    return module.eval()


def _check_alike(learners: Sequence[Any]) -> None:
    first = learners[0]
    for learner in learners[1:]:
        if type(learner) is not type(first):
            raise InputError("learners of a stack must be of one class.")
        for field in fields(first):
            mine, theirs = settled(first, field.name), settled(learner, field.name)
            numeric = isinstance(mine, float) and isinstance(theirs, float)
            if field.name in ("random_state", "class_prior") or numeric or mine is theirs:
                continue
            if mine != theirs:
                raise InputError(
                    f"learners of a stack may differ in numbers only, but {field.name} is {mine!r} and {theirs!r}."
                )


def _settings(learners: Sequence[Any], device: torch.device) -> dict[str, Any]:
    result = {}
    for field in fields(learners[0]):
        values = [settled(learner, field.name) for learner in learners]
        same = all(value is values[0] or value == values[0] for value in values[1:])
        if field.name in ("random_state", "class_prior") or same:
            result[field.name] = values[0]
        else:
            result[field.name] = torch.tensor(values, dtype=torch.float32, device=device)
    return result


def _seed(random_state: Any) -> int:
    number = state_number(random_state)
    if number is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) % (1 << 63)
    return number % (1 << 63)


def _groups_of_rows(count: int, rows: Sequence[Any] | None, groups: Sequence[Any] | None, runs: int) -> list[Any]:
    """For each run the group of every row of the table; ``None`` where rows are not in groups."""
    if groups is None:
        return [None] * runs
    result = []
    for run, ids in enumerate(groups):
        own = np.full(count, -1)
        own[np.arange(count) if rows is None else np.asarray(rows[run])] = np.asarray(ids)
        result.append(own)
    return result


def _class_prior(
    learner: Any,
    table: torch.Tensor,
    part: Part,
    codes: NDArray[Any],
    scenario: Scenario,
    seed: int,
    groups: NDArray[Any] | None = None,
) -> float | None:
    """The share of positives in the population, as given or estimated; None where a method does without."""
    given, needed = learner.class_prior, learner._program.needs_class_prior

    def estimate(method: str) -> float:
        rows = np.concatenate([part.labelled, part.unlabelled])
        kinds = np.repeat([1, 0], [len(part.labelled), len(part.unlabelled)])
        features = table[torch.as_tensor(rows)].cpu().numpy()
        ids = None if groups is None else groups[rows]
        return estimated_class_prior(features, kinds, str(scenario), seed, method=method, groups=ids)

    if isinstance(given, str) and given == "auto" and not needed:
        return None
    share = float((codes == LABELLED).mean())
    return resolved_prior(given, scenario, share, who=type(learner).__name__, needed=needed, estimate=estimate)
