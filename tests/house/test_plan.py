"""The plan of the house: one name for one thing, walls that are respected, rooms that say what is public.

``benchmarks/architecture.py`` measures; here stands what must hold.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import architecture  # noqa: E402


def test_no_class_name_is_defined_twice():
    assert architecture.classes_defined_twice(ROOT) == {}


def test_names_for_arrays_have_one_home():
    assert architecture.aliases_defined_outside(ROOT, "pulens.types") == {
        "Whole": ["pulens.research.benchmark.protocol.schema"]
    }


def test_private_things_are_imported_within_their_package_only():
    assert [str(each) for each in architecture.private_imports(ROOT)] == [], "make it public, or import it from a door"


def test_every_package_says_what_is_public():
    assert architecture.without_all(ROOT) == []


# --- the measure itself ---------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    """A package with one of every fault."""
    files = {
        "__init__.py": "__all__ = []\n",
        "types.py": "Floats = list\n",
        "a/__init__.py": "",
        "a/_hidden.py": "class Thing: ...\n",
        "a/open.py": "from pulens.a._hidden import Thing\n\n\ndef _own(): ...\n",
        "b/__init__.py": "__all__: list[str] = []\n",
        "b/use.py": (
            "Floats = list\n\n\nclass Thing: ...\n\n\ndef twisted(x):\n    from pulens.a import _hidden\n"
            "    from pulens.a.open import _own\n" + "    if x and x > 1:\n        pass\n" * 10
        ),
    }
    for name, text in files.items():
        path = tmp_path / "src" / "pulens" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_the_measure_sees_each_fault(small):
    assert architecture.classes_defined_twice(small) == {"Thing": ["pulens.a._hidden", "pulens.b.use"]}
    assert architecture.aliases_defined_outside(small, "pulens.types") == {"Floats": ["pulens.b.use"]}
    assert {str(each) for each in architecture.private_imports(small)} == {
        "pulens.b.use -> pulens.a._hidden",
        "pulens.b.use -> pulens.a.open._own",
    }
    assert architecture.without_all(small) == ["pulens.a"]
    assert architecture.functions(small)[0] == ("pulens.b.use", "twisted", 21)
    assert architecture.figures(small)["modules"] == 7
