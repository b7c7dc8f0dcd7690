"""The cutile-rs backend's runtime, without a device."""

from . import autotuner, utils

__all__ = ["autotuner", "utils"]
