r"""How far out an interval must reach so that many of them hold at once.

Groups have estimates with standard errors :math:`s_g`, independent unless a root of their correlations says how far
they go together, and each question is a difference, or any linear
combination, of some of them: standardised, :math:`a_j^T Z` with :math:`|a_j| = 1` and :math:`Z` independent normal
numbers. All intervals hold at once with the confidence wanted where each reaches out to the quantile :math:`c` of
:math:`\max_j |a_j^T Z|`. For all pairs of equally sure groups that is the studentised range over :math:`\sqrt 2` (Tukey
1953); for groups that are not equally sure Kramer's (1956) is an approximation of it, and here none is needed.

:math:`Z` is a direction times a radius, which are independent, and the radius has a known distribution. So
:math:`P(\max_j |a_j^T Z| \le c)` is the mean over directions :math:`d` of the chance that the radius is at most
:math:`c / \max_j |a_j^T d|`, over 4,096 Sobol points: smooth in :math:`c`, without noise of draws, and as good far out
in the tail as in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pulens.types import Floats

POINTS = 4_096


@dataclass(frozen=True, eq=False)
class LargestOf:
    """The largest of several standardised normal numbers that may go together, in absolute value.

    ``reach`` holds the largest one in each direction of ``groups`` independent normal numbers.

    >>> round(LargestOf.pairs(np.ones(3)).quantile(0.95), 3)  # Tukey's 3.314 over the root of 2
    2.344
    >>> round(LargestOf.contrasts(np.eye(20)).quantile(0.95), 2)
    3.01
    """

    reach: Floats
    groups: int

    @classmethod
    def pairs(cls, errors: Floats, root: Floats | None = None) -> LargestOf:
        """Of all differences of two numbers with these standard errors; ``root`` times its transpose correlates them.

        >>> root = np.linalg.cholesky(np.full((3, 3), 0.6) + 0.4 * np.eye(3))  # what all share leaves no difference
        >>> round(LargestOf.pairs(np.ones(3), root).quantile(0.95), 2)
        2.34
        """
        if errors.size < 2:
            return cls(np.zeros(1), 1)
        if errors.size == 2:  # one difference: a normal number
            return cls(np.ones(1), 1)
        return cls(_reach_of_pairs(errors, root) * _correction(errors.size), errors.size)

    @classmethod
    def contrasts(cls, rows: Floats) -> LargestOf:
        """Of linear combinations of independent numbers: a row for each, already times the standard errors."""
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit = rows / np.where(lengths > 0, lengths, np.inf)
        return cls(np.abs(_directions(rows.shape[1]) @ unit.T).max(axis=1), rows.shape[1])

    @classmethod
    def in_a_plane(cls, rows: Floats) -> LargestOf:
        """Of linear combinations of two independent numbers: directions are angles, evenly over half a circle.

        >>> float(np.round(LargestOf.in_a_plane(np.eye(2)).quantile(0.95) - independent_quantile(2, 0.95), 6))
        0.0
        >>> round(LargestOf.in_a_plane(np.array([[2.0, 0.0]])).quantile(0.95), 6)  # a normal number
        1.959964
        """
        lengths = np.hypot(*rows.T)[:, None]
        unit = rows / np.where(lengths > 0, lengths, np.inf)
        angles = (np.arange(POINTS) + 0.5) * np.pi / POINTS
        return cls(np.abs(np.stack([np.cos(angles), np.sin(angles)], axis=1) @ unit.T).max(axis=1), 2)

    def at_most(self, bound: float) -> float:
        """The chance that the largest one is at most so large."""
        return float(np.mean(self._radius(bound, upper=False)))

    def beyond(self, bound: float) -> float:
        """The chance that the largest one is larger; exact to many digits where it is tiny."""
        return float(np.mean(self._radius(bound, upper=True)))

    def quantile(self, confidence: float) -> float:
        """What the largest one stays below with this chance."""
        from scipy.optimize import brentq

        if not self.reach.any():
            return 0.0
        miss = 1 - confidence
        most = 2.0
        while self.beyond(most) > miss:
            most *= 2
        return float(brentq(lambda bound: self.beyond(bound) - miss, 0.0, most, xtol=1e-12))

    def _radius(self, bound: float, *, upper: bool) -> Floats:
        from pulens.special import gammainc, gammaincc

        squared = np.divide(bound, self.reach, out=np.full(self.reach.shape, np.inf), where=self.reach > 0) ** 2
        return np.asarray((gammaincc if upper else gammainc)(self.groups / 2, squared / 2))


def independent_quantile(many: int, confidence: float) -> float:
    r"""What the largest of independent normal numbers stays below: :math:`2\Phi(c) - 1 = (1 - \alpha)^{1/m}`.

    >>> round(independent_quantile(20, 0.95), 3), round(independent_quantile(1, 0.95), 3)
    (3.016, 1.96)
    """
    from pulens.special import ndtri

    return float(-ndtri(-np.expm1(np.log(confidence) / max(many, 1)) / 2))


def tail_of(quantile: float) -> float:
    """The chance of a miss on one side of an interval that reaches out to a normal quantile.

    >>> round(tail_of(1.959964), 6)
    0.025
    """
    from pulens.special import ndtr

    return float(ndtr(-quantile))


def _reach_of_pairs(errors: Floats, root: Floats | None = None) -> Floats:
    """In each direction the largest standardised difference."""
    directions = _directions(errors.size)
    linked = None if root is None else errors[:, None] * root
    moved = directions * errors if linked is None else directions @ linked.T
    reach = np.zeros(moved.shape[0])
    for index in range(errors.size - 1):
        apart = np.abs(moved[:, index : index + 1] - moved[:, index + 1 :])
        scale = np.hypot(errors[index], errors[index + 1 :])
        if linked is not None:
            # numbers that go together in everything have no difference to be wrong about
            differs = np.linalg.norm(linked[index] - linked[index + 1 :], axis=1)
            scale = np.where(differs > 1e-9 * scale, differs, 0.0)
        np.maximum(reach, (apart / np.where(scale > 0, scale, np.inf)).max(axis=1), out=reach)
    return reach


@lru_cache(maxsize=16)
def _correction(groups: int) -> float:
    """What takes the points' error out where groups are equally sure and the studentised range is known; near 1."""
    from scipy.stats import studentized_range

    exact = studentized_range.ppf(0.95, groups, np.inf) / np.sqrt(2)
    return float(exact / LargestOf(_reach_of_pairs(np.ones(groups)), groups).quantile(0.95))


@lru_cache(maxsize=4)
def _directions(groups: int) -> Floats:
    """Directions that fill the sphere evenly."""
    from scipy.stats import qmc

    from pulens.special import ndtri

    points = qmc.Sobol(groups, scramble=True, seed=np.random.default_rng(0)).random(POINTS)
    normal = ndtri(np.clip(points, 1e-12, 1 - 1e-12))
    unit = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    unit.flags.writeable = False
    return np.asarray(unit)
