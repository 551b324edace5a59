"""What may be said about reviews beside rows: cheap to ask, so that who says nothing loads nothing of audits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pulens.errors import AssumptionError, InputError, shown


class NothingLabelledError(InputError):
    """Every label is an answer of a review, so nothing can be recovered from labels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReviewOptions:
    """What may be said about reviews beside rows; see :func:`read_reviews`."""

    reviews: Any = None
    reviewed_above: float | None = None
    reviewed_below_share: float | None = None
    id: str | None = None

    @property
    def is_silent(self) -> bool:
        return self.reviews is None and self.reviewed_above is None and self.reviewed_below_share is None

    def __post_init__(self) -> None:
        if self.reviewed_below_share is not None and self.reviewed_above is None:
            raise AssumptionError(
                f"reviewed_below_share={shown(self.reviewed_below_share)} needs reviewed_above= (--reviewed-above): "
                "the score from which on every row was checked."
            )
