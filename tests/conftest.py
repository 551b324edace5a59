"""What the suite runs, by tier and marker, and fixtures that several tests share.

``--tier test``, the default and what CI runs, asks every behaviour. ``--tier everything`` asks at full size: more
examples of every law, more sets of every simulated world, every learner, and tests marked ``everything``. ``--tier
quick`` takes one case of the first plain tests of every file, so that every package is asked something.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from what_changed import any_changed, changed_files

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = {"quick": 5, "test": 25, "everything": 200}  # that hypothesis makes of every law
QUICK_TESTS = 5  # of every file, in `make quick`
# folders whose tests are of one kind; other tests are laws where hypothesis makes their input, and else units
KINDS = {
    **dict.fromkeys(("ledger", "properties"), "law"),
    "coverage": "world",
    **dict.fromkeys(("browser", "engines", "fuzz", "newcomer", "release"), "heavy"),
}

# no deadlines: a busy machine is not a bug; derandomised, so that a run can be repeated
for _tier, _examples in EXAMPLES.items():
    settings.register_profile(
        _tier,
        deadline=None,
        derandomize=True,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=tuple(EXAMPLES), default="test", help="how much to run: CI runs 'test'")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile(config.getoption("tier"))


def kind_of(item: pytest.Item) -> str:
    """The marker of a test: law, world, heavy or unit."""
    path = item.path.relative_to(ROOT)
    if path.parts[0] == "tests" and path.parts[1] in KINDS:
        return KINDS[path.parts[1]]
    marked = next((kind for kind in ("law", "world", "heavy") if item.get_closest_marker(kind)), None)
    return marked or ("law" if getattr(getattr(item, "obj", None), "is_hypothesis_test", False) else "unit")


def one_per_family(items: list[pytest.Item]) -> set[pytest.Item]:
    """Of tests that are asked once per learner: the cases of the first learner of every family."""
    from pulens import learners

    facts = {learners.facts(name).learner: learners.facts(name) for name in learners.names()}
    by_name = {name: learners.facts(name).learner for name in learners.names()}
    first: dict[tuple[str, str], type] = {}
    kept = set()
    for item in items:
        for value in item.callspec.params.values():
            learner = by_name.get(value, value) if isinstance(value, str) else value
            learner = learner if isinstance(learner, type) else type(learner)
            if learner in facts:
                function = item.nodeid.partition("[")[0]
                if first.setdefault((function, facts[learner].family), learner) is learner:
                    kept.add(item)
    return kept


def waits(item: pytest.Item) -> bool:
    """Whether a test is left to ``make everything``: nothing is known to have changed in the paths that it guards."""
    marker = item.get_closest_marker("everything")
    if marker is None:
        return False
    guarded, changed = marker.kwargs.get("guards", ()), changed_files()
    return changed is None or not any(path.startswith(guarded) for path in changed)


def first_cases(items: list[pytest.Item]) -> set[pytest.Item]:
    """One case of the first plain tests of every file that take no second."""
    by_file: dict[Path, dict[str, pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("unit") and not item.get_closest_marker("slow"):
            first = by_file.setdefault(item.path, {})
            if len(first) < QUICK_TESTS:
                first.setdefault(item.nodeid.partition("[")[0], item)
    return {item for first in by_file.values() for item in first.values()}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(kind_of(item))
    tier = config.getoption("tier")
    if tier == "everything":
        return
    kept = [item for item in items if not waits(item)]
    per_learner = [item for item in kept if item.get_closest_marker("per_learner")]
    if per_learner and not any_changed("src/pulens/learning", "tests/learners", "tests/network_learners.py"):
        away = set(per_learner) - one_per_family(per_learner)
        kept = [item for item in kept if item not in away]
    if tier == "quick":
        chosen = first_cases(kept)
        kept = [item for item in kept if item in chosen]
    config.hook.pytest_deselected(items=sorted(set(items) - set(kept), key=items.index))
    items[:] = kept


@pytest.fixture(scope="session")
def everything(request: pytest.FixtureRequest) -> bool:
    """Whether simulated worlds have their full size."""
    return request.config.getoption("tier") == "everything"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reference data that lie beside some checkouts; nothing in the package needs them."""
    for place in (os.environ.get("PULENS_SHARED"), ROOT.parent / "shared", ROOT.parents[1] / "shared"):
        if place and Path(place).is_dir():
            return Path(place)
    pytest.skip("shared/ reference data is not beside this checkout")


@pytest.fixture(scope="session")
def reference_cases() -> dict[str, dict]:
    """Worked cases with exact answers, by id; reference-cases.md says what each is."""
    return {case["id"]: case for case in json.loads((ROOT / "tests" / "reference-cases.json").read_text())["cases"]}
