"""The study of measures: its arithmetic, and the whole road on a toy design."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.studies import _pulp, _pulp_classifiers, _pulp_report
from scipy.stats import spearmanr

from pulens.cli import main
from pulens.research.studies._pulp import MEASURES, SCENARIOS, MeasuresDesign, Results, measure_all, spearman, untied


def results(full, pu, labels=(90,)):
    design = MeasuresDesign((0.1, 0.5), labels, tasks=1, repeats=1, noise=(0.0,))
    groups = tuple(("toy", task) for task in range(full.shape[3]))
    return Results(design, groups, (*MEASURES, _pulp.LOG_PULP), full, pu)


def random_values(seed=0, groups=3, classifiers=12):
    rng = np.random.default_rng(seed)
    full = rng.normal(size=(1, len(SCENARIOS), 2, groups, classifiers, len(MEASURES) + 1))
    return full, full + 0.3 * rng.normal(size=full.shape)


def test_rank_correlation_is_scipys():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 6, (4, 20)).astype(float), rng.normal(size=(4, 20))
    expected = [spearmanr(a, b).statistic for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(spearman(first, second, axis=1), expected)


def test_random_order_of_ties_keeps_the_order_of_scores():
    scores = np.array([3.0, 1.0, 3.0, 2.0, 3.0])
    places = untied(scores, np.random.default_rng(0))
    assert sorted(places) == [0, 1, 2, 3, 4]
    assert set(places[scores == 3]) == {2, 3, 4}


def test_measures_of_full_labels_reward_a_perfect_ranking():
    labels = np.repeat([1, 0], [20, 60]).astype(np.int8)
    good, poor = measure_all(labels, labels * 1.0), measure_all(labels, np.random.default_rng(0).random(80))
    assert all(a > b for a, b in zip(good, poor, strict=True))


def test_perfect_agreement_is_a_correlation_of_one_and_no_deviation():
    full, _ = random_values()
    result = results(full, full)
    np.testing.assert_allclose(result.correlation(pooled=True), 1)
    np.testing.assert_allclose(result.correlation(pooled=False), 1)
    assert result.deviation().max() == 0


def test_a_claim_is_reproduced_only_where_the_numbers_say_so():
    full, pu = random_values()
    pulp = list(MEASURES).index("PULP")
    favourable = pu.copy()
    favourable[..., pulp] = full[..., pulp]
    first = _pulp_report.claims(results(full, favourable), np.random.default_rng(0))[0]
    assert first.verdict == "reproduced"
    unfavourable = pu.copy()
    unfavourable[..., pulp] = -full[..., pulp]
    first = _pulp_report.claims(results(full, unfavourable), np.random.default_rng(0))[0]
    assert first.verdict == "differs"


def test_published_rows_are_complete():
    for table in (_pulp_report.PUBLISHED_CORRELATION, _pulp_report.PUBLISHED_DEVIATION):
        assert set(table) == set(SCENARIOS)
        assert all(len(row) == len(MEASURES) for row in table.values())


@pytest.mark.parametrize("name", ["pulp-table-1", "pulp-figure-2"])
def test_the_whole_study_runs_on_a_toy_design(name, monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.delenv("PULENS_MIRROR", raising=False)
    toy = MeasuresDesign((0.1, 0.5), (20,), tasks=1, repeats=1, noise=(0.0,))
    monkeypatch.setattr(MeasuresDesign, "of", classmethod(lambda cls, bench: toy))
    few = {n: f for n, f in _pulp_classifiers.classifiers().items() if n.startswith(("naive", "logistic", "disc"))}
    monkeypatch.setattr(_pulp, "classifiers", lambda: few)
    main(["reproduce", name, "--quick", "--out", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "Rank correlation" in shown
    assert "F1 and Pseudo-F rank classifiers alike" in shown
    assert len(list(tmp_path.iterdir())) == 1
