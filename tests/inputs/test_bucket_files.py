"""Files of rows counted by cluster: written whole, read back to the bit, merged like other tallies."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import pulens
from pulens.counts.buckets import BucketTally
from pulens.errors import InputError
from pulens.inputs import read_buckets, read_tally
from pulens.inputs.clusters import cluster_codes
from pulens.inputs.tallies import read_bucket_tallies
from pulens.inputs.tally_files import METADATA, TallyFile, merge, read_tally_file, write_tally_file


def counted(clusters: int = 40, seed: int = 0, *, weighted: bool = False) -> BucketTally:
    rng = np.random.default_rng(seed)
    size = 500
    labels = rng.choice([1, 0, -1], size, p=[0.3, 0.6, 0.1])
    weights = rng.integers(1, 4, size).astype(float) if weighted else None
    return BucketTally.from_rows(labels, np.round(rng.normal(size=size), 2), rng.integers(0, clusters, size), weights)


@pytest.mark.parametrize("clusters", [40, 400])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_file_holds_every_count(tmp_path, clusters, weighted):
    result = counted(clusters, weighted=weighted)
    path = tmp_path / "monday.tally"
    write_tally_file(path, TallyFile.of(result, source="here", cluster="patient"))
    again = read_tally_file(path)
    assert again.tally == result
    assert again.parts[0]["cluster"] == "patient"
    assert read_tally(path) == result.tally
    assert read_buckets(path) == result


def test_days_add_up_in_any_order_and_no_part_twice(tmp_path):
    days = [TallyFile.of(counted(300, seed), source=f"day {seed}") for seed in range(3)]
    one, other = merge(days), merge(reversed(days))
    assert one.tally == other.tally
    with pytest.raises(InputError, match="would be counted twice"):
        merge([days[0], days[0]])


def test_counts_with_and_without_clusters_are_not_added():
    result = counted()
    with pytest.raises(InputError, match="nothing says which rows of the latter belong together"):
        merge([TallyFile.of(result), TallyFile.of(result.tally)])


def test_a_file_evaluates_like_its_rows(tmp_path):
    result = counted(60)
    path = tmp_path / "week.tally"
    write_tally_file(path, TallyFile.of(result))
    mine, theirs = (
        pulens.evaluate(source, class_prior=0.45, threshold=0.5, labelling="random") for source in (str(path), result)
    )
    assert {name: str(one) for name, one in mine.estimates.items()} == {
        name: str(one) for name, one in theirs.estimates.items()
    }
    assert mine.clusters == theirs.clusters


def test_a_plain_tally_holds_no_buckets(tmp_path):
    path = tmp_path / "plain.tally"
    write_tally_file(path, TallyFile.of(counted().tally))
    for source in (str(path), counted().tally):
        with pytest.raises(InputError, match=r"holds no buckets.*pulens tally --cluster"):
            pulens.evaluate(source, cluster="patient", class_prior=0.4, labelling="random")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"buckets": ["zz"]}, "must name at most 256 buckets"),
        ({"clusters": [3, 1]}, "must name at most 256 buckets"),
        ({"counted": "many"}, "must name at most 256 buckets"),
        ({"counted": 10**400}, "must name at most 256 buckets"),
        ({"clusters": [1, 10**400]}, "must name at most 256 buckets"),
        ({"format": 99}, "reads format 1, 2 and 3"),
    ],
)
def test_a_damaged_file_is_refused_in_words(tmp_path, change, words):
    import json

    path = tmp_path / "damaged.tally"
    write_tally_file(path, TallyFile.of(counted()))
    table = parquet.read_table(path)
    told = json.loads(table.schema.metadata[METADATA])
    parquet.write_table(table.replace_schema_metadata({METADATA: json.dumps({**told, **change}).encode()}), path)
    with pytest.raises(InputError, match=words):
        read_tally_file(path)


def test_rows_of_buckets_that_are_not_named_are_refused(tmp_path):
    path = tmp_path / "damaged.tally"
    write_tally_file(path, TallyFile.of(counted()))
    table = parquet.read_table(path)
    wrong = pa.array(np.where(table["bucket"].to_numpy() < 0, -1, 99).astype(np.int16))
    place = table.schema.get_field_index("bucket")
    parquet.write_table(table.set_column(place, "bucket", wrong), path)
    with pytest.raises(InputError, match="its rows are about others"):
        read_tally_file(path)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([1, None, 2], "'patient' has no value in 1 of 3 rows"),
        (["a", "", "b"], "has no value in 1 of 3 rows"),
        ([0.5, 1.0, 2.0], "numbers with fractions such as 0.5 in 1 of 3 rows"),
        (["0.5", "1.5", "2.5"], "numbers with fractions"),
        ([7, 7, 7], "one value in all 3 rows"),
        ([True, False, True], "got True as the cluster of row 0"),
        ([[1], [2], [3]], "must be one-dimensional|as the cluster of row 0"),
    ],
)
def test_ids_that_cannot_tell_clusters_apart_are_refused(ids, words):
    with pytest.raises(InputError, match=words):
        cluster_codes(ids, "patient")


def test_numbers_and_their_text_are_the_same_cluster():
    assert cluster_codes([7, 8, 7])[0] == cluster_codes(["7", "8"])[0] == cluster_codes([7.0, 8.0])[0] == ["7", "8"]
    assert cluster_codes([-0.0, 1.0])[0] == ["0", "1"]


def test_ids_and_columns_are_not_mixed_up():
    with pytest.raises(InputError, match="names a column of a table"):
        read_buckets([1, 0], [0.5, 0.1], cluster="patient")
    with pytest.raises(InputError, match="one id per row, got 3 ids for 2 rows"):
        read_buckets([1, 0], [0.5, 0.1], cluster=[1, 2, 3])
    with pytest.raises(InputError, match="read_buckets needs cluster="):
        read_buckets([1, 0], [0.5, 0.1])


def test_words_of_another_file_that_are_no_text_are_kept_by_their_escapes(tmp_path):
    file = TallyFile.of(counted(), source="\ud800")
    write_tally_file(tmp_path / "a.tally", file)
    assert read_tally_file(tmp_path / "a.tally").parts[0]["source"] == "\ud800"


@pytest.mark.parametrize("role", ["score", "label", "weight"])
def test_a_column_of_another_role_does_not_say_whose_rows_they_are(role, tmp_path):
    """0.0 and -0.0 were one cluster or two, as the column happened to be read."""
    (tmp_path / "a.csv").write_text("label,score,weight,site\n1,0.0,1,a\n0,-0.0,1,a\n0,1.0,1,b\n1,2.0,1,b\n")
    for read in (read_buckets, partial(read_bucket_tallies, group_by="site")):
        with pytest.raises(InputError, match=f"cluster='{role}' is the column of {role}s"):
            read(tmp_path / "a.csv", cluster=role, weight="weight")
