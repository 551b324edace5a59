"""The script of the guide, run by a shell: who gets a mail, and with which exit code it ends."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "monitoring.md"
STAND_INS = {
    "pulens": 'test "$1" = tally || { echo "$SAID"; exit "$CODE"; }',
    "mail": 'echo "$2" >> mails.txt',
}


@pytest.mark.skipif(shutil.which("sh") is None, reason="the script is for a shell")
@pytest.mark.parametrize(
    ("code", "said", "mails"),
    [
        (0, "", ""),
        (0, "2026-05-04 CHANGING share since 2026-05-01", "2026-05-04 CHANGING share since 2026-05-01"),
        (3, "2026-05-04 ALARM share since 2026-05-01", "2026-05-04 ALARM share since 2026-05-01"),
        (2, "no such column", "the watch of"),
    ],
)
def test_a_mail_is_sent_where_something_changes_or_fails_and_a_quiet_day_ends_well(tmp_path, code, said, mails):
    script = re.search(r"^```sh\n(#!/bin/sh\n.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.S | re.M)
    assert script is not None
    (tmp_path / "days").mkdir()
    for name, body in STAND_INS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:/usr/local/bin:/usr/bin:/bin"
    ended = subprocess.run(
        ["sh", "-c", script[1].replace("/srv/pulse", str(tmp_path))],
        env={"PATH": path, "SAID": said, "CODE": str(code)},
        check=False,
    )
    sent = tmp_path / "mails.txt"
    assert (sent.read_text() if sent.exists() else "").startswith(mails)
    assert sent.exists() == bool(mails)
    assert ended.returncode == 0
