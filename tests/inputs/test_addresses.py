"""Addresses of databases: nothing that may be a password is ever said."""

from __future__ import annotations

import pytest

import pulens
from pulens.errors import PulensError
from pulens.inputs.addresses import shown_address, without_secrets

SECRET = "s3cret"
ADDRESSES = [
    f"postgresql+psycopg://me:p@{SECRET}pw@host.invalid/db",
    f"postgresql+psycopg://me:p/{SECRET}@host.invalid/db",
    f"postgresql+psycopg://me:p?{SECRET}@host.invalid/db",
    f"postgresql+psycopg://me:p#{SECRET}@host.invalid/db",
    f"postgresql+psycopg://me:x@p?{SECRET}@host.invalid/db",
    f"postgresql+psycopg://me:{SECRET}@host.invalid/db?sslpassword={SECRET}",
    f"postgresql:/me:{SECRET}@host/db",
    f"postgresql:me:{SECRET}@host/db",
    f"postgres//me:{SECRET}@host/db",
    f"duckdb://me:{SECRET}@host/db",
    f"nosuch://me:{SECRET}@host/db",
    f"postgresql://me:{SECRET}@host:port/db",
    f"postgresql://me:{SECRET}@host/db\0",
    f"postgresql://me:{SECRET}@host/{'a' * 5000}",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "read",
    [
        lambda address: pulens.evaluate(address, table="t", class_prior=0.3, labelling="random"),
        pulens.inputs.read_sample,
        lambda address: pulens.fit(address, label="y"),
        lambda address: pulens.read_reviews(address, reviewed_above=0.5),
    ],
)
def test_no_message_shows_a_password(address, read):
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    with pytest.raises(PulensError) as caught:
        read(address)
    assert SECRET not in str(caught.value)
    assert SECRET not in shown_address(address)


def test_an_at_sign_in_a_password_is_told_how_to_be_written():
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    with pytest.raises(PulensError, match=r"postgresql://host/db: its user or password holds an @ .* %40"):
        pulens.evaluate(f"postgresql://me:p@{SECRET}@host/db", table="t", labelling="random")


def test_what_a_driver_says_is_shown_without_secrets():
    said = f"no {SECRET} nor p/w%40 at host"
    assert without_secrets(said, f"postgresql://me:p%2Fw%2540@host/db?key={SECRET}") == "no *** nor *** at host"
    assert SECRET not in without_secrets(said, f"postgresql://me:p@{SECRET}@host/db")
    assert shown_address("sqlite:///of@home.sqlite?mode=ro") == "sqlite:///of@home.sqlite"
