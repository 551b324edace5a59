"""The pages tell the truth: their Python runs, their commands work, their links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

from command_lines import known_options, understood
from pulens.cli import COMMANDS, main
from pulens.evidence.combinations import table_lines

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from moved import MOVED  # noqa: E402

PAGES = sorted([ROOT / "README.md", *(page for page in ROOT.glob("docs/**/*.md") if "_build" not in page.parts)])


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """Blocks in a language; a command over several lines is one."""
    result = re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [re.sub(r" \\\n\s*", " ", block) for block in result] if language == "console" else result


WEEK = ROOT / "docs" / "guides" / "claims_desk.md"  # whose commands and Python depend on each other: a test of its own
BY_THEMSELVES = [page for page in PAGES if page != WEEK]


@pytest.mark.parametrize("page", BY_THEMSELVES, ids=name_of)
def test_python_on_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_example_files(tmp_path)
    namespace: dict = {}
    for source in blocks(page, "python"):
        exec(compile(source, str(page), "exec"), namespace)


WITH_ANSWERS = [page for page in PAGES if blocks(page, "pycon")]


@pytest.mark.parametrize("page", WITH_ANSWERS, ids=name_of)
def test_what_python_answers_on_the_page_is_what_it_answers(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_example_files(tmp_path)
    session = "\n".join(blocks(page, "pycon"))
    result = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(session, {}, name_of(page), str(page), 0))
    assert result.attempted > 5
    assert result.failed == 0  # what differs is printed


@pytest.mark.parametrize("page", BY_THEMSELVES, ids=name_of)
def test_commands_on_the_page_work(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_example_files(tmp_path)
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if line.startswith("$ pulens "):
                words = shlex.split(line.removeprefix("$ pulens "), comments=True)
                main(words)
                shown = capsys.readouterr().out
                assert shown
                if words[:2] == ["audit", "plan"]:
                    answer(Path(words[words.index("--out") + 1]))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=name_of)
def test_commands_that_take_hours_are_understood(page, tmp_path, monkeypatch, capsys):
    """Studies on a GPU, a cluster, a month of days: read with their options and values, and not done."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "mine.py").write_text("")
    for block in blocks(page, "sh"):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            words = shlex.split(line, comments=True)
            if "pulens" in words and "install" not in words:
                mine = words[words.index("pulens") + 1 :]
                end = next((place for place, word in enumerate(mine) if word in (">", "||", "|", "2>&1")), len(mine))
                understood(mine[:end])
            elif words[:1] == ["python"]:
                assert (ROOT / words[1]).is_file(), words[1]
            elif words[:1] == ["make"]:  # workflows and .ci/run do these in a fresh clone
                assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), words[1]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_named_in_a_sentence_have_the_options_that_it_names(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for span in re.findall(r"`pulens ([a-z][^`]*)`", text):
        said = span.replace("\n", " ").split()
        if said[0] in COMMANDS:
            named = {word.partition("=")[0] for word in said if word.startswith("--")}
            assert named <= known_options(said), f"pulens {span}"
        else:
            assert said[0] in ("command", "completion"), f"pulens {span}: no such command"


def answer(queue: Path) -> None:
    """Fill in a queue of rows to check, as its reader would before the next command."""
    import csv

    with queue.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with queue.open("w", newline="", encoding="utf-8") as file:
        written = csv.DictWriter(file, rows[0])
        written.writeheader()
        written.writerows(row | {"answer": "no" if place % 3 else "yes"} for place, row in enumerate(rows))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_to_files_lead_somewhere(page):
    """To a file; from outside the docs also to a page that has moved, which the site redirects."""
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        old = target.removeprefix("docs/").removesuffix(".md")
        has_moved = page.parent == ROOT and MOVED.get(old, "")
        result = ROOT / "docs" / f"{has_moved.partition('#')[0]}.md" if has_moved else page.parent / target
        assert result.exists(), target


def test_a_week_at_a_claims_desk_runs_from_monday_to_friday(tmp_path, monkeypatch, capsys):
    """Commands and Python in the order of the page, in one folder; what it quotes is what it prints."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    printed = []
    for kind, body in re.findall(r"^```(python|console)\n(.*?)^```$", WEEK.read_text(encoding="utf-8"), re.S | re.M):
        if kind == "python":
            exec(compile(body, str(WEEK), "exec"), names)
            printed.append(capsys.readouterr().out)
            continue
        for line in re.sub(r" \\\n\s*", " ", body).splitlines():
            words = shlex.split(line.removeprefix("$ pulens "))
            with pytest.raises(SystemExit) if words[0] == "watch" else contextlib.nullcontext() as left:
                main(words)
            assert capsys.readouterr().out
            assert words[0] != "watch" or left.value.code == 3  # Friday's alarm
    assert blocks(WEEK, "text")[0] in printed
    assert all((tmp_path / f"{name}.html").exists() for name in ("monday", "wednesday", "friday"))


class StandIn(ModuleType):
    """A tool that is not installed: what it was asked to do, and no more."""

    def __init__(self, name: str):
        super().__init__(name)
        self.asked: dict[str, tuple] = {}

    def start_run(self, **_):
        return contextlib.nullcontext()

    def dag(self, **schedule):
        self.asked["dag"] = (schedule,)
        return lambda function: function

    def task(self, function):
        return lambda: self.asked.__setitem__("task", (function(),))

    def __getattr__(self, name: str):
        return lambda *words: self.asked.__setitem__(name, words)


def test_recipes_run_as_far_as_they_can_without_the_tools(tmp_path, monkeypatch, capsys):
    """The DAG and the MLflow calls against stand-ins, the load and the dbt test in DuckDB."""
    duckdb, jinja2 = pytest.importorskip("duckdb"), pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    write_example_files(tmp_path)
    airflow, mlflow = StandIn("airflow"), StandIn("mlflow")
    for name, module in {"airflow": airflow, "airflow.sdk": airflow, "mlflow": mlflow}.items():
        monkeypatch.setitem(sys.modules, name, module)
    names: dict = {}
    page = ROOT / "docs" / "guides" / "recipes.md"
    for kind, body in re.findall(r"^```(python|py|console)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M):
        if kind == "console":
            main(shlex.split(re.sub(r" \\\n\s*", " ", body).removeprefix("$ pulens ")))
        else:
            exec(compile(body, str(page), "exec"), names)
    assert airflow.asked["dag"][0]["schedule"] == "15 6 * * *"
    assert airflow.asked["task"][0].startswith("2026-04-")  # the line for the log, of the last day
    (metrics,) = mlflow.asked["log_metrics"]
    assert metrics["recall_low"] < metrics["recall"] < metrics["recall_high"]
    assert mlflow.asked["log_artifact"] == ("report.html",)
    assert mlflow.asked["log_dict"] == (names["evaluation"].to_dict(), "evaluation.json")
    query = jinja2.Template(blocks(page, "jinja")[0]).render(source=lambda _, table: table)
    with duckdb.connect("warehouse.db") as warehouse:
        assert warehouse.execute(query).fetchall() == []  # quiet: the dbt test passes
        warehouse.execute("insert into model_pulse values (current_timestamp + interval 1 day, 'alarm', 'more')")
        assert warehouse.execute(query).fetchall() == [("more",)]  # it fails, with the verdict


WORST_PHRASES = (
    "speak of",
    "speaks of",
    "so many",
    "told apart",
    "hang on",
    "hangs on",
    "taken for granted",
    "beside it",
    "paper 00",
    "in truth",
)
DOCS = [page for page in PAGES if "docs" in page.relative_to(ROOT).parts]


@pytest.mark.parametrize("page", [page for page in DOCS if page.name != "style.md"], ids=name_of)
def test_pages_are_free_of_phrases_that_no_native_speaker_writes(page):
    """What it prints or quotes in a fence is another matter: docs/project/style.md says what to write instead."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = text.replace("\n".join(table_lines()), "")  # the package's own words
    words = " ".join(text.lower().split())
    assert [phrase for phrase in WORST_PHRASES if phrase in words] == []


def test_the_docs_stay_short():
    """60,000 words at most; what a script or the command line writes does not count."""
    made = {"departures.md"}
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in DOCS if page.name not in made) <= 60_000


def write_example_files(folder: Path) -> None:
    """The files that pages name: scores.csv with its label codings, sites.csv with segments, visits.csv with patients,
    days.csv with days, customers.csv with features."""
    import numpy as np

    rng = np.random.default_rng(0)
    positive = rng.random(3000) < 0.15
    scores = 1 / (1 + np.exp(-rng.normal(positive * 2.0 - 1.5)))
    other = 1 / (1 + np.exp(-rng.normal(positive * 1.5 - 1.5)))
    labelled = positive & (rng.random(3000) < 0.4)
    rows = zip(scores, other, labelled, strict=True)
    lines = [f"{s:.6f},{int(y)},{s:.6f},{o:.6f},{'confirmed' if y else ''}" for s, o, y in rows]
    header = "score,label,model_a,model_b,status"
    (folder / "scores.csv").write_text("\n".join([header, *lines]) + "\n")
    sites = [f"{line},{site}" for line, site in zip(lines, rng.choice(["north", "south"], 3000), strict=True)]
    (folder / "sites.csv").write_text("\n".join([f"{header},site", *sites]) + "\n")
    patient = np.repeat(np.arange(120), 6)
    ill = rng.random(720) < 0.3
    own = rng.normal(0, 0.8, 120)[patient] + rng.normal(1.8 * ill - 1)
    visits = zip(patient, ill & (rng.random(720) < 0.5), own, own + rng.normal(size=720), strict=True)
    rows_of_patients = [
        f"p{p},{int(y)},{1 / (1 + np.exp(-s)):.6f},{1 / (1 + np.exp(-o)):.6f},{'east' if p % 2 else 'west'}"
        for p, y, s, o in visits
    ]
    (folder / "visits.csv").write_text("\n".join(["patient,label,score,other,ward", *rows_of_patients]) + "\n")
    days = [
        f"{line},2026-{3 + place // 31:02d}-{place % 31 + 1:02d}"
        for place, line in zip(days_of(40), lines, strict=True)
    ]
    write_customers(folder / "customers.csv", rng)
    (folder / "days.csv").write_text("\n".join([f"{header},day", *days]) + "\n")


def write_customers(path: Path, rng) -> None:
    """A table of features: an id, numbers with gaps, words, dates, and who is confirmed."""
    lines = ["customer_id,age,plan,since,status"]
    for number in range(300):
        leaving = rng.random() < 0.3
        age = "" if rng.random() < 0.1 else f"{rng.normal(45 - 9 * leaving, 8):.0f}"
        plan = "monthly" if leaving and rng.random() < 0.6 else rng.choice(["monthly", "yearly"])
        status = "confirmed" if leaving and rng.random() < 0.6 else ""
        lines.append(f"C{number},{age},{plan},20{rng.integers(10, 26)}-03-1{rng.integers(10)},{status}")
    path.write_text("\n".join(lines) + "\n")


def days_of(count: int) -> list[int]:
    """Which day each of the example's 3,000 rows belongs to."""
    return [place * count // 3000 for place in range(3000)]


def test_the_first_screen_of_the_readme_is_what_the_demo_prints(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    main(["demo"])
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    shown = blocks(ROOT / "README.md", "text")[0].rstrip("\n").splitlines()
    place = printed.index(shown[0])
    assert printed[place : place + len(shown)] == shown


def test_what_the_start_page_quotes_is_what_its_command_prints(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    page = ROOT / "docs" / "start.md"
    exec(compile(blocks(page, "python")[0], str(page), "exec"), {})
    assert capsys.readouterr().out == "true precision 0.644, true recall 0.727\n"  # as the page says further down
    command = next(line for block in blocks(page, "console") for line in block.splitlines() if "evaluate" in line)
    main(shlex.split(command.removeprefix("$ pulens ")))
    printed = capsys.readouterr().out.splitlines()
    for shown in blocks(page, "text")[0].splitlines():
        assert any(line.startswith(shown) for line in printed), shown


def test_the_line_for_a_log_is_that_of_the_watch_on_the_same_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "guides" / "monitoring.md"
    watched, _, _ = blocks(page, "python")[0].partition("found.to_html")
    said: dict = {}
    exec(compile(watched, str(page), "exec"), said)
    assert str(said["found"]).splitlines()[-1] == blocks(page, "text")[0].strip()


def test_what_the_page_on_segments_quotes_is_what_it_prints(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "guides" / "groups.md"
    exec(compile(blocks(page, "python")[0], str(page), "exec"), {})
    assert capsys.readouterr().out.startswith(blocks(page, "text")[0])


def test_what_the_page_says_of_gaps_is_what_it_prints(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "guides" / "groups.md"
    exec(compile(blocks(page, "python")[1], str(page), "exec"), {})
    assert capsys.readouterr().out == blocks(page, "text")[1]
    assert (tmp_path / "gaps.html").exists()
