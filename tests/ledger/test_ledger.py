"""No number moved: the ledger counted anew is the ledger that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger import ledger


@pytest.mark.parametrize("name", ledger.NAMES)
def test_every_number_is_the_one_in_the_ledger(name):
    kept = [line for line in ledger.NUMBERS.read_text().splitlines() if line.split("/")[0] == name]
    result = ledger.differing(kept, ledger.counted([name]), closely=True)
    assert kept, f"numbers.txt has no line of {name}"
    assert not result, "\n".join(["python tests/ledger/ledger.py shows what moved:", *result[:20]])


def test_a_moved_number_is_named_with_its_distance():
    then = ["a/b: 0x1.0p+0 nan", "a/c: 0x1.0p+0", "a/d: refused, PulensError", "a/e: 0x1.0p+0"]
    now = ["a/b: 0x1.8p+0 nan", "a/c: 0x1.0p+0", "a/d: 0x1.0p+0", "a/f: 0x1.0p+0"]
    assert ledger.differing(then, now) == [
        "a/b: differs by up to 0.5",
        "a/d: was 'refused, PulensError', is '0x1.0p+0'",
        "a/e: is gone",
        "a/f: is new",
    ]
    assert ledger.differing(["a/b: 0x1.0p+0 nan"], ["a/b: 0x1.0000000000001p+0 nan"])
    assert not ledger.differing(["a/b: 0x1.0p+0 nan"], ["a/b: 0x1.0000000000001p+0 nan"], closely=True)


def test_numbers_of_another_name_stay_when_one_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ledger, "NUMBERS", tmp_path / "numbers.txt")
    monkeypatch.setattr(ledger, "counted", lambda names: [f"{name}/x: 0x1.0p+0" for name in names])
    ledger.main(["--write"])
    monkeypatch.setattr(ledger, "counted", lambda names: [f"{name}/x: 0x1.8p+0" for name in names])
    assert ledger.main(["--write", "gaps"]) == 1
    written = (tmp_path / "numbers.txt").read_text().splitlines()
    assert [line.split(": ")[1] == "0x1.8p+0" for line in written] == [name == "gaps" for name in ledger.NAMES]
    assert ledger.main(["gaps"]) == 0
