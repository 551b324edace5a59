"""The door of synthesis: check what the caller said, then draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.containers import plain_array
from pulens.errors import AssumptionError, InputError, listed, shown
from pulens.keywords import keywords_of
from pulens.learning.labelling import canonical_name, find
from pulens.learning.synthesis.checks import (
    check_parameters,
    check_priors,
    check_recipe,
    check_rows,
    check_seed,
    check_shares,
    nothing_left,
    notices_of,
)
from pulens.learning.synthesis.clues import Clues
from pulens.learning.synthesis.construct import Recipe, construct, realised
from pulens.learning.synthesis.draws import exact, split, thin
from pulens.learning.synthesis.pu_data import PUData, Rows, Synthesis, Truth
from pulens.scalars import is_among, is_missing, plain_scalar, real
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.types import Booleans, Places


def synthesise(
    X: Any,
    y: Any,
    *,
    positive: Any = None,
    scenario: str = DEFAULT_SCENARIO,
    label_frequency: float | None = None,
    labelled: int | None = None,
    mechanism: str = "completely_at_random",
    label_noise: float = 0.0,
    class_prior: float | None = None,
    unlabelled: str = "disjoint",
    candidate_share: float | None = None,
    validation_share: float = 0.0,
    test_share: float = 0.0,
    test_class_prior: float | None = None,
    evidence: Any = None,
    seed: int = 0,
    **parameters: Any,
) -> Synthesis:
    r"""Hide most labels of a labelled data set: PU data for learners, and the truth apart from it, for studies.

    Parameters
    ----------
    X, y
        Rows (array, pictures, sparse matrix, frame) and their true classes.
    positive
        The class, or a list of classes, that counts as positive. May be left out when ``y`` is 0/1 or boolean.
    scenario
        ``"single-set"``: labels are set in one sample and the unlabelled rows are what is left. ``"case-control"``:
        labelled rows and a sample of the population.
    label_frequency, labelled
        Either the share of positives that get a label, :math:`\lfloor c|P| \rfloor` of them (0.1 when neither is
        said), or the number of labelled rows.
    mechanism
        Which positives get one: a name from :func:`pulens.labelling.names` or its alias (``"S1"`` to ``"S4"``,
        ``"scenario-1"``, ``"scenario-2"``); ``parameters`` are passed on to it (``power=5``).
    label_noise
        Share of labelled rows that are really negative, drawn at random from the negatives.
    class_prior
        Thin one class at random so that the population has this share of positives; default: as it is.
    unlabelled
        For case-control. ``"disjoint"``: the unlabelled rows are a sample of the population that shares no row
        with the labelled ones. ``"whole-pool"``: the published generator of PU-Bench, which returns the labelled
        rows to the unlabelled ones, so that each occurs twice and the two samples are not independent.
    candidate_share
        For disjoint case-control: the share of positives that may be labelled; they and as many negatives never
        become unlabelled rows. Default: all when labels are completely at random (what is left is then still a
        fair sample), one half otherwise (what a biased choice leaves behind is biased too).
    validation_share, test_share, test_class_prior
        Rows held out first, classes in proportion: test rows, then validation rows from what is left. Validation
        rows get PU labels by the same rules; test rows get none.
    evidence
        What a biased mechanism looks at, one number per row of ``X``: the posterior of the positive class, or any
        measure of representativeness. Default: an auxiliary logistic regression on the true classes of the
        training rows (PU-Bench), or a Gaussian mixture of its positives (the PULP paper).
    seed
        Same arguments and seed, same rows. Splits do not depend on how labels are chosen.

    Returns
    -------
    Synthesis
        Rows with PU labels (``train``, ``validation``, ``test``), and apart from them the ``truth``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.3
    >>> X = rng.normal(size=(1000, 2)) + 2 * y[:, None]
    >>> synthesis = synthesise(X, y, label_frequency=0.2, test_share=0.2)
    >>> print(synthesis)
    PUData(single-set: 44 labelled, 756 unlabelled; class prior 0.2775, 0.2354 among the unlabelled) beside 200 test rows
    >>> synthesis.train.X.shape, synthesis.truth.test.sum()
    ((800, 2), np.int64(55))

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> print(synthesise(table[["amount", "risk_v2"]], table["fraud"], label_frequency=0.3))
    PUData(single-set: 57 labelled, 943 unlabelled; class prior 0.193, 0.1442 among the unlabelled)
    """  # noqa: E501
    is_positive = binarise(y, positive)
    check_rows(X, is_positive)
    seed = check_seed(seed)
    name, rule = canonical_name(mechanism), find(mechanism)
    recipe = check_recipe(
        check_scenario(scenario), rule, label_frequency, labelled, label_noise, unlabelled, candidate_share
    )
    check_shares(validation_share=validation_share, test_share=test_share)
    check_priors(class_prior=class_prior, test_class_prior=test_class_prior)
    class_prior, test_class_prior = (None if one is None else real(one) for one in (class_prior, test_class_prior))
    validation_share, test_share = real(validation_share), real(test_share)
    settings = check_parameters(name, rule, parameters, keywords_of(synthesise))
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(6)]

    train, test = split(is_positive, test_share, streams[0])
    train_place, validation_place = split(is_positive[train], validation_share, streams[0])
    train, validation = train[train_place], train[validation_place]
    if test_class_prior is not None:
        test = test[thin(is_positive[test], exact(test_class_prior), streams[1])]
    source = Clues(X, is_positive, train, rule, evidence, settings, seed)
    parts = []
    for part, prior_rng, label_rng in zip((train, validation), streams[2::2], streams[3::2], strict=True):
        if class_prior is not None:
            part = part[thin(is_positive[part], exact(class_prior), prior_rng)]
        parts.append(label_part(X, is_positive, part, recipe, source, label_rng) if part.size else None)
    made, held = parts[0], parts[1] or (None, None)
    if made is None or made[0].n_labelled == 0 or made[0].n_unlabelled == 0:
        raise AssumptionError(nothing_left(made, recipe, is_positive[train]))
    configuration = {
        "scenario": str(recipe.scenario),
        "label_frequency": recipe.label_frequency,
        "labelled": recipe.labelled,
        "mechanism": name,
        **settings,
        "label_noise": recipe.label_noise,
        "class_prior": class_prior,
        "unlabelled": recipe.unlabelled,
        "candidate_share": recipe.share if recipe.sets_candidates_aside else None,
        "validation_share": validation_share,
        "test_share": test_share,
        "test_class_prior": test_class_prior,
    }
    return Synthesis(
        train=made[0],
        validation=held[0],
        test=Rows(X, test) if test_share else None,
        truth=Truth(made[1], held[1], is_positive[test] if test_share else None),
        configuration=configuration,
        seed=seed,
        notices=tuple(notices_of(recipe, made[0], held[0])),
    )


def binarise(y: Any, positive: Any = None) -> Booleans:
    """Which rows are positive: those of the given class or classes.

    >>> binarise(["ham", "spam", "ham"], positive="spam")
    array([False,  True, False])
    """
    values = plain_array(y)
    if values.ndim != 1:
        raise InputError(f"y must hold one class per row, got an array of shape {values.shape}.")
    missing = np.flatnonzero([is_missing(value) for value in values.tolist()])
    if missing.size:
        raise InputError(
            f"y has no class in row {missing[0]} (counting from 0) and {missing.size - 1} others. Leave these rows "
            "out: nothing says whether they are positive."
        )
    try:
        present = np.unique(values)
    except TypeError as error:
        raise InputError(f"y mixes values that cannot be compared: {error}.") from error
    if positive is None:
        if values.dtype != bool and not np.isin(present, (0, 1)).all():
            raise InputError(
                f"y must be 0/1 or boolean when positive= is not given, got {listed(present.tolist())}. "
                "Say which class, or which list of classes, is positive."
            )
        return values.astype(bool)
    positive = plain_scalar(positive)
    several = isinstance(positive, list | tuple | set | frozenset | np.ndarray | range)
    wanted = [plain_scalar(value) for value in (positive if several else [positive])]
    unknown = [value for value in wanted if not is_among(value, present.tolist())]
    if unknown:
        raise InputError(
            f"positive={shown(positive)}: {shown(unknown[0])} is not a class; y holds {listed(present.tolist())}."
        )
    return np.isin(values, wanted)


def label_part(
    X: Any, is_positive: Booleans, part: Places, recipe: Recipe, source: Clues, rng: np.random.Generator
) -> tuple[PUData, Booleans]:
    """One part as PU data, and its truth. Labelled rows come first in case-control, the order of X holds inside."""
    pool = is_positive[part]
    label_rng, rest_rng = rng.spawn(2)
    labelled, unlabelled = construct(
        pool,
        recipe,
        lambda places, count: np.searchsorted(part, source.choose(part[places], count, label_rng)),
        rest_rng,
    )
    unlabelled_prior, frequency, noise = realised(pool, labelled, unlabelled)
    rows = np.concatenate([labelled, unlabelled])
    labels = np.concatenate([np.ones(labelled.size, np.int8), np.zeros(unlabelled.size, np.int8)])
    if recipe.scenario is Scenario.SINGLE_SET:
        order = np.argsort(rows, kind="stable")
        rows, labels = rows[order], labels[order]
    data = PUData(X, part[rows], labels, recipe.scenario, float(pool.mean()), unlabelled_prior, frequency, noise)
    return data, pool[rows]
