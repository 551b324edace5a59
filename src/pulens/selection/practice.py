r"""How unevenly positives are labelled in practice: a distribution of the tilt, learned on real data sets with a truth.

The better a score separates the labelled rows from the rest, the more of that is the labelling's doing: over real data
sets the tilt rises with :math:`d = \sqrt2\,\Phi^{-1}(\mathrm{AUC})`, the separation that random labels would imply. So

.. math:: \theta = a + b\,d + \sigma\,\varepsilon

with :math:`\varepsilon` of a Student distribution whose right side is wider than its left, since no data set has hidden
positives that score much higher than the labelled ones and some have much lower ones. Between data sets of
different domains and within one domain the tilt varies; :math:`\sigma^2` holds both, and the doubt about :math:`a` and
:math:`b`. ``practice.json`` has the numbers, the domains they come from and how often intervals held the truth in
domains left out; ``pulens bench wild --learn`` finds them again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pulens.types import Floats

LOWEST_AREA, HIGHEST_AREA = 0.05, 0.995  # of a recovered ROC AUC, before it becomes a separation
AT_THRESHOLDS = 1.2  # see docs/research/wild.md
CAUTION = 1.05  # times the spread: fifteen domains do not show all of it
MEDIAN_SHIFT = 0.6  # of the difference of both sides, so that the centre stays where it was


@dataclass(frozen=True, slots=True)
class Practice:
    """The distribution of the tilt in a data set of another domain, given how well its labels are separated.

    >>> usual = Practice(intercept=-0.3, slope=1.4, scale=1.5, skew=1.2, freedom=8.0, domains=15, problems=167)
    >>> np.exp(usual.log_density(np.array([1.1, 6.0]), 1.0)).round(3).tolist()
    [0.249, 0.01]
    """

    intercept: float
    slope: float
    scale: float
    skew: float
    freedom: float
    domains: int
    problems: int
    at_thresholds: float = 1.0  # times the spread there: over the whole ranking shapes of labelling average out
    explains_any_rows: ClassVar[bool] = True  # tilts that the rows rule out are not drawn

    @property
    def name(self) -> str:
        return "practice"

    @property
    def guarantee(self) -> str:
        return f"calibrated on {self.domains} real domains"

    def log_density(self, tilts: Floats, separation: float, spread: float = 1.0) -> Floats:
        """Log density at these tilts, up to a constant; ``spread`` widens the distribution around its median."""
        from scipy.stats import t as student

        right, left = spread * self.scale * self.skew, spread * self.scale / self.skew
        centre = self.intercept + self.slope * separation - (right - left) * MEDIAN_SHIFT
        away = np.asarray(tilts, float) - centre
        found = student.logpdf(np.where(away > 0, away / right, away / left), self.freedom)
        return np.asarray(found - np.log((right + left) / 2))


def separation_of(area: float) -> float:
    r""":math:`\sqrt2\,\Phi^{-1}`, the distance of two normal distributions of equal spread with this ROC AUC.

    >>> round(separation_of(0.8), 4)
    1.1902
    """
    from scipy.special import ndtri

    return float(np.sqrt(2) * ndtri(min(max(area, LOWEST_AREA), HIGHEST_AREA)))


def learn(
    separations: Sequence[float] | Floats,
    tilts: Sequence[float] | Floats,
    domains: Sequence[Any] | NDArray[Any],
    *,
    skew: float = 1.3,
    freedom: float = 8.0,
) -> Practice:
    """The distribution that data sets with a truth show; domains count alike, however many data sets they have.

    The line is one of least squares; its residuals are taken apart into what domains have in common (less what
    chance alone would spread their means) and what differs within one.

    >>> found = learn([1, 2, 1, 2, 1, 2], [1, 2, 1.5, 2.5, 0.5, 1.5], ["a", "a", "b", "b", "c", "c"])
    >>> round(found.slope, 6), round(found.scale, 4)
    (1.0, 0.6778)
    """
    x, y, of = np.asarray(separations, float), np.asarray(tilts, float), np.asarray(domains)
    names, which, many = np.unique(of, return_inverse=True, return_counts=True)
    root = np.sqrt(1 / many[which])
    design = np.stack([np.ones(x.size), x], axis=1)
    line = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    left = y - design @ line
    means = np.bincount(which, left) / many
    within = [float(left[which == place].var(ddof=1)) for place, rows in enumerate(many) if rows > 1]
    inside = float(np.mean(within)) if within else 0.0
    between = max(float(means.var(ddof=1)) - inside * float(np.mean(1 / many)), 0.05)
    scale = CAUTION * float(np.sqrt(between * (1 + 2 / names.size) + inside))
    counted = int(names.size), int(x.size)
    return Practice(float(line[0]), float(line[1]), scale, skew, freedom, *counted, AT_THRESHOLDS)


@cache
def shipped() -> Practice:
    """The distribution that the package comes with."""
    facts = json.loads(resources.files("pulens.selection").joinpath("practice.json").read_text("utf-8"))
    return Practice(**facts["distribution"])
