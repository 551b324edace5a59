"""What methods are made of besides the training loop: views, mixup, contrast, generators, kernels, groups, cuts."""

__all__: list[str] = []  # what is public here is named by its module
