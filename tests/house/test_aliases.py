"""Packages have one name for users wherever their source stands, and what was pickled under an older place is read."""

from __future__ import annotations

import json
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

import pulens
from pulens.aliases import MOVED

EVERY = """
import importlib, json, sys
from pulens.aliases import MOVED
first = {alias: importlib.import_module(alias) for alias in MOVED}
print(json.dumps({
    "other objects": [alias for alias, place in MOVED.items() if importlib.import_module(place) is not first[alias]],
    "other names": [alias for alias, place in MOVED.items() if first[alias].__spec__.name != place],
}))
"""


def in_a_new_process(code):
    return json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def test_either_name_gives_one_module_whichever_is_imported_first():
    assert in_a_new_process(EVERY) == {"other objects": [], "other names": []}
    for alias, place in MOVED.items():
        assert import_module(alias) is import_module(place)


def test_files_deep_inside_are_not_imported_twice():
    code = (
        "import json, sys\n"
        "import pulens.benchmark.protocol.schema, pulens.labelling\n"
        "from pulens.research.benchmark.protocol import schema\n"
        "ours = {name: one for name, one in sys.modules.items() if name.startswith('pulens')}\n"
        "twice = [name for name, one in ours.items() if ours[one.__spec__.name] is not one]\n"
        "print(json.dumps([pulens.benchmark.protocol.schema is schema, twice]))"
    )
    assert in_a_new_process(code) == [True, []]


def test_every_module_of_an_alias_can_be_found_by_it():
    for alias in ("pulens.synthesis", "pulens.learners.base", "pulens.benchmark.analyse"):
        package = import_module(alias)
        for module in pkgutil.iter_modules(package.__path__, f"{alias}."):
            assert find_spec(module.name) is not None


def test_a_name_that_is_nowhere_is_said_as_it_was_asked():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'pulens\.learners\.nonsense'"):
        import_module("pulens.learners.nonsense")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'pulens\.learnings'"):
        import_module("pulens.learnings")


@pytest.mark.parametrize("make", ["ElkanNoto", "PUET", "data"])
def test_what_was_pickled_under_an_older_place_is_read(make):
    rows = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0], [2.0, 2.0]])
    one = (
        pulens.synthesise(rows, [1, 0, 1, 1], label_frequency=0.5, seed=0)
        if make == "data"
        else getattr(pulens.learners, make)(class_prior=0.25)
    )
    now = pickle.dumps(one, protocol=0)  # names stand in it as text
    older = now.replace(b"pulens.learning.", b"pulens.")
    assert older != now
    again = pickle.loads(older)
    assert type(again) is type(one)
    assert pickle.dumps(again, protocol=0) == now


def test_aliases_take_the_place_of_folders_that_are_left_behind(tmp_path, monkeypatch):
    """Byte code of an older version may lie where a package stood; Python would take such a folder for a package."""
    (tmp_path / "learners" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(pulens, "__path__", [*pulens.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "pulens.learners")
    assert import_module("pulens.learners") is import_module("pulens.learning.learners")
