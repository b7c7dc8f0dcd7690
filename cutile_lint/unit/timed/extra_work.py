"""PyTorch work on every call that a port should not have: a fallback, or fills and helper kernels that the reference does without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.unit.machine.values import Term
from cutile_lint.unit.timed.percall import (
    CallWork,
    branches,
    for_empty_tensors,
    is_returned,
    is_validation,
    reaches_launch,
    reference_does,
)

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(slots=True, eq=False)
class ExtraWork:
    """``fallback``: the op's result on a path without a launch; else work beside the launch."""

    item: CallWork
    fallback: bool


def extra_work(unit: KernelUnit) -> Iterator[ExtraWork]:
    """Fallbacks need no evidence; other work is reported only against a reference wrapper that has none of its kind."""
    for item in unit.call_work:
        if item.work.kind not in ("fill", "compute") or for_empty_tensors(item.event) or is_validation(item.run, item.event):
            continue
        if item.work.kind == "compute" and is_returned(item.run, item):
            if reference_does(unit, item) is not True and not item.seldom:
                yield ExtraWork(item, True)
        elif not branches(item.event) and reference_does(unit, item) is False and not (item.seldom or _is_needed(unit, item)):
            yield ExtraWork(item, False)


def _is_needed(unit: KernelUnit, item: CallWork) -> bool:
    """The kernel reads what was filled or computed, or leaves parts of it as they are (or that is open)."""
    if item.work.kind == "compute" or not isinstance(item.work.result, Term):
        return False
    if not reaches_launch(unit, item):
        return False
    for launch in item.run.launches:
        use = unit.tensor_use(launch, item.work.result)
        if use is not None and (use.stores_all is not True or use.reads is not False):
            return True
    return False
