"""Labels random within cells: worked examples, one cell, split, pooling, bad input."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import polars
import pytest

import pulens
from pulens.cli import main
from pulens.errors import AssumptionError, InputError, PulensError
from pulens.priors.pooling import SPREADS, pooled_logits, pooling
from pulens.strata import equal_rates, extreme_recalls, gather_within
from pulens.strata.rates import pseudo_count

CLINICS = {"north": (0.10, 2.2, 0.6), "south": (0.30, 1.2, 0.1), "east": (0.2, 1.6, 0.3)}  # prior, shift, label rate


def worked_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Worked example 1: cells of 6,000 and 4,000 rows, 90 and 10 labelled ones, collected apart."""
    rows = []
    for cell, labelled, hits, unlabelled, flagged in (("north", 90, 72, 6000, 900), ("south", 10, 5, 4000, 800)):
        rows += [(cell, 1, float(place < hits)) for place in range(labelled)]
        rows += [(cell, 0, float(place < flagged)) for place in range(unlabelled)]
    cells, labels, scores = map(np.array, zip(*rows, strict=True))
    return cells, labels, scores


def random_labels(size: int = 3000) -> polars.DataFrame:
    rng = np.random.default_rng(1)
    positive = rng.random(size) < 0.25
    label = positive & (rng.random(size) < 0.3)
    negative = ~positive & (rng.random(size) < 0.1)
    columns = {"score": rng.normal(1.5 * positive).round(3), "label": label * 1, "one": ["x"] * size}
    return polars.DataFrame({**columns, "known": np.where(negative, -1, label * 1)})


def clinics(size: int = 4000, seed: int = 0) -> polars.DataFrame:
    rng = np.random.default_rng(seed)
    clinic = rng.choice(list(CLINICS), size)
    prior, shift, rate = (np.array([CLINICS[name][place] for name in clinic]) for place in range(3))
    positive = rng.random(size) < prior
    columns = {"score": rng.normal(positive * shift).round(3), "label": (positive & (rng.random(size) < rate)) * 1}
    return polars.DataFrame({**columns, "clinic": clinic, "truth": positive})


PRIORS = {name: facts[0] for name, facts in CLINICS.items()}


def test_cells_are_added_up_by_the_positives_they_hold():
    cells, labels, scores = worked_rows()
    asked = {"scenario": "case-control", "threshold": 0.5, "confidence": None}
    result = pulens.evaluate(
        labels, scores, labelled_within=cells, class_prior={"north": 0.1, "south": 0.3}, **asked, labelling="random"
    )
    numbers = {name: result.estimates[name].value for name in ("recall", "precision", "specificity")}
    assert result.class_prior.value == pytest.approx(9 / 50, abs=1e-12)
    assert numbers["recall"] == pytest.approx(3 / 5, abs=1e-12)
    assert numbers["precision"] == pytest.approx(54 / 85, abs=1e-12)
    assert 1 - numbers["specificity"] == pytest.approx(31 / 410, abs=1e-12)
    assert result.pooled.estimates["recall"].value == pytest.approx(0.77, abs=1e-12)
    assert [row.share_of_positives for row in result.cells] == pytest.approx([1 / 3, 2 / 3])
    assert result.cells["north"].label_rate / result.cells["south"].label_rate == pytest.approx(
        (90 / 600) / (10 / 1200)
    )


def test_recall_over_all_splits_of_the_worked_example():
    low, high = extreme_recalls(np.array([0.8, 0.5]), np.zeros(2), np.array([1200.0, 1600.0]), 1800.0)
    assert (low, high) == pytest.approx((8 / 15, 7 / 10), abs=1e-12)


def test_extreme_splits_are_those_of_all_splits():
    rng = np.random.default_rng(3)
    for _ in range(20):
        recalls, least = rng.random(3), rng.integers(0, 4, 3)
        most = least + rng.integers(0, 9, 3)
        total = int(rng.integers(max(least.sum(), 1), max(most.sum(), 1) + 1))
        splits = itertools.product(*(range(a, b + 1) for a, b in zip(least, most, strict=True)))
        values = [split @ recalls / total for split in map(np.array, splits) if split.sum() == total]
        result = extreme_recalls(recalls, least.astype(float), most.astype(float), float(total))
        assert tuple(result) == pytest.approx((min(values), max(values)), abs=1e-12)


ONE_CELL = {
    "number": {"class_prior": 0.25, "threshold": 1.0},
    "range": {"class_prior": (0.2, 0.3), "threshold": 1.0},
    "chosen": {"class_prior": (0.2, 0.3)},
    "noise": {"class_prior": 0.25, "threshold": 1.0, "label_noise": 0.03},
    "apart": {"class_prior": (0.15, 0.2), "threshold": 1.0, "scenario": "case-control"},
    "apart, chosen": {"class_prior": 0.18, "scenario": "case-control"},
    "apart, noise": {"class_prior": 0.18, "threshold": 1.0, "label_noise": 0.03, "scenario": "case-control"},
}


@pytest.mark.parametrize("asked", ONE_CELL.values(), ids=ONE_CELL)
def test_one_cell_is_the_plain_evaluation(asked):
    plain = pulens.evaluate(random_labels(), **asked, labelling="random")
    within = pulens.evaluate(random_labels(), labelled_within="one", **asked, labelling="random")
    assert within.threshold == plain.threshold
    for name, result in plain.estimates.items():
        assert within.estimates[name].value == pytest.approx(result.value, abs=1e-12, nan_ok=True), name
        assert within.estimates[name].interval.width == pytest.approx(result.interval.width, rel=0.1), name


def test_known_negatives_and_an_estimated_prior_stay_as_they_are_with_one_cell():
    for scenario in ("single-set", "case-control"):
        asked = {"scenario": scenario, "threshold": 1.0, "label": "known"}
        plain = pulens.evaluate(random_labels(), **asked, labelling="random")
        within = pulens.evaluate(random_labels(), labelled_within="one", **asked, labelling="random")
        for name, result in plain.estimates.items():
            assert within.estimates[name].value == pytest.approx(result.value, abs=1e-12, nan_ok=True), name
            assert within.estimates[name].interval.width == pytest.approx(result.interval.width, rel=0.1), name


def test_a_range_of_class_priors_is_cut_once_for_rows_of_one_cell():
    """Those who take labels for random cut it; gathered rows keep it as it was given."""
    rng = np.random.default_rng(3)
    labels = np.repeat([1, 0], [100, 300])
    rows = labels, rng.normal(2.0 * labels)
    asked = {"class_prior": (0.3, 0.9), "cluster": np.arange(400) // 8}
    one = {**asked, "labelled_within": np.zeros(400, int)}
    assert gather_within(*rows, **one).class_prior == gather_within(*rows, **asked).class_prior
    plain, cell = (pulens.evaluate(*rows, **each, labelling="random", redraws=100).class_prior for each in (asked, one))
    assert cell.value == plain.value < 0.6
    assert [notice.code for notice in cell.notices] == ["prior-range-cut"]


def test_cells_that_label_alike_change_nothing_but_chance():
    frame = clinics().with_columns(half=polars.Series(np.arange(4000) % 2))
    plain = pulens.evaluate(frame, class_prior=0.2, threshold=1.0, confidence=None, labelling="random")
    within = pulens.evaluate(
        frame,
        class_prior=0.2,
        threshold=1.0,
        labelled_within="half",
        split="equal",
        confidence=None,
        labelling="random",
    )
    for name in ("recall", "precision", "roc_auc"):
        assert within.estimates[name].value == pytest.approx(plain.estimates[name].value, abs=0.02)


def test_weights_are_those_of_inverse_propensities():
    """A row of a cell that labels one positive in ten stands for ten: the same numbers from weights."""
    frame = clinics()
    result = pulens.evaluate(
        frame, class_prior=PRIORS, labelled_within="clinic", threshold=1.0, confidence=None, labelling="random"
    )
    weight = np.array([1 / row.label_rate for row in result.cells])
    place = {row.name: number for number, row in enumerate(result.cells)}
    labelled = frame.filter(polars.col("label") == 1)
    weights = weight[[place[name] for name in labelled["clinic"]]]
    flagged = labelled["score"].to_numpy() >= 1.0
    assert result.estimates["recall"].value == pytest.approx(weights @ flagged / weights.sum(), abs=1e-12)
    scores, listed = labelled["score"].to_numpy(), frame["score"].to_numpy()
    above = (scores[:, None] > listed).mean(axis=1) + (scores[:, None] == listed).mean(axis=1) / 2
    theta, prior = weights @ above / weights.sum(), result.class_prior.value
    assert result.estimates["roc_auc"].value == pytest.approx((theta - prior / 2) / (1 - prior), abs=1e-12)


def test_the_truth_is_found_where_pooling_misses_it():
    frame = clinics(20_000)
    truth = (frame.filter("truth")["score"] >= 1.0).mean()
    result = pulens.evaluate(frame, class_prior=PRIORS, labelled_within="clinic", threshold=1.0, labelling="random")
    assert truth in result.estimates["recall"].interval
    assert abs(result.pooled.estimates["recall"].value - truth) > 3 * abs(result.estimates["recall"].value - truth)
    assert result.cells.equal_rates.p_value < 1e-6
    low, high = result.cells.whatever_the_split
    assert low < truth < high


def test_pooling_is_the_integral_of_the_hierarchy():
    logits, variances = np.array([-2.0, -1.2, -0.1]), np.array([0.05, 0.3, 0.15])
    drawn = pooled_logits(np.append(logits, np.nan), np.append(variances, np.nan), 60_000, seed=5)
    common = np.linspace(-12, 10, 4001)
    moments, weights = [], []
    for spread in SPREADS:
        total = variances + spread**2
        likelihood = np.exp(-((logits - common[:, None]) ** 2 / (2 * total)).sum(axis=1)) / np.sqrt(total.prod())
        kept = spread**2 / total
        middle = kept * logits + (1 - kept) * common[:, None]
        middle = np.column_stack([middle, common])
        left = np.append(kept * variances, spread**2)
        weights.append(likelihood.sum())
        moments.append(
            [(likelihood[:, None] * middle).sum(axis=0), (likelihood[:, None] * (middle**2 + left)).sum(axis=0)]
        )
    first, second = np.sum(moments, axis=0) / np.sum(weights)
    np.testing.assert_allclose(drawn.mean(axis=0), first, atol=0.03)
    np.testing.assert_allclose(drawn.std(axis=0)[:3], np.sqrt(second - first**2)[:3], rtol=0.02)


def test_one_class_prior_is_kept_however_it_splits():
    frame = clinics()
    for scenario in ("single-set", "case-control"):
        result = pulens.evaluate(
            frame,
            class_prior=0.19,
            labelled_within="clinic",
            scenario=scenario,
            threshold=1.0,
            confidence=None,
            labelling="random",
        )
        assert result.class_prior.value == pytest.approx(0.19, abs=1e-9)
        shares = [row.share_of_positives for row in result.cells]
        assert sum(shares) == pytest.approx(1)
        assert len(set(shares)) == 3


def test_few_checked_rows_in_each_cell_are_told():
    """Intervals of recall held in 83% of worlds with a dozen cells and 25 checked rows in each."""
    for rows, told in ((25, True), (400, False)):
        audit = {"north": (round(0.04 * rows), rows), "south": (round(0.24 * rows), rows)}
        result = pulens.evaluate(
            clinics(), labelled_within="clinic", audit=audit, threshold=1.0, redraws=100, labelling="random"
        )
        assert ("few-checked-in-cells" in [notice.code for notice in result.notices]) is told


def test_an_audit_of_cells_is_pooled():
    audit = {"north": (3, 100), "south": (26, 100)}
    result = pulens.evaluate(
        clinics(), labelled_within="clinic", audit=audit, threshold=1.0, redraws=500, labelling="random"
    )
    priors = {row.name: row for row in result.cells}
    assert priors["north"].class_prior < priors["east"].class_prior < priors["south"].class_prior
    assert priors["east"].prior_interval.width > priors["north"].prior_interval.width


def test_one_cell_borrows_half_a_row_of_each_kind():
    assert pseudo_count(np.array([10.0]), np.array([10.0])) == 0.5
    assert pseudo_count(np.array([10.0, 20.0]), np.array([10.0, 20.0])) == 0.75


def test_the_chi_square_test_is_pearsons():
    seen, held = np.array([60.0, 30.0, 10.0]), np.array([200.0, 150.0, 50.0])
    table = np.array([seen, held - seen])
    expected = table.sum(axis=0) * table.sum(axis=1, keepdims=True) / table.sum()
    result = equal_rates(seen, held, is_single=True)
    assert result.chi_square == pytest.approx(((table - expected) ** 2 / expected).sum())
    assert result.degrees_of_freedom == 2


def test_a_cell_without_labels_takes_the_mean_and_says_so():
    frame = clinics()
    lost = frame.with_columns(
        label=polars.when(polars.col("clinic") == "south").then(0).otherwise("label"),
    )
    result = pulens.evaluate(
        lost, class_prior=PRIORS, labelled_within="clinic", threshold=1.0, redraws=500, labelling="random"
    )
    others = [row for row in result.cells if row.name != "south"]
    shares = np.array([row.share_of_positives for row in others])
    mean = shares @ [row.recall for row in others] / shares.sum()
    assert result.estimates["recall"].value == pytest.approx(mean, abs=1e-12)
    assert np.isnan(result.cells["south"].recall)
    assert "cells-without-labels" in [notice.code for notice in result.notices if notice.severity]
    low, high = result.cells.whatever_the_split
    assert low < mean - 0.2 < mean + 0.1 < high


def test_null_is_a_cell_of_its_own_and_columns_cross(tmp_path):
    frame = clinics().with_columns(
        clinic=polars.when(polars.col("clinic") == "east").then(None).otherwise("clinic"),
        sex=polars.Series(np.where(np.arange(4000) % 2, "f", "m")),
    )
    asked = {"class_prior": 0.08, "split": "equal", "scenario": "case-control", "confidence": None, "threshold": 1.0}
    assert [
        row.name for row in pulens.evaluate(frame, labelled_within="clinic", **asked, labelling="random").cells
    ] == [*("north", "south", "(null)")]
    crossed = pulens.evaluate(frame, labelled_within=["clinic", "sex"], **asked, labelling="random").cells
    assert [row.name for row in crossed][:2] == ["(null) / f", "(null) / m"]
    assert len(crossed) == 6
    frame.write_csv(tmp_path / "visits.csv")
    in_engine = pulens.evaluate(
        tmp_path / "visits.csv", labelled_within=["clinic", "sex"], **asked, labelling="random"
    ).cells
    assert [row.to_dict() for row in in_engine] == [row.to_dict() for row in crossed]


REFUSED = {
    "missing": ({"class_prior": {"north": 0.1, "south": 0.3}}, "not for the cells 'east'"),
    "unknown": ({"class_prior": {**PRIORS, "nroth": 0.1}}, "names 'nroth', but the cells"),
    "impossible": ({"class_prior": {**PRIORS, "north": 0.6}}, "impossible if labels are random within the cells"),
    "too low": ({"class_prior": {**PRIORS, "north": 0.01}}, "cell 'north' of clinic"),
    "split": ({"class_prior": 0.2, "split": "half"}, "split must be one of"),
    "equal": ({"split": "equal"}, "split='equal' takes one class prior"),
    "label": ({"labelled_within": "label"}, "is the column of labels"),
    "truth": ({"labelled_within": "copy"}, "is the label itself"),
    "only labelled": ({"labelled_within": "confirmed_by"}, "known for labelled rows only"),
    "many": ({"labelled_within": "row"}, "makes 4,000 cells, and"),
    "no column": ({"labelled_within": "clinique"}, "clinique"),
    "combine": ({"audit": {"north": (1, 10)}, "combine": True}, "leave combine= out"),
}


@pytest.mark.parametrize(("asked", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_had_is_refused_in_words(asked, words):
    frame = clinics().with_columns(
        copy=polars.col("label") * 2,
        confirmed_by=polars.when(polars.col("label") == 1).then(polars.lit("ann")).otherwise(None),
        row=polars.Series(np.arange(4000)),
    )
    with pytest.raises(PulensError, match=words):
        pulens.evaluate(frame, **{"labelled_within": "clinic", **asked}, labelling="random")


def test_cells_are_not_passed_over_in_silence():
    frame = clinics()
    with pytest.raises(PulensError, match="labelled_within"):
        pulens.evaluate(frame, class_prior=PRIORS, labelling="random")
    result = pulens.evaluate(
        frame, class_prior=PRIORS, labelled_within="clinic", threshold=1.0, confidence=None, labelling="random"
    )
    for ask in (
        lambda: result.sensitivity("recall", factor=2),
        result.bounds,
        lambda: result.robustness("recall > 0.1"),
    ):
        with pytest.raises(PulensError, match=r"cells \(--within\) cannot be combined"):
            ask()
    with pytest.raises(InputError, match="3 cells for 4 rows"):
        pulens.evaluate([1, 0, 0, 0], [4, 3, 2, 1], labelled_within=["a", "a", "b"], labelling="random")
    with pytest.raises(AssumptionError, match="no cell of cell has enough rows"):
        pulens.evaluate([1] * 10 + [0] * 10, np.arange(20.0), labelled_within=["a", "b"] * 10, labelling="random")


def test_the_command_writes_the_cells_in_every_form(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clinics(1500).write_csv("visits.csv")
    asked = [
        "evaluate",
        "--labelling",
        "random",
        "visits.csv",
        "--within",
        "clinic",
        "--threshold",
        "1",
        "--redraws",
        "200",
    ]
    given = [word for name, prior in PRIORS.items() for word in ("--cell-prior", f"{name}={prior}")]
    main([*asked, *given, "--explain", "--json", "found.json", "--html", "found.html", "--markdown", "found.md"])
    shown = capsys.readouterr().out
    result = json.loads((tmp_path / "found.json").read_text())
    assert [cell["cell"] for cell in result["within"]["cells"]] == ["east", "north", "south"]
    assert result["estimates"]["recall"]["rests_on"][0] == "random labelling within clinic"
    assert result["within"]["changes"]["recall"]["pooled"] != result["estimates"]["recall"]["value"]
    for text in (shown, (tmp_path / "found.html").read_text(), (tmp_path / "found.md").read_text()):
        assert "Recall without cells would be" in text
        assert "of the positives" in text
    main([*asked, "--class-prior", "0.2", "--split", "equal", "--confidence", "0.9", "--explain"])
    assert "one class prior in every cell" in capsys.readouterr().out
    for wrong in (["--split", "equal"], ["--cell-prior", "north=0.1"]):
        with pytest.raises(SystemExit) as ended:
            main(["evaluate", "--labelling", "random", "visits.csv", *wrong])
        assert ended.value.code == 2
        assert "--within" in capsys.readouterr().err


def test_the_class_prior_of_every_cell_is_estimated_and_borrows(tmp_path, capsys):
    clinics().write_csv(tmp_path / "visits.csv")
    main(["prior", str(tmp_path / "visits.csv"), "--within", "clinic", "--json", str(tmp_path / "found.json")])
    result = json.loads((tmp_path / "found.json").read_text())
    assert "by itself" in capsys.readouterr().out
    priors = {cell["cell"]: cell["class_prior"] for cell in result["cells"]}
    assert priors["north"]["value"] < priors["east"]["value"]
    for name, prior in priors.items():
        assert prior["low"] < PRIORS[name] < prior["high"]
    assert result["class_prior"]["method"] == "estimated: auto within clinic, pooled"
    with pytest.raises(SystemExit):
        main(["prior", str(tmp_path / "visits.csv"), "--within", "clinic", "--all"])
    assert "--all is about one class prior" in capsys.readouterr().err


def test_fractions_of_the_worked_example_are_exact():
    """The same with whole fractions, for whoever checks by hand."""
    held = [Fraction(1, 10) * 6000, Fraction(3, 10) * 4000]
    recall = (held[0] * Fraction(4, 5) + held[1] * Fraction(1, 2)) / sum(held)
    flagged = (6000 * Fraction(3, 20) + 4000 * Fraction(1, 5)) / 10000
    prior = sum(held) / 10000
    assert (prior, recall, prior * recall / flagged) == (Fraction(9, 50), Fraction(3, 5), Fraction(54, 85))
    assert (flagged - prior * recall) / (1 - prior) == Fraction(31, 410)


def test_a_segment_that_is_one_cell_has_the_numbers_without_cells():
    frame, asked = clinics(), {"labelling": "random", "threshold": 1.0, "class_prior": PRIORS}
    within = pulens.evaluate_by(frame, "clinic", labelled_within="clinic", **asked)
    plain = pulens.evaluate_by(frame, "clinic", **asked)
    for name in plain:
        assert str(within[name].estimates["precision"]) == str(plain[name].estimates["precision"])


def test_populations_without_positives_refuse_cells():
    frame = clinics()
    with pytest.raises(AssumptionError, match="hold no positives"):
        pulens.evaluate(
            frame,
            labelled_within="clinic",
            class_prior=dict.fromkeys(PRIORS, 0.0),
            scenario="case-control",
            threshold=1.0,
            labelling="random",
        )


def test_cells_are_drawn_to_the_line_of_their_scores():
    """The slow way: the line by weighted least squares with the slope's prior, at every spread, one by one."""
    rng = np.random.default_rng(8)
    beside = rng.normal(size=7)
    logits, variances = -2 + 0.8 * beside + rng.normal(0, 0.3, 7), rng.uniform(0.05, 0.4, 7)
    chances, lines = [], []
    for spread in SPREADS:
        weights = 1 / (variances + spread**2)
        design = np.column_stack([np.ones(7), beside])
        # the prior of the slope is one more row: 0 = slope, with variance 1
        rows = np.vstack([design * np.sqrt(weights)[:, None], [0.0, 1.0]])
        line, *_ = np.linalg.lstsq(rows, np.append(logits * np.sqrt(weights), 0.0), rcond=None)
        left = np.linalg.inv(rows.T @ rows)
        squares = (weights * (logits - design @ line) ** 2).sum() + line[1] ** 2
        chances.append(np.sqrt(weights.prod() * np.linalg.det(left)) * np.exp(-squares / 2))
        lines.append(line)
    chances = np.array(chances) / np.sum(chances)
    result = pooling(logits, variances, beside)
    np.testing.assert_allclose(result.chance, chances, rtol=1e-9)
    np.testing.assert_allclose(result.coefficients, lines, rtol=1e-9)
    unseen = pooled_logits(np.append(logits, np.nan), np.append(variances, np.nan), 20_000, 1, np.append(beside, 2.0))
    assert unseen[:, -1].mean() == pytest.approx(chances @ (np.array(lines) @ [1.0, 2.0]), abs=0.03)


def test_a_small_cell_with_high_scores_is_not_taken_for_an_ordinary_one():
    """Many cells with few positives, one small cell with many: its scores say so where its own estimate is vague."""
    rng = np.random.default_rng(12)
    cell = np.repeat(np.arange(8), [1500, 1500, 1500, 1500, 1500, 1500, 400, 400])
    prior = np.where(cell < 6, 0.06, 0.5)
    positive = rng.random(cell.size) < prior
    scores = rng.normal(1.5 * positive)
    labels = positive & (rng.random(cell.size) < np.where(cell < 6, 0.5, 0.15))
    result = pulens.estimate_prior_within(labels * 1, scores, labelled_within=cell)
    shares = np.array([one.value for one in result.cells])
    assert shares[6:].min() > 2 * shares[:6].max()


def test_a_cell_without_rows_of_the_population_has_no_class_prior():
    """Its labelled rows were collected apart: it was given 0 with an interval from .006 to .99."""
    rows = clinics()
    alone = polars.DataFrame({"label": [1], "score": [0.5], "clinic": ["elsewhere"]})
    table = polars.concat([rows.select(alone.columns), alone.cast(rows.select(alone.columns).schema)])
    asked = {"class_prior": 0.2, "scenario": "case-control", "labelled_within": "clinic"}
    evaluation = pulens.evaluate(table, threshold=0.5, **asked, labelling="random")
    row = evaluation.cells["elsewhere"]
    assert (np.isnan(row.class_prior), row.prior_interval) == (True, None)
    assert row.to_dict()["class_prior"] == {"value": None}
    assert "nan" not in str(evaluation.cells)
    within = pulens.estimate_prior_within(table, scenario="case-control", labelled_within="clinic")
    (told,) = (one for one in within.to_dict()["cells"] if one["cell"] == "elsewhere")
    assert told["class_prior"] == {"value": None}
    assert "no rows" in str(within)


def test_an_audit_without_a_positive_is_held_by_the_interval_of_its_class_prior():
    result = pulens.estimate_prior_within(clinics(), labelled_within="clinic", audit=(0, 10))
    for value, interval in [
        (result.class_prior.value, result.class_prior.interval),
        (result.class_prior.unlabelled, result.class_prior.unlabelled_interval),
        *((row.value, row.interval) for row in result.cells),
    ]:
        assert interval.low <= value <= interval.high


@pytest.mark.parametrize("cluster", [None, "who"])
def test_a_segment_is_evaluated_within_its_cells_as_its_rows_alone(cluster):
    rng = np.random.default_rng(8)
    site, half = rng.choice(["n", "s"], 1200), rng.choice([1, 2], 1200)
    positive = rng.random(1200) < np.where(site == "n", 0.2, 0.4)
    label = positive & (rng.random(1200) < np.where(site == "n", 0.6, 0.3))
    who = rng.integers(0, 60, 1200)
    rows = {"score": rng.normal(1.5 * positive), "label": label * 1, "site": site, "half": half, "who": who}
    frame = polars.DataFrame(rows)
    asked = {"labelled_within": "site", "cluster": cluster, "threshold": 1.0, "redraws": 200}
    priors = {"n": 0.2, "s": 0.4}
    result = pulens.evaluate_by(frame, "half", class_prior={1: priors, 2: priors}, **asked)
    for each in (1, 2):
        alone = pulens.evaluate(frame.filter(polars.col("half") == each), class_prior=priors, **asked)
        for name in ("recall", "precision", "roc_auc"):
            assert result[each][name].value == pytest.approx(alone[name].value, abs=1e-12)
            assert result[each][name].interval.low == pytest.approx(alone[name].interval.low, abs=1e-12)
        assert result[each].labelling == "random within cells"
    one = pulens.evaluate_by(frame, "half", class_prior=0.3, same_prior=True, **{**asked, "threshold": None})
    assert one[1].threshold == one[2].threshold
    with pytest.raises(PulensError, match="same_prior=True"):
        pulens.evaluate_by(frame, "half", class_prior=0.3, **asked)
