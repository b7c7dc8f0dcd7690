"""The cdef against the export's signature: arity, order, names and types; and its text rewritten to agree."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends.cdef import CParam
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slot_names import crossings, normal
from cutile_lint.unit.boundary.slots import Boundary
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives

#: C's names of what Rust's FFI types are; the first is written by fixes.
_C_NAMES = {
    "i8": ("int8_t", "signed char"),
    "i16": ("int16_t", "short"),
    "i32": ("int32_t", "int", "signed int", "signed"),
    "i64": ("int64_t", "long", "long int", "long long", "long long int", "ssize_t", "ptrdiff_t", "intptr_t"),
    "u8": ("uint8_t", "unsigned char"),
    "u16": ("uint16_t", "unsigned short"),
    "u32": ("uint32_t", "unsigned int", "unsigned"),
    "u64": ("uint64_t", "unsigned long", "unsigned long int", "unsigned long long", "size_t", "uintptr_t"),
    "f32": ("float",),
    "f64": ("double",),
    "bool": ("bool", "_Bool"),
    "usize": ("size_t", "uintptr_t", "uint64_t", "unsigned long"),
    "isize": ("ssize_t", "intptr_t", "ptrdiff_t", "int64_t", "long"),
    "c_int": ("int", "int32_t"),
    "c_float": ("float",),
    "c_double": ("double",),
}
_POINTEES = {**_C_NAMES, "c_void": ("void",), "TensorDesc": ("TensorDesc",)}


def agrees(rust: str, c: str) -> bool | None:
    """The two types are the same in the C ABI; None when the Rust type is not known, and for an enum: its values choose its type."""
    rust = " ".join(rust.split())
    if rust.startswith("*"):
        if not c.endswith("*"):
            return False
        pointee = rust.removeprefix("*const ").removeprefix("*mut ").rsplit("::", 1)[-1]
        given = c.rstrip("* ").removeprefix("const ").strip()
        if c.count("*") != rust.count("*"):
            return False
        if pointee not in _POINTEES or given == "void":
            return None if pointee not in _POINTEES else True
        return given in _POINTEES[pointee]
    last = rust.rsplit("::", 1)[-1]
    if last not in _C_NAMES or c.startswith("enum"):
        return None
    return c in _C_NAMES[last]


def c_type(rust: str) -> str | None:
    """How a Rust type is written in a cdef; None for unknown ones."""
    rust = " ".join(rust.split())
    if rust.startswith("*"):
        pointee = rust.removeprefix("*const ").removeprefix("*mut ").rsplit("::", 1)[-1]
        const = "const " if rust.startswith("*const") else ""
        return f"{const}{_POINTEES[pointee][0]}*" if pointee in _POINTEES else None
    return _C_NAMES[rust.rsplit("::", 1)[-1]][0] if rust.rsplit("::", 1)[-1] in _C_NAMES else None


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One way in which a cdef and its export differ. ``index``: the export's slot (-1: none)."""

    place: Place
    message: str
    index: int = -1


def mismatches(boundary: Boundary) -> Iterator[Mismatch]:
    """Where the cdef differs from the export, the gravest first; parameters that only bear another name are none."""
    cdef, slots = boundary.cdef, boundary.slots
    if cdef is None or boundary.cdef_place is None:
        return
    symbol = boundary.symbol
    if len(cdef.params) != len(slots):
        yield Mismatch(
            boundary.cdef_place, f"the cdef of `{symbol}` declares {len(cdef.params)} parameters, the export has {len(slots)}"
        )
        return
    names = {normal(slot.name): slot.index for slot in slots}
    for slot in slots:
        if slot.declared is None or slot.declared_place is None:
            continue
        other = names.get(normal(slot.declared.name))
        if other is not None and other != slot.index:
            yield Mismatch(
                slot.declared_place,
                f"the cdef declares `{slot.declared.name}` where the export of `{symbol}` takes `{slot.name}`",
                slot.index,
            )
        elif agrees(slot.type, slot.declared.type) is False:
            yield Mismatch(
                slot.declared_place,
                f"the cdef declares `{slot.declared.name}` as `{slot.declared.type}`, the export takes `{slot.type}`",
                slot.index,
            )
    returns = boundary.export.function.returns.strip()
    if (returns and agrees(returns, cdef.returns) is False) or (not returns and cdef.returns != "void"):
        yield Mismatch(boundary.cdef_place, f"the cdef of `{symbol}` returns `{cdef.returns}`, the export `{returns or '()'}`")


# ── the fix ────────────────────────────────────────────────────────────────


def rewrite_cdef(boundary: Boundary, program: Program) -> Fix | None:
    """The cdef's parameters as the export takes them; safe when each argument of each launch fits the export's slot."""
    cdef, whole = boundary.cdef, boundary.cdef_place
    assert cdef is not None and whole is not None
    wanted = []
    for slot in boundary.slots:
        kind = c_type(slot.type)
        if kind is None:
            return None
        wanted.append(f"{kind} {slot.name}")
    given = list(cdef.params)
    if not given or not wanted or any(param.span == param.name_span for param in given):
        return None
    places = _places(boundary)
    if places is None:
        return None
    edits = tuple(_edits(boundary, given, wanted, places))
    if not edits:
        return None
    fits = all(_fits(boundary, launch, program) for launch in boundary.launches)
    return Fix(
        f"declare the parameters as the export of `{boundary.symbol}` takes them",
        edits,
        Applicability.SAFE if fits and boundary.launches else Applicability.UNSAFE,
    )


def _places(boundary: Boundary) -> list[Place] | None:
    """The places of the declared parameters; None when they cannot be told in the source."""
    assert boundary.cdef is not None and boundary.cdef_place is not None
    places = boundary.declared_places
    for param, place in zip(boundary.cdef.params, places, strict=True):
        if place is None or not place.text.endswith(param.name) or "\n" in place.text.strip("\n") or len(place.text) > 120:
            return None
    return [place for place in places if place is not None]


def _edits(boundary: Boundary, given: list[CParam], wanted: list[str], places: list[Place]) -> Iterator[Edit]:
    slots, source = boundary.slots, places[0].source
    old = [normal(param.name) for param in given]
    new = [normal(slot.name) for slot in slots]
    if sorted(old) != sorted(new) or len(given) != len(wanted):
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(a=old, b=new, autojunk=False)
        operations = matcher.get_opcodes()
    else:
        operations = [
            ("equal" if a == b else "replace", at, at + 1, at, at + 1) for at, (a, b) in enumerate(zip(old, new, strict=True))
        ]
    for kind, i1, i2, j1, j2 in operations:
        if kind == "insert":
            text = ", ".join(wanted[j1:j2])
            if i1:
                yield Edit(source, places[i1 - 1].span.end, places[i1 - 1].span.end, ", " + text)
            else:
                yield Edit(source, places[0].span.start, places[0].span.start, text + ", ")
        elif kind == "delete":
            if i1:
                yield Edit(source, places[i1 - 1].span.end, places[i2 - 1].span.end, "")
            else:
                yield Edit(source, places[0].span.start, places[i2].span.start, "")
        elif kind == "replace" and i2 - i1 != j2 - j1:
            yield Edit(source, places[i1].span.start, places[i2 - 1].span.end, ", ".join(wanted[j1:j2]))
        else:
            for at, to in zip(range(i1, i2), range(j1, j2), strict=True):
                if kind == "replace" or agrees(slots[to].type, given[at].type) is False:
                    yield Edit(source, places[at].span.start, places[at].span.end, wanted[to])
    assert boundary.cdef is not None
    returns = boundary.export.function.returns.strip()
    kind_of_result = c_type(returns) if returns else "void"
    if (
        kind_of_result is not None
        and boundary.returns_place is not None
        and ((returns and agrees(returns, boundary.cdef.returns) is False) or (not returns and boundary.cdef.returns != "void"))
    ):
        yield Edit(source, boundary.returns_place.span.start, boundary.returns_place.span.end, kind_of_result)


def _fits(boundary: Boundary, launch: Launch, program: Program) -> bool:
    names = [slot.name for slot in boundary.slots]
    if not boundary.is_aligned(launch) or any(True for _ in crossings(boundary, launch, names, program)):
        return False
    return all(
        kind is None or (kind == "descriptor") == slot.is_descriptor
        for slot, kind in zip(boundary.slots, (kind_of(value, program) for value in launch.arguments.positional), strict=True)
    )


def kind_of(value: Value, program: Program) -> str | None:
    """ "descriptor" or "scalar" as far as a value's making tells; None when it does not."""
    kinds = {_kind(one, program) for _, one in alternatives(value)}
    return kinds.pop() if len(kinds) == 1 else None


def _kind(value: Value, program: Program) -> str | None:
    from cutile_lint.unit.launches import described_tensor

    if isinstance(value, Known):
        return "scalar" if isinstance(value.value, (int, float)) else None
    if described_tensor(value, program) is not None:
        return "descriptor"
    if isinstance(value, Term):
        if value.op == "call" and value.name in ("int", "float", "bool"):
            return "scalar"
        if value.op in ("compare", "not"):
            return "scalar"
        if value.op == "attr" and value.name == "cuda_stream":
            return "scalar"
    return None
