"""Engines that count rows where they are: DuckDB for files, narwhals for lazy tables, SQLAlchemy for databases."""

__all__: list[str] = []  # its files are the doors
