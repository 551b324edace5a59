"""The PU-ECE paper, figure 1: calibration of supervised and of PU-trained networks as labelled rows grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from pulens.research.studies._mnist import COLOURS, SETTINGS, Trained, trained
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured
from pulens.types import Floats

# a statement about the curves must hold at the largest size and at most sizes
NO_NUMBERS = "published: curves, no numbers"


def run(bench: Workbench) -> Outcome:
    """Mean calibration error on the test rows, with its standard error over trials."""
    result = trained(bench)
    claims = (_improve(result), _proper_loss(result), _pu_loss(result), _prone(result), _pu_estimate(result))
    return Outcome((_table(result),), claims, draw(bench.out, result))


def standard_errors(values: Floats) -> Floats:
    """Of the mean over trials, by size."""
    trials = values.shape[1]
    return np.asarray(values.std(axis=1, ddof=1) / np.sqrt(trials) if trials > 1 else np.zeros(len(values)), float)


def _table(result: Trained) -> str:
    heads = "".join(f"{f'n={size:,}':>18}" for size in result.design.sizes)
    lines = [
        f"Calibration error on MNIST's test rows, digits 5 to 9 positive; {result.design}; {NO_NUMBERS}",
        f"  {'setting':<14}{heads}   n: labelled rows, of PU settings positives",
    ]
    for name, which in (("", result.errors), (" accuracy", result.accuracies), (" PU-ECE", result.pu_errors)):
        for setting in SETTINGS:
            values = result.of(setting, which)
            cells = [
                f"{mean:>10.3f} ±{spread:<6.3f}"
                for mean, spread in zip(values.mean(axis=1), standard_errors(values), strict=True)
            ]
            lines.append(f"  {setting:<14}{''.join(cells)}{name}")
    return "\n".join(lines)


def _improve(result: Trained) -> Claim:
    """A rise of less than two standard errors is no rise."""
    rises = []
    for setting in ("PN-logistic", "PN-sigmoid"):
        values = result.of(setting, result.errors)
        doubt = 2 * np.hypot(standard_errors(values)[1:], standard_errors(values)[:-1])
        rises += [setting for step, slack in zip(np.diff(values.mean(axis=1)), doubt, strict=True) if step > slack]
    ends = {s: result.of(s, result.errors).mean(axis=1) for s in ("PN-logistic", "PN-sigmoid")}
    falls = all(values[-1] < values[0] for values in ends.values())
    return Claim(
        "supervised networks are calibrated better the more rows they see, with either loss",
        "reproduced" if falls and not rises else "differs",
        ", ".join(f"{s} {values[0]:.3f} to {values[-1]:.3f}" for s, values in ends.items())
        + (f"; but {' and '.join(sorted(set(rises)))} rises in between" if rises else ""),
    )


def _proper_loss(result: Trained) -> Claim:
    logistic, sigmoid = (result.of(s, result.errors).mean(axis=1) for s in ("PN-logistic", "PN-sigmoid"))
    better = int((logistic < sigmoid).sum())
    return Claim(
        "supervised, the logistic loss is calibrated better than the sigmoid loss",
        "reproduced" if logistic[-1] < sigmoid[-1] and 2 * better > len(logistic) else "differs",
        f"at {better} of {len(logistic)} sizes; {logistic[-1]:.3f} against {sigmoid[-1]:.3f} at the largest",
    )


def _pu_loss(result: Trained) -> Claim:
    logistic, sigmoid = (result.of(s, result.errors) for s in ("PU-logistic", "PU-sigmoid"))
    better = int((sigmoid.mean(axis=1) < logistic.mean(axis=1)).sum())
    sizes = len(result.design.sizes)
    doubt = " of a shortened training on fewer rows" if result.design.epochs < 100 else ""
    last = {loss: float(values[-1].mean()) for loss, values in (("sigmoid", sigmoid), ("logistic", logistic))}
    right = {loss: float(result.of(f"PU-{loss}", result.accuracies)[-1].mean()) for loss in last}
    return Claim(
        "from PU data it is the other way round: the sigmoid loss is calibrated better",
        "reproduced" if 2 * better > sizes and last["sigmoid"] < last["logistic"] else "differs",
        f"at {better} of {sizes} sizes{doubt}; {last['sigmoid']:.3f} against {last['logistic']:.3f} at the largest, "
        f"accuracies {right['sigmoid']:.3f} and {right['logistic']:.3f}",
    )


def _prone(result: Trained) -> Claim:
    means = {setting: result.of(setting, result.errors).mean(axis=1) for setting in SETTINGS}
    best = {kind: np.minimum(means[f"{kind}-logistic"], means[f"{kind}-sigmoid"]) for kind in ("PN", "PU")}
    worse = int((best["PU"] > best["PN"]).sum())
    return Claim(
        "PU learning is more prone to miscalibration than supervised learning",
        "reproduced" if best["PU"][-1] > best["PN"][-1] and 2 * worse > len(best["PU"]) else "differs",
        f"with the better loss of each, at {worse} of {len(best['PU'])} sizes; {best['PU'][-1]:.3f} against "
        f"{best['PN'][-1]:.3f} at the largest",
    )


def _pu_estimate(result: Trained) -> Claim:
    """The point of the paper: the error can be seen without negatives."""
    gap = result.pu_errors - result.errors
    correlation = float(np.corrcoef(result.pu_errors.ravel(), result.errors.ravel())[0, 1])
    return Claim(
        "these errors can be estimated without negatives (PU-ECE of half the test rows)",
        "reproduced" if correlation > 0.9 else "differs",
        f"correlation {correlation:.3f} over {gap.size} networks, mean difference {gap.mean():+.4f} (PU-ECE is biased "
        "upwards)",
    )


@pictured("pu-ece-figure-1", figsize=(6.4, 4.6))
def draw(ax: Any, result: Trained) -> None:
    """Error against labelled rows, bands of one standard error."""
    for setting in SETTINGS:
        values = result.of(setting, result.errors)
        mean, spread = values.mean(axis=1), standard_errors(values)
        ax.fill_between(
            result.design.sizes, mean - spread, mean + spread, color=COLOURS[setting], alpha=0.2, linewidth=0
        )
        ax.plot(result.design.sizes, mean, color=COLOURS[setting], marker="o", markersize=4, label=setting)
    ax.set(xscale="log", xlabel="labelled rows (PU: labelled positives)", ylabel="calibration error on test rows")
    ax.set_xticks(result.design.sizes, [f"{size:,}" for size in result.design.sizes])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.25, which="both")
    ax.legend()


STUDY = Study("Calibration of supervised and PU-trained networks", "the PU-ECE paper, figure 1", run)
