"""What every learner has, with or without a network: PU labels in, a class prior, a score, checked settings."""

__all__: list[str] = []  # what is public here is named by its module
