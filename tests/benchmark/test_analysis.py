"""What an archive's rows are made to say: significance, ranks, beliefs, costs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pulens.errors import InputError
from pulens.inference.kernels.holm import holm
from pulens.research.benchmark.analyse import bayesian, cells, costs, failures, labels, paired, ranks, tables


def row(learner, dataset, seed, value, *, strategy="S1", frequency=0.1, seconds=1.0, **more):
    metrics = dict.fromkeys(cells.METRICS, value)
    condition = {"mechanism_alias": strategy, "mechanism": "scar", "label_frequency": frequency, "parameters": "{}"}
    cost = {"seconds": seconds, "stack_runs": 2, "stack_peak_memory": 2000, "device": "cpu", "device_name": None}
    return {"learner": learner, "dataset": dataset, "seed": seed, "scenario": "case-control"} | (
        metrics | condition | cost | more
    )


def table(values):
    """{learner: [[seeds of data set 0], [of data set 1], ...]} as cells."""
    return {
        (learner, f"d{place}"): dict(enumerate(seeds))
        for learner, own in values.items()
        for place, seeds in enumerate(own)
    }


def test_runs_of_two_conditions_are_never_averaged_together():
    rows = [row("a", "x", 1, 0.5), row("a", "x", 1, 0.6, frequency=0.5)]
    with pytest.raises(InputError, match="another labelling condition"):
        cells.cells_of(rows)
    assert cells.cells_of(cells.under(rows, "S1", 0.5)) == {("a", "x"): {1: 0.6}}
    with pytest.raises(InputError, match="Did you mean 'accuracy'"):
        cells.cells_of(rows, "acuracy")


def test_the_interval_over_seeds_is_students():
    values = [0.81, 0.84, 0.79, 0.83]
    one = cells.summarise(values)
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    np.testing.assert_allclose(one.interval, expected)
    assert (one.n, one.median) == (4, pytest.approx(0.82))
    assert cells.summarise([0.5]).interval == (-np.inf, np.inf)  # one seed says nothing about spread


def test_holm_is_the_step_down_procedure():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.uniform(size=6) ** 3
        result = np.array(holm(p))
        for level in (0.01, 0.05, 0.2):  # reject while p_(j) <= level / (m - j + 1)
            rejected = set()
            for step, place in enumerate(np.argsort(p)):
                if p[place] > level / (6 - step):
                    break
                rejected.add(place)
            assert rejected == set(np.flatnonzero(result <= level))
    assert np.isnan(holm([0.01, np.nan])[1])
    assert holm([0.01, np.nan])[0] == 0.01


def test_methods_are_compared_with_nnpu_on_the_seeds_they_share():
    result = table({"nnpu": [[0.80, 0.81, 0.82, 0.79]], "good": [[0.85, 0.86, 0.88, 0.84]], "same": [[0.80, 0.82]]})
    good, same = paired.against_reference(result)
    expected = stats.ttest_rel([0.85, 0.86, 0.88, 0.84], [0.80, 0.81, 0.82, 0.79]).pvalue
    assert good.p_value == pytest.approx(expected)
    assert good.corrected == pytest.approx(2 * expected)
    assert (good.verdict(), same.verdict(), same.n) == ("better", "tie", 2)
    with pytest.raises(InputError, match="no run of 'vpu'"):
        paired.against_reference(result, "vpu")


def test_equal_runs_tie_and_constant_gains_are_certain():
    assert paired.t_test(np.zeros(5)) == 1.0
    assert paired.t_test(np.full(5, 0.01)) == 0.0
    assert np.isnan(paired.t_test(np.array([0.1])))


def test_equal_differences_tie_in_the_signed_rank_test_whatever_their_last_digits():
    """Thousandths: in whole numbers many differences are equal, in floating point hardly two."""
    steps = [1, 2, 2, -1, 3, 2, -2, 4, 1, 3, 2]  # thousandths
    values = {}
    for place, step in enumerate(steps):
        base = [601 + 29 * place + 17 * seed for seed in range(3)]
        values["b", f"d{place:02}"] = {seed: value / 1000 for seed, value in enumerate(base)}
        values["a", f"d{place:02}"] = {seed: (value + step) / 1000 for seed, value in enumerate(base)}
    means = [paired.differences(values, "a", "b", one).mean() for one in sorted({one for _, one in values})]
    assert len({abs(mean) for mean in means}) > len({abs(step) for step in steps})  # noise there is
    n, p = paired.wilcoxon(values, "a", "b")
    assert n == len(steps)
    assert p == stats.wilcoxon(steps, zero_method="zsplit").pvalue
    assert p != stats.wilcoxon(means, zero_method="zsplit").pvalue


def test_differences_of_nothing_but_rounding_are_none():
    values = {("b", "x"): {1: 0.3}, ("a", "x"): {1: 0.1 + 0.2}, ("b", "y"): {1: 0.6}, ("a", "y"): {1: 0.6}}
    assert paired.wilcoxon(values, "a", "b") == (2, 1.0)


def test_wins_ties_and_losses_add_up():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.002, (3, 2, 6))
    values = {
        name: (base + noise[place]).tolist()
        for place, (name, base) in enumerate({"a": 0.9, "b": 0.8, "c": 0.8}.items())
    }
    records = paired.win_tie_loss(table(values))
    assert records[0] == paired.Record("a", 4, 0, 0)
    assert sum(one.wins for one in records) == sum(one.losses for one in records)
    assert all(one.wins + one.ties + one.losses == 4 for one in records)


def test_friedman_with_ties_is_scipys():
    rng = np.random.default_rng(2)
    means = rng.integers(0, 4, (9, 5)) / 4
    statistic, p = ranks.friedman(stats.rankdata(-means, axis=1))
    expected = stats.friedmanchisquare(*means.T)
    assert (statistic, p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert ranks.friedman(np.full((3, 4), 2.5)) == (0.0, 1.0)


@pytest.mark.parametrize(("learners", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_differences_use_demsars_table(learners, q):
    assert ranks.critical_difference(learners, 6) == pytest.approx(
        q * np.sqrt(learners * (learners + 1) / 36), rel=1e-3
    )


def test_ranking_leaves_holes_out_and_groups_neighbours():
    values = {
        name: [[level + 0.01 * one] for one in range(6)] for name, level in {"a": 0.9, "b": 0.8, "c": 0.3}.items()
    }
    result = table(values) | {("rare", "d0"): {0: 0.99}}
    ranking = ranks.rank(result)
    assert ranking.learners == ("a", "b", "c")
    assert ranking.ranks == (1.0, 2.0, 3.0)
    assert len(ranking.datasets) == 6
    assert ranking.p_value < 0.01
    assert ranking.groups == (("a", "b"), ("b", "c"))  # differences of 1 are below 1.35, of 2 are not
    assert "critical difference 1.35 over 6 data sets" in str(ranking)
    with pytest.raises(InputError, match="at least 3 learners"):
        ranks.rank(table({"a": [[0.5], [0.5]], "b": [[0.6], [0.6]]}))


def test_the_belief_about_one_data_set_is_the_t_posterior():
    values = np.array([0.012, 0.020, 0.005, 0.016])
    belief = bayesian.on_one_dataset(values, 0.01)
    rng = np.random.default_rng(0)
    drawn = values.mean() + stats.sem(values) * rng.standard_t(3, 200_000)
    assert belief.better == pytest.approx((drawn > 0.01).mean(), abs=0.005)
    assert belief.better + belief.equal + belief.worse == pytest.approx(1)
    assert bayesian.on_one_dataset(np.full(3, 0.002)).verdict() == "equal"


def test_the_signed_rank_belief_is_that_of_a_loop_over_pairs():
    means, rope = np.array([0.03, -0.01, 0.02, 0.05]), 0.01
    belief = bayesian.over_datasets(means, rope, draws=4000, seed=3)
    values = np.r_[0.0, means]
    weights = np.random.default_rng(3).dirichlet([0.5, 1, 1, 1, 1], 4000)
    wins = np.zeros(3)
    for own in weights[:400]:
        totals = np.zeros(3)
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                kind = 0 if a + b > 2 * rope else 2 if a + b < -2 * rope else 1
                totals[kind] += own[i] * own[j]
        wins[totals.argmax()] += 1
    np.testing.assert_allclose([belief.better, belief.equal, belief.worse], wins / 400, atol=0.07)
    mirrored = bayesian.over_datasets(-means, rope, draws=4000, seed=3)
    assert (mirrored.worse, mirrored.better) == (belief.better, belief.worse)
    with pytest.raises(InputError, match=r"write one point as 0\.01"):
        bayesian.over_datasets(means, 1.0)


def test_label_curves_say_how_many_labels_are_enough():
    means = {0.01: 0.6, 0.1: 0.88, 0.5: 0.9}
    rows = [row("a", "x", seed, value, frequency=c) for c, value in means.items() for seed in (1, 2)]
    rows += [row("a", "x", 1, 0.1, strategy="S3")]
    (curve,) = labels.label_curves(rows)
    assert curve.frequencies == (0.01, 0.1, 0.5)
    assert curve.enough() == 0.1
    (loss,) = labels.robustness(rows, "accuracy")
    assert (loss.alias, loss.loss) == ("S3", pytest.approx(0.78))


def test_a_method_is_efficient_if_none_is_as_good_in_less_time():
    rows = [row("slow", "x", 1, 0.9, seconds=9.0), row("quick", "x", 1, 0.8), row("bad", "x", 1, 0.7, seconds=2.0)]
    result = {one.learner: one for one in costs.costs(rows)}
    assert {name for name, one in result.items() if one.is_efficient} == {"slow", "quick"}
    assert result["slow"].memory == 1000


def test_score_views_count_every_row_and_measure_the_overlap():
    class Told:
        def epoch(self, key, selection):
            return 1

        def counts(self, key, part, epoch):
            centre = np.array([-2.0, -1.0, 0.5, 2.0])
            result = {"positive": [0, 2, 4, 6], "negative": [6, 6, 0, 0], "labelled": [0, 0, 1, 1]}
            return {name: np.array(own) for name, own in result.items()} | {"lowest": centre, "highest": centre}

    view = failures.score_view(Told(), "key")
    assert {kind: int(own.sum()) for kind, own in view.counts.items()} == {
        "labelled": 2,
        "hidden positive": 10,
        "negative": 12,
    }
    assert view.overlap == 0.0
    assert view.above["hidden positive"] == 0.8
    assert view.above["negative"] == 0.0
    assert failures._overlap((0.0, 0.5, 1.0), (0.5, 1.0, 3.0)) == 0.5


def test_tables_mark_the_best_and_escape_names():
    result = table({"a_b": [[0.9, 0.91]], "c": [[0.8, 0.82]], "e": [[0.7, 0.7]]})
    latex = tables.as_latex(result, {"c": "C & co"})
    assert r"a\_b & \textbf{90.50} $\pm$ 0.71 \\" in latex
    assert r"\underline{81.00}" in latex
    assert r"C \& co" in latex
    lines = tables.as_csv(result, {("c", "d0"): 0.85}).splitlines()
    assert lines[2].startswith("c,d0,2,0.810000,")
    assert lines[2].endswith(",0.8500")


def test_a_table_without_a_cell_has_no_ranks_and_says_why():
    assert cells.complete({}) == ([], [])
    with pytest.raises(InputError, match="2 data sets in common, got 0 and 0"):
        ranks.rank({})
