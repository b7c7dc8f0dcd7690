"""cutile-rs ops of this suite; importing a module registers its op."""

from . import batched

__all__ = ["batched"]
