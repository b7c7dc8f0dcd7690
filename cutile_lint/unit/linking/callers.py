"""Who else runs a place of the timed region: other ops of the wrapper, and code that no run came to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit.linking.names import last_name
from cutile_lint.unit.linking.python_names import functions_around, mentions, nodes_naming
from cutile_lint.unit.machine.trace import Stop
from cutile_lint.unit.timed.region import Occurrence, TimedWork

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


def everywhere(unit: KernelUnit, found: TimedWork) -> list[tuple[KernelUnit, Occurrence]]:
    """The occurrences of the work in all ops of the wrapper, those outside of a timed region among them."""
    return [
        (other, Occurrence(run, next((one for one in run.tunings if one.number == work.event.timed), None), work))
        for other in unit.siblings
        for run in other.runs
        for work in run.tensors.works()
        if work.kind == found.kind and work.event.node is found.work.event.node
    ]


def only_used_here(unit: KernelUnit, module: syntax.Module, found: TimedWork) -> bool:
    """Every use of the functions around the place was come to in the runs of the wrapper's ops."""
    stops = found.first.inside
    if not stops:
        return True
    if stops[-1].source is not found.first.run.source:
        return False
    runs = [run for other in unit.siblings for run in other.runs]
    stacks: dict[tuple[int, ...], tuple[Stop, ...]] = {}
    for run in runs:
        for event in run.trace.events:
            stacks.setdefault(tuple(id(stop.frame) for stop in event.stack), event.stack)
    seen = {
        (stop.frame.call.source.path, stop.frame.call.span)
        for stack in stacks.values()
        for stop in stack
        if stop.frame.call is not None
    }
    around = [stop.frame.function for stop in found.work.event.stack if stop.source.path == module.source.path]
    ops = {id(run.function) for run in runs}  # run with symbols for all arguments: whoever calls an op does no more than that
    return all(_calls_seen(module, function, seen) for function in around if function is not None and id(function) not in ops)


def _calls_seen(module: syntax.Module, function: syntax.Function, seen: set) -> bool:
    """Each call of the function in its module was made in a run; a function that others may import is not known."""
    if not function.name:
        return True
    if functions_around(module, function):
        return True  # nested: whoever calls it is in the function around it
    if _module_level(module, function) and not function.name.startswith("_"):
        return False
    calls = [
        node
        for node in nodes_naming(module, function.name)
        if isinstance(node, syntax.Call)
        and isinstance(node.func, (syntax.Name, syntax.Attr))
        and last_name(node.func) == function.name
    ]
    known = sum((module.source.path, node.span) in seen for node in calls)
    return known == len(calls) and mentions(module, function.name) - len(calls) <= 1


def _module_level(module: syntax.Module, function: syntax.Function) -> bool:
    return any(isinstance(item, syntax.FunctionDef) and item.function is function for item in module.body)
