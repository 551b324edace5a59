"""The door: the only rooms that know libraries, files, engines. Everything leaves as a PUSample or a Tally."""

from pulens.inputs.columns import Columns, LabelCoding
from pulens.inputs.periods import PERIODS, Period, last_day
from pulens.inputs.read import read_sample
from pulens.inputs.reading import ReadOptions
from pulens.inputs.tallies import (
    READING,
    ROWS,
    holds_buckets,
    read_buckets,
    read_counts,
    read_joint,
    read_tallies,
    read_tally,
    read_windows,
)

__all__ = [
    "PERIODS",
    "READING",
    "ROWS",
    "Columns",
    "LabelCoding",
    "Period",
    "ReadOptions",
    "holds_buckets",
    "last_day",
    "read_buckets",
    "read_counts",
    "read_joint",
    "read_sample",
    "read_tallies",
    "read_tally",
    "read_windows",
]
