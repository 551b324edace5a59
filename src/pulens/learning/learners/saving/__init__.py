"""Fitted learners on disk: a folder of JSON and weights, arrays or models. Nothing is ever unpickled."""

__all__: list[str] = []  # what is public here is named by its module
