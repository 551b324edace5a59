"""One thread for PyTorch, in the tests that train networks."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Small tensors: a second thread costs more than it brings, and results must not depend on a machine's cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
