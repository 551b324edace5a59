"""Killed or interrupted wherever something is written: what stands there is the old or the new, and whole.

Every operation on files that Python does in a watched folder is a point: opening to write, forcing to disk, moving,
removing, making folders. A command is run in a child again and again, and ended before its first, second, ... point.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training networks needs PyTorch: pip install 'pulens[torch]'")

from pulens.cli import main
from torch_threads import one_thread  # noqa: F401

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="these tests end processes that they fork"),
]

WRITES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "tempfile.mkstemp", "tempfile.mkdtemp"}
KILLED, FINISHED = 9, 0


def inside(argument: object, folder: str) -> bool:
    return isinstance(argument, str | bytes | os.PathLike) and os.path.abspath(os.fsdecode(argument)).startswith(folder)


def ended_at(point: int, how: str, words: list[str], folder: Path) -> int:
    """Run a command in a child that ends before its nth point; its exit code (``KILLED``: it was killed there)."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code, reached, sync = 70, [0], os.fsync

    def count() -> None:
        reached[0] += 1
        if reached[0] == point:
            if how == "kill":
                os._exit(KILLED)
            raise KeyboardInterrupt

    def listen(event: str, arguments: tuple) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if (writes or event in WRITES) and inside(arguments[0], str(folder)):
            count()

    def synced(file: int) -> None:
        count()
        sync(file)

    try:
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
        os.fsync = synced
        sys.addaudithook(listen)
        main(words)
        code = FINISHED
    except SystemExit as end:
        code = end.code or FINISHED
    finally:
        os._exit(code)


def contents(place: Path) -> dict[str, bytes] | None:
    if place.is_file():
        return {"": place.read_bytes()}
    if not place.exists():
        return None
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def rows(seed: int) -> str:
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [60, 140])
    scores = rng.normal(size=200) + 2 * (np.arange(200) < 100)
    return "score,other,label\n" + "".join(
        f"{a:.6f},{b:.6f},{label}\n" for a, b, label in zip(scores, rng.normal(size=200), labels, strict=True)
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("old.csv", 1), ("new.csv", 2)):
        (tmp_path / name).write_text(rows(seed))
    (tmp_path / "out").mkdir()
    return tmp_path


TRAIN = ["--class-prior", "0.3", "--scenario", "case-control"]
NETWORK = ["--backbone", "linear", "--set", "epochs=2", "--set", "progress=false", "--device", "cpu"]
JUDGE = ["--class-prior", "0.3", "--scenario", "case-control", "--redraws", "100", "--quiet"]
COMMANDS = {
    "tally": (["tally", "FILE", "-o", "out/a.tally"], "a.tally", 5),
    "train a network": (["train", "FILE", "--method", "nnpu", "--out", "out/m", *TRAIN, *NETWORK], "m", 10),
    "train trees": (
        ["train", "FILE", "--method", "puet", "--set", "n_estimators=2", "--out", "out/m", *TRAIN],
        "m",
        10,
    ),
    "train a wrapper": (["train", "FILE", "--method", "elkan_noto", "--out", "out/m", *TRAIN], "m", 10),
    "fit": (
        ["fit", "FILE", "--method", "elkan_noto", "--folds", "2", "--out", "out/m", *JUDGE],
        "m",
        10,
    ),
    "evaluate": (["evaluate", "--labelling", "random", "FILE", "--html", "out/a.html", *JUDGE], "a.html", 6),
    "evaluate to JSON": (["evaluate", "--labelling", "random", "FILE", "--json", "out/a.json", *JUDGE], "a.json", 6),
}


@pytest.mark.filterwarnings("ignore::pulens.errors.CollapseWarning")
@pytest.mark.parametrize("how", ["kill", "interrupt"])
@pytest.mark.parametrize("command", COMMANDS)
def test_ended_at_any_point_a_command_leaves_the_old_or_the_new_whole(command, how, here):
    words, name, fewest = COMMANDS[command]
    out = here / "out"

    def run(file: str) -> dict[str, bytes] | None:
        main([file if word == "FILE" else word for word in words])
        return contents(out / name)

    run("new.csv")
    new = contents(out / name)
    assert run("new.csv") == new  # the same bytes again: what is whole can be told from what is not
    old = run("old.csv")
    assert old != new
    result, point = set(), 0
    while True:
        point += 1
        code = ended_at(point, how, ["new.csv" if word == "FILE" else word for word in words], out)
        now = contents(out / name)
        assert now in (old, new), f"neither the old nor the new after {point} points"
        result.add(now == new)
        if how == "interrupt":
            assert hidden(out) == []
        assert [path.name for path in out.iterdir() if not path.name.startswith(".")] == [name]
        if code == FINISHED:
            break
        assert code == (KILLED if how == "kill" else 130)
        assert run("old.csv") == old  # what was left over does not disturb the next run
    assert now == new
    assert point - 1 >= fewest


@pytest.mark.parametrize("how", ["kill", "interrupt"])
def test_leftovers_of_a_killed_command_are_not_read_as_data(how, here):
    (here / "days").mkdir()
    for day in "ab":
        (here / "days" / f"{day}.csv").write_text(rows(ord(day)))
    main(["evaluate", "--labelling", "random", "days", "--json", "whole.json", *JUDGE])
    for point in range(1, 9):
        ended_at(point, how, ["tally", "old.csv", "-o", "days/c.tally"], here / "days")
        (here / "days" / "c.tally").unlink(missing_ok=True)
    main(["evaluate", "--labelling", "random", "days", "--json", "again.json", *JUDGE])
    assert (here / "again.json").read_bytes() == (here / "whole.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "interrupt"])
def test_ended_at_any_point_a_benchmark_goes_on_to_the_same_archive(how, here):
    pytest.importorskip("pyarrow", reason="the archive is Parquet: pip install 'pulens[bench]'")
    from pulens.research.benchmark.archive import differences, read

    words = ["bench", "run", "smoke", "--methods", "elkan_noto", "--seeds", "1", "--device", "cpu", "--archive"]
    main([*words, str(here / "whole")])
    whole, point, archive = read(here / "whole"), 0, here / "archive"
    assert len(whole.done) == 2
    while True:
        point += 1
        code = ended_at(point, how, [*words, str(archive)], archive)
        if archive.exists() and (archive / "archive.json").exists():
            assert read(archive).damaged == {}  # what is there is whole, however little
        main([*words, str(archive)])
        assert differences(whole, read(archive)) == []
        assert hidden(archive / "runs") == []
        if code == FINISHED:
            break
        assert code == (KILLED if how == "kill" else 130)
        shutil.rmtree(archive)
    assert point - 1 >= 25


def test_a_folder_that_cannot_be_exchanged_is_replaced_in_two_steps(tmp_path, monkeypatch):
    from pulens import atomic_write

    def write(words: str) -> None:
        with atomic_write.whole_folder(tmp_path / "model") as made:
            (made / "a.txt").write_text(words)

    monkeypatch.setattr(atomic_write, "_exchange", lambda one, other: False)
    write("old")
    write("new")
    assert contents(tmp_path) == {"model/a.txt": b"new"}
    real = Path.replace
    for failing in (1, 2):  # the step that is interrupted
        steps = iter(range(1, 9))

        def interrupted(self, target, steps=steps, failing=failing):
            if next(steps) == failing:
                raise KeyboardInterrupt
            return real(self, target)

        monkeypatch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write("newer")
        monkeypatch.setattr(Path, "replace", real)
        assert contents(tmp_path) == {"model/a.txt": b"new"}
        assert hidden(tmp_path) == []


@pytest.mark.parametrize("method", ["nnpu", "puet", "elkan_noto"])
def test_a_full_disk_in_training_is_a_sentence_and_the_old_model_stays(method, here, capsys):
    resource = pytest.importorskip("resource", reason="a limit on files stands in for a full disk")
    words = ["train", "old.csv", "--method", method, "--out", "out/m", *TRAIN]
    words += NETWORK if method == "nnpu" else []
    main(words)
    old = contents(here / "out")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    capsys.readouterr()
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # not even one of its files fits
    try:
        with pytest.raises(SystemExit) as end:
            main(words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert end.value.code == 2
    told = capsys.readouterr().err
    assert "out/m" in told
    assert "cannot be" in told
    assert "Traceback" not in told
    assert contents(here / "out") == old
    assert hidden(here / "out") == []
