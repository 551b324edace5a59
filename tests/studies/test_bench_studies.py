"""Studies of paper 004 read an archive, say where figures are from, and decide only what their runs can decide."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch", reason="the benchmark trains networks: pip install 'pulens[torch]'")
pytest.importorskip("pyarrow", reason="the archive is Parquet: pip install 'pulens[bench]'")

from pulens.studies import (
    Workbench,
    _bench,
    bench_figure_4,
    bench_figure_5,
    bench_figure_6,
    bench_table_1,
    bench_table_d6,
)

from pulens.errors import InputError
from pulens.research.benchmark.archive import read
from pulens.research.benchmark.archive.summary import packed, read_summary, summary_text
from pulens.research.benchmark.datasets import DataUnavailableError
from pulens.research.benchmark.published import table_d6
from synthetic_archive import LEARNERS, make


@pytest.fixture(scope="module")
def conventional(tmp_path_factory):
    """Seven methods on three data sets, among them two that the paper names."""
    folder = tmp_path_factory.mktemp("conventional") / "archive"
    make(folder, datasets={"spambase": 0.4, "mnist": 0.5, "cifar10": 0.4}, seeds=(1, 2, 3), rows=200, epochs=4)
    return folder


@pytest.fixture(scope="module")
def conditions(tmp_path_factory):
    """Random and biased labels, few and many: in these runs bias always costs half a unit of separation."""
    folder = tmp_path_factory.mktemp("conditions") / "archive"
    given = [(s, c) for s in ("S1", "S2") for c in (0.05, 0.5)] + [("S1", 0.1)]
    few = {**{name: LEARNERS[name] for name in ("nnpu", "vpu", "dist_pu")}, "pusb": 1}
    make(folder, learners=few, datasets={"cifar10": 0.4}, seeds=(1, 2, 3), conditions=given, rows=400, epochs=4)
    return folder


def verdicts(outcome):
    return {claim.statement: (claim.verdict, claim.because) for claim in outcome.claims}


def of(outcome, words):
    return next(result for statement, result in verdicts(outcome).items() if words in statement)


def test_table_1_stands_beside_the_published_figures(conventional, monkeypatch, tmp_path):
    monkeypatch.setenv("PULENS_ARCHIVE", str(conventional))
    outcome = bench_table_1.run(Workbench(out=tmp_path))
    own, oracle, near = outcome.tables[1:]
    assert re.search(r"^Dist-PU +\d of 3 +[+-]\d", near, re.M)
    assert "TRUE validation labels" in oracle
    assert "85.71 ± 3.95" in own  # Dist-PU on Spambase as published
    lines = own.splitlines()
    assert lines[-2].startswith("PN (true classes)")  # told the truth: last
    verdict, because = of(outcome, "Dist-PU has the highest accuracy on CIFAR-10")
    assert verdict == "reproduced", because  # made so
    verdict, because = of(outcome, "LaGAM-PU has the highest")
    assert verdict == "differs"
    assert "best: Dist-PU" in because
    assert of(outcome, "No single method")[0] == "differs"  # Dist-PU is best everywhere here
    assert of(outcome, "ADNI") == ("not testable here", "no runs of adni")
    assert of(outcome, "PUL-CPBF") == ("not testable here", "no runs of pulcpbf, connect4")
    assert "cells" in of(outcome, "accuracies themselves")[1]
    assert outcome.files[0].read_text(encoding="utf-8").count("published") >= 10


@pytest.mark.slow
def test_figures_5_and_6_follow_conditions(conditions, monkeypatch, tmp_path):
    monkeypatch.setenv("PULENS_ARCHIVE", str(conditions))
    five = bench_figure_5.run(Workbench(out=tmp_path))
    assert of(five, "saturate")[0] in ("reproduced", "differs")
    assert of(five, "P3Mix-C") == ("not testable here", "no runs of p3mixc")
    six = bench_figure_6.run(Workbench(out=tmp_path))
    verdict, because = of(six, "every method loses")
    assert verdict == "reproduced", because
    assert "4 of 4 methods lose" in because
    assert of(six, "VAE-PU does better")[0] == "not testable here"
    assert "no runs of lbe" in of(six, "PUSB and LBE-PU")[1]
    sets = read(conditions).table()["dataset"].unique()
    assert six.tables[-1].count("1 reproduced: 4 of 4 methods lose") == len(sets)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench_figure_5.png", "bench_figure_6.png"]


def test_a_summary_says_what_its_archive_says(conventional, tmp_path, monkeypatch):
    archive = read(conventional)
    path = tmp_path / "summary.csv.gz"
    path.write_bytes(packed(summary_text(archive)))
    rows = read_summary(path)
    assert len(rows) == 4 * len(archive.done)
    whole, small = _bench.from_archive(conventional), _bench.from_rows(rows, "a file")
    for oracle in (False, True):
        first, second = (one.cells("accuracy", oracle=oracle) for one in (whole, small))
        assert first.keys() == second.keys()
        assert [one.mean for one in first.values()] == pytest.approx([second[p].mean for p in first], abs=1e-6)
    assert (whole.titles, whole.families, whole.told) == (small.titles, small.families, small.told)
    monkeypatch.setenv("PULENS_ARCHIVE", str(path))
    assert of(bench_table_1.run(Workbench()), "CIFAR-10")[0] == "reproduced"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is not a summary of an archive"):
        read_summary(path)


def test_without_an_archive_the_study_says_how_to_make_one(monkeypatch):
    monkeypatch.delenv("PULENS_ARCHIVE", raising=False)
    monkeypatch.setattr(_bench, "SHIPPED", "there-is-none.csv.gz")
    with pytest.raises(DataUnavailableError, match=r"pulens bench run conventional --archive results.*PULENS_ARCHIVE"):
        bench_table_1.run(Workbench())


def test_quick_runs_decide_nothing(monkeypatch):
    monkeypatch.delenv("PULENS_ARCHIVE", raising=False)
    monkeypatch.setattr(_bench, "SHIPPED", "there-is-none.csv.gz")
    monkeypatch.setattr(_bench, "_at_hand", lambda: "digits")
    settings = {name: {"all": {"epochs": 2}} for name in ("nnpu", "pn")}
    tiny = {"methods": ["nnpu", "pn"], "seeds": [1, 2], "rows": 400, "validation_share": 0.25, "settings": settings}
    monkeypatch.setattr(bench_table_1, "QUICK", tiny)
    outcome = bench_table_1.run(Workbench(quick=True))
    assert {verdict for verdict, _ in verdicts(outcome).values()} == {"not testable here"}
    assert "say nothing about methods" in outcome.tables[0]
    assert "nnPU" in outcome.tables[1]


def test_table_d6_puts_the_printed_p_values_beside_ours(conventional, monkeypatch):
    monkeypatch.setenv("PULENS_ARCHIVE", str(conventional))
    outcome = bench_table_d6.run(Workbench())
    tests = bench_table_d6.tests_of(_bench.from_archive(conventional))
    assert {method for method, _ in tests} <= {method for method, _ in table_d6()}
    line = next(line for line in outcome.tables[1].splitlines() if line.startswith("PAN"))
    assert "/ 8.9e-02" in line  # Spambase as published
    assert of(outcome, "Generative")[0] in ("reproduced", "differs")
    assert of(outcome, "holistic variants")[0] == "differs"  # Self-PU is made better than nnPU here


def test_a_printed_p_value_can_be_too_large_for_the_printed_deviations():
    # PAN is 43 points behind nnPU on Spambase with deviations of a few points: no pairing of seeds gives 0.089
    least, most = bench_table_d6.limits("pan", "spambase")
    assert least <= most < 1e-3 < table_d6()["pan", "spambase"]
    verdict, because = of_claim(bench_table_d6._follows())
    assert verdict == "differs"
    assert "34 of 136 are larger" in because


def of_claim(claim):
    return claim.verdict, claim.because


def test_time_and_memory_are_judged_by_rates_of_one_device(monkeypatch, conventional, tmp_path):
    monkeypatch.delenv("PULENS_ARCHIVE", raising=False)
    outcome = bench_figure_4.run(Workbench())
    assert "NVIDIA H200" in outcome.tables[0]
    assert {claim.verdict for claim in outcome.claims} <= {"reproduced", "differs"}
    (picture,) = bench_figure_4.run(Workbench(out=tmp_path)).files
    assert picture.stat().st_size > 10_000
    monkeypatch.setenv("PULENS_ARCHIVE", str(conventional))  # runs on a CPU only
    outcome = bench_figure_4.run(Workbench())
    assert {claim.verdict for claim in outcome.claims} == {"not testable here"}
    costs = {
        name: {"mnist": cost} for cost, name in enumerate(["nnpu", "pusb", "a", "b", "c", "d", "e", "f", "vae_pu"])
    }
    result = {claim.statement: claim.verdict for claim in bench_figure_4.claims_of(costs, costs)}
    assert result["nnPU and PUSB take least time"] == result["VAE-PU takes most memory"] == "reproduced"
