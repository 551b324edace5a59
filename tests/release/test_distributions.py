"""What is released installs, works by itself, and holds what its users need and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from pulens import __version__

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "pulens"


def files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


@pytest.mark.parametrize("kind", ["wheel", "source"])
def test_a_release_installs_and_works_away_from_the_checkout(distributions, kind, tmp_path):
    """Dependencies are those of this environment; ``tests/newcomer`` and CI bring their own."""
    place = tmp_path / "installed"
    words = ["--quiet", "--no-deps", "--no-compile", "--no-build-isolation", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *words, "--target", str(place), str(distributions[kind])]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = tmp_path / "scores.csv"
    table.write_text("score,label\n" + "\n".join(f"{i / 40},{int(i % 3 == 0 and i > 15)}" for i in range(40)) + "\n")
    program = (
        f"import sys; sys.path[:0] = [{str(place)!r}]; import pulens, pulens.cli; print(pulens.__file__);"
        f"pulens.cli.main(['evaluate', {str(table)!r}, '--class-prior', '0.5', '--html', 'page.html', '--quiet']);"
        "pulens.cli.main(['--version'])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    where, version = done.stdout.splitlines()
    assert Path(where).is_relative_to(place)
    assert version == f"pulens, version {__version__}"
    assert (tmp_path / "page.html").is_file()


def test_the_package_index_will_read_both(distributions):
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, distributions.values())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_wheel_holds_the_package_and_nothing_else(distributions):
    inside = files_of(distributions["wheel"])
    info = f"pulens-{__version__}.dist-info/"
    about = {info + name for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    listed = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*.py")}
    others = inside - about - listed
    assert inside >= about | listed
    sources = "\n".join(
        path.read_text(encoding="utf-8") for kind in ("*.py", "*.j2") for path in sorted(PACKAGE.rglob(kind))
    )
    stems = {name: Path(name).name.split(".")[0].removesuffix("_sample") for name in others}
    unused = [name for name, stem in stems.items() if not re.search(rf"\b{re.escape(stem)}\b", sources)]
    assert unused == [], "files that no code of the package names"
    assert {Path(name).suffix for name in others} <= {
        *(".css", ".html", ".j2", ".js"),  # pages
        *(".csv", ".gz", ".json", ".yaml"),  # the benchmark's protocols and results
        ".npz",  # some vectors of texts, to check those that are made anew
        ".typed",
    }
    assert distributions["wheel"].stat().st_size < 4e6


def test_the_source_distribution_holds_what_makes_the_wheel_and_its_tests(distributions, tmp_path):
    with tarfile.open(distributions["source"]) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
        tops = {name.partition("/")[0] for name in names}
    wanted = {"src", "tests", "docs", "examples", "benchmarks", "changes", "constraints", "Makefile", "pyproject.toml"}
    assert wanted | {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "PKG-INFO"} <= tops
    assert tops <= wanted | {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE"} | {
        "PKG-INFO",
        ".gitignore",
    }
    packed = {name.removeprefix("src/") for name in names if name.startswith("src/pulens/")}
    assert packed == {name for name in files_of(distributions["wheel"]) if name.startswith("pulens/")}
    assert not [name for name in names if "__pycache__" in name or "_build" in name]


def test_what_the_index_shows_leads_back_to_the_repository(distributions):
    with zipfile.ZipFile(distributions["wheel"]) as opened:
        shown = Parser().parsestr(opened.read(f"pulens-{__version__}.dist-info/METADATA").decode())
    addresses = dict(line.split(", ", 1) for line in shown.get_all("Project-URL"))
    assert {"Documentation", "Source", "Issues", "Changelog"} <= set(addresses)
    text = shown.get_payload()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    assert all(link.startswith("https://") for link in links), "a link that leads nowhere from the index's page"
    repository = f"{addresses['Source']}/blob/main/"
    for link in links:
        if link.startswith(repository):
            assert (ROOT / link.removeprefix(repository).partition("#")[0]).exists(), link
