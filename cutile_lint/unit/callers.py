"""Who else runs a place of the timed region: whether a change there is seen by anyone else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit.python_names import mentions
from cutile_lint.unit.region import TimedWork

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


def only_used_here(unit: KernelUnit, module: syntax.Module, found: TimedWork) -> bool:
    """Every use of the function around the place was come to in the runs, and in a timed region."""
    stops = found.first.inside
    if not stops:
        return True
    function = stops[-1].frame.function
    if function is None or not function.name:
        return True
    if stops[-1].source is not found.first.run.source:
        return False
    for run in unit.runs:
        for event in run.trace.events:
            if event.node is found.work.event.node and not event.timed and event.kind == "call":
                return False
    seen = {
        (stop.frame.call.source.path, stop.frame.call.span)
        for run in unit.runs
        for event in run.trace.events
        if event.timed
        for stop in event.stack
        if stop.frame.function is function and stop.frame.call is not None
    }
    if len(stops) == 1 and _module_level(module, function) is False:
        return True
    if _module_level(module, function) and not function.name.startswith("_") and len(stops) > 1:
        return False
    calls = [
        node
        for node in module.walk()
        if isinstance(node, syntax.Call)
        and isinstance(node.func, (syntax.Name, syntax.Attr))
        and _last(node.func) == function.name
    ]
    names = mentions(module, function.name)
    known = sum((module.source.path, node.span) in seen for node in calls)
    return names - len(calls) <= (1 if len(stops) == 1 else 0) and known == len(calls)


def _module_level(module: syntax.Module, function: syntax.Function) -> bool:
    return any(isinstance(item, syntax.FunctionDef) and item.function is function for item in module.body)


def _last(node: syntax.Expr) -> str:
    return node.id if isinstance(node, syntax.Name) else node.name if isinstance(node, syntax.Attr) else ""
