"""How many runs of a group fit on a device at once: a careful guess, which a failed stack corrects by halving."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pulens.errors import MissingDependencyError
from pulens.research.benchmark.plan import Run
from pulens.research.benchmark.schedule import rows_of
from pulens.research.benchmark.splits import table_of

SHAPES = {
    "imdb": (384,),
    "newsgroups20": (384,),
    "mnist": (1, 28, 28),
    "fashion_mnist": (1, 28, 28),
    "cifar10": (3, 32, 32),
    "adni": (1, 128, 128),
    "connect4": (126,),
    "spambase": (57,),
}
COPIES = 10  # of every parameter: value, gradient twice, two moments, what an update needs, a second network's share
PASSES = 2  # of every activation of twice a batch: kept for the gradient, and the gradient
ROW_BYTES = 96  # per row and run: places, masks, orders, pseudo-labels, kept scores
MOST, MOST_ON_CPU = 512, 10
CPU_BUDGET = 2 << 30
SPARE = 0.8  # of the free memory
WHOLE_TABLE = 8192  # rows at once where a learner takes the whole table as one batch


def run_bytes(run: Run) -> int:
    """Memory that one run of a stack takes, roughly."""
    rows = rows_of(run)
    if run.backbone == "none":
        return 8 * rows * _size(row_shape(run))
    parameters, activations = network_size(run.backbone, row_shape(run))
    batch = 2 * int(run.settings.get("batch_size", 256))
    if "pretraining_steps" in run.settings:
        batch = max(batch, min(WHOLE_TABLE // max(1, _size(row_shape(run)) // 512), rows))
    own_table = 4 * rows * _size(row_shape(run)) if run.standardise else 0
    return 4 * (COPIES * parameters + PASSES * batch * activations) + ROW_BYTES * rows + own_table


def row_shape(run: Run) -> tuple[int, ...]:
    return SHAPES.get(run.dataset) or tuple(table_of(run).X.shape[1:])


@lru_cache(maxsize=64)
def network_size(backbone: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """Parameters of a network, and numbers that one row turns into on its way through.

    >>> network_size("linear", (5,))
    (6, 11)
    """
    import torch

    from pulens.learning import backbones

    seen = [_size(shape)]

    def count(module: Any, given: Any, made: Any) -> None:
        seen.append(int(made.numel()))

    # not on the device "meta", whose first product imports a compiler, which takes a second
    with torch.random.fork_rng(devices=[]):
        network = backbones.build(backbone, shape).eval()
    for module in network.modules():
        if not list(module.children()):
            module.register_forward_hook(count)
    with torch.no_grad():
        network(torch.zeros(1, *shape))
    return sum(values.numel() for values in network.parameters()), sum(seen)


def most_runs(group: Sequence[Run], budget: int, on_cpu: bool) -> int:
    """How many runs of a group to train as one."""
    if group[0].backbone == "none":
        return 1
    return max(1, min(MOST_ON_CPU if on_cpu else MOST, budget // run_bytes(group[0])))


def budget_of(device: str, jobs: int = 1) -> tuple[int, bool]:
    """Bytes that one worker may use, and whether it is on the CPU."""
    try:
        import torch
    except ImportError:
        raise MissingDependencyError("PyTorch", purpose="running a benchmark", extra="torch") from None

    from pulens.learning.learners.stack.device import find_device

    place = find_device(device)
    if place.type != "cuda":
        return CPU_BUDGET // jobs, True
    free, _ = torch.cuda.mem_get_info(place)
    return int(SPARE * free / jobs), False


def _size(shape: tuple[int, ...]) -> int:
    result = 1
    for length in shape:
        result *= length
    return result
