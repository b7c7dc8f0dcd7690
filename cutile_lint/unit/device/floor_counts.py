"""Loops over the tiles of a dimension that go only over the whole ones: ``n / TILE`` without the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place
from cutile_lint.unit.device.kernel import Access, Kernel
from cutile_lint.unit.device.numbers import is_block, loop_range, plain, product, terms
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.transposes.owners import generics_of, symbols_of

if TYPE_CHECKING:
    from cutile_lint.unit.boundary.slots import Boundary
    from cutile_lint.unit.model import KernelUnit

_INTEGERS = frozenset(["i32", "i64", "u32", "u64", "usize"])


@dataclass(frozen=True, slots=True)
class FloorCount:
    """``place`` is the quotient; ``loop`` the loop that it bounds."""

    place: Place
    loop: syntax.Node
    size: str
    tile: str
    access: Access
    fix: Fix | None


@dataclass(frozen=True, slots=True)
class _Way:
    """One launch of the entry: what its parameters and generics are worth in the export and in the wrapper."""

    boundary: Boundary
    kernel: KernelLaunch
    launch: Launch | None

    def in_export(self, value: Value) -> Value | None:
        value = plain(value)
        entry = self.kernel.entry
        if entry is None or not isinstance(value, Term):
            return value if isinstance(value, Known) else None
        if value.op == "input":
            names = [param.name for param in entry.function.params]
            at = names.index(value.name) if value.name in names else -1
            return plain(self.kernel.arguments[at]) if 0 <= at < len(self.kernel.arguments) else None
        if value.op == "generic":
            given, names = generics_of(self.kernel), [generic.name for generic in entry.generics]
            at = names.index(value.name) if value.name in names else -1
            return plain(given[at]) if given is not None and 0 <= at < len(given) else None
        return None

    def in_wrapper(self, value: Value | None) -> Value | None:
        if self.launch is None or not isinstance(value, Term) or value.op != "input":
            return value if isinstance(value, Known) else None
        given = symbols_of(self.boundary, self.launch, self.kernel).get(value.key())
        return plain(given) if given is not None else None


def floor_counts(unit: KernelUnit, kernel: Kernel) -> Iterator[FloorCount]:
    """One for each quotient that bounds a loop with loads or stores of its tiles."""
    seen: set[Place] = set()
    ways: list[_Way] | None = None
    for access in kernel.accesses:
        for loop in access.event.loops:
            for end in _ends(kernel, loop):
                ways = ways if ways is not None else list(_ways(unit, kernel))
                for quotient, way in _quotients(kernel, end, ways):
                    place = quotient.place
                    if place is None or place in seen or not _leaves_out(kernel, loop, quotient, way, ways):
                        continue
                    seen.add(place)
                    size, tile = (_text(part) for part in quotient.args)
                    yield FloorCount(place, loop, size, tile, access, _fix(unit, place))


def _ways(unit: KernelUnit, kernel: Kernel) -> Iterator[_Way]:
    for boundary in unit.boundary:
        for launched in boundary.run.launches:
            if launched.entry is kernel.entry:
                for launch in boundary.launches or [None]:  # type: ignore[list-item]
                    yield _Way(boundary, launched, launch)


# ── the loop ───────────────────────────────────────────────────────────────


def _ends(kernel: Kernel, loop: syntax.Node) -> Iterator[Value]:
    """The numbers of tiles that a loop from 0 (or from the program's own tile) goes up to."""
    over = kernel.run.trace.loops.get(id(loop))
    for _, one in alternatives(over) if over is not None else ():
        if isinstance(loop, syntax.For):
            end, start, _ = loop_range(one)
            if end is not None and (_is_zero(start) or is_block(start)):
                yield end
        elif isinstance(one, Term) and one.op == "compare" and one.name == "<":
            yield one.args[1]
        elif isinstance(one, Term) and one.op == "compare" and one.name == ">" and _is_zero(one.args[1]):
            yield one.args[0]  # ``0 < end``: what the counter is worth before the first round


def _is_zero(value: Value) -> bool:
    value = plain(value)
    return isinstance(value, Known) and value.value == 0


def _quotients(kernel: Kernel, end: Value, ways: list[_Way]) -> Iterator[tuple[Term, _Way | None]]:
    """Quotients ``size / tile`` in an end: in the kernel itself, or in what its launches give to a parameter."""
    end = plain(end)
    if (parts := product(end)) is not None:
        for part in parts:
            yield from _quotients(kernel, part, ways)
    elif isinstance(end, Choice):
        found = [list(_quotients(kernel, one, ways)) for _, one in end.alternatives]
        if all(found):  # with another end on some path it is the edge of a window
            yield from (one for quotients in found for one in quotients)
    elif isinstance(end, Term) and end.op == "binary" and end.name == "/":
        if _is_dimension(kernel, end.args[0]) and _is_tile(kernel, end.args[1]):
            yield end, None
    elif isinstance(end, Term) and end.op == "input":
        for way in ways:
            outer = way.in_export(end)
            for one in (outer, way.in_wrapper(outer)):
                if isinstance(one, Term) and one.op == "binary" and one.name in ("/", "//") and _is_given_tile(kernel, way, one):
                    yield one, way


def _is_dimension(kernel: Kernel, value: Value) -> bool:
    """The value is a dimension as it is: a scalar of the entry, a size of a tensor, a constant of the kernel, a product of these."""
    value = plain(value)
    if (parts := product(value)) is not None:
        return all(_is_dimension(kernel, part) for part in parts)
    if not isinstance(value, Term):
        return False
    if value.op == "input":
        param = next((param for param in kernel.entry.function.params if param.name == value.name), None)
        return param is not None and param.annotation.strip() in _INTEGERS
    if value.op == "index":
        base = value.args[0]
        return isinstance(base, Term) and base.name.rsplit("::", 1)[-1] in ("shape", "get_tensor_shape")
    return value.op == "generic" or value.name.rsplit("::", 1)[-1] == "get_shape_dim"


def _shapes(kernel: Kernel) -> set[object]:
    """Keys of all lengths in the shapes of views and index tiles."""
    return {
        plain(item).key()
        for event in kernel.calls
        for value in (event.arguments.positional if event.arguments is not None else ())
        if isinstance(value, Items)
        and event.name.rsplit("::", 1)[-1].startswith(("partition", "make_partition_view", "iota", "broadcast", "load_tile"))
        for item in value.items
    }


def _is_tile(kernel: Kernel, value: Value) -> bool:
    value = plain(value)
    if isinstance(value, Known) and value.value == 1:
        return False
    return value.key() in _shapes(kernel)


def _is_given_tile(kernel: Kernel, way: _Way, quotient: Term) -> bool:
    """The divisor is what one of the kernel's tile sizes gets, the dividend is a plain number of the caller's."""
    size, tile = plain(quotient.args[0]), plain(quotient.args[1])
    if not isinstance(size, Term) or size.op not in ("input", "index", "attr", "method", "payload"):
        return False
    for generic in kernel.entry.generics:
        term = Term("generic", generic.name)
        outer = way.in_export(term)
        given = [one.key() for one in (outer, way.in_wrapper(outer)) if one is not None]
        if generic.kind == "const" and tile.key() in given and term.key() in _shapes(kernel):
            return True
    return False


# ── the rest ───────────────────────────────────────────────────────────────


def _leaves_out(kernel: Kernel, loop: syntax.Node, quotient: Term, way: _Way | None, ways: list[_Way]) -> bool:
    """Nothing else handles the rest, and nothing shows that there is none."""
    size, tile = quotient.args
    if _promised(size) or (way is None and _handled(kernel, loop, quotient)):
        return False
    known = [way] if way is not None else ways
    return not known or not all(_exact(one, size, tile, way is not None) for one in known)


def _promised(size: Value) -> bool:
    return any(isinstance(one, Term) and one.name.rsplit("::", 1)[-1] == "assume_div_by" for one in subterms(size))


def _handled(kernel: Kernel, loop: syntax.Node, quotient: Term) -> bool:
    """The rest is computed (``n % TILE``), or something outside of the loop starts where it ends."""
    size, tile = plain(quotient.args[0]).key(), plain(quotient.args[1]).key()
    for event in kernel.run.trace.events:
        value = event.value
        if event.kind == "operator" and isinstance(value, Term) and value.name == "%" and len(value.args) == 2:
            if plain(value.args[0]).key() == size and plain(value.args[1]).key() == tile:
                return True
    for access in kernel.accesses:
        if loop not in access.event.loops and access.event.arguments is not None:
            given = access.event.arguments.positional
            # where it goes: the index of a view, the addresses and the mask of pointers; not what is stored
            where = (
                (1 if access.op.kind == "load" else 2,)
                if access.op.through == "view"
                else (0, 3 if access.op.kind == "load" else 4)
            )
            for at in where:
                if at < len(given) and any(one.key() == quotient.key() for one in terms(given[at])):
                    return True
    return False


def _exact(way: _Way, size: Value, tile: Value, outside: bool) -> bool:
    """On this launch the tile divides the size: both are known, the size is padded, or a check says so."""
    outer_size, outer_tile = (plain(size), plain(tile)) if outside else (way.in_export(size), way.in_export(tile))
    sizes = [one for one in (outer_size, way.in_wrapper(outer_size)) if one is not None]
    tiles = [one for one in (outer_tile, way.in_wrapper(outer_tile)) if one is not None]
    for first in sizes:
        for second in tiles:
            if _divides(first, second):
                return True
    keys = {one.key() for one in (*sizes, *tiles) if not isinstance(one, Known)}
    paths = [way.kernel.path, way.launch.path if way.launch is not None else ()]
    if any(_checks(path, keys) for path in paths):
        return True
    if any(
        event.kind in ("assert", "panic") and event.value is not None and _is_remainder(event.value, keys)
        for event in way.boundary.run.trace.events
    ):
        return True
    return any(
        _checks(condition, None)
        for value in tiles
        for part in subterms(value)
        if isinstance(part, Items)
        for condition in part.conditions
    )


def _divides(size: Value, tile: Value) -> bool:
    numbers = [[one.value for _, one in alternatives(value) if isinstance(one, Known)] for value in (size, tile)]
    if all(isinstance(one, Known) for value in (size, tile) for _, one in alternatives(value)):
        pairs = [(n, t) for n in numbers[0] for t in numbers[1]]
        pairs = [(_number(n), _number(t)) for n, t in pairs]  # type: ignore[misc]
        return all(isinstance(n, int) and isinstance(t, int) and t > 0 and n % t == 0 for n, t in pairs)
    if isinstance(size, Term) and size.name.replace("::", ".").rsplit(".", 1)[-1] in ("next_power_of_2", "next_power_of_two"):
        return True
    parts = product(size)
    return parts is not None and any(plain(part).key() == tile.key() for part in parts)


def _number(value: object) -> object:
    return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else value


def _checks(path: Condition, keys: set[object] | None) -> bool:
    return any(_is_remainder(literal.test, keys) for literal in path)


def _is_remainder(test: Value, keys: set[object] | None) -> bool:
    """The test is about ``size % tile`` (``keys`` None: about any remainder)."""
    for one in subterms(test):
        if isinstance(one, Term) and one.op in ("binary", "method") and one.name in ("%", "is_multiple_of", "rem_euclid"):
            if keys is None or any(plain(arg).key() in keys for arg in one.args):
                return True
    return False


# ── the words ──────────────────────────────────────────────────────────────


def _text(value: Value) -> str:
    value = plain(value)
    if isinstance(value, Known):
        return str(value.value)
    return (
        value.name
        if isinstance(value, Term) and value.op in ("input", "generic", "field")
        else value.place.text
        if value.place
        else "n"
    )


def _fix(unit: KernelUnit, place: Place) -> Fix | None:
    node = node_at(unit.program, place)
    if not isinstance(node, syntax.Binary) or node.op not in ("/", "//"):
        return None
    source = place.source
    size, tile = source.slice(node.left.span), source.slice(node.right.span)
    plain_tile = (
        tile
        if isinstance(node.right, (syntax.Name, syntax.Const, syntax.Attr, syntax.Call)) or tile.startswith("(")
        else f"({tile})"
    )
    text = f"({size} + {plain_tile} - 1) {node.op} {tile}"
    return Fix("round the number of tiles up", (Edit(source, place.span.start, place.span.end, text),), Applicability.UNSAFE)
