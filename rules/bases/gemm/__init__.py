"""cutile-rs ops of this suite; importing a module registers its op."""

from . import gemm

__all__ = ["gemm"]
