"""The scikit-learn face of every method that trains networks, and :func:`fit_many`, which trains many as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
from torch import nn

from pulens import backbones
from pulens.errors import AssumptionError, InputError, listed
from pulens.inputs.arrays import plain_values
from pulens.inputs.columns import LabelCoding
from pulens.inputs.dense import dense
from pulens.learners.base.collapse import warn_if_collapsed
from pulens.learners.base.known_negatives import refuse_known_negatives
from pulens.learners.base.prior import check_estimator_name, check_known_prior, estimated_class_prior
from pulens.learners.base.settings import check_settings
from pulens.learners.stack.aside import set_aside
from pulens.learners.stack.loop import EpochHook, Program, Stack, train
from pulens.learners.stack.networks import CONVOLUTIONS, StackedNetwork, built
from pulens.learners.stack.rows import Part, StackedRows
from pulens.learners.stack.selection import Selection, check_selection, proxy_accuracy, proxy_auc
from pulens.learners.stack.streams import Streams
from pulens.sample import LABELLED, NEGATIVE
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario

PRECISIONS = ("float32", "tf32", "bfloat16")
NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.int8))  # no rows, no labels


@dataclass(kw_only=True, eq=False, repr=False)
class PULearner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What all network learners share.

    Labels are 1 for labelled positives and 0 (or null) for unlabelled rows; declare other codings with ``positive``.
    Predictions are 1 and 0.
    """

    class_prior: Any = "auto"  #: share of positives in the population; "auto" or an estimator's name estimates it
    scenario: str = DEFAULT_SCENARIO  #: or "case-control": the labelled rows were collected apart
    backbone: Any = "mlp"  #: a name of pulens.backbones, a torch module, or a function (row_shape) -> module
    selection: str = "proxy_accuracy"  #: which epoch is kept: see pulens.learners.stack.selection, or a pulens metric
    validation_fraction: float = 0.1  #: share of either kind of rows held out for the selection
    patience: int | None = None  #: stop after so many epochs without improvement; None trains all epochs
    optimiser: str = "adam"  #: "adam" (coupled weight decay), "adamw" or "sgd"
    device: str = "auto"
    precision: str = "float32"  #: "tf32" or "bfloat16" are faster on GPUs
    compile: bool = False  #: hand the forward pass to torch.compile
    deterministic: bool = False  #: only deterministic kernels; matters on GPUs
    progress: bool = True  #: a progress bar on terminals
    random_state: Any = None
    standardise: bool = False  #: scale every feature to mean 0 and deviation 1, as learned from the training rows
    positive: Any = None  #: label value that means labelled positive; everything else is then unlabelled

    _program: ClassVar[type[Program]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # labels say who was labelled, not who is positive: agreement with them is no measure of quality
        tags.classifier_tags.poor_score = True
        tags.input_tags.sparse = True
        tags.input_tags.three_d_array = False
        return tags

    def fit(self, X: Any, y: Any, *, validation: tuple[Any, Any] | None = None) -> Any:
        """Train on rows with PU labels.

        ``validation`` is a pair (X, labels) to select the epoch on, instead of a held-out share. With
        ``selection="oracle"`` its labels are true ones, 1 and -1; training never sees any. A classifier that calls
        every unlabelled row the same comes with a ``pulens.errors.CollapseWarning``.
        """
        table = self._learn_scale(self._read(X, reset=True))
        labels = self._codes(y, len(table))
        if validation is None:
            fit_many([self], table, [labels])
        else:
            held_out = self._scaled(self._read(validation[0], reset=False))
            rows = np.arange(len(table), len(table) + len(held_out))
            codes = self._codes(validation[1], len(held_out), negatives=True)
            whole = np.concatenate([table, held_out])
            fit_many([self], whole, [labels], rows=[np.arange(len(table))], validation=[(rows, codes)])
        warn_if_collapsed(self, table[labels != LABELLED])
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Logits minus the method's cut: positive means predicted positive."""
        found: NDArray[np.float64] = self._logits(X) - self.cut_
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Chances of (negative, positive); 0.5 is where :meth:`predict` changes its mind. Not calibrated."""
        positive = self._probability(self._logits(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 where the decision function is positive, else 0."""
        return (self.decision_function(X) > 0).astype(np.int64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy as PU labels can tell it (``proxy_accuracy``); without a class prior the proxy AUC.

        Plain accuracy against PU labels would reward calling every unlabelled row negative.
        """
        if sample_weight is not None:
            raise InputError("score does not take sample_weight; use pulens.evaluate, which takes weights.")
        values = self.decision_function(X)
        codes = self._codes(y, len(values))
        labelled, unlabelled = values[codes == LABELLED], values[codes != LABELLED]
        if not labelled.size or not unlabelled.size:
            raise InputError("score needs labelled and unlabelled rows.")
        if self.class_prior_ is None:
            return proxy_auc(labelled, unlabelled)
        followed = unlabelled if self.scenario == Scenario.CASE_CONTROL else values
        return float(proxy_accuracy((labelled > 0).mean(), (followed <= 0).mean(), self.class_prior_))

    def save(self, path: str | Path) -> Path:
        """Write the fitted learner to a folder: weights as safetensors, everything else as JSON, nothing pickled."""
        from pulens.learners.saving.folder import save

        check_is_fitted(self)
        return save(self, Path(path))

    def _probability(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = 0.5 + 0.5 * np.tanh(0.5 * (logits - self.cut_))
        return found

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
        found: NDArray[np.float64] = torch.cat(parts).double().numpy()
        return found

    def _read(self, X: Any, *, reset: bool) -> NDArray[np.float32]:
        """Rows as float32, checked; sparse tables are made dense."""
        if isinstance(X, torch.Tensor):
            X = X.detach().cpu().numpy()
        pictures = getattr(X, "ndim", 2) > 2
        found = validate_data(
            self, X, reset=reset, dtype=np.float32, accept_sparse="csr", allow_nd=pictures, ensure_min_samples=1
        )
        table: NDArray[np.float32] = np.ascontiguousarray(dense(found, bytes_each=4))
        if table.ndim == 3:  # grey pictures
            table = table[:, None]
        if not reset and table.shape[1:] != tuple(self.row_shape_):
            raise InputError(f"rows have shape {table.shape[1:]}, but training rows had {tuple(self.row_shape_)}.")
        if reset:
            self.row_shape_: Any = tuple(int(size) for size in table.shape[1:])
        return table

    def _learn_scale(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.standardise:
            deviation = table.std(0, dtype=np.float64)
            self.mean_ = table.mean(0, dtype=np.float64).tolist()
            self.deviation_ = np.where(deviation > 0, deviation, 1.0).tolist()
        return self._scaled(table)

    def _scaled(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self.standardise:
            return table
        scaled: NDArray[np.float32] = ((table - np.array(self.mean_)) / np.array(self.deviation_)).astype(np.float32)
        return scaled

    def _codes(self, y: Any, rows: int, negatives: bool = False) -> NDArray[np.int8]:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        array = column_or_1d(plain_values(y), warn=True)
        if len(array) != rows:
            raise InputError(f"there are {rows:,} rows but {len(array):,} labels.")
        if array.dtype.kind == "f" and (array != np.round(array)).any() and not np.isnan(array).any():
            raise InputError(f"labels must say who is labelled, got continuous numbers such as {array[0]!r}.")
        try:
            codes = LabelCoding(self.positive).encode(array, is_whole=False)
        except InputError as error:
            if len(np.unique(array.astype(str))) <= 2:
                raise
            raise InputError(
                f"Only binary classification is supported. The type of the target is multiclass: {error}"
            ) from error
        if not negatives:
            refuse_known_negatives(codes, type(self).__name__)
        return codes


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
) -> list[Any]:
    """Fit learners of one class as a stack: parameters side by side, the table on the device once.

    They may differ in ``random_state``, ``class_prior`` and numeric settings such as ``learning_rate``; run r gives
    what it gives alone. ``rows[r]`` are the rows of X that run r uses (repeats allowed) and ``labels[r]`` their labels;
    ``validation[r]`` is a pair (rows, labels), and so is ``support[r]``, with true labels 1 and -1, for methods that
    ask for a few rows of known class. ``on_epoch(program, epoch, stage)`` is called after every epoch; where it gives
    back a boolean tensor [runs], runs that are false there stop with the parameters they have.

    >>> import numpy as np
    >>> from pulens.learners import NNPU, fit_many
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> labels = (X[:, 0] > 0.8).astype(int)
    >>> options = {"class_prior": 0.4, "backbone": "linear", "epochs": 2}
    >>> fitted = fit_many([NNPU(random_state=seed, **options) for seed in range(3)], X, [labels] * 3)
    >>> [len(learner.predict(X)) for learner in fitted]
    [80, 80, 80]
    """
    first = learners[0]
    for learner in learners:
        check_settings(learner)
    _check_alike(learners)
    # a tensor that is on the device already stays there: a benchmark scores the same rows
    table_values = X if isinstance(X, torch.Tensor) else torch.as_tensor(np.ascontiguousarray(X, np.float32))
    for learner in learners:
        learner.row_shape_ = tuple(int(size) for size in table_values.shape[1:])
    device = find_device(first.device)
    scenario = check_scenario(first.scenario)
    selection = check_selection(first.selection)
    if first.precision not in PRECISIONS:
        raise InputError(f"precision must be one of {listed(PRECISIONS)}, got {first.precision!r}.")
    if convolution is not None and convolution not in CONVOLUTIONS:
        raise InputError(f"convolution must be one of {listed(CONVOLUTIONS)}, got {convolution!r}.")
    seeds = [_seed(learner.random_state) for learner in learners]
    parts, held_out, truths = [], [], []
    wants_rows = selection != "last" or first._program.needs_held_out_rows(first)
    for run, seed in enumerate(seeds):
        own = np.arange(len(table_values)) if rows is None else np.asarray(rows[run])
        codes = np.asarray(labels[run])
        if validation is not None:
            kept, other = (own, codes), (np.asarray(validation[run][0]), np.asarray(validation[run][1]))
        else:
            kept, other = _split(own, codes, first.validation_fraction, seed) if wants_rows else ((own, codes), NOTHING)
        parts.append(_part(*kept))
        held_out.append(other)
        truths.append(other[1] == LABELLED)
    oracle = selection.startswith("oracle")
    if oracle and validation is None:
        raise InputError(
            "selection='oracle' needs validation=(X, true_labels) with 1 and -1: training rows have no true labels."
        )
    priors = [
        _class_prior(learner, table_values, part, np.asarray(codes), scenario, seed)
        for learner, part, codes, seed in zip(learners, parts, labels, seeds, strict=True)
    ]
    table = table_values.to(device, torch.float32)
    data = StackedRows(table, parts, scenario)
    kept_out = None
    if wants_rows:
        as_parts = [_positives_first(other, "selection='oracle'") if oracle else _part(*other) for other in held_out]
        kept_out = StackedRows(table, as_parts, scenario)
        if oracle:  # rows keep their order in _positives_first, positives first
            truths = [np.sort(truth)[::-1] for truth in truths]
    streams = Streams(seeds, device)
    watched = kept_out
    if oracle:  # validation rows then carry true classes, which nothing but the selection may read
        watched = None
        if first._program.needs_held_out_rows(first):
            data, watched = set_aside(data, first.validation_fraction, streams)
    shape = first.row_shape_
    backbone = _builder(first.backbone, shape)
    builders = first._program.builders(first, shape, backbone)
    networks = [
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
    if any(network.has_batch_norm for network in networks) and not data.is_even and len(learners) > 1:
        raise InputError(
            "runs of a stack whose network has batch norm must have equal numbers of labelled and of unlabelled rows."
        )
    numbers = torch.tensor([np.nan if prior is None else prior for prior in priors], dtype=torch.float32, device=device)
    known = None
    if support is not None:
        known = StackedRows(table, [_positives_first(pair, type(first).__name__) for pair in support], scenario)
    settings = _settings(learners, device)
    stack = Stack(data, streams, networks, numbers, settings, watched, priors, known, backbone)
    program = first._program(stack)
    criterion = None
    if selection != "last":
        assert kept_out is not None
        if selection not in ("proxy_auc", "loss") and not oracle and None in priors:
            raise InputError(
                f"selection={selection!r} needs the class prior, which was not given; use selection='proxy_auc'."
            )
        criterion = Selection(selection, kept_out, priors, truths if oracle else None)
    report = train(
        program,
        criterion=criterion,
        patience=first.patience,
        on_epoch=on_epoch,
        progress=first.progress,
        deterministic=first.deterministic,
    )
    cuts = [program.cut(scores, run) for run, scores in enumerate(program.reference_scores())]
    for run, learner in enumerate(learners):
        learner.network_ = _module_of(stack.network, backbone, run)
        for name in first._program.kept:
            setattr(learner, f"{name}_", _module_of(stack.named(name), builders[name], run))
        learner.cut_ = float(cuts[run])
        learner.class_prior_ = priors[run]
        learner.classes_ = np.array([0, 1])
        learner.best_epoch_ = report.best_epoch[run]
        learner.history_ = [{"epoch": entry["epoch"], "selection": entry["selection"][run]} for entry in report.history]
        facts = program.facts(run)
        learner.facts_ = sorted(f"{name}_" for name in facts)  # what saving writes down besides the usual
        for name, value in facts.items():
            setattr(learner, f"{name}_", value)
    return list(learners)


def _module_of(network: StackedNetwork, build: Callable[[], nn.Module], run: int) -> nn.Module:
    """One run's network as an ordinary module, for evaluation on the CPU."""
    module = built(build, 0)
    module.load_state_dict(network.state_of(run))
    return module.eval()


def find_device(device: str) -> torch.device:
    """ "auto" takes a GPU when there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"device must be 'auto', 'cpu' or 'cuda', got {device!r}.") from error
    if found.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device={device!r}: no CUDA device is available to PyTorch here. Use device='cpu'.")
    if found.type == "meta":  # PyTorch's device for shapes without numbers
        raise InputError(f"device must be 'auto', 'cpu' or 'cuda', got {device!r}, which computes nothing.")
    try:
        torch.zeros(1, device=found)
    except Exception as error:  # a device that is not there has no common error
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(f"device={device!r} cannot be used by PyTorch here: {said[:200]}. Use 'cpu'.") from error
    return found


def _check_alike(learners: Sequence[Any]) -> None:
    first = learners[0]
    for learner in learners[1:]:
        if type(learner) is not type(first):
            raise InputError("learners of a stack must be of one class.")
        for field in fields(first):
            mine, theirs = getattr(first, field.name), getattr(learner, field.name)
            numeric = isinstance(mine, float) and isinstance(theirs, float)
            if field.name in ("random_state", "class_prior") or numeric or mine is theirs:
                continue
            if mine != theirs:
                raise InputError(
                    f"learners of a stack may differ in numbers only, but {field.name} is {mine!r} and {theirs!r}."
                )


def _settings(learners: Sequence[Any], device: torch.device) -> dict[str, Any]:
    found = {}
    for field in fields(learners[0]):
        values = [getattr(learner, field.name) for learner in learners]
        same = all(value is values[0] or value == values[0] for value in values[1:])
        if field.name in ("random_state", "class_prior") or same:
            found[field.name] = values[0]
        else:
            found[field.name] = torch.tensor(values, dtype=torch.float32, device=device)
    return found


def _seed(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) % (1 << 63)
    if isinstance(random_state, int | np.integer):
        return int(random_state) % (1 << 63)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(1 << 31))


def _split(rows: NDArray[Any], codes: NDArray[Any], share: float, seed: int) -> Any:
    """Hold out a share of labelled and of unlabelled rows, at least one of each."""
    if not 0 < share < 1:
        raise InputError(
            f"validation_fraction must lie strictly between 0 and 1, got {share!r}. With selection='last' most methods "
            "hold no rows out."
        )
    rng = np.random.default_rng([seed, 20])
    held = np.zeros(len(rows), bool)
    for code in (LABELLED, 0):
        places = np.flatnonzero(codes == code)
        if len(places) < 2:
            kind = "labelled" if code else "unlabelled"
            raise InputError(
                f"there are too few rows of the class {kind} to hold some out: n_samples={len(places)}, at least 2 are "
                "needed. "
                "Give validation=, or selection='last' to train without."
            )
        held[rng.permutation(places)[: max(1, round(share * len(places)))]] = True
    return (rows[~held], codes[~held]), (rows[held], codes[held])


def _part(rows: NDArray[Any], codes: NDArray[Any]) -> Part:
    labelled, unlabelled = rows[codes == LABELLED], rows[codes == 0]
    if not len(labelled) or not len(unlabelled):
        missing = "labelled positive (1)" if not len(labelled) else "unlabelled (0)"
        raise InputError(
            f"labels are of one class only: there is no {missing} row among {len(rows):,}; learning needs both."
        )
    return Part(labelled, unlabelled)


def _positives_first(pair: tuple[Any, Any], who: str) -> Part:
    """Rows with true labels: positives first, negatives behind."""
    rows, codes = (np.asarray(values) for values in pair)
    if not np.isin(codes, (LABELLED, NEGATIVE)).all():
        raise InputError(f"{who} needs rows with true labels: 1 (positive) and -1 (negative).")
    return Part(rows[codes == LABELLED], rows[codes == NEGATIVE])


def _class_prior(
    learner: Any, table: torch.Tensor, part: Part, codes: NDArray[Any], scenario: Scenario, seed: int
) -> float | None:
    """The share of positives in the population, as given or estimated; None where a method does without."""
    given = learner.class_prior
    if given is None or (isinstance(given, str) and given == "auto" and not learner._program.needs_class_prior):
        if given is None and learner._program.needs_class_prior:
            raise AssumptionError(f"{type(learner).__name__} needs class_prior: a number, or 'auto' to estimate it.")
        return None
    if isinstance(given, str):
        rows = np.concatenate([part.labelled, part.unlabelled])
        kinds = np.repeat([1, 0], [len(part.labelled), len(part.unlabelled)])
        features = table[torch.as_tensor(rows)].cpu().numpy()
        return estimated_class_prior(features, kinds, str(scenario), seed, method=check_estimator_name(given))
    return check_known_prior(given, scenario, float((codes == LABELLED).mean()))


def _builder(backbone: Any, shape: tuple[int, ...]) -> Callable[[], nn.Module]:
    """A function that makes a fresh module."""
    if isinstance(backbone, str):
        return lambda: backbones.build(backbone, shape)
    if isinstance(backbone, nn.Module):
        return lambda: _renewed(backbone)
    if callable(backbone):
        if inspect.isclass(backbone) and issubclass(backbone, nn.Module):
            return lambda: backbone()
        return lambda: backbone(shape)
    raise InputError(
        f"backbone must be one of {listed(backbones.names())}, a torch module or a function that makes one, "
        f"got {backbone!r}."
    )


def _renewed(module: nn.Module) -> nn.Module:
    """A copy with fresh initial values, so that runs differ and fitting twice starts twice."""
    from copy import deepcopy

    copy = deepcopy(module)
    for part in copy.modules():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
    return copy
