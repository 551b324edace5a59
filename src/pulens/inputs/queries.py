"""Lists within which ranks are taken: the rows of each query (user, molecule's target, search), counted by score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pulens.counts.buckets import BucketTally
from pulens.counts.joint import JointTally
from pulens.counts.sample import LABELLED, NEGATIVE, UNLABELLED
from pulens.counts.tallies import Tallies
from pulens.counts.tally import Tally
from pulens.errors import InputError, shown
from pulens.inputs.clusters import cluster_codes
from pulens.inputs.read import read_sample
from pulens.inputs.reading import ReadOptions
from pulens.inputs.tallies import check_tally, is_tally_file, read_tallies


@dataclass(frozen=True, eq=False)
class Queries:
    """A tally per query, and the name of the column that tells queries apart."""

    column: str
    tallies: Tallies

    def __len__(self) -> int:
        return len(self.tallies)


def read_queries(source: Any, scores: Any, per: Any, reading: ReadOptions) -> Queries:
    """Count the rows of every query; an engine does so by one GROUP BY over query and score.

    ``per`` names a column, or holds one id per row beside labels and scores given as arrays.

    >>> read_queries([1, 0, 0], [0.9, 0.7, 0.2], ["a", "a", "b"], ReadOptions()).tallies["a"].totals.rows
    2.0
    """
    if reading.weights is not None or reading.weight is not None:
        raise InputError("ranks within queries need rows, and weights were given: leave the weights out, or per= out.")
    if reading.cluster is not None:
        raise InputError(
            "queries are the clusters of what is counted per query: leave cluster= out where per= is given, or ask for "
            "the other numbers with cluster= alone."
        )
    if isinstance(source, Tally | JointTally | BucketTally) or is_tally_file(source):
        raise InputError(
            f"per={shown(per) if isinstance(per, str) else '...'} needs rows: ranks within queries are not in a tally. "
            "Give the table, the file or the database that was counted."
        )
    if scores is not None or not isinstance(per, str):
        return Queries("query", _of_arrays(source, scores, per, reading))
    result = Tallies.of(read_tallies(source, group_by=per, **reading.arguments))
    if result.highest is not None:
        raise InputError(
            "scores were binned because there are many rows, and bins have no ranks within queries: tolerance=0 "
            "(--tolerance 0) keeps every score, and --where reads a part of the rows."
        )
    if None in result:
        raise InputError(
            f"the column {shown(per)} has no value in {result[None].totals.rows:,.0f} rows: so their query is unknown. "
            f"Leave them out (where={shown(f'{per} IS NOT NULL')})."
        )
    check_tally(result.whole())
    return Queries(per, result)


def _of_arrays(labels: Any, scores: Any, per: Any, reading: ReadOptions) -> Tallies:
    if isinstance(per, str):
        raise InputError(
            f"per={shown(per)} names a column of a table, file or database. Labels and scores given as arrays take one "
            "query per row."
        )
    if scores is None:
        raise InputError(
            "an array with one query per row goes with labels and scores given as arrays; for a table, name a column."
        )
    sample = read_sample(labels, scores, **replace(reading, table=None).rows)
    names, codes = cluster_codes(per, "per")
    if codes.size != len(sample):
        raise InputError(f"per must hold one query per row, got {codes.size:,} for {len(sample):,} rows.")
    kinds = [(sample.labels == kind).astype("int64") for kind in (LABELLED, UNLABELLED, NEGATIVE)]
    return Tallies.from_increments(names, codes, sample.scores, *kinds)
