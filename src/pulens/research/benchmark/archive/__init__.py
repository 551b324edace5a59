"""What finished runs leave behind: rows, their counts and metrics, and an archive in one small file."""

from pulens.research.benchmark.archive.reading import Archive, differences, read
from pulens.research.benchmark.archive.row import CURVE, RunRow
from pulens.research.benchmark.archive.store import LOCK, Store

__all__ = ["CURVE", "LOCK", "Archive", "RunRow", "Store", "differences", "read"]
