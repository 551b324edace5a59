"""Tables in files, read and written: CSV, TSV, JSON Lines, Parquet and Arrow, in chunks or whole."""

__all__: list[str] = []  # what is public here is named by its module
