"""Whatever is fed to the command line, or to the functions of Python, is answered rightly or refused in one sentence.

``PULENS_FUZZ_SECONDS`` says for how long (20 in ``make test``, 60 in ``make everything``, 600 in ``make fuzz``), a
third of it from Python; ``PULENS_FUZZ_SEED`` where the numbers of the calls begin. A failure names its number: with it
as the seed, and 0 seconds, the call is repeated. ``campaign.py`` and ``python_side.py`` make any number of calls over
many processes.
"""

from __future__ import annotations

import os
import sys
import time

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("skops")
pytest.importorskip("safetensors")
from campaign import Summary, one_call
from python_side import one_python_call

SECONDS = os.environ.get("PULENS_FUZZ_SECONDS")
SEED = int(os.environ.get("PULENS_FUZZ_SEED", "0"))
SHOWN = 8  # failures told in full
MOST_CALLS = {"command line": 10**9, "Python": 10**9 if SECONDS else 2000}  # by default the same on any machine
SIDES = {"command line": (one_call, 2 / 3), "Python": (one_python_call, 1 / 3)}  # and their shares of the time


@pytest.mark.parametrize("side", SIDES)
def test_hostile_calls_are_answered_or_refused(side, tmp_path, everything):
    make, share = SIDES[side]
    seconds = float(SECONDS or (60 if everything else 20))
    summary = Summary(SEED)
    until, number = time.monotonic() + share * seconds, SEED
    while number == SEED or (time.monotonic() < until and number - SEED < MOST_CALLS[side]):
        summary.add(make(number, tmp_path / str(number)))
        number += 1
    sys.stdout.write(f"\n{summary.calls:,} calls from {SEED}: {dict(summary.ends)}\n")
    # one of each kind: the same mistake would fill the page
    kinds = {result.detail.strip().rpartition("\n")[2]: result for result in summary.failures}
    told = "\n\n".join(
        f"call {result.number}: {result.end}\n{result.detail}" for result in list(kinds.values())[:SHOWN]
    )
    assert not summary.failed, f"{summary.failed} of {summary.calls:,} calls ({dict(summary.ends)}):\n{told}"
    assert seconds < 20 or (summary.ends["answered"] and summary.ends["refused"]), "the calls are all of one kind"
