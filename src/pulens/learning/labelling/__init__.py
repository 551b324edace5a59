"""Labelling mechanisms: which positives get a label.

>>> import numpy as np
>>> import pulens.labelling
>>> pulens.labelling.find("S4").choose(np.array([0.9, 0.4, 0.6]), 2, np.random.default_rng(0))
array([0, 2])
"""

from __future__ import annotations

from fractions import Fraction

from pulens.catalogue import Catalogue
from pulens.learning.labelling._clues import auxiliary_log_odds, mixture_log_density
from pulens.learning.labelling._mechanism import Mechanism
from pulens.scalars import is_among

__all__ = [
    "MECHANISMS",
    "Mechanism",
    "auxiliary_log_odds",
    "find",
    "labelled_count",
    "mixture_log_density",
    "names",
]

MECHANISMS: Catalogue[Mechanism] = Catalogue(
    __name__, __path__, "MECHANISM", "labelling mechanism", plural="mechanisms", together=True
)


def names() -> tuple[str, ...]:
    """All mechanisms, in alphabetical order."""
    return MECHANISMS.names


def find(name: str) -> Mechanism:
    """A mechanism by its name or by its name in the papers (``"S1"``), or an error that lists them.

    >>> find("S1") is find("completely_at_random")
    True
    """
    return MECHANISMS[canonical_name(name)]


def canonical_name(name: str) -> str:
    """The catalogue's name of a mechanism given by either of its names.

    >>> canonical_name("scenario-1")
    'most_representative'
    """
    for own, mechanism in MECHANISMS.items():
        if is_among(name, (own, mechanism.alias)):
            return own
    MECHANISMS.find(name, listed_as=lambda own: f"{own} ({MECHANISMS[own].alias})")
    return name


def labelled_count(label_frequency: float, positives: int) -> int:
    r"""How many positives get a label: :math:`\lfloor c |P| \rfloor`, the decimal taken as written.

    >>> labelled_count(0.29, 100), int(0.29 * 100)
    (29, 28)
    """
    return int(Fraction(repr(float(label_frequency))) * positives)
