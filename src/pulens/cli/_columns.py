"""What commands that learn from tables of mixed columns check, and the folder that a model is written to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pulens.errors import InputError, PulensError


def column_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The same as settings of :class:`pulens.learners.TableColumns`."""
    dates = {}
    for pair in given["dates"]:
        name, equals, written = pair.partition("=")
        if not equals or "%" not in written:
            raise InputError(f"--date must be COLUMN=FORMAT such as day=%d.%m.%Y, got {pair!r}.")
        if name in dates:
            raise InputError(f"--date {name!r} was given twice: name each column once.")
        dates[name] = written
    return {"categories": tuple(given["categories"]), "missing": tuple(given["missing"]), "dates": dates or None}


def check_model_folder(out: str, facts: Any) -> None:
    """Refuse now what could not be written once everything is learned."""
    import os
    from pathlib import Path

    from pulens.inputs.addresses import check_name
    from pulens.learning.learners.saving.folder import check_target
    from pulens.learning.learners.saving.models import find_skops
    from pulens.learning.learners.saving.networks import find_safetensors

    if not out:
        raise InputError("--out must name a folder, got ''.")
    check_name(out)
    check_target(Path(out))
    above = next(folder for folder in Path(out).absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(f"--out {out!r} cannot be written: {str(above)!r} is not a folder that may be written to.")
    if facts.is_network:
        find_safetensors()
    elif "estimator" in facts.settings:
        find_skops()


def check_beside_folder(targets: dict[str, str | None], out: str | None, sources: Sequence[str]) -> None:
    """No file may be written into the folder of the model, which is replaced as a whole; nor be the folder itself."""
    import os

    if out is None:
        return
    folder = os.path.realpath(out)
    for option, path in [*targets.items(), *(("the file that is read", source) for source in sources)]:
        if path is None or path == "-":
            continue
        place = os.path.realpath(path)
        if os.path.commonpath([folder, place]) == folder:
            raise PulensError(
                f"{option} {path!r} lies in --out {out!r}, which is replaced as a whole: name another place."
            )


def check_method(method: str) -> Any:
    """The facts of a learner that a table of PU labels suffices for and that can be written to a folder."""
    from pulens.learning import learners

    facts = learners.facts(method)
    if facts.told != "nothing":
        raise InputError(
            f"--learner {method} needs {facts.told}, which a table of PU labels does not hold: use it from Python."
        )
    if not hasattr(facts.learner, "save"):
        raise InputError(f"{method!r} cannot be saved to a folder; use it from Python.")
    return facts


def check_feature_names(label: str, features: tuple[str, ...], drop: tuple[str, ...]) -> None:
    """Refuse to learn from the labels, and wishes that contradict each other."""
    for name in features:
        if name == label:
            raise InputError(
                f"--feature {name!r} is the column of labels (--label): a learner would learn who was labelled. "
                "Name other columns, or say with --label where the labels are."
            )
        if name in drop:
            raise InputError(f"--feature {name!r} and --drop {name!r} contradict each other: give one of them.")
        if features.count(name) > 1:
            raise InputError(f"--feature {name!r} was given {features.count(name)} times: name each column once.")
