"""Addresses of databases: the file behind one, and what of one may be shown or stored."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from pulens.errors import InputError, shown

LONGEST_PATH, LONGEST_NAME = 4096, 255  # bytes, as on Linux


def check_name(name: str) -> None:
    """Refuse a name that no file or database can have, before anything asks the system about it.

    >>> check_name("a" * 5000)
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: 'aaaa...aaa': a name of 5,000 characters, which no file can have.
    """
    if "\0" in name:
        raise InputError(f"{shown(name)}: a name with a zero character in it, which no file can have.")
    parts = [name] if is_address(name) else name.split("/")
    longest = max(len(os.fsencode(part)) for part in parts)
    if len(os.fsencode(name)) >= LONGEST_PATH or (longest > LONGEST_NAME and not is_address(name)):
        raise InputError(f"{shown(name)}: a name of {len(name):,} characters, which no file can have.")


def is_address(source: object) -> bool:
    """Whether this is written like ``scheme://...``.

    >>> is_address("postgresql://host/scores"), is_address("scores.csv")
    (True, False)
    """
    return isinstance(source, str) and "://" in source


def shown_address(source: str) -> str:
    """Scheme, host and database name: nothing else of an address may be shown or stored.

    Users, passwords and options (``?password=...``) are left out; what is no address is shown as it is.

    >>> shown_address("postgresql://reader:secret@host:5432/scores?password=secret&sslmode=require")
    'postgresql://host/scores'
    >>> shown_address("sqlite:///scores.sqlite?mode=ro"), shown_address("scores.csv")
    ('sqlite:///scores.sqlite', 'scores.csv')
    """
    if not is_address(source):
        return source
    scheme, _, rest = source.partition("://")
    place = rest.partition("?")[0].partition("#")[0]
    host, slash, database = place.rpartition("@")[2].partition("/")
    return f"{scheme}://{host.partition(':')[0]}{slash}{database}"


def without_secrets(words: str, source: str) -> str:
    """A message about an address, with its user, password and the values of its options taken out.

    >>> without_secrets("cannot reach host with key=abc", "postgresql://me@host/db?key=abc")
    'cannot reach host with key=***'
    """
    try:
        parts = urlsplit(source)
        secrets = [parts.password, *(value for _, value in parse_qsl(parts.query))]
    except ValueError:  # not an address that anybody could read
        return words
    for secret in secrets:
        for form in {secret, unquote(secret or "")} - {None, ""}:
            words = words.replace(str(form), "***")
    return words


def database_file(source: str) -> Path | None:
    """The file behind ``duckdb:///x.db`` or ``sqlite:///x.sqlite``; ``None`` for other addresses.

    >>> database_file("duckdb:///scores.db"), database_file("sqlite:////data/x.sqlite"), database_file("mysql://h/x")
    (PosixPath('scores.db'), PosixPath('/data/x.sqlite'), None)
    """
    scheme, _, rest = source.partition("://")
    kind = scheme.partition("+")[0]
    name = rest.partition("?")[0].removeprefix("/")
    if kind not in ("duckdb", "sqlite") or not rest.startswith("/") or name in ("", ":memory:"):
        return None
    return Path(name)


def check_database_file(source: str) -> None:
    """Refuse a database file that is not there: opening it would create an empty one."""
    file = database_file(source)
    if file is not None and not file.is_file():
        raise InputError(
            f"{shown_address(source)}: there is no such file. Three slashes are followed by a path from here, four by "
            "one from the root."
        )
