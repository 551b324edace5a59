"""The door: the only rooms that know libraries, files and column types. Everything leaves as a PUSample."""

from pulens.inputs.columns import Columns, LabelCoding
from pulens.inputs.read import read_sample

__all__ = ["Columns", "LabelCoding", "read_sample"]
