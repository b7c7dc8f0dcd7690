"""What the wrappers of this package share on the host side of a launch."""

from __future__ import annotations

import torch

AUTO_COMPILE_OPTION = -1


def compile_option(value: int | None) -> int:
    """The integer of a compile option slot: the value itself, or the sentinel for "the compiler's choice"."""
    return AUTO_COMPILE_OPTION if value is None else int(value)


def device_and_stream(tensor: torch.Tensor) -> tuple[int, int]:
    """Ordinal of the tensor's device, and the raw handle of the stream that is current there."""
    device = tensor.device
    device_id = device.index if device.index is not None else torch.cuda.current_device()
    return int(device_id), int(torch.cuda.current_stream(device=device).cuda_stream)


def without_grad(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor outside of autograd: these ops have no backward, and a benchmark may still ask for gradients."""
    return tensor.detach() if tensor.requires_grad else tensor


def ceil_div(amount: int, size: int) -> int:
    return (amount + size - 1) // size
