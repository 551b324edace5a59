"""What an answer can be asked: its properties, its methods with usual and odd arguments, its faces."""

from __future__ import annotations

import contextlib
import inspect
import random
from collections.abc import Mapping
from typing import Any

import pulens
from pulens.errors import LONGEST_TEXT, PulensError
from python_calls.functions import told
from python_calls.values import for_option

ALL = tuple(getattr(pulens, name) for name in pulens.__all__ if inspect.isclass(getattr(pulens, name)))
# kernels that the package calls itself, with what it has checked
TRUSTING = {
    "above", "blocks", "increments", "mapped", "without", "binned", "evidence", "counts_of", "of", "told", "enlarged",
    "plausible", "allocated", "at_least", "refined", "log_density", "standing_at", "correlations_of_models",
}  # fmt: skip
DRAWN = 0.1  # how often a picture is drawn: it takes as long as ten other calls


def ask(chance: random.Random, answer: Any, times: int, words: list[str]) -> None:
    """Ask an answer, and what it says, so many things; ``words`` are told what."""
    repr(answer)
    if not isinstance(answer, ALL) and not _is_answer(answer):
        return
    str(answer)
    if isinstance(answer, Mapping) and chance.random() < 0.5:
        name = chance.choice((*pulens.metrics.names(), "recal", ""))
        words.append(f"[{name!r}]")
        with contextlib.suppress(PulensError):
            answer[name]
        return
    names = [
        name
        for kind in type(answer).__mro__
        if kind.__module__.startswith("pulens")
        for name in vars(kind)
        if not name.startswith("_") and name not in TRUSTING
    ]
    for name in chance.sample(names, min(times, len(names))):
        if name == "plot" and chance.random() > DRAWN:
            continue
        words.append(f".{name}")
        try:
            result = getattr(answer, name)
            if inspect.ismethod(result) and not isinstance(result.__self__, type):
                arguments, options = _arguments(chance, result)
                shown = [told("", value)[1:] for value in arguments] + [told(*both) for both in options.items()]
                words[-1] = f".{name}({', '.join(shown)})"
                result = result(*arguments, **options)
            elif callable(result):
                continue
        except PulensError as error:
            if not 0 < len(str(error)) <= LONGEST_TEXT:
                raise
            continue
        if _is_answer(result) and chance.random() < 0.5:
            ask(chance, result, 1, words)


def _is_answer(result: Any) -> bool:
    return type(result).__module__.startswith("pulens.") and not isinstance(result, type)


def _arguments(chance: random.Random, method: Any) -> tuple[list[Any], dict[str, Any]]:
    arguments, options = [], {}
    for each in inspect.signature(method).parameters.values():
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) or each.name in ("ax", "axes"):
            continue
        value = "answer.out" if each.name == "path" else for_option(chance, each.name, 0.4)
        if each.default is each.empty and each.kind is not each.KEYWORD_ONLY:
            arguments.append(value)
        elif each.default is each.empty or chance.random() < 0.4:
            options[each.name] = value
    forwards_keywords = any(each.kind is each.VAR_KEYWORD for each in inspect.signature(method).parameters.values())
    if forwards_keywords and method.__name__ in ("at", "decide", "best_threshold") and chance.random() < 0.5:
        arguments, options = [], {}
        for name in chance.sample(("cost_miss", "cost_alarm", "capacity", "recall_at_least", "precision_at_least"), 2):
            options[name] = for_option(chance, name, 0.3)
    return arguments, options
