"""From labelled and unlabelled rates to positives and negatives: (Tally, assumptions) to Contingency."""

from pulens.recovery.point import (
    Recovery,
    direct_roc_auc,
    observed_rates,
    pairwise_auc,
    precision_from_pu_precision,
    precision_in_unlabelled,
    recall_rises,
    recover,
    recover_at,
    recovered_rates,
)

__all__ = [
    "Recovery",
    "direct_roc_auc",
    "observed_rates",
    "pairwise_auc",
    "precision_from_pu_precision",
    "precision_in_unlabelled",
    "recall_rises",
    "recover",
    "recover_at",
    "recovered_rates",
]
