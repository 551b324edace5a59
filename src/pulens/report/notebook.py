"""Evaluations in notebooks: verdict, tiles, both curves and notices in one card, without scripts or anything loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulens.metrics import leading
from pulens.notice import Severity
from pulens.report.notebook_card import card
from pulens.report.notebook_pictures import bars_of, curves_of
from pulens.report.summary import summarise
from pulens.report.text import AGAINST
from pulens.report.words import percent

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation


def evaluation_html(evaluation: Evaluation) -> str:
    """What :func:`pulens.report.text.evaluation_text` says, as HTML with every text escaped.

    Where a notebook is not trusted and its style is taken away, sentences, numbers and tables remain.

    >>> from pulens import evaluate
    >>> shown = evaluation_html(evaluate([1, 0, 0], [0.9, 0.4, 0.1], class_prior=0.4))
    >>> "<script" in shown, shown.count("<svg") > 2
    (False, True)
    """
    from pulens.report.audit_page import columns_table

    summary = summarise(evaluation)
    rows = {row.name: row for row in (*summary.ranking, *summary.at_threshold)}
    above = AGAINST if summary.audit is not None else ""  # said before the numbers that it is about
    alarming = [notice for notice in summary.notices if notice.severity > Severity.NOTE]
    return card(
        "notebook.html.j2",
        summary=summary,
        tiles=[(rows[name], bars_of(rows[name])) for name in leading("tiles") if name in rows],
        curves=curves_of(evaluation),
        prior=percent(evaluation.class_prior.value),
        contradicted=evaluation.contradiction is not None,
        groups=(("ranking", summary.ranking), (summary.threshold_title, summary.at_threshold)),
        audit=None if summary.audit is None else columns_table(summary.audit),
        against=[notice for notice in alarming if notice.code == above],
        alarming=[notice for notice in alarming if notice.code != above],
        notes=[notice for notice in summary.notices if notice.severity == Severity.NOTE],
    )
