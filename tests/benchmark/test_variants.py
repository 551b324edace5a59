"""Versions of a learner: the authors' and ours stand side by side, each with what it is told."""

import json
from dataclasses import replace

import pytest
from pulens.benchmark import leaderboard, methods
from sklearn.metrics import f1_score

from pulens.cli import main
from pulens.errors import InputError
from pulens.research.benchmark.archive import Store, read
from pulens.research.benchmark.archive.row import RunRow
from pulens.research.benchmark.archive.summary import COLUMNS, LATER, SummaryArchive, read_summary, summary_text
from pulens.research.benchmark.leaderboard.board import selections_of
from pulens.research.benchmark.leaderboard.page_data import page_data, run_detail
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol, parse_protocol
from pulens.research.benchmark.training import train
from synthetic_archive import make

TINY = """
name: tiny
extends: smoke
learners: [lbe]
seeds: [1]
conditions: [{mechanisms: [S1], label_frequencies: [0.5]}]
settings: {lbe: {all: {epochs: 2, steps_per_epoch: 2, pretraining_steps: 2}}}
"""
PLAIN = f"{TINY}\nvariant: {{title: as published, settings: {{lbe: {{all: {{pinned: false}}}}}}}}\n"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """LBE twice: told the class prior, and not."""
    store = Store(tmp_path_factory.mktemp("variants") / "a").open()
    for text in (TINY, PLAIN):
        store.add(train(expand(parse_protocol(text, "the test")).runs, "cpu"))
    store.close()
    return read(store.folder)


def test_a_version_of_a_learner_is_a_learner_of_its_own(both):
    assert [row["learner"] for row in both.done] == ["lbe", "lbe (as published)"]
    result = leaderboard.board(both)
    assert {one.title for one in result.learners.values()} == {"LBE-PU", "LBE-PU (as published)"}
    assert "left out" not in " ".join(result.notices)


def test_who_is_told_a_class_prior_that_the_method_does_not_take_is_marked(both):
    told = {row["learner"]: (row["told_class_prior"], row["given_class_prior"]) for row in both.done}
    assert told["lbe"][0]
    assert told["lbe"][1] > 0
    assert told["lbe (as published)"] == (False, None)
    result = leaderboard.board(both)
    assert result.learners["lbe"].marked == "LBE-PU ¶"
    assert result.learners["lbe (as published)"].mark == ""
    for text in (leaderboard.report_text(result, both), result.csv(), result.latex()):
        assert "told the class prior though the method takes none" in text


def test_the_summary_tells_versions_apart_by_their_settings(both, tmp_path):
    (tmp_path / "s.csv").write_text(summary_text(both), encoding="utf-8")
    rows = [row for row in read_summary(tmp_path / "s.csv") if row["selection"] == "own"]
    assert len({row["settings"] for row in rows}) == 2
    changed = {row["learner"]: row["changed"].split("; ") for row in rows}
    assert "pinned=false" in changed["lbe (as published)"]
    assert "epochs=2" in changed["lbe"]
    assert "pinned=true" not in changed["lbe"]
    assert [row["told_class_prior"] for row in rows] == [True, False]


def test_a_summary_without_the_newer_columns_is_still_read(tmp_path):
    archive = make(tmp_path / "a", learners=["nnpu", "pan"], datasets=["spambase"], rows=60)
    kept = [name for name in COLUMNS if name not in LATER]
    lines = [line.split(",") for line in summary_text(archive).splitlines()]
    places = [lines[0].index(name) for name in kept]
    text = "\n".join(",".join(line[place] for place in places) for line in lines if len(line) == len(COLUMNS))
    (tmp_path / "old.csv").write_text(text, encoding="utf-8")
    rows = read_summary(tmp_path / "old.csv")
    assert {row["learner"]: row["told_class_prior"] for row in rows} == {"nnpu": False, "pan": True}
    assert {row["macro_f1"] for row in rows} == {None}


def test_macro_f1_of_runs_that_did_not_store_it_is_what_their_other_metrics_imply(tmp_path):
    archive = make(tmp_path / "a", learners=["nnpu"], datasets=["spambase"], rows=90)
    store = Store(tmp_path / "b").open()
    rows = [
        row | {"choices": [choice | {"macro_f1": None} for choice in row["choices"]]}
        for row in archive.table().to_pylist()
    ]
    store.add([RunRow.of(row) for row in rows])
    store.close()
    older = read(tmp_path / "b")
    for row in older.done:
        counts = older.counts(row["key"], "test", older.epoch(row["key"]))
        truth, called = [], []
        for kind, label in (("positive", 1), ("negative", 0)):
            for lowest, many in zip(counts["lowest"], counts[kind], strict=True):
                truth += [label] * int(many)
                called += [int(lowest >= 0)] * int(many)
        assert older.choice(row["key"])["macro_f1"] == pytest.approx(f1_score(truth, called, average="macro"))


def test_the_published_protocol_tells_a_class_prior_to_methods_that_take_one_only():
    runs = expand(load_protocol("as-published", seeds=[2])).runs
    cutting = {run.learner for run in runs if methods.find(run.learner).cuts_by_class_prior}
    assert cutting == {"lbe", "pan", "cgenpu"}
    assert all(run.settings["pinned"] is False for run in runs if run.learner in cutting)


def test_a_learner_that_departs_from_nothing_shares_its_runs_with_the_conventional_protocol():
    published, ours = (expand(load_protocol(name, seeds=[2])).runs for name in ("as-published", "conventional"))
    keys = {run.key for run in ours}
    assert all(run.key in keys for run in published if run.variant is None)
    assert {run.learner for run in published if run.variant} == {
        *("lbe", "pan", "cgenpu", "puet", "pulda", "pul_cpbf", "robust_pu", "lagam")
    }


def test_a_variant_is_no_part_of_a_runs_key():
    run = expand(parse_protocol(PLAIN, "the test")).runs[0]
    assert run.variant == "as published"
    assert replace(run, variant=None).key == run.key
    assert json.loads(json.dumps(run.to_dict()))["variant"] == "as published"


def test_settings_of_a_variant_are_checked_like_others():
    with pytest.raises(InputError, match="lbe has no setting 'pined'"):
        parse_protocol(PLAIN.replace("pinned", "pined"), "the test")


def test_a_summary_is_reported_as_its_archive_is(tmp_path, capsys):
    archive = make(tmp_path / "a", learners=["nnpu", "vpu", "pan"], datasets=["spambase", "mnist"], rows=90)
    (tmp_path / "s.csv").write_text(summary_text(archive), encoding="utf-8")
    for metric in ("accuracy", "macro_f1"):
        whole = leaderboard.board(archive, metric=metric)
        small = leaderboard.board(SummaryArchive(tmp_path / "s.csv"), metric=metric)
        assert {place: list(own) for place, own in whole.cells.items()} == {p: list(o) for p, o in small.cells.items()}
        for place, own in whole.cells.items():
            assert list(small.cells[place].values()) == pytest.approx(list(own.values()), abs=1e-6)
    main(["bench", "report", str(tmp_path / "s.csv"), "--html", str(tmp_path / "a.html"), "-q"])
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "made from a summary" in page
    with pytest.raises(SystemExit):
        main(["bench", "report", str(tmp_path / "s.csv"), "--metric", "matthews_correlation"])
    assert "takes the archive itself" in capsys.readouterr().err


def test_claims_are_judged_on_the_published_version_where_it_has_the_same_conditions():
    from pulens.research.studies._bench import judged

    cells = {
        **{("lbe", "mnist", "S1", c): f"ours {c}" for c in (0.1, 0.5)},
        ("lbe (as published)", "mnist", "S1", 0.1): "theirs",
        **{("lbe", "imdb", "S1", c): f"ours {c}" for c in (0.1, 0.5)},
        **{("lbe (as published)", "imdb", "S1", c): f"theirs {c}" for c in (0.1, 0.5)},
        ("boostedpu", "mnist", "S1", 0.1): "no method of the paper",
        ("pn", "mnist", "S1", 0.1): "a reference",
    }
    result = judged(cells)
    assert [result["lbe", "mnist", "S1", c] for c in (0.1, 0.5)] == ["ours 0.1", "ours 0.5"]
    assert [result["lbe", "imdb", "S1", c] for c in (0.1, 0.5)] == ["theirs 0.1", "theirs 0.5"]
    assert {method for method, *_ in result} == {"lbe", "pn"}


def test_a_page_made_from_a_summary_takes_details_of_runs_that_are_known_from_elsewhere(tmp_path):
    archive = make(tmp_path / "a", learners=["nnpu", "vpu"], datasets=["spambase", "mnist"], rows=90, epochs=3)
    (tmp_path / "s.csv").write_text(summary_text(archive), encoding="utf-8")
    summary = SummaryArchive(tmp_path / "s.csv")
    start = leaderboard.board(summary)
    whole = {(row["learner"], row["dataset"], row["seed"]): row for row in archive.done if row["learner"] == "vpu"}

    def details(row):
        known = whole.get((row["learner"], row["dataset"], row["seed"]))
        return known and run_detail(archive, known, selections_of(summary), "own")

    runs = page_data(summary, start, details=details)["runs"]
    assert len(runs) == len(archive.done)
    drawn = [run for run in runs if run["density"] is not None]
    assert len(drawn) == len(whole)
    assert all(run["undrawn"].endswith("which has none.") for run in runs if run["density"] is None)
