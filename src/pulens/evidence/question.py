"""What is assumed and asked: class prior, label noise, scenario, audit, confidence, redraws, seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.counts.buckets import BucketTally
from pulens.counts.tally import Tally
from pulens.errors import InputError
from pulens.evidence.evidence import Evidence
from pulens.evidence.resolving import resolve_class_prior
from pulens.inference.kernels.resampling import DEFAULT_REDRAWS, Resampling, check_resampling, check_seed
from pulens.inputs import ReadOptions, read_counts
from pulens.keywords import check_kinds, forwards_keywords
from pulens.priors import ClassPrior
from pulens.priors.clustered import allowing_for_clusters
from pulens.priors.given import GivenPrior
from pulens.recovery.assumptions import check_label_noise
from pulens.recovery.binning_error import bin_errors
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario


@dataclass(frozen=True, kw_only=True)
class IntervalOptions:
    """Every door builds one from its keyword arguments, and all of them are checked here, once.

    The first six say what is assumed, and with counts make an :class:`Evidence`; the last three say how sure an
    interval shall be. See :func:`pulens.evaluate` for each of them.

    >>> IntervalOptions(class_prior=0.25).evidence([1, 0, 0, 0], [0.9, 0.7, 0.2, 0.1]).class_prior.unlabelled
    0.0
    """

    class_prior: GivenPrior | ClassPrior | str | None = None
    unlabelled_prior: GivenPrior | None = None
    label_noise: float = 0.0
    scenario: str = DEFAULT_SCENARIO
    audit: object = None
    combine: bool = False
    confidence: float | None = None
    redraws: int = DEFAULT_REDRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scenario", check_scenario(self.scenario))
        object.__setattr__(self, "label_noise", check_label_noise(self.label_noise))
        object.__setattr__(self, "seed", check_seed(self.seed))
        check_kinds(IntervalOptions, {"combine": self.combine})
        if self.resampling is not None:  # refuses what no interval can be made with
            for name in _ASKED:
                object.__setattr__(self, name, getattr(self.resampling, name))

    @classmethod
    def among(cls, arguments: Mapping[str, Any]) -> IntervalOptions:
        """The question that a door was asked: of all its arguments, ``locals()`` as it begins, those named as here.

        >>> IntervalOptions.among({"labels": [1, 0], "class_prior": 0.25, "threshold": 0.5}).class_prior
        0.25
        """
        return cls(**{name: arguments[name] for name in _SILENT if name in arguments})

    @cached_property
    def resampling(self) -> Resampling | None:
        """How intervals are found; ``None`` if none is wanted."""
        return check_resampling(self.confidence, self.redraws, self.seed)

    @property
    def prior_held(self) -> Literal["unlabelled", "population"]:
        """Which share is redrawn with: a class prior given as a number or a range is that of the population."""
        return "unlabelled" if isinstance(self.class_prior, ClassPrior | str | None) else "population"

    @property
    def is_silent_on_prior(self) -> bool:
        """Whether nothing was said that a class prior could follow from."""
        return self.class_prior is None and self.unlabelled_prior is None and self.audit is None

    def settle(self, tally: Tally | BucketTally) -> Evidence:
        """What counts show under these assumptions; the class prior is estimated unless it was given or audited."""
        if isinstance(tally, BucketTally):
            return self.resolve_clusters(tally)
        prior = resolve_class_prior(
            tally,
            Scenario(self.scenario),
            self.class_prior,
            self.unlabelled_prior,
            self.label_noise,
            self.audit,
            self.combine,
        )
        return Evidence(tally, prior, self.label_noise, Scenario(self.scenario), self.prior_held)

    def evidence(self, source: Any, scores: Any = None, reading: ReadOptions | None = None) -> Evidence:
        """Read rows (see :func:`pulens.inputs.read_tally`) and count them; evidence given is not read again."""
        if isinstance(source, Evidence):
            self._refuse_beside_evidence(scores, reading)
            return source

        def errors_of_bins(tally: Tally) -> list[NDArray[np.float64]]:
            return bin_errors(tally, self.settle(tally).assumptions)

        arguments = {} if reading is None else reading.arguments
        return self.settle(read_counts(source, scores, bin_errors=errors_of_bins, **arguments))

    def resolve_clusters(self, counted: BucketTally) -> Evidence:
        """What rows show that belong together: an estimated class prior is surer of itself than they allow.

        Clusters of one row each are none: the rows are independent.
        """
        if counted.holds_single_rows:
            return replace(self.settle(counted.tally), is_apart=True)
        result = replace(self.settle(counted.tally), buckets=counted)

        def estimated(tally: Tally) -> ClassPrior:
            return self.settle(tally).class_prior

        told: Any = {"scenario": result.scenario, "label_noise": result.label_noise}
        return replace(result, class_prior=allowing_for_clusters(result.class_prior, counted, estimated, **told))

    def _refuse_beside_evidence(self, scores: Any, reading: ReadOptions | None) -> None:
        """What was assumed and read is in the evidence already."""
        said = [name for name in ASSUMED if getattr(self, name) != _SILENT[name]]
        said += [] if reading is None else list(reading.arguments)
        said += [] if scores is None else ["scores"]
        if said:
            raise InputError(
                f"the evidence given holds counted rows and settled assumptions: {said[0]}= cannot be changed now. "
                "Give it where the rows are read, or give the rows instead of the evidence."
            )


_ASKED = ("confidence", "redraws", "seed")
_SILENT = {field.name: field.default for field in fields(IntervalOptions)}
#: What may be assumed about rows; doors that give an answer hand these on.
ASSUMED = tuple(name for name in _SILENT if name not in _ASKED)


@forwards_keywords(ASSUMED, ReadOptions)
def gather(source: Any, scores: Any = None, **named: Any) -> Evidence:
    """Read rows, count them and resolve the class prior: an :class:`IntervalOptions` and ``ReadOptions`` by name.

    >>> gather([1, 0, 0, 0], [0.9, 0.7, 0.2, 0.1], class_prior=0.25).class_prior.unlabelled
    0.0
    """
    question = IntervalOptions(**{name: named.pop(name) for name in ASSUMED if name in named})
    return question.evidence(source, scores, ReadOptions(**named))
