"""What tests share: reference cases as rows, comparison within their tolerances, small random samples."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


def case_rows(case: dict) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores of a reference case, given as lists or as the recipe "logistic"."""
    given = case["input"]
    if given.get("recipe") != "logistic":
        groups = [np.array(given.get(name, []), float) for name in ("positive", "unlabeled", "negative")]
    else:
        rng = np.random.Generator(np.random.PCG64(given["seed"]))
        sizes = [given["n_positive"], given["n_unlabeled"], given.get("n_negative", 0)]
        high, low = given.get("mu_pos", 1.0), given.get("mu_neg", -1.0)
        positive_shares = [given.get("beta", 1.0), given["alpha"], 0.0]
        groups = []
        for size, share in zip(sizes, positive_shares, strict=True):
            uniform = rng.random(size)
            positives = round(share * size)
            means = np.where(np.arange(size) < positives, high, low)
            groups.append(np.log(uniform) - np.log(1 - uniform) + means)
        if "decimals" in given:
            groups = [np.round(group, given["decimals"]) for group in groups]
    labels = np.concatenate([np.full(len(group), code) for code, group in zip((1, 0, -1), groups, strict=True)])
    return labels, np.concatenate(groups)


def assert_answer(got: object, expected: object, case: dict) -> None:
    """Equal within the case's own tolerances; a null answer means undefined."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert_answer(got[name], value, case)  # type: ignore[index]
    elif isinstance(expected, list):
        assert len(got) == len(expected)  # type: ignore[arg-type]
        for mine, theirs in zip(got, expected, strict=True):  # type: ignore[call-overload]
            assert_answer(mine, theirs, case)
    elif expected is None:
        assert got is None or np.isnan(got)  # type: ignore[call-overload]
    else:
        np.testing.assert_allclose(got, expected, rtol=case["rtol"], atol=case["atol"])


@st.composite
def pu_rows(draw, *, negatives: bool = False, most: int = 40):
    """Labels and scores with at least one labelled and two unlabelled rows."""
    codes = [1, 0, -1] if negatives else [1, 0]
    rows = draw(st.lists(st.tuples(st.sampled_from(codes), st.integers(-3, 3)), max_size=most))
    rows = [(1, draw(st.integers(-3, 3))), (0, draw(st.integers(-3, 3))), (0, draw(st.integers(-3, 3))), *rows]
    labels, scores = map(np.array, zip(*rows, strict=True))
    return labels.astype(np.int8), scores.astype(float)


priors = st.floats(0.0, 0.6)
noises = st.floats(0.0, 0.3)
scenarios = st.sampled_from(["case-control", "single-set"])
