"""A slimmed script does what it did before: what it means stays to the letter, and browsers can read it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from pulens.report.html import asset, scripts_for
from pulens.report.one_file import COMPUTING, SHOWING, WORKER
from pulens.report.slimming import slim_script, slim_styles

#: of a page that carries everything
REPORT = scripts_for(dict.fromkeys(("bounds", "reliability", "decision", "top", "curve"), True))
KEPT = (
    'tell("two  spaces // no comment")',
    'tell(\'it /* stays */ so\',"a \\" b  c")',
    "tell(`a  ${b ? `in  ${c + 1}  it` : '}  '}  // d`)",
    "tell(`line\n  and line`)",
    "found=text.replace(/[/'\" ]  +/g,x)",
    "half=(a)/2+b[0]/ +c",
    "return/  /.test(x)",
    "a\nb\n++c\n(d)",
    "if(a)b()\nelse\nc()",
    "x=a- -b-(-c)",
    "let y=/x/ in z",
)
SPACED = {
    'a();\nif (typeof module !== "undefined") module.exports = a;\n': "a();",  # of which browsers know nothing
    "a = b ; // why\n\n  c = d\n": "a=b;c=d",
    "f(\n  a,\n  b,\n)\n  .g()": "f(a,b,).g()",
    "const { a, ...b } = c;": "const{a,...b}=c;",
    "/* long\n why */ x": "x",
    "a /* b\n c */ d": "a\nd",  # a comment with an end of line is one
    "for (const x of [1, 2]) y(x);": "for(const x of[1,2])y(x);",
    "} // end\n\nasync function f() {}": "}\nasync function f(){}",
}


@pytest.mark.parametrize("script", KEPT)
def test_strings_templates_expressions_and_ends_of_statements_stay(script):
    assert slim_script(script) == script


@pytest.mark.parametrize("script", SPACED)
def test_comments_and_spaces_that_separate_nothing_go(script):
    assert slim_script(script) == SPACED[script]


def test_a_slim_script_cannot_be_slimmed_further():
    for name in {*REPORT, *COMPUTING, *SHOWING, WORKER}:
        slim = slim_script(asset(name))
        assert len(slim) < 0.95 * len(asset(name)), name
        assert slim_script(slim) == slim, name


def test_every_slimmed_script_is_still_one(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed; the browser tests run the same scripts")
    path = tmp_path / "all.js"
    names = sorted({*REPORT, *COMPUTING, *SHOWING, WORKER})
    path.write_text("\n".join(f"{{\n{slim_script(asset(name))}\n}}" for name in names), encoding="utf-8")
    done = subprocess.run([node, "--check", str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_texts_in_styles_stay():
    assert slim_styles('a::after {\n  content: attr(b) ": ";\n}\n\n.c { d: " ; " }') == (
        'a::after{content:attr(b) ": "}.c{d:" ; "}'
    )
