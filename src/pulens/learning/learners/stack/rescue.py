"""Training of one network that is not left where it fails: other weights to begin with, another loss, another cut."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from torch import nn

from pulens.counts.sample import LABELLED
from pulens.learning.learners.base.collapse import (
    LEAST_KNOWN,
    collapse_of,
    cut_of_prior,
    known_auc,
    knows_its_labels,
    warn_if_untaught,
    warn_that_training_lost,
    well_known_auc,
)
from pulens.learning.learners.base.rescues import CUT, LOSS, START_KEPT, WARM_START, Rescue
from pulens.learning.learners.base.settings import settled
from pulens.learning.learners.stack.fitting import fit_many
from pulens.learning.learners.stack.warm_start import STEPS, WarmStart
from pulens.scenario import Scenario, check_scenario

FEW_STEPS = 1000  # of a whole training, after which a network may still be near to where it began
FEW_LABELLED = 200  # rows, a tenth of which would choose the epoch by accident


def fit_rescued(
    learner: Any,
    whole: NDArray[np.float32],
    labels: NDArray[np.int8],
    table: NDArray[np.float32],
    given: dict[str, Any],
) -> None:
    """Train as ``fit_many`` does, and again in another way where that fails; ``rescues_`` says what made the network.

    ``table`` are the rows of ``labels``, scaled as the network reads them; ``whole`` has validation rows behind them.
    """
    known, unlabelled = table[labels == LABELLED], table[labels != LABELLED]
    warm, done = WarmStart(), []
    may_begin_warm = "validation" not in given and bool(_passes(learner))
    reason = begins_warm(learner, len(known), len(table)) if may_begin_warm else None
    if reason is not None:
        given = {**given, "start": warm}
        done.append(Rescue(WARM_START, f"began where {STEPS} steps of nnPU lead: {reason}"))
    fit_many([learner], whole, [labels], **given)
    if _may_change_loss(learner) and (word := collapse_of(learner, unlabelled)) is not None:
        # the sigmoid loss is flat where it has settled; the logistic one still has a way down
        take_over(learner, fit_many([clone(learner).set_params(loss="logistic")], whole, [labels], **given)[0])
        done.append(Rescue(LOSS, f"logistic: with the sigmoid loss every unlabelled row was called {word}"))
    if may_begin_warm and reason is None and not knows_its_labels(learner, known, unlabelled):
        take_over(learner, fit_many([clone(learner)], whole, [labels], **given, start=warm)[0])
        again = "from random weights its labelled rows were not ranked above unlabelled ones"
        done = [Rescue(WARM_START, f"began again where {STEPS} steps of nnPU lead: {again}")]
    if warm.network is not None:
        done += _start_if_lost(learner, warm.network, known, unlabelled)
        warn_if_untaught(learner, known, unlabelled)
    done += _pinned(learner, table if check_scenario(learner.scenario) is Scenario.SINGLE_SET else unlabelled)
    learner.rescues_ = tuple(done)


def begins_warm(learner: Any, labelled: int, rows: int) -> str | None:
    """Why rows are too few for weights drawn at random; None where they are not, or somebody has chosen the epochs."""
    passes = _passes(learner)
    if not passes or learner.selection.startswith("oracle"):
        return None
    if labelled < FEW_LABELLED:
        return f"{labelled:,} labelled rows, fewer than {FEW_LABELLED}"
    steps = sum(passes.values()) * _steps_of_epoch(learner, rows)
    return f"{steps:,} steps in all epochs, fewer than {FEW_STEPS:,}" if steps < FEW_STEPS else None


def _passes(learner: Any) -> dict[str, int]:
    """How many epochs a learner's stages have, by the names of the settings; empty where somebody has chosen them."""
    result = {}
    for one in fields(learner):
        value = getattr(learner, one.name)
        if one.name.endswith("epochs") and isinstance(value, int):
            if value != one.default:
                return {}
            result[one.name] = value
    return result


def _steps_of_epoch(learner: Any, rows: int) -> int:
    """How many batches make up an epoch, about; some learners are told."""
    told = getattr(learner, "steps_per_epoch", None)
    if isinstance(told, int):
        return told
    size = getattr(learner, "batch_size", 256)
    return -(-rows // (size if isinstance(size, int) else 256))


def _may_change_loss(learner: Any) -> bool:
    """Whether the loss is the method's own, not given by somebody, and can be flat."""
    return getattr(learner, "loss", "given") is None and settled(learner, "loss") == "sigmoid"


def take_over(learner: Any, other: Any) -> None:
    """Give a learner all that fitting left in another one; its settings stay its own."""
    for name, value in vars(other).items():
        if name.endswith("_"):
            setattr(learner, name, value)


def _start_if_lost(
    learner: Any, start: nn.Module, labelled: NDArray[np.float32], unlabelled: NDArray[np.float32]
) -> list[Rescue]:
    """Go back to the network that training began from where that knew labelled rows well, and this one does not."""
    enough = LEAST_KNOWN  # without a class prior nobody knows what a good classifier has
    if learner.class_prior_ is not None:
        scenario = check_scenario(learner.scenario)
        enough = well_known_auc(learner.class_prior_, len(labelled), len(unlabelled), scenario)
    end, result = learner.network_, known_auc(learner, labelled, unlabelled)
    learner.network_ = deepcopy(start).eval()
    before = known_auc(learner, labelled, unlabelled)
    if result >= enough or before < enough:
        learner.network_ = end
        return []
    learner.best_epoch_, learner.cut_ = 0, 0.0
    warn_that_training_lost(learner, before, result)
    chances = f"a chance of {before:.2f} before training and {result:.2f} after"
    return [Rescue(START_KEPT, f"labelled rows outscored unlabelled ones with {chances}")]


def _pinned(learner: Any, population: NDArray[np.float32]) -> list[Rescue]:
    """Cut at the class prior where the method's own cut is far from it, unless somebody has chosen the epochs."""
    cut = cut_of_prior(learner, population) if _passes(learner) else None
    if cut is None:
        return []
    scores = learner._network_logits(population)
    before, now = (f"{int((scores > one).sum()):,}" for one in (learner.cut_, cut))
    learner.cut_ = cut
    called = f"{now} of {scores.size:,} rows are called positive, not {before}"
    return [Rescue(CUT, f"moved to the class prior, {learner.class_prior_:.3g}: {called}")]
