"""CTL603: an entry takes its output as a mutable tensor or partition."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Finding
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit import KernelUnit

_MUTABLE = regex(r"&\s*(?:'\w+\s+)?mut\s+(?:\w+\s*::\s*)*Tensor\b|\bMappedPartitionMut\b")


def check(unit: KernelUnit) -> Iterator[Finding]:
    for entry in unit.entries:
        for param in entry.function.params:
            if _MUTABLE.search(param.annotation):
                yield Finding(
                    Place(entry.source, param.annotation_span or param.span),
                    f"the output `{param.name}` of `{entry.name}` is a mutable parameter",
                    help="declare it `&Tensor<…>` and write it through `partition_full_mut` in the body, or pass a raw pointer",
                    symbol=entry.name,
                )
