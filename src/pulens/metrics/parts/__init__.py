"""What metrics are made of: their facts, their value and doubt, their range where labels are not random."""

__all__: list[str] = []  # what is public here is named by its module
