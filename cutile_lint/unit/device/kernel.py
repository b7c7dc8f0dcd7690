"""Device kernels: loads and stores with their latency and TMA arguments, persistent loops, and the types of tiles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from cutile_lint.frontends import syntax
from cutile_lint.frontends.versions import MEMORY_OPS, MemoryOp
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.linking.crate import Crate, Entry
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Choice, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.runs import EntryRun

_TILE = regex(r"^&?\s*(?:mut\s+)?(?:\w+::)*(Tile|PointerTile|Partition|PartitionMut)\s*<\s*([^,{<>]+?)\s*,")
#: Reductions whose result grows with what is summed.
SUMS = frozenset(["reduce_sum", "reduce_prod", "reduce_add", "reduce_mul", "scan_sum", "cumsum", "scan_add"])


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store. ``latency`` and ``tma`` are None when the operation has no such argument or it was left out."""

    op: MemoryOp
    event: Event
    latency: Value | None
    latency_place: Place | None
    tma: Value | None
    tma_place: Place | None

    @property
    def view(self) -> Value | None:
        """The view or pointer tile that is accessed."""
        arguments = self.event.arguments
        return arguments.positional[0] if arguments is not None and arguments.positional else self.event.target


class Kernel:
    """One device entry as its run shows it."""

    def __init__(self, run: EntryRun) -> None:
        self.run = run

    @property
    def entry(self) -> Entry:
        return self.run.entry

    @cached_property
    def calls(self) -> list[Event]:
        return [event for event in self.run.trace.events if event.kind == "call"]

    @cached_property
    def accesses(self) -> list[Access]:
        """Loads and stores in order."""
        return list(_accesses(self.calls))

    # ── loops ──

    def is_persistent(self, loop: syntax.Node) -> bool:
        """The loop strides over tiles by the number of programs, from the program's own index."""
        over = self.run.trace.loops.get(id(loop))
        if over is None:
            return False
        if isinstance(loop, syntax.For):
            return any(_strides_by_grid(one) for _, one in alternatives(over))
        return any(
            loop in event.loops and _advances_by_grid(event) for event in self.run.trace.events if event.kind == "operator"
        )

    @cached_property
    def _persistent(self) -> dict[int, bool]:
        return {}

    def persistent_loop(self, event: Event) -> syntax.Node | None:
        """The persistent loop around an event; None when there is none."""
        for loop in event.loops:
            if id(loop) not in self._persistent:
                self._persistent[id(loop)] = self.is_persistent(loop)
            if self._persistent[id(loop)]:
                return loop
        return None

    # ── types ──

    @cached_property
    def types(self) -> dict[str, set[str]]:
        """The element types that declarations give to names of tiles in the entry and in the functions that it enters."""
        found: dict[str, set[str]] = {}
        for function in self.functions:
            for name, annotation in _declared(function):
                match = _TILE.match(annotation)
                if match is not None and match.group(1) == "Tile":
                    found.setdefault(name, set()).add(match.group(2))
        return found

    @cached_property
    def functions(self) -> list[syntax.Function]:
        """The entry's function, and the project's functions that its run went through."""
        found = {id(self.entry.function): self.entry.function}
        for event in self.run.trace.events:
            for stop in event.stack:
                if stop.frame.function is not None:
                    found.setdefault(id(stop.frame.function), stop.frame.function)
        return list(found.values())

    def element_type(self, node: syntax.Node | None) -> str | None:
        """The element type of a tile expression by its declaration; None when it is not known, or not always the same."""
        while isinstance(node, syntax.Unary) and node.op in ("&", "&mut", "*"):
            node = node.operand
        if isinstance(node, syntax.Name):
            types = self.types.get(node.id, set())
            return next(iter(types)) if len(types) == 1 else None
        if isinstance(node, syntax.Call):
            name = (
                node.func.name
                if isinstance(node.func, syntax.Attr)
                else node.func.last
                if isinstance(node.func, syntax.Name)
                else ""
            )
            if name in ("reshape", "broadcast", "permute"):
                return self.element_type(
                    node.func.base if isinstance(node.func, syntax.Attr) else node.args[0].value if node.args else None
                )
            if name in ("constant", "broadcast_scalar") and node.args and isinstance(node.args[0].value, syntax.Const):
                return node.args[0].value.suffix or None
        return None


def _declared(function: syntax.Function) -> Iterator[tuple[str, str]]:
    for param in function.params:
        yield param.name, param.annotation
    for node in function.walk():
        if isinstance(node, syntax.Assign) and node.annotation:
            for target in node.targets:
                if isinstance(target, syntax.Name):
                    yield target.id, node.annotation


def _accesses(calls: list[Event]) -> Iterator[Access]:
    for event in calls:
        op = MEMORY_OPS.get(event.name.rsplit("::", 1)[-1])
        if op is None or event.arguments is None:
            continue
        latency, latency_place = _argument(event, op.latency)
        tma, tma_place = _argument(event, op.tma)
        yield Access(op, event, latency, latency_place, tma, tma_place)


def _argument(event: Event, position: int | None) -> tuple[Value | None, Place | None]:
    arguments = event.arguments
    if position is None or arguments is None or position >= len(arguments.positional):
        return None, None
    return arguments.positional[position], arguments.places[position] if position < len(arguments.places) else None


def _mentions(value: Value, name: str) -> bool:
    return any(isinstance(one, Term) and one.op == "call" and one.name.rsplit("::", 1)[-1] == name for one in subterms(value))


def _strides_by_grid(value: Value) -> bool:
    """``(program..total).step_by(programs)``"""
    if not isinstance(value, Term) or value.op != "method" or value.name != "step_by" or len(value.args) < 2:
        return False
    start = (
        value.args[0].args[0] if isinstance(value.args[0], Term) and value.args[0].op == "range" and value.args[0].args else None
    )
    return start is not None and _mentions(start, "get_tile_block_id") and _mentions(value.args[1], "get_num_tile_blocks")


def _advances_by_grid(event: Event) -> bool:
    """``tile + programs`` where ``tile`` began as the program's index."""
    value = event.value
    if not isinstance(value, Term) or event.name.removesuffix("=") != "+" or len(value.args) != 2:
        return False
    left, right = value.args
    return any(
        _mentions(step, "get_num_tile_blocks") and _mentions(start, "get_tile_block_id")
        for start, step in ((left, right), (right, left))
    )


def loop_head(source: Source, loop: syntax.Node) -> Place:
    """The first line of a loop, up to its block."""
    text = source.part(*loop.span).partition(b"{")[0].partition(b"\n")[0].rstrip()
    return Place(source, Span(loop.span.start, loop.span.start + len(text)))


def explicit_latency(value: Value | None) -> Value | None:
    """The number in ``Some(n)`` (the first, of several alternatives); None for ``None`` and for what is not known."""
    for _, one in alternatives(value) if value is not None else ():
        if isinstance(one, Term) and one.op == "call" and one.name == "Some" and one.args:
            return one.args[0]
    return None


def disabled_tma(access: Access) -> Place | None:
    """Where ``tma::Disabled`` is written for an access (in one of several alternatives)."""
    for _, one in alternatives(access.tma) if access.tma is not None else ():
        if isinstance(one, Term) and one.op == "external" and one.name.rsplit("::", 1)[-1] == "Disabled":
            return one.place if one.place is not None else access.tma_place
    return None


def enabled_tma(place: Place, crate: Crate) -> str | None:
    """``tma::Enabled`` in the way in which ``tma::Disabled`` is written there; None when an import does not tell."""
    written = place.text
    path = written if "::" in written else crate.import_of(written, place.source) or written
    return path.removesuffix("Disabled") + "Enabled" if path.rpartition("::")[2] == "Disabled" else None


def scalar_origin(value: Value, entry: Entry) -> str | None:
    """ "pointer", "dimension" (of a tensor's shape or strides) or "scalar" for what a value is computed from; None: not known."""
    kinds: set[str] = set()
    for one in (
        subterms(value) if not isinstance(value, Choice) else [part for _, alt in alternatives(value) for part in subterms(alt)]
    ):
        if not isinstance(one, Term):
            continue
        if one.op == "input":
            param = next((param for param in entry.function.params if param.name == one.name), None)
            if param is None:
                return None
            kinds.add(_kind(param.annotation))
    if not kinds and any(isinstance(one, Known) for one in subterms(value)):
        return None
    if "pointer" in kinds:
        return "pointer"
    return "dimension" if "tensor" in kinds else "scalar" if kinds == {"scalar"} else None


def _kind(annotation: str) -> str:
    text = annotation.replace(" ", "")
    if text.startswith("*") or "*mut" in text or "*const" in text:
        return "pointer"
    if text in ("i32", "i64", "u32", "u64", "usize", "isize", "i16", "u16"):
        return "scalar"
    return "tensor" if "Tensor<" in text else "other"
