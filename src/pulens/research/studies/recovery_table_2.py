"""Jain et al. 2017, Table 2: areas under the precision-recall curve recovered from PU data."""

from __future__ import annotations

import numpy as np

from pulens.research.studies._recovery import Runs, experiment
from pulens.research.studies._recovery_published import PR_METHODS, published
from pulens.research.studies._recovery_report import draw, mean_errors, mean_of, paired_table, signed, signed_pr
from pulens.research.studies._study import Claim, Outcome, Study, Workbench
from pulens.types import Floats

CLOSE = 0.02


def run(bench: Workbench) -> Outcome:
    """The same runs as Table 1; precision by equation 3, at the share of positives of each run's unlabelled rows."""
    design, runs = experiment(bench)
    rows = [published()[key] for key in runs]
    differences = {method: signed_pr(runs, method) for method in PR_METHODS}
    ours = {method: mean_errors(differences[method]) for method in PR_METHODS}
    paper = {method: np.array([row.pr_errors[method] for row in rows]) for method in PR_METHODS}
    truth = np.array([row.pr_auc for row in rows])
    columns = {
        "alpha": (mean_of(runs, "alpha"), np.array([row.alpha for row in rows])),
        "AUC-PR": (mean_of(runs, "pr_full"), truth),
        **{method: (ours[method], paper[method]) for method in PR_METHODS},
    }
    alone = {method: mean_errors(signed_pr(runs, method)) for method in ("IA", "IR roc", "IE roc")}
    alone |= {f"{method} own": mean_errors(signed_pr(runs, method, against="pr_own")) for method in ("IR", "IE")}
    title = (
        f"Mean absolute difference from the AUC-PR with full labels; {design}\n"
        "AUC-PR: average precision where a share alpha is positive. IA: alpha and beta estimated by AlphaMax. roc: "
        "precision read off the corrected ROC curve, not by equation 3. own: difference from that of the PU-trained "
        "scores"
    )
    table = paired_table(title, runs, columns, alone)
    betas = [beta for _, beta in runs]
    files = draw(bench.out, differences, ours, paper, betas, "AUC-PR", name="recovery-table-2")
    claims = (_uncorrected(runs, ours), _known(runs, ours, paper), _estimated(ours, paper), _which_truth(runs, truth))
    return Outcome((table,), claims, files)


def _uncorrected(runs: Runs, ours: dict[str, Floats]) -> Claim:
    area = float(mean_errors(signed(runs, "PU")).mean())
    precision = float(ours["PU"].mean())
    return Claim(
        "uncorrected AUC-PR errs much more than uncorrected AUC, and should not be used",
        "reproduced" if precision > 1.5 * area else "differs",
        f"mean error {precision:.3f} against {area:.3f} (paper 0.579 against 0.182)",
    )


def _known(runs: Runs, ours: dict[str, Floats], paper: dict[str, Floats]) -> Claim:
    mine, theirs = float(ours["IR"].mean()), float(paper["IR"].mean())
    other = float(mean_errors(signed_pr(runs, "IR roc")).mean())
    return Claim(
        "with alpha and beta known AUC-PR is recovered (IR)",
        "reproduced" if mine <= theirs + CLOSE else "differs",
        f"mean error {mine:.4f} (paper {theirs:.4f}); {other:.4f} with precision read off the corrected ROC "
        "curve. Ours are average precisions, the paper does not say which area it took",
    )


def _estimated(ours: dict[str, Floats], paper: dict[str, Floats]) -> Claim:
    mine, theirs = float(ours["IE"].mean()), float(paper["IE"].mean())
    return Claim(
        "similar conclusions hold for estimated alpha and beta (IE)",
        "reproduced" if mine < theirs else "differs",
        f"mean error {mine:.4f} (paper {theirs:.4f}): better than uncorrected, but AUC-PR is proportional to the "
        "estimated alpha, so it suffers more than the AUC",
    )


def _which_truth(runs: Runs, published_truth: Floats) -> Claim:
    at_alpha, at_data = (
        float(np.abs(mean_of(runs, name) - published_truth).mean()) for name in ("pr_full", "pr_full_at_data_share")
    )
    return Claim(
        "the published AUC-PR is that of a population with a share alpha of positives (not stated)",
        "reproduced" if at_alpha < at_data else "differs",
        f"ours differs from it by {at_alpha:.3f} at alpha and by {at_data:.3f} at the share of the whole data set",
    )


STUDY = Study("Recovered areas under the precision-recall curve", "Jain et al. 2017, supplement, Table 2", run)
