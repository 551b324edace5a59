"""What finished runs leave behind: rows, their counts and metrics, and an archive in one small file."""

from pulens.benchmark.archive.reading import (
    CURVE,
    LOCK,
    SUPPORTED_BEFORE,
    Archive,
    Store,
    differences,
    fault,
    read,
)

__all__ = ["CURVE", "LOCK", "SUPPORTED_BEFORE", "Archive", "Store", "differences", "fault", "read"]
