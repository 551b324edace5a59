"""Networks that learners train, by name: an ordinary ``nn.Module`` each, which returns one logit per row.

They stand beside the learners and not inside the benchmark, since ``fit`` needs them and the benchmark needs ``fit``.

>>> names()
('cifar_cnn', 'lenet', 'linear', 'mlp', 'mri_cnn', 'resnet18')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pulens.catalogue import Catalogue
from pulens.errors import InputError, listed

__all__ = ["build", "check_row_shape", "names"]
_FOLDER: Catalogue[Callable[..., Any]] = Catalogue(
    __name__,
    __path__,
    "build",
    "backbone",
    several={"layers_in_a_row": ("cifar_cnn", "lenet", "linear", "mlp", "mri_cnn")},
)


def names() -> tuple[str, ...]:
    """The networks there are; none is imported to say so."""
    return _FOLDER.names


def build(name: str, row_shape: tuple[int, ...]) -> Any:
    """A fresh network for rows of a shape, with PyTorch's own initial values.

    Needs torch; the caller sets the seed.
    """
    if name not in names():
        raise InputError(
            f"backbone must be one of {listed(names())}, a torch module or a function that makes one, got {name!r}."
        )
    return _FOLDER[name](row_shape)


def check_row_shape(name: str, row_shape: tuple[int, ...], expected: str, fits: bool) -> None:
    """Refuse rows that a network cannot read."""
    if not fits:
        raise InputError(f"the {name!r} backbone reads rows of shape {expected}, got rows of shape {row_shape}.")
