"""Tables that a learner cannot take as they are: said with the step that makes them fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import NotFittedError

from pulens.errors import InputError


class NotNumbersError(InputError, TypeError):
    """Values that are no numbers. Also a ``TypeError``, which scikit-learn raises for them."""


@contextmanager
def numbers_only(who: str) -> Iterator[None]:
    """What scikit-learn's checks refuse, as this package's error; with the way out for missing values and words.

    >>> import numpy as np
    >>> from sklearn.utils import check_array
    >>> with numbers_only("NNPU"):
    ...     check_array([[np.nan]])
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: Input X contains NaN, and NNPU takes no missing values. Fill them first:...
    """
    try:
        yield
    except (InputError, NotFittedError):
        raise
    except TypeError as error:
        raise NotNumbersError(f"{who} cannot read X: {error}") from error
    except (ValueError, RuntimeError, OverflowError) as error:
        said = str(error)
        if "contains NaN" in said:
            raise InputError(
                f"Input X contains NaN, and {who} takes no missing values. Fill them first: "
                f"make_pipeline(SimpleImputer(), {who}(...)), with sklearn.impute.SimpleImputer; or use BoostedPU, "
                "which takes them as they are."
            ) from error
        if "could not convert string to float" in said:
            raise InputError(
                f"{said}: {who} learns from columns of numbers. Turn categories into numbers first: "
                f"make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore'), columns), "
                f"remainder='passthrough'), {who}(...)); or use BoostedPU, which takes them as they are."
            ) from error
        raise InputError(said) from error
