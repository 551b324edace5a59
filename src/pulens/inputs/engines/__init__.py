"""Engines that count rows where they are: DuckDB for files, narwhals for lazy tables, SQLAlchemy for databases."""
