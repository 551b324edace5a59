"""Libraries that may be missing where the calls are made."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any


@cache
def library(name: str) -> Any:
    """The library, or an ImportError."""
    return importlib.import_module(name)


@cache
def has(name: str) -> bool:
    try:
        library(name)
    except ImportError:
        return False
    return True
