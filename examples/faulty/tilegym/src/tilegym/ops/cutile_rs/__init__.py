"""Ops of the cutile-rs backend: importing a module registers its op."""

from tilegym.backend import is_backend_available

if is_backend_available("cutile-rs"):
    from . import (
        batched_product,
        fused_rms_norm,
        gemm,
    )
