"""The PU-ECE paper, figure 4: the error of PU-ECE falls with the sample size."""

from __future__ import annotations

import math

from pulens.research.studies._mnist import at_hand
from pulens.research.studies._pu_ece import RATE, ByWorld, Setting, biases, draw_biases, in_both_worlds
from pulens.research.studies._study import Claim, Outcome, Study, Workbench
from pulens.testing.calibration_worlds import fit_logit_mixture

SETTINGS = (
    Setting("n_P = N, n_U = infinite", lambda n: n, lambda n: math.inf),
    Setting("n_P = infinite, n_U = N", lambda n: math.inf, lambda n: n),
    Setting("n_P = N, n_U = 10 N", lambda n: n, lambda n: 10 * n),
    Setting("all labelled, n = N", lambda n: n, lambda n: n, fully_labelled=True),
)


def run(bench: Workbench) -> Outcome:
    """Mean absolute error over trials in the two synthetic worlds of appendix D."""
    result, tables = in_both_worlds(bench, SETTINGS)
    files = draw_biases(bench.out, result, name="pu-ece-figure-4")
    return Outcome(tables, (*_claims(result), _on_mnist(bench), ON_CIFAR), files)


def _claims(result: ByWorld) -> tuple[Claim, ...]:
    slopes = {
        (title, name): one.slope()
        for title, settings in result.items()
        for name, one in settings.items()
        if name != "all labelled, n = N"
    }
    steepest, flattest = min(slopes.values()), max(slopes.values())
    ratios = [
        float(settings["n_P = N, n_U = 10 N"].mean[-1] / settings["all labelled, n = N"].mean[-1])
        for settings in result.values()
    ]
    return (
        Claim(
            "the error falls at least as fast as N^(-1/3) (Corollary 1)",
            "reproduced" if flattest <= RATE else "differs",
            f"slopes {steepest:.2f} to {flattest:.2f}, theory's upper bound {RATE:.2f}",
        ),
        Claim(
            "the empirical results clearly exhibit N^(-1/3) (section 5.3)",
            "differs" if flattest < RATE - 0.05 else "reproduced",
            f"every slope is steeper: {steepest:.2f} to {flattest:.2f}; the rate of the theory is an upper bound",
        ),
        Claim(
            "PU-ECE is comparable to the error computed with all labels",
            "reproduced" if max(ratios) < 5 else "differs",
            "same rate; at the largest N its error is "
            + " and ".join(f"{ratio:.1f}" for ratio in ratios)
            + " times as large",
        ),
    )


ON_CIFAR = Claim("the same holds on CIFAR-10", "not testable here", "not run: no study trains networks on CIFAR-10")


def _on_mnist(bench: Workbench) -> Claim:
    """The rate in mixtures that fit the logits of our own networks: the paper does not give those of its own."""
    title, networks = "the same holds on MNIST", at_hand(bench)
    if networks is None:
        way = "pu-ece-figure-1 with the same --out trains networks on MNIST, and this study then reads them"
        return Claim(title, "not testable here", f"not run: {way}")
    setting = SETTINGS[2]
    slopes = {}
    for name in ("PU-logistic", "PU-sigmoid"):
        logits, positive = networks.test_logits(name)[0], networks.is_positive
        world = fit_logit_mixture(logits[positive], logits[~positive], float(positive.mean()), seed=bench.seed)
        slopes[name] = biases(world, setting, bench).slope()
    seen = ", ".join(f"{name} {slope:.2f}" for name, slope in slopes.items())
    return Claim(
        title,
        "reproduced" if max(slopes.values()) <= RATE else "differs",
        f"mixtures that fit our networks' logits, {setting.name}: slopes {seen}, theory's upper bound {RATE:.2f}",
    )


STUDY = Study("Error of PU-ECE against sample size", "the PU-ECE paper, figure 4, synthetic worlds", run)
