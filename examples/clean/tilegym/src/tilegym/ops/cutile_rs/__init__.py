"""Ops of the cutile-rs backend: importing a module registers its op."""

from tilegym.backend import is_backend_available

if is_backend_available("cutile-rs"):
    from . import (
        batched_product,  # noqa: F401
        fused_rms_norm,  # noqa: F401
        gemm,  # noqa: F401
    )
