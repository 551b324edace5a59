"""The studies of paper 001: their arithmetic, what they conclude, and the whole road on small designs."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.studies import (
    _bounds,
    _bounds_tables,
    bounds_figure_2,
    bounds_figure_3,
    bounds_figure_4,
    bounds_figure_5,
    bounds_table_1,
    bounds_table_2,
)

from pulens import bounds, studies
from pulens.counts.tally import Tally
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import raw_value
from pulens.recovery import direct_roc_auc, pairwise_auc
from pulens.recovery.assumptions import Assumptions
from pulens.research.studies._bounds import band_holds, binormal
from pulens.scenario import Scenario

NAMES = tuple(name for name in studies.names() if name.startswith("bounds-"))


@pytest.fixture
def small(monkeypatch):
    """The same studies on fewer and smaller rankings."""
    figure_2, figure_3, figure_5 = bounds_figure_2, bounds_figure_3, bounds_figure_5
    monkeypatch.setattr(figure_2, "KNOWN", (10, 100, 1_000))
    monkeypatch.setattr(figure_2, "UNLABELLED", 5_000)
    monkeypatch.setattr(figure_2, "SMALLER", (500, 5_000))
    monkeypatch.setattr(figure_3, "UNLABELLED", 20_000)
    monkeypatch.setattr(figure_2, "QUICK_REPEATS", 3)
    monkeypatch.setattr(figure_3, "QUICK_REPEATS", 2)
    monkeypatch.setattr(figure_5, "QUICK_DRAWS", 3)
    monkeypatch.setattr(_bounds_tables, "QUICK_DRAWS", 2)
    monkeypatch.setattr(bounds_table_1, "QUICK_COVERAGE_DRAWS", 3)
    monkeypatch.setattr(bounds_table_2, "QUICK_REVERSED_DRAWS", 3)
    for module in (_bounds_tables, bounds_table_2):
        monkeypatch.setattr(module, "POSITIVES", 200)
        monkeypatch.setattr(module, "NEGATIVES", 1_000)
    ranking = binormal("simulated normal scores", 20_000, 20_000, np.random.default_rng(0))
    monkeypatch.setattr(_bounds_tables, "trained_ranking", lambda seed: ranking)
    monkeypatch.setattr(figure_5, "trained_ranking", lambda seed: ranking)


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_gives_tables_claims_and_a_figure(name, small, tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    outcome = studies.find(name).run(studies.Workbench(quick=True, out=tmp_path))
    assert [path.name for path in outcome.files] == [f"{name}.png"]
    assert outcome.files[0].stat().st_size > 10_000
    assert outcome.tables
    assert all("published" in outcome.tables[0] for _ in outcome.tables)
    assert {claim.verdict for claim in outcome.claims} <= {"reproduced", "differs", "not testable here"}
    if name == "bounds-figure-4":
        assert [claim.verdict for claim in outcome.claims] == ["differs", "differs", "differs", "reproduced", "differs"]


def test_there_is_a_study_for_each_figure_and_table():
    assert (*(f"bounds-figure-{number}" for number in (2, 3, 4, 5)), "bounds-table-1", "bounds-table-2") == NAMES


def test_packed_rankings_have_the_published_areas_at_share_zero():
    for packing, published in zip(bounds_figure_4.PACKED.values(), bounds_figure_4.PUBLISHED[0.0], strict=True):
        area = pairwise_auc(packing.tally(), "labelled", "unlabelled")
        assert area == pytest.approx(published, abs=0.0005)


def test_without_a_cut_equation_11_is_the_straight_line():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [bounds_figure_4.KNOWN, bounds_figure_4.UNLABELLED])
    tally = Tally.from_arrays(labels, rng.normal(0.3 * labels, 1))  # so weak that 2% always find room
    result = bounds_figure_4.area_by_equation_11(tally, 0.02)
    assert result == pytest.approx(direct_roc_auc(tally, Assumptions(0.02, scenario=Scenario.CASE_CONTROL)), abs=1e-4)
    line = bounds_figure_4.straight_line(pairwise_auc(tally, "labelled", "unlabelled"), 0.02)
    assert result == pytest.approx(line, abs=1e-4)


def test_no_ranking_beats_the_most_that_equation_11_can_give():
    rng = np.random.default_rng(1)
    closest = 1.0
    for _ in range(150):
        top, bottom = rng.dirichlet([0.5, 1.0, 2.0])[:2]
        tally = bounds_figure_4.Packing(top * (rng.random() < 0.5), bottom, rng.uniform(0.02, 1)).tally()
        area = pairwise_auc(tally, "labelled", "unlabelled")
        spare = bounds_figure_4.most_by_equation_11(area, 0.1) - bounds_figure_4.area_by_equation_11(tally, 0.1)
        assert spare > -2e-4  # half a row at each step
        closest = min(closest, spare)
    assert closest < 0.002  # the limit is not an idle one


def test_the_shares_of_both_tables_are_ours():
    for a, positives in enumerate(_bounds_tables.KNOWN_POSITIVES):
        for b, negatives in enumerate(_bounds_tables.KNOWN_NEGATIVES):
            share = _bounds_tables.share_of_latent(positives, negatives)
            assert (
                bounds_table_1.rounded_share(positives, negatives) == _bounds_tables.PUBLISHED_SHARES["Table 1"][a][b]
            )
            assert int(100 * share) == _bounds_tables.PUBLISHED_SHARES["Table 2"][a][b]


def test_labels_are_drawn_among_rows_of_their_class():
    ranking = binormal("toy", 300, 700, np.random.default_rng(0))
    labels = ranking.labels(30, np.random.default_rng(1), negatives=70)
    assert (labels == 1).sum() == 30
    assert (labels == -1).sum() == 70
    assert ranking.is_positive[labels == 1].all()
    assert not ranking.is_positive[labels == -1].any()


def test_with_everything_known_the_bounds_are_the_true_area():
    ranking = binormal("toy", 300, 700, np.random.default_rng(0))
    labels = ranking.labels(299, np.random.default_rng(1), negatives=699)
    result = bounds(labels, ranking.scores, unlabelled_prior=0.5, scenario="single-set")
    assert result.roc_auc.low - 0.01 < ranking.roc_auc < result.roc_auc.high + 0.01
    assert result.roc_auc.width < 0.02


def test_the_two_sample_band_holds_at_every_rank_as_often_as_it_says():
    ranking = binormal("toy", 2_000, 3_000, np.random.default_rng(0))
    held = [
        band_holds(ranking, ranking.labels(500, np.random.default_rng([1, draw])), "dkw-two-sample")[0]
        for draw in range(200)
    ]
    assert np.mean(held) > 0.91


def test_without_the_data_the_scores_are_simulated_and_named_so(monkeypatch):
    from pulens.benchmark import datasets

    def gone(name):
        raise datasets.DataUnavailableError(name)

    monkeypatch.setattr(datasets, "load", gone)
    ranking = _bounds.trained_ranking.__wrapped__(0)
    assert "simulated" in ranking.name
    assert ranking.roc_auc == pytest.approx(0.76, abs=0.01)


@pytest.mark.parametrize("metric", ["average_precision", "matthews_correlation"])
@pytest.mark.parametrize("scenario", list(Scenario))
def test_some_metrics_of_two_models_keep_their_ratio_whatever_the_share(metric, scenario):
    # two scores only, and no more known positives above than the unlabelled rows have room for
    tallies = []
    for known, rows in ((50, 250), (80, 500)):
        scores = np.repeat([2.0, 1.0, 2.0, 1.0], [known, 100 - known, rows, 1_000 - rows])
        tallies.append(Tally.from_arrays(np.repeat([1, 0], [100, 1_000]), scores))
    ratios = [
        np.divide(*(raw_value(METRICS[metric], tally, Assumptions(share, 0.0, scenario), 2.0) for tally in tallies))
        for share in (0.01, 0.1, 0.3)
    ]
    assert ratios == pytest.approx([ratios[0]] * 3, rel=1e-9)
    f1 = [
        np.divide(*(raw_value(METRICS["f1"], tally, Assumptions(share, 0.0, scenario), 2.0) for tally in tallies))
        for share in (0.01, 0.3)
    ]
    assert abs(f1[0] - f1[1]) > 0.01
