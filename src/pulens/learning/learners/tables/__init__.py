"""Tables as people have them before a learner: columns of numbers, dates and categories become rows of numbers."""

__all__: list[str] = []  # what is public here is named by its module
