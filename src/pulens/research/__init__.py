"""Benchmarks, tables and figures of the papers; users find the packages under ``pulens``: ``pulens.benchmark``."""

__all__: list[str] = []
