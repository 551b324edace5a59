"""Sentences that name arguments of Python, in the words of the command line."""

from __future__ import annotations

import re
import shlex

#: Arguments that commands have under another name.
RENAMED = {"labelled_within": "within", "k": "top", "metrics": "metric", "by": "group-by", "at_threshold": "at"}
#: Arguments that some command has as an option of the same name.
SAME = (
    *("class_prior", "unlabelled_prior", "label_noise", "scenario", "audit", "combine", "labelling", "split"),
    *("score", "label", "weight", "cluster", "positive", "negative", "unlabelled", "group_by", "class_prior_column"),
    *("same_prior", "table", "where", "tolerance", "format", "delimiter", "decimal", "thousands", "encoding", "sheet"),
    *("reviews", "reviewed_above", "reviewed_below_share", "id", "threshold", "confidence", "redraws", "seed"),
    *("cost_miss", "cost_alarm", "cost_flag", "benefit_hit", "cost_ratio", "capacity", "volume", "choose"),
    *("capacity_certainty", "recall_at_least", "precision_at_least", "budget", "width", "goal", "keep", "source"),
    *("allow_changed", "reviewer_errors", "second", "scores_are", "binning", "bins", "folds"),
    *("method", "noise", "labels_lag", "time", "reference_until", "timezone", "confirmed_at", "anytime", "interval"),
    *("allow_repeats", "plan"),
)
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in SAME} | {old: f"--{new}" for old, new in RENAMED.items()}

_NAMES = "|".join(sorted(OPTIONS, key=len, reverse=True))
_WITH_BAR = "|".join(name for name in sorted(OPTIONS, key=len, reverse=True) if "_" in name)
# what a message begins with: in the midst of a sentence the same word may be a value
_FIRST = re.compile(rf"(?:^|(?<=: ))(?:({_NAMES})(?= must )|({_WITH_BAR})(?=[ ,]))")
_CALL = re.compile(r"pulens\.[\w.]+\([^()]*\) \((--[^()]*)\)")  # where the option follows, the call is left out
_ARGUMENT = re.compile(rf"(?<![\w'\"`./-])({_NAMES})=(\([^()]*\)|'[^']*'|\"[^\"]*\"|\.\.\.|[\w.%-]*\w%?)?")


def in_command_words(text: str) -> str:
    """Arguments as they are typed in a shell; what is quoted stays as it is.

    >>> in_command_words("Give class_prior= as a number, or check some rows by hand (audit=).")
    'Give --class-prior as a number, or check some rows by hand (--audit).'
    >>> in_command_words("Say scenario='case-control', or class_prior=(0.1, 0.3).")
    'Say --scenario case-control, or --class-prior 0.1:0.3.'
    >>> in_command_words("Say which value it is (positive=..., or --positive on the command line).")
    'Say which value it is (--positive).'
    >>> in_command_words("Say decimal=',' (--decimal , on the command line).")
    'Say --decimal ,.'
    >>> in_command_words("Say so: delimiter=';' (--delimiter ';').")
    "Say so: --delimiter ';'."
    >>> in_command_words("there is no column 'label=1'.")
    "there is no column 'label=1'."
    >>> in_command_words("class_prior must be below 1, or a range (low, high), got (0.3, 0.1).")
    '--class-prior must be below 1, or a range low:high, got 0.3:0.1.'
    >>> in_command_words("Map them first: pulens.calibration.recalibrate(..., method='isotonic') (--fit isotonic).")
    'Map them first: --fit isotonic.'
    """
    text = _CALL.sub(r"\1", text)
    text = _FIRST.sub(lambda result: OPTIONS[result[1] or result[2]], text)
    text = re.sub(r"(?<=range )\(low, high\)", "low:high", text)
    text = re.sub(r"(?<= got )\(([\d.e-]+), ([\d.e-]+)\)", r"\1:\2", text)
    text = re.sub(rf"\b(?:{_NAMES})= or (--[a-z-]+)", r"\1", text)
    text = re.sub(r"\(([^()]*)\)", lambda result: f"({_once(result[1])})", text)
    text = _ARGUMENT.sub(_option, text)
    return re.sub(r"(--[a-z-]+(?: [^\s()]+)?) \(\1(?: on the command line)?\)", r"\1", text)


def _once(words: str) -> str:
    """Inside brackets: where a sentence gives both ways to say it, the option alone."""
    parts = [part.removeprefix("or ").removesuffix(" on the command line") for part in words.split(", ")]
    options = {part.split()[0] for part in parts if part.startswith("--")}
    if not options:
        return words
    kept = [part for part in parts if OPTIONS.get(part.partition("=")[0]) not in options or "=" not in part]
    return ", ".join(kept)


def _option(result: re.Match[str]) -> str:
    option, value = OPTIONS[result[1]], result[2] or ""
    if value in ("", "..."):
        return option
    if value == "True":
        return option
    if value.startswith("("):
        value = value.strip("()").replace(", ", ":")
    return f"{option} {shlex.quote(value.strip(chr(39) + chr(34)))}"
