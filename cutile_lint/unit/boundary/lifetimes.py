"""Whether the tensor behind a descriptor is still there when the kernel is launched: descriptors keep a pointer only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.flows.lasting import outlives
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.launches import Launch, described_tensor
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.linking.where import statement_in, stop_of
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Choice, Class, Closure, Entries, Items, Partial, Record, Term, Value, alternatives
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed import torch_api as api

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_MAKERS = api.COPY_METHODS | api.FILL_METHODS | api.ALLOCATION_METHODS | api.COMPUTE_METHODS
#: terms whose value is a new tensor, where it is a tensor
_OPERATORS = frozenset(["binary", "unary", "compare"])
#: functions that make one; ``as_tensor`` may give the tensor that it gets
_FUNCTIONS = (api.FILLS - {"as_tensor"}) | api.COPIES | api.ALLOCATIONS | api.COMPUTE_METHODS
#: methods of containers that keep what they are given, and that let go of what they have
_PUTS = frozenset("append appendleft extend extendleft insert setdefault put put_nowait".split())
_EMPTIES = frozenset(["clear", "pop", "popleft", "popitem"])


@dataclass(frozen=True, slots=True)
class DeadTensor:
    """``tensor`` is made at ``place`` and held by nothing when the launch reads its slot ``slot``."""

    place: Place
    tensor: Term
    slot: int
    launch: Launch
    made: Event | None


def dead_tensors(unit: KernelUnit) -> Iterator[DeadTensor]:
    seen: set[Place] = set()
    for run in unit.runs:
        for launch in run.launches:
            if not launch.event.held:
                continue
            held: set[object] | None = None
            for slot, value in enumerate(launch.arguments.positional):
                for path, one in alternatives(value):
                    tensor = described_tensor(one, unit.program)
                    if tensor is None or contradictory(launch.path, path):
                        continue
                    for more, part in alternatives(tensor):
                        origin = fresh(part)
                        if origin is None or contradictory(launch.path, path, more) or _changes_in_place(run, origin):
                            continue
                        held = _held([*launch.event.held, *_stored(run, launch)]) if held is None else held
                        place = part.place or launch.argument_place(slot)
                        if origin.key() not in held and place not in seen and not outlives(unit.program, origin.place):
                            seen.add(place)
                            yield DeadTensor(place, origin, slot, launch, _made(run, one))


def _made(run: Run, descriptor: Value) -> Event | None:
    """The call that made the descriptor."""
    return next(
        (
            event
            for event in run.trace.events
            if event.value is descriptor or (event.kind == "call" and event.place == descriptor.place)
        ),
        None,
    )


# ── memory ─────────────────────────────────────────────────────────────────


def memory(value: Value) -> Value:
    """The value whose memory a tensor lies in: views are looked through, and copies that copy nothing."""
    while isinstance(value, Term) and value.args:
        if value.op == "method" and (value.name in api.VIEWS or (value.name.endswith("_") and not value.name.endswith("__"))):
            value = value.args[0]
        elif (value.op == "attr" and value.name in api.VIEW_ATTRIBUTES) or value.op == "index":
            value = value.args[0]
        elif value.op == "call" and value.name.startswith("torch.") and value.name.rsplit(".", 1)[-1] in api.VIEWS:
            value = value.args[0]
        elif value.op == "method" and value.name == "contiguous" and _is_contiguous(value.args[0]):
            value = value.args[0]
        else:
            break
    return value


def _is_contiguous(value: Value) -> bool:
    if not isinstance(value, Term):
        return False
    if value.op == "method":
        return value.name == "contiguous" or (value.name in ("detach", "requires_grad_") and _is_contiguous(value.args[0]))
    return value.op == "call" and value.name in ("torch.empty", "torch.zeros", "torch.ones", "torch.full")


def fresh(value: Value) -> Term | None:
    """The term that allocated a tensor's memory; None when it is not known to be new. ``x += y`` looks as ``x + y`` does."""
    origin = memory(value)
    if not isinstance(origin, Term):
        return None
    if origin.op in _OPERATORS or (origin.op == "method" and origin.name in _MAKERS and origin.args):
        return origin
    if origin.op == "call" and origin.name == "copy.deepcopy":
        return origin
    if origin.op == "call" and origin.name.startswith("torch.") and origin.name.rsplit(".", 1)[-1] in _FUNCTIONS:
        return origin
    return None


def _changes_in_place(run: Run, origin: Term) -> bool:
    """The operator wrote into its left operand: ``x += y``."""
    return origin.op == "binary" and any(
        event.kind == "operator"
        and event.name == origin.name + "="
        and event.value is not None
        and event.value.key() == origin.key()
        for event in run.trace.events
    )


def _stored(run: Run, launch: Launch) -> list[Value]:
    """What was put into objects whose content is not followed (a module's list, an attribute of a tensor), as far as they were not emptied."""
    found: dict[object, list[Value]] = {}
    for event in run.trace.events[: launch.order]:
        if not isinstance(event.target, (Term, Choice)):
            continue
        if event.kind in ("setitem", "setattr") and event.value is not None:
            found.setdefault(event.target.key(), []).append(event.value)
        elif event.kind == "operator" and event.name == "+=" and isinstance(event.value, Term):
            found.setdefault(event.target.key(), []).append(event.value.args[-1])
        elif event.kind == "call" and event.arguments is not None and event.name in _PUTS:
            found.setdefault(event.target.key(), []).extend([*event.arguments.positional, *event.arguments.keywords.values()])
        elif event.kind == "call" and event.name in _EMPTIES:
            found.pop(event.target.key(), None)
    return [value for values in found.values() for value in values]


def _held(values: Iterable[Value]) -> set[object]:
    """Keys of all memory that the values hold on to."""
    found: set[object] = set()
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        for _, one in alternatives(value):
            if isinstance(one, Items):
                pending += one.items
            elif isinstance(one, Entries):
                pending += one.entries.values()
            elif isinstance(one, Record):
                pending += one.fields.values()
            elif isinstance(one, Partial):
                pending += [one.func, *one.args, *one.keywords.values()]
            elif isinstance(one, Closure):
                pending += one.defaults.values()
                scope = one.scope
                while scope is not None and id(scope) not in seen:
                    seen.add(id(scope))
                    pending += scope.names.values()
                    scope = scope.outer  # type: ignore[assignment]
            elif isinstance(one, Class):
                pending += one.members.values()
            elif isinstance(one, Term):
                found.add(memory(one).key())
                if one.op in ("global", "call") and not one.name.startswith("torch.") and "desc" not in one.name:
                    pending += one.args  # an object of another package may hold what it was given
                    pending += one.keywords.values()
    return found


# ── the fix ────────────────────────────────────────────────────────────────

#: expressions that make a tensor
_EXPRESSIONS = (syntax.Call, syntax.Attr, syntax.Binary, syntax.Unary, syntax.Compare)


def bind_to_local(found: DeadTensor, program: Program) -> Fix | None:
    """A local of its own for the tensor, before the statement that takes the descriptor.

    Safe when the launch is in that very statement's block and the temporary is the descriptor's argument in it.
    """
    from cutile_lint.frontends.python import rewrite

    event = found.made
    if event is None or event.arguments is None:
        return None
    place = next(
        (one for one in (*event.arguments.places[1:], *event.arguments.keyword_places.values()) if one.source.is_python), None
    )
    if place is None:
        return None
    stop = stop_of(event, place)
    module = program.module(place.source.path)
    node = node_at(program, place)
    function = stop.frame.function if stop is not None else None
    if module is None or function is None or not isinstance(node, _EXPRESSIONS):
        return None
    if stop not in _same_frames(found.launch.event, event) or not _unconditional(function, node):
        return None
    statement = statement_in(function, place)
    if statement is None or isinstance(statement, (syntax.For, syntax.While, syntax.If, syntax.With)):
        return None
    name = _new_name(module, node)
    before = rewrite.insert_before(module, statement, [f"{name} = {place.text}"])
    if before is None or "\n" in place.text:
        return None
    edits = (*before.edits, *rewrite.replace_expression(module, node, name).edits)
    whole = statement.span.covers(found.launch.place.span) and place.source.path == found.launch.place.source.path
    return Fix(
        f"keep the tensor in `{name}` until the call is over", tuple(sorted(edits, key=lambda edit: edit.start)),
        Applicability.SAFE if whole else Applicability.UNSAFE,
    )  # fmt: skip


def _same_frames(launch: Event, event: Event):
    frames = {id(stop.frame) for stop in launch.stack}
    return [stop for stop in event.stack if id(stop.frame) in frames]


def _unconditional(function: syntax.Function, node: syntax.Expr) -> bool:
    """The expression is evaluated once where its statement is: in no comprehension, lambda or conditional expression."""
    return not any(
        isinstance(outer, (syntax.Comprehension, syntax.Lambda, syntax.Cond, syntax.Logic)) and outer.span.covers(node.span)
        for outer in function.walk()
        if outer.span != function.span
    )


def _new_name(module: syntax.Module, node: syntax.Expr) -> str:
    from cutile_lint.unit.linking.python_names import occurs

    inner = node
    while isinstance(inner, (syntax.Call, syntax.Attr)):
        inner = inner.func if isinstance(inner, syntax.Call) else inner.base
    stem = f"{inner.id}_kept" if isinstance(inner, syntax.Name) and inner.id != "torch" else "kept"
    name, count = stem, 2
    while occurs(module, name):
        name, count = f"{stem}{count}", count + 1
    return name
