"""Special functions are scipy's own, loaded without the package that takes most of the time."""

from __future__ import annotations

import subprocess
import sys


def answer(program: str) -> str:
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    return said.stdout.strip()


def test_the_functions_are_those_that_the_package_shows_when_it_is_imported_later():
    program = (
        "import sys; from pulens.special import betaincinv, ndtri; assert 'scipy.special' not in sys.modules\n"
        "import scipy.special, scipy.stats\n"
        "print(scipy.special.ndtri is ndtri, scipy.special.betaincinv is betaincinv, scipy.stats.norm.ppf(0.5))"
    )
    assert answer(program) == "True True 0.0"


def test_the_functions_are_those_of_a_package_that_is_there_already():
    program = "import scipy.special; from pulens.special import ndtri, logsumexp; print(scipy.special.ndtri is ndtri)"
    assert answer(program) == "True"


def test_a_command_on_a_csv_file_imports_no_package_that_it_does_not_need(tmp_path):
    rows = "".join(f"{k % 97 / 97},{int(k % 5 == 0)}\n" for k in range(300))
    (tmp_path / "scores.csv").write_text(f"score,label\n{rows}")
    program = (
        "import sys; from pulens.cli import main\n"
        f"main(['evaluate', {str(tmp_path / 'scores.csv')!r}, '--class-prior', '0.3'])\n"
        "heavy = ('scipy.special', 'scipy.stats', 'numpy.ma', 'rich', 'importlib.metadata', 'pandas', 'pyarrow')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert answer(program).splitlines()[-1] == "[]"
