"""Which values follow from other values: what an autotune key says about a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations

from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.logic import joined
from cutile_lint.unit.machine.values import (
    Choice,
    Condition,
    Entries,
    Items,
    Known,
    Literal,
    Record,
    Term,
    Value,
    alternatives,
    once,
)

_CASTS = frozenset(["int", "bool", "float", "operator.index", "builtins.int", "builtins.bool", "torch.SymInt"])
_PURE_ROLES = frozenset(["next-power-of-2", "get-num-sm"])
_PURE_CALLS = frozenset(
    ["str", "repr", "len", "tuple", "abs", "round", "hash", "hasattr", "isinstance", "torch.finfo", "torch.iinfo"]
)
_SIZES = frozenset(
    ["numel", "nelement", "element_size", "dim", "ndimension", "is_contiguous", "stride", "size", "storage_offset"]
)
#: facts of a tensor that do not change the launched work: either way will do
_INDIFFERENT = frozenset(
    ["device", "is_cuda", "index", "type", "cuda_stream", "layout", "requires_grad", "multi_processor_count"]
)
_MAX_DEPTH = 40
_MAX_RANK = 8
#: values of more parts are equal only if they are written alike
_MAX_SIZE = 1000


def bare(value: Value) -> Value:
    """The value without conversions around it."""
    while isinstance(value, Term) and value.op == "call" and value.name in _CASTS and len(value.args) == 1 and not value.keywords:
        value = value.args[0]
    return value


def canonical(value: Value, depth: int = 0) -> object:
    """A key under which values that differ by conversions or by the order of factors are equal."""
    value = bare(value)
    if depth > _MAX_DEPTH:
        return ("id", id(value))
    if value.size > _MAX_SIZE:
        return value.key()
    if isinstance(value, (Term, Choice)) and value.nesting <= _MAX_DEPTH - depth:
        return once(value, _canonical, depth)
    return _canonical(value, depth)


def _canonical(value: Value, depth: int) -> object:
    if isinstance(value, Term):
        name, serial = value.name, value.serial
        if value.op == "call" and name.rsplit(".", 1)[-1] in ("next_power_of_2", "get_num_sm", "cdiv"):
            name, serial = name.rsplit(".", 1)[-1], 0
        if value.op == "binary" and name in ("*", "+"):
            return (value.op, name, serial, _in_any_order(_factors(value, name, depth)))
        parts = [canonical(arg, depth + 1) for arg in value.args]
        if value.op == "compare" and name in ("==", "is"):
            return (value.op, name, serial, _in_any_order(parts))
        return (value.op, name, serial, tuple(parts))
    if isinstance(value, Choice):
        return (
            "choice",
            tuple((tuple(_literal(one) for one in path), canonical(inner, depth + 1)) for path, inner in value.alternatives),
        )
    if isinstance(value, Items) and value.kind == "tuple":
        return ("tuple", tuple(canonical(item, depth + 1) for item in value.items))
    return value.key()


def _in_any_order(parts: list[object]) -> frozenset[tuple[object, int]]:
    return frozenset(Counter(parts).items())


def _factors(value: Term, op: str, depth: int) -> list[object]:
    found: list[object] = []
    for arg in value.args:
        inner = bare(arg)
        if isinstance(inner, Term) and inner.op == "binary" and inner.name == op:
            found += _factors(inner, op, depth)
        else:
            found.append(canonical(inner, depth + 1))
    return found


def _literal(literal: Literal) -> tuple[object, bool]:
    return canonical(literal.test), literal.holds


def leaves(value: Value) -> Iterator[Value]:
    """The single values of a key: nested tuples opened."""
    for _, one in alternatives(value):
        if isinstance(one, Items):
            for item in one.items:
                yield from leaves(item)
        else:
            yield one


class Determined:
    """What follows from the elements of a key, on a path (equal sizes, sizes that divide)."""

    def __init__(self, elements: Iterable[Value], path: Condition, program: Program) -> None:
        self.program = program
        self._known: set[object] = set()
        self._choices: list[Choice] = []
        self._mentioned: set[object] = set()
        self._seen: dict[int, Value] = {}
        self._tensors: set[object] = set()
        self._equal: dict[object, list[Value]] = {}
        self._divides: set[tuple[object, object]] = set()
        self._products: list[tuple[object, Term]] = []
        for literal in path:
            self._learn(literal)
        for element in elements:
            self._add(element)

    # ── what is given ──

    def _learn(self, literal: Literal) -> None:
        test = literal.test
        if not literal.holds or not isinstance(test, Term) or test.op != "compare" or test.name not in ("==", "is"):
            return
        left, right = (bare(arg) for arg in test.args)
        for one, other in ((left, right), (right, left)):
            self._equal.setdefault(canonical(one), []).append(other)
            if isinstance(other, Known) and other.value == 0 and isinstance(one, Term) and one.op == "binary" and one.name == "%":
                self._divides.add((canonical(one.args[0]), canonical(one.args[1])))

    def _add(self, element: Value) -> None:
        element = bare(element)
        self._known.add(canonical(element))
        self._mention(element)
        if isinstance(element, Items):
            for item in element.items:
                self._add(item)
        elif isinstance(element, Choice):
            self._choices.append(element)
            self._known.update(_told_apart(element))
        elif isinstance(element, Term):
            if element.op == "call" and element.name in ("str", "repr", "tuple", "hash") and element.args:
                self._add(element.args[0])
            elif _is_text(element):
                for arg in element.args:
                    self._add(arg)
            elif element.op == "not":
                self._add(element.args[0])
            elif element.op == "binary" and element.name == "//":
                if (canonical(element.args[0]), canonical(element.args[1])) in self._divides and self.answer(element.args[1]):
                    self._add(element.args[0])
            elif element.op == "index" and _is_shape(element.args[0]):
                for size in _sizes_in(element):
                    self._add(size)
            elif element.op == "binary" and element.name == "*":
                self._products.append((canonical(element), element))

    def _mention(self, value: Value, depth: int = 0) -> None:
        value = bare(value)
        if depth > _MAX_DEPTH or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        self._mentioned.add(canonical(value))
        if isinstance(value, Term):
            if (value.op == "attr" and value.name == "shape") or (value.op == "method" and value.name in ("numel", "nelement")):
                self._tensors.add(canonical(value.args[0]))
            for arg in (*value.args, *value.keywords.values()):
                self._mention(arg, depth + 1)
        elif isinstance(value, Choice):
            for path, inner in value.alternatives:
                self._mention(inner, depth + 1)
                for literal in path:
                    self._mention(literal.test, depth + 1)
        elif isinstance(value, Items):
            for item in value.items:
                self._mention(item, depth + 1)

    # ── questions ──

    def equal_to(self, value: Value) -> set[object]:
        """The canonical keys of the value and of all that the path says to be equal to it."""
        found: set[object] = set()
        pending = [value]
        while pending:
            one = pending.pop()
            if (key := canonical(one)) not in found:
                found.add(key)
                pending += self._equal.get(key, ())
        return found

    def mentions(self, value: Value) -> bool:
        """The value is part of some element (of a product, a condition), or so is a size of the same tensor that may be it."""
        key = canonical(value)
        if key in self._mentioned:
            return True
        value = bare(value)
        if isinstance(value, Term) and value.op == "index" and _is_shape(value.args[0]):
            tensor = canonical(value.args[0].args[0])  # type: ignore[attr-defined]
            if ("method", "numel", 0, (tensor,)) in self._mentioned or ("attr", "shape", 0, (tensor,)) in self._known:
                return True
            index = value.args[1]
            if tensor in self._tensors and isinstance(index, Known):
                return any(self._same_axis(tensor, index, one) for one in self._mentioned)
        return any(self.mentions(other) for other in self._equal.get(key, ()) if canonical(other) in self._mentioned)

    def _same_axis(self, tensor: object, index: Known, one: object) -> bool:
        """A mentioned size of the tensor, one of the two counted from the end."""
        if not (isinstance(one, tuple) and len(one) == 4 and one[0] == "index" and one[3][0] == ("attr", "shape", 0, (tensor,))):
            return False
        other = one[3][1]
        return (
            isinstance(index.value, int)
            and isinstance(other, tuple)
            and isinstance(other[2], int)
            and (index.value < 0) != (other[2] < 0)
        )

    @property
    def has_sizes(self) -> bool:
        """Some element says something about the shape of some tensor."""
        return bool(self._tensors)

    def mentions_dtype(self) -> bool:
        return any(isinstance(one, tuple) and one[:2] == ("attr", "dtype") for one in self._mentioned)

    def answer(self, value: Value, also: frozenset[object] = frozenset(), depth: int = 0) -> bool | None:
        """The value follows from the elements (True), it surely does not (False), or that cannot be told."""
        value = bare(value)
        key = canonical(value)
        if isinstance(value, Known) or key in self._known or key in also:
            return True
        if depth > _MAX_DEPTH or value.size > _MAX_SIZE:
            return None
        if any(canonical(other) in self._known or isinstance(other, Known) for other in self._equal.get(key, ())):
            return True
        if isinstance(value, Choice):
            return self._choice(value, also, depth)
        if isinstance(value, Items):
            return joined(False, value.items, self.answer, also, depth + 1)
        if isinstance(value, (Entries, Record)) or not isinstance(value, Term):
            return None
        return self._term(value, key, also, depth)

    def _choice(self, value: Choice, also: frozenset[object], depth: int) -> bool | None:
        signature = _signature(value)
        for given in self._choices:
            if _signature(given) == signature:
                pairs = zip(value.alternatives, given.alternatives, strict=True)
                if _is_one_expression(value, given) and all(
                    self.answer(inner, also | {canonical(known)}, depth + 1) for (_, inner), (_, known) in pairs
                ):
                    return True
        tests = [literal.test for path, _ in value.alternatives for literal in path]
        values = [inner for _, inner in value.alternatives]
        return joined(False, (*tests, *values), self.answer, also, depth + 1)

    def _term(self, value: Term, key: object, also: frozenset[object], depth: int) -> bool | None:
        if value.op in ("field", "config", "external", "global"):
            return True
        if value.op == "input":
            return False
        if value.op == "attr":
            if value.name in _INDIFFERENT:
                return True
            return self._fact(value.args[0]) if value.name in ("shape", "dtype", "ndim") else None
        if value.op == "index":
            return self._index(value, key, also, depth)
        if value.op == "method" and value.name in _SIZES:
            return self._fact(value.args[0])
        pure = value.op in ("binary", "compare", "unary", "not", "and", "or", "format") or (
            value.op == "call"
            and (
                value.name in _PURE_CALLS
                or value.serial == 0
                or self.program.role(value.name) in _PURE_ROLES
                or "cuda." in value.name
            )
        )
        if not pure:
            return None
        if value.op == "call" and not value.args and not value.keywords:
            return True  # the number of SMs, a device's property
        answer = joined(False, value.args, self.answer, also, depth + 1)
        if answer is False and any(self.mentions(atom) for atom in atoms(value)):
            return None  # another expression of the same symbols may settle it
        return answer

    def _index(self, value: Term, key: object, also: frozenset[object], depth: int) -> bool | None:
        base, index = value.args[0], value.args[1]
        if self.answer(base, also, depth + 1) is True and isinstance(index, Known):
            return True
        if isinstance(base, Items) and isinstance(index, Known):
            return None
        if not _is_shape(base):
            return None
        for product, term in self._products:  # the other factors are known: a quotient
            factors = _factors(term, "*", 0)
            if key in factors:
                others = list(factors)
                others.remove(key)
                if product in self._known and all(other in self._known or _is_constant(other) for other in others):
                    return True
        made = _made_size(base.args[0], index)  # type: ignore[attr-defined]
        if made is not None:
            return self.answer(made, also, depth + 1)
        return self._fact(base.args[0])  # type: ignore[attr-defined]

    def _fact(self, tensor: Value) -> bool | None:
        """A fact of a tensor that is no element: open for tensors that are made on the way."""
        return False if isinstance(tensor, Term) and tensor.op == "input" else None


def _is_shape(value: Value) -> bool:
    return isinstance(value, Term) and value.op == "attr" and value.name == "shape"


def _sizes_in(part: Term) -> Iterator[Term]:
    """The sizes in ``x.shape[:2]`` and ``x.shape[-2:]``: of as many axes as there may be, counted from the end that the bounds are."""
    shape, index = part.args
    bounds = [arg.value for arg in index.args if isinstance(arg, Known)] if isinstance(index, Term) else []
    if len(bounds) != 3 or any(bound is not None and not isinstance(bound, int) for bound in bounds):
        return
    lower, upper = (bound if isinstance(bound, int) else None for bound in bounds[:2])
    axes: list[int] = []
    if lower is None or lower >= 0:
        axes += range(lower or 0, _MAX_RANK if upper is None or upper < 0 else upper)
    if any(bound is not None and bound < 0 for bound in (lower, upper)):
        axes += range(lower if lower is not None and lower < 0 else -_MAX_RANK, 0 if upper is None or upper >= 0 else upper)
    for axis in axes:
        yield Term("index", "", (shape, Known(axis)))


def _is_constant(key: object) -> bool:
    return isinstance(key, tuple) and key[0] == "known"


def _made_size(tensor: Value, index: Value) -> Value | None:
    """The size that a tensor was made with along an axis: ``x.view(a, b)``, ``torch.empty((a, b))``."""
    if not isinstance(tensor, Term) or not isinstance(index, Known) or not isinstance(index.value, int):
        return None
    if tensor.op == "method" and tensor.name in ("view", "reshape", "expand", "new_empty"):
        sizes: tuple[Value, ...] | list[Value] = tensor.args[1:]
    elif tensor.op == "call" and tensor.name in ("torch.empty", "torch.zeros", "torch.ones"):
        sizes = tensor.args
    else:
        return None
    if len(sizes) == 1 and isinstance(sizes[0], Items):
        sizes = sizes[0].items
    if not -len(sizes) <= index.value < len(sizes):
        return None
    size = sizes[index.value]
    return None if isinstance(size, Known) and size.value == -1 else size


def _is_one_expression(value: Choice, of: Choice) -> bool:
    """The alternatives of a value are the same expression of those of another: which of them it is need not be known."""
    pairs = zip(value.alternatives, of.alternatives, strict=True)
    return len({_replaced(canonical(inner), canonical(part)) for (_, inner), (_, part) in pairs}) == 1


def _replaced(key: object, part: object) -> object:
    """A canonical key with a placeholder for a part."""
    if key == part:
        return "part"
    if isinstance(key, frozenset):
        return frozenset((_replaced(one, part), count) for one, count in key)
    return tuple(_replaced(one, part) for one in key) if isinstance(key, tuple) else key


def _signature(value: Choice) -> object:
    return tuple(tuple(_literal(one) for one in path) for path, _ in value.alternatives)


def _is_text(value: Term) -> bool:
    """A text that its operands are written into."""
    first = value.args[0] if value.args else None
    if value.op == "binary" and value.name == "+":
        return any(isinstance(arg, Known) and isinstance(arg.value, str) for arg in value.args)
    written_into = (value.op == "method" and value.name in ("format", "join")) or (value.op == "binary" and value.name == "%")
    return value.op == "format" or (written_into and isinstance(first, Known) and isinstance(first.value, str))


def _told_apart(value: Choice) -> set[object]:
    """The tests that each alternative stands under, where no two alternatives can be equal: the value says how they came out."""
    values = [inner for _, inner in value.alternatives]
    if not all(_differ(one, other) for one, other in combinations(values, 2)):
        return set()
    tests = [{canonical(literal.test) for literal in path} for path, _ in value.alternatives]
    return set.intersection(*tests)


def _differ(one: Value, other: Value) -> bool:
    """Surely not equal: other constants, other lengths, or parts in the same place that differ."""
    if isinstance(one, Known) and isinstance(other, Known):
        return one.value != other.value
    if isinstance(one, Items) and isinstance(other, Items) and not (_is_loose(one) or _is_loose(other)):
        return len(one.items) != len(other.items) or any(map(_differ, one.items, other.items))
    if isinstance(one, Term) and isinstance(other, Term) and one.op == other.op == "format":
        return bool(one.args and other.args) and _differ(one.args[0], other.args[0]) and _is_prefix_free(one, other)
    return False


def _is_loose(value: Items) -> bool:
    return value.open or any(value.conditions)


def _is_prefix_free(one: Term, other: Term) -> bool:
    """Neither text begins with what the other surely begins with."""
    first, second = str(getattr(one.args[0], "value", "")), str(getattr(other.args[0], "value", ""))
    return not first.startswith(second) and not second.startswith(first)


def atoms(value: Value, depth: int = 0) -> Iterator[Value]:
    """The parameters and sizes of parameters that a value is made of (a dtype counts as one)."""
    value = bare(value)
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, Choice):
        for path, inner in value.alternatives:
            for literal in path:
                yield from atoms(literal.test, depth + 1)
            yield from atoms(inner, depth + 1)
    elif isinstance(value, Items):
        for item in value.items:
            yield from atoms(item, depth + 1)
    elif isinstance(value, Term):
        if value.op == "input":
            yield value
        elif value.op == "index" and _is_shape(value.args[0]):
            made = _made_size(value.args[0].args[0], value.args[1])  # type: ignore[attr-defined]
            yield from atoms(made, depth + 1) if made is not None else (value,)
        elif value.op == "attr":
            if value.name not in _INDIFFERENT:
                yield value
        elif value.op == "method" and value.name in _SIZES:
            yield value
        elif value.op not in ("field", "config", "external", "global"):
            for arg in value.args:
                yield from atoms(arg, depth + 1)
