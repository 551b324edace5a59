"""Names that people type for metrics: others of those there are, and some that labels of positives cannot tell."""

from __future__ import annotations

import re

#: what else a metric is called, letters and digits alone
ALSO_CALLED = {
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "aucroc": "roc_auc",
    "rocaucscore": "roc_auc",
    "concordance": "roc_auc",
    "cindex": "roc_auc",
    "auprc": "average_precision",
    "aucpr": "pr_auc",
    "ap": "average_precision",
    "averageprecisionscore": "average_precision",
    "tpr": "recall",
    "sensitivity": "recall",
    "hitratio": "recall_at_k",
    "ppv": "precision",
    "fpr": "false_positive_rate",
    "fallout": "false_positive_rate",
    "tnr": "specificity",
    "mcc": "matthews_correlation",
    "phi": "matthews_correlation",
    "kappa": "cohen_kappa",
    "cohenkappascore": "cohen_kappa",
    "fscore": "f1",
    "fbeta": "f_beta",
    "f1macro": "macro_f1",
    "macrof": "macro_f1",
    "youden": "youden_j",
    "informedness": "youden_j",
    "patk": "precision_at_k",
    "ratk": "recall_at_k",
    "topkprecision": "precision_at_k",
    "topkrecall": "recall_at_k",
    "hitsatk": "precision_at_k",
    "liftatk": "enrichment_factor",
    "ef": "enrichment_factor",
    "enrichment": "enrichment_factor",
    "dcg": "dcg_at_k",
    "ndcg": "ndcg_at_k",
    "ndcgscore": "ndcg_at_k",
    "rprec": "r_precision",
    "rprecision": "r_precision",
    "dca": "net_benefit",
    "netbenefit": "net_benefit",
    "decisioncurve": "net_benefit",
}

_FIRST = (
    "it asks for the first positive (or for any at all), and a hidden positive may rank before the known one. "
    "recall_at_k and dcg_at_k are recovered"
)
_EACH = (
    "it averages over queries what needs each query's own positives, and those are hidden. average_precision of all "
    "rows is recovered, and recall, precision and DCG of the first rows of each query (evaluate --top 10 --per query)"
)
#: what cannot be recovered from positive and unlabelled rows, and why
NOT_RECOVERED = {
    "mrr": _FIRST,
    "rr": _FIRST,
    "reciprocalrank": _FIRST,
    "meanreciprocalrank": _FIRST,
    "recipr": _FIRST,
    "hitrate": _FIRST,
    "hitrateatk": _FIRST,
    "hitatk": _FIRST,
    "success": _FIRST,
    "successatk": _FIRST,
    "oneormorehits": _FIRST,
    "err": _FIRST,
    "expectedreciprocalrank": _FIRST,
    "map": _EACH,
    "meanaverageprecision": _EACH,
    "mapatk": _EACH,
    "bpref": _EACH,
    "ndcgperquery": _EACH,
}


def plain(name: str) -> str:
    """A name as the catalogue would spell it: small letters, words joined by underscores, no "score" behind it.

    >>> plain("ROC AUC"), plain("f1_score"), plain("Balanced-Accuracy")
    ('roc_auc', 'f1', 'balanced_accuracy')
    """
    words = re.sub(r"[^a-z0-9]+", "_", name.strip().lower()[:200]).strip("_")
    return words.removesuffix("_score") or words


def said_of(name: str) -> str:
    """What to say of a name that is no metric: why it cannot be recovered, or which metric it is; empty if unknown.

    >>> said_of("AUROC")
    "Did you mean 'roc_auc'?"
    >>> said_of("precision@10")
    "Did you mean 'precision_at_k' with k=10?"
    >>> said_of("MRR").startswith("It cannot be recovered from positive and unlabelled rows: it asks for the first")
    True
    """
    text = str(name).strip().lower()[:60]
    index = re.fullmatch(r"([a-z_ -]*?)[_ -]?(?:@|at|at_)[_ ]?(\d+%?)", text)
    short = re.sub(r"[^a-z0-9]", "", index[1] + "atk" if index else text)
    if short in NOT_RECOVERED:
        return f"It cannot be recovered from positive and unlabelled rows: {NOT_RECOVERED[short]}."
    if index:
        spelled = {"patk": "precision_at_k", "ratk": "recall_at_k", "ndcgatk": "ndcg_at_k", "dcgatk": "dcg_at_k"}
        spelled |= {"precisionatk": "precision_at_k", "recallatk": "recall_at_k", "precatk": "precision_at_k"}
        spelled |= {"efatk": "enrichment_factor", "enrichmentatk": "enrichment_factor"}
        known = spelled.get(short) or ALSO_CALLED.get(short)
        k = index[2] if index[2].isdigit() else repr(index[2])
        return "" if known is None else f"Did you mean {known!r} with k={k}?"
    return f"Did you mean {ALSO_CALLED[short]!r}?" if short in ALSO_CALLED else ""
