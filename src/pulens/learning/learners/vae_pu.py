r"""VAE-PU: generate the positives that nobody labelled, and learn from them (Na et al. 2020)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import nn

from pulens.errors import InputError
from pulens.learning.learners.base.facts import GENERATIVE, Learner
from pulens.learning.learners.base.settings import setting
from pulens.learning.learners.parts import players
from pulens.learning.learners.parts.gaussians import fit_two, positive_last
from pulens.learning.learners.parts.output import Outputs
from pulens.learning.learners.parts.sampling import Generates, check_number, generator_of
from pulens.learning.learners.stack.learner import PULearner
from pulens.learning.learners.stack.program import Builder, Program, Stage, Turn, gradients_of
from pulens.learning.learners.stack.rows import Batch, Drawn
from pulens.learning.risks.correction import corrected
from pulens.learning.risks.losses import logistic, sigmoid
from pulens.learning.risks.mixture_prior import biased_risk, component_odds, mixture_bound, normal_bound
from pulens.scenario import Scenario

SLOPE, DROPOUT = 0.2, 0.3
WIDEST = 10.0  # logarithms of variances stay within plus and minus this
POOL, CANDIDATES = 200, 2000  # latents of virtual rows that a fitted learner keeps; unlabelled rows they are made with
STARTS = 4  # of the mixture: one from the labelled rows, the others from pairs of rows
# networks by place: the classifier, four parts of the autoencoder, the discriminator
CLASSIFIER, AUTOENCODER, DISCRIMINATOR = 0, (1, 2, 3, 4), 5


@dataclass(frozen=True)
class Encoded:
    """A batch in the latent space: means, logarithms of variances and draws, of the class and of the observation."""

    mu_y: torch.Tensor
    s_y: torch.Tensor
    h_y: torch.Tensor
    mu_o: torch.Tensor
    s_o: torch.Tensor
    h_o: torch.Tensor


class HiddenPositivesProgram(Program):
    recordable = True
    same_steps = True
    kept = ("class_encoder", "observation_encoder", "decoder")
    means: Any = None  # of the class latent's mixture [R, 2, D], negatives first
    variances: Any = None

    @classmethod
    def builders(cls, learner: Any, row_shape: tuple[int, ...], backbone: Builder) -> dict[str, Builder]:
        hidden, y, o = tuple(learner.hidden), learner.class_latent, learner.observation_latent
        told = with_observation(row_shape)
        return {
            "network": backbone,
            "class_encoder": lambda: players.encoder(row_shape, hidden, 2 * y, slope=SLOPE),
            "observation_encoder": lambda: players.encoder(told, hidden, 2 * o, slope=SLOPE),
            "decoder": lambda: players.generator(y + o, row_shape, hidden, slope=SLOPE),
            "observer": lambda: nn.Linear(o, 1),
            "discriminator": lambda: players.discriminator(row_shape, hidden[:1], slope=SLOPE, dropout=DROPOUT),
        }

    def stages(self) -> list[Stage]:
        self.first = self.value("labelled_batch_size")
        self.outputs = Outputs(self.value("output"), self.stack.data)
        self.shares = row_shares(self.stack)
        self.prior = (self.shares[0] + self.shares[1]).clamp(max=1 - 1e-4)[:, None]
        sizes = {"labelled": self.first, "unlabelled": self.value("batch_size")}
        batches = Drawn(sizes, fixed_steps=self.value("steps_per_epoch"))
        slow = self.adam(learning_rate=self.value("vae_learning_rate"), weight_decay=0.0)
        rates = {CLASSIFIER: self.adam(), **dict.fromkeys((*AUTOENCODER, DISCRIMINATOR), slow)}
        generation, classification = (*AUTOENCODER, DISCRIMINATOR), (CLASSIFIER,)
        plan = {
            "generation": generation,
            "classification": classification,
            "refinement": generation,
            "together": (*classification, *generation),
            "last classification": classification,
        }
        result = [Stage("pre-training", self.value("pretraining_epochs"), batches, (slow,) * 3, networks=(1, 2, 3))]
        ends = phase_ends(self.value("phases"), self.value("epochs"))
        for (name, networks), begin, end in zip(plan.items(), (0, *ends), ends, strict=False):
            own = tuple(rates[place] for place in networks)
            trained = CLASSIFIER in networks  # before that there is nothing to choose from
            result.append(Stage(name, end - begin, batches, own, selectable=trained, networks=networks))
        return [stage for stage in result if stage.epochs]

    def begin_stage(self, stage: Stage) -> None:
        if stage.name != "pre-training" and self.means is None:
            self.fit_mixture()

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def fit_mixture(self) -> None:
        """The prior of the class latent: two Gaussians over all rows, the second of them that of the labelled ones."""
        data = self.stack.data
        width = self.value("class_latent")
        points = self.stack.named("class_encoder").score(data.table, data.rows)[..., :width]
        labelled, valid = data.is_labelled, data.is_labelled | data.is_unlabelled
        centre = (points * labelled[..., None]).sum(1) / labelled.sum(1, keepdim=True)
        whole = (points * valid[..., None]).sum(1) / valid.sum(1, keepdim=True)
        informed = torch.stack([2 * whole - centre, centre], 1)
        order = self.stack.streams.permutations("mixture", (0, 0), data.row_counts, data.widest)
        # a run may have fewer rows than starts need
        places = torch.arange(2 * (STARTS - 1), device=data.device)[None] % data.row_counts[:, None]
        pairs = points.gather(1, order.gather(1, places)[..., None].expand(-1, -1, width))
        starts = torch.cat([informed[:, None], pairs.view(data.runs, STARTS - 1, 2, width)], 1)
        self.means, self.variances = positive_last(*fit_two(points, valid, starts), points, labelled)

    def step(self, stage: Stage, batch: Batch, turn: Turn) -> None:
        own = {place: number for number, place in enumerate(stage.networks)}
        networks = self.stack.networks
        if stage.name == "pre-training":
            raw = self.decode(self.latents(self.encode(batch, train=True)), batch, train=True)
            slopes = gradients_of(self.reconstruction(raw, batch.x).sum(), [networks[place] for place in own])
            for number, slope in enumerate(slopes):
                turn.take(number, slope)
            return
        if DISCRIMINATOR in own:
            encoded = self.encode(batch, train=True)
            raw, virtual = self.decode_all(encoded, batch)
            losses = self.discriminator_losses(batch, virtual.detach())
            turn.take(own[DISCRIMINATOR], gradients_of(losses.sum(), [networks[DISCRIMINATOR]])[0])
            total = self.evidence(batch, encoded, raw) + self.deception(virtual, pulled=stage.name != "generation")
            slopes = gradients_of(total.sum(), [networks[place] for place in AUTOENCODER])
            for place, slope in zip(AUTOENCODER, slopes, strict=True):
                turn.take(own[place], slope)
        if CLASSIFIER in own:
            turn.take(own[CLASSIFIER], gradients_of(self.classifier_losses(batch).sum(), [networks[CLASSIFIER]])[0])

    def encode(self, batch: Batch, *, train: bool) -> Encoded:
        streams, moment = self.stack.streams, batch.moment
        given = streams if train else None

        def drawn(name: str, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            mu, s = self.stack.named(name)(x, given, moment).chunk(2, -1)
            s = s.clamp(-WIDEST, WIDEST)
            noise = streams.normal(name + (" training" if train else ""), moment, tuple(mu.shape[1:]))
            return mu, s, mu + (s / 2).exp() * noise

        y = drawn("class_encoder", batch.x)
        return Encoded(*y, *drawn("observation_encoder", observed(batch.x, batch.labelled)))

    def latents(self, encoded: Encoded) -> torch.Tensor:
        return torch.cat([encoded.h_y, encoded.h_o], 2)

    def virtual_latents(self, encoded: Encoded) -> torch.Tensor:
        """What the labelled rows are, with the observation of the nearest unlabelled row of the batch."""
        first = self.first
        own, other = encoded.h_o[:, :first], encoded.h_o[:, first:]
        place = nearest(own.detach(), other.detach())
        swapped = other.gather(1, place[..., None].expand(-1, -1, other.shape[2]))
        return torch.cat([encoded.h_y[:, :first], swapped], 2)

    def decode(self, latents: torch.Tensor, batch: Batch, *, train: bool) -> torch.Tensor:
        raw = self.stack.named("decoder")(latents, self.stack.streams if train else None, batch.moment)
        return raw.reshape(*latents.shape[:2], *batch.x.shape[2:])

    def decode_all(self, encoded: Encoded, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Raw values of the batch itself, and virtual rows, from one pass."""
        both = torch.cat([self.latents(encoded), self.virtual_latents(encoded)], 1)
        raw = self.decode(both, batch, train=True)
        rows = batch.x.shape[1]
        return raw[:, :rows], self.outputs(raw[:, rows:])

    def reconstruction(self, raw: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """[R]: cross entropy for values within a range, else half the squared error; summed over a row."""
        result = torch.zeros(len(raw), device=raw.device)
        for output in self.outputs.different:
            if output == "sigmoid":
                each = F.binary_cross_entropy_with_logits(raw, x, reduction="none")
            elif output == "tanh":  # tanh(raw) is 2 sigmoid(2 raw) - 1
                each = F.binary_cross_entropy_with_logits(2 * raw, (x + 1) / 2, reduction="none")
            else:
                # entries of vectors of length 1 have a variance near 1/d: as they are, the divergences would win
                scale = x.shape[-1] if output == "unit" else 1
                each = 0.5 * scale * (self.outputs(raw) - x) ** 2
            result = torch.where(self.outputs.where(output, 1), each.flatten(2).sum(2).mean(1), result)
        return result

    def evidence(self, batch: Batch, encoded: Encoded, raw: torch.Tensor) -> torch.Tensor:
        """[R]: minus the bound E1 + ... + E7."""
        posterior = sigmoid(component_odds(encoded.h_y, self.means, self.variances, self.prior), -1)
        bound = sum(
            mixture_bound(encoded.mu_y, encoded.s_y, posterior, self.means, self.variances, self.prior)
            + normal_bound(encoded.mu_o, encoded.s_o)
        )
        told = self.stack.named("observer")(encoded.h_o)
        observation = logistic(told, 1) * batch.labelled + logistic(told, -1) * (1 - batch.labelled)
        result: torch.Tensor = self.reconstruction(raw, batch.x) - bound + observation.mean(1)
        return result

    def discriminator_losses(self, batch: Batch, virtual: torch.Tensor) -> torch.Tensor:
        """[R]: virtual rows against unlabelled ones."""
        z = self.stack.logits(batch, torch.cat([virtual, batch.x[:, self.first :]], 1), network=DISCRIMINATOR)
        result: torch.Tensor = logistic(z[:, : self.first], -1).mean(1) + logistic(z[:, self.first :], 1).mean(1)
        return result

    def deception(self, virtual: torch.Tensor, *, pulled: bool) -> torch.Tensor:
        """[R]: virtual rows should pass for unlabelled and, once there is a classifier, be called positive."""
        result: torch.Tensor = self.value("adversarial") * logistic(
            self.stack.networks[DISCRIMINATOR](virtual), 1
        ).mean(1)
        if pulled:
            result = result + self.value("pull") * sigmoid(self.stack.network(virtual), 1).mean(1)
        return result

    def classifier_losses(self, batch: Batch) -> torch.Tensor:
        """[R]: the PU risk with virtual rows for the hidden positives; the generator is not taught by it."""
        with torch.no_grad():
            latents = self.virtual_latents(self.encode(batch, train=False))
            virtual = self.outputs(self.decode(latents, batch, train=False))
        z = self.stack.logits(batch, torch.cat([batch.x, virtual], 1))
        rows = batch.x.shape[1]
        parts = biased_risk(z[:, : self.first], z[:, rows:], z[:, self.first : rows], self.shares)
        result: torch.Tensor = corrected(parts)
        return result

    def finish(self) -> None:
        if self.means is None:
            self.fit_mixture()
        self.pool = self.virtual_pool()

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def virtual_pool(self) -> torch.Tensor:
        """Means and logarithms of variances of both latents of virtual rows [R, POOL, 2(y + o)], for sampling later."""
        data, streams = self.stack.data, self.stack.streams

        def some(first: torch.Tensor, sizes: torch.Tensor, count: int) -> torch.Tensor:
            order = streams.permutations("pool", (0, count), sizes, int(sizes.max()))
            places = torch.arange(count, device=data.device)[None] % sizes[:, None]
            return data.table[data.rows.gather(1, first + order.gather(1, places))].float()

        none = torch.zeros_like(data.labelled_counts)[:, None]
        own = some(none, data.labelled_counts, POOL)
        other = some(data.labelled_counts[:, None], data.row_counts - data.labelled_counts, CANDIDATES)
        read = self.stack.named("observation_encoder")
        h_own = read(observed(own, torch.ones(own.shape[:2], device=own.device)))
        h_other = read(observed(other, torch.zeros(other.shape[:2], device=own.device)))
        width = self.value("observation_latent")
        place = nearest(h_own[..., :width], h_other[..., :width])
        swapped = h_other.gather(1, place[..., None].expand(-1, -1, 2 * width))
        return torch.cat([self.stack.named("class_encoder")(own), swapped], 2)

    def facts(self, run: int) -> dict[str, Any]:
        count = min(POOL, self.stack.data.n_labelled[run])
        return {"output": self.outputs.names[run], "virtual": self.pool[run, :count].tolist()}


def row_shares(stack: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Shares of labelled rows, hidden positives and unlabelled rows among all rows, each [R]."""
    data = stack.data
    labelled = data.labelled_counts / data.row_counts
    among = stack.class_prior
    if data.scenario is Scenario.CASE_CONTROL:
        return labelled, among * (1 - labelled), 1 - labelled
    return labelled, (among - labelled).clamp(min=1e-4), 1 - labelled


def phase_ends(phases: Sequence[float], epochs: int) -> list[int]:
    """The last epoch of each phase.

    >>> phase_ends((0.5, 0.625, 0.75, 0.875), 800)
    [400, 500, 600, 700, 800]
    """
    if len(phases) != 4 or not all(0 <= a <= b <= 1 for a, b in zip((0, *phases), (*phases, 1), strict=True)):
        raise InputError(f"phases must be four shares of the epochs, none below the one before, got {phases!r}.")
    return [*(math.floor(share * epochs) for share in phases), epochs]


def with_observation(row_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of rows that say whether they are labelled: two more numbers, or two more channels."""
    if players.is_picture(row_shape):
        return (row_shape[0] + 2, *row_shape[1:])
    return (math.prod(row_shape) + 2,)


def observed(x: torch.Tensor, labelled: torch.Tensor) -> torch.Tensor:
    """Rows [R, b, ...] with (1, 0) appended where labelled and (0, 1) where not."""
    one_hot = torch.stack([labelled, 1 - labelled], 2)
    if x.dim() == 5:
        return torch.cat([x, one_hot[..., None, None].expand(-1, -1, -1, *x.shape[3:])], 2)
    return torch.cat([x.flatten(2), one_hot], 2)


def nearest(points: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Which of the others [R, m, D] is nearest to each point [R, n, D]; no root, whose slope at zero is infinite.

    >>> nearest(torch.tensor([[[0.0], [1.0]]]), torch.tensor([[[0.9], [-0.1], [2.0]]]))
    tensor([[1, 0]])
    """
    squares = (others**2).sum(2)[:, None] - 2 * points @ others.transpose(1, 2)
    return squares.argmin(2)


@dataclass(kw_only=True, eq=False, repr=False)
class VAEPU(Generates, PULearner):
    """VAE-PU: an autoencoder draws virtual hidden positives, and a PU risk learns from them; labels may be biased.

    A labelled row is decoded with the observation part of a similar unlabelled row; a discriminator makes the result
    look unlabelled, the classifier makes it look positive. ``sample`` draws such rows. Epochs fall into five phases:
    generation, classification, refinement of the generator by the classifier, both together, classification.
    """

    selection: str = "last"
    class_latent: int = setting(10, least=1)  #: length of what a row is
    observation_latent: int = setting(2, least=1)  #: length of how it came to be labelled
    hidden: tuple[int, ...] = (256, 256)  #: widths for vectors; the authors use 500-500; pictures convolve
    adversarial: float = 0.1  #: weight of looking unlabelled; the authors use 0.01 to 3, by data set
    pull: float = 1.0  #: weight of looking positive; the authors use 1 to 10
    output: str = "auto"  #: range of generated rows: "linear", "sigmoid", "tanh", "unit"; "auto" looks at the rows
    phases: tuple[float, ...] = (0.5, 0.625, 0.75, 0.875)  #: shares of the epochs at which phases end
    pretraining_epochs: int = 10  #: reconstruction alone; the authors use 100
    epochs: int = 80  #: the authors use 800
    steps_per_epoch: int = setting(25, least=1)
    batch_size: int = setting(256, least=1)  #: unlabelled rows of a step
    labelled_batch_size: int = setting(64, least=1)
    vae_learning_rate: float = setting(3e-4, above=0)
    learning_rate: float = setting(3e-4, above=0)  #: of the classifier
    weight_decay: float = 1e-5  #: of the classifier

    _program = HiddenPositivesProgram

    def sample(
        self, n: int, *, labelled: Any = None, unlabelled: Any = None, random_state: Any = None
    ) -> NDArray[np.float64]:
        """Generate n virtual positives that look unlabelled, in the scale of the data.

        Each has the class latent of a labelled row and the observation latent of the unlabelled row nearest to it, both
        drawn around their means: of some training rows, or of the ``labelled`` and ``unlabelled`` rows that are given.

        >>> X = np.random.default_rng(0).normal(size=(60, 3))
        >>> options = {"epochs": 2, "pretraining_epochs": 1, "steps_per_epoch": 2, "hidden": (8,), "device": "cpu"}
        >>> learner = VAEPU(class_prior=0.5, **options).fit(X, np.arange(60) < 20)
        >>> learner.sample(5).shape, learner.sample(4, labelled=X[:20], unlabelled=X[20:]).shape
        ((5, 3), (4, 3))
        """
        check_is_fitted(self)
        check_number(n)
        rng = generator_of(random_state)
        if (labelled is None) != (unlabelled is None):
            raise InputError("give both labelled and unlabelled rows to generate from, or neither.")
        latent = self._from_pool(n, rng) if labelled is None else self._from_rows(n, labelled, unlabelled, rng)
        return self._decoded("decoder", latent)

    def _from_pool(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        pool = np.array(self.virtual_)
        y, o = self.class_latent, self.observation_latent
        mu_y, s_y, mu_o, s_o = np.split(pool[rng.integers(len(pool), size=n)], [y, 2 * y, 2 * y + o], axis=1)
        parts = [
            mu + np.exp(np.clip(s, -WIDEST, WIDEST) / 2) * rng.normal(size=mu.shape)
            for mu, s in ((mu_y, s_y), (mu_o, s_o))
        ]
        return np.concatenate(parts, 1)

    def _from_rows(self, n: int, labelled: Any, unlabelled: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        own, other = (
            torch.as_tensor(self._scaled(self._read(rows, reset=False)))[None] for rows in (labelled, unlabelled)
        )
        own = own[:, rng.integers(own.shape[1], size=n)]

        def drawn(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
            mu, s = module(x[0]).chunk(2, 1)
            noise = torch.as_tensor(rng.normal(size=tuple(mu.shape)), dtype=torch.float32)
            return mu + (s.clamp(-WIDEST, WIDEST) / 2).exp() * noise

        with torch.no_grad():
            h_y = drawn(self.class_encoder_, own)
            h_own = drawn(self.observation_encoder_, observed(own, torch.ones(1, n)))
            h_other = drawn(self.observation_encoder_, observed(other, torch.zeros(other.shape[:2])))
            place = nearest(h_own[None], h_other[None])[0]
            result: NDArray[np.float64] = torch.cat([h_y, h_other[place]], 1).double().numpy()
        return result

    def _groups(self, n: int, random_state: Any) -> dict[str, NDArray[np.float64]]:
        return {"virtual hidden\npositives": self.sample(n, random_state=random_state)}


LEARNER = Learner(VAEPU, title="VAE-PU", family=GENERATIVE, place=16)
