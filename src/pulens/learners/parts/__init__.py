"""What methods are made of besides the training loop: views, mixup, contrast, generators, kernels, groups, cuts."""
