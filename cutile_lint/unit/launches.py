"""Launches: FFI launches in a Python run, kernel launches in a Rust run; and the descriptors that cross between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import Arguments, Choice, Condition, Items, Known, Record, Term, Value, alternatives

if TYPE_CHECKING:
    from cutile_lint.unit.linking.crate import Crate, Entry
    from cutile_lint.unit.linking.program import Program

#: Methods that run a launch chain.
LAUNCH_METHODS = frozenset(["sync_on", "async_on", "sync", "launch_on", "execute", "execute_on", "launch"])
#: Methods of cffi's ``ffi`` object: no launches.
_FFI_METHODS = frozenset(
    ["new", "cast", "addressof", "string", "buffer", "from_buffer", "gc", "typeof", "cdef", "dlopen", "memmove", "unpack"]
)


@dataclass(slots=True, eq=False)
class Launch:
    """A call of ``cutile_*`` on a library handle. ``arguments.positional[i]`` is what goes into slot *i* of the export."""

    symbol: str
    event: Event

    @property
    def arguments(self) -> Arguments:
        assert self.event.arguments is not None
        return self.event.arguments

    @property
    def place(self) -> Place:
        return self.event.place

    @property
    def path(self) -> Condition:
        return self.event.path

    @property
    def timed(self) -> int:
        return self.event.timed

    @property
    def order(self) -> int:
        return self.event.order

    def argument_place(self, slot: int) -> Place:
        places = self.arguments.places
        return places[slot] if slot < len(places) else self.place


def launches_in(trace: Trace, program: Program) -> list[Launch]:
    """The FFI launches of a run, in order."""
    found = []
    for event in trace.events:
        if event.kind != "call" or event.arguments is None or event.target is None or event.name in _FFI_METHODS:
            continue
        if event.name.startswith("cutile_") or is_handle(event.target, program):
            found.append(Launch(event.name, event))
    return found


def is_handle(value: Value, program: Program) -> bool:
    """The value is the library that ``bind_kernel_function_cffi`` (or ``dlopen``) gave."""
    for _, one in alternatives(value):
        while isinstance(one, Term):
            if one.op == "call" and program.role(one.name) == "bind-kernel-function-cffi":
                return True
            if one.op == "method" and one.name == "dlopen":
                return True
            if one.op == "index" and isinstance(one.args[1], Known) and one.args[1].value == 0:
                break
            if one.op not in ("index", "attr", "payload", "entered") or not one.args:
                break
            one = one.args[0]
    return False


def described_tensor(value: Value, program: Program) -> Value | None:
    """The tensor whose descriptor a value is (``make_tensor_desc(ffi, t)``, or a ``TensorDesc`` filled by hand); None for others."""
    if isinstance(value, Choice):
        found = [(path, described_tensor(one, program)) for path, one in alternatives(value)]
        kept = [(path, tensor) for path, tensor in found if tensor is not None]
        return Choice(kept, value.place) if kept else None
    if isinstance(value, Term) and value.op == "call" and program.role(value.name) == "make-tensor-desc":
        if "t" in value.keywords:
            return value.keywords["t"]
        return value.args[1] if len(value.args) > 1 else None
    pointer = value.fields.get("ptr") if isinstance(value, Record) else None
    if isinstance(pointer, Term) and pointer.op == "method" and pointer.name == "data_ptr":
        return pointer.base
    return None


# ── the Rust side ──────────────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class KernelLaunch:
    """One ``entry(args…).generics(…).grid(…).compile_options(…).sync_on(…)`` chain that a run of the export reaches.

    ``chain`` has the builder calls by method name; a chain is read in any order.
    """

    event: Event
    entry_name: str
    entry: Entry | None
    call: Term
    chain: dict[str, Term] = field(default_factory=dict)
    #: when what is launched has this chain, on the event's path
    condition: Condition = ()

    @property
    def place(self) -> Place:
        return self.call.place or self.event.place

    @property
    def path(self) -> Condition:
        return self.event.path

    @property
    def arguments(self) -> tuple[Value, ...]:
        return self.call.args

    @property
    def generics(self) -> Items | None:
        """The strings of ``.generics(…)``; None when there is none or they are not known one by one."""
        term = self.chain.get("generics")
        value = term.args[1] if term is not None and len(term.args) > 1 else None
        return value if isinstance(value, Items) else None

    @property
    def grid(self) -> Value | None:
        term = self.chain.get("grid") or self.chain.get("const_grid")
        return term.args[1] if term is not None and len(term.args) > 1 else None

    @property
    def options(self) -> Value | None:
        """The value given to ``.compile_options(…)``; None when the chain has none."""
        term = self.chain.get("compile_options")
        return term.args[1] if term is not None and len(term.args) > 1 else None

    @property
    def options_place(self) -> Place | None:
        """The chain up to and with ``.compile_options(…)``."""
        term = self.chain.get("compile_options")
        return term.place if term is not None else None


def kernel_launches_in(trace: Trace, crate: Crate) -> list[KernelLaunch]:
    """The kernel launches of a run of an export, in order."""
    found = []
    for event in trace.events:
        if event.kind == "call" and event.name in LAUNCH_METHODS and event.target is not None:
            for condition, target in alternatives(event.target):
                launch = _chain(event, target, crate, condition)
                if launch is not None:
                    found.append(launch)
    return found


def _chain(event: Event, value: Value, crate: Crate, condition: Condition) -> KernelLaunch | None:
    chain: dict[str, Term] = {}
    while isinstance(value, Term) and value.op in ("method", "payload", "attr") and value.args:
        if value.op == "method":
            chain.setdefault(value.name, value)
        value = value.args[0]
        if isinstance(value, Choice):
            value = alternatives(value)[0][1]
    if not isinstance(value, Term) or value.op != "call":
        return None
    if value.name.startswith("entry:"):
        name = value.name.removeprefix("entry:")
        return KernelLaunch(event, name, crate.entries.get(name), value, chain, condition)
    if "generics" in chain or "grid" in chain:
        name = value.name.rsplit("::", 1)[-1]
        return KernelLaunch(event, name, crate.entries.get(name), value, chain, condition)
    return None
