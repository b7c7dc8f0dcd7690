"""What runs in threads of a call: the machine runs it where it is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit.machine import python_builtins
from cutile_lint.unit.machine.values import Arguments, Entries, Known, Term, Value

if TYPE_CHECKING:
    from cutile_lint.unit.machine.statements import Statements as Machine

_FUTURE = "concurrent.futures.Future"


def on_thread(machine: Machine, base: Term, name: str, arguments: Arguments, node: syntax.Node) -> Value | None:
    """``Thread(target=f, args=…).start()`` and ``join()``, ``pool.submit(f, …)``, ``pool.map(f, …)``, ``future.result()``; None for others."""
    made = base.args[0] if base.op == "entered" else base
    if not isinstance(made, Term) or made.op != "call":
        return None
    kind = made.name.rsplit(".", 1)[-1]
    if kind in ("Thread", "Timer") and name == "start":
        return _started(machine, made, kind, node)
    if kind in ("Thread", "Timer") and name == "join":
        return Known(None)
    if kind.endswith("PoolExecutor") and name == "submit" and arguments.positional:
        rest = Arguments(
            arguments.positional[1:], arguments.keywords, arguments.places[1:], arguments.keyword_places, arguments.exact
        )
        result = _beside(machine, arguments.positional[0], rest, node)
        return Term("call", _FUTURE, (result,), place=machine.place(node))
    if kind.endswith("PoolExecutor") and name == "map":
        return python_builtins.call(machine, "map", arguments, node)
    if made.name == _FUTURE and name == "result":
        return made.args[0]
    return None


def _started(machine: Machine, thread: Term, kind: str, node: syntax.Node) -> Value | None:
    names = ("group", "target", "name", "args", "kwargs") if kind == "Thread" else ("interval", "function", "args", "kwargs")
    given = {**dict(zip(names, thread.args, strict=False)), **thread.keywords}
    target = given.get("target" if kind == "Thread" else "function")
    items = machine.iterate(machine.resolve(given["args"])) if "args" in given else None
    entries = machine.resolve(given["kwargs"]) if "kwargs" in given else None
    if target is None or ("args" in given and items is None) or ("kwargs" in given and not isinstance(entries, Entries)):
        return None
    positional = list(items.items) if items is not None else []
    arguments = Arguments(positional, places=[machine.place(node)] * len(positional), exact=items is None or not items.open)
    for key, value in entries.items() if isinstance(entries, Entries) else ():
        if isinstance(key, Known) and isinstance(key.value, str):
            arguments.keywords[key.value] = value
            arguments.keyword_places[key.value] = machine.place(node)
    machine.emit("call", node, "start", arguments=Arguments(), target=thread)
    _beside(machine, target, arguments, node)
    return Known(None)


def _beside(machine: Machine, callee: Value, arguments: Arguments, node: syntax.Node) -> Value:
    """The result of a call whose errors do not end the path of the one who started it."""
    path, mark = machine.path, len(machine.exits)
    result = machine.call(callee, arguments, node)
    machine.path, machine.alive = path, True
    machine.exits[mark:] = [end for end in machine.exits[mark:] if end[0] != "raise"]
    return result
