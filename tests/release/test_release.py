"""A release is a version, a changelog and workflows that agree with each other."""

from __future__ import annotations

import datetime
import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

from pulens import __version__

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
GATHER = ROOT / "changes" / "gather.py"


@pytest.fixture(scope="module")
def gather():
    return runpy.run_path(str(GATHER))


@pytest.fixture
def project(tmp_path):
    """A changelog with one version, and three changes that wait."""
    (tmp_path / "changes").mkdir()
    for name, text in {
        "12.b.feature.md": "Later.\n",
        "3.a.feature.md": "Sooner,\nin two lines.\n",
        "4.fix.md": "Mended.",
    }.items():
        (tmp_path / "changes" / name).write_text(text)
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n<!-- versions, newest first -->\n\n## 0.1.0 (2026-01-02)\n\nWords.\n\n### Added\n\n- Old.\n"
    )
    return tmp_path


def test_the_version_is_the_same_everywhere():
    newest = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == newest[1]
    assert cited["date-released"] == datetime.date.fromisoformat(newest[2])
    assert __version__ == newest[1] or ".dev" in __version__
    assert cited["repository-code"] == PROJECT["urls"]["Source"]
    assert cited["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(cited)  # what the format demands


def test_every_waiting_change_can_be_gathered(gather):
    for files in gather["fragments"](ROOT / "changes").values():
        for file in files:
            assert gather["entry"](file).removeprefix("- ").strip(), file.name


def test_changes_become_a_version_above_the_others(gather, project):
    gather["main"](["0.2.0", "--date", "2026-03-04"], project)
    assert (project / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n<!-- versions, newest first -->\n\n## 0.2.0 (2026-03-04)\n\n### Added\n\n"
        "- Sooner, in two lines.\n- Later.\n\n### Fixed\n\n- Mended.\n\n"
        "## 0.1.0 (2026-01-02)\n\nWords.\n\n### Added\n\n- Old.\n"
    )
    assert list((project / "changes").iterdir()) == []


def test_changes_that_come_late_are_added_to_their_version(gather, project):
    gather["main"](["0.1.0"], project)
    assert (project / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n<!-- versions, newest first -->\n\n## 0.1.0 (2026-01-02)\n\nWords.\n\n### Added\n\n- Old.\n"
        "- Sooner, in two lines.\n- Later.\n\n### Fixed\n\n- Mended.\n"
    )


@pytest.mark.parametrize(
    ("name", "version", "said"), [("x.md", "0.2.0", "changes/x.md is not named"), ("5.fix.md", "next", "no version")]
)
def test_what_cannot_be_gathered_is_named_and_nothing_is_lost(gather, project, name, version, said):
    (project / "changes" / name).write_text("A change.")
    before = (project / "CHANGELOG.md").read_text()
    with pytest.raises(SystemExit, match=said):
        gather["main"]([version], project)
    assert (project / "CHANGELOG.md").read_text() == before
    assert len(list((project / "changes").iterdir())) == 4


# --- workflows: nobody can run them here, so what can be known of them is checked ------------------------------------


def loaded(name: str) -> dict:
    return yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))


def steps(name: str) -> list[dict]:
    return [step for job in loaded(name)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", ["tests", "docs", "publish"])
def test_a_workflow_has_what_the_format_demands(name):
    flow = loaded(name)
    assert flow["name"] == name
    assert flow[True]  # "on", which YAML reads as a truth value
    assert flow["permissions"] == {"contents": "read"}, "more is asked for by the job that needs it"
    for title, job in flow["jobs"].items():
        assert job["runs-on"] == "ubuntu-latest"
        assert set(job.get("needs", "").split()) <= set(flow["jobs"])
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), title
            assert "@" in step.get("uses", "@")


@pytest.mark.parametrize("name", ["tests", "docs", "publish"])
def test_a_workflow_calls_what_is_there_and_needs_no_secret(name):
    text = WORKFLOWS[name].read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {word for step in steps(name) for word in re.findall(r"^make (\w+)", step.get("run", ""))} <= targets
    assert "secrets." not in text
    for path in re.findall(r"(?:src|constraints|docs)/[\w./]+\.(?:py|txt)|CHANGELOG\.md|CITATION\.cff", text):
        assert (ROOT / path).is_file(), path


def test_tests_run_on_every_python_that_is_promised():
    said = [line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert loaded("tests")["jobs"]["tests"]["strategy"]["matrix"]["python"] == said
    assert said == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={said[0]}"
    assert f"today {said[0]} to {said[-1]}" in (ROOT / "docs" / "project" / "versioning.md").read_text(encoding="utf-8")


def test_every_extra_is_installed_by_a_workflow():
    assert loaded("tests")["jobs"]["extras"]["strategy"]["matrix"]["extra"] == [
        "",
        *sorted(PROJECT["optional-dependencies"]),
    ]


@pytest.mark.parametrize(("name", "switch"), [("docs", "PUBLISH_SITE"), ("publish", "PUBLISH_PACKAGE")])
def test_nothing_is_published_before_the_owner_says_so(name, switch):
    job = loaded(name)["jobs"]["publish"]
    assert f"vars.{switch} == 'yes'" in job["if"]
    assert job["permissions"]["id-token"] == "write"
    assert f"`{switch}`" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_release_attaches_the_one_page():
    jobs = loaded("publish")["jobs"]
    written = [step["run"] for step in jobs["build"]["steps"] if 'pulens" page --out' in step.get("run", "")]
    assert len(written) == 1
    uploaded = {step["with"]["path"] for step in jobs["build"]["steps"] if "upload-artifact" in step.get("uses", "")}
    assert uploaded == {"dist/", "pulens.html"}
    attach = jobs["attach"]
    assert attach["needs"] == "build"
    assert attach["permissions"] == {"contents": "write"}
    assert "vars.PUBLISH_PACKAGE == 'yes'" in attach["if"]
    assert "dist/* pulens.html" in attach["steps"][-1]["run"]


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_forms_for_issues_can_be_read(form):
    told = yaml.safe_load(form.read_text(encoding="utf-8"))
    if form.stem == "config":
        assert all({"name", "url", "about"} == set(link) for link in told["contact_links"])
        return
    assert {"name", "description", "body"} <= set(told)
    assert len({field["id"] for field in told["body"]}) == len(told["body"])


def test_community_files_lead_somewhere():
    for page in (ROOT / ".github").glob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+?)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
