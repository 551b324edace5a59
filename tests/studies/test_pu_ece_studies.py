"""The studies of paper 002 run, and say what the paper's theory says."""

from __future__ import annotations

import numpy as np
import pytest

from pulens import studies
from pulens.calibration import expected_calibration_error
from pulens.research.studies._pu_ece import Setting, one_error, worlds


@pytest.mark.parametrize("number", [4, 5, 6])
def test_a_quick_run_gives_tables_claims_and_a_figure(number, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    study = studies.find(f"pu-ece-figure-{number}")
    outcome = study.run(studies.Workbench(quick=True, out=tmp_path))
    assert [path.name for path in outcome.files] == [f"pu-ece-figure-{number}.png"]
    assert outcome.files[0].stat().st_size > 10_000
    verdicts = {claim.statement: claim.verdict for claim in outcome.claims}
    if number == 4:
        assert verdicts["the error falls at least as fast as N^(-1/3) (Corollary 1)"] == "reproduced"
        assert "-0.33" in outcome.tables[0]
        assert verdicts["the same holds on MNIST"] == "not testable here"
        assert "pu-ece-figure-1 with the same --out trains networks" in outcome.claims[-2].because
    elif number == 5:
        assert all(verdict == "reproduced" for text, verdict in verdicts.items() if "stops falling" in text)
    else:
        assert set(verdicts.values()) == {"reproduced"}


def test_the_quick_error_of_the_studies_is_the_packages_own():
    world = worlds()["less calibrated"]
    setting = Setting("both", lambda n: n, lambda n: 10 * n)
    result = one_error(world, setting, 200, np.random.default_rng(3))
    few, many, _ = world.draw(200, 2_000, np.random.default_rng(3))
    peer = expected_calibration_error(
        np.repeat([1, 0], [200, 2_000]),
        np.concatenate([few, many]),
        class_prior=0.5,
        scenario="case-control",
        labelling="random",
    )
    assert result == pytest.approx(peer.value, abs=1e-12)
