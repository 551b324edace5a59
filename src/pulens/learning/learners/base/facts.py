"""What is asked of a learner besides training: declared once, in the last lines of its file.

Everybody who lists learners (the command line, the benchmark, tables, the documentation) reads these facts; names are
written down nowhere else.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

# families of PU-Bench, section 3, and what stands beside them in tables
RISK, DISAMBIGUATION, GENERATIVE = "risk estimators", "disambiguation-guided", "generative"
REFERENCE, OTHER = "reference", "other"


@dataclass(frozen=True)
class Learner:
    """A learner's class, and how tables show it.

    ``place`` is its place in Table 1 of PU-Bench, whose methods are what a protocol means by "all". What a learner is
    told besides PU labels its class says itself: ``uses_truth``, ``needs_support``.

    >>> from pulens import learners
    >>> learners.facts("oracle").uses_truth, learners.facts("elkan_noto").told
    (True, 'nothing')
    """

    learner: Any
    title: str
    family: str = OTHER
    place: int | None = None

    @property
    def is_network(self) -> bool:
        """Whether it trains networks, so that runs of it can be stacked by ``fit_many``."""
        return hasattr(self.learner, "_program")

    @property
    def uses_truth(self) -> bool:
        """Whether the true classes of all training rows are an input of its ``fit``."""
        return bool(getattr(self.learner, "uses_truth", False))

    @property
    def needs_support(self) -> bool:
        """Whether it asks for a few rows with true labels of both classes, which PU data do not have."""
        return bool(getattr(self.learner, "needs_support", False))

    @property
    def told(self) -> str:
        """What it is told of the truth, in words."""
        if self.uses_truth:
            return "the true class of every training row"
        return "true labels of a few rows of both classes" if self.needs_support else "nothing"

    @property
    def takes_class_prior(self) -> bool:
        """Whether training reads the class prior."""
        if self.is_network:
            return bool(self.learner._program.needs_class_prior)
        return not self.uses_truth and "class_prior" in self.settings

    @property
    def cuts_by_class_prior(self) -> bool:
        """Whether it trains without a class prior, and uses one that it is given for its cut."""
        return self.is_network and bool(getattr(self.learner._program, "cuts_by_class_prior", False))

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of what can be set."""
        if is_dataclass(self.learner):
            return tuple(field.name for field in fields(self.learner))
        return tuple(inspect.signature(self.learner).parameters)
