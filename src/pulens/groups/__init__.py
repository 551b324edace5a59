"""Groups of rows: each evaluated by itself, and compared with the others."""

__all__: list[str] = []
