"""Learners from positive and unlabelled rows, with scikit-learn's manners: ``NNPU(class_prior=0.2).fit(X, labels)``.

One file per method. Nothing heavy is imported until a learner is used; those that train networks need PyTorch
(``pip install 'pulens[torch]'``).

>>> from pulens import learners
>>> "NNPU" in dir(learners)
True
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pulens.errors import InputError, MissingDependencyError, listed

if TYPE_CHECKING:
    from pulens.learners.cgenpu import CGenPU
    from pulens.learners.dist_pu import DistPU
    from pulens.learners.elkan_noto import ElkanNoto
    from pulens.learners.holistic_pu import HolisticPU
    from pulens.learners.kernel_pusb import KernelPUSB
    from pulens.learners.lagam import LaGAM
    from pulens.learners.lagam_pu_only import LaGAMPUOnly
    from pulens.learners.lbe import LBE
    from pulens.learners.mpe_pu import MPEPU
    from pulens.learners.naive import NaiveClassifier
    from pulens.learners.nnpu import NNPU
    from pulens.learners.oracle import OracleClassifier
    from pulens.learners.p3mix_c import P3MixC
    from pulens.learners.p3mix_e import P3MixE
    from pulens.learners.pan import PAN
    from pulens.learners.pu_bagging import PUBagging
    from pulens.learners.puet import PUET
    from pulens.learners.pul_cpbf import PULCPBF
    from pulens.learners.pulda import PULDA
    from pulens.learners.pusb import PUSB
    from pulens.learners.robust_pu import RobustPU
    from pulens.learners.saving.folder import load
    from pulens.learners.self_pu import SelfPU
    from pulens.learners.stack.fitting import fit_many
    from pulens.learners.upu import UPU
    from pulens.learners.vae_pu import VAEPU
    from pulens.learners.vpu import VPU
    from pulens.learners.weighted_elkan_noto import WeightedElkanNoto

# public name -> file; looked up on first use
_TORCH = {
    "CGenPU": "cgenpu",
    "DistPU": "dist_pu",
    "HolisticPU": "holistic_pu",
    "LBE": "lbe",
    "LaGAM": "lagam",
    "LaGAMPUOnly": "lagam_pu_only",
    "MPEPU": "mpe_pu",
    "NNPU": "nnpu",
    "P3MixC": "p3mix_c",
    "P3MixE": "p3mix_e",
    "PAN": "pan",
    "PULCPBF": "pul_cpbf",
    "PULDA": "pulda",
    "PUSB": "pusb",
    "RobustPU": "robust_pu",
    "SelfPU": "self_pu",
    "UPU": "upu",
    "VAEPU": "vae_pu",
    "VPU": "vpu",
}
_OTHERS = {
    "ElkanNoto": "elkan_noto",
    "KernelPUSB": "kernel_pusb",
    "NaiveClassifier": "naive",
    "OracleClassifier": "oracle",
    "PUBagging": "pu_bagging",
    "PUET": "puet",
    "WeightedElkanNoto": "weighted_elkan_noto",
}
_TOOLS = {"fit_many": "stack.fitting", "load": "saving.folder"}
_HOMES = {**_TORCH, **_OTHERS, **_TOOLS}

__all__ = [
    "LBE",
    "MPEPU",
    "NNPU",
    "PAN",
    "PUET",
    "PULCPBF",
    "PULDA",
    "PUSB",
    "UPU",
    "VAEPU",
    "VPU",
    "CGenPU",
    "DistPU",
    "ElkanNoto",
    "HolisticPU",
    "KernelPUSB",
    "LaGAM",
    "LaGAMPUOnly",
    "NaiveClassifier",
    "OracleClassifier",
    "P3MixC",
    "P3MixE",
    "PUBagging",
    "RobustPU",
    "SelfPU",
    "WeightedElkanNoto",
    "fit_many",
    "load",
]


def names() -> tuple[str, ...]:
    """Names by which the command line knows the learners.

    >>> "nnpu" in names()
    True
    """
    return tuple(sorted({**_TORCH, **_OTHERS}.values()))


def find(name: str) -> Any:
    """The learner's class, by its public name or its file's."""
    by_file = {file: public for public, file in {**_TORCH, **_OTHERS}.items()}
    public = by_file.get(name, name)
    if public not in _TORCH and public not in _OTHERS:
        raise InputError(f"there is no learner {name!r}; the learners are {listed(names(), limit=30)}.")
    return __getattr__(public)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pulens.learners' has no attribute {name!r}")
    if name in {*_TORCH, "fit_many"} and find_spec("torch") is None:
        raise MissingDependencyError("PyTorch", purpose=f"{name}: training networks", extra="torch")
    found = getattr(import_module(f"pulens.learners.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, "names", "find"})
