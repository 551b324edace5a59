r"""How unevenly positives are labelled in practice: a distribution of the tilt, learned on real data sets with a truth.

The better a score separates the labelled rows from the rest, the more of that is the labelling's doing: over real data
sets the tilt rises with :math:`d = \sqrt2\,\Phi^{-1}(\mathrm{AUC})`, the separation that random labels would imply. So

.. math:: \theta = a + b\,d + \sigma\,\varepsilon

with :math:`\varepsilon` of a Student distribution whose right side is wider than its left, since no data set has hidden
positives that score much higher than the labelled ones and some have much lower ones. Labels that are separated well
are so for either of two reasons, good scores or steep labelling, so :math:`\sigma` grows with :math:`d`. And tilts far
above what is usual stand for labels of one kind of positive, with others aside (``distortion``). Between data sets of
different domains and within one domain the tilt varies; :math:`\sigma^2` holds both, and the doubt about :math:`a` and
:math:`b`. ``practice.json`` has the numbers, the domains they come from and how often intervals held the truth in
domains left out; ``pulens bench wild --learn`` finds them again.
"""

from __future__ import annotations

import json
import math
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
CAUTION = 1.2  # times the spread: fifteen domains do not show all of it
WIDENS_FROM, WIDENING = 1.5, 0.4  # the separation from which the spread grows, and by how much of it per unit
ASIDE_FROM, ASIDE_OVER = 2.0, 3.0  # spreads above the usual tilt at which positives are aside, and all of them
MOST_ASIDE = 0.95
LOCAL = 5
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
    widening: float = 0.0  # of the spread, per unit of separation above ``WIDENS_FROM``
    per_disagreement: float = 1.0  # what models that rank labelled rows apart lack in correlation of their tilts
    within_domain: float = 0.0  # and of two data sets of one domain: segments of a table are taken for such
    local: float = 0.0  # how far shares of hidden positives in a tenth of the rows are off the tilt's, of themselves
    explains_any_rows: ClassVar[bool] = True  # tilts that the rows rule out are not drawn

    @property
    def name(self) -> str:
        return "practice"

    @property
    def guarantee(self) -> str:
        return f"calibrated on {self.domains} real domains"

    def correlations_of_models(self, agreement: Floats) -> Floats:
        """Of what the line leaves of models' tilts on the same labels, from how far they rank labelled rows alike.

        On real data sets 1 less the correlation is proportional to 1 less the rank correlation of scores.
        """
        return np.clip(1 - self.per_disagreement * (1 - agreement), 0.0, 1.0)

    @property
    def local_factors(self) -> Floats:
        """Equally likely numbers by which a share of few rows is off the tilt's: lognormal, their mean about 1."""
        from pulens.special import ndtri

        return np.asarray(np.exp(self.local * ndtri((np.arange(LOCAL) + 0.5) / LOCAL) - self.local**2 / 2))

    def log_density(self, tilts: Floats, separation: float, spread: float = 1.0) -> Floats:
        """Log density at these tilts, up to a constant; ``spread`` widens the distribution around its median."""
        scale = spread * self.scale * float(_growth(separation, self.widening))
        right, left = scale * self.skew, scale / self.skew
        centre = self.intercept + self.slope * separation - (right - left) * MEDIAN_SHIFT
        away = np.asarray(tilts, float) - centre
        result = _student_log_density(np.where(away > 0, away / right, away / left), self.freedom)
        return np.asarray(result - np.log((right + left) / 2))


def share_aside(usual: Practice, tilts: Floats, separation: float) -> Floats:
    """The share of hidden positives that score like any unlabelled row, at these tilts.

    >>> usual = Practice(intercept=-0.3, slope=1.4, scale=1.5, skew=1.2, freedom=8.0, domains=15, problems=167)
    >>> share_aside(usual, np.array([1.1, 4.1, 6.35, 20.0]), 1.0).round(2).tolist()
    [0.0, 0.0, 0.5, 0.95]
    """
    away = np.asarray(tilts, float) - usual.intercept - usual.slope * separation
    spreads = away / (usual.scale * float(_growth(separation, usual.widening)))
    return np.clip((spreads - ASIDE_FROM) / ASIDE_OVER, 0.0, MOST_ASIDE)


def _student_log_density(values: Floats, freedom: float) -> Floats:
    """By its formula: to import scipy.stats takes longer than an evaluation.

    >>> _student_log_density(np.array([0.0, 2.0]), 8.0).round(6).tolist()
    [-0.950109, -2.774702]
    """
    most = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    return np.asarray(most - (freedom + 1) / 2 * np.log1p(values**2 / freedom))


def _growth(separations: Any, widening: float) -> Floats:
    """How many times as wide the spread of tilts is at these separations."""
    return np.asarray(1 + widening * np.maximum(np.asarray(separations, float) - WIDENS_FROM, 0.0))


@dataclass(frozen=True, slots=True)
class Favouring:
    """High scores up to a factor as likely to be labelled as low ones, and nothing else known of the labelling."""

    factor: float
    explains_any_rows: ClassVar[bool] = False  # rows may still rule it out, as they rule random labels out
    at_thresholds: ClassVar[float] = 1.0

    @property
    def name(self) -> str:
        return f"high scores up to {self.factor:g} times as likely"

    @property
    def guarantee(self) -> str:
        return "possible set"


def separation_of(area: float) -> float:
    r""":math:`\sqrt2\,\Phi^{-1}`, the distance of two normal distributions of equal spread with this ROC AUC.

    >>> round(separation_of(0.8), 4)
    1.1902
    """
    from pulens.special import ndtri

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

    The line is one of least squares; its residuals, in units of the spread at their separation, are taken apart into
    what domains have in common (less what chance alone would spread their means) and what differs within one.

    >>> found = learn([1, 2, 1, 2, 1, 2], [1, 2, 1.5, 2.5, 0.5, 1.5], ["a", "a", "b", "b", "c", "c"])
    >>> round(found.slope, 6), round(found.scale, 4)
    (1.0, 0.7104)
    """
    x, y, of = np.asarray(separations, float), np.asarray(tilts, float), np.asarray(domains)
    names, which, many = np.unique(of, return_inverse=True, return_counts=True)
    growth = _growth(x, WIDENING)
    root = np.sqrt(1 / many[which]) / growth
    design = np.stack([np.ones(x.size), x], axis=1)
    line = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    left = (y - design @ line) / growth
    means = np.bincount(which, left) / many
    within = [float(left[which == index].var(ddof=1)) for index, rows in enumerate(many) if rows > 1]
    inside = float(np.mean(within)) if within else 0.0
    between = max(float(means.var(ddof=1)) - inside * float(np.mean(1 / many)), 0.05)
    scale = CAUTION * float(np.sqrt(between * (1 + 2 / names.size) + inside))
    counted = int(names.size), int(x.size)
    return Practice(
        float(line[0]),
        float(line[1]),
        scale,
        skew,
        freedom,
        *counted,
        AT_THRESHOLDS,
        WIDENING,
        within_domain=between / (between + inside),
    )


@cache
def held_on_real_labels(function: str) -> float:
    """How often 95% intervals that take labels for random held in the data sets, by what gives them."""
    return float(_facts()["functions"][function]["random"])


@cache
def _facts() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(
        resources.files("pulens.selection").joinpath("practice.json").read_text("utf-8")
    )
    return result


@cache
def shipped() -> Practice:
    """The distribution that the package comes with."""
    return Practice(**_facts()["distribution"])
