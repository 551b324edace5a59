r"""LaGAM: latent groups by contrast, and labels corrected by a few rows of known class (Long et al. 2024).

Every unlabelled row carries a soft label that starts at 0. After a warm-up each step asks, through a virtual step of
the last layer, which change of a row's label would lower the loss on a *support set* of known classes, and moves the
stored label that way. Meanwhile contrastive losses pull together views of a row and rows of one latent group.

The support set holds true labels of both classes: this is more than positive and unlabelled rows.
:class:`~pulens.learners.LaGAMPUOnly` does without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from pulens.errors import InputError
from pulens.learning.learners.base.facts import DISAMBIGUATION, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts.contrast import contrast, group_loss, instance_loss, nearest, same_group
from pulens.learning.learners.parts.groups import grouped
from pulens.learning.learners.parts.mixing import mix_with_partners
from pulens.learning.learners.parts.views import Views, usual_views
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.networks import built
from pulens.learning.learners.stack.program import Builder, Program, Stack, Stage
from pulens.learning.learners.stack.rows import Batch, Draw, Pooled, StackedRows, sequence_of
from pulens.learning.learners.stack.streams import Streams
from pulens.learning.risks.disambiguation import class_balanced, kept_share, label_gradient, layer_slopes, support_slope

STEPS_DOWN = (0.625, 0.75, 0.875)  # epochs 250, 300 and 350 of 400
PIECE = 4096  # rows times runs projected at once on a CPU


@dataclass(frozen=True)
class WholeBatches(Pooled):
    """Shuffled rows without the last short batch, unless it is the only one."""

    def draws(self, data: StackedRows, streams: Streams, epoch: int) -> Iterator[Draw]:
        whole = (data.row_counts // self.size).clamp(min=1)
        uneven = len(set(data.n_rows)) > 1
        for draw in super().draws(data, streams, epoch):
            step = draw.moment[1]
            if step and (step + 1) * self.size > data.widest:
                return
            if not uneven:
                yield draw
                continue
            active = step < whole
            yield replace(draw, active=active if draw.active is None else active & draw.active)


class GroupProgram(Program):
    """Network 0 classifies; network 1 projects what its last layer reads."""

    needs_class_prior = False
    recordable = True
    network_names = ("network", "projection")
    shares: torch.Tensor
    groups: torch.Tensor
    as_positive: torch.Tensor
    as_negative: torch.Tensor
    old_share: torch.Tensor
    new_share: torch.Tensor
    begun: Any = False  # whether nearest neighbours count; a mask [R, 1, 1] where runs differ

    @classmethod
    def builders(cls, learner: Any, row_shape: tuple[int, ...], backbone: Builder) -> dict[str, Builder]:
        dense = [module for module in built(backbone, 0).modules() if isinstance(module, nn.Linear)]
        if not dense:
            raise InputError(
                f"{type(learner).__name__} reads what the last nn.Linear reads, but the backbone has none."
            )
        width, size = dense[-1].in_features, learner.projection_size

        def projection() -> nn.Module:
            return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, size))

        return {"network": backbone, "projection": projection}

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        self.support = self.find_support()
        data = stack.data
        self.labels = data.is_labelled.float()
        shape = tuple(data.table.shape[1:])
        self.views = Views(data, *usual_views(shape, mirror=self.value("mirror")))

    def find_support(self) -> StackedRows:
        """Rows whose loss tells which labels to change: here positives first, then negatives, all known."""
        result = self.stack.support
        if result is None:
            raise InputError(
                "LaGAM needs a support set of rows with true labels, both classes: fit(X, y, support=(X_support, "
                "true_labels)) with labels 1 and -1, or fit_many(..., support=[...]). Without any true label use "
                "LaGAMPUOnly, which estimates the support loss from positive and unlabelled rows."
            )
        for positives, rows in zip(result.n_labelled, result.n_rows, strict=True):
            if not 0 < positives < rows:
                raise InputError(
                    f"the support set must hold both classes, got {positives:,} positive (1) and {rows - positives:,} "
                    "negative (-1) rows. Some tens of either are a start; the authors use 500 in all."
                )
        return result

    def support_weights(self, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        """How much each of 2 * size drawn rows counts as positive and as negative: [1 or R, 2 * size]."""
        first = (torch.arange(2 * size, device=self.stack.data.device) < size)[None].float()
        return first / size, (1 - first) / size

    support_groups = ("labelled", "unlabelled")  # known positives and known negatives, as the rows are laid out

    def stages(self) -> list[Stage]:
        size, warm, main = self.value("batch_size"), self.value("warm_up_epochs"), self.value("epochs")
        self.total = warm + main
        for name in ("step_down", "mixup"):
            if isinstance(self.value(name), torch.Tensor):
                raise InputError(f"{name} must be the same in all runs of a stack.")

        def factor(epoch: int) -> float:
            passed = sum(epoch >= share * self.total for share in STEPS_DOWN)
            return float(self.value("step_down") ** passed)

        both = (0, 1)
        return [
            Stage("warm-up", warm, WholeBatches(size), self.adam(), factor, selectable=False, networks=both),
            Stage(
                "training",
                main,
                WholeBatches(size, skip_without_labelled=False),
                self.adam(),
                lambda epoch: factor(warm + epoch),
                networks=both,
            ),
        ]

    def begin_epoch(self, stage: Stage, moment_epoch: int) -> None:
        stack, size = self.stack, self.value("support_batch_size")
        steps = stage.batches.steps(stack.data)
        self.hold("shares", stack.streams.beta("mixup", moment_epoch, steps, self.value("mixup")))
        if stage.name == "warm-up":
            return
        epoch = self.total - stage.epochs + self.epoch_in_stage
        groups = grouped(
            self.projected(), stack.data.row_counts, self.value("groups"), stack.streams, (moment_epoch, 0)
        )
        self.hold("groups", groups)
        for group in self.support_groups:
            self.hold(f"drawn_{group}", sequence_of(self.support, stack.streams, moment_epoch, group, size * steps))
        kept = kept_share(epoch, self.total, *(per_run(self.value(name), 1) for name in ("keep", "keep_at_end")))
        shares = (torch.as_tensor(share, dtype=torch.float32, device=stack.data.device) for share in (kept, 1 - kept))
        names = ("as_positive", "as_negative", "old_share", "new_share")
        for name, values in zip(names, (*self.support_weights(size), *shares), strict=True):
            self.hold(name, values)
        begun = epoch > per_run(self.value("neighbours_after"), 2) * self.total
        self.begun = self.begun.copy_(begun) if isinstance(self.begun, torch.Tensor) else begun

    def recorded_for(self, stage: Stage) -> Any:
        """Steps are the same from epoch to epoch, until neighbours begin to count."""
        return self.begun is False

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def projected(self) -> torch.Tensor:
        """Evaluation-mode projections [R, widest, size] of the training rows as they are."""
        data, (network, head) = self.stack.data, self.stack.networks
        weight = max(1, int(np.prod(data.table.shape[1:])) // 512)
        piece = max(1, PIECE * (1 if data.device.type == "cpu" else 64) // (data.runs * weight))
        result = [head(network.with_features(data.table[rows].float())[1]) for rows in data.rows.split(piece, 1)]
        return F.normalize(torch.cat(result, 1), dim=2)

    def loss(self, stage: Stage, batch: Batch) -> torch.Tensor:
        stack, moment = self.stack, batch.moment
        network, head = stack.networks
        real = (batch.labelled + batch.unlabelled) > 0
        weak, strong = (view(batch.x, stack.streams, moment) for view in (self.views.weak, self.views.strong))
        share = batch.now(self.shares)
        share = torch.maximum(share, 1 - share)
        partner = stack.streams.permutations("partner", moment, real.sum(1), real.shape[1])
        mixed = mix_with_partners(weak, partner, share)
        # views of a row side by side: padding then stands behind everything, whatever the batch
        z, features = network.with_features(torch.stack([weak, strong, mixed], 2).flatten(1, 2), stack.streams, moment)
        z = z.view(*real.shape, 3)
        features = features.view(*real.shape, 3, -1)
        labels = self.labels.gather(1, batch.positions)
        if stage.name == "training":
            labels = self.refined(batch, real, labels, z[..., 0].detach(), features[:, :, 0].detach())
        result: torch.Tensor = class_balanced(z[..., 0], labels, real)
        mixed_loss: torch.Tensor = class_balanced(z[..., 2], mix_with_partners(labels, partner, share), real)
        result = result + self.value("mixup_weight") * mixed_loss
        unit = F.normalize(head(features[:, :, :2].flatten(1, 2), stack.streams, moment), dim=2)
        first, second = unit.view(*real.shape, 2, -1).unbind(2)
        logarithms = contrast(first, second, real, per_run(self.value("temperature"), 2))
        contrastive = instance_loss(logarithms, real)
        if stage.name == "training":
            together = self.together(batch, real, z[..., 0], first, second)
            contrastive = contrastive + group_loss(logarithms, together, real)
        return result + self.value("contrast_weight") * contrastive

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def together(
        self, batch: Batch, real: torch.Tensor, z: torch.Tensor, weak: torch.Tensor, strong: torch.Tensor
    ) -> torch.Tensor:
        """Who is pulled together: one latent group and one prediction; later the nearest neighbours too."""
        result = same_group(self.groups.gather(1, batch.positions), z > 0)
        if self.begun is False:
            return result
        return result | (nearest(weak, strong, real, self.value("neighbours")) & self.begun)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def refined(
        self, batch: Batch, real: torch.Tensor, labels: torch.Tensor, z: torch.Tensor, features: torch.Tensor
    ) -> torch.Tensor:
        """Labels moved towards the class that would lower the support loss, and remembered."""
        known = batch.labelled > 0
        means, totals, own = layer_slopes(z, features, labels, real)
        rate = self.value("meta_rate")
        direction = self.direction(batch, sum(means) * per_run(rate, 1))
        as_negative, as_positive = label_gradient(means, totals, own, features, direction, per_run(rate, 1))
        moved = self.old_share * labels + self.new_share * (as_positive < as_negative)
        both_there = (totals[0] > 0) & (totals[1] > 0)  # without mass on both sides the gradients say nothing
        result = torch.where(known | ~both_there[:, None], labels, moved)
        stays = ~real if batch.active is None else ~(real & batch.active[:, None])
        self.labels.scatter_(1, batch.positions, torch.where(stays, labels, result))
        return result

    def direction(self, batch: Batch, shift: torch.Tensor) -> torch.Tensor:
        """Gradient of the support loss by the last weights [R, width], after these moved by minus ``shift``."""
        size, support = self.value("support_batch_size"), self.support
        drawn = (getattr(self, f"drawn_{group}") for group in self.support_groups)
        places = torch.cat([batch.now_slice(own, size) for own in drawn], 1)
        x = support.table[support.rows.gather(1, places)].float()
        z, features = self.stack.network.with_features(x)
        virtual = z - (features * shift[:, None]).sum(2)
        result: torch.Tensor = support_slope(virtual, features, self.as_positive, self.as_negative)
        return result

    def facts(self, run: int) -> dict[str, Any]:
        data = self.stack.data
        own = self.labels[run][data.is_unlabelled[run]]
        return {
            "support": self.describe_support(run),
            "true_labels_used": self.true_labels(run),
            "relabelled_share": float((own > 0.5).float().mean()),
        }

    def true_labels(self, run: int) -> int:
        """How many true labels training has read."""
        return self.support.n_rows[run]

    def describe_support(self, run: int) -> str:
        positives = self.support.n_labelled[run]
        return f"true labels of {positives} positive and {self.support.n_rows[run] - positives} negative rows"


def per_run(value: Any, dimensions: int) -> Any:
    """A setting as it multiplies tensors with this many axes behind that of the runs."""
    return value.view(-1, *[1] * dimensions) if isinstance(value, torch.Tensor) else value


@dataclass(kw_only=True, eq=False, repr=False)
class LaGAM(PULearner):
    """LaGAM: contrastive groups and labels refined on a support set. **Needs rows with true labels of both classes.**

    ``fit(X, y, support=(X_support, true_labels))`` with true labels 1 and -1; ``support_`` and ``true_labels_used_`` of
    the fitted learner say what was used, and a comparison with methods that see no true label should say so too. The
    support rows should be neither training nor validation rows. No class prior is needed.

    Constants are the authors', the schedule is their 20 + 380 epochs in fewer.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> some, rest = np.arange(600) % 20 == 0, np.arange(600) % 20 != 0
    >>> learner = LaGAM(epochs=4, warm_up_epochs=1, batch_size=64, random_state=0, device="cpu")
    >>> learner = learner.fit(X[rest], labels[rest], support=(X[some], np.where(positive[some], 1, -1)))
    >>> learner.support_
    'true labels of 12 positive and 18 negative rows'
    >>> bool((learner.predict(X) == positive).mean() > 0.9)
    True
    """

    selection: str = "proxy_auc"  #: needs no class prior; the authors keep the last epoch
    #: clusters; about the number of kinds of things (the authors: 5 on CIFAR-10, 100 on CIFAR-100)
    groups: int = setting(10, least=1)
    warm_up_epochs: int = 5  #: labels as given, no groups yet (the authors: 20 of 400)
    epochs: int = 45  #: after the warm-up
    contrast_weight: float = 0.1  #: of both contrastive losses; the authors, who have pictures: 1
    temperature: float = setting(0.07, above=0)  #: of the contrastive losses
    projection_size: int = setting(128, least=1)
    neighbours: int = setting(10, least=1)  #: nearest views that count as of one group
    neighbours_after: float = 0.125  #: from this share of all epochs on (the authors: 50 of 400)
    mixup: float = 4.0  #: both parameters of the Beta distribution
    mixup_weight: float = 1.0
    meta_rate: float = 1e-3  #: of the virtual step
    keep: float = setting(0.95, least=0, most=1)  #: share of the stored label that an update keeps, at first
    keep_at_end: float = setting(0.8, least=0, most=1)  #: and in the last epoch
    support_batch_size: int = setting(64, least=1)  #: support rows of either kind in a step
    mirror: bool = False  #: may pictures be mirrored? Not where left and right mean something, as in digits
    batch_size: int = setting(128, least=1)  #: the authors: 64
    learning_rate: float = setting(3e-4, above=0)  #: the authors: SGD with 1e-3 on a network with batch norm
    weight_decay: float = 1e-4
    step_down: float = 0.1  #: the learning rate is multiplied by this at 5/8, 6/8 and 7/8 of all epochs

    _program = GroupProgram
    needs_support: ClassVar[bool] = True

    def fit(  # type: ignore[override]  # its own groups are another thing
        self,
        X: Any,
        y: Any,
        *,
        support: tuple[Any, Any] | None = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Any:
        """Train on rows with PU labels and a support set (X, true labels 1 and -1) of both classes.

        ``validation`` is a pair (X, labels) to select the epoch on; keep it apart from the support set.
        """
        return self._fit(X, y, support=support, validation=validation)


LEARNER = Learner(LaGAM, title="LaGAM-PU (true support labels)", family=DISAMBIGUATION, place=14)
