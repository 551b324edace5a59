"""What every learner has, with or without a network: PU labels in, a class prior, a score, checked settings."""
