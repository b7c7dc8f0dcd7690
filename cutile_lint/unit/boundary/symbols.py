"""The names of an export on both sides: the export's symbol, the cdef's, the called one, and the one given to ``check_rc``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.frontends.cdef import parse
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Span
from cutile_lint.unit.boundary.slots import bound_text, in_text
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.linking.crate import Crate, Export
from cutile_lint.unit.machine.values import Known, alternatives, subterms

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class WrongSymbol:
    """``place`` says ``said`` where ``right`` belongs. ``name`` is the name itself, where it may be replaced."""

    place: Place
    message: str
    right: str
    related: tuple[tuple[Place, str], ...] = ()
    name: Place | None = None
    statement: Place | None = None

    def fix(self) -> Fix | None:
        if self.name is None:
            return None
        edit = Edit(self.name.source, self.name.span.start, self.name.span.end, self.right)
        return Fix(f"rename to `{self.right}`", (edit,), Applicability.SAFE)


def wrong_symbols(unit: KernelUnit) -> Iterator[WrongSymbol]:
    """Each wrong name once."""
    seen: set[Place] = set()
    exports = _exports(unit)
    for found in _found(unit, exports):
        if found.place not in seen:
            seen.add(found.place)
            yield found


def _exports(unit: KernelUnit) -> dict[str, Export]:
    """The exports of the op: those its names lead to, else those of the file that stands where the op's export stands."""
    if unit.exports or unit.layout.wrapper is None:
        return unit.exports
    wrapper = unit.layout.wrapper
    for path in (wrapper.parent / f"{wrapper.stem}_kernel" / "ffi.rs", wrapper.parent / "ffi.rs"):
        module = unit.program.module(path) if unit.program.workspace.exists(path) else None
        if module is not None:
            return {export.symbol: export for export in Crate([module]).exports}
    return {}


def _found(unit: KernelUnit, exports: dict[str, Export]) -> Iterator[WrongSymbol]:
    if not exports:
        return
    for launch in unit.launches:
        text = next(
            (found for _, one in alternatives(launch.event.target or Known(None)) if (found := bound_text(unit, one))), None
        )
        declared = parse(str(text.value)) if text is not None else None
        called = launch.symbol
        right = (
            called
            if called in exports
            else _meant(called, [name.name for name in declared.functions] if declared else [], exports)
        )
        if right is None:
            continue
        export = exports[right].place
        if called != right:
            yield WrongSymbol(
                launch.place,
                f"`{called}` is called, but the library exports `{right}`",
                right,
                ((export, "the export"),),
                _called_name(unit, launch),
                launch.event.statement,
            )
        if (
            declared is not None
            and declared.fault is None
            and text is not None
            and right not in [one.name for one in declared.functions]
        ):
            wrong = [one for one in declared.functions if one.name not in exports]
            if len(wrong) == 1:
                place = in_text(text, wrong[0].name_span)
                yield WrongSymbol(
                    place if place is not None else launch.place,
                    f"the cdef declares `{wrong[0].name}`, but the library exports `{right}`",
                    right,
                    ((export, "the export"),),
                    place if place is not None and place.text == wrong[0].name else None,
                )
        yield from _checked_name(unit, launch, right, exports)


def _meant(called: str, declared: list[str], exports: dict[str, Export]) -> str | None:
    """The export that a call means: the only one that is declared, or the only one there is with a name like it."""
    both = [name for name in declared if name in exports]
    if len(both) == 1:
        return both[0]
    from difflib import get_close_matches

    if len(exports) == 1:
        only = next(iter(exports))
        return only if get_close_matches(called, [only], 1, 0.6) else None
    close = get_close_matches(called, list(exports), 2, 0.8)
    return close[0] if len(close) == 1 else None


def _called_name(unit: KernelUnit, launch: Launch) -> Place | None:
    node = launch.event.node
    if isinstance(node, syntax.Call) and isinstance(node.func, syntax.Attr) and node.func.name == launch.symbol:
        return Place(launch.place.source, node.func.name_span)
    return None


def _checked_name(unit: KernelUnit, launch: Launch, right: str, exports: dict[str, Export]) -> Iterator[WrongSymbol]:
    """The name that the code's check reports with."""
    result = launch.event.value
    run = next((run for run in unit.runs if launch in run.launches), None)
    if result is None or run is None:
        return
    for event in run.trace.events[launch.order + 1 :]:
        if event.kind != "call" or event.arguments is None or unit.program.role(event.name) != "check-rc":
            continue
        code, name = event.arguments.get(0, "rc"), event.arguments.get(1, "fn_name")
        if code is None or not any(part.key() == result.key() for part in subterms(code)):
            continue
        if not isinstance(name, Known) or not isinstance(name.value, str) or not re.fullmatch(r"cutile_\w+", name.value):
            continue
        if name.value != right and name.place is not None:
            inner = Span(name.place.span.start + 1, name.place.span.end - 1)
            exact = Place(name.place.source, inner)
            yield WrongSymbol(
                name.place,
                f"a failing `{right}` is reported as `{name.value}`",
                right,
                ((event.place, "its return code is checked here"), (exports[right].place, "the export")),
                exact if exact.text == name.value else None,
            )


# ── handle keys ────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SharedKey:
    """Two libraries are bound under one key with different declarations."""

    place: Place
    key: str
    other: Place
    statement: Place | None


def shared_keys(unit: KernelUnit) -> Iterator[SharedKey]:
    bound: dict[str, tuple[Place, str]] = {}
    for run in unit.runs:
        for event in run.trace.events:
            if event.kind != "call" or event.arguments is None or unit.program.role(event.name) != "bind-kernel-function-cffi":
                continue
            key, text = event.arguments.get(0, "kernel"), event.arguments.get(1, "cdef")
            if not (isinstance(key, Known) and isinstance(key.value, str) and isinstance(text, Known)):
                continue
            first = bound.setdefault(key.value, (event.place, str(text.value)))
            if first[1] != str(text.value):
                yield SharedKey(event.place, key.value, first[0], event.statement)
            elif first[0] == event.place and (other := _other_module(unit, key.value)) is not None and key.place is not None:
                yield SharedKey(key.place, key.value, other, event.statement)


def _other_module(unit: KernelUnit, key: str) -> Place | None:
    """Where another wrapper of the same folder binds its own library under the key."""
    wrapper = unit.layout.wrapper
    if wrapper is None:
        return None
    own = {module.source.path for module in unit.python_modules}
    quoted = re.compile(rb"""(["'])""" + re.escape(key.encode()) + rb"""\1""")
    for path in unit.program.workspace.entries(wrapper.parent):
        if path.suffix != ".py" or path in own:
            continue
        source = unit.program.workspace.source(path)
        if source is None or not source.has(b"bind_kernel_function_cffi") or not source.matches(quoted):
            continue
        if (place := _binds(unit, path, key)) is not None:
            return place
    return None


def _binds(unit: KernelUnit, path: Path, key: str) -> Place | None:
    module = unit.program.module(path)
    if module is None or not module.source.has(b"register_impl"):
        return None
    constants = {
        target.id: node.value
        for node in module.body
        if isinstance(node, syntax.Assign) and isinstance(node.value, syntax.Const)
        for target in node.targets
        if isinstance(target, syntax.Name)
    }
    for node in module.walk():
        if isinstance(node, syntax.Call) and node.args and isinstance(node.func, (syntax.Name, syntax.Attr)):
            name = node.func.id if isinstance(node.func, syntax.Name) else node.func.name
            given = node.args[0].value
            if isinstance(given, syntax.Name):
                given = constants.get(given.id, given)
            if unit.program.role(name) == "bind-kernel-function-cffi" and isinstance(given, syntax.Const) and given.value == key:
                return Place(module.source, given.span)
    return None
