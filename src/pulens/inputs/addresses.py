"""Addresses of databases: the file behind one, and what of one may be shown or stored."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

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
        raise InputError(f"{shown(shown_address(name))}: a name with a zero character in it, which no file can have.")
    if not is_address(name) and _NEARLY_AN_ADDRESS.match(name) and not os.path.lexists(name):
        raise InputError(
            f"{shown_address(name)}: no file has this name. If it is a database, its address has two slashes after the "
            "colon: postgresql://user@host/database."
        )
    parts = [name] if is_address(name) else name.split("/")
    longest = max(len(part.encode("utf-8", "replace")) for part in parts)
    if len(name.encode("utf-8", "replace")) >= LONGEST_PATH or (longest > LONGEST_NAME and not is_address(name)):
        raise InputError(f"{shown(shown_address(name))}: a name of {len(name):,} characters, which no file can have.")


def is_address(source: object) -> bool:
    """Whether this is written like ``scheme://...``.

    >>> is_address("postgresql://host/scores"), is_address("scores.csv")
    (True, False)
    """
    return isinstance(source, str) and "://" in source


def shown_address(source: str) -> str:
    """Scheme, host and database name: nothing else of an address may be shown or stored.

    Users, passwords and options (``?password=...``) are left out, and all but the scheme where an @ that was not
    encoded leaves open what is a password; what is no address is shown as it is.

    >>> shown_address("postgresql://reader:secret@host:5432/scores?password=secret&sslmode=require")
    'postgresql://host/scores'
    >>> shown_address("sqlite:///scores.sqlite?mode=ro"), shown_address("scores.csv")
    ('sqlite:///scores.sqlite', 'scores.csv')
    >>> shown_address("postgresql://me:p@secret@host/scores"), shown_address("postgresql:/me:secret@host/scores")
    ('postgresql://host/scores', 'postgresql://...')
    """
    if not is_address(source):
        mistyped = _NEARLY_AN_ADDRESS.match(source)
        return source if mistyped is None else f"{mistyped['scheme']}://..."
    scheme, _, rest = source.partition("://")
    place = _without_user(rest)
    if "@" in place and not rest.startswith("/"):
        before, _, place = place.rpartition("@")
        place = "..." if set("/?#") & set(before) else place
    host, slash, database = place.partition("?")[0].partition("#")[0].partition("/")
    return f"{scheme}://{host.partition(':')[0]}{slash}{database}"


# as SQLAlchemy reads them: a user without : and /, and a password that ends with the first @
_USER = re.compile(r"(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@")
_NEARLY_AN_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+]+)(:/?[^/]|//[^/@]*:).*@", re.DOTALL)


def _without_user(rest: str) -> str:
    """What follows user and password in an address without its scheme; a path from the root has neither."""
    result = None if rest.startswith("/") else _USER.match(rest)
    return rest if result is None else rest[result.end() :]


def check_encoded(source: str) -> None:
    """Refuse an address whose user or password holds an @ that was not encoded: the host would begin in the password.

    >>> check_encoded("postgresql://reader:p@secret@host/scores")
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: postgresql://host/scores: its user or password holds an @ that is not encoded. Write it
    as %40 (and / as %2F, ? as %3F, # as %23).
    """
    rest = source.partition("://")[2]
    place, _, options = _without_user(rest).partition("?")
    strange = "@" in options and not all("=" in option for option in options.split("&"))
    if not rest.startswith("/") and ("@" in place or strange):
        raise InputError(
            f"{shown_address(source)}: its user or password holds an @ that is not encoded. Write it as %40 (and / as "
            "%2F, ? as %3F, # as %23)."
        )


def without_secrets(words: str, source: str) -> str:
    """A message about an address, with its user, password and the values of its options taken out.

    >>> without_secrets("cannot reach host with key=abc", "postgresql://me@host/db?key=abc")
    'cannot reach host with key=***'
    """
    rest = source.partition("://")[2]
    place = _without_user(rest)
    if "@" in place and not rest.startswith("/"):
        return "what was said is not shown, since the address holds an @ that may belong to a password"
    result = None if rest == place else _USER.match(rest)
    secrets = [(result and result["password"]) or "", *(value for _, value in parse_qsl(place.partition("?")[2]))]
    for form in {form for secret in secrets for form in (secret, unquote(secret), quote(secret)) if form}:
        words = words.replace(form, "***")
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
    if file is not None and not os.path.isfile(file):
        raise InputError(
            f"{shown_address(source)}: there is no such file. Three slashes are followed by a path from here, four by "
            "one from the root."
        )


def is_sql(value: Any) -> bool:
    """Whether this is a SQLAlchemy engine or connection."""
    return type(value).__module__.startswith("sqlalchemy.") and type(value).__name__ in ("Engine", "Connection")
