"""How an op treats inputs that require grad: refused, detached, or handed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, replace
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source, Span
from cutile_lint.unit.launches import Launch, described_tensor
from cutile_lint.unit.linking.names import dotted, imports_of
from cutile_lint.unit.machine.paths import contradictory, implies, literals
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Literal, Term, Value, alternatives, subterms
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed import torch_api

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_GRAD_MODE = ("torch.is_grad_enabled", "torch.is_inference_mode_enabled")
_NO_GRAD = (
    "torch.no_grad",
    "torch.inference_mode",
    "torch.set_grad_enabled",
    "torch.autograd.no_grad",
    "torch.autograd.inference_mode",
)
_CATCHES_REFUSAL = (
    "Exception",
    "BaseException",
    "NotImplementedError",
    "RuntimeError",
    "ValueError",
    "TypeError",
    "AssertionError",
)
#: parameters for a buffer that the op writes its result to
_OUTPUTS = ("out", "output", "result")
_INTEGER_DTYPES = frozenset(["int", "long", "short", "char", "byte", "bool"])


# ── tests of requires_grad ─────────────────────────────────────────────────


def grad_atom(test: Value) -> Value | None:
    """The tensor whose ``requires_grad`` (or ``grad_fn``) a test reads; None for others."""
    if isinstance(test, Term):
        if test.op == "attr" and test.name == "requires_grad":
            return test.args[0]
        if test.op == "call" and test.name == "bool" and test.args:
            return grad_atom(test.args[0])
        if test.op == "compare" and isinstance(test.args[0], Term) and test.args[0].op == "attr":
            if test.args[0].name in ("grad_fn", "requires_grad"):
                return test.args[0].args[0]
    return None


def tested_tensors(test: Value, holds: bool = True) -> list[Value]:
    """The tensors that require grad where a test is true (``holds`` False: is not true), also below ``or``, ``and`` and choices."""
    test = _uncounted(test)
    atom = grad_atom(test)
    if atom is not None:
        return [atom] if holds is _says_grad(test) else []
    if isinstance(test, Term) and test.op == "not":
        return tested_tensors(test.args[0], not holds)
    if isinstance(test, Term) and test.op in ("or", "and"):
        return [tensor for arg in test.args for tensor in tested_tensors(arg, holds)]
    if isinstance(test, Choice):
        return [tensor for _, one in alternatives(test) for tensor in tested_tensors(one, holds)]
    if isinstance(test, Items) and holds:  # ``[t for t in (x, y) if t.requires_grad]`` is not empty
        return [
            tensor
            for condition in test.conditions
            for literal in condition
            for tensor in tested_tensors(literal.test, literal.holds)
        ]
    return []


def _uncounted(test: Value) -> Value:
    """The test of single tensors that a test of their number is: ``sum(…) > 0``, ``len([…]) != 0``, ``next((…), None) is not None``."""
    if isinstance(test, Term) and test.op == "compare" and len(test.args) == 2 and isinstance(test.args[1], Known):
        asked, against = test.args[0], test.args[1].value
        some = _members(asked)
        if some is None:
            return test
        absent = against is None if _is_next(asked) else against == 0 and not isinstance(against, bool)
        if (absent and test.name in (">", "!=", "is not")) or (against == 1 and test.name == ">="):
            return some
        if (absent and test.name in ("==", "is")) or (against == 1 and test.name == "<"):
            return Term("not", args=(some,))
        return test
    return _members(test) or test


def _members(counted: Value) -> Value | None:
    """What is true where ``sum(…)`` and ``len(…)`` are not 0, and ``next(…, None)`` is something."""
    if not isinstance(counted, Term) or counted.op != "call" or not counted.args or not isinstance(counted.args[0], Items):
        return None
    members = counted.args[0]
    if members.open:
        return None
    if counted.name == "sum" and len(counted.args) == 1 and not any(members.conditions):
        return Term("or", args=tuple([one.args[0] if _is_number(one) else one for one in members.items]))  # type: ignore[attr-defined]
    return members if counted.name == "len" or _is_next(counted) else None


def _is_number(value: Value) -> bool:
    return isinstance(value, Term) and value.op == "call" and value.name == "int" and len(value.args) == 1


def _is_next(value: Value) -> bool:
    given = value.args[1:] if isinstance(value, Term) and value.op == "call" and value.name == "next" else ()
    return len(given) == 1 and isinstance(given[0], Known) and given[0].value is None


def _says_grad(test: Value) -> bool:
    """The atom is true where the tensor requires grad; not so ``x.requires_grad is False``, ``x.grad_fn is None``."""
    if not isinstance(test, Term) or test.op != "compare":
        return True
    against = test.args[1]
    positive = test.name in ("is", "==")
    return positive is (isinstance(against, Known) and bool(against.value))


def _facts(path: Condition) -> Condition:
    """What comparisons of ``requires_grad`` and lists of tensors that require grad say, as plain literals."""
    found: list[Literal] = []
    for literal in path:
        test, holds = _uncounted(literal.test), literal.holds
        if isinstance(test, Term) and test.op == "not" and test.args and test is not literal.test:
            test, holds = test.args[0], not holds
        if isinstance(test, Items) and not holds and not test.open:
            found += [Literal(one[0].test, not one[0].holds) for one in test.conditions if len(one) == 1]
        elif isinstance(test, Term) and test.op == "or" and not holds:
            found += [Literal(one, False) for one in test.args]
        elif (
            isinstance(test, Term) and test.op == "compare" and isinstance(test.args[0], Term) and isinstance(test.args[1], Known)
        ):
            if test.args[0].op == "attr" and test.args[0].name == "requires_grad" and isinstance(test.args[1].value, bool):
                found.append(Literal(test.args[0], literal.holds is _says_grad(test)))
    return tuple(found)


def is_benign(test: Value) -> bool:
    """A condition that goes with a test of ``requires_grad`` without being another reason: grad mode, ``is not None``, type checks."""
    test = _uncounted(test)
    if grad_atom(test) is not None:
        return True
    if isinstance(test, Known):
        return True
    if isinstance(test, Items):
        return all(condition and all(is_benign(literal.test) for literal in condition) for condition in test.conditions)
    if not isinstance(test, Term):
        return False
    if test.op in ("and", "or", "not"):
        return all(is_benign(arg) for arg in test.args)
    if test.op == "call":
        return test.name in _GRAD_MODE or test.name in ("isinstance", "torch.is_tensor", "hasattr", "callable")
    if test.op == "method":
        return test.name in ("is_floating_point", "is_leaf")
    if test.op == "attr":
        return test.name in ("is_leaf",)
    return test.op == "compare" and any(isinstance(arg, Known) and arg.value is None for arg in test.args)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error because inputs require grad.

    ``kind`` is "raise", "assert" or "return"; ``node`` its statement, or a call inside of one; ``tensors`` the inputs tested; ``test``
    the statement that tests them; ``mixed``: the test has other reasons beside (``x.requires_grad or x.dtype != …``). ``event`` is
    None for a return.
    """

    kind: str
    node: syntax.Stmt | syntax.Expr
    source: Source
    path: Condition
    tensors: tuple[Value, ...]
    test: syntax.If | None
    mixed: bool
    event: Event | None = None

    @property
    def place(self) -> Place:
        return Place(self.source, self.node.span)

    @property
    def tested(self) -> Place | None:
        """The test of ``requires_grad``, when it stands in the file of the error."""
        if self.test is None or not self.test.span.covers(self.node.span):
            return None
        return Place(self.source, self.test.test.span)

    @property
    def calls(self) -> list[Place]:
        """The calls from the op's callable down to the error, outermost first."""
        return [stop.frame.call for stop in self.event.stack if stop.frame.call is not None] if self.event is not None else []


def refusals(run: Run) -> Iterator[Refusal]:
    """Raises, failing asserts and error returns of a run that happen because an input requires grad; one per place, with all inputs
    that it is reached for."""
    found: dict[int, Refusal] = {}
    for refusal in _all_refusals(run):
        before = found.setdefault(id(refusal.node), refusal)
        tensors = {tensor.key(): tensor for tensor in (*before.tensors, *refusal.tensors)}
        found[id(refusal.node)] = replace(before, tensors=tuple(tensors.values()))
    yield from found.values()


def _all_refusals(run: Run) -> Iterator[Refusal]:
    for event in run.trace.events:
        node, statement = event.node, event.stop.statement
        if event.kind == "assert" and isinstance(statement, syntax.ExprStmt) and statement.value is node:
            node = statement  # ``torch._check(…)``
        if event.kind not in ("raise", "assert") or _is_caught(event) or node is None:
            continue
        path = event.path
        if event.kind == "assert" and event.value is not None:
            path = (*path, *(Literal(literal.test, literal.holds, node) for literal in literals(event.value, False)))
        refusal = _refusal(run, event.kind, node, event.stop.source, path)
        if refusal is not None:
            yield replace(refusal, event=event)
    for path, value in run.trace.returned:
        if _is_error(value) and value.place is not None and (found := _return_of(run, value.place, path)) is not None:
            refusal = _refusal(run, "return", found[0], found[1], path)
            if refusal is not None:
                yield refusal


def _is_error(value: Value) -> bool:
    """A returned value that stands for "not supported": None, NotImplemented, False or a negative code."""
    if isinstance(value, Known):
        return value.value is None or value.value is False or (isinstance(value.value, int) and value.value < 0)
    return isinstance(value, Term) and value.op == "external" and value.name == "NotImplemented"


def _return_of(run: Run, place: Place, path: Condition) -> tuple[syntax.Return, Source] | None:
    """The statement that returns what stands at a place: there, where the op hands on what a helper gave, or in the helper."""
    function = run.function
    if place.source.path == run.source.path:
        node = _return_at(function, place)
        if node is not None:
            return node, place.source
    tests = [literal.origin for literal in path if isinstance(literal.origin, syntax.If) and _refuses(run, literal)]
    for test in tests:
        node = next((node for node in function.walk() if isinstance(node, syntax.Return) and test.span.covers(node.span)), None)
        if node is not None and any(one is test for one in function.walk()) and isinstance(node.value, syntax.Call):
            return node, run.source
    module = run.program.module(place.source.path)
    for other in module.functions() if module is not None else ():
        node = _return_at(other, place)
        if node is not None:
            return node, place.source
    return None


def _return_at(function: syntax.Function, place: Place) -> syntax.Return | None:
    return next((node for node in function.walk() if isinstance(node, syntax.Return) and node.span.covers(place.span)), None)


def _refusal(run: Run, kind: str, node: syntax.Stmt | syntax.Expr, source: Source, path: Condition) -> Refusal | None:
    first = next((at for at, literal in enumerate(path) if _refuses(run, literal)), None)
    if first is None:
        return None
    origin = path[first].origin
    group = [literal for literal in path if literal.origin is origin and origin is not None]
    inner = [literal for literal in path[first + 1 :] if literal.origin is not None and literal.origin is not origin]
    if not all(is_benign(literal.test) or _refuses(run, literal) for literal in (*group, *inner)):
        return None
    tensors = _inputs(run, [tensor for literal in path for tensor in tested_tensors(literal.test, literal.holds)])
    mixed = any(not is_benign(literal.test) for literal in group)
    return Refusal(kind, node, source, path, tuple(tensors), origin if isinstance(origin, syntax.If) else None, mixed)


def _refuses(run: Run, literal: Literal) -> bool:
    """The literal holds when (some) input requires grad, whatever else is true."""
    test, holds = literal.test, literal.holds
    while isinstance(test, Term) and test.op == "not":
        test, holds = test.args[0], not holds
    found = bool(_inputs(run, tested_tensors(test, holds)))
    if isinstance(test, Term) and test.op == ("and" if holds else "or"):  # all of its parts are reasons
        return found and all(is_benign(arg) for arg in test.args)
    if isinstance(test, Choice):
        return found and all(is_benign(one) for _, one in alternatives(test))
    return found and (not isinstance(test, Items) or is_benign(test))


def _inputs(run: Run, tensors: list[Value]) -> list[Value]:
    """Those of the tensors that are inputs of the op, each once."""
    found: dict[object, Value] = {}
    for tensor in tensors:
        for root in run.tensors.roots(tensor):
            source = _origin(root)
            if source is not None and not _is_given_output(run, source):
                found.setdefault(source.key(), source)
    return list(found.values())


def _is_given_output(run: Run, source: Term) -> bool:
    """The parameter is a buffer for the result: by its name, or an optional one that the op copies into."""
    if source.name in _OUTPUTS:
        return True
    param = parameter(run, source)
    return (
        param is not None
        and isinstance(param.default, syntax.Const)
        and param.default.value is None
        and any(
            event.kind == "call"
            and event.name == "copy_"
            and any(root.key() == source.key() for root in run.tensors.roots(event.target))
            for event in run.trace.events
        )
    )


def _origin(value: Value) -> Term | None:
    """The input that a tensor is, possibly through copies, items of ``*args`` and attributes."""
    while isinstance(value, Term):
        if value.op == "input" and value.name != "ctx":
            return value
        if value.op in ("method", "attr", "index", "element", "payload") and value.args:
            value = value.args[0]
        else:
            return None
        if isinstance(value, Choice):
            value = alternatives(value)[0][1]
    return None


def _is_caught(event: Event) -> bool:
    """The raise stands in a ``try`` whose handlers take it."""
    for node in event.tries:
        for handler in node.handlers:
            if handler.type is None or any(
                isinstance(part, syntax.Name) and part.id in _CATCHES_REFUSAL for part in handler.type.walk()
            ):
                return True
    return False


# ── undetached inputs ──────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Undetached:
    """An input that reaches a launch with its grad history on some path; ``whole``: the input itself, not an item of it."""

    input: Term
    whole: bool
    launch: Launch
    slot: int

    def is_launched_by(self, function: syntax.Function) -> bool:
        """The launch happens in a call of the function, not in a decorator around it."""
        return any(stop.frame.function is function for stop in self.launch.event.stack)


def undetached(run: Run) -> Iterator[Undetached]:
    """Each tensor input that reaches a launch undetached, once, with the first launch it reaches."""
    seen: set[object] = set()
    for launch in run.launches:
        if _without_grad(run, launch):
            continue
        for slot, argument in enumerate(launch.arguments.positional):
            tensor = described_tensor(argument, run.program)
            for path, one in alternatives(tensor) if tensor is not None else []:
                for inner, carrier in _attached(one, run.tensors.is_tensor):
                    source = _origin(carrier)
                    if source is None or source.key() in seen or contradictory(launch.path, path, inner):
                        continue
                    whole = launch.path + path + inner
                    whole += _facts(whole) + _is_a_tensor(whole, carrier)
                    needs_grad = Term("attr", "requires_grad", (carrier,))
                    if contradictory(whole) or implies(whole, needs_grad) is False:
                        continue
                    if _detached_in_place(run, launch, carrier, (*whole, Literal(needs_grad, True))):
                        continue
                    seen.add(source.key())
                    yield Undetached(source, carrier is source, launch, slot)


def _detached_in_place(run: Run, launch: Launch, tensor: Term, path: Condition) -> bool:
    """``x.detach_()`` or ``x.requires_grad_(False)`` comes before the launch, on its path."""
    taken = {literal.key() for literal in path}
    return any(
        event.kind == "call"
        and event.order < launch.order
        and isinstance(event.value, Term)
        and (event.name == "detach_" or (event.name == "requires_grad_" and _turns_off(event.value)))
        and event.target is not None
        and event.target.key() == tensor.key()
        and all(literal.key() in taken for literal in event.path)
        for event in run.trace.events
    )


def _is_a_tensor(path: Condition, source: Term) -> Condition:
    """What holds where the input is a tensor whose use autograd records: ``isinstance``, not None, grad mode on."""
    found: list[Literal] = [Literal(Term("call", "torch.is_grad_enabled"), True)]
    for literal in path:
        for part in subterms(literal.test):
            if isinstance(part, Term) and part.op in ("call", "compare") and part.args and part.args[0].key() == source.key():
                if part.op == "call" and part.name in ("isinstance", "torch.is_tensor", "callable"):
                    found.append(Literal(part, True))
                elif part.op == "compare" and isinstance(part.args[1], Known) and part.args[1].value is None:
                    found.extend(literals(part, part.name in ("is not", "!=")))
                elif part.op == "call" and part.name in ("hasattr", "getattr"):
                    found.append(Literal(part, True))
    return tuple(found)


def _without_grad(run: Run, launch: Launch) -> bool:
    """The launch happens with grad mode off."""
    tags = [tag for stop in launch.event.stack if stop.frame.closure is not None for tag in stop.frame.closure.tags]
    values = [*launch.event.contexts, *tags]
    return any(isinstance(value, Term) and value.name in _NO_GRAD for value in values)


def _attached(value: Value, is_tensor: Callable[[Value], bool]) -> list[tuple[Condition, Term]]:
    """The tensors of the caller whose grad history a tensor carries (inputs, or items of inputs), with the conditions of the alternatives."""
    if isinstance(value, Choice):
        return [(path + inner, carrier) for path, one in alternatives(value) for inner, carrier in _attached(one, is_tensor)]
    if isinstance(value, Items):
        return [found for item in value.items for found in _attached(item, is_tensor)]
    if not isinstance(value, Term):
        return []
    if value.op == "input":
        return [((), value)] if value.name != "ctx" else []
    if value.op == "attr" and value.name == "data":
        return []
    if value.op == "method":
        if value.name in ("detach", "detach_") or _turns_off(value) or _is_integer(value):
            return []
        if value.name in torch_api.METADATA_METHODS or value.name.startswith("new_"):
            return []
        return _attached(value.args[0], is_tensor)
    if value.op == "element" and is_tensor(value.args[0]):  # ``for part in x.split(n)``
        return _attached(value.args[0], is_tensor)
    if value.op == "element" or (value.op in ("index", "attr") and not is_tensor(value.args[0])):
        return [((), value)] if _origin(value) is not None else []
    if value.op in ("index", "attr"):
        return _attached(value.args[0], is_tensor)
    if value.op == "call" and value.name.startswith("torch.") and value.args:
        last = value.name.rsplit(".", 1)[1]
        if last in torch_api.ALLOCATIONS or last in torch_api.FILLS or last == "detach":
            return []
        if last in torch_api.COPIES or last in torch_api.VIEWS:
            return _attached(value.args[0], is_tensor)
    return []


def _turns_off(value: Term) -> bool:
    return value.name == "requires_grad_" and len(value.args) > 1 and isinstance(value.args[1], Known) and not value.args[1].value


def _is_integer(value: Term) -> bool:
    """The tensor was converted to an integer type: it carries no grad."""
    if value.name in _INTEGER_DTYPES:
        return True
    targets = [*value.args[1:], *value.keywords.values()]
    return value.name in ("to", "type") and any(
        isinstance(target, Term)
        and target.op == "external"
        and ("int" in target.name.rsplit(".", 1)[-1] or target.name.endswith(".long"))
        for target in targets
    )


def parameter(run: Run, source: Term) -> syntax.Param | None:
    """The op's parameter that an input is."""
    return next((param for param in run.function.params if param.name == source.name), None)


#: An entry parameter over integers: ``*mut i32``, ``&Tensor<i64, …>``.
_INTEGER_BUFFER = regex(r"(?:\*\s*(?:mut|const)\s+|Tensor\w*\s*<\s*(?:'\w+\s*,\s*)?)(?:[iu](?:8|16|32|64)|bool)\b")


def carries_no_grad(unit: KernelUnit, found: Undetached, param: syntax.Param) -> bool:
    """The input is an integer tensor by the entry's type, or an output that the kernel only writes."""
    boundary = next((one for one in unit.boundary if one.symbol == found.launch.symbol), None)
    if boundary is None or found.slot >= len(boundary.slots):
        return param.name in _OUTPUTS
    for use in boundary.slots[found.slot].uses:
        if use.role == "argument" and use.launch is not None and use.launch.entry is not None:
            entry = use.launch.entry.function.params
            if use.index < len(entry) and _INTEGER_BUFFER.search(entry[use.index].annotation):
                return True
    use_of = unit.effects.buffer_use(found.launch, found.slot)
    return use_of.writes is True and use_of.reads is False


@dataclass(frozen=True, slots=True)
class AutogradFunction:
    """A class derived from ``torch.autograd.Function``."""

    name: str
    source: Source
    span: Span


def autograd_functions(unit: KernelUnit) -> Iterator[AutogradFunction]:
    """Subclasses of ``torch.autograd.Function`` in the op's Python modules; else the place where one of elsewhere is applied."""
    for module in unit.python_modules:
        if not module.source.has(b"Function"):
            continue
        imports = imports_of(module)
        for node in module.body:  # ``Base = torch.autograd.Function``
            if isinstance(node, syntax.Assign) and node.value is not None and (path := dotted(node.value, imports)):
                imports |= {target.id: path for target in node.targets if isinstance(target, syntax.Name)}
        for node in module.nodes(syntax.ClassDef):
            if any(dotted(base, imports) == "torch.autograd.Function" for base in node.bases):
                yield AutogradFunction(node.name, module.source, _name_span(module.source, node))


def _name_span(source: Source, node: syntax.ClassDef) -> Span:
    text = source.part(*node.span)
    start = node.span.start + text.find(node.name.encode(), text.find(b"class") + 5)
    return Span(start, start + len(node.name.encode()))
