"""Launch grids that are capped by the number of processors, of entries that do not stride over the grid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.device.kernel import Kernel
from cutile_lint.unit.device.numbers import block_axis
from cutile_lint.unit.flows.conditions import admits, is_obscure, substitute, substituted
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.machine.values import Condition, Items, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.transposes.owners import path_of, symbols_of

if TYPE_CHECKING:
    from cutile_lint.unit.boundary.slots import Boundary
    from cutile_lint.unit.model import KernelUnit

_PROCESSORS = regex(r"(?:^|[._:])(?:get_)?num_?sms?$|multi_?processor_?count|sm_count|^NUM_SMS?$", re.IGNORECASE)
#: multiprocessors of A100, H20, H100, H200, L40S, B200, GB200, RTX 5090, RTX PRO 6000; no number that tiles or heads come in is among them
_COUNTS = frozenset([78, 108, 114, 132, 142, 148, 152, 170, 188])
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
            for more, value in alternatives(substitute(axis, symbols)):
                if (place := cap_in(value)) is None:
                    continue
                if condition is None:
                    condition = path_of(boundary, launch, launched)
                around = (*substituted(path, symbols), *more)
                if admits(condition, around, background) and not is_obscure(condition, around):
                    yield place


def cap_in(value: Value) -> Place | None:
    """Where a number of programs is held below the number of processors; None when it is not."""
    for _, one in alternatives(value):
        if not isinstance(one, Term):
            continue
        last = one.name.replace("::", ".").rsplit(".", 1)[-1]
        if last in ("min", "minimum") and any(_is_processors(arg) or _is_a_count(arg) for arg in one.args):
            return one.place
        if (
            one.op in ("call", "method", "convert")
            and last in ("int", "max", "clamp", "u32", "i32", "try_into", "abs")
            and one.args
        ):
            found = [cap_in(arg) for arg in one.args]
            if last != "max" and (place := next((place for place in found if place is not None), None)) is not None:
                return place
            if last == "max" and all(
                place is not None or not isinstance(arg, Term) for place, arg in zip(found, one.args, strict=True)
            ):
                return next((place for place in found if place is not None), None)
        elif one.op == "binary" and one.name in ("*", "/", "//"):
            inner = [place for arg in one.args[: 2 if one.name == "*" else 1] if (place := cap_in(arg)) is not None]
            if inner or _is_processors(one):
                return one.place if _is_processors(one) or not inner else inner[0]
        elif _is_processors(one):
            return one.place
    return None


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
