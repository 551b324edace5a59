"""Special functions of scipy, as ``from pulens.special import ndtri``, without the time that their package takes.

``import scipy.special`` takes twice as long as numpy, nearly all of it for wrappers that other array libraries need.
The functions themselves are in compiled modules, which are loaded alone here: they are the very objects that
``scipy.special`` shows, and importing that afterwards works as ever. Where it is loaded already, or a release of scipy
is built otherwise, the package itself is used.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

PACKAGE = "scipy.special"
COMPILED = ("_ufuncs_cxx", "_ellip_harm_2", "_special_ufuncs", "_gufuncs", "_ufuncs")  # each stands on those before


def __getattr__(name: str) -> Any:
    """A function by its name in ``scipy.special``.

    >>> from pulens.special import ndtri
    >>> round(float(ndtri(0.975)), 4)
    1.96
    """
    if name.startswith("_"):  # what Python itself asks of modules
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_functions(), name, None) or getattr(import_module(PACKAGE), name)


@cache
def _functions() -> Any:
    return import_module(PACKAGE) if PACKAGE in sys.modules else _compiled() or import_module(PACKAGE)


def _compiled() -> Any:
    """The module of the functions, loaded without its package; ``None`` where that cannot be done."""
    folders = [f"{path}/special" for path in import_module("scipy").__path__]
    specs = [PathFinder.find_spec(f"{PACKAGE}.{name}", folders) for name in COMPILED]
    loaded = []
    try:
        for spec in specs:
            if spec is None or spec.loader is None or spec.name in sys.modules:
                return None
            sys.modules[spec.name] = module_from_spec(spec)
            loaded.append(spec.name)
            spec.loader.exec_module(sys.modules[spec.name])
    except ImportError:
        for name in loaded:
            del sys.modules[name]
        return None
    return sys.modules[f"{PACKAGE}._ufuncs"]
