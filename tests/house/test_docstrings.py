"""Every function that a user calls says what it takes and returns, and shows it on a table."""

from __future__ import annotations

import inspect
import re

import pytest

import pulens
from pulens import calibration, sklearn

CALIBRATION = (
    *("brier_score", "calibration_in_the_large", "calibration_slope", "expected_calibration_error", "log_loss"),
    *("recalibrate", "reliability"),
)
PUBLIC = {
    **{name: one for name in pulens.__all__ if inspect.isfunction(one := getattr(pulens, name))},
    **{name: getattr(calibration, name) for name in CALIBRATION},
    "scorer": sklearn.scorer,
}
FORWARDED = ("options", "reading", "parameters")  # **named: typed where they arrive
OF_ANY_KIND = {
    "synthesise": ("X", "y", "positive", "evidence"),
    "read_audit": ("reviewer_errors",),
    "read_buckets": ("table",),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_function_has_the_sections_of_numpydoc_and_an_example_with_a_table(name):
    text = inspect.getdoc(PUBLIC[name])
    titles = re.findall(r"^(\w+)\n-{3,}$", text, re.MULTILINE)
    assert {"Parameters", "Returns", "Examples"} <= set(titles)
    assert titles == sorted(titles, key=("Parameters", "Returns", "Notes", "Examples").index)
    assert "DataFrame(" in text[text.index("Examples\n") :]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_function_says_what_it_takes(name):
    """A parameter typed ``Any`` tells neither an editor nor a reader what to give."""
    parameters = inspect.signature(PUBLIC[name]).parameters
    untyped = {one for one, facts in parameters.items() if facts.annotation in ("Any", inspect.Parameter.empty)}
    assert untyped <= {*FORWARDED, *OF_ANY_KIND.get(name, ())}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_described(name):
    described = re.findall(r"^(\w+(?:, \w+)*)$", inspect.getdoc(PUBLIC[name]), re.MULTILINE)
    names = {one.strip() for line in described for one in line.split(",")}
    missing = set(inspect.signature(PUBLIC[name]).parameters) - names - {"tell", "one_by_one"} - set(FORWARDED)
    assert not missing
