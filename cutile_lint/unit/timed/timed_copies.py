"""Copies in the timed region that are there for a reason, or for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.linking.callers import everywhere, only_used_here
from cutile_lint.unit.machine.values import subterms
from cutile_lint.unit.timed.needless import is_contiguous
from cutile_lint.unit.timed.region import Occurrence, TimedWork, use_in_trial

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


def drop_call(unit: KernelUnit, found: TimedWork) -> Fix | None:
    """``x.contiguous()`` of a tensor that is contiguous is ``x``."""
    from cutile_lint.frontends.python.rewrite import replace_expression

    call = found.call
    module = unit.program.module(found.place.source.path)
    if (
        call is None
        or module is None
        or not isinstance(call.func, syntax.Attr)
        or call.args
        or found.work.name != ".contiguous()"
    ):
        return None
    for _, occurrence in everywhere(unit, found):
        if not is_contiguous(occurrence):
            return None
    if not only_used_here(unit, module, found):
        return None
    text = Place(module.source, call.func.base.span).text
    rewrite = replace_expression(module, call, text)
    return Fix(
        "drop the copy: the tensor is contiguous already",
        rewrite.edits,
        Applicability.UNSAFE if rewrite.drops_comment else Applicability.SAFE,
    )


def protects(unit: KernelUnit, found: TimedWork) -> bool:
    """The copy is what the kernel mutates, so that the original stays as it is for the next trial."""
    last = found.work.name.removesuffix("()").rsplit(".", 1)[-1]
    return last in ("clone", "copy_", "deepcopy", "tensor", "new_tensor") and all(
        _mutated(unit, occurrence) for occurrence in found.occurrences
    )


def _mutated(unit: KernelUnit, occurrence: Occurrence) -> bool:
    result, tensors = occurrence.work.result, occurrence.run.tensors
    uses = [use for _, use in use_in_trial(unit, occurrence, result)]
    if any(use.writes is True and use.reads is not False for use in uses):
        return True
    output = occurrence.tuning.output if occurrence.tuning is not None else None
    returned = output is not None and any(tensors.shares_memory(part, result) for part in subterms(output))
    return returned and bool(uses) and all(use.writes is None for use in uses)
