"""Reliability diagrams."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from pulens import calibration
from pulens.calibration import expected_calibration_error, reliability
from pulens.errors import PulensError
from pulens.testing import logistic_world


@pytest.fixture(scope="module")
def rows():
    few, many, _ = logistic_world(-0.5, 1.5, 0.3).draw(150, 2_000, np.random.default_rng(3))
    return np.repeat([1, 0], [150, 2_000]), np.concatenate([few, many])


def test_its_bins_add_up_to_the_calibration_error(rows):
    diagram = reliability(*rows, class_prior=0.3, scenario="case-control", labelling="random")
    assert sum(abs(one.gap) for one in diagram.bins) == pytest.approx(diagram.error.value, abs=1e-12)
    assert diagram.error == expected_calibration_error(
        *rows, class_prior=0.3, scenario="case-control", labelling="random"
    )
    assert sum(one.population for one in diagram.bins) == pytest.approx(1)
    assert sum(one.population * one.confidence for one in diagram.points) == pytest.approx(diagram.mean_score)
    assert sum(one.population * one.fraction for one in diagram.points) == pytest.approx(0.3)


def test_empty_bins_have_no_point_but_their_positives_count():
    labels, scores = [1, 1, 0, 0, 0], [0.95, 0.1, 0.1, 0.2, 0.4]
    diagram = reliability(
        labels, scores, class_prior=0.5, bins=2, binning="width", scenario="case-control", labelling="random"
    )
    assert len(diagram.points) == 1
    assert math.isnan(diagram.bins[1].fraction)
    assert diagram.bins[1].interval is None
    assert diagram.bins[1].gap == pytest.approx(0.25)
    assert "no rows" in str(diagram)


def test_shares_above_one_are_clipped_for_the_plot_only():
    labels, scores = [1] * 9 + [0] * 10, [0.9] * 9 + [0.9] + [0.1] * 9
    top = reliability(
        labels, scores, class_prior=0.5, bins=2, binning="width", scenario="case-control", labelling="random"
    ).bins[1]
    assert top.fraction == pytest.approx(5.0)
    assert top.clipped == 1.0
    assert top.interval.high == 1.0


def test_a_bin_without_labelled_rows_is_not_surely_without_positives(rows):
    diagram = reliability(
        [1, *[0] * 100],
        [0.9, *np.linspace(0, 0.99, 100)],
        class_prior=0.2,
        bins=4,
        scenario="case-control",
        labelling="random",
    )
    lowest = diagram.bins[0]
    assert lowest.fraction == 0
    assert lowest.interval.low < 0.02
    assert lowest.interval.high > 0.05


def test_intervals_of_bins_cover_the_truth():
    world = logistic_world(-0.5, 1.5, 0.3)
    edges = np.arange(6) / 5
    positive, _ = world.binned_masses(edges)
    population = np.diff([world.population_below(edge) for edge in edges])
    truth = positive / population
    hits = []
    for seed in range(120):
        few, many, _ = world.draw(150, 1_500, np.random.default_rng(seed))
        labels, scores = np.repeat([1, 0], [150, 1_500]), np.concatenate([few, many])
        diagram = reliability(
            labels,
            scores,
            class_prior=0.3,
            bins=5,
            binning="width",
            redraws=300,
            scenario="case-control",
            labelling="random",
        )
        hits.append([share in one.interval for share, one in zip(truth, diagram.bins, strict=True)])
    assert np.mean(hits) > 0.92


def test_large_and_small_counts_give_the_same_kind_of_interval():
    from pulens.calibration.reliability import _redraw_rates

    rng = np.random.default_rng(0)
    normal = _redraw_rates(np.array([2_500.0]), 50_000, 20_000, rng)[:, 0]
    exact = rng.beta(2_500.5, 47_500.5, 20_000)
    for quantile in (0.025, 0.5, 0.975):
        assert np.quantile(normal, quantile) == pytest.approx(np.quantile(exact, quantile), rel=0.003)


def test_the_verdict_names_the_direction():
    world = logistic_world(0.0, 1.0, 0.05)  # promises half, finds one in twenty
    few, many, _ = world.draw(300, 3_000, np.random.default_rng(0))
    diagram = reliability(
        np.repeat([1, 0], [300, 3_000]),
        np.concatenate([few, many]),
        class_prior=0.05,
        bins=5,
        scenario="case-control",
        labelling="random",
    )
    assert {one.verdict for one in diagram.bins[:4]} == {"overconfident"}


def test_it_becomes_json_html_and_text(rows):
    diagram = reliability(*rows, class_prior=0.3, bins=4, scenario="case-control", labelling="random")
    written = json.loads(json.dumps(diagram.to_dict(), allow_nan=False))
    assert len(written["bins"]) == 4
    assert written["error"]["noise_floor"] > 0
    assert "predicted" in str(diagram)
    page = diagram._repr_html_()
    assert page.count("<circle") == 4
    assert "noise floor" in page
    assert "script" not in page


def test_its_drawing_is_well_formed_even_with_empty_bins():
    from xml.etree import ElementTree

    from pulens.report.reliability import reliability_svg

    labels, scores = [1, 1, 0, 0, 0], [0.95, 0.1, 0.1, 0.2, 0.4]
    diagram = reliability(
        labels, scores, class_prior=0.5, bins=4, binning="width", scenario="case-control", labelling="random"
    )
    drawing = ElementTree.fromstring(reliability_svg(diagram))
    assert len([one for one in drawing.iter() if one.tag.endswith("circle")]) == len(diagram.points)
    assert "no rows of the population" in diagram._repr_html_()


def test_it_draws_points_intervals_and_a_histogram(rows):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    diagram = reliability(*rows, class_prior=0.3, bins=6, scenario="case-control", labelling="random")
    top, bottom = diagram.plot()
    points = top.lines[-1].get_xydata()
    assert len(points) == 6
    np.testing.assert_allclose(points[:, 0], [one.confidence for one in diagram.bins])
    assert len(bottom.patches) == 6
    alone = diagram.plot(axes=plt.figure().subplots())
    assert alone.get_xlabel() == "score"
    plt.close("all")


@pytest.mark.parametrize("door", ["reliability", "expected_calibration_error", "recalibrate"])
def test_a_seed_below_zero_is_refused(door):
    labels, scores = np.repeat([1, 0], [20, 40]), np.linspace(0.9, 0.1, 60)
    with pytest.raises(PulensError, match="seed must be a whole number of at least 0, got -1"):
        getattr(calibration, door)(labels, scores, class_prior=0.5, scenario="case-control", seed=-1)
