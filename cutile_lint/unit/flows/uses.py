"""Who reads the content of a tensor in a run: calls, launches, results. Sizes, dtypes and addresses are not content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.python_methods import METADATA
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Choice, Closure, Entries, Items, Partial, Record, Term, Value
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed import torch_api as api

_METADATA = frozenset(METADATA) | api.METADATA_METHODS
_NO_CONTENT = frozenset(["delete", "tune-start", "tune-end", "await"])
_TEMPLATES = api.LIKE | {"empty", "empty_strided"}


class Uses:
    """Uses of the memory of tensors in one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.symbols = {launch.symbol for launch in run.launches}
        self.launches = {id(launch.event): launch for launch in run.launches}

    def keys(self, tensor: Value) -> set[object]:
        """Keys of the values whose memory a tensor is."""
        return {root.key() for root in self.run.tensors.roots(tensor)}

    def carries(self, value: Value, keys: set[object]) -> bool:
        """The value is, or holds, something with the content of one of the tensors."""
        stack, seen = [value], set()
        while stack:
            item = stack.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if isinstance(item, Term):
                if item.key() in keys:
                    return True
                stack += self._parts(item)
            elif isinstance(item, Choice):
                stack += [inner for _, inner in item.alternatives]
            elif isinstance(item, Items):
                stack += item.items
            elif isinstance(item, Entries):
                stack += item.entries.values()
            elif isinstance(item, Record):
                stack += item.fields.values()
            elif isinstance(item, Partial):
                stack += [*item.args, *item.keywords.values()]
        return False

    def _parts(self, term: Term) -> Iterable[Value]:
        last = term.name.rsplit(".", 1)[-1]
        if term.op == "attr" and (term.name in METADATA or term.name in _METADATA):
            return ()
        if term.op in ("call", "method") and (last in _METADATA or last in self.symbols or last in _TEMPLATES):
            return ()
        if term.op == "method" and last in api.ALLOCATION_METHODS | {"new_zeros", "new_ones", "new_full"}:
            return ()
        if term.op == "call" and self.run.program.role(term.name) == "make-tensor-desc":
            return ()
        if term.op == "config":
            return ()
        return (*term.args, *term.keywords.values())

    def events(self, tensor: Value, start: int, end: int | None = None) -> Iterator[Event]:
        """Events after ``start`` (and before ``end``) that get the content of a tensor, launches excepted."""
        keys = self.keys(tensor)
        for event in self.run.trace.events:
            if event.order <= start or (end is not None and event.order >= end):
                continue
            if event.kind in _NO_CONTENT or id(event) in self.launches or self._looks_only(event):
                continue
            if any(self.carries(value, keys) for value in _values(event)):
                yield event

    def _looks_only(self, event: Event) -> bool:
        """The call makes a descriptor or a view, or asks for a size."""
        if event.kind != "call":
            return False
        last = event.name.rsplit(".", 1)[-1]
        if self.run.program.role(event.name) in ("make-tensor-desc", "check-rc"):
            return True
        if event.target is None and last in _TEMPLATES:
            return True
        if event.target is not None and (last in api.VIEWS or last in _METADATA or last in api.ALLOCATION_METHODS):
            return True
        return event.name in ("int", "len", "str", "repr", "isinstance", "id", "type")

    def returned(self, tensor: Value) -> bool:
        """The tensor reaches the result of the op, or of a timed trial."""
        keys = self.keys(tensor)
        results = [value for _, value in self.run.trace.returned]
        results += [tuning.output for tuning in self.run.tunings if tuning.output is not None]
        return any(self.carries(value, keys) for value in results) or any(isinstance(value, Closure) for value in results)

    def other_launches(self, tensor: Value, *but: Launch) -> Iterator[Launch]:
        """Launches that get the tensor in a slot."""
        from cutile_lint.unit.device.effects import given_tensor

        for launch in self.run.launches:
            if launch in but:
                continue
            given = [given_tensor(value, self.run.program) for value in launch.arguments.positional]
            if any(one is not None and self.run.tensors.shares_memory(one, tensor) for one in given):
                yield launch


def _values(event: Event) -> Iterator[Value]:
    if event.target is not None:
        yield event.target
    if event.arguments is not None:
        yield from event.arguments.positional
        yield from event.arguments.keywords.values()
    if event.kind in ("setitem", "setattr", "global", "raise") and event.value is not None:
        yield event.value
    if event.kind == "operator" and isinstance(event.value, Term):
        yield from event.value.args
