"""Files that are written: whole, through links, with the access that the old file had."""

from __future__ import annotations

import ast
import os
import stat
import tempfile
from pathlib import Path

import pytest

import pulens
from pulens.atomic_write import whole_file, whole_folder, write_whole, written_together
from pulens.cli import main
from pulens.errors import PulensError

SOURCE = Path(pulens.__file__).parent
TABLE = "score,label\n" + "".join(f"{i / 200},{int(i > 150 and i % 2)}\n" for i in range(200))
pytestmark = pytest.mark.skipif(os.name == "nt", reason="links, modes and owners as Unix has them")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def write_one(path):
    write_whole(path, "new")


def write_two(path):
    with written_together({path: b"new\n", f"{path}.second": b"2"}):
        pass


WRITERS = [write_one, write_two]


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_stays_and_the_file_that_it_leads_to_is_written(write, tmp_path):
    (tmp_path / "real").mkdir()
    target, link, far = tmp_path / "real" / "answer.json", tmp_path / "latest.json", tmp_path / "far.json"
    target.write_text("old")
    link.symlink_to(Path("real", "answer.json"))
    far.symlink_to(link)
    write(far)
    assert far.is_symlink()
    assert link.is_symlink()
    assert target.read_text() == "new\n"
    assert [entry.name for entry in target.parent.iterdir()] == ["answer.json"]


def test_a_link_that_leads_to_no_file_yet_gets_one_there(tmp_path):
    link = tmp_path / "latest.json"
    link.symlink_to("answer.json")
    write_whole(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "answer.json").read_text() == "new\n"


def test_a_folder_behind_a_link_is_replaced_where_it_lies(tmp_path):
    (tmp_path / "models" / "first").mkdir(parents=True)
    (tmp_path / "latest").symlink_to("models/first")
    with whole_folder(tmp_path / "latest") as made:
        (made / "weights").write_text("new")
    assert (tmp_path / "latest").is_symlink()
    assert (tmp_path / "models" / "first" / "weights").read_text() == "new"
    assert [entry.name for entry in (tmp_path / "models").iterdir()] == ["first"]


def test_links_that_lead_nowhere_are_refused_in_words(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "c").symlink_to("nowhere/c")
    for name, words in (("a", "cannot be written"), ("c", "No such file or directory")):
        with pytest.raises(PulensError, match=words):
            write_whole(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
    with pytest.raises(PulensError, match="cannot be written"), whole_folder(tmp_path / "a"):
        pass


def test_every_output_of_a_command_goes_through_links_and_keeps_its_mode(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text(TABLE)
    commands = {
        "evaluate": (("--json", "a.json"), ("--html", "a.html"), ("--markdown", "a.md")),
        "calibrate": (("--json", "c.json"), ("--html", "c.html"), ("--plot", "c.png"), ("--out", "c.csv")),
        "prior": (("--json", "p.json"), ("--plot", "p.png")),
        "tally": (("--out", "t.tally"),),
        "decide": (("--json", "d.json"), ("--html", "d.html")),
    }
    more = {
        "evaluate": ["--class-prior", "0.3", "-q"],
        "calibrate": ["--class-prior", "0.3", "-q", "--fit", "isotonic"],
        "decide": ["--class-prior", "0.3", "--recall-at-least", "0.5", "-q"],
    }
    for command, outputs in commands.items():
        for _, name in outputs:
            Path(f"real-{name}").write_text("old")
            Path(f"real-{name}").chmod(0o600)
            Path(name).symlink_to(f"real-{name}")
        main([command, "scores.csv", *more.get(command, []), *(word for output in outputs for word in output)])
        for option, name in outputs:
            assert Path(name).is_symlink(), (command, option)
            assert Path(f"real-{name}").read_bytes() != b"old", (command, option)
            assert mode_of(Path(f"real-{name}")) == 0o600, (command, option)


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_file_that_is_rewritten_keeps_its_mode(write, mode, tmp_path):
    path = tmp_path / "answer.json"
    path.write_text("old")
    path.chmod(mode)
    write(path)
    assert (path.read_text(), mode_of(path)) == ("new\n", mode)


def test_what_takes_a_private_files_place_is_private_while_it_is_written(tmp_path):
    path = tmp_path / "answer.json"
    path.write_text("old")
    path.chmod(0o600)
    with whole_file(path) as temporary:
        assert mode_of(temporary) == 0o600


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_new_files_and_folders_have_the_mode_of_the_umask(umask, tmp_path):
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "answer.json", "new")
        with whole_folder(tmp_path / "model") as made:
            (made / "a").write_text("new")
    finally:
        os.umask(before)
    modes = mode_of(tmp_path / "answer.json"), mode_of(tmp_path / "model"), mode_of(tmp_path / "model" / "a")
    assert modes == (0o666 & ~umask, 0o777 & ~umask, 0o666 & ~umask)


def test_a_folder_that_is_replaced_keeps_its_mode_and_those_of_its_files(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir(0o700)
    (folder / "weights").write_text("old")
    (folder / "weights").chmod(0o600)
    with whole_folder(folder) as made:
        (made / "weights").write_text("new")
    assert (mode_of(folder), mode_of(folder / "weights")) == (0o700, 0o600)
    assert (folder / "weights").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_are_kept(tmp_path):
    path = tmp_path / "answer.json"
    path.write_text("old")
    os.chown(path, 12_345, 12_346)
    path.chmod(0o640)
    write_whole(path, "new")
    result = path.stat()
    assert (result.st_uid, result.st_gid, mode_of(path)) == (12_345, 12_346, 0o640)


def as_somebody(work):
    """The exit code of what an ordinary user does in another process."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        os.setgroups([])
        os.setgid(12_345)
        os.setuid(12_345)
        code = work()
    finally:
        os._exit(code)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes somebody else")
def test_an_ordinary_user_shows_no_file_to_another_group_and_replaces_none_that_is_read_only():
    with tempfile.TemporaryDirectory() as name:  # the test's own folder is closed to others
        folder = Path(name)
        shared, guarded = folder / "shared.json", folder / "guarded.json"
        for path, owner, group, mode in ((shared, 12_345, 12_346, 0o660), (guarded, 0, 0, 0o644)):
            path.write_text("old")
            os.chown(path, owner, group)
            path.chmod(mode)
        os.chown(folder, 12_345, 12_345)

        def work():
            write_whole(shared, "new")
            try:
                write_whole(guarded, "new")
            except PulensError as error:
                return 0 if "Permission denied" in str(error) else 3
            return 2

        assert as_somebody(work) == 0
        assert (shared.read_text(), mode_of(shared), shared.stat().st_gid) == ("new\n", 0o600, 12_345)
        assert guarded.read_text() == "old"


WRITING = {"write_text", "write_bytes", "savefig", "to_csv", "to_parquet", "save_file"}
NO_OUTPUT = {
    "atomic_write.py": "the writer itself",
    "cli/_help.py": "text handed to click's formatter",
    "research/benchmark/processes.py": "a pipe",
    "research/benchmark/training.py": "a switch of the kernel",
    "inputs/engines/duckdb_files.py": "copies in a temporary folder, for DuckDB to read",
}


def written_past(source):
    """Calls that write to a path other than the temporary one that the writer gives."""
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        words = ast.get_source_segment(source, call) or ""
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        given = {arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}
        writes = name in WRITING and isinstance(call.func, ast.Attribute)
        writes |= name in ("open", "fdopen") and bool(given & {"w", "a", "x", "wb", "ab", "xb", "w+b", "r+b", "rb+"})
        if writes and "temporary" not in words and "whole_file(" not in words:
            yield words


def test_calls_that_write_past_the_writer_are_seen():
    past = ["path.write_text('a')", "open(path, 'w')", "path.open('wb')", "figure.savefig(path)"]
    assert [list(written_past(call)) for call in past] == [[call] for call in past]
    assert not list(
        written_past("temporary.write_text('a'); open(path); whole_file(path).open('w'); write_text('-', 'a')")
    )


def test_the_package_writes_files_through_one_writer_only():
    result = {}
    for path in sorted(SOURCE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        place = path.relative_to(SOURCE).as_posix()
        calls = list(written_past(source))
        if calls and place not in NO_OUTPUT:
            result[place] = calls
    assert result == {}
