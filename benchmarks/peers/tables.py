"""Learners of pulearn and pu-toolbox for ``tables.py``: with their defaults, and around boosting where it fits.

Neither is needed to run the benchmark: rows of a package that is not installed are left out. What stands here is what
their pages advise: features standardised before linear models, kernels and networks, the class prior of the unlabelled
rows where a method reads them as the sample of the population. Not here: estimators for pictures
(WeightedContrastivePU), those that need a generator (DGPU) or clean validation rows (SelfPU), and KLDCE, whose solver
takes minutes at 2,500 rows.
"""

from __future__ import annotations

import importlib.util
import inspect


def standardised(model):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


def pulearn_peers(labels, prior, seed, boosting, columns):
    """Name and maker of each; ``prior`` is the share of positives among the unlabelled rows."""
    import pulearn

    labelled = int(labels.sum())
    counts = {"labeled": labelled, "unlabeled": labels.size - labelled}
    bag = min(labelled, counts["unlabeled"])
    return {
        "BaggingPu": lambda: pulearn.BaggingPuClassifier(random_state=seed),
        "BaggingPu, boosting": lambda: pulearn.BaggingPuClassifier(
            boosting(seed), n_estimators=20, max_samples=bag, random_state=seed
        ),
        "ElkanotoPu, boosting": lambda: pulearn.ElkanotoPuClassifier(boosting(seed), random_state=seed),
        "WeightedElkanotoPu, boosting": lambda: pulearn.WeightedElkanotoPuClassifier(
            boosting(seed), **counts, random_state=seed
        ),
        "NNPU": lambda: standardised(pulearn.NNPUClassifier(prior=prior, random_state=seed)),
        "PositiveNaiveBayes": lambda: pulearn.PositiveNaiveBayesClassifier(),
        "WeightedNaiveBayes": lambda: pulearn.WeightedNaiveBayesClassifier(),
    }


def pu_toolbox_peers(labels, prior, seed, boosting, columns):
    """Name and maker of each; ``prior`` is the share of positives among the unlabelled rows."""
    import pu_toolbox

    frequency = labels.sum() / (labels.sum() + prior * (labels == 0).sum())
    width = columns**0.5  # about the distance of two standardised rows
    return {
        "ElkanNoto": lambda: standardised(pu_toolbox.ElkanNotoClassifier(random_state=seed)),
        "ElkanNoto, boosting": lambda: pu_toolbox.ElkanNotoClassifier(boosting(seed), random_state=seed),
        "UPU": lambda: standardised(pu_toolbox.UPUClassifier(prior, random_state=seed)),
        "UPU, kernel": lambda: standardised(
            pu_toolbox.UPUClassifier(
                prior, loss="logistic", basis="rbf", kernel_width=width, n_centers=200, random_state=seed
            )
        ),
        "NonNegativePU": lambda: standardised(
            pu_toolbox.NonNegativePUClassifier(class_prior=prior, random_state=seed, device="cpu")
        ),
        "DistPU": lambda: standardised(pu_toolbox.DistPUClassifier(prior, random_state=seed, device="cpu")),
        "PUSB": lambda: standardised(pu_toolbox.PUSBClassifier()),
        "PUSBKernel": lambda: standardised(pu_toolbox.PUSBKernelClassifier(random_state=seed)),
        "LBE": lambda: standardised(pu_toolbox.LBEClassifier()),
        "LLSVM": lambda: standardised(pu_toolbox.LLSVMClassifier(random_state=seed)),
        "LDCE": lambda: standardised(pu_toolbox.LDCEClassifier(float(1 - frequency), random_state=seed)),
        "InfoMaxPU": lambda: pu_toolbox.InfoMaxPUClassifier(random_state=seed, device="cpu"),
    }


PACKAGES = {"pulearn": pulearn_peers, "pu_toolbox": pu_toolbox_peers}
PEERS = (
    "pulearn BaggingPu",
    "pulearn BaggingPu, boosting",
    "pulearn ElkanotoPu, boosting",
    "pulearn WeightedElkanotoPu, boosting",
    "pulearn NNPU",
    "pulearn PositiveNaiveBayes",
    "pulearn WeightedNaiveBayes",
    "pu-toolbox ElkanNoto",
    "pu-toolbox ElkanNoto, boosting",
    "pu-toolbox UPU",
    "pu-toolbox UPU, kernel",
    "pu-toolbox NonNegativePU",
    "pu-toolbox DistPU",
    "pu-toolbox PUSB",
    "pu-toolbox PUSBKernel",
    "pu-toolbox LBE",
    "pu-toolbox LLSVM",
    "pu-toolbox LDCE",
    "pu-toolbox InfoMaxPU",
)


def split_name(name):
    """Package and estimator of a row's name."""
    package, _, rest = name.partition(" ")
    return package.replace("-", "_"), rest


def installed(name):
    """Whether the package of a row is here."""
    return importlib.util.find_spec(split_name(name)[0]) is not None


def fit_and_score(name, X, labels, prior, seed, boosting, test):
    """Scores of test rows, who is called positive by its own rule, and whether scores are meant as probabilities."""
    import numpy as np

    package, rest = split_name(name)
    model = PACKAGES[package](labels, prior, seed, boosting, X.shape[1])[rest]()
    steps = getattr(model, "steps", [("", model)])
    takes_prior = "class_prior" in inspect.signature(steps[-1][1].fit).parameters
    option = "class_prior" if steps[-1][1] is model else f"{steps[-1][0]}__class_prior"
    model.fit(X, labels, **({option: prior} if takes_prior else {}))
    called = np.asarray(model.predict(test)) == 1
    try:
        return np.asarray(model.predict_proba(test), float)[:, 1], called, True
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        return np.ravel(np.asarray(model.decision_function(test), float)), called, False
