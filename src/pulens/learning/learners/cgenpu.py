r"""CGenPU: a conditional generator of positives and negatives, judged by two other networks (Papic et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pulens.errors import InputError, listed
from pulens.learning.learners.base.facts import GENERATIVE, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts import players
from pulens.learning.learners.parts.break_even import PinnedCut
from pulens.learning.learners.parts.output import Outputs, output_for
from pulens.learning.learners.parts.sampling import Generates, check_number, generator_of
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Builder, Stage, Turn, gradients_of
from pulens.learning.learners.stack.rows import Batch, Drawn
from pulens.learning.risks.conditional import classifier_loss, deception, discriminator_loss, ties
from pulens.learning.risks.losses import sigmoid

NOISES = ("uniform", "normal")
KINDS = {"positive": (1.0, 0.0), "negative": (0.0, 1.0)}  # appended to the noise


class ConditionalProgram(PinnedCut):
    """Three networks: 0 classifies (A), 1 tells real from generated rows (D), 2 generates (G)."""

    needs_class_prior = False
    recordable = True
    same_steps = True
    kept = ("generator",)

    @classmethod
    def builders(cls, learner: Any, row_shape: tuple[int, ...], backbone: Builder) -> dict[str, Builder]:
        hidden = tuple(learner.hidden)
        return {
            "network": backbone,
            "discriminator": lambda: players.discriminator(row_shape, hidden),
            "generator": lambda: players.generator(learner.latent + len(KINDS), row_shape, hidden),
        }

    def stages(self) -> list[Stage]:
        size = self.value("batch_size")
        self.outputs = Outputs(self.value("output"), self.stack.data)
        self.kinds = torch.tensor(list(KINDS.values()), device=self.stack.data.device).repeat_interleave(size, 0)
        batches = Drawn({"labelled": size, "unlabelled": size}, fixed_steps=self.value("steps_per_epoch"))
        adam = self.adam(betas=(0.5, 0.999))
        return [Stage("training", self.value("epochs"), batches, adam, networks=(0, 1, 2))]

    def step(self, stage: Stage, batch: Batch, turn: Turn) -> None:
        """D, then A on the same generated rows, then G on fresh ones."""
        a, d, g = self.stack.networks
        with torch.no_grad():
            drawn = self.generate(batch, "judged")
        turn.take(1, gradients_of(self.discriminator_losses(batch, drawn).sum(), [d])[0])
        turn.take(0, gradients_of(self.classifier_losses(batch, drawn).sum(), [a])[0])
        turn.take(2, gradients_of(self.generator_losses(batch).sum(), [g])[0])

    def generate(self, batch: Batch, purpose: str, *, train: bool = False) -> torch.Tensor:
        """As many positives as labelled rows, then as many negatives: [R, 2b, ...]."""
        size = self.value("batch_size")
        streams, moment = self.stack.streams, batch.moment
        if self.value("noise") == "uniform":
            noise = 2 * streams.uniform(f"noise {purpose}", moment, (2 * size, self.value("latent"))) - 1
        else:
            noise = streams.normal(f"noise {purpose}", moment, (2 * size, self.value("latent")))
        latent = torch.cat([noise, self.kinds.expand(len(noise), -1, -1)], 2)
        raw = self.stack.named("generator")(latent, streams if train else None, moment)
        return self.outputs(raw.reshape(*latent.shape[:2], *batch.x.shape[2:]))

    def discriminator_losses(self, batch: Batch, drawn: torch.Tensor) -> torch.Tensor:
        parts = self.stack.logits(batch, torch.cat([batch.x, drawn], 1), network=1)
        result: torch.Tensor = discriminator_loss(*parts.split(self.value("batch_size"), 1))
        return result

    def classifier_losses(self, batch: Batch, drawn: torch.Tensor) -> torch.Tensor:
        size = self.value("batch_size")
        real, positive, negative = self.stack.logits(batch, torch.cat([batch.x[:, :size], drawn], 1)).split(size, 1)
        result: torch.Tensor = classifier_loss(real, positive, negative, self.value("aux_strength"))
        return result

    def generator_losses(self, batch: Batch) -> torch.Tensor:
        """A and D stand still and in evaluation mode; the labelled rows' scores are constants."""
        size = self.value("batch_size")
        a, d, _ = self.stack.networks
        drawn = self.generate(batch, "learning", train=True)
        with torch.no_grad():
            positive = a(batch.x[:, :size])
        tied = ties(positive, *a(drawn).split(size, 1))
        result: torch.Tensor = deception(*d(drawn).split(size, 1)) + self.value("aux_strength") * tied
        return result

    def facts(self, run: int) -> dict[str, Any]:
        return {"output": self.outputs.names[run], "mean_score": self.mean_scores[run]}

    def finish(self) -> None:
        self.mean_scores = [float(sigmoid(own, -1).mean()) for own in self.stack.population_scores()]


@dataclass(kw_only=True, eq=False, repr=False)
class CGenPU(Generates, PULearner):
    """CGenPU: learn positives and negatives by generating both; no class prior is needed.

    The discriminator makes the generated rows of both kinds resemble the data, the classifier ties one kind to the
    labelled positives and keeps the other apart, so the other has to cover the negatives. ``sample`` draws rows of
    either kind. ``mean_score_`` is the classifier's mean over the population and should be near the share of positives:
    below 0.05 or above 0.95 the game collapsed, try another ``random_state``.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> positive = np.arange(600) < 240
    >>> X = rng.normal(size=(600, 2)) + np.where(positive, 1.5, -1.5)[:, None]
    >>> labels = (positive & (rng.random(600) < 0.4)).astype(int)
    >>> learner = CGenPU(scenario="single-set", hidden=(32,), epochs=2, steps_per_epoch=5, random_state=0)
    >>> learner.fit(X, labels).predict(X).shape
    (600,)
    >>> learner.sample(3).shape
    (3, 2)
    """

    selection: str = "last"  #: as the authors do; with a class prior "proxy_auc" is better: the game goes up and down
    aux_strength: float = 1.0  #: weight of the classifier's terms against the discriminator's
    latent: int = setting(32, least=1)  #: length of the noise vector
    noise: str = setting("uniform", among=NOISES)  #: on [-1, 1], as the authors do, or "normal"
    hidden: tuple[int, ...] = (128, 128, 128)  #: widths of generator and discriminator for vectors; pictures convolve
    #: None scales tables, unless all values lie within [-1, 1]: then generated rows keep the range of the data
    standardise: bool | None = None
    output: str = "auto"  #: range of generated rows: "linear", "sigmoid", "tanh", "unit"; "auto" looks at the rows
    epochs: int = 40
    steps_per_epoch: int = setting(50, least=1)
    batch_size: int = setting(32, least=1)  #: labelled rows, unlabelled rows and generated rows of each kind
    learning_rate: float = setting(3e-4, above=0)
    weight_decay: float = 0.0
    pinned: bool = True  #: call the share ``class_prior`` positive where it is given, not what scores above zero

    _program = ConditionalProgram

    def _is_scaled(self, table: NDArray[np.float32]) -> bool:
        """Tables without a range of their own: that of others, such as [0, 1], is kept by generated rows."""
        return super()._is_scaled(table) and output_for(torch.as_tensor(table)) == "linear"

    def sample(self, n: int, *, kind: str = "positive", random_state: Any = None) -> NDArray[np.float64]:
        """Generate n rows of a kind, "positive" or "negative", in the scale of the data.

        >>> X = np.random.default_rng(0).normal(size=(60, 3))
        >>> learner = CGenPU(epochs=1, steps_per_epoch=2, batch_size=8, device="cpu").fit(X, np.arange(60) < 20)
        >>> learner.sample(5, kind="negative").shape
        (5, 3)
        """
        check_is_fitted(self)
        check_number(n)
        if kind not in KINDS:
            raise InputError(f"kind must be one of {listed(tuple(KINDS))}, got {kind!r}.")
        rng = generator_of(random_state)
        shape = (n, self.latent)
        noise = rng.uniform(-1, 1, shape) if self.noise == "uniform" else rng.normal(size=shape)
        return self._decoded("generator", np.concatenate([noise, np.tile(KINDS[kind], (n, 1))], 1))

    def _groups(self, n: int, random_state: Any) -> dict[str, NDArray[np.float64]]:
        return {f"generated {kind}": self.sample(n, kind=kind, random_state=random_state) for kind in KINDS}


LEARNER = Learner(CGenPU, title="CGenPU", family=GENERATIVE, place=18)
