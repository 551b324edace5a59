"""The classifiers of Jain et al. 2017: bagged networks with five hidden neurons, all of them trained as one stack.

Every network has its own bootstrap of the rows; a quarter of the bag decides when to stop, the rest trains by resilient
propagation (Riedmiller and Braun 1993). Rows are scored by the networks that did not see them. Without PyTorch
scikit-learn trains the same ensemble one network after the other.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.learning.learners.pu_bagging import out_of_bag_means
from pulens.types import Floats

HIDDEN = 5
HELD_SHARE = 0.25  # of every bag, for early stopping
EPOCHS, PATIENCE = 200, 12


def out_of_bag_scores(
    features: NDArray[Any],
    targets: NDArray[Any],
    *,
    networks: int,
    rng: np.random.Generator,
    device: str = "auto",
    epochs: int = EPOCHS,
) -> Floats:
    """Mean out-of-bag log odds, one row per target: ensembles that see the same rows and differ in what they learn.

    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([1, 0], 60)
    >>> rows = rng.normal(size=(120, 3)) + 2.0 * truth[:, None]
    >>> scores = out_of_bag_scores(rows, truth[None], networks=5, rng=rng, device="cpu", epochs=30)
    >>> scores.shape, bool(scores[0, :60].mean() > scores[0, 60:].mean() + 2)
    ((1, 120), True)
    """
    rows = len(features)
    members = networks * len(targets)
    bags = np.stack([np.bincount(rng.integers(0, rows, rows), minlength=rows) for _ in range(members)])
    held = rng.random((members, rows), dtype=np.float32) < HELD_SHARE
    if find_spec("torch") is not None:
        from pulens.research.studies._recovery_stack import train_stack

        logits = train_stack(features, np.repeat(targets, networks, axis=0), bags, held, rng, device, epochs)
    else:
        logits = _one_by_one(features, np.repeat(targets, networks, axis=0), bags, rng, epochs)
    ensembles = [slice(start, start + networks) for start in range(0, members, networks)]
    return np.stack([out_of_bag_means(logits[members], bags[members] > 0)[0] for members in ensembles])


def _one_by_one(
    features: NDArray[Any], targets: NDArray[Any], bags: NDArray[Any], rng: np.random.Generator, epochs: int
) -> Floats:
    """scikit-learn's networks; they have no resilient propagation, and draw the held-out quarter themselves."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    result = np.empty(targets.shape)
    for place, (target, bag) in enumerate(zip(targets, bags, strict=True)):
        model = MLPClassifier(
            (HIDDEN,),
            activation="tanh",
            learning_rate_init=0.02,
            early_stopping=True,
            validation_fraction=HELD_SHARE,
            n_iter_no_change=PATIENCE,
            max_iter=epochs,
            random_state=int(rng.integers(2**31)),
        )
        chosen = np.repeat(np.arange(len(features)), bag)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a cap on epochs is part of the design
            model.fit(features[chosen], target[chosen])
        chance = model.predict_proba(features)[:, 1].clip(1e-12, 1 - 1e-12)
        result[place] = np.log(chance) - np.log1p(-chance)
    return result
