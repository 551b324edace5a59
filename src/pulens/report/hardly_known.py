"""Answers for which the rows hardly speak about the class prior: they lead with what does not need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation


def prior_is_hardly_known(evaluation: Evaluation) -> bool:
    """Whether the class prior leaves precision so open that it is withheld."""
    return bool(evaluation.estimates["precision"].withheld_because)
