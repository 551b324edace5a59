"""Tallies in files: written whole, read back to the bit, added in any order."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import pulens
from pulens.cli import main
from pulens.counts.joint import JointTally
from pulens.counts.tally import Tally
from pulens.errors import InputError
from pulens.inputs.tally_files import TallyFile, merge, read_tally_file, write_tally_file


def day(seed: int, *, bits: int | None = None, dtype=np.float64, weights: bool = False) -> TallyFile:
    rng = np.random.default_rng(seed)
    labels = rng.choice([1, 0, -1], 300, p=[0.2, 0.7, 0.1]).astype(np.int8)
    scores = np.round(rng.normal(labels), 2).astype(dtype)
    tally = Tally.from_arrays(labels, scores, rng.random(300) if weights else None)
    return TallyFile.of(tally if bits is None else tally.binned(bits), source=f"day {seed}")


@pytest.mark.parametrize(
    "file",
    [day(0), day(1, bits=2), day(2, dtype=np.float32), day(3, weights=True)],
    ids=["exact", "binned", "float32", "weighted"],
)
def test_a_tally_comes_back_to_the_bit(file, tmp_path):
    write_tally_file(tmp_path / "x.tally", file)
    back = read_tally_file(tmp_path / "x.tally")
    assert back.tally.thresholds.dtype == file.tally.thresholds.dtype
    np.testing.assert_allclose(back.tally.labelled, file.tally.labelled, rtol=1e-13)
    if not file.tally.is_weighted:  # sums of fractions are added in file order
        assert back.tally == file.tally
    assert back.parts == file.parts


def test_the_same_rows_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_tally_file(tmp_path / name, day(0, bits=3))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_merging_does_not_depend_on_the_order(tmp_path):
    days = [day(0), day(1, bits=1), day(2), day(3, bits=4)]
    contents = set()
    for place, order in enumerate(itertools.permutations(days)):
        write_tally_file(tmp_path / f"{place}.tally", merge(order))
        contents.add((tmp_path / f"{place}.tally").read_bytes())
    assert len(contents) == 1


def test_counting_parts_and_merging_them_is_counting_the_whole(tmp_path, capsys):
    rng = np.random.default_rng(5)
    labels, scores = (rng.random(900) < 0.2).astype(int), np.round(rng.random(900), 3)
    lines = [f"{score},{label}" for score, label in zip(scores, labels, strict=True)]
    for name, part in (("a", lines[:300]), ("b", lines[300:]), ("all", lines)):
        (tmp_path / f"{name}.csv").write_text("\n".join(["score,label", *part]) + "\n")
    for name in ("a", "b"):
        main(["tally", str(tmp_path / f"{name}.csv"), "-o", str(tmp_path / f"{name}.tally")])
    main(["merge", str(tmp_path / "a.tally"), str(tmp_path / "b.tally"), "-o", str(tmp_path / "all.tally")])
    assert "from 2 parts" in capsys.readouterr().out
    answers = []
    for name in ("all.tally", "all.csv"):
        main(["evaluate", "--labelling", "random", str(tmp_path / name), "--class-prior", "0.3", "--json", "-"])
        answers.append(json.loads(capsys.readouterr().out))
        answers[-1].pop("next_steps")  # commands name the file
    assert answers[0] == answers[1]
    assert pulens.evaluate(tmp_path / "all.tally", class_prior=0.3, labelling="random").tally.totals.rows == 900


def test_a_part_of_unlabelled_rows_alone_is_a_part(tmp_path, capsys):
    (tmp_path / "quiet.csv").write_text("score,label\n0.5,0\n0.25,0\n")
    main(["tally", str(tmp_path / "quiet.csv"), "-o", str(tmp_path / "quiet.tally")])
    assert "0 labelled, 2 unlabelled" in capsys.readouterr().out
    with pytest.raises(pulens.PulensError, match="no labelled positive"):
        pulens.evaluate(tmp_path / "quiet.tally", class_prior=0.1, labelling="random")


def test_passwords_stay_out_of_files(tmp_path):
    import sqlalchemy as sa

    from pulens.inputs.addresses import shown_address

    assert shown_address("postgresql://me:s:e@c@host/db?x=1") == "postgresql://host/db"
    assert sa.make_url("postgresql://me:s:e@c@host/db").password is not None


def joint_tally(seed: int = 0):
    rng = np.random.default_rng(seed)
    scores = {"labelled": rng.integers(0, 5, 60).astype(np.float32) / 3, "b": rng.integers(0, 3, 60) / 7}
    return JointTally.from_rows(scores, rng.choice([1, 0, -1], 60))


def test_a_joint_tally_comes_back_to_the_bit_with_its_precision(tmp_path):
    file = TallyFile.of(joint_tally(), source="x.csv")
    write_tally_file(tmp_path / "x.tally", file)
    back = read_tally_file(tmp_path / "x.tally")
    assert back.tally == file.tally
    assert back.tally.types == (np.float32, np.float64)
    assert back.parts == file.parts
    write_tally_file(tmp_path / "y.tally", back)
    assert (tmp_path / "x.tally").read_bytes() == (tmp_path / "y.tally").read_bytes()


def test_joint_tallies_are_merged_and_a_plain_one_among_them_is_refused():
    one, two = (TallyFile.of(joint_tally(seed)) for seed in (0, 1))
    merged = merge([one, two])
    assert merged.tally == one.tally + two.tally
    assert len(merged.parts) == 2
    with pytest.raises(InputError, match="would be counted twice"):
        merge([one, two, one])
    with pytest.raises(InputError, match="one score and a joint tally of several cannot be added"):
        merge([one, TallyFile.of(two.tally.tally("b"))])


@pytest.mark.parametrize(
    "change",
    [
        {"scores": ["a"]},
        {"scores": "ab"},
        {"scores": ["a", "a"]},
        {"scores": ["a", 2]},
        {"scores": ["a", "b", "c"]},
        {"scores": None},
        {"format": 1},
        {"format": 3},
        {"parts": []},
    ],
)
def test_a_joint_tally_that_was_tampered_with_is_refused(tmp_path, change):
    import pyarrow.parquet

    path = tmp_path / "x.tally"
    write_tally_file(path, TallyFile.of(joint_tally()))
    table = pyarrow.parquet.read_table(path)
    told = json.loads(table.schema.metadata[b"pulens"]) | change
    if told["scores"] is None:
        del told["scores"]
    pyarrow.parquet.write_table(table.replace_schema_metadata({b"pulens": json.dumps(told).encode()}), path)
    with pytest.raises(InputError, match=rf"^{path}: a "):
        read_tally_file(path)
