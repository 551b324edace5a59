"""Trees that are grown on positive and unlabelled rows: the risk of a node, the search for splits, growth."""

__all__: list[str] = []  # what is public here is named by its module
