"""What every learner of a benchmark must hold to, as functions for the tests of yours.

>>> from pulens.learners import NNPU
>>> check_learner(NNPU, backbone="linear", epochs=30, learning_rate=0.05)
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.errors import CollapseWarning

SEPARATION = 3.0  # distance of the toy's classes, in deviations
ENOUGH = 0.9  # AUC that any learner must reach on it
CLOSE = 1e-3  # of logits that were computed alone and in a stack


class Toy(NamedTuple):
    """PU rows of two well separated clouds, and fresh rows with their truth."""

    X: NDArray[np.float32]
    labels: NDArray[np.int8]
    class_prior: float
    test: NDArray[np.float32]
    truth: NDArray[np.bool_]


def toy(seed: int = 0, labelled: int = 120, unlabelled: int = 900, class_prior: float = 0.4) -> Toy:
    """Case-control rows: labelled positives, and unlabelled rows that follow the population."""
    rng = np.random.default_rng(seed)

    def rows(truth: NDArray[np.bool_]) -> NDArray[np.float32]:
        result: NDArray[np.float32] = (rng.normal(size=(truth.size, 4)) + SEPARATION / 2 * truth[:, None]).astype(
            np.float32
        )
        return result

    hidden, truth = rng.random(unlabelled) < class_prior, rng.random(500) < class_prior
    X = np.concatenate([rows(np.ones(labelled, bool)), rows(hidden)])
    labels = np.repeat(np.array([1, 0], np.int8), [labelled, unlabelled])
    return Toy(X, labels, class_prior, rows(truth), truth)


def check_learner(learner: Any, **settings: Any) -> None:
    """All checks; ``settings`` are those with which the learner should learn the toy."""
    check_learns(learner, **settings)
    check_repeats(learner, **settings)
    if hasattr(learner, "_program"):
        check_stack(learner, **settings)


def check_learns(learner: Any, **settings: Any) -> None:
    """Two well separated clouds are distinguished, and predictions are 1 and 0."""
    from pulens.learning.learners.base.proxies import proxy_auc

    data = toy()
    fitted = _fitted(learner, data, 0, settings)
    scores = fitted.decision_function(data.test)
    auc = proxy_auc(scores[data.truth], scores[~data.truth])
    assert auc >= ENOUGH, f"AUC {auc:.3f} on an easy problem; at least {ENOUGH} is expected"
    assert set(np.unique(fitted.predict(data.test))) <= {0, 1}, "predictions must be 1 and 0"
    assert ((scores > 0) == (fitted.predict(data.test) == 1)).all(), "positive must mean decision_function above 0"


def check_repeats(learner: Any, **settings: Any) -> None:
    """The same seed gives the same scores, whatever happened to global random numbers; another seed is allowed to."""
    data = toy()
    first = _fitted(learner, data, 1, settings).decision_function(data.test)
    np.random.default_rng().random()
    second = _fitted(learner, data, 1, settings).decision_function(data.test)
    np.testing.assert_array_equal(first, second, "the same seed must give the same scores")


def check_stack(learner: Any, **settings: Any) -> None:
    """A run in a stack gives what it gives alone: write losses per run, and never mix runs.

    Two epochs of each stage with the default learning rate: training amplifies rounding, and after many epochs the two
    are different runs of equal quality.
    """
    from pulens.learning.learners import fit_many

    known = learner().get_params()
    settings = {name: value for name, value in settings.items() if name != "learning_rate"}
    settings |= {name: 2 for name in known if name.endswith("epochs") and isinstance(known[name], int)}
    data = toy()
    other = toy(seed=5, labelled=80, unlabelled=700)
    X = np.concatenate([data.X, other.X])
    rows = [np.arange(len(data.X)), len(data.X) + np.arange(len(other.X))]
    runs = [_made(learner, seed, data.class_prior, settings) for seed in (3, 4)]
    stacked = fit_many(runs, X, [data.labels, other.labels], rows=rows)
    for place, own in enumerate((data, other)):
        alone = fit_many([_made(learner, 3 + place, data.class_prior, settings)], X, [own.labels], rows=[rows[place]])[
            0
        ]
        mine, theirs = (one.decision_function(data.test) for one in (stacked[place], alone))
        np.testing.assert_allclose(mine, theirs, atol=CLOSE * max(1.0, float(np.abs(theirs).max())), rtol=CLOSE)


def _fitted(learner: Any, data: Toy, seed: int, settings: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # what a learner must learn is for the checks to say
        return _made(learner, seed, data.class_prior, settings).fit(data.X, data.labels)


def _made(learner: Any, seed: int, class_prior: float, settings: dict[str, Any]) -> Any:
    """The learner, told the class prior and kept on the CPU where it knows these words."""
    known = learner().get_params()
    usual = {"random_state": seed, "class_prior": class_prior, "scenario": "case-control", "device": "cpu"}
    usual |= {"progress": False, "selection": "last"}
    return learner(
        **{name: value for name, value in {**usual, **settings}.items() if name in known or name in settings}
    )
