"""Protocols: what a benchmark covers, from YAML to checked types. The shipped ones are in ``shipped/``."""

from pulens.research.benchmark.protocol.schema import Protocol, load_protocol, parse_protocol, shipped

__all__ = ["Protocol", "load_protocol", "parse_protocol", "shipped"]
