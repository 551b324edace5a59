"""Claesen et al., figure 4: does the order of two models by area under the ROC curve change with the share of
positives?

By equation 4 of Jain et al. 2017 it cannot: the area is an increasing straight line of the area against all unlabelled
rows, the same line for every model. What can bend it is the corner case of equation 11, where a ranking has no room
for the latent positives that the share demands. So two pairs of models are looked at: one packed so densely that
equation 11 cuts it off, which comes as near the published figures as can be, and one that the share of positives fits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pulens.comparison.order import Order, order_by_prior
from pulens.counts.tally import Tally
from pulens.curves.bound_curves import bound_roc, trapezoid
from pulens.metrics import METRICS, raw_value
from pulens.plots import draw_curve
from pulens.recovery import direct_roc_auc, recover
from pulens.recovery.assumptions import Assumptions
from pulens.recovery.bounds import latent_count, surrogates_in_head, table_from_surrogates
from pulens.recovery.contingency import Contingency
from pulens.recovery.feasibility import impossible_rates
from pulens.research.studies._bounds import COLOURS
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured
from pulens.scenario import Scenario
from pulens.types import Floats

KNOWN, UNLABELLED = 5_000, 45_000  # the caption of the figure
MODELS = ("model 1", "model 2")
PUBLISHED = {0.0: (0.725, 0.732), 0.1: (0.755, 0.747)}  # printed beside the figure; the rankings are not given
SHARE = 0.1
METRICS_TRIED = ("roc_auc", "average_precision", "matthews_correlation", "f1", "accuracy")
THRESHOLD = 1.0
PRIORS = np.linspace(0.002, SHARE, 33)


@dataclass(frozen=True, slots=True)
class Packing:
    """Where known positives stand: some above all unlabelled rows, some below them, the rest evenly in a stretch."""

    top: float
    bottom: float
    stretch: float  # share of the unlabelled rows, counted from the top, over which the rest is spread

    def tally(self) -> Tally:
        top, bottom = round(self.top * KNOWN), round(self.bottom * KNOWN)
        rest = KNOWN - top - bottom
        spread = self.stretch * (np.arange(rest) + 0.5) / rest
        unlabelled = (np.arange(UNLABELLED) + 0.5) / UNLABELLED
        scores = np.concatenate([np.full(top, 1.0), -spread, np.full(bottom, -2.0), -unlabelled])
        return Tally.from_arrays(np.repeat([1, 0], [KNOWN, UNLABELLED]), scores)


# model 1: a quarter of the positives at the very end, the rest as dense as a share of 0.1 allows; model 2: 43% on top
PACKED = {"model 1": Packing(0.0, 0.2467, 0.07533), "model 2": Packing(0.43, 0.0, 0.9404)}


def equation_11(tally: Tally, share: float) -> Contingency:
    """Tables at every rank with the observed rank CDF for the bound: no band, so lower and upper curve are one."""
    latent = latent_count(share, UNLABELLED)
    head = np.concatenate([[0.0], np.asarray(tally.unlabelled, float)])
    theta = np.concatenate([[0.0], tally.labelled / tally.totals.labelled]) * latent
    return table_from_surrogates(tally, latent, surrogates_in_head(head, UNLABELLED, latent, theta), labelled_too=True)


def area_by_equation_11(tally: Tally, share: float) -> float:
    return trapezoid(bound_roc(equation_11(tally, share), "rank"))


def straight_line(area: float, share: float) -> float:
    """Jain et al. 2017, equation 4, for clean labels: the recovered area from the area against all unlabelled rows.

    >>> round(straight_line(0.725, 0.1), 4), round(straight_line(0.732, 0.1), 4)
    (0.75, 0.7578)
    """
    return (area - share / 2) / (1 - share)


def most_by_equation_11(area: float, share: float) -> float:
    r"""The largest area that equation 11 can give to a ranking with this area against all unlabelled rows.

    With T of the known and u of the unlabelled rows above a rank the false positive rate is :math:`(u - bT)/(1 - b)`.
    Cutting it off at 1 adds :math:`\int (fpr - 1)_+ dT`, at most :math:`b t^2 / 2(1 - b)` where the last t positives
    stand below everything; cutting it off at 0 subtracts. Most is gained when the others, x = 1 - t of them, stand as
    high as they can without being cut off, :math:`u = bT`: then the area against all is :math:`x - b x^2 / 2`.

    >>> round(most_by_equation_11(0.725, 0.1), 4)
    0.7534
    """
    others = (1 - math.sqrt(1 - 2 * share * area)) / share
    return straight_line(area, share) + share * (1 - others) ** 2 / (2 * (1 - share))


def crossing_pair(rng: np.random.Generator) -> dict[str, Tally]:
    """Two models whose ROC curves cross, on rows that the share fits: normal scores, positives of one more spread."""
    latent = round(SHARE * UNLABELLED)
    is_positive = np.repeat([True, False], [KNOWN + latent, UNLABELLED - latent])
    labels = np.repeat([1, 0], [KNOWN, UNLABELLED])
    return {
        name: Tally.from_arrays(
            labels, np.where(is_positive, rng.normal(mean, deviation, labels.size), rng.normal(size=labels.size))
        )
        for name, (mean, deviation) in zip(MODELS, ((1.0, 1.0), (1.5, 2.0)), strict=True)
    }


def orders(pair: dict[str, Tally]) -> dict[str, Order]:
    """Each metric of both models over the shares, with the places where they change places."""

    def value(metric: str, model: str, share: float) -> float:
        return raw_value(METRICS[metric], pair[model], Assumptions(share, 0.0, Scenario.CASE_CONTROL), THRESHOLD)

    return {
        metric: order_by_prior(metric, partial(value, metric), MODELS, PRIORS, float, higher_is_better=True)
        for metric in METRICS_TRIED
    }


def run(bench: Workbench) -> Outcome:
    """The published four numbers, what can be made of them, and the order over all shares that fit."""
    bench.progress("packed rankings")
    packed = {name: packing.tally() for name, packing in PACKED.items()}
    bench.progress("rankings that the share fits")
    pair = crossing_pair(np.random.default_rng(bench.seed))
    result = orders(pair)
    slopes = derivatives(pair["model 1"])
    tables = (_published_table(packed), _order_table(result), _slope_table(slopes))
    files = _draw(bench.out, packed)
    return Outcome(tables, _claims(packed, result, slopes), files)


def derivatives(tally: Tally, share: float = SHARE / 2, step: float = 1e-5) -> dict[str, tuple[float, float, float]]:
    """By how much false positive rate and precision move with the share: measured, as printed, as derived by us.

    At the middle of the ranking.
    """
    low, high = (recover(tally, Assumptions(share + move, 0.0, Scenario.CASE_CONTROL)) for move in (-step, step))
    place = len(low) // 2
    known = float(low.true_positive_rate[place])
    head = float(tally.unlabelled[place - 1])
    moved = (high.false_positive_rate - low.false_positive_rate)[place] / (2 * step)
    precision = [float(table.true_positive[place] / table.predicted_positive[place]) for table in (low, high)]
    printed = (head - known * UNLABELLED) / (1 - share) ** 2
    return {
        "false positive rate": (float(moved), printed, printed / UNLABELLED),
        "precision": ((precision[1] - precision[0]) / (2 * step), known * UNLABELLED / head, known * UNLABELLED / head),
    }


def _published_table(packed: dict[str, Tally]) -> str:
    lines = [
        f"Area under the ROC curve, {KNOWN:,} known positives, {UNLABELLED:,} unlabelled rows",
        f"  {'share of positives taken':<54}" + "".join(f"{name:>9}" for name in MODELS),
    ]

    def row(title: str, values: list[float]) -> str:
        return f"  {title:<54}" + "".join(f"{value:>9.3f}" for value in values)

    lines.append(row("0    published", list(PUBLISHED[0.0])))
    lines.append(row("     packed rankings", [area_by_equation_11(tally, 0.0) for tally in packed.values()]))
    lines.append(row("0.1  published", list(PUBLISHED[SHARE])))
    lines.append(
        row(
            "     straight line through the published areas at 0",
            [straight_line(area, SHARE) for area in PUBLISHED[0.0]],
        )
    )
    lines.append(
        row("     packed rankings, equation 11", [area_by_equation_11(tally, SHARE) for tally in packed.values()])
    )
    lines.append(
        row(
            "     packed rankings, nothing cut off",
            [direct_roc_auc(tally, Assumptions(SHARE, 0.0, Scenario.CASE_CONTROL)) for tally in packed.values()],
        )
    )
    lines.append(
        row(
            "     the most equation 11 can give, areas at 0 rounded up",
            [most_by_equation_11(area + 0.0005, SHARE) for area in PUBLISHED[0.0]],
        )
    )
    return "\n".join(lines)


def _order_table(result: dict[str, Order]) -> str:
    lines = [
        f"Models whose ROC curves cross and whom a share of {SHARE:g} fits, shares from {PRIORS[0]:g} to "
        f"{PRIORS[-1]:g} (case-control, threshold {THRESHOLD:g})",
        f"  {'metric':<22}{f'at {PRIORS[0]:g}':>18}{f'at {PRIORS[-1]:g}':>18}{'ratio':>16}  order",
    ]
    for metric, order in result.items():
        first, second = (order.values[name] for name in MODELS)
        ratios = first / second
        ends = "".join(f"{f'{first[i]:.4f} {second[i]:.4f}':>18}" for i in (0, -1))
        told = "; ".join(map(str, order.crossings)) or f"always {order.winners[0]}"
        lines.append(f"  {metric:<22}{ends}{f'{ratios.min():.3f} to {ratios.max():.3f}':>16}  {told}")
    return "\n".join(lines)


def _slope_table(slopes: dict[str, tuple[float, float, float]]) -> str:
    lines = [
        "Equation 15: how much each moves with the share of positives, at the middle of the ranking",
        f"  {'':<22}{'measured':>12}{'as printed':>14}{'with 1/|U|':>12}",
    ]
    for name, (measured, printed, derived) in slopes.items():
        right = f"{derived:>12.4f}" if derived != printed else f"{'':>12}"
        lines.append(f"  {name:<22}{measured:>12.4f}{printed:>14.4f}{right}")
    return "\n".join(lines)


def _areas_reached(packed: dict[str, Tally]) -> int:
    """How many of the four printed areas equation 11 gives, to a tenth of a percent."""
    return sum(
        abs(area_by_equation_11(tally, share) - printed) < 0.0005
        for share, row in PUBLISHED.items()
        for tally, printed in zip(packed.values(), row, strict=True)
    )


def _claims(
    packed: dict[str, Tally], result: dict[str, Order], slopes: dict[str, tuple[float, float, float]]
) -> tuple[Claim, ...]:
    reached, cut = _areas_reached(packed), [area_by_equation_11(tally, SHARE) for tally in packed.values()]
    doubts = [impossible_rates(tally, Assumptions(SHARE, 0.0, Scenario.CASE_CONTROL)) for tally in packed.values()]
    most = most_by_equation_11(PUBLISHED[0.0][0] + 0.0005, SHARE)
    line = [straight_line(area, SHARE) for area in PUBLISHED[0.0]]
    flips = {metric: order.crossings for metric, order in result.items()}
    ratios = result["average_precision"].values["model 1"] / result["average_precision"].values["model 2"]
    moved, printed, derived = slopes["false positive rate"]
    some = [f"{metric} ({'; '.join(map(str, crossings))})" for metric, crossings in flips.items() if crossings]
    return (
        Claim(
            "the order of models by AUROC can switch with the share of positives (72.5 < 73.2, but 75.5 > 74.7)",
            "reproduced" if flips["roc_auc"] else "differs",
            "because the area is the same straight line of the area at share 0 for every model "
            f"(here {line[0]:.3f} and {line[1]:.3f}). It switches only where equation 11 cuts rates off: in our packed "
            f"pair ({cut[0]:.3f} and {cut[1]:.3f}) the false positive rate would leave [0, 1] by "
            f"{min(one.standard_errors for one in doubts):.0f} standard errors or more, so the data exclude that share",
        ),
        Claim(
            "the four printed areas",
            "reproduced" if reached == 4 else "differs",
            f"the packed pair reaches {reached} of four; from {PUBLISHED[0.0][0]:.1%} equation 11 gives at most "
            f"{most:.1%}, where {PUBLISHED[SHARE][0]:.1%} is printed",
        ),
        Claim(
            "the order of models by AUPR can switch when the share of positives changes",
            "reproduced" if flips["average_precision"] else "differs",
            "because precision at a rank is the share of positives times what does not depend on it: both areas grow "
            f"by one factor, their ratio stays at {ratios.min():.3f} to {ratios.max():.3f} (points whose recovered "
            "false positive rate is below 0 are dropped, hence not one number)",
        ),
        Claim(
            "the share of positives can decide which model is better",
            "reproduced" if some else "differs",
            f"by metrics that weigh both kinds of error: {', '.join(some) or 'none here'}",
        ),
        Claim(
            "the derivative of the false positive rate in equation 15",
            "reproduced" if math.isclose(moved, printed, rel_tol=1e-3) else "differs",
            f"measured {moved:.4f}, printed {printed:.0f}: a factor 1/|U| is missing, with it {derived:.4f}",
        ),
    )


@pictured("bounds-figure-4", 1, 3, figsize=(14, 4.6))
def _draw(axes: Any, packed: dict[str, Tally]) -> None:
    left, middle, right = axes
    shares: Floats = np.linspace(0, 0.12, 25)
    for (name, tally), colour in zip(packed.items(), (COLOURS["ours"], COLOURS["other"]), strict=True):
        ranks = (tally.labelled + tally.unlabelled) / tally.totals.rows
        place = np.concatenate([[0.0], ranks])
        left.plot(place, np.concatenate([[0.0], tally.labelled / KNOWN]), color=colour, linewidth=1.8, label=name)
        for share, style in ((0.0, "--"), (SHARE, "-")):
            curve = bound_roc(equation_11(tally, share), "rank")
            draw_curve(curve, middle, color=colour, linewidth=1.5, linestyle=style, label=f"{name}, share {share:g}")
        cut = [area_by_equation_11(tally, float(share)) for share in shares]
        right.plot(shares, cut, color=colour, linewidth=1.8, label=f"{name}, equation 11")
        start = area_by_equation_11(tally, 0.0)
        right.plot(
            shares, [straight_line(start, float(share)) for share in shares], color=colour, linewidth=1, linestyle=":",
            label=f"{name}, nothing cut off",
        )  # fmt: skip
    for share, areas in PUBLISHED.items():
        for area, colour in zip(areas, (COLOURS["ours"], COLOURS["other"]), strict=True):
            right.plot(share, area, marker="D", color=colour, markersize=6, markeredgecolor="black", linestyle="none")
    left.set(
        xlabel="rank (share of all rows)", ylabel="share of known positives above", title="rank CDF, packed rankings"
    )
    middle.set(title="ROC curves by equation 11")
    right.set(xlabel="share of positives taken", ylabel="area under the ROC curve", title="diamonds: published")
    for ax in (left, middle, right):
        ax.grid(alpha=0.25)
        ax.legend(loc="lower right", fontsize=8)
    right.legend(loc="upper left", fontsize=8)


STUDY = Study(
    "Does the order of models change with the share of positives?", "Claesen et al., figure 4 and section 6.2", run
)
