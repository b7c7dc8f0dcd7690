"""The boundary map: what each slot of an exported function gets from Python, how it is declared, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.frontends.cdef import CFault, CFunction, CParam, Declarations, parse, text_place
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.answers import Answers
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.linking.crate import Crate, Export
from cutile_lint.unit.machine.values import Choice, Items, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.options.option_names import option_named
from cutile_lint.unit.options.setters import AppliedOption, applied_options, inputs_in
from cutile_lint.unit.runs import ExportRun

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


@dataclass(frozen=True, slots=True)
class Use:
    """What a slot becomes in one kernel launch (``launch`` None: in all of them).

    ``role``: "descriptor" and "argument" (``index``: position among the entry's arguments), "generic" (``index``, ``name``: the
    entry's own name of it), "option" (``name``: the setter), "grid" (``index``: axis), "device", "stream", "condition".
    """

    role: str
    launch: KernelLaunch | None
    name: str = ""
    index: int = -1
    place: Place | None = None


@dataclass(eq=False)
class Slot:
    """One argument of the export. ``declared`` is the cdef's parameter, None when there is no cdef or it is shorter."""

    index: int
    param: syntax.Param
    place: Place
    #: as it is called where it is defined, whatever alias the file has for it
    type: str
    declared: CParam | None = None
    declared_place: Place | None = None
    uses: list[Use] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.param.name

    @property
    def is_descriptor(self) -> bool:
        return "TensorDesc" in self.type and "*" in self.type

    @cached_property
    def option(self) -> str | None:
        """The compile option it sets in any variant; the declared name decides when it sets none or several."""
        reached = dict.fromkeys(use.name for use in self.uses if use.role == "option")
        if len(reached) == 1:
            return next(iter(reached))
        named = option_named(self.name) or (option_named(self.declared.name) if self.declared else None)
        return named if not reached or named in reached else next(iter(reached))

    def roles(self, launch: KernelLaunch | None = None) -> set[str]:
        return {use.role for use in self.uses if launch is None or use.launch in (launch, None)}


@dataclass(eq=False)
class Boundary:
    """One exported symbol with its slots, and the Python launches of it."""

    export: Export
    run: ExportRun
    slots: list[Slot]
    cdef: CFunction | None
    cdef_fault: CFault | None
    cdef_place: Place | None
    launches: list[Launch]
    #: the text that the library was bound with, and what it declares
    text: Known | None = None
    declarations: Declarations | None = None
    #: what has been worked out about pairs of launches, by the question
    answers: Answers = field(default_factory=Answers)

    @property
    def symbol(self) -> str:
        return self.export.symbol

    @cached_property
    def kernel_launches(self) -> list[KernelLaunch]:
        """The export's launches, one of each place (a dispatch over element types runs the same chain several times)."""
        return distinct(self.run.launches)

    def is_aligned(self, launch: Launch) -> bool:
        """The launch gives exactly one value to each slot."""
        return launch.arguments.exact and len(launch.arguments.positional) == len(self.slots)

    @cached_property
    def declared_places(self) -> list[Place | None]:
        """The places of the cdef's parameters."""
        return [self.in_text(param.span) for param in self.cdef.params] if self.cdef is not None else []

    @property
    def returns_place(self) -> Place | None:
        """The place of the declared return type; None when it cannot be told."""
        if self.cdef is None or self.text is None:
            return None
        start, end = self.cdef.span.start, self.cdef.name_span.start
        word = str(self.text.value)[start:end].rstrip()
        place = self.in_text(Span(start, start + len(word)))
        return place if word and place is not None and place.text == word else None

    def in_text(self, span: Span) -> Place | None:
        """The place of a span (in characters) of the cdef text."""
        return in_text(self.text, span) if self.text is not None else None

    def slots_of(self, option: str) -> list[Slot]:
        return [slot for slot in self.slots if slot.option == option]

    def slot_named(self, name: str) -> Slot | None:
        return next((slot for slot in self.slots if slot.name == name), None)


def distinct(launches: Iterable[KernelLaunch]) -> list[KernelLaunch]:
    """One launch of each entry and place."""
    return list({(one.entry_name, one.place): one for one in launches}.values())


def boundary_map(unit: KernelUnit) -> list[Boundary]:
    """The boundaries of all exports that the op launches (without a wrapper: of all its exports)."""
    return [_boundary(unit, export) for export in unit.launched_exports]


def _own_type(crate: Crate, text: str, source: Source) -> str:
    """``u64`` for ``RawStream``, ``*const TensorDesc`` for ``*const Desc``, by the aliases of the file."""
    pointer, space, name = text.strip().rpartition(" ")
    return f"{pointer}{space}{crate.own_path(name, source)}"


def _boundary(unit: KernelUnit, export: Export) -> Boundary:
    run = unit.export_run(export)
    launches = [launch for launch in unit.launches if launch.symbol == export.symbol]
    text, declarations = _declarations(unit, launches)
    cdef = declarations.function(export.symbol) if declarations else None
    slots = []
    for index, param in enumerate(export.function.params):
        slot = Slot(index, param, Place(export.source, param.span), _own_type(unit.crate, param.annotation, export.source))
        if cdef is not None and text is not None and index < len(cdef.params):
            slot.declared = cdef.params[index]
            slot.declared_place = in_text(text, cdef.params[index].span)
        slots.append(slot)
    place = in_text(text, cdef.span) if cdef is not None and text is not None else text.place if text else None
    boundary = Boundary(
        export, run, slots, cdef, declarations.fault if declarations else None, place, launches, text, declarations
    )
    by_name = {slot.name: slot for slot in slots}
    for name, use in unit.crate.once((_uses, id(export)), lambda: [*_uses(run), *_host_uses(run)]):
        if name in by_name:
            by_name[name].uses.append(use)
    return boundary


# ── the cdef ───────────────────────────────────────────────────────────────


def _declarations(unit: KernelUnit, launches: Iterable[Launch]) -> tuple[Known | None, Declarations | None]:
    """The cdef text that a launch's library was bound with, and what it declares."""
    for launch in launches:
        for _, target in alternatives(launch.event.target) if launch.event.target is not None else ():
            text = bound_text(unit, target)
            if text is not None:
                return text, parse(str(text.value))
    return None, None


def bound_text(unit: KernelUnit, target: Value) -> Known | None:
    """The cdef text of the library that a call's target is; None when it is not known."""
    for value in subterms(target):
        if isinstance(value, Term) and value.op == "call" and unit.program.role(value.name) == "bind-kernel-function-cffi":
            given = value.keywords.get("cdef") or (value.args[1] if len(value.args) > 1 else None)
            if isinstance(given, Choice):
                given = given.alternatives[0][1]
            if isinstance(given, Known) and isinstance(given.value, str):
                return given
    return None


def in_text(text: Known, span: Span) -> Place | None:
    """The place of a span (in characters) of a text in its literal."""
    return text_place(text.place, str(text.value), span) if text.place is not None else None


# ── what becomes of a slot ─────────────────────────────────────────────────


def _uses(run: ExportRun) -> Iterator[tuple[str, Use]]:
    """(parameter's name, use) of the kernel launches."""
    for launch in distinct(run.launches):
        yield from _uses_of(launch)


def _uses_of(launch: KernelLaunch) -> Iterator[tuple[str, Use]]:
    generics = launch.generics
    if generics is not None:
        names = [generic.name for generic in launch.entry.generics] if launch.entry is not None else []
        for index, item in enumerate(generics.items):
            name = names[index] if index < len(names) else ""
            yield from ((param, Use("generic", launch, name, index, item.place)) for param in inputs_in(item))
    for index, value in enumerate(launch.arguments):
        for param in inputs_in(value):
            role = "descriptor" if _reads_descriptor(value, param) else "argument"
            yield param, Use(role, launch, "", index, value.place)
    grid = launch.grid
    axes = grid.items if isinstance(grid, Items) else [grid] if grid is not None else []
    for index, axis in enumerate(axes):
        yield from ((param, Use("grid", launch, "", index, axis.place)) for param in inputs_in(axis))
    for option in _distinct(applied_options(launch.options)):
        yield from ((param, Use("option", launch, option.name, -1, option.place)) for param in inputs_in(option.value))
    for literal in launch.path:
        for param in inputs_in(literal.test):
            if not _is_null_check(literal.test):
                yield param, Use("condition", launch, "", -1, literal.test.place)


def _distinct(options: Iterable[AppliedOption]) -> list[AppliedOption]:
    return list({(option.name, option.value.key()): option for option in options}.values())


def _reads_descriptor(value: Value, param: str) -> bool:
    """The value is a tensor made from the descriptor (its pointer goes in), not just a number read from it."""
    return any(
        isinstance(part, Term) and part.op == "attr" and part.name == "ptr" and param in inputs_in(part.base)
        for part in subterms(value)
    )


def _is_null_check(test: Value) -> bool:
    return isinstance(test, Term) and test.op == "method" and test.name == "is_null"


def _host_uses(run: ExportRun) -> Iterator[tuple[str, Use]]:
    for event in run.trace.events:
        if event.kind != "call" or event.arguments is None:
            continue
        role = "device" if event.name.endswith("Device::new") else "stream" if "Stream::" in event.name else ""
        if role:
            for value in event.arguments.positional:
                for param in inputs_in(value):
                    if role == "device" or not _is_device(value):
                        yield param, Use(role, None, "", -1, event.place)


def _is_device(value: Value) -> bool:
    return any(isinstance(part, Term) and part.name.endswith("Device::new") for part in subterms(value))
