"""cutile-rs ops of this suite; importing a module registers its op."""

from . import row_scale

__all__ = ["row_scale"]
