"""Return codes that a name held until it was given another one: by the next launch, or by the next round of the loop."""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.frontends.python.layout import Block, block_of
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.program import Program


def is_in_own_loop(launch: Launch) -> bool:
    """The call stands in a loop of the function that names its code: what is read behind the loop is the last round's."""
    for stop in reversed(launch.event.stack):
        if not isinstance(stop.statement, syntax.Return):
            function = stop.frame.function
            return any(function is None or function.span.covers(loop.span) for loop in launch.event.loops)
    return False


def is_overwritten(launch: Launch, program: Program) -> bool:
    """The only name that the code is given to gets another value before it is read."""
    for stop in reversed(launch.event.stack):
        statement, module = stop.statement, program.module(stop.source.path)
        if module is None or isinstance(statement, syntax.Return):
            continue  # the caller has it
        if not isinstance(statement, syntax.Assign) or not statement.name or statement.op or len(statement.targets) != 1:
            return False
        value = statement.value
        if not isinstance(value, syntax.Call) or value.span not in (launch.place.span, *_calls_of(launch)):
            return False
        block = block_of(module, statement)
        if block is None or _is_shared(stop.frame.function or module, statement.name):
            return False
        return _by_another(block, statement.name) or _by_the_next_round(module, block, statement.name)
    return False


def _calls_of(launch: Launch) -> list[object]:
    return [stop.frame.call.span for stop in launch.event.stack if stop.frame.call is not None]


def _is_shared(root: syntax.Module | syntax.Function, name: str) -> bool:
    """Other functions may read the name."""
    return any(
        (isinstance(node, syntax.Scope) and name in node.names)
        or (isinstance(node, syntax.Function) and node is not root and _mentions(node, name))
        for node in root.walk()
    )


def _by_another(block: Block, name: str) -> bool:
    """A later statement of the same block binds the name, and nothing up to there mentions it otherwise."""
    for statement in block.body[block.index + 1 :]:
        rebinds = (
            isinstance(statement, syntax.Assign) and statement.name == name and not statement.op and len(statement.targets) == 1
        )
        if _mentions(statement, name) > rebinds:
            return False
        if rebinds:
            return True
    return False


def _by_the_next_round(module: syntax.Module, block: Block, name: str) -> bool:
    """The loop around the statement runs to its end and mentions the name nowhere else."""
    loop: syntax.Node | None = block.owner
    while loop is not None and not isinstance(loop, (syntax.For, syntax.While)):
        if not isinstance(loop, (syntax.If, syntax.With)):
            return False
        around = block_of(module, loop)
        loop = around.owner if around is not None else None
    if loop is None or _mentions(loop, name) > 1 or _is_one_round(loop):
        return False
    return not any(isinstance(node, syntax.Break) for node in loop.walk())


def _is_one_round(loop: syntax.Node) -> bool:
    """``for _ in range(1):``, ``for x in (y,):``."""
    over = loop.iter if isinstance(loop, syntax.For) else None
    if isinstance(over, syntax.Sequence):
        return len(over.items) == 1 and not isinstance(over.items[0], syntax.Unary)
    if not isinstance(over, syntax.Call) or not isinstance(over.func, syntax.Name) or over.func.id != "range":
        return False
    bounds = [arg.value.value for arg in over.args if isinstance(arg.value, syntax.Const)]
    return len(bounds) == len(over.args) and bounds in ([1], [0, 1])


def _mentions(node: syntax.Node, name: str) -> int:
    return sum(isinstance(part, syntax.Name) and part.id == name for part in node.walk())
