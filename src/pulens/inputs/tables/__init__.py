"""Tables in files, read and written: CSV, TSV, JSON Lines, Parquet and Arrow, in chunks or whole."""
