"""A plan is said in a line, and without what only training needs."""

import subprocess
import sys

from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol


def test_a_plan_is_shown_in_a_line():
    assert repr(expand(load_protocol("full"))) == "Plan(full: 35,200 runs in 774 groups)"


def test_saying_how_long_a_plan_takes_imports_no_compiler():
    code = (
        "import sys; from pulens.cli import main; main(['bench', 'plan', 'smoke']);"
        "print({'torch._dynamo', 'sympy'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == "set()", result.stderr


def test_the_size_of_a_network_leaves_the_random_state_alone():
    import torch

    from pulens.research.benchmark.memory import network_size

    network_size.cache_clear()
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    assert network_size("lenet", (1, 28, 28))[0] == 21381
    assert torch.equal(before, torch.random.get_rng_state())
