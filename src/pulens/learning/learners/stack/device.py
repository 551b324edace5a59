"""Where to compute: a name of PyTorch's devices, tried before anything is trained."""

from __future__ import annotations

import torch

from pulens.errors import InputError


def find_device(device: str) -> torch.device:
    """ "auto" takes a GPU when there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        result = torch.device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"device must be 'auto', 'cpu' or 'cuda', got {device!r}.") from error
    if result.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device={device!r}: no CUDA device is available to PyTorch here. Use device='cpu'.")
    if result.type == "meta":  # PyTorch's device for shapes without numbers
        raise InputError(f"device must be 'auto', 'cpu' or 'cuda', got {device!r}, which computes nothing.")
    try:
        torch.zeros(1, device=result)
    except Exception as error:  # a device that is not there has no common error
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(f"device={device!r} cannot be used by PyTorch here: {said[:200]}. Use 'cpu'.") from error
    return result
