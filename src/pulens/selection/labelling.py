"""What users say about how positives came to be labelled: ``labelling=`` and ``--labelling``."""

from __future__ import annotations

from pulens.errors import AssumptionError, shown
from pulens.selection.practice import Practice, shipped

LABELLINGS = ("random", "practice")


def check_labelling(labelling: object) -> Practice | None:
    """The distribution of tilts that is meant; ``None`` for labels that are a random draw of the positives.

    >>> check_labelling("random") is None, check_labelling("practice").domains > 10
    (True, True)
    >>> check_labelling("easy")
    Traceback (most recent call last):
    ...
    pulens.errors.AssumptionError: labelling must be 'random' or 'practice', got 'easy'. 'random': labels are a ...
    """
    if isinstance(labelling, Practice):
        return labelling
    if labelling == "practice":
        return shipped()
    if isinstance(labelling, str) and labelling == "random":
        return None
    raise AssumptionError(
        f"labelling must be 'random' or 'practice', got {shown(labelling)}. 'random': labels are a random draw of the "
        "positives; 'practice': labels favour easy positives as much as they do in real data sets. For a range up to a "
        "factor use sensitivity= (--sensitivity)."
    )
