"""Copies in the timed region that are there for a reason, or for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.linking.callers import everywhere, only_used_here
from cutile_lint.unit.machine.values import Term, Value, subterms
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
        operand = occurrence.work.operand
        if operand is None or occurrence.run.tensors.contiguous(operand) is not True:
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


def is_contiguous(found: TimedWork) -> bool:
    """A ``.contiguous()`` that is known to copy nothing."""
    return found.work.name == ".contiguous()" and all(
        occurrence.run.tensors.contiguous(occurrence.work.operand) is True for occurrence in found.occurrences
    )


def is_of_that_type(found: TimedWork) -> bool:
    """A ``.to(dtype)`` of a tensor that is known to have the dtype: it copies nothing."""
    return found.work.name == ".to()" and all(_has_type(occurrence) for occurrence in found.occurrences)


def _has_type(occurrence: Occurrence) -> bool:
    given, operand = occurrence.work.event.arguments, occurrence.work.operand
    if given is None or operand is None:
        return False
    wanted = [value for value in (*given.positional, *given.keywords.values()) if value.key() != operand.key()]
    if len(wanted) != 1 or not isinstance(wanted[0], Term) or wanted[0].op != "attr" or wanted[0].name != "dtype":
        return False
    mine, theirs = _typed(occurrence, operand), _typed(occurrence, wanted[0].args[0])
    if mine is None or theirs is None:
        return False
    same = {mine.key(), theirs.key()}
    return len(same) == 1 or any(
        literal.holds and _compared(occurrence, literal.test) == same for literal in occurrence.work.event.path
    )


def _compared(occurrence: Occurrence, test: Value) -> set[object]:
    """The tensors whose dtypes a test compares for equality."""
    if not isinstance(test, Term) or test.op != "compare" or test.name != "==":
        return set()
    tensors = [
        _typed(occurrence, arg.args[0]) for arg in test.args if isinstance(arg, Term) and arg.op == "attr" and arg.name == "dtype"
    ]
    return {tensor.key() for tensor in tensors if tensor is not None}


def _typed(occurrence: Occurrence, value: Value) -> Value | None:
    """The one tensor that a value has its dtype from, through views and copies."""
    found: dict[object, Value] = {}
    left = [value]
    while left:
        for root in occurrence.run.tensors.roots(left.pop()):
            if isinstance(root, Term) and root.op == "method" and root.name in ("contiguous", "clone"):
                left.append(root.args[0])
            else:
                found[root.key()] = root
    return next(iter(found.values())) if len(found) == 1 else None


def protects(unit: KernelUnit, found: TimedWork) -> bool:
    """The copy is what the kernel mutates, so that the original stays as it is for the next trial."""
    last = found.work.name.removesuffix("()").rsplit(".", 1)[-1]
    return last in ("clone", "copy_") and all(_mutated(unit, occurrence) for occurrence in found.occurrences)


def _mutated(unit: KernelUnit, occurrence: Occurrence) -> bool:
    result, tensors = occurrence.work.result, occurrence.run.tensors
    uses = [use for _, use in use_in_trial(unit, occurrence, result)]
    if any(use.writes is True and use.reads is not False for use in uses):
        return True
    output = occurrence.tuning.output if occurrence.tuning is not None else None
    returned = output is not None and any(tensors.shares_memory(part, result) for part in subterms(output))
    return returned and bool(uses) and all(use.writes is None for use in uses)
