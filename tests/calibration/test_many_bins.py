"""As many bins as may be asked for: counted alike, and without work for each redraw of each of them."""

from __future__ import annotations

import numpy as np
import pytest

from pulens import calibration
from pulens.calibration import _gaps
from pulens.calibration import reliability as diagram  # the function; its kernels live in the module of that name
from pulens.calibration.binning import MOST_BINS, mass_edges, width_edges
from pulens.calibration.masses import MassMap, count_bins
from pulens.counts.tally import Tally

RNG_SEED = 19


def rows(size: int, digits: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(RNG_SEED)
    labels = np.repeat([1, 0, -1], [size // 10, size - size // 10 - size // 20, size // 20])
    scores = rng.random(size)
    return labels, scores if digits is None else np.round(scores, digits)


@pytest.mark.parametrize("bins", [1, 7, 63, 64, 65, 1000, 20_000])
@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_hold_what_their_rows_add_up_to(bins: int, digits: int | None, weighted: bool, monkeypatch) -> None:
    monkeypatch.setattr("pulens.calibration.masses._PIECE", 100)  # so that bins reach over several pieces
    labels, scores = rows(3000, digits)
    weights = np.random.default_rng(1).uniform(0.5, 2, labels.size) if weighted else np.ones(labels.size)
    tally = Tally.from_arrays(labels, scores, weights if weighted else None)
    edges = width_edges(bins)
    counted = count_bins(tally, edges)
    place = np.maximum(np.searchsorted(edges, scores, side="left") - 1, 0)
    for kind, code in enumerate((1, 0, -1)):
        own = labels == code
        for power, result in enumerate((counted.counts, counted.sums, counted.squares)):
            slow = np.bincount(place[own], (weights * scores**power)[own], minlength=bins)
            np.testing.assert_allclose(result[kind], slow, rtol=1e-12, atol=1e-12)


def test_a_hundred_thousand_bins_are_not_redrawn_a_thousand_times(monkeypatch) -> None:
    labels, scores = rows(150_000)
    drawn: list[int] = []
    redraw = _gaps.redraw_gaps

    def counted(found, *args, redraws, **options):
        drawn.append(redraws * found.bins)
        assert drawn[-1] <= 2_000_000
        return redraw(found, *args, redraws=redraws, **options)

    monkeypatch.setattr(_gaps, "redraw_gaps", counted)
    error = calibration.expected_calibration_error(
        labels, scores, class_prior=0.3, bins=MOST_BINS, binning="width", scenario="case-control", labelling="random"
    )
    assert drawn
    assert 0 < error.noise_floor < error.value


@pytest.mark.slow
def test_few_redraws_of_many_bins_tell_the_noise_floor(monkeypatch) -> None:
    labels, scores = rows(20_000)
    tally = Tally.from_arrays(labels, scores)
    given = {"class_prior": 0.3, "bins": 5000, "binning": "width", "scenario": "case-control"}
    quick = calibration.expected_calibration_error(tally, **given, labelling="random").noise_floor
    monkeypatch.setattr(_gaps, "MOST_REDRAWN_BINS", 10**9)
    assert quick == pytest.approx(
        calibration.expected_calibration_error(tally, **given, labelling="random").noise_floor, rel=0.005
    )


def test_bins_with_the_same_counts_share_their_interval(monkeypatch) -> None:
    labels, scores = rows(3000)
    given = {
        "class_prior": 0.3,
        "bins": 300,
        "binning": "width",
        "scenario": "case-control",
        "redraws": 4000,
        "labelling": "random",
    }
    module = __import__("sys").modules[diagram.__module__]
    each = diagram(labels, scores, **given).bins
    monkeypatch.setattr(module, "_MOST_REDRAWN_BINS", 1)
    shared = diagram(labels, scores, **given).bins
    for end in ("low", "high"):  # single ends vary by chance, in heavy tails by a tenth; their mean does not
        ends = [[getattr(one.interval, end) for one in bins if one.interval is not None] for bins in (each, shared)]
        assert np.mean(ends[0]) == pytest.approx(np.mean(ends[1]), abs=0.01)
        assert np.corrcoef(ends)[0, 1] > 0.95
    by_counts = {(one.labelled, one.unlabelled, one.negative): one.interval for one in shared}
    assert all(by_counts[one.labelled, one.unlabelled, one.negative] == one.interval for one in shared)


@pytest.mark.parametrize("rows_counted", [10, 97, 10**17 + 3])
def test_edges_of_equal_mass_stand_at_exact_ranks(rows_counted: int) -> None:
    scores = np.array([0.9, 0.6, 0.3])
    at_or_above = np.array([rows_counted // 3, rows_counted // 2, rows_counted])
    bins = 7
    edges = mass_edges(scores, at_or_above, bins)
    for b in range(1, bins):
        rank = rows_counted * b // bins  # the rank-th smallest score, counting from 0
        from_top = rows_counted - rank
        assert edges[b] == scores[int(np.flatnonzero(at_or_above > from_top)[0])] if rank else True


def test_the_masses_of_many_bins_add_up() -> None:
    labels, scores = rows(5000)
    from pulens.evidence import gather

    evidence = gather(labels, scores, class_prior=0.3, scenario="single-set")
    counted = count_bins(evidence.tally, width_edges(MOST_BINS))
    masses = MassMap.of(evidence.tally.totals, evidence.assumptions)
    assert counted.population_mass(masses).sum() == pytest.approx(1)
    assert counted.positive_mass(masses).sum() == pytest.approx(0.3)
