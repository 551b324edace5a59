"""The scikit-learn face of every method that trains networks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from pulens.containers import plain_array
from pulens.counts.sample import LABELLED
from pulens.errors import InputError
from pulens.inputs.dense import dense
from pulens.keywords import typed
from pulens.learning.learners.base.classifier import PUClassifier, refuse_options
from pulens.learning.learners.base.collapse import warn_if_collapsed
from pulens.learning.learners.base.labels import label_codes
from pulens.learning.learners.base.rescues import CHOICES, said
from pulens.learning.learners.base.row_groups import checked_groups
from pulens.learning.learners.base.settings import check_settings, setting
from pulens.learning.learners.base.tables import numbers_only
from pulens.learning.learners.base.wrapper import checked_weights, refuse_estimated_prior
from pulens.learning.learners.stack.device import find_device
from pulens.learning.learners.stack.fitting import fit_many
from pulens.learning.learners.stack.optimiser import KINDS
from pulens.learning.learners.stack.program import Program
from pulens.learning.learners.stack.rescue import fit_rescued, take_over
from pulens.scenario import DEFAULT_SCENARIO
from pulens.types import Floats

PRECISIONS = ("float32", "tf32", "bfloat16")
WORTH_A_THREAD = 50_000  # numbers of a batch


@contextmanager
def threads_for(learner: Any, table: NDArray[np.float32]) -> Iterator[None]:
    """As many threads as a batch gives work to: on a small table more of them only wait for each other."""
    before = torch.get_num_threads()
    size = getattr(learner, "batch_size", 256)
    batch = (size if isinstance(size, int) else 256) * int(np.prod(table.shape[1:]))
    torch.set_num_threads(max(1, min(before, batch // WORTH_A_THREAD)) if table.ndim == 2 else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(kw_only=True, eq=False, repr=False)
class PULearner(PUClassifier):
    """What all network learners share.

    Labels are 1 for labelled positives and 0 (or null) for unlabelled rows; declare other codings with ``positive``.
    Predictions are 1 and 0.
    """

    class_prior: Any = "auto"  #: share of positives in the population; "auto" or an estimator's name estimates it
    scenario: str = DEFAULT_SCENARIO  #: or "case-control": the labelled rows were collected separately
    backbone: Any = "mlp"  #: a name of pulens.backbones, a torch module, or a function (row_shape) -> module
    selection: str = "proxy_accuracy"  #: which epoch is kept: see pulens.learners.stack.selection, or a pulens metric
    validation_fraction: float = 0.1  #: share of either kind of rows held out for the selection
    #: stop after this many epochs without improvement; None trains all epochs
    patience: int | None = setting(None, least=1)
    optimiser: str = setting("adam", among=KINDS)  #: "adam" (coupled weight decay), "adamw" or "sgd"
    device: str = "auto"
    precision: str = setting("float32", among=PRECISIONS)  #: "tf32" or "bfloat16" are faster on GPUs
    compile: bool = False  #: hand the forward pass to torch.compile
    deterministic: bool = False  #: only deterministic kernels; matters on GPUs
    progress: bool = True  #: a progress bar on terminals
    random_state: Any = None
    #: scale every feature to mean 0 and deviation 1, as learned from the training rows; None: tables, not pictures
    standardise: bool | None = None
    positive: Any = None  #: label value that means labelled positive; everything else is then unlabelled
    #: "auto": where training fails ``fit`` begins elsewhere or changes loss or cut, see ``rescues_``; "none": never
    rescue: str = setting("auto", among=CHOICES)

    _program: ClassVar[type[Program]]

    def fit(
        self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None, groups: Any = None, **refused: Any
    ) -> Any:
        """Train on rows with PU labels.

        ``validation`` is a pair (X, labels) to select the epoch on, instead of a held-out share. With
        ``selection="oracle"`` its labels are true ones, 1 and -1; training never sees any. A classifier that calls
        every unlabelled row the same comes with a ``pulens.errors.CollapseWarning``.

        With ``rescue="auto"`` training that fails is changed, and ``rescues_`` says how. A classifier that calls every
        unlabelled row the same is trained once more with the logistic loss where the method's own is the sigmoid loss
        and ``loss`` was not given; ``loss_`` is the one that was used. Unless epochs or ``validation`` were set by
        you, a network begins where 120 steps of nnPU have led, not at random weights, if less than 200 rows are
        labelled, if all epochs make less than 1,000 steps, or if its own labelled rows were not ranked
        above unlabelled ones in the end. If training loses what the start knew of these rows, the start is kept
        (``best_epoch_`` is 0), with a warning. Where it then calls less than a third, or more than three times, of the
        positives or negatives that the class prior says there are, it is cut at the class prior. With
        ``rescue="none"`` none of this is done: ``fit`` gives what :func:`pulens.learners.fit_many` gives.

        ``groups`` holds one id per row where rows belong together (visits of a patient): they are held out together,
        and never split where an estimated class prior needs scores out of fold.
        """
        refuse_options(type(self).__name__, refused)
        return self._fit(X, y, groups=groups, validation=validation)

    def _fit(self, X: Any, y: Any, *, groups: Any = None, weights: Any = None, **pairs: tuple[Any, Any] | None) -> Any:
        """Train on rows, beside pairs (X, labels) that are given to ``fit_many`` by their name."""
        check_settings(self)
        table = self._learn_scale(self._read(X, reset=True))
        labels = label_codes(y, len(table), positive=self.positive, who=type(self).__name__)
        tables, start = [table], len(table)
        told: dict[str, Any] = {}
        kept: dict[str, Any] = {} if groups is None else {"groups": [checked_groups(groups, len(table))]}
        for name, pair in pairs.items():
            if pair is None:
                continue
            other = self._scaled(self._read(pair[0], reset=False))
            codes = label_codes(pair[1], len(other), positive=self.positive, who=type(self).__name__, negatives=True)
            told[name] = [(np.arange(start, start + len(other)), codes)]
            tables.append(other)
            start += len(other)
        whole = np.concatenate(tables) if told else table
        if weights is not None:
            kept["sample_weight"] = [self._stands_for(weights, labels, len(whole))]
        given: dict[str, Any] = {**told, **kept, "rows": [np.arange(len(table))]}
        with threads_for(self, table):
            if self.rescue == "none":
                fit_many([self], whole, [labels], **given)
            else:
                fit_rescued(self, whole, labels, table, given)
        warn_if_collapsed(self, table[labels != LABELLED])
        return self

    def _fit_further(self, X: Any, y: Any, weights: Any = None) -> Any:
        """One epoch over some rows, from the network that is there, or from a fresh one."""
        begun = hasattr(self, "network_")
        rows = self._read(X, reset=not begun)
        table = self._scaled(rows) if begun else self._learn_scale(rows)
        labels = label_codes(y, len(table), positive=self.positive, who=type(self).__name__)
        given: dict[str, Any] = {}
        if weights is not None:
            given["sample_weight"] = [self._stands_for(weights, labels, len(table))]
        passes = getattr(self, "passes_", 0) if begun else 0
        one = clone(self).set_params(epochs=1, selection="last", patience=None)
        if isinstance(self.random_state, int):
            one.random_state = self.random_state + passes  # another order of rows in every pass
        if begun:
            given["start"] = self.network_
            one.class_prior = self.class_prior_ if isinstance(self.class_prior, str) else self.class_prior
        with threads_for(self, table):
            take_over(self, fit_many([one], table, [labels], **given)[0])
        self.passes_ = passes + 1
        return self

    def _stands_for(self, weights: Any, labels: NDArray[np.int8], rows: int) -> NDArray[np.float64]:
        """How many rows each row of the table stands for, none of them less than one; rows behind are one each."""
        refuse_estimated_prior(self.class_prior)
        if self.selection not in ("proxy_accuracy", "last"):
            raise InputError(
                f"selection={self.selection!r} counts validation rows alike, and sample_weight says that they do not: "
                "take 'proxy_accuracy' or 'last'."
            )
        result = checked_weights(weights, labels == LABELLED)
        return np.concatenate([result / result[result > 0].min(), np.ones(rows - result.size)])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Settings, as scikit-learn shows them, and what ``fit`` did beside the method."""
        settings = fill(
            super().__repr__(N_CHAR_MAX),
            width=80,
            subsequent_indent=" " * (len(type(self).__name__) + 1),
            break_long_words=False,
            break_on_hyphens=False,
        )
        return "\n".join(filter(None, (settings, said(getattr(self, "rescues_", ())))))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Logits minus the method's cut: positive means predicted positive."""
        result: Floats = self._logits(X) - self.cut_
        return result

    def _posterior(self, X: Any) -> Floats:
        return self._probability(self._logits(X))

    @typed
    def save(self, path: str | Path) -> Path:
        """Write the fitted learner to a folder: weights as safetensors, everything else as JSON, nothing pickled."""
        from pulens.learning.learners.saving.networks import save

        check_is_fitted(self)
        return save(self, Path(path))

    def _probability(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = 0.5 + 0.5 * np.tanh(0.5 * (logits - self.cut_))
        return result

    def _logits(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._network_logits(self._scaled(self._read(X, reset=False)))

    def _network_logits(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Logits of rows that are scaled already."""
        table = torch.as_tensor(rows)
        device = find_device(self.device)
        network = self.network_.to(device).eval()
        piece = max(1, (1 << 22) // max(1, int(np.prod(table.shape[1:]))))
        with torch.no_grad():
            parts = [network(part.to(device).float()).reshape(-1).cpu() for part in table.split(piece)]
        self.network_.to("cpu")
        result: NDArray[np.float64] = torch.cat(parts).double().numpy()
        return result

    def _read(self, X: Any, *, reset: bool) -> NDArray[np.float32]:
        """Rows as float32, checked; sparse tables are made dense."""
        if isinstance(X, torch.Tensor):
            X = plain_array(X)
        pictures = getattr(X, "ndim", 2) > 2
        with numbers_only(type(self).__name__):
            result = validate_data(
                self, X, reset=reset, dtype=np.float32, accept_sparse="csr", allow_nd=pictures, ensure_min_samples=1
            )
        table: NDArray[np.float32] = np.ascontiguousarray(dense(result, bytes_each=4))
        if table.ndim == 3:  # grey pictures
            table = table[:, None]
        if not reset and table.shape[1:] != tuple(self.row_shape_):
            raise InputError(f"rows have shape {table.shape[1:]}, but training rows had {tuple(self.row_shape_)}.")
        if reset:
            self.row_shape_: Any = tuple(int(size) for size in table.shape[1:])
        return table

    def _learn_scale(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        for name in ("mean_", "deviation_"):  # of rows that were fitted before
            if hasattr(self, name):
                delattr(self, name)
        if self._is_scaled(table) if self.standardise is None else self.standardise:
            deviation = table.std(0, dtype=np.float64)
            self.mean_ = table.mean(0, dtype=np.float64).tolist()
            self.deviation_ = np.where(deviation > 0, deviation, 1.0).tolist()
        return self._scaled(table)

    def _is_scaled(self, table: NDArray[np.float32]) -> bool:
        """Whether columns are scaled where nobody says."""
        return table.ndim == 2

    def _scaled(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        if not hasattr(self, "mean_"):
            return table
        most = np.finfo(np.float32).max
        with np.errstate(over="ignore"):  # a row may lie further out, in deviations, than its numbers can tell
            scaled = (table - np.array(self.mean_)) / np.array(self.deviation_)
        result: NDArray[np.float32] = np.clip(scaled, -most, most).astype(np.float32)
        return result
