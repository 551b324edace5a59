"""One policy for a class prior in doubt, whatever the construction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from pulens.confidence import check_confidence
from pulens.errors import PulensError
from pulens.estimate import Interval
from pulens.evidence import gather
from pulens.inference.kernels.quantiles import normal_quantile, one_tail, tail_for_range
from pulens.inference.method import Clipped, IntervalMethod
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import PriorUncertainty
from pulens.priors import ClassPrior

LABELS, SCORES = [1, 1, 0, 0, 0, 0], [0.9, 0.6, 0.8, 0.4, 0.3, 0.1]


@dataclass(frozen=True)
class Line(IntervalMethod):
    """A number that rises with the share, with an error of its own; drawn ends are told apart by their sign."""

    error: float = 0.01
    smooth: bool = True

    method = "a line"

    @property
    def is_smooth(self) -> bool:
        return self.smooth

    def value(self, prior):
        return 2 * prior

    def ends(self, prior, tail):
        from scipy.special import ndtri

        if prior is None:
            return -1.0, 1.0
        reach = -float(ndtri(tail)) * self.error
        return 2 * prior - reach, 2 * prior + reach


def doubt_about(prior) -> PriorUncertainty:
    given = {"class_prior": prior} if isinstance(prior, ClassPrior) else {"unlabelled_prior": prior}
    return PriorUncertainty(gather(LABELS, SCORES, scenario="case-control", **given))


def uncertain() -> ClassPrior:
    own = Interval(0.2, 0.4, 0.95, "audit")
    return ClassPrior(0.3, 0.3, "audit", interval=own, unlabelled_interval=own)


def test_a_known_prior_gives_the_ends_at_it() -> None:
    low, high, method = ends_in_doubt(Line(), doubt_about(0.3), 0.95)
    assert (low, high) == pytest.approx((0.6 - 0.0195996, 0.6 + 0.0195996), abs=1e-6)
    assert method == "a line"


def test_a_prior_with_a_confidence_is_drawn_along() -> None:
    low, high, method = ends_in_doubt(Line(), doubt_about(uncertain()), 0.95)
    assert (low, high) == (-1.0, 1.0)
    assert method == "a line, class prior drawn"


def test_a_number_with_a_kink_gets_a_hull_with_half_of_the_error_for_each() -> None:
    low, high, method = ends_in_doubt(Line(smooth=False), doubt_about(uncertain()), 0.95)
    stretched = 0.1 / normal_quantile(0.95) * normal_quantile(0.975)  # the prior's reach at 97.5%
    assert high - 0.6 == pytest.approx(2 * stretched + 0.01 * normal_quantile(0.975), abs=1e-9)
    assert 0.6 - low == pytest.approx(high - 0.6, abs=1e-9)
    assert method == "hull over the class prior's 97.5% interval, each at 97.5%: a line"


def test_a_range_gives_the_hull_at_the_level_of_imbens_and_manski() -> None:
    low, high, method = ends_in_doubt(Line(error=0.1), doubt_about((0.2, 0.3)), 0.9)
    reach = -_quantile(tail_for_range(0.9, 0.2, 0.1)) * 0.1
    assert (low, high) == pytest.approx((0.4 - reach, 0.6 + reach), abs=1e-9)
    assert method == "a line, over the range of the class prior"


def test_a_prior_that_does_not_matter_is_not_in_doubt() -> None:
    doubt = PriorUncertainty(doubt_about((0.2, 0.3)).evidence, matters=False)
    assert ends_in_doubt(Line(), doubt, 0.95) == ends_in_doubt(Line(), doubt_about(0.25), 0.95)


def test_held_ends_hold_the_value_and_stay_within_what_the_number_can_be() -> None:
    held = Clipped(Line(error=0.2), known=1.0, own_prior=0.45, own_tail=0.025, cut=-0.2)
    low, high = held.ends(0.45, 0.025)
    assert low == pytest.approx(0.9 - 0.2 - 0.2 * normal_quantile(0.95))  # a value cut by 0.2 counts as one at the edge
    assert high == 1.0
    assert Clipped(Line(), known=0.5, own_prior=0.3, own_tail=0.025).ends(0.3, 0.025)[0] == 0.5


def test_a_factor_widens_what_rows_do_and_not_the_doubt_about_the_share() -> None:
    held = Clipped(Line(error=0.1), known=0.6, own_prior=0.3, own_tail=0.025, lowest=-9.0, highest=9.0, factor=1.5)
    reach = 0.1 * normal_quantile(0.95)
    assert held.ends(0.3, 0.025) == pytest.approx((0.6 - 1.5 * reach, 0.6 + 1.5 * reach))
    assert held.ends(0.25, 0.025) == pytest.approx((0.5 - 1.5 * reach, 0.5 + 1.5 * reach))  # not from the held value
    more = 1.25 * reach**2  # of the variance: 1.5 squared less 1
    drawn = 0.6 - (1.6**2 + more) ** 0.5, 0.6 + (0.4**2 + more) ** 0.5
    assert held.ends(None, 0.025) == pytest.approx(drawn)


def test_the_spread_of_held_ends_is_that_of_the_normal_law_with_their_width() -> None:
    held = Clipped(Line(error=0.05), known=0.6, own_prior=0.3, own_tail=0.025)
    assert held.spread([0.1, 0.9], 0.95) == pytest.approx(0.05)
    assert Line(error=0.05).spread([0.1, 0.9], 0.9) == pytest.approx(0.05)


def test_tail_and_quantile_of_a_confidence_belong_together() -> None:
    for confidence in (0.5, 0.8, 0.9, 0.95, 0.99):
        assert -_quantile(one_tail(confidence)) == normal_quantile(confidence)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, float("nan"), "0.95", True, None, 95])
def test_a_confidence_that_is_none_is_refused_everywhere_in_the_same_words(confidence) -> None:
    import pulens

    said = f"confidence must lie strictly between 0 and 1, got {confidence!r}. Write 95% as 0.95"
    doors = [
        lambda: check_confidence(confidence),
        lambda: pulens.calibration.calibration_in_the_large(
            LABELS, SCORES, class_prior=0.5, confidence=confidence, labelling="random"
        ),
        lambda: pulens.calibration.expected_calibration_error(
            LABELS, SCORES, class_prior=0.5, confidence=confidence, labelling="random"
        ),
        lambda: pulens.estimate_prior(LABELS, SCORES, confidence=confidence),
    ]
    if confidence is not None:  # no interval, a bound on the expectation
        doors += [
            lambda: pulens.evaluate(LABELS, SCORES, class_prior=0.5, confidence=confidence, labelling="random"),
            lambda: pulens.compare(
                LABELS, {"a": SCORES, "b": SCORES}, class_prior=0.5, confidence=confidence, labelling="random"
            ),
            lambda: pulens.calibration.evaluation_bound(0.4, 200, 3000, 9, confidence=confidence),
        ]
    for door in doors:
        with pytest.raises(PulensError) as refused:
            door()
        assert str(refused.value).startswith(said)


def _quantile(tail: float) -> float:
    from scipy.special import ndtri

    return float(np.asarray(ndtri(tail)))
