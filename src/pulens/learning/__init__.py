"""Making PU data and training on it; users find the packages under ``pulens``: ``pulens.learners``."""

__all__: list[str] = []
