"""Reference ops of backend "cutile": importing a module registers its op."""

from tilegym.backend import is_backend_available

if is_backend_available("cutile"):
    from . import (
        batched_product,
        gemm,
    )
