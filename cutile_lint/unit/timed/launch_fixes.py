"""Taking out a launch whose work is lost, and using the tuner's output in place of one more launch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.device.effects import given_tensor
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.trace import Event, Tuning
from cutile_lint.unit.model import KernelUnit
from cutile_lint.unit.timed import torch_api as api
from cutile_lint.unit.timed.repeats import Wasted, is_fresh, work_is_lost

_PURE = frozenset(
    "int float str bool len max min abs tuple list dict getattr hasattr isinstance range zip sum repr ceil floor SimpleNamespace format join "
    "get items keys values cast new bit_length".split()
)
_IMPURE = frozenset(["rand", "randn", "randint", "randperm", "normal", "bernoulli", "manual_seed", "save", "load"])


def delete_launch(unit: KernelUnit, wasted: Wasted) -> Fix | None:
    """Delete the statement that does the launch, with the checks of its return code."""
    from cutile_lint.frontends.python import rewrite

    statement, function = wasted.stop.statement, wasted.stop.frame.function
    module = unit.program.module(wasted.stop.source.path)
    if wasted.why == "repeated" or statement is None or function is None or module is None:
        return None
    doomed = _belonging(unit, wasted, statement, function)
    if doomed is None or any(_does(wasted.other, one) for one in doomed):
        return None
    if not all(_lost_too(unit, wasted, event) for event in _events_of(wasted, statement)):
        return None
    if any(event.kind == "call" and event.name == "start" for event in _events_of(wasted, statement)):
        return None  # a thread that is not started cannot be joined
    rewrites = [rewrite.delete_statement(module, one) for one in doomed]
    if any(one is None for one in rewrites):
        return None
    edits = tuple(edit for one in rewrites if one is not None for edit in one.edits)
    if any(first.end > second.start for first, second in pairwise(edits)):
        return None
    safe = (
        wasted.known
        and not wasted.launch.event.tries
        and all(_harmless(unit, wasted, event) for event in _events_of(wasted, statement))
        and not any(one.drops_comment for one in rewrites if one is not None)
    )
    return Fix("delete the launch", edits, Applicability.SAFE if safe else Applicability.UNSAFE)


def _does(launch: Launch, statement: syntax.Stmt) -> bool:
    """The statement does the launch, in whichever of a function's calls: without it the launch is gone, too."""
    return any(stop.statement is statement for stop in launch.event.stack)


def _belonging(unit: KernelUnit, wasted: Wasted, statement: syntax.Stmt, function: syntax.Function) -> list[syntax.Stmt] | None:
    """The statement and what only serves it; None when its result is used for something else."""
    if isinstance(statement, syntax.ExprStmt):
        return [statement]
    if (name := bound_name(statement)) is None:
        return None
    doomed: list[syntax.Stmt] = [statement]
    siblings = _after(function, statement)
    while siblings and _only_checks(unit, wasted, siblings[0], name):
        doomed.append(siblings.pop(0))
    return doomed if unread_after(function, statement, name, siblings, doomed[-1].span.end) else None


def bound_name(statement: syntax.Stmt) -> str | None:
    """The name that a plain ``name = …`` binds."""
    if not isinstance(statement, syntax.Assign) or statement.op or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return target.id if isinstance(target, syntax.Name) else None


def unread_after(
    function: syntax.Function,
    statement: syntax.Stmt,
    name: str,
    siblings: list[syntax.Stmt] | None = None,
    end: int | None = None,
) -> bool:
    """Nothing reads what a statement binds to a name: it is not mentioned again before it is bound anew."""
    end = statement.span.end if end is None else end
    siblings = _after(function, statement) if siblings is None else siblings
    if any(isinstance(node, (syntax.For, syntax.While)) and node.span.covers(statement.span) for node in _walk(function)):
        return not [node for node in _mentions(function, name) if not statement.span.covers(node.span)]
    later = sorted((node for node in _mentions(function, name) if node.span.start >= end), key=lambda node: node.span.start)
    return not later or _bound_anew(siblings, later[0])


def _mentions(function: syntax.Function, name: str) -> Iterator[syntax.Name]:
    """Where a function's own name is mentioned; inner functions that bind the name themselves are left out."""
    stack: list[syntax.Node] = [*function.body]
    while stack:
        node = stack.pop()
        if isinstance(node, syntax.Name) and node.id == name:
            yield node
        if isinstance(node, syntax.Function) and _binds(node, name):
            continue
        stack.extend(node.children())


def _binds(function: syntax.Function, name: str) -> bool:
    if any(param.name == name for param in function.params):
        return True
    own = [node for part in function.body for node in _walk(part)]
    if any(isinstance(node, syntax.Scope) and name in node.names for node in own):
        return False
    targets = [target for node in own if isinstance(node, syntax.Assign) and not node.op for target in node.targets]
    return any(isinstance(target, syntax.Name) and target.id == name for target in targets)


def _only_checks(unit: KernelUnit, wasted: Wasted, statement: syntax.Stmt, name: str) -> bool:
    """``check_rc(rc, …)``."""
    if not isinstance(statement, syntax.ExprStmt) or not isinstance(statement.value, syntax.Call):
        return False
    if not any(isinstance(arg.value, syntax.Name) and arg.value.id == name for arg in statement.value.args):
        return False
    return any(event.kind == "call" and unit.program.role(event.name) == "check-rc" for event in _events_of(wasted, statement))


def _bound_anew(siblings: list[syntax.Stmt], name: syntax.Name) -> bool:
    """The next mention of the name, in a statement that is always reached, binds it."""
    for sibling in siblings:
        if sibling.span.covers(name.span):
            if not isinstance(sibling, syntax.Assign) or sibling.op or any(node.id == name.id for node in _names(sibling.value)):
                return False
            return any(target is name for target in _targets(sibling.targets))
    return False


def _targets(targets: list[syntax.Expr]) -> Iterator[syntax.Expr]:
    for target in targets:
        if isinstance(target, syntax.Sequence):
            yield from _targets(target.items)
        else:
            yield target


def _after(function: syntax.Function, statement: syntax.Stmt) -> list[syntax.Stmt]:
    """The statements behind one in its block."""
    for node in _walk(function):
        for name in ("body", "orelse", "final"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for at, one in enumerate(block):
                    if one is statement:
                        return block[at + 1 :]
    return []


def _events_of(wasted: Wasted, statement: syntax.Stmt) -> Iterator[Event]:
    """What happens in a statement of the frame in which the launch is lost."""
    for event in wasted.run.trace.events:
        if any(stop.frame is wasted.stop.frame and stop.statement is statement for stop in event.stack):
            yield event


def _lost_too(unit: KernelUnit, wasted: Wasted, event: Event) -> bool:
    """The event is no launch, or one whose work is lost as well (a round of the same loop)."""
    launch = next((launch for launch in wasted.run.launches if launch.event is event), None)
    if launch is None or launch is wasted.launch:
        return True
    return launch is not wasted.other and work_is_lost(unit, wasted.run, launch, wasted.other)


def _harmless(unit: KernelUnit, wasted: Wasted, event: Event) -> bool:
    """Nothing but launches whose work is lost goes with the event."""
    if event.kind in ("raise", "assert", "convert", "operator", "delete") or any(
        one.event is event for one in wasted.run.launches
    ):
        return True
    if event.kind != "call":
        return False
    last = event.name.rsplit(".", 1)[-1]
    if unit.program.role(event.name):
        return True
    if last in _IMPURE or (last.endswith("_like") and last.startswith("rand")):
        return False
    if event.name.startswith("torch.") or last.endswith(("Error", "Exception")):
        return True
    return (
        last in _PURE
        or last in api.METADATA_METHODS
        or last in api.VIEWS
        or last in api.ALLOCATION_METHODS
        or last in ("contiguous", "clone")
    )


# ── the tuner's output ──


def use_output(unit: KernelUnit, wasted: Wasted, tuning: Tuning) -> Fix | None:
    """``result.output`` in place of the launch that computes it again."""
    from cutile_lint.frontends.python import rewrite

    statement, module = wasted.stop.statement, unit.program.module(wasted.stop.source.path)
    name = _result_name(wasted, tuning)
    if name is None or statement is None or module is None:
        return None
    call = next((node for node in _walk(statement) if isinstance(node, syntax.Call) and node.span == wasted.place.span), None)
    if call is None:
        return None
    if isinstance(statement, (syntax.Return, syntax.Assign)) and not _gives_code(wasted):
        made = rewrite.replace_expression(module, call, f"{name}.output")
    elif (
        isinstance(statement, syntax.ExprStmt)
        and (output := _output_name(unit, wasted, call)) is not None
        and statement.value is call
    ):
        made = rewrite.replace_expression(module, call, f"{output} = {name}.output")
    else:
        return None
    return Fix(f"use `{name}.output`", made.edits, Applicability.UNSAFE)


def _gives_code(wasted: Wasted) -> bool:
    """The call is the launch itself: its value is a return code."""
    return wasted.place == wasted.launch.place


def _result_name(wasted: Wasted, tuning: Tuning) -> str | None:
    """The local that the tuner's result is bound to, in the function of the launch."""
    stop = tuning.event.stack[-1]
    statement = stop.statement
    if stop.frame is not wasted.stop.frame or not isinstance(statement, syntax.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    direct = statement.value is not None and Place(stop.source, statement.value.span) == tuning.event.place
    return target.id if isinstance(target, syntax.Name) and direct else None


def _output_name(unit: KernelUnit, wasted: Wasted, call: syntax.Call) -> str | None:
    """The local given for the buffer that the launch writes."""
    at = next((at for at, stop in enumerate(wasted.launch.event.stack) if stop.frame is wasted.stop.frame), None)
    written = unit.effects.written_slots(wasted.launch)
    if at is None or at + 1 >= len(wasted.launch.event.stack) or not written or len(written) != 1:
        return None
    tensor = given_tensor(wasted.launch.arguments.positional[written[0]], wasted.run.program)
    entered = wasted.launch.event.stack[at + 1].frame.arguments
    if tensor is None or entered is None or not is_fresh(wasted.run, tensor):
        return None
    for argument in call.args:
        if not isinstance(argument.value, syntax.Name):
            continue
        place = Place(wasted.stop.source, argument.value.span)
        for value, given in zip(entered.positional, entered.places, strict=False):
            if given == place and value.key() == tensor.key():
                return argument.value.id
    return None


def _names(node: syntax.Node | None) -> Iterator[syntax.Name]:
    if node is not None:
        yield from (one for one in _walk(node) if isinstance(one, syntax.Name))


def _walk(node: syntax.Node) -> Iterator[syntax.Node]:
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(item.children())
