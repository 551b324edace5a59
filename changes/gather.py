"""Gather the sentences of this folder into CHANGELOG.md: ``make changelog VERSION=0.2.0``.

A file ``<number>.<topic>.<feature|fix|api>.md`` becomes one entry of its section, and is removed. If the changelog has
the version already and it is not tagged yet, entries are added to it.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = {"feature": "Added", "api": "Changed", "fix": "Fixed"}
NAME = re.compile(r"(\d+)\.(?:([\w-]+)\.)?(feature|api|fix)\.md")
VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
ABOVE = "<!-- versions, newest first -->\n"


def fragments(folder: Path) -> dict[str, list[Path]]:
    """The files of each section, in the order of their numbers; a file of another name is an error."""
    found: dict[str, list[tuple[int, str, Path]]] = {title: [] for title in SECTIONS.values()}
    for file in folder.glob("*.md"):
        named = NAME.fullmatch(file.name)
        if named is None:
            raise SystemExit(f"changes/{file.name} is not named <number>.<topic>.<{'|'.join(SECTIONS)}>.md: rename it")
        found[SECTIONS[named[3]]].append((int(named[1]), named[2] or "", file))
    return {title: [file for *_, file in sorted(files)] for title, files in found.items()}


def entry(file: Path) -> str:
    text = " ".join(file.read_text(encoding="utf-8").split())
    return textwrap.fill(
        text, 120, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def with_entries(changelog: str, version: str, date: str, entries: dict[str, list[str]]) -> str:
    """The changelog with these entries under this version."""
    heading = re.compile(rf"^## {re.escape(version)} \(.*\)\n", re.MULTILINE)
    if not heading.search(changelog):
        top, newest, rest = changelog.partition(ABOVE)
        if not newest:
            raise SystemExit(f"CHANGELOG.md has no line {ABOVE.strip()!r}, below which versions stand: put it back")
        changelog = f"{top}{newest}\n## {version} ({date})\n{rest}"
    begins = heading.search(changelog)
    assert begins
    following = re.search(r"^## ", changelog[begins.end() :], re.MULTILINE)
    ends = begins.end() + following.start() if following else len(changelog)
    body = changelog[begins.end() : ends].strip("\n")
    opening, *parts = re.split(r"^### (\w+)\n", body, flags=re.MULTILINE)
    known = dict(zip(parts[::2], (part.strip("\n") for part in parts[1::2]), strict=True))
    told = [opening.strip("\n")] if opening.strip() else []
    for title in [*SECTIONS.values(), *(title for title in known if title not in SECTIONS.values())]:
        lines = [*([known[title]] if title in known else []), *entries.get(title, [])]
        if lines:
            told.append(f"### {title}\n\n" + "\n".join(lines))
    return f"{changelog[: begins.end()]}\n" + "\n\n".join(told) + "\n" + ("\n" + changelog[ends:] if following else "")


def main(words: list[str] | None = None, root: Path = ROOT) -> None:
    parser = argparse.ArgumentParser(description="Gather changes/ into CHANGELOG.md.")
    parser.add_argument("version")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    asked = parser.parse_args(words)
    if not VERSION.fullmatch(asked.version):
        raise SystemExit(f"{asked.version!r} is no version to release: write one such as 0.2.0 or 0.2.0rc1")
    files = fragments(root / "changes")
    changelog = root / "CHANGELOG.md"
    entries = {title: [entry(file) for file in each] for title, each in files.items()}
    text = with_entries(changelog.read_text(encoding="utf-8"), asked.version, asked.date, entries)
    changelog.write_text(text, encoding="utf-8")
    for file in (file for each in files.values() for file in each):
        file.unlink()
    sys.stdout.write(f"{sum(map(len, entries.values()))} entries under {asked.version} in CHANGELOG.md\n")


if __name__ == "__main__":
    main()
