"""Comparing learners: data sets and protocols."""

__all__: list[str] = []  # its files are the doors
