"""What ``fit`` does beside a method where training fails: chosen by ``rescue``, recorded in ``rescues_``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CHOICES = ("auto", "none")
WARM_START, LOSS, START_KEPT, CUT = "warm_start", "loss", "start_kept", "cut"
KINDS = (WARM_START, LOSS, START_KEPT, CUT)


@dataclass(frozen=True, slots=True)
class Rescue:
    """One departure from the method that made the fitted network or its cut.

    ``kind`` is ``"warm_start"`` (a short nnPU training came first), ``"loss"`` (another loss than the method's own),
    ``"start_kept"`` (the network is that of the warm start) or ``"cut"`` (predictions change at the class prior's share
    of rows, not at the method's own cut); ``detail`` says what was done, and why.

    >>> print(Rescue("loss", "logistic, not sigmoid"))
    loss (logistic, not sigmoid)
    """

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} ({self.detail})"


def said(rescues: Sequence[Rescue]) -> str:
    """Rescues in a sentence; nothing where there were none.

    >>> said([Rescue("cut", "moved to the class prior, 0.1")]), said([])
    ('Rescued: cut (moved to the class prior, 0.1).', '')
    """
    return f"Rescued: {'; '.join(map(str, rescues))}." if rescues else ""
