"""What tests of worked numbers share: closeness, gradients, and a program without its stack."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch


def close(result, expected, tolerance=2e-6):
    result, expected = (
        value.detach().numpy() if isinstance(value, torch.Tensor) else value for value in (result, expected)
    )
    np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance)


def gradient(value, z):
    return torch.autograd.grad(value, z)[0]


def program_on(kind, **stack):
    """A method's program on a stand-in for the stack, which holds just what the part under test reads."""
    program = kind.__new__(kind)
    program.stack = SimpleNamespace(**stack)
    return program
