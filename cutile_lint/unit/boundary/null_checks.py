"""Descriptor pointers of an export that are followed without having been compared with null."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.linking.crate import Crate
from cutile_lint.unit.machine.values import Choice, Condition, Term, Value, subterms

_CHECKS = frozenset(["is_null", "as_ref", "as_mut", "new"])


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
    return all(_mentions_check(launch.path, slot.name) for launch in launches)


def _mentions_check(path: Condition, name: str) -> bool:
    for literal in path:
        for part in _parts(literal.test):
            if (
                isinstance(part, Term)
                and part.op in ("method", "call")
                and part.name.rsplit("::", 1)[-1] in _CHECKS | {"any", "all", "null"}
            ):
                if any(isinstance(one, Term) and one.op == "input" and one.name == name for one in subterms(part)):
                    return True
            if isinstance(part, Term) and part.op == "compare":
                texts = [one.name for one in subterms(part) if isinstance(one, Term)]
                if name in texts and (part.name == "is-variant" or any("null" in text for text in texts)):
                    return True
    return False


def _parts(test: Value) -> Iterator[Value]:
    for part in subterms(test):
        yield part
        if isinstance(part, Choice):
            for path, _ in part.alternatives:
                for literal in path:
                    yield from _parts(literal.test)


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
    code = null_code(crate, export.source.text)
    names = ", ".join(f"`{slot.name}`" for slot in found.slots)
    edit = rewrite.insert_before(export.source, export.function.body[0].span, f"if {tests} {{\n    return {code};\n}}")
    return Fix(f"check {names}", (edit,), Applicability.SAFE)


def null_code(crate: Crate, text: str) -> str:
    return named_code(crate, text, "NULL_PTR", -5)


def named_code(crate: Crate, text: str, name: str, number: int) -> str:
    """A return code as the file can write it: ``rc::NAME`` where ``rc`` is in scope, else the number."""
    known = any("rc" in item.modules for item in crate.items.get(name, []))
    if known and "rc::" in text:
        return f"rc::{name}"
    return f"crate::ffi_util::rc::{name}" if known else str(number)
