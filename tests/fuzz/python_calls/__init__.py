"""Calls of the package from Python: odd containers, odd values, odd options, and the same number through many doors."""
