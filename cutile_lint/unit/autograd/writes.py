"""Inputs that are detached, and whose memory a kernel then writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.device.effects import given_tensor
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.values import Choice, Items, Term, Value, alternatives
from cutile_lint.unit.timed.torch_api import PERHAPS_COPIES, VIEW_ATTRIBUTES, VIEWS

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.runs import Run

_DETACHES = ("detach", "detach_")
#: methods whose result is (or may be) the same memory
_SAME_MEMORY = VIEWS | PERHAPS_COPIES | {"contiguous", "view", "requires_grad_"}


@dataclass(slots=True, eq=False)
class DetachedWrite:
    """``detach``: the call that made the alias; ``store``: where the kernel writes it, when that is known."""

    run: Run
    input: Term
    detach: Place
    call: Term
    launch: Launch
    slot: int
    store: Place | None


def detached_writes(unit: KernelUnit) -> Iterator[DetachedWrite]:
    """Each detached input that a launch reads and writes, once."""
    for run in unit.runs:
        returned = [one for _, value in run.trace.returned for one in _results(value)]
        seen: set[object] = set()
        for launch in run.launches:
            for slot, argument in enumerate(launch.arguments.positional):
                tensor = given_tensor(argument, run.program)
                for path, one in alternatives(tensor) if tensor is not None else []:
                    found = detached_alias(one)
                    if found is None or contradictory(launch.path, path):
                        continue
                    source, call = found
                    if source.key() in seen or call.place is None or _is_output(source, returned, run, launch):
                        continue
                    use = unit.buffer_use(launch, slot)
                    # a buffer that is only written is an output that the caller passed
                    if use.writes is True and use.reads is True:
                        seen.add(source.key())
                        yield DetachedWrite(
                            run, source, call.place, call, launch, slot, next(iter(use.stores or use.atomics), None)
                        )


def detached_alias(value: Value) -> tuple[Term, Term] | None:
    """(input, detaching call) of a tensor that is an input's memory without its history; None for copies."""
    call: Term | None = None
    while isinstance(value, Term):
        if value.op == "input":
            return (value, call) if call is not None else None
        if (value.op == "method" and value.name in _DETACHES) or (value.op == "call" and value.name == "torch.detach"):
            call = value
        elif value.op == "attr" and value.name == "data":
            call = value
        elif (value.op == "attr" and value.name in VIEW_ATTRIBUTES) or value.op == "index":
            pass
        elif value.op == "method" and value.name in _SAME_MEMORY:
            pass
        else:
            return None
        if not value.args:
            return None
        value = value.args[0]
        if isinstance(value, Choice):
            leaves = [leaf for _, leaf in alternatives(value)]
            value = leaves[0]
    return None


def _results(value: Value) -> Iterator[Value]:
    for _, one in alternatives(value):
        if isinstance(one, Items):
            for item in one.items:
                yield from _results(item)
        else:
            yield one


def _is_output(source: Term, returned: list[Value], run: Run, launch: Launch) -> bool:
    """The op is one that works in place and says so: it returns the input, or is named so (``copy_``), or the input is (``out``)."""
    if (
        run.function.name.endswith("_")
        or source.name in ("out", "output", "dst", "y")
        or source.name.startswith(("out_", "output_"))
    ):
        return True
    return any(_memory_of(one, source) for one in returned)


def _memory_of(value: Value, source: Term) -> bool:
    """A result is the input's memory."""
    while isinstance(value, Term):
        if value.key() == source.key():
            return True
        if not value.args or (value.op == "call" and value.name != "torch.detach"):
            return False
        if value.op == "method" and value.name not in _SAME_MEMORY:
            return False
        value = value.args[0]
        if isinstance(value, Choice):
            return any(_memory_of(leaf, source) for _, leaf in alternatives(value))
    return False
