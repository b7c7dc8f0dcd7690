"""Element types that a launch takes for granted: descriptors borrowed as the dispatched type although nothing ties their dtype to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.null_checks import named_code
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.launches import KernelLaunch, Launch, described_tensor
from cutile_lint.unit.linking.crate import Crate
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.rust import Metavariable
from cutile_lint.unit.machine.values import Choice, Closure, Condition, Known, Literal, Term, Value, alternatives, subterms
from cutile_lint.unit.options.setters import inputs_in
from cutile_lint.unit.timed import torch_api as api

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

Key = tuple[str, object]

_ELEMENT = regex(r"(?:Tensor\s*<|\*\s*(?:mut|const)\b)\s*(\w+)")
_KEEPS = api.VIEWS | frozenset(
    ["contiguous", "clone", "cuda", "cpu", "repeat", "tile", "flip", "roll", "repeat_interleave", "pin_memory"]
)
_CASTS = {
    "float": "float32", "half": "float16", "bfloat16": "bfloat16", "double": "float64", "int": "int32", "long": "int64", "short": "int16",
    "bool": "bool", "byte": "uint8", "char": "int8",
}  # fmt: skip
#: the name of a Rust element type among PyTorch's dtypes
_TORCH = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "i32": "int32",
    "i64": "int64",
    "i8": "int8",
    "u8": "uint8",
}


# ── dtypes in Python ───────────────────────────────────────────────────────


def dtype_of(value: Value) -> Key | None:
    """What a tensor's dtype is: ("input", its input) or ("known", "float16"); None when it cannot be told."""
    if isinstance(value, Choice):
        keys = {dtype_of(one) for _, one in alternatives(value)}
        return keys.pop() if len(keys) == 1 else None
    if not isinstance(value, Term):
        return None
    if value.op == "input":
        return ("input", value.key())
    if value.op == "index" or (value.op == "attr" and value.name in api.VIEW_ATTRIBUTES):
        return dtype_of(value.args[0]) if _is_tensorlike(value.args[0]) else None
    if value.op == "method" and value.args:
        return _of_method(value)
    if value.op == "call" and value.name.startswith("torch."):
        return _of_function(value)
    return None


def _is_tensorlike(value: Value) -> bool:
    return not (isinstance(value, Term) and value.op == "input" and value.name in ("args", "kwargs"))


def _of_method(value: Term) -> Key | None:
    name, base = value.name, value.args[0]
    if "dtype" in value.keywords:
        return dtype_named(value.keywords["dtype"])
    if name in _KEEPS or name.startswith("new_") or (name.endswith("_") and not name.endswith("__")):
        return dtype_of(base)
    if name in _CASTS and len(value.args) == 1:
        return ("known", _CASTS[name])
    if name == "type_as":
        return dtype_of(value.args[1]) if len(value.args) > 1 else None
    if name in ("to", "type"):
        named = [
            key for arg in value.args[1:] if (key := dtype_named(arg) or (dtype_of(arg) if name == "to" else None)) is not None
        ]
        if named:
            return named[0]
        plain = all(_names_no_dtype(arg) for arg in value.args[1:])
        return dtype_of(base) if plain and "other" not in value.keywords else None
    return None


def _names_no_dtype(value: Value) -> bool:
    """A device, a flag: nothing that could be a dtype or a tensor."""
    if isinstance(value, Known):
        return True
    return isinstance(value, Term) and (
        (value.op == "attr" and value.name == "device") or (value.op == "call" and value.name == "torch.device")
    )


def _of_function(value: Term) -> Key | None:
    name = value.name.rsplit(".", 1)[-1]
    if "dtype" in value.keywords:
        return dtype_named(value.keywords["dtype"])
    if (name in api.LIKE or name in _KEEPS) and value.args:
        return dtype_of(value.args[0])
    return None


def dtype_named(value: Value) -> Key | None:
    """The dtype that an expression names (``torch.float16``, ``x.dtype``)."""
    if isinstance(value, Choice):
        keys = {dtype_named(one) for _, one in alternatives(value)}
        return keys.pop() if len(keys) == 1 else None
    if isinstance(value, Term):
        if value.op == "external" and value.name.startswith("torch."):
            return ("known", value.name.removeprefix("torch."))
        if value.op == "attr" and value.name == "dtype":
            return dtype_of(value.args[0])
    return None


class Ties:
    """Which dtypes a path has found to be the same. A test that speaks of several is taken to tie them."""

    def __init__(self, launch: Launch, unit: KernelUnit) -> None:
        self._parents: dict[Key, Key] = {}
        for literal in launch.path:
            self._tie(self._spoken_of(literal.test))
        for run in unit.runs:
            if launch not in run.launches:
                continue
            for event in run.trace.events[: launch.order]:
                if (
                    event.kind == "call"
                    and event.arguments is not None
                    and event.target is None
                    and unit.program.role(event.name) is None
                ):
                    if not event.name.startswith(("torch.", "cutile_")):
                        given = [*event.arguments.positional, *event.arguments.keywords.values()]
                        self._tie([key for one in given if (key := dtype_of(one)) is not None])

    def _spoken_of(self, test: Value) -> list[Key]:
        keys = [key for part in subterms(test) if (key := dtype_named(part)) is not None]
        inputs = [key for key in keys if key[0] == "input"]
        if isinstance(test, Term) and test.op == "compare" and test.name in ("==", "is"):
            return keys
        return inputs  # `x.dtype in (a, b)` says which types there are, not which one it is

    def _tie(self, keys: list[Key]) -> None:
        for key in keys[1:]:
            self._parents[self._root(key)] = self._root(keys[0])

    def _root(self, key: Key) -> Key:
        while key in self._parents and self._parents[key] != key:
            key = self._parents[key]
        return key

    def same(self, first: Key, second: Key, path: Condition = ()) -> bool:
        """The two are equal, on ``path`` at least."""
        known = self._parents
        equal = [pair for literal in path if (pair := _equal_dtypes(literal)) is not None]
        if equal:
            self._parents = dict(known)
            for pair in equal:
                self._tie(pair)
        found = self._root(first) == self._root(second)
        self._parents = known
        return found


def _equal_dtypes(literal: Literal) -> list[Key] | None:
    """The dtypes that a condition finds to be one (``a.dtype == b.dtype``, or ``!=`` that does not hold)."""
    test, holds = literal.test, literal.holds
    while isinstance(test, Term) and test.op == "not":
        test, holds = test.args[0], not holds
    if not isinstance(test, Term) or test.op != "compare" or test.name not in (("==", "is") if holds else ("!=", "is not")):
        return None
    keys = [key for arg in test.args if (key := dtype_named(arg)) is not None]
    return keys if len(keys) == 2 else None


# ── the boundary ───────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Untied:
    """The descriptor in ``slot`` is borrowed as ``element`` at ``place``; the type comes from ``leader`` (None: it is fixed)."""

    boundary: Boundary
    slot: Slot
    leader: Slot | None
    element: str
    place: Place
    launch: Launch


def untied_descriptors(unit: KernelUnit) -> Iterator[Untied]:
    for boundary in unit.boundary:
        seen: set[int] = set()
        ties: dict[int, Ties] = {}
        for kernel in boundary.kernel_launches:
            spoken, borrowed = unit.crate.once((_borrowed, id(kernel)), lambda kernel=kernel: _read(kernel))
            for name, leading, element in borrowed:
                slot, leader = boundary.slot_named(name), boundary.slot_named(leading)
                if slot is None or (leading and (leader is None or not leader.is_descriptor)):
                    continue
                if slot.index in seen or _is_compared(slot, leader, spoken):
                    continue
                launch = next(
                    (one for one in boundary.launches if _is_untied(unit, boundary, one, slot, leader, element, ties)), None
                )
                place = _borrow_place(boundary, slot)
                if launch is not None:
                    seen.add(slot.index)
                    yield Untied(boundary, slot, leader, element, place or slot.place, launch)


def _read(kernel: KernelLaunch) -> tuple[list[tuple[Literal, set[str]]], list[tuple[str, str, str]]]:
    """The conditions on the way to a launch that speak of dtypes, and its tensor arguments."""
    spoken = [(literal, names) for literal in kernel.path if (names := _dtypes_in(literal.test))]
    return spoken, list(_borrowed(kernel, spoken))


def _borrowed(kernel: KernelLaunch, spoken: list[tuple[Literal, set[str]]]) -> Iterator[tuple[str, str, str]]:
    """(parameter, the one whose dtype was dispatched on or "", element type) for each tensor argument of a launch."""
    entry, generics = kernel.entry, kernel.generics
    if entry is None or len(entry.function.params) != len(kernel.arguments):
        return
    names = [generic.name for generic in entry.generics]
    for param, value in zip(entry.function.params, kernel.arguments, strict=True):
        found = _ELEMENT.search(param.annotation)
        owners = {
            name
            for part in subterms(value)
            if isinstance(part, Term) and part.op == "attr" and part.name == "ptr"
            for name in inputs_in(part.base)
        }
        if found is None or len(owners) != 1:
            continue
        element, owner = found.group(1), owners.pop()
        if element not in names:
            yield owner, "", element
        elif generics is not None and len(generics.items) == len(names):
            item = generics.items[names.index(element)]
            leaders = _dispatched(item)
            if isinstance(item, Known):  # the text was settled by the `match` on the way here
                leaders = {name for _, names_there in spoken for name in names_there}
            if len(leaders) == 1 and (leader := leaders.pop()) != owner:
                yield owner, leader, element


def _dispatched(item: Value) -> set[str]:
    """The descriptors whose dtype a generic's text depends on."""
    found: set[str] = set()
    pending = [item]
    while pending:
        for part in subterms(pending.pop()):
            if isinstance(part, Term) and part.op == "attr" and part.name == "dtype":
                found |= inputs_in(part.base)
            elif isinstance(part, Choice):
                pending += [literal.test for path, _ in part.alternatives for literal in path]
            elif isinstance(part, Closure):
                pending += _captured(part)
    return found


def _is_compared(slot: Slot, leader: Slot | None, spoken: list[tuple[Literal, set[str]]]) -> bool:
    """A condition on the way to the launch speaks of the descriptor's dtype and of the other's, or of a constant; or several do,
    one after the other (``b`` with ``a``, ``c`` with ``b``)."""
    known: set[str] = set()
    reached = {slot.name}
    while reached - known:
        known |= reached
        reached = set().union(*(names for _, names in spoken if names & known))
    if leader is None:
        return slot.name in reached
    return leader.name in reached or any(slot.name in names and _with_constant(one.test, one.holds) for one, names in spoken)


def _with_constant(test: Value, holds: bool) -> bool:
    return (
        holds
        and isinstance(test, Term)
        and test.op == "compare"
        and test.name == "=="
        and any(isinstance(arg, Known) for arg in test.args)
    )


def _dtypes_in(test: Value) -> set[str]:
    found: set[str] = set()
    for part in subterms(test):
        if isinstance(part, Term) and part.op == "attr" and part.name == "dtype":
            found |= inputs_in(part.base)
        elif isinstance(part, Term) and part.op in ("call", "method") and _asks_for_dtypes(part):
            found |= inputs_in(part)
        elif isinstance(part, Choice):
            for path, _ in part.alternatives:
                for literal in path:
                    found |= _dtypes_in(literal.test)
        elif isinstance(part, Closure):
            for value in _captured(part):
                found |= _dtypes_in(value)
    return found


def _asks_for_dtypes(check: Term) -> bool:
    """A function by its name, or the closure that it is given by what it reads of its parameters: ``all(|d| d.dtype == code)``."""
    if "dtype" in check.name:
        return True
    read = (node for arg in check.args if isinstance(arg, Closure) for node in arg.function.walk())
    return any(isinstance(node, syntax.Attr) and node.name == "dtype" for node in read)


def _captured(closure: Closure) -> list[Value]:
    """What the names in a closure (``|(code, _)| *code == desc.dtype``) mean outside of it, functions apart."""
    own = {param.name for param in closure.function.params}
    names = {node.id for node in closure.function.walk() if isinstance(node, syntax.Name)} - own
    values = [value for name in sorted(names) if (value := closure.scope.lookup(name)) is not None]
    values = [value.value if isinstance(value, Metavariable) else value for value in values]
    return [value for value in values if not isinstance(value, Closure)]


def _is_untied(
    unit: KernelUnit, boundary: Boundary, launch: Launch, slot: Slot, leader: Slot | None, element: str, made: dict[int, Ties]
) -> bool:
    if not boundary.is_aligned(launch):
        return False
    wanted: list[tuple[Condition, Key]] = [((), ("known", _TORCH[element]))] if leader is None and element in _TORCH else []
    if leader is not None:
        wanted = list(_keys(unit, launch, leader.index))
    elif not wanted:
        return False
    ties = made.get(id(launch))
    if ties is None:
        ties = made[id(launch)] = Ties(launch, unit)
    for path, key in _keys(unit, launch, slot.index):
        for other_path, other in wanted:
            if not contradictory(launch.path, path, other_path) and not ties.same(key, other, path + other_path):
                return True
    return False


def _keys(unit: KernelUnit, launch: Launch, index: int) -> Iterator[tuple[Condition, Key]]:
    for path, value in alternatives(launch.arguments.positional[index]):
        tensor = described_tensor(value, unit.program)
        for more, one in alternatives(tensor) if tensor is not None else ():
            key = dtype_of(one)
            if key is not None:
                yield path + more, key


def _borrow_place(boundary: Boundary, slot: Slot) -> Place | None:
    """Where the export makes a tensor or pointer from the descriptor."""
    source = boundary.export.source
    for event in boundary.run.trace.events:
        if event.kind != "call" or event.arguments is None or not event.arguments.positional:
            continue
        if not any(word in event.name for word in ("from_raw_parts", "DevicePointer", "from_foreign", "borrow_raw_parts")):
            continue
        first = event.arguments.positional[0]
        if isinstance(first, Term) and first.op == "attr" and first.name == "ptr" and inputs_in(first.base) == {slot.name}:
            places = [event.place, *(stop.frame.call for stop in reversed(event.stack) if stop.frame.call is not None)]
            return next((place for place in places if place.source.path == source.path), None)
    return None


# ── the fix ────────────────────────────────────────────────────────────────


def compare_in_export(found: Untied, crate: Crate) -> Fix | None:
    """Refuse a descriptor of another dtype before the launch."""
    from cutile_lint.frontends.rust import rewrite

    leader, export = found.leader, found.boundary.export
    if leader is None:
        return None
    own, other = _reference(found.boundary, found.slot), _reference(found.boundary, leader)
    if own is None or other is None:
        return None
    binding = next(
        (
            statement
            for statement in reversed(export.function.body)
            if isinstance(statement, syntax.Assign) and statement.declares and {own, other} & set(_names_bound(statement))
        ),
        None,
    )
    if binding is None:
        return None
    code = named_code(crate, export, "UNSUPPORTED_DTYPE", -2)
    edit = rewrite.insert_after(export.source, binding.span, f"if {own}.dtype != {other}.dtype {{\n    return {code};\n}}")
    return Fix(f"compare the dtype of `{found.slot.name}` with that of `{leader.name}`", (edit,), Applicability.SAFE)


def _reference(boundary: Boundary, slot: Slot) -> str | None:
    """The local that refers to the descriptor: the one that its borrow (or pointer) is made from."""
    place = _borrow_place(boundary, slot)
    if place is None:
        return None
    names = [name for name in re.findall(r"[A-Za-z_]\w*", place.text.split("(", 1)[-1]) if name not in ("ptr", "unsafe")]
    bound = {
        name
        for statement in boundary.export.function.body
        if isinstance(statement, syntax.Assign)
        for name in _names_bound(statement)
    }
    return next((name for name in names if name in bound), None)


def _names_bound(statement: syntax.Assign) -> Iterator[str]:
    for target in statement.targets:
        for node in target.walk():
            if isinstance(node, syntax.Name):
                yield node.id
    if statement.pattern is not None:
        for node in statement.pattern.walk():
            if isinstance(node, syntax.Pattern) and node.kind == "capture":
                yield node.name
