"""Tensors in a run: which values are tensors, what an event does on the device, what shares memory with what."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from cutile_lint.records import dataclass
from cutile_lint.unit.launches import described_tensor, is_handle
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine import types
from cutile_lint.unit.machine.paths import implies
from cutile_lint.unit.machine.python_methods import METADATA
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Literal, Record, Term, Value, alternatives
from cutile_lint.unit.timed import torch_api as api

#: Terms that are never tensors.
_NO_TENSORS = frozenset(["external", "config", "field", "not", "and", "or", "format", "slice"])

_TENSOR_TYPES = frozenset(["torch.Tensor", "torch.nn.Parameter"])
_NUMBER_TYPES = frozenset(
    ["int", "float", "bool", "str", "torch.dtype", "torch.Size", "torch.SymInt", "numbers.Number", "numbers.Integral"]
)

#: Functions for anything that copy or convert a tensor when they get one.
_OF_TENSORS = frozenset(["copy.deepcopy", "torch.tensor", "torch.asarray", "torch.as_tensor"])


def _is_metadata(value: Term) -> bool:
    """A tensor's shape, dtype, strides …: a host value."""
    if value.op == "attr":
        return value.name in METADATA
    if value.op == "index":
        return isinstance(value.args[0], Term) and value.args[0].op == "attr" and value.args[0].name == "shape"
    if value.op == "method" and value.name == "type":  # ``x.type()`` asks, ``x.type(dtype)`` converts
        return len(value.args) == 1 and not value.keywords
    return value.op == "method" and value.name in api.METADATA_METHODS


def _compares_data(value: Term) -> bool:
    """A comparison that would look at a tensor's elements: not by identity, nor with None or a text."""
    if value.name in ("is", "is not", "in", "not in"):
        return False
    return not any(isinstance(arg, Known) and not isinstance(arg.value, (int, float)) for arg in value.args)


def tensor_test(test: Value) -> tuple[Value, bool] | None:
    """The value that a test asks whether it is a tensor, and the test's outcome for one; None for other tests.

    ``isinstance(x, torch.Tensor)``, ``isinstance(x, (int, float))``, ``torch.is_tensor(x)``, ``hasattr(x, "dtype")``, ``type(x) is torch.Tensor``.
    """
    if not isinstance(test, Term) or not test.args:
        return None
    if test.op == "compare" and test.name in ("==", "is") and any(_is_tensor_type(arg) for arg in test.args):
        typed = next((arg for arg in test.args if isinstance(arg, Term) and arg.name == "type" and len(arg.args) == 1), None)
        return (typed.args[0], True) if typed is not None else None
    if test.op != "call":
        return None
    if test.name == "isinstance" and len(test.args) == 2:
        names = types.names_of(test.args[1])
        if not _TENSOR_TYPES.isdisjoint(names):
            return test.args[0], True
        return (test.args[0], False) if _NUMBER_TYPES.issuperset(names) else None
    if test.name == "hasattr" and isinstance(test.args[-1], Known) and test.args[-1].value in types.TENSOR_NAMES:
        return test.args[0], True
    return (test.args[0], True) if test.name == "torch.is_tensor" else None


def _is_tensor_type(value: Value) -> bool:
    return isinstance(value, Term) and value.name in _TENSOR_TYPES


def _keeps_on_host(value: Value) -> bool:
    """An argument of ``.to(…)`` that is no device but the CPU: a dtype, a flag, a memory format."""
    if isinstance(value, Known):
        return not isinstance(value.value, (str, int)) or isinstance(value.value, bool) or value.value == "cpu"
    return isinstance(value, Term) and ((value.op == "attr" and value.name == "dtype") or value.op == "external")


def _is_stream_or_event(value: Value) -> bool:
    """An object of ``torch.cuda`` that can be waited for."""
    for _, one in alternatives(value):
        while isinstance(one, Term) and one.op in ("entered", "attr", "index", "global") and one.args:
            one = one.args[0]
        if (
            isinstance(one, Term)
            and one.op == "call"
            and one.name.startswith("torch.")
            and one.name.endswith(api.STREAMS_AND_EVENTS)
        ):
            return True
        if isinstance(one, Term) and one.op == "method" and one.name == "record_event":
            return True
    return False


def _add(value: Value, evidence: set[object]) -> None:
    for _, one in alternatives(value):
        if isinstance(one, Term) and one.op not in _NO_TENSORS and not _is_metadata(one):
            evidence.add(one.key())


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
        self._described: set[object] = set()
        #: values of which the code asks whether they are tensors, with the tests and their outcome for a tensor
        self._tested: dict[object, list[tuple[Value, bool]]] = {}
        self._memo: dict[object, bool] = {}
        self._works: list[Work] | None = None
        self._collect(self._evidence)

    def _collect(self, evidence: set[object], tested: bool = True) -> None:
        """Values that are used as only tensors can be; ``tested`` False: other than behind a test of whether they are some."""
        seen: set[int] = set()
        pending: list[Value] = []
        last: Condition = ()
        for event in self.trace.events:
            if not tested and self._under_test(event.path):
                continue
            if event.arguments is not None:
                pending += event.arguments.positional
                pending += event.arguments.keywords.values()
                for value in (*event.arguments.positional, *event.arguments.keywords.values()):
                    if (tensor := described_tensor(value, self.program)) is not None:
                        self._describe(tensor, evidence)
            if event.target is not None:
                pending.append(event.target)
                if event.kind == "call" and event.name in api.TENSOR_METHODS:
                    _add(event.target, evidence)
            if event.value is not None:
                pending.append(event.value)
                if (tensor := described_tensor(event.value, self.program)) is not None:
                    self._describe(tensor, evidence)
            if event.path is not last:  # many events follow one another on the same path
                last = event.path
                pending += [literal.test for literal in last]
        while pending:
            value = pending.pop()
            if value.__class__ is Known or id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Term):
                if not value.args and not value.keywords:
                    continue
                if (test := tensor_test(value)) is not None:
                    for _, one in alternatives(test[0]):
                        self._tested.setdefault(one.key(), []).append((value, test[1]))
                if value.op == "attr" and value.name in METADATA and value.name != "type" and value.args:
                    _add(value.args[0], evidence)
                pending += value.args
                pending += value.keywords.values()
            elif isinstance(value, Choice):
                for path, one in value.alternatives:
                    if tested or not self._under_test(path):
                        pending.append(one)
                    pending += [literal.test for literal in path]
            elif isinstance(value, Items):
                pending += value.items

    def _under_test(self, path: Condition) -> bool:
        """The path goes on only with a value that was found to be a tensor."""
        return any((test := tensor_test(literal.test)) is not None and test[1] is literal.holds for literal in path)

    @cached_property
    def _certain(self) -> set[object]:
        """Evidence that does not stand behind a test of whether the value is a tensor."""
        found: set[object] = set()
        self._collect(found, tested=False)
        return found

    def _describe(self, value: Value, evidence: set[object]) -> None:
        """A kernel gets the tensor: its data, and what it was made of by views and moves, is on the device."""
        _add(value, evidence)
        for _, one in alternatives(value):
            while isinstance(one, Term):
                self._described.add(one.key())
                if one.op not in ("method", "attr") or not one.args:
                    break
                one = one.args[0]

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
                return (work != "sync" or value.name == "cpu") and (
                    value.name in api.TENSOR_METHODS or value.key() in self._evidence or self.is_tensor(value.args[0])
                )
            return work not in ("sync",)
        if value.key() in self._evidence:
            return True
        if _is_metadata(value):
            return False
        if value.op == "attr":
            return value.name in api.VIEW_ATTRIBUTES and self.is_tensor(value.args[0])
        if value.op == "index":
            return self.is_tensor(value.args[0])
        if value.op in ("binary", "unary"):
            return any(self.is_tensor(arg) for arg in value.args)
        if value.op == "compare":
            return _compares_data(value) and any(self.is_tensor(arg) for arg in value.args)
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
        if last == "synchronize":
            return "sync"
        if name in api.COMPARISONS:
            return "compute"
        if (
            name.startswith(api.HOST_PACKAGES)
            or last in api.HOST_FUNCTIONS
            or not last[:1].islower()
            or last.startswith(api.HOST_PREFIXES)
        ):
            return None
        if name.startswith("torch.nn.init."):
            return "fill"
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
        if event.kind == "convert":
            if not self.surely(event.target, event.path) or self.on_host(event.target):
                return None
            return Work("sync", f"{event.name}()", event, None, event.target)
        if event.kind != "call":
            return None
        if event.target is None:
            return self._function(event)
        return self._method(event)

    def _function(self, event: Event) -> Work | None:
        name = event.name
        arguments = event.arguments
        operand = arguments.positional[0] if arguments is not None and arguments.positional else None
        if name == "print" and arguments is not None and any(self._shown(value) for value in arguments.positional):
            return Work("sync", "print", event, None, operand)
        if name in _OF_TENSORS and self.is_tensor(operand) and not self.on_host(operand):
            return Work(self._kind_for_tensor(event), name, event, event.value, operand)
        kind = self._named_kind("call", name)
        if kind is None:
            return None
        last = name.rsplit(".", 1)[1]
        if (
            kind in ("fill", "alloc")
            and last not in api.LIKE
            and not name.startswith("torch.nn.init.")
            and not self.on_device(event)
        ):
            return None
        if kind == "view" and last in api.PERHAPS_COPIES and self.contiguous(operand) is False:
            kind = "copy"
        if kind in ("compute", "copy") and self.on_host(event.value):
            return None
        return Work(kind, name, event, event.value, operand)

    def _kind_for_tensor(self, event: Event) -> str:
        """``torch.as_tensor(x)`` is ``x``, with a dtype or device it may be."""
        arguments = event.arguments
        alone = arguments is not None and arguments.exact and len(arguments.positional) == 1 and not arguments.keywords
        return "view" if alone and event.name in ("torch.as_tensor", "torch.asarray") else "copy"

    def _shown(self, value: Value) -> bool:
        """Printing the value prints the data of a tensor."""
        if isinstance(value, Term) and value.op == "format":
            return any(self._shown(part) for part in value.args)
        if isinstance(value, Items):
            return any(self._shown(item) for item in value.items)
        return self.is_tensor(value) and not self.on_host(value)

    def surely(self, value: Value | None, path: Condition) -> bool:
        """The value is a tensor on this path: what is one only where a test says so is none elsewhere."""
        if isinstance(value, Choice):
            return any(self.surely(one, path) for _, one in value.alternatives)
        if isinstance(value, Term):
            tests = self._tested.get(value.key())
            if tests is not None and value.key() not in self._certain:
                return any(implies(path, test) is outcome for test, outcome in tests)
            if value.op in ("binary", "unary", "compare"):
                return self.is_tensor(value) and any(self.surely(arg, path) for arg in value.args)
        return self.is_tensor(value)

    def says(self, literal: Literal) -> bool | None:
        """Whether a test of a tensor comes out as the literal says, where that is the same on all paths."""
        test = tensor_test(literal.test)
        if test is None or not all(self._is_certain(one) for _, one in alternatives(test[0])):
            return None
        return test[1] is literal.holds

    def _is_certain(self, value: Value) -> bool:
        if isinstance(value, Term) and value.op in ("call", "method") and self.is_tensor(value):
            return True
        return value.key() in self._certain

    def on_host(self, value: Value | None) -> bool:
        """The tensor is known to be in host memory: made there, and computed from such tensors alone."""
        if value is None:
            return False
        return all(self._host(one) for _, one in alternatives(value))

    def _host(self, value: Value) -> bool:
        if not isinstance(value, Term) or value.key() in self._described:
            return False
        if value.op == "method":
            if value.name in ("cpu", "numpy", "tolist", "item"):
                return True
            if value.name == "to":
                return self.on_host(value.args[0]) and all(map(_keeps_on_host, [*value.args[1:], *value.keywords.values()]))
            return value.name not in ("cuda", "type_as") and "device" not in value.keywords and self.on_host(value.args[0])
        kind = self._named_kind("call", value.name) if value.op == "call" else None
        if kind in ("fill", "alloc") and value.name.rsplit(".", 1)[1] not in api.LIKE:
            return self._made_on_host(value.keywords.get("device"))
        if kind is not None or value.op in ("binary", "unary", "compare", "index"):
            parts = [part for arg in value.args for part in (arg.items if isinstance(arg, Items) else [arg])]
            tensors = [part for part in parts if self.is_tensor(part)]
            return bool(tensors) and all(self.on_host(part) for part in tensors)
        return False

    def _made_on_host(self, device: Value | None) -> bool:
        """What a creation function with this ``device`` makes is in host memory, or in none (the default device, where none is given)."""
        for _, one in alternatives(device) if device is not None else []:
            if isinstance(one, Term) and one.name == "torch.device" and one.args:
                one = one.args[0]
            if not isinstance(one, Known) or not (one.value is None or str(one.value).startswith(("cpu", "meta"))):
                return False
        return True

    def on_device(self, event: Event) -> bool:
        """A creation function makes a device tensor: its ``device`` is not the CPU, or the result goes to a kernel."""
        keywords = event.arguments.keywords if event.arguments is not None else {}
        if "out" in keywords:
            return not self.on_host(keywords["out"])
        device = keywords.get("device")
        if device is not None and not self._made_on_host(device):
            return True
        return event.value is not None and event.value.key() in self._described

    def _method(self, event: Event) -> Work | None:
        base = event.target
        if base is None or is_handle(base, self.program):
            return None
        kind = self._named_kind("method", event.name)
        if event.name in api.WAITS:
            if event.name == "synchronize" or _is_stream_or_event(base):
                return Work("sync", f".{event.name}()", event, None, None)
            return None
        if kind is None:
            return None
        given = event.arguments.positional[:1] if event.arguments is not None and event.name == "new_tensor" else []
        if any(self.is_tensor(one) for one in given):
            return Work("copy", ".new_tensor()", event, event.value, given[0])
        if event.name not in api.TENSOR_METHODS and not self.is_tensor(base):
            return None
        if kind == "copy" and event.name in ("to", "type") and self._stays(event):
            return None
        if kind == "view" and event.name in api.PERHAPS_COPIES and self.contiguous(base) is False:
            kind = "copy"
        if self.on_host(base) and (kind in ("compute", "sync") or self.on_host(event.value)):
            return None
        return Work(kind, f".{event.name}()", event, event.value, base)

    def _stays(self, event: Event) -> bool:
        """``.to(…)`` without a target that could move or convert."""
        arguments = event.arguments
        return arguments is None or not (arguments.positional or arguments.keywords)

    def _operator(self, event: Event) -> Work | None:
        value = event.value
        if not isinstance(value, Term) or not any(self.surely(arg, event.path) for arg in value.args):
            return None
        if value.op == "compare" and not _compares_data(value):
            return None
        if all(self.on_host(arg) for arg in value.args if self.is_tensor(arg)):
            return None
        return Work("compute", event.name, event, value, value.args[0])

    def _setitem(self, event: Event) -> Work | None:
        if not self.is_tensor(event.target) or self.on_host(event.target):
            return None
        kind = "fill" if isinstance(event.value, Known) else "copy"
        return Work(kind, "item assignment", event, event.target, event.target)

    def works(self, timed: bool | None = None) -> Iterator[Work]:
        """All device work in order; ``timed`` True: of timed regions only, False: outside them only."""
        if self._works is None:
            self._works = [found for event in self.trace.events if (found := self.work(event)) is not None]
        for found in self._works:
            if timed is None or bool(found.event.timed) is timed:
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
                elif one.op == "call" and one.name.startswith("torch.") and "out" in one.keywords:
                    one = one.keywords["out"]
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
        if value.op == "method" and value.name in api.KEEP_LAYOUT and "memory_format" not in value.keywords:
            return True if self.contiguous(value.args[0]) else None
        if kind == "view" and value.name in ("view", "detach", "unsqueeze", "reshape", "flatten", "view_as", "squeeze"):
            return self.contiguous(value.args[0])
        if kind == "view" and value.name in ("transpose", "permute", "t", "swapaxes", "swapdims", "movedim"):
            return False if self.contiguous(value.args[0]) else None
        if value.op == "call" and value.name in ("torch.empty_like", "torch.zeros_like") and value.args:
            return self.contiguous(value.args[0])
        return None
