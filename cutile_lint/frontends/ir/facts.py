"""What a Tile IR text says, as plain facts: entries, operations, views, accesses, matrix products, reductions, loops.

Spans are byte offsets into the text. Values are looked up when the text is read: an operand knows the operation that made it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends.ir.types import IrType
from cutile_lint.frontends.syntax import Fault
from cutile_lint.records import dataclass, field
from cutile_lint.sources import Source, Span

DEFAULT_ARCH = "default"
LOW_PRECISION = frozenset({"f16", "bf16"})

#: operations on floating-point tiles: their rounding and flush modes are compared with a reference's (CTL622)
FLOAT_OPS = frozenset(
    "addf subf mulf divf fma remf maxf minf negf absf exp exp2 log log2 sqrt rsqrt pow sin cos tan sinh cosh tanh atan2 "
    "floor ceil ftof ftoi itof cmpf mmaf mmaf_scaled".split()
)


@dataclass(frozen=True, slots=True)
class HintValue:
    """A hint as written: an int, a bool, or text."""

    value: object
    span: Span


@dataclass(slots=True, eq=False)
class Hints:
    """``optimization_hints``: architecture ("sm_100", "default") → name → value. ``span`` is None when there are none."""

    span: Span | None = None
    by_arch: dict[str, dict[str, HintValue]] = field(default_factory=dict)

    def get(self, name: str, arch: str = DEFAULT_ARCH) -> HintValue | None:
        """The hint for an architecture; its own table first, then the default one."""
        for key in (arch, DEFAULT_ARCH):
            found = self.by_arch.get(key, {}).get(name)
            if found is not None:
                return found
        return None

    def values(self, name: str) -> dict[str, object]:
        """Every architecture's value of one hint."""
        return {arch: table[name].value for arch, table in self.by_arch.items() if name in table}

    @property
    def is_empty(self) -> bool:
        """No hint in any table: ``<sm_100 = {}>`` is cosmetic."""
        return not any(self.by_arch.values())


@dataclass(slots=True, eq=False)
class Operand:
    """``%name`` as used. ``producer`` is the operation that defines it; None for parameters, loop variables and unknown names."""

    name: str
    span: Span
    producer: IrOp | None = None
    param: IrParam | None = None


@dataclass(slots=True, eq=False)
class IrParam:
    name: str
    type: IrType | None
    span: Span


@dataclass(slots=True, eq=False)
class IrOp:
    """One operation. ``name`` is without the dialect; ``span`` runs from the results to the end of the header (before a region).

    ``attributes``: ``name = value`` settings: numbers, booleans, text, tuples (``shape``, ``strides``; ``%x`` stays text).
    ``modifiers``: bare words (``weak``, ``signed``, ``flush_to_zero``). ``lists``: bare bracket lists (``permute %t [1, 0]``).
    """

    name: str
    span: Span
    name_span: Span
    results: tuple[str, ...] = ()
    operands: list[Operand] = field(default_factory=list)
    operand_types: tuple[IrType, ...] = ()
    result_types: tuple[IrType, ...] = ()
    attributes: dict[str, object] = field(default_factory=dict)
    modifiers: tuple[str, ...] = ()
    lists: tuple[tuple[object, ...], ...] = ()
    rounding: str = ""
    hints: Hints = field(default_factory=Hints)
    symbol: str = ""
    regions: list[list[IrOp]] = field(default_factory=list)
    #: ``for``: the induction variable's name; ``for``/``loop``: carried name → the operand it starts with
    induction: str = ""
    carried: dict[str, Operand] = field(default_factory=dict)
    parent: IrOp | None = None

    @property
    def flush_to_zero(self) -> bool:
        return "flush_to_zero" in self.modifiers

    def walk(self) -> Iterator[IrOp]:
        """This operation and those in its regions, in text order."""
        stack = [self]
        while stack:
            op = stack.pop()
            yield op
            for region in reversed(op.regions):
                stack.extend(reversed(region))

    def enclosing(self, *names: str) -> IrOp | None:
        """The nearest operation around this one with one of these names."""
        op = self.parent
        while op is not None and op.name not in names:
            op = op.parent
        return op


@dataclass(slots=True, eq=False)
class TensorView:
    """``make_tensor_view``. ``shape`` and ``strides`` as written: ints, or ``%x`` text; ``type`` says which are static."""

    op: IrOp
    base: Operand | None
    shape: tuple[object, ...]
    strides: tuple[object, ...]
    type: IrType | None

    @property
    def span(self) -> Span:
        return self.op.span

    @property
    def type_strides(self) -> tuple[int | None, ...] | None:
        """``strides=[?,1]`` of the type; None when the type has none."""
        return self.type.strides if self.type else None


@dataclass(slots=True, eq=False)
class PartitionView:
    """``make_partition_view`` and its strided and gather/scatter kin. ``tile`` in elements; ``dim_map`` None for the identity."""

    op: IrOp
    tensor: TensorView | None
    tile: tuple[int | None, ...]
    dim_map: tuple[int | None, ...] | None
    padding: str
    type: IrType | None

    @property
    def span(self) -> Span:
        return self.op.span

    @property
    def permutes(self) -> bool:
        return self.dim_map is not None and self.dim_map != tuple(range(len(self.dim_map)))


@dataclass(slots=True, eq=False)
class Access:
    """A load or store. ``kind``: "load", "store", "atomic"; ``through``: "view" or "pointer"; ``element``: the scalar moved."""

    op: IrOp
    kind: str
    through: str
    target: Operand | None
    view: PartitionView | None
    tile: IrType | None
    element: str

    @property
    def span(self) -> Span:
        return self.op.span

    @property
    def hints(self) -> Hints:
        return self.op.hints

    @property
    def loop(self) -> IrOp | None:
        return self.op.enclosing("for", "loop")

    def latency(self, arch: str = DEFAULT_ARCH) -> int | None:
        """None: left to the compiler."""
        found = self.hints.get("latency", arch)
        return found.value if found is not None and type(found.value) is int else None

    def allow_tma(self, arch: str = DEFAULT_ARCH) -> bool:
        """Views may use TMA unless told not to; pointers never do."""
        found = self.hints.get("allow_tma", arch)
        return self.through == "view" and not (found is not None and found.value is False)


@dataclass(slots=True, eq=False)
class Mma:
    """``mmaf``, ``mmaf_scaled``, ``mmai``: the types of the two factors and of the accumulator."""

    op: IrOp
    left: IrType | None
    right: IrType | None
    accumulator: IrType | None

    @property
    def span(self) -> Span:
        return self.op.span


@dataclass(slots=True, eq=False)
class Reduction:
    """``reduce`` or ``scan``. ``combiners``: the arithmetic in its body ("addf", "maxf"); ``source``/``result``: tile types."""

    op: IrOp
    dim: int | None
    combiners: tuple[str, ...]
    source: tuple[IrType, ...]
    result: tuple[IrType, ...]

    @property
    def span(self) -> Span:
        return self.op.span

    @property
    def is_sum(self) -> bool:
        """Sums and products, whose accumulator's precision matters; not maxima and minima."""
        return any(name in ("addf", "mulf", "fma", "subf") for name in self.combiners)


@dataclass(slots=True, eq=False)
class Loop:
    """``for`` (with bounds) or ``loop``. ``is_persistent``: steps by the number of tile blocks (a grid-stride loop)."""

    op: IrOp
    lower: Operand | None = None
    upper: Operand | None = None
    step: Operand | None = None

    @property
    def span(self) -> Span:
        return self.op.span

    @property
    def is_persistent(self) -> bool:
        return self.step is not None and self.step.producer is not None and self.step.producer.name == "get_num_tile_blocks"


@dataclass(slots=True, eq=False)
class IrEntry:
    """``entry @name(…)``. Lists are in text order, over all regions."""

    op: IrOp
    name: str
    name_span: Span
    params: list[IrParam]
    hints: Hints
    ops: list[IrOp] = field(default_factory=list)
    tensor_views: list[TensorView] = field(default_factory=list)
    partition_views: list[PartitionView] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    mmas: list[Mma] = field(default_factory=list)
    reductions: list[Reduction] = field(default_factory=list)
    permutes: list[IrOp] = field(default_factory=list)
    float_ops: list[IrOp] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)

    @property
    def span(self) -> Span:
        return self.op.span

    def occupancy(self, arch: str = DEFAULT_ARCH) -> int | None:
        return self._hint("occupancy", arch)

    def num_cta_in_cga(self, arch: str = DEFAULT_ARCH) -> int | None:
        return self._hint("num_cta_in_cga", arch)

    def _hint(self, name: str, arch: str) -> int | None:
        found = self.hints.get(name, arch)
        return found.value if found is not None and type(found.value) is int else None

    @property
    def uses_views(self) -> bool:
        return any(access.through == "view" for access in self.accesses)

    @property
    def uses_pointers(self) -> bool:
        return any(access.through == "pointer" for access in self.accesses)


@dataclass(slots=True, eq=False)
class IrModule:
    """A read text. With ``faults`` the entries hold what could be read around them; ``refused`` says why there are none."""

    source: Source
    name: str = ""
    entries: list[IrEntry] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    refused: str = ""

    def entry(self, name: str) -> IrEntry | None:
        return next((entry for entry in self.entries if entry.name == name), None)
