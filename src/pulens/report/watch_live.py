"""Numbers of a watch's page at other class priors, at which its slider stops."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.monitoring.numbers import of_reference, rates_of, trust_of

if TYPE_CHECKING:
    from pulens.monitoring import Alarm, Change, Pulse
    from pulens.monitoring.judging import Judgement
    from pulens.monitoring.monitor import Monitor
    from pulens.types import Floats

MOVED = ("prior", "precision", "recall", "f1")
PRIORS, FEW_PRIORS, MANY_WINDOWS = 11, 5, 100  # class priors at which numbers are found, the report's among them
LOWEST = 0.05  # times the report's, where the labelled rows rule nothing out
MOST = 0.95  # of the way to the prior at which labels begin to say nothing
SCALE = 65534  # numbers lie between 0 and 1; one more stands for a number that is withheld


def live_data(pulse: Pulse) -> dict[str, Any] | None:
    """Everything that the slider of a watch's page reads; None where no number rests on a class prior."""
    judgement = pulse.life.judgement
    prior = judgement.monitor.prior
    if prior is None or not judgement.windows or not 0 < prior.value < 1:
        return None
    priors = _priors(judgement.monitor, PRIORS if len(judgement.windows) < MANY_WINDOWS else FEW_PRIORS)
    found = [_at(pulse, each) for each in priors]
    numbers = np.array([each[0] for each in found])
    whole = np.where(np.isnan(numbers), SCALE + 1, np.rint(np.nan_to_num(numbers) * SCALE)).astype("<u2")
    return {
        "value": prior.value,
        "low": prior.low,
        "high": prior.high,
        "priors": priors,
        "numbers": base64.b64encode(whole.tobytes()).decode(),
        "trust": [each[1] for each in found],
    }


def _priors(monitor: Monitor, count: int) -> list[float]:
    """Rising, by equal factors from the report's class prior on, downwards and upwards."""
    assert monitor.prior is not None
    value, reference = monitor.prior.value, monitor.reference
    # in a single set the labelled positives are there, whatever else is
    least = (1 - monitor.settings.label_noise) * reference.n_labelled / reference.rows if reference.together else 0.0
    low = min(max(least, LOWEST * value), value)
    high = max(min((1 - monitor.settings.label_noise) * MOST, max(3 * value, value + 0.1)), value)
    below = np.geomspace(low, value, count // 2 + 1)[:-1] if low < value else np.zeros(0)
    above = np.geomspace(value, high, count // 2 + 1)[1:] if high > value else np.zeros(0)
    return [*below.tolist(), value, *above.tolist()]


def _at(pulse: Pulse, class_prior: float) -> tuple[Floats, list[str]]:
    """All numbers of the page in a row, at a class prior of the reference, and whether windows may be quoted."""
    old = pulse.life.judgement
    judgement = replace(old, monitor=old.monitor.at_prior(class_prior))
    for name in ("shifts", "fits", "runs", "misfit_since"):  # the fit was judged at the report's class prior
        vars(judgement)[name] = getattr(old, name)
    trust, numbers = list[str](), list[float]()
    for index in range(len(judgement.windows)):
        told, reason = trust_of(judgement, index)
        trust.append(told)
        rates = rates_of(judgement, index, reason, ("prior", "precision", "f1"))
        for name in MOVED:
            one = rates[name]
            reach = None if one is None or one.undefined_because else one.interval
            numbers += [math.nan] * 3 if one is None or reach is None else [one.value, reach.low, reach.high]
    numbers += [*sizes_of(pulse, judgement.monitor), *(of_reference(judgement.monitor, name) for name in MOVED)]
    return np.clip(np.array(numbers), 0.0, 1.0), trust


def sizes_of(pulse: Pulse, monitor: Monitor) -> list[float]:
    """Shares of positives between which quiet windows lie, and since a change of the share with its interval."""
    reach = usual(pulse.life.judgement)
    since = level_since(pulse)
    shares = (math.nan,) * 3 if since is None else monitor.share_at(*since)
    return [*(monitor.share_at(end, end, end)[0] for end in (-reach, reach)), *shares]


def level_since(pulse: Pulse) -> tuple[float, float, float] | None:
    """The level of d since a change of the share that is certain or may be, with its interval."""
    told: list[Alarm | Change] = [*pulse.alarms, *pulse.changes]
    for one in told:
        if one.line == "share" and one.interval is not None:
            return one.level, one.interval.low, one.interval.high
    return None


def usual(judgement: Judgement) -> float:
    """How far from 0 the shift of a window of usual size lies while nothing changes, at the intervals' confidence."""
    monitor = judgement.monitor
    is_whole = monitor.reference_rows.size == 1
    rows = float(judgement.rows[0]) if is_whole and judgement.windows else float(monitor.reference_rows.mean())
    variance = monitor.reference.null_variance / rows * monitor.noise("share").factor
    return monitor.settings.z * math.sqrt(variance)
