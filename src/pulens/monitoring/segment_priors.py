"""The class priors of segments in the reference: given for each, estimated, or implied by one label frequency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulens.errors import InputError, PulensError, listed, shown
from pulens.evidence.resolving import resolve_class_prior
from pulens.monitoring.monitor import KnownPrior, WatchSettings
from pulens.monitoring.sources import Windows
from pulens.priors.implied import implied_by_totals
from pulens.scenario import Scenario


def segment_priors(
    settings: WatchSettings, whole: Windows, parts: Mapping[str, Windows], class_prior: Any, audit: object
) -> dict[str, KnownPrior]:
    """The class prior of each segment that has one; without, its metrics are absent and its lines work.

    One class prior for all rows implies one for each segment where labels were picked out of the rows and positives
    are labelled equally often in every segment (``pulens.priors.implied``).
    """
    if class_prior is None and audit is None:
        return {}
    scenario, noise = Scenario(settings.scenario), settings.label_noise
    tallies = {name: tally for name, part in parts.items() if (tally := part.whole).totals.labelled}
    if isinstance(class_prior, Mapping | str):
        own = _one_for_each(class_prior, parts)
        return {
            name: KnownPrior.settled(settings.question(own[name]).settle(tally), settings)
            for name, tally in tallies.items()
        }
    if scenario is not Scenario.SINGLE_SET:
        return {}
    result = {}
    every = whole.whole
    prior = resolve_class_prior(every, scenario, class_prior, None, noise, audit)
    for name, tally in tallies.items():
        if tally.totals.unlabelled:
            try:
                result[name] = KnownPrior.of(implied_by_totals(tally.totals, every.totals, prior, label_noise=noise))
            except PulensError:
                continue  # more labelled rows than one label frequency allows: no metric is better than a wrong one
    return result


def _one_for_each(class_prior: Mapping[str, Any] | str, parts: Mapping[str, Windows]) -> Mapping[str, Any]:
    """What was said of each segment: one of a mapping, or the same method for all."""
    if isinstance(class_prior, str):
        return dict.fromkeys(parts, class_prior)
    for name in parts:
        if name not in class_prior:
            raise InputError(f"class_prior was given for {listed(class_prior)} but not for the segment {shown(name)}.")
    return class_prior


def whole_prior(whole: Windows, parts: Mapping[str, Windows], class_prior: Any) -> Any:
    """The class prior of all rows; of one number for each segment their mean by rows."""
    if not isinstance(class_prior, Mapping):
        return class_prior
    rows = {name: part.whole.totals.rows for name, part in parts.items()}
    if not all(isinstance(class_prior.get(name), int | float) for name in parts):
        return None
    return float(sum(rows[name] * class_prior[name] for name in parts) / sum(rows.values()))
