"""What a device entry does with its buffers: loads, stores, atomics, and buffers that go where nothing is known."""

from __future__ import annotations

from enum import IntEnum

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Choice, Items, Known, Record, Term, Value
from cutile_lint.unit.runs import EntryRun

_LOAD = regex(r"load(_|$)")
_STORE = regex(r"store(_|$)")
_ATOMIC = regex(r"atomic_")
#: Gives an address (pointer, view, partition) from an address, or only looks at it.
_ADDRESS = regex(
    r"(partition|make_|assume_|addptr|broadcast|reshape|ptr_to_|int_to_ptr|pointer_to_tile|tile_to_pointer|offset|with_bounds|check_"
    r"|validate_|set_tensor_token|set_nested_|swizzle_|iter_indices|index$|permute|prefetch|entry:)"
)
#: Facts about a buffer that are not the buffer: shapes, tokens, counts.
_FACTS = regex(
    r"(shape$|dims?$|strides?$|rank$|get_|num_tiles|new_token|join_tokens|token|is_null|coords|ceil_div|min$|max$|iter_indices|element_size)"
)
_BUFFER_TYPE = regex(r"\*\s*(mut|const)\b|Tensor|Partition|View|Pointer|Ptr|Buffer")


class Share(IntEnum):
    """How surely an address is that of a parameter: perhaps; somewhere inside; the parameter's own address."""

    PERHAPS = 0
    PART = 1
    WHOLE = 2


@dataclass(frozen=True, slots=True)
class Access:
    """One use of a buffer's content. ``kind``: "load", "store", "atomic", "unknown" (handed to something that is not known)."""

    kind: str
    event: Event
    address: Value
    share: Share

    @property
    def place(self) -> Place:
        return self.event.place


def last_name(name: str) -> str:
    """``cutile::core::load_view_tko`` → ``load_view_tko``."""
    return name.rsplit("::", 1)[-1]


def is_buffer(param: syntax.Param) -> bool:
    """The parameter's type is one with content on the device: a tensor, a view or a pointer."""
    return bool(_BUFFER_TYPE.search(param.annotation))


def roots(value: Value) -> dict[str, Share]:
    """Parameters whose memory an address means."""
    return _Roots().of(value)


class _Roots:
    """Roots of the values of one run, each looked at once."""

    def __init__(self) -> None:
        self.known: dict[int, dict[str, Share]] = {}

    def of(self, value: Value) -> dict[str, Share]:
        found = self.known.get(id(value))
        if found is None:
            self.known[id(value)] = {}
            found = self.known[id(value)] = self._find(value)
        return found

    def _find(self, value: Value) -> dict[str, Share]:
        if isinstance(value, Choice):
            return self._joined([inner for _, inner in value.alternatives], Share.WHOLE)
        if isinstance(value, Items):
            return self._joined(value.items, Share.PERHAPS)
        if isinstance(value, Record):
            return self._joined(list(value.fields.values()), Share.PERHAPS)
        if not isinstance(value, Term):
            return {}
        if value.op == "input":
            return {value.name: Share.WHOLE}
        if value.op in ("call", "method"):
            return self._of_call(value)
        if value.op == "attr":
            return {} if _FACTS.match(value.name) else self._joined(value.args[:1], Share.WHOLE)
        if value.op in ("index", "payload", "element", "entered"):
            return self._joined(value.args[:1], Share.WHOLE if value.op != "element" else Share.PERHAPS)
        if value.op in ("binary", "unary"):
            return self._joined(value.args, Share.PART)
        return self._joined(value.args, Share.PERHAPS) if value.op == "unknown" else {}

    def _of_call(self, value: Term) -> dict[str, Share]:
        name = last_name(value.name)
        if not value.args or _LOAD.match(name) or _STORE.match(name) or _ATOMIC.match(name) or _FACTS.match(name):
            return {}
        if name in ("int_to_ptr", "ptr_to_int"):
            return self._joined(value.args[:1], Share.PART)
        first = self.of(value.args[0])
        return first or ({} if _ADDRESS.match(name) else self._joined(value.args[1:], Share.PERHAPS))

    def _joined(self, values: list[Value] | tuple[Value, ...], most: Share) -> dict[str, Share]:
        found: dict[str, Share] = {}
        for value in values:
            for root, share in self.of(value).items():
                found[root] = min(found.get(root, Share.WHOLE), share, most)
        return dict.fromkeys(found, Share.PERHAPS) if len(found) > 1 else found


def accesses(run: EntryRun) -> dict[str, list[Access]]:
    """The uses of each buffer parameter of an entry, in order."""
    buffers = {param.name for param in run.entry.function.params if is_buffer(param)}
    found: dict[str, list[Access]] = {name: [] for name in buffers}
    search = _Roots()
    for event in run.trace.events:
        if event.kind != "call":
            continue
        name = last_name(event.name)
        values = _operands(event)
        if not values:
            continue
        kind = "load" if _LOAD.match(name) else "store" if _STORE.match(name) else "atomic" if _ATOMIC.match(name) else ""
        if not kind and (_ADDRESS.match(name) or _FACTS.match(name)):
            continue
        for value in values[:1] if kind else values:
            for root, share in search.of(value).items():
                if root in buffers:
                    found[root].append(Access(kind or "unknown", event, value, share))
    return found


def _operands(event: Event) -> list[Value]:
    arguments = list(event.arguments.positional) if event.arguments is not None else []
    return [event.target, *arguments] if event.target is not None else arguments


def operand(event: Event, position: int) -> Value | None:
    """The ``position``-th operand of a device operation, its receiver counted as the first."""
    values = _operands(event)
    return values[position] if position < len(values) else None


def is_nothing(value: Value | None) -> bool:
    """``None``, with or without a type."""
    return (
        value is None
        or (isinstance(value, Term) and value.op == "external" and last_name(value.name).startswith("None"))
        or (isinstance(value, Known) and value.value is None)
    )
