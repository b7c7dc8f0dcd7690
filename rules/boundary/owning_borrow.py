"""CTL507: an export takes ownership of memory that PyTorch owns."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.unit import KernelUnit
from cutile_lint.unit.boundary.host_setup import owning_borrows


def check(unit: KernelUnit) -> Iterator[Finding]:
    for found in owning_borrows(unit):
        yield Finding(
            found.place,
            found.message,
            help="borrow with `borrow_tensor` of `ffi_util.rs` (it never drops what it borrowed), or a borrowing function of cutile 0.3",
        )
