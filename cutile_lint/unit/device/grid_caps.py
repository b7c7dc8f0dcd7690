"""Launch grids that are capped by the number of processors, of entries that do not stride over the grid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.device.kernel import Kernel
from cutile_lint.unit.device.numbers import block_axis
from cutile_lint.unit.flows.conditions import admits, is_obscure, substitute, substituted
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.machine.paths import contradictory, extend
from cutile_lint.unit.machine.values import Condition, Items, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.transposes.owners import path_of, symbols_of

if TYPE_CHECKING:
    from cutile_lint.unit.boundary.slots import Boundary
    from cutile_lint.unit.model import KernelUnit

_PROCESSORS = regex(r"(?:^|[._:])(?:get_)?num_?sms?$|multi_?processor_?count|sm_count|^NUM_SMS?$", re.IGNORECASE)
#: multiprocessors of A100, H20, H100, H200, L40S, B200, GB200, RTX 5090, RTX PRO 6000; no number that tiles or heads come in is among them
_COUNTS = frozenset([78, 108, 114, 132, 142, 148, 152, 170, 188])
#: What gives the smaller of several numbers, and what gives a number made of its arguments. So many alternatives are told apart.
_SMALLER = frozenset(["min", "minimum"])
_NUMERIC = _SMALLER | frozenset(["int", "max", "clamp", "u32", "i32", "try_into", "abs"])
_MAX_WAYS = 64
_RESIDENT = regex(r"occupancy", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CappedGrid:
    """``place`` is the cap: the smaller of tiles and processors, or the processors alone."""

    place: Place
    launch: KernelLaunch
    statement: Place | None


def capped_grids(unit: KernelUnit) -> Iterator[CappedGrid]:
    kernels = {kernel.entry.name: kernel for kernel in unit.kernels}
    seen: set[tuple[Place, str]] = set()
    for boundary in unit.boundary:
        for launched in boundary.run.launches:
            kernel = kernels.get(launched.entry_name)
            if kernel is None or launched.grid is None or kernel.run.trace.gaps or strides_over_grid(kernel):
                continue
            for launch in boundary.launches or [None]:  # type: ignore[list-item]
                for place in _caps(boundary, launched, launch):
                    if (place, launched.entry_name) not in seen:
                        seen.add((place, launched.entry_name))
                        yield CappedGrid(place, launched, _statement(unit, place))


def strides_over_grid(kernel: Kernel) -> bool:
    """Some loop goes from the program's own tile on, or shares its work by the number of programs."""
    trace = kernel.run.trace
    loops = {id(loop): loop for event in trace.events for loop in event.loops}
    for loop in loops.values():
        over = trace.loops.get(id(loop))
        parts = [one for _, value in alternatives(over) for one in subterms(value)] if over is not None else []
        if kernel.is_persistent(loop) or any(_named(one, "get_num_tile_blocks") for one in parts):
            return True
        stepped = any(isinstance(one, Term) and one.op == "method" and one.name == "step_by" for one in parts)
        if (stepped or isinstance(loop, syntax.While)) and any(block_axis(one) is not None for one in parts):
            return True
        if isinstance(loop, syntax.While) and any(
            _named(one.value, "get_num_tile_blocks") for one in trace.events if loop in one.loops
        ):
            return True
    return any(loop for loop in loops.values() if isinstance(loop, syntax.While) and trace.loops.get(id(loop)) is None)


def _named(value: Value | None, name: str) -> bool:
    return value is not None and any(
        isinstance(one, Term) and one.op == "call" and one.name.rsplit("::", 1)[-1] == name for one in subterms(value)
    )


# ── the grid ───────────────────────────────────────────────────────────────


def _caps(boundary: Boundary, launched: KernelLaunch, launch: Launch | None) -> Iterator[Place]:
    symbols = symbols_of(boundary, launch, launched)
    condition: Condition | None = None
    background = launch.path if launch is not None else ()
    assert launched.grid is not None
    for path, grid in alternatives(launched.grid):
        for axis in grid.items if isinstance(grid, Items) else [grid]:
            for more, value in _spread(substitute(axis, symbols)):
                if (place := _cap(value, (*path, *more))) is None:
                    continue
                if condition is None:
                    condition = path_of(boundary, launch, launched)
                around = (*substituted(path, symbols), *more)
                if admits(condition, around, background) and not is_obscure(condition, around):
                    yield place


def _spread(value: Value) -> list[tuple[Condition, Value]]:
    """The alternatives of a number, those of its operands brought out: ``max(a if t else b, 1)`` is ``max(a, 1)`` or ``max(b, 1)``."""
    found: list[tuple[Condition, Value]] = []
    for path, one in alternatives(value):
        ways = _with_operands(one) if isinstance(one, Term) and (one.op == "binary" or _last(one) in _NUMERIC) else [((), one)]
        found += [(extend(path, more), way) for more, way in ways if not contradictory(path, more)]
    return found


def _with_operands(term: Term) -> list[tuple[Condition, Value]]:
    columns = [_spread(arg) for arg in term.args]
    if prod(map(len, columns)) > _MAX_WAYS:
        return [((), Term("unknown", "too many alternatives", serial=id(term), place=term.place))]
    ways: list[tuple[Condition, Value]] = []
    for row in product(*columns):
        paths = [path for path, _ in row if path]
        if not contradictory(*paths):
            args = tuple(arg for _, arg in row)
            ways.append((reduce(extend, paths, ()), Term(term.op, term.name, args, term.keywords, term.serial, term.place)))
    return ways


def _last(term: Term) -> str:
    return term.name.replace("::", ".").rsplit(".", 1)[-1]


def _cap(value: Value, path: Condition) -> Place | None:
    """Where a number of programs is held below the number of processors, on a path of :func:`_spread`; None when it is not."""
    if not isinstance(value, Term):
        return value.place if _is_a_count(value) and _stops_at(path, value) else None
    last = _last(value)
    if last not in _NUMERIC:
        if value.op != "binary" or _is_processors(value):
            return value.place if _is_processors(value) else None
        factors = value.args[: 2 if value.name == "*" else 1] if value.name in ("*", "/", "//") else ()
        return _first(_cap(arg, path) for arg in factors)
    if last == "max" and not all(isinstance(arg, Known) or _cap(arg, path) is not None for arg in value.args):
        return None
    above = value.args if last in _SMALLER else value.args[2:] if last == "clamp" else ()
    if any(_is_processors(arg) or _is_a_count(arg) for arg in above):
        return value.place
    return _first(_cap(arg, path) for arg in value.args)


def _first(places: Iterable[Place | None]) -> Place | None:
    return next((place for place in places if place is not None), None)


def _stops_at(path: Condition, number: Value) -> bool:
    """The path compares something with the number, or with the next one: ``132 if tiles > 132 else tiles``."""
    following = number.value + 1 if isinstance(number, Known) and isinstance(number.value, int) else None
    keys = {number.key(), Known(following).key()}
    return any(
        isinstance(literal.test, Term) and literal.test.name in ("<", "<=", ">", ">=") and literal.test.args[-1].key() in keys
        for literal in path
    )


def _is_processors(value: Value) -> bool:
    """The number of processors, alone, times the programs on each, or divided among clusters."""
    for _, one in alternatives(value):
        factors = list(_factors(one))
        if any(_matches(factor, _PROCESSORS) for factor in factors):
            return True
        rest = [factor for factor in factors if not _matches(factor, _RESIDENT)]
        if len(rest) < len(factors) and all(isinstance(factor, Known) for factor in rest):
            return True
    return False


def _is_a_count(value: Value) -> bool:
    """The number of processors of some device, written out."""
    return any(isinstance(one, Known) and one.value in _COUNTS for _, one in alternatives(value))


def _factors(value: Value) -> Iterator[Value]:
    """The factors of a product, dividends of quotients, without conversions and lower bounds."""
    for _, one in alternatives(value):
        if isinstance(one, Term) and one.op == "binary" and one.name == "*":
            for arg in one.args:
                yield from _factors(arg)
        elif isinstance(one, Term) and one.op == "binary" and one.name in ("/", "//"):
            yield from _factors(one.args[0])
        elif isinstance(one, Term) and one.name in ("int", "max") and one.args:
            yield from _factors(next((arg for arg in one.args if not isinstance(arg, Known)), one.args[0]))
        else:
            yield one


def _matches(value: Value, words: re.Pattern[str]) -> bool:
    return (
        isinstance(value, Term)
        and value.op in ("call", "attr", "field", "external", "global", "method", "index", "input")
        and (
            bool(words.search(value.name))
            or (value.op in ("global", "index") and bool(value.args) and _matches(value.args[0], words))
        )
    )


def _statement(unit: KernelUnit, place: Place) -> Place | None:
    runs = [run.trace for run in unit.runs] + [boundary.run.trace for boundary in unit.boundary]
    for trace in runs:
        for event in trace.events:
            statement = event.statement
            if statement is not None and statement.source is place.source and statement.span.covers(place.span):
                return statement
    return None
