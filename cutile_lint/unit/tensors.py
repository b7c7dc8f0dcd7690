"""Tensors in a run: which values are tensors, what an event does on the device, what shares memory with what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cutile_lint.unit import torch_api as api
from cutile_lint.unit.launches import described_tensor, is_handle
from cutile_lint.unit.machine.python_methods import METADATA
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import Choice, Items, Known, Record, Term, Value, alternatives
from cutile_lint.unit.program import Program


@dataclass(frozen=True, slots=True)
class Work:
    """What an event does: ``kind`` is "fill", "copy", "compute", "sync", "alloc" or "view".

    ``name`` as the source says it (``torch.zeros``, ``.clone()``); ``result`` the tensor it makes; ``operand`` the tensor it works on.
    """

    kind: str
    name: str
    event: Event
    result: Value | None
    operand: Value | None


class Tensors:
    """Tensor facts of one trace."""

    def __init__(self, trace: Trace, program: Program) -> None:
        self.trace = trace
        self.program = program
        self._evidence: set[object] = set()
        self._memo: dict[object, bool] = {}
        self._collect()

    def _collect(self) -> None:
        """Values that are used as only tensors can be."""
        seen: set[int] = set()
        pending: list[Value] = []
        for event in self.trace.events:
            if event.arguments is not None:
                pending += event.arguments.positional
                pending += event.arguments.keywords.values()
                for value in (*event.arguments.positional, *event.arguments.keywords.values()):
                    if (tensor := described_tensor(value, self.program)) is not None:
                        self._add(tensor)
            if event.target is not None:
                pending.append(event.target)
                if event.kind == "call" and event.name in api.TENSOR_METHODS:
                    self._add(event.target)
            if event.value is not None:
                pending.append(event.value)
                if (tensor := described_tensor(event.value, self.program)) is not None:
                    self._add(tensor)
            pending += [literal.test for literal in event.path]
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Term):
                if value.op == "attr" and value.name in METADATA and value.name not in ("type",) and value.args:
                    self._add(value.args[0])
                pending += value.args
                pending += value.keywords.values()
            elif isinstance(value, Choice):
                pending += [one for _, one in value.alternatives]
            elif isinstance(value, Items):
                pending += value.items

    def _add(self, value: Value) -> None:
        for _, one in alternatives(value):
            if isinstance(one, Term) and one.op not in ("external", "config", "field", "compare", "not", "and", "or", "format"):
                self._evidence.add(one.key())

    # ── is it a tensor ──

    def is_tensor(self, value: Value | None) -> bool:
        """There is evidence that the value is a tensor (or one of its alternatives is)."""
        if value is None:
            return False
        if isinstance(value, Choice):
            return any(self.is_tensor(one) for _, one in value.alternatives)
        if not isinstance(value, Term):
            return False
        key = value.key()
        if key not in self._memo:
            self._memo[key] = False
            self._memo[key] = self._decide(value)
        return self._memo[key]

    def _decide(self, value: Term) -> bool:
        if value.op in ("call", "method") and (work := self._named_kind(value.op, value.name)) is not None:
            if value.op == "method":
                return (work != "sync" or value.name in ("cpu", "nonzero")) and (
                    value.name in api.TENSOR_METHODS or value.key() in self._evidence or self.is_tensor(value.args[0])
                )
            return work not in ("sync",)
        if value.key() in self._evidence:
            return True
        if value.op == "attr":
            return value.name in api.VIEW_ATTRIBUTES and self.is_tensor(value.args[0])
        if value.op == "index":
            return self.is_tensor(value.args[0])
        if value.op in ("binary", "unary"):
            return any(self.is_tensor(arg) for arg in value.args)
        if value.op == "element":
            return self.is_tensor(value.args[0]) if isinstance(value.args[0], Term) and value.args[0].op == "method" else False
        return False

    # ── what an event does ──

    def _named_kind(self, op: str, name: str) -> str | None:
        """The kind of work of a function or method by its name alone."""
        if op == "method":
            if name in api.FILL_METHODS:
                return "fill"
            if name in api.COPY_METHODS:
                return "copy"
            if name in api.ALLOCATION_METHODS:
                return "alloc"
            if name in api.VIEWS:
                return "view"
            if name in api.SYNC_METHODS:
                return "sync"
            return "compute" if name in api.COMPUTE_METHODS else None
        if not name.startswith("torch."):
            return None
        last = name.rsplit(".", 1)[1]
        if name in ("torch.cuda.synchronize",) or (name.count(".") == 1 and last in api.SYNC_FUNCTIONS):
            return "sync"
        if name.startswith(api.HOST_PACKAGES) or last in api.HOST_FUNCTIONS or not last[:1].islower():
            return None
        if name.count(".") == 1:
            if last in api.FILLS:
                return "fill"
            if last in api.COPIES:
                return "copy"
            if last in api.ALLOCATIONS:
                return "alloc"
            if last in api.VIEWS:
                return "view"
            if last in ("float16", "bfloat16", "float32", "float64", "int32", "int64", "int8", "uint8", "bool", "half", "long"):
                return None
        return "compute"

    def work(self, event: Event) -> Work | None:
        """What an event does on the device; None for host work and for what is not known to be tensor work."""
        if event.kind == "operator":
            return self._operator(event)
        if event.kind == "setitem":
            return self._setitem(event)
        if event.kind != "call":
            return None
        if event.target is None:
            return self._function(event)
        return self._method(event)

    def _function(self, event: Event) -> Work | None:
        name = event.name
        arguments = event.arguments
        operand = arguments.positional[0] if arguments is not None and arguments.positional else None
        if name == "print" and arguments is not None and any(self.is_tensor(value) for value in arguments.positional):
            return Work("sync", "print", event, None, operand)
        kind = self._named_kind("call", name)
        if kind is None:
            return None
        last = name.rsplit(".", 1)[1]
        if kind in ("fill", "alloc") and last not in api.LIKE and not self.on_device(event):
            return None
        return Work(kind, name, event, event.value, operand)

    def on_device(self, event: Event) -> bool:
        """A creation function makes a device tensor: its ``device`` is not the CPU, or the result reaches a descriptor."""
        device = event.arguments.keywords.get("device") if event.arguments is not None else None
        if device is None:
            return event.value is not None and event.value.key() in self._evidence
        texts = [one for _, one in alternatives(device)]
        if all(isinstance(one, Known) and str(one.value).startswith("cpu") for one in texts):
            return False
        if all(isinstance(one, Known) and one.value is None for one in texts):
            return event.value is not None and event.value.key() in self._evidence
        for one in texts:
            if isinstance(one, Term) and one.name == "torch.device" and one.args:
                first = one.args[0]
                if isinstance(first, Known) and str(first.value).startswith("cpu"):
                    return False
        return True

    def _method(self, event: Event) -> Work | None:
        base = event.target
        if base is None or is_handle(base, self.program):
            return None
        kind = self._named_kind("method", event.name)
        if kind is None:
            return None
        if kind == "sync" and event.name in ("synchronize", "wait", "wait_event", "wait_stream"):
            return Work("sync", f".{event.name}()", event, None, None)
        if event.name not in api.TENSOR_METHODS and not self.is_tensor(base):
            return None
        if kind == "copy" and event.name == "to" and self._stays(event):
            return None
        return Work(kind, f".{event.name}()", event, event.value, base)

    def _stays(self, event: Event) -> bool:
        """``.to(…)`` without a target that could move or convert."""
        arguments = event.arguments
        return arguments is None or not (arguments.positional or arguments.keywords)

    def _operator(self, event: Event) -> Work | None:
        value = event.value
        if not isinstance(value, Term) or not any(self.is_tensor(arg) for arg in value.args):
            return None
        if event.name in ("is", "is not", "in", "not in"):
            return None
        return Work("compute", f"`{event.name}`", event, value, value.args[0])

    def _setitem(self, event: Event) -> Work | None:
        if not self.is_tensor(event.target):
            return None
        kind = "fill" if isinstance(event.value, Known) else "copy"
        return Work(kind, "item assignment", event, event.target, event.target)

    def works(self, timed: bool | None = None) -> Iterator[Work]:
        """All device work in order; ``timed`` True: of timed regions only, False: outside them only."""
        for event in self.trace.events:
            if timed is not None and bool(event.timed) is not timed:
                continue
            found = self.work(event)
            if found is not None:
                yield found

    # ── memory ──

    def roots(self, value: Value | None) -> list[Value]:
        """The values whose memory a tensor shares: views are followed, choices give several."""
        found: list[Value] = []
        for _, one in alternatives(value) if value is not None else []:
            while isinstance(one, Term):
                if (one.op == "method" and one.name in api.VIEWS) or (one.op == "attr" and one.name in api.VIEW_ATTRIBUTES):
                    one = one.args[0]
                elif one.op == "method" and one.name in api.FILL_METHODS | {"copy_"} and one.name.endswith("_"):
                    one = one.args[0]
                elif one.op == "method" and one.name.endswith("_") and not one.name.startswith("_"):
                    one = one.args[0]
                elif one.op == "index" and self.is_tensor(one.args[0]):
                    one = one.args[0]
                elif one.op == "call" and one.name.startswith("torch.") and one.name.rsplit(".", 1)[1] in api.VIEWS and one.args:
                    one = one.args[0]
                else:
                    break
                if isinstance(one, Choice):
                    found += self.roots(one)
                    break
            if not isinstance(one, Choice):
                found.append(one)
        return found

    def shares_memory(self, first: Value | None, second: Value | None) -> bool:
        """Two tensors (perhaps) have memory in common."""
        keys = {root.key() for root in self.roots(first)}
        return any(root.key() in keys for root in self.roots(second))

    def is_input(self, value: Value | None) -> bool:
        """The tensor's memory is (perhaps) that of an argument of the callable."""
        return any(isinstance(root, Term) and root.op == "input" for root in self.roots(value))

    def contiguous(self, value: Value | None) -> bool | None:
        """The tensor is known to be contiguous (True), known to be a strided view (False), or neither (None)."""
        answers = {self._contiguous(one) for _, one in alternatives(value)} if value is not None else {None}
        return answers.pop() if len(answers) == 1 else None

    def _contiguous(self, value: Value) -> bool | None:
        if isinstance(value, Record) or not isinstance(value, Term):
            return None
        kind = self._named_kind(value.op, value.name) if value.op in ("call", "method") else None
        if value.op == "method" and value.name in ("contiguous", "new_empty", "new_zeros", "new_ones", "new_full", "repeat"):
            return True
        if kind in ("alloc", "fill") and value.op == "call" and not value.name.endswith(("_like", "_strided", "_permuted")):
            return True
        if kind == "view" and value.name in ("view", "detach", "unsqueeze", "reshape", "flatten", "view_as", "squeeze"):
            return self.contiguous(value.args[0])
        if kind == "view" and value.name in ("transpose", "permute", "t", "swapaxes", "swapdims", "movedim"):
            return False if self.contiguous(value.args[0]) else None
        if value.op == "call" and value.name in ("torch.empty_like", "torch.zeros_like") and value.args:
            return self.contiguous(value.args[0])
        return None
