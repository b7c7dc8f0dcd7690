"""The lowrank suite on the cutile-rs backend; it builds a library of its own."""

from tilegym.backend import is_backend_available

if is_backend_available("cutile-rs"):
    from . import splitk_product
