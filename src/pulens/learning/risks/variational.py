r"""The variational PU risk: Chen et al. (2020), equations 5 and 8.

If :math:`\Phi(x)` is the chance of being positive, then :math:`p(x)\Phi(x)/E[\Phi]` is the density of positives. The
Kullback-Leibler divergence to the labelled positives needs no class prior and does not change when
:math:`\Phi` is multiplied by a constant; a mixup term between population rows and positives pins the scale.
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library


def variational(log_phi_population: Any, log_phi_labelled: Any) -> Any:
    r""":math:`\log \mathrm{mean}\,\Phi(x) - \mathrm{mean}\,\log \Phi(p)`, over the last axis.

    >>> import numpy as np
    >>> float(variational(np.log(np.array([0.5, 0.5])), np.log(np.array([0.5]))))
    0.0
    """
    library = _library(log_phi_population)
    highest = library.amax(log_phi_population, -1)
    mean = library.exp(log_phi_population - highest[..., None]).mean(-1)
    return library.log(mean) + highest - log_phi_labelled.mean(-1)


def mixup_gap(phi_population: Any, log_phi_mixed: Any, share: Any) -> Any:
    r"""Mean of :math:`(\log(g\Phi(x) + 1 - g) - \log\Phi(\tilde x))^2` where :math:`\tilde x` mixes a share g of x.

    >>> import numpy as np
    >>> float(mixup_gap(np.array([1.0]), np.log(np.array([1.0])), 0.25))
    0.0
    """
    target = (share * phi_population + (1 - share)).clip(1e-12, 1)
    return ((_library(target).log(target) - log_phi_mixed) ** 2).mean(-1)
