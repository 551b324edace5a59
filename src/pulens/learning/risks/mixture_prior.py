r"""The evidence bound of a variational autoencoder whose class latent has a mixture of two Gaussians as prior.

Na et al. (2020), after variational deep embedding: a row is encoded as :math:`h_y` (what it is, component 0 for
negatives and 1 for positives, weight :math:`\pi`) and :math:`h_o` (how it came to be labelled or not). Encoders give
means :math:`\mu` and logarithms of variances :math:`s`; all functions average over rows, the last axis but one, and sum
over latent dimensions, the last axis. Means and variances of components stand on the axis before the last: [..., 2, D].
"""

from __future__ import annotations

from typing import Any

from pulens.learning.risks.losses import _library, sigmoid
from pulens.learning.risks.pu import RiskParts

TINY = 1e-9


def component_odds(h: Any, means: Any, variances: Any, class_prior: Any) -> Any:
    r"""The logit of the posterior of component 1, :math:`\log w_1 + \log N_1 - \log w_0 - \log N_0`.

    The weights enter once, not once per latent dimension.

    >>> import numpy as np
    >>> m, v = np.array([[-1.0, 0.0], [1.0, 0.5]]), np.array([[1.0, 0.5], [0.8, 1.2]])
    >>> sigmoid(component_odds(np.array([[0.4, 0.3]]), m, v, 0.3), -1).round(6)
    array([0.414565])
    """
    library = _library(h)
    prior = library.asarray(class_prior)

    def density(k: int) -> Any:
        m, v = means[..., k, None, :], variances[..., k, None, :]
        return (-((h - m) ** 2) / (2 * v) - 0.5 * library.log(v)).sum(-1)

    return density(1) - density(0) + library.log(prior / (1 - prior))


def mixture_bound(
    mu: Any, s: Any, posterior: Any, means: Any, variances: Any, class_prior: Any
) -> tuple[Any, Any, Any]:
    r"""The terms of :math:`h_y`: expected log prior (E1), entropy (E4), component divergence (E6).

    :math:`A_k = -\frac12\sum_d(\log v_{kd} + (e^{s_d} + (\mu_d - m_{kd})^2)/v_{kd})`,
    :math:`E_1 = \mathrm{mean}[(1 - c)A_0 + cA_1]`, :math:`E_4 = \frac12\mathrm{mean}\sum_d(1 + s_d)`,
    :math:`E_6 = -\mathrm{mean}[c\log(c/\pi) + (1 - c)\log((1 - c)/(1 - \pi))]`.

    >>> import numpy as np
    >>> zero, one = np.zeros((2, 2)), np.ones((2, 2))
    >>> e1, e4, e6 = mixture_bound(np.zeros((1, 2)), np.zeros((1, 2)), np.array([0.5]), zero, one, 0.5)
    >>> float(e1), float(e4), abs(round(float(e6), 6))
    (-1.0, 1.0, 0.0)
    """
    library = _library(mu)

    def fit(k: int) -> Any:
        m, v = means[..., k, None, :], variances[..., k, None, :]
        return -0.5 * (library.log(v) + (library.exp(s) + (mu - m) ** 2) / v).sum(-1)

    c = posterior
    expected = ((1 - c) * fit(0) + c * fit(1)).mean(-1)
    entropy = 0.5 * (1 + s).sum(-1).mean(-1)
    divergence = c * library.log((c + TINY) / class_prior) + (1 - c) * library.log((1 - c + TINY) / (1 - class_prior))
    return expected, entropy, -divergence.mean(-1)


def normal_bound(mu: Any, s: Any) -> tuple[Any, Any]:
    r"""The terms of :math:`h_o`, whose prior is standard normal: E2 and E5; minus their sum is the divergence.

    >>> import numpy as np
    >>> [round(float(term), 6) for term in normal_bound(np.array([[0.5]]), np.array([[-0.2]]))]
    [-0.534365, 0.4]
    """
    return -0.5 * (_library(s).exp(s) + mu**2).sum(-1).mean(-1), 0.5 * (1 + s).sum(-1).mean(-1)


def biased_risk(labelled: Any, virtual: Any, unlabelled: Any, shares: tuple[Any, Any, Any]) -> RiskParts:
    r"""The PU risk when labels are not at random, with the sigmoid loss :math:`\ell`, from a classifier's logits.

    ``shares`` are the shares of labelled rows, of hidden positives and of unlabelled rows, :math:`\pi_{pl}`,
    :math:`\pi_{pu}` and :math:`\pi_u`; ``virtual`` are generated hidden positives:
    :math:`R^+ = \pi_{pl}E_{pl}\ell(f) + \pi_{pu}E_{pu}\ell(f)` and
    :math:`R^- = \pi_uE_u\ell(-f) - \pi_{pu}E_{pu}\ell(-f)`.

    >>> import numpy as np
    >>> parts = biased_risk(np.zeros(2), np.zeros(2), np.zeros(2), (0.05, 0.45, 0.95))
    >>> round(float(parts.positive), 6), round(float(parts.negative), 6)
    (0.25, 0.25)
    """
    share_labelled, share_hidden, share_unlabelled = shares
    positive = share_labelled * sigmoid(labelled, 1).mean(-1) + share_hidden * sigmoid(virtual, 1).mean(-1)
    negative = share_unlabelled * sigmoid(unlabelled, -1).mean(-1) - share_hidden * sigmoid(virtual, -1).mean(-1)
    return RiskParts(positive, negative)
