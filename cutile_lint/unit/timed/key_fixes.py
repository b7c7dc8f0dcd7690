"""Adding to an autotune key the names of what it lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.sources import Place, Source
from cutile_lint.sources.lines import line_end, line_start
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.linking.names import fits
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.values import Items, Known, Term, Value
from cutile_lint.unit.reference.run import function_around
from cutile_lint.unit.timed.keys import Lack, Need, lacking
from cutile_lint.unit.timed.unstable_keys import key_place

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: calls that keep the shape and dtype of what they are called on
_KEEPING = frozenset(["detach", "contiguous", "clone", "requires_grad_"])
#: and those that keep the dtype
_KEEPING_DTYPE = _KEEPING | frozenset(
    ["view", "reshape", "flatten", "transpose", "permute", "unsqueeze", "squeeze", "expand", "t"]
)


def name_of(atom: Value, need: Need, lack: Lack, program: Program) -> str | None:
    """How the atom can be written where the key is: a local name bound to it, a parameter, or a size or dtype of one."""
    place = key_place(lack.tuning)
    function = function_around(program, place)
    if function is None:
        return None
    for value in (need.value, atom):
        if value is atom or _is_cast_of(value, atom):
            for hop in reversed(value.hops()):
                if hop.kind == "bound" and hop.place.source is place.source and hop.place.span.start < place.span.start:
                    if function_around(program, hop.place) is function and len(list(_bindings(function, hop.name))) == 1:
                        return hop.name
    if isinstance(atom, Term) and function is lack.run.function:
        return _of_parameter(atom, function)
    return None


def _is_cast_of(value: Value, atom: Value) -> bool:
    from cutile_lint.unit.flows.determined import canonical

    return canonical(value) == canonical(atom)


def _of_parameter(atom: Term, function: syntax.Function) -> str | None:
    if atom.op == "input":
        known = any(param.name == atom.name and param.kind not in ("*", "**") for param in function.params)
        return atom.name if known and not list(_bindings(function, atom.name)) else None
    name, suffix = _size_or_dtype(atom)
    if not suffix or not any(param.name == name for param in function.params):
        return None
    keeping = _KEEPING_DTYPE if suffix == ".dtype" else _KEEPING
    kept = all(value is not None and _keeps(value, name, keeping) for value in _bindings(function, name))
    text = f"{name}{suffix}"
    return (f"tuple({text})" if suffix == ".shape" else text) if kept else None


def _size_or_dtype(atom: Term) -> tuple[str, str]:
    """("x", ".shape[0]"), ("x", ".dtype") for what is a fact of a parameter; twice "" for anything else."""
    base, suffix = atom.args[0] if atom.args else None, ""
    if atom.op == "index" and isinstance(atom.args[1], Known) and isinstance(base, Term) and base.op == "attr":
        base, suffix = base.args[0], f".shape[{atom.args[1].value}]"
    elif atom.op == "attr" and atom.name in ("dtype", "ndim", "shape"):
        suffix = f".{atom.name}"
    return (base.name, suffix) if suffix and isinstance(base, Term) and base.op == "input" else ("", "")


def _keeps(value: syntax.Expr, name: str, keeping: frozenset[str]) -> bool:
    """``x.detach()`` and the like, of the name itself."""
    while isinstance(value, syntax.Call) and isinstance(value.func, syntax.Attr) and value.func.name in keeping:
        value = value.func.base
    return isinstance(value, syntax.Name) and value.id == name


def _bindings(function: syntax.Function, name: str) -> Iterator[syntax.Expr | None]:
    """What a function binds a local name to, once for each binding (None where that is no expression of its own)."""
    for node in function.walk():
        if isinstance(node, syntax.Assign):
            for target in node.targets:
                if isinstance(target, syntax.Name) and target.id == name:
                    yield node.value if not node.op else None
                elif any(isinstance(part, syntax.Name) and part.id == name for part in _bound_in(target)):
                    yield None
        elif isinstance(node, syntax.For) and any(
            isinstance(part, syntax.Name) and part.id == name for part in node.target.walk()
        ):
            yield None
        elif isinstance(node, syntax.Walrus) and node.target.id == name:
            yield node.value
        elif isinstance(node, syntax.Delete):
            yield from (None for part in node.targets if isinstance(part, syntax.Name) and part.id == name)


def _bound_in(target: syntax.Expr) -> Iterator[syntax.Node]:
    if isinstance(target, syntax.Sequence):
        for item in target.items:
            yield from _bound_in(item)
    elif isinstance(target, syntax.Name):
        yield target


def add_names(lack: Lack, names: list[str], program: Program) -> Fix | None:
    """The names behind the key's last element; None when the key is not written as a tuple or a single value."""
    place = key_place(lack.tuning)
    node = node_at(program, place)
    if not isinstance(node, syntax.Expr):
        return None
    listed = ", ".join(f"`{name}`" for name in names)
    message = f"add {listed} to the key"
    if isinstance(lack.tuning.key, Items):
        if not isinstance(node, syntax.Sequence) or not node.items:
            return None
        last = node.items[-1].span.end
        rest = place.source.part(last, place.span.end)
        if not re.fullmatch(rb"\s*,?\s*(?:#[^\n]*\s*)*[)\]]?", rest):
            return None
        edits = _on_own_lines(place.source, node.items[-1], names) or (
            Edit(place.source, last, last, "".join(f", {name}" for name in names)),
        )
        return Fix(message, edits, Applicability.SAFE)
    text = f"({place.text}, {', '.join(names)})"
    return Fix(message, (Edit(place.source, place.span.start, place.span.end, text),), Applicability.SAFE)


def _on_own_lines(source: Source, last: syntax.Expr, names: list[str]) -> tuple[Edit, ...]:
    """The names below an element that has its line for itself, comment and all; nothing for one that shares it."""
    indent, behind = source.part(line_start(source, last.span.start), last.span.start), last.span.end
    rest = re.match(rb"[ \t]*(,?)[ \t]*(?:#[^\r\n]*)?(?=\r?\n)", source.part(behind, line_end(source, behind)))
    if indent.strip(b" \t") or rest is None:
        return ()
    end = behind + rest.end()
    below = "".join(f"{source.newline}{indent.decode()}{name}," for name in names)
    if rest[1]:
        return (Edit(source, end, end, below),)
    return (Edit(source, behind, end, f",{rest[0].decode()}{below}"),)


def lacks(unit: KernelUnit, ignored: Sequence[str]) -> Iterator[Lack]:
    """The keys that lack something, but for values with an ignored name (patterns of what :func:`written` says)."""
    for lack in lacking(unit):
        lack.missing = {
            key: (atom, need)
            for key, (atom, need) in lack.missing.items()
            if not fits(written(atom, need, lack, unit.program), ignored)
        }
        if lack.missing:
            yield lack


def written(atom: Value, need: Need, lack: Lack, program: Program) -> str:
    """The atom as the message names it."""
    name = name_of(atom, need, lack, program)
    if name is not None:
        return name
    if isinstance(atom, Term) and atom.op == "input":
        return atom.name
    if isinstance(atom, Term) and (fact := "".join(_size_or_dtype(atom))):
        return fact
    place: Place | None = atom.place
    text = " ".join(place.text.split()) if place is not None else ""
    return text if text and "`" not in text and len(text) <= 40 else "a size"
