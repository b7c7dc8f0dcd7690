"""Descriptor pointers of an export that are followed without having been compared with null."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.linking.crate import Crate, Export
from cutile_lint.unit.machine.paths import MAX_LITERALS, implies
from cutile_lint.unit.machine.values import Condition, Items, Known, Term, Value, subterms, with_conditions

#: checks of one pointer, and what they say of one that is not null
_OF_VALID = {"is_null": False, "is_none": False, "is_err": False, "is_some": True, "is_ok": True}
_OF_MANY = frozenset([*_OF_VALID, "any", "all", "contains"])


@dataclass(frozen=True, slots=True)
class UncheckedPointers:
    """The descriptors of one export that are not checked, and where the first of them is followed."""

    boundary: Boundary
    slots: list[Slot]
    place: Place


def unchecked_pointers(boundaries: list[Boundary]) -> Iterator[UncheckedPointers]:
    for boundary in boundaries:
        missing = [slot for slot in boundary.slots if slot.is_descriptor and slot.uses and not _is_checked(boundary, slot)]
        if missing:
            yield UncheckedPointers(boundary, missing, _followed(boundary, missing[0]) or missing[0].place)


def _is_checked(boundary: Boundary, slot: Slot) -> bool:
    """Every launch stands behind a check of the pointer; a check whose outcome is not understood counts."""
    launches = boundary.run.launches
    if not launches:
        return True
    return all(_excludes_null(launch.path, slot.name) for launch in launches)


def _excludes_null(path: Condition, name: str) -> bool:
    if len(path) >= MAX_LITERALS:
        return True
    for literal in path:
        for part in with_conditions(literal.test):
            if not isinstance(part, Term):
                continue
            valid = _of_valid(part, name)
            if implies(path, part) is valid if valid is not None else _looks_into(part, name):
                return True
    return False


def _of_valid(test: Term, name: str) -> bool | None:
    """How a check of the pointer comes out when it is not null; None for other tests."""
    if not test.args or not _is_pointer(test.args[0], name):
        return None
    if test.op == "method":
        return _OF_VALID.get(test.name)
    if test.op == "compare" and test.name == "is-variant":
        return True
    if test.op == "compare" and test.name == "==":
        return False if _is_nothing(test.args[1]) else None
    return None


def _is_pointer(value: Value, name: str) -> bool:
    """The pointer itself, cast or wrapped (``NonNull::new(p)``), and nothing that it leads to."""
    while isinstance(value, Term) and value.op in ("method", "call") and len(value.args) == 1:
        value = value.args[0]
    return isinstance(value, Term) and value.op == "input" and value.name == name


def _is_nothing(value: Value) -> bool:
    """``null()``, ``None`` or 0."""
    if isinstance(value, Known):
        return value.value == 0
    return any(isinstance(one, Term) and (one.name == "None" or "null" in one.name) for one in subterms(value))


def _looks_into(test: Term, name: str) -> bool:
    """A check of pointers that were put together: ``pointers.contains(&null())``, ``is_null`` of each of an unknown number."""
    return test.op == "method" and test.name in _OF_MANY and bool(test.args) and _is_among(test.args[0], name)


def _is_among(value: Value, name: str) -> bool:
    if isinstance(value, Items):
        return any(_is_pointer(one, name) or _is_among(one, name) for one in value.items)
    return isinstance(value, Term) and value.op != "attr" and any(_is_among(one, name) for one in value.args)


def _followed(boundary: Boundary, slot: Slot) -> Place | None:
    """Where the pointer is followed: ``*p``, or its place in a macro's arguments."""
    export = boundary.export
    for node in export.function.walk():
        if (
            isinstance(node, syntax.Unary)
            and node.op == "*"
            and isinstance(node.operand, syntax.Name)
            and node.operand.id == slot.name
        ):
            return Place(export.source, node.span)
    return None


def insert_check(found: UncheckedPointers, crate: Crate) -> Fix | None:
    """Return the null code before anything else."""
    from cutile_lint.frontends.rust import rewrite

    export = found.boundary.export
    if not export.function.body:
        return None
    tests = " || ".join(f"{slot.name}.is_null()" for slot in found.slots)
    code = null_code(crate, export)
    names = ", ".join(f"`{slot.name}`" for slot in found.slots)
    edit = rewrite.insert_before(export.source, export.function.body[0].span, f"if {tests} {{\n    return {code};\n}}")
    return Fix(f"check {names}", (edit,), Applicability.SAFE)


def null_code(crate: Crate, export: Export) -> str:
    return named_code(crate, export, "NULL_PTR", -5)


def named_code(crate: Crate, export: Export, name: str, number: int) -> str:
    """A return code as the export's text can write it: ``rc::NAME`` where ``rc`` is in scope, by its whole path, or else the number."""
    item = next((item for item in crate.items.get(name, []) if "rc" in item.modules), None)
    if item is None:
        return str(number)
    source = export.source
    is_own = item.source is source or crate.import_of("rc", source) is not None or source.has(b"::*;")
    if is_own and source.has(b"rc::") and export.place.source is source:
        return f"rc::{name}"
    return "::".join(
        ["crate", *([] if item.source.path.stem in ("lib", "ffi") else [item.source.path.stem]), *item.modules, name]
    )
