"""How typical a positive is of the positives."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def mixture_density(
    features: NDArray[Any], *, components: int = 5, dimensions: int = 10, seed: int = 0
) -> NDArray[Any]:
    """Log density of each row under a Gaussian mixture fitted to all of them: paper 000, section 3.

    The paper states neither the number of components nor the kind of covariance; here the rows are first reduced
    to their leading principal components, so that full covariances can be estimated.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(size=(50, 3)), [[9.0, 9.0, 9.0]]])
    >>> int(np.argmin(mixture_density(rows, components=1)))
    50
    """
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    kept = min(dimensions, *features.shape)
    reduced = PCA(kept, random_state=seed).fit_transform(features)
    model = GaussianMixture(components, covariance_type="full", reg_covar=1e-3, random_state=seed)
    density: NDArray[Any] = model.fit(reduced).score_samples(reduced)
    return density
