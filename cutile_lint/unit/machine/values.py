"""What an expression may be worth: constants, symbolic terms, functions, containers, and choices between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar

from cutile_lint.records import dataclass, field
from cutile_lint.sources import Place

if TYPE_CHECKING:
    from weakref import WeakValueDictionary

    from cutile_lint.frontends import syntax
    from cutile_lint.unit.machine.scopes import Scope


@dataclass(frozen=True, slots=True)
class Hop:
    """One station of a value's way: where it was bound, passed or made. ``kind``: "made", "bound", "passed", "default", "returned"."""

    place: Place
    kind: str
    name: str
    before: Hop | None = None

    def chain(self) -> list[Hop]:
        """All hops up to this one, oldest first."""
        hops: list[Hop] = []
        hop: Hop | None = self
        while hop is not None:
            hops.append(hop)
            hop = hop.before
        return hops[::-1]


#: A value of more parts, or nested deeper, is an unknown one. What is counted are the parts as they would be written out: in
#: ``x = x + x`` each line doubles them, and whoever walks over the value meets every one of them.
MAX_SIZE, MAX_NESTING = 50_000, 120
#: The key of a value of more parts stands for them by one object, so that it is hashed and compared without going over them.
_WRITTEN_OUT = 16


class _Whole:
    """Stands for one large key, as long as a value has it."""

    __slots__ = ("__weakref__",)


_WHOLES: WeakValueDictionary[object, _Whole] | None = None


def _key_of(parts: tuple[object, ...], size: int) -> object:
    """The key made of ``parts``, for a value of so many parts: equal ones are equal, at a cost that does not grow with them."""
    global _WHOLES
    if size <= _WRITTEN_OUT:
        return parts
    if _WHOLES is None:
        from weakref import WeakValueDictionary

        _WHOLES = WeakValueDictionary()
    whole = _WHOLES.get(parts)
    if whole is None:
        whole = _WHOLES[parts] = _Whole()
    return ("whole", whole)


class Value:
    """Base of all values. ``place`` is where the value came into being; ``trail`` its last hop.

    ``size``: the parts that it is made of, shared ones counted each time; ``nesting``: how deep they are.
    """

    __slots__ = ("place", "trail")
    size = nesting = 1
    place: Place | None
    trail: Hop | None

    def key(self) -> object:
        """Hashable identity: equal keys mean equal values."""
        return ("id", id(self))

    def hops(self) -> list[Hop]:
        return self.trail.chain() if self.trail else []

    def moved(self, place: Place, kind: str, name: str) -> Value:
        """This value with one more hop (containers and functions are shared, they keep their own)."""
        return self


A = TypeVar("A")


def once(value: Term | Choice, question: Callable[..., A], *more: Any) -> A:
    """``question(value, *more)`` about the value alone: asked once, since a value never changes."""
    answers = value.answers
    if answers is None:
        answers = value.answers = {}
    elif question in answers:
        return answers[question]  # type: ignore[no-any-return]
    found = answers[question] = question(value, *more)
    return found


class Known(Value):
    """A constant: str, bytes, int, float, bool, None, Ellipsis."""

    __slots__ = ("_key", "value")

    def __init__(self, value: object, place: Place | None = None, trail: Hop | None = None) -> None:
        self.value = value
        self.place = place
        self.trail = trail
        self._key: object = None

    def key(self) -> object:
        if self._key is None:
            self._key = ("known", type(self.value).__name__, self.value)
        return self._key

    def moved(self, place: Place, kind: str, name: str) -> Known:
        return Known(self.value, self.place, Hop(place, kind, name, self.trail))

    def __repr__(self) -> str:
        return f"{self.value!r}"


class Term(Value):
    """A symbolic value: ``op`` with a ``name`` over operand values.

    ops: "input" (parameter of the callable run), "config" (the autotuner's ``cfg``; operand: the configs), "field" (``name`` of a
    config), "global" (state of a module; operand: its initial value), "external" (a name of a package outside the project), "attr", "index", "call"
    (``name``: dotted path; operand 0 is the callee when it is itself a value), "method" (``name`` of operand 0), "binary", "compare", "unary", "not",
    "and", "or", "element" (of an iterable), "payload" (of a pattern), "raised", "entered", "generic", "unknown" (``name``: why).
    A ``serial`` other than 0 sets results of calls with effects apart.
    """

    __slots__ = ("_key", "answers", "args", "keywords", "name", "nesting", "op", "serial", "size")

    def __init__(
        self,
        op: str,
        name: str = "",
        args: tuple[Value, ...] = (),
        keywords: dict[str, Value] | None = None,
        serial: int = 0,
        place: Place | None = None,
        trail: Hop | None = None,
    ) -> None:
        self.op = op
        self.name = name
        self.args = args
        self.keywords = keywords or {}
        self.serial = serial
        self.place = place
        self.trail = trail
        self._key: object = None
        #: what has been worked out about it, by the question
        self.answers: dict[object, Any] | None = None
        size = nesting = 1
        for part in (*args, *keywords.values()) if keywords else args:
            size += part.size
            if part.nesting >= nesting:
                nesting = part.nesting + 1
        self.size, self.nesting = size, nesting
        if size > MAX_SIZE or nesting > MAX_NESTING:
            self.op, self.name, self.args, self.keywords, self.serial = "unknown", "too much to follow", (), {}, id(self)
            self.size = self.nesting = 1

    def key(self) -> object:
        if self._key is None:
            keywords = tuple((name, value.key()) for name, value in self.keywords.items())
            parts = tuple([arg.key() for arg in self.args])
            self._key = _key_of(("term", self.op, self.name, self.serial, parts, keywords), self.size)
        return self._key

    def moved(self, place: Place, kind: str, name: str) -> Term:
        copy = Term(self.op, self.name, self.args, self.keywords, self.serial, self.place, Hop(place, kind, name, self.trail))
        copy._key = self._key
        return copy

    @property
    def base(self) -> Value:
        return self.args[0]

    def __repr__(self) -> str:
        inner = ", ".join([*(repr(arg) for arg in self.args), *(f"{k}={v!r}" for k, v in self.keywords.items())])
        return f"{self.op}:{self.name}({inner})" if inner else f"{self.op}:{self.name}"


@dataclass(frozen=True, slots=True)
class Literal:
    """One condition of a path: ``test`` is (``holds``) or is not true. ``origin`` is the ``if`` that tested it."""

    test: Value
    holds: bool
    origin: object = None

    def key(self) -> object:
        return (self.test.key(), self.holds)

    def __repr__(self) -> str:
        return f"{'' if self.holds else '¬'}{self.test!r}"


#: All literals that hold on a path.
Condition = tuple[Literal, ...]


def beyond(path: Condition, base: Condition) -> Condition:
    """The literals of a path that another does not have; mostly the path goes on from the other."""
    if len(path) >= len(base) and all(map(is_, path, base)):
        return path[len(base) :]
    known = {literal.key() for literal in base}
    return tuple([literal for literal in path if literal.key() not in known])


class Choice(Value):
    """One of several values, each under its own condition."""

    __slots__ = ("_key", "alternatives", "answers", "nesting", "size")

    def __init__(self, alternatives: list[tuple[Condition, Value]], place: Place | None = None, trail: Hop | None = None) -> None:
        self.alternatives = alternatives
        self._key: object = None
        self.answers: dict[object, Any] | None = None
        parts = [value for _, value in alternatives] + [literal.test for path, _ in alternatives for literal in path]
        self.size = 1 + sum(part.size for part in parts)
        self.nesting = 1 + max((part.nesting for part in parts), default=0)
        if self.size > MAX_SIZE or self.nesting > MAX_NESTING:
            self.alternatives = [((), Term("unknown", "too much to follow", serial=id(self), place=place))]
            self.size = self.nesting = 2
        self.place = place
        self.trail = trail

    def key(self) -> object:
        if self._key is None:
            parts = tuple((tuple(lit.key() for lit in path), value.key()) for path, value in self.alternatives)
            self._key = _key_of(("choice", parts), self.size)
        return self._key

    def moved(self, place: Place, kind: str, name: str) -> Choice:
        return Choice([(path, value.moved(place, kind, name)) for path, value in self.alternatives], self.place)

    def __repr__(self) -> str:
        return "choice(" + " | ".join(f"{value!r} if {list(path)}" for path, value in self.alternatives) + ")"


#: kinds of :class:`Items` in which equal items are one
SETS = frozenset(["set", "frozenset"])


class Items(Value):
    """A tuple, list, set or generator whose items are known one by one; an item may stand under a condition."""

    __slots__ = ("born", "conditions", "items", "kind", "nesting", "open", "size", "taken")

    def __init__(
        self,
        kind: str,
        items: list[Value],
        place: Place | None = None,
        conditions: list[Condition] | None = None,
        born: Condition = (),
    ) -> None:
        self.kind = kind
        self.items = items
        self.conditions = conditions if conditions is not None else [()] * len(items)
        #: more items may be there than are known
        self.open = False
        #: items that were taken out again, each with the path on which that was; they stay among the items for other paths
        self.taken: list[tuple[Condition, Value]] = []
        #: the path it was made on; conditions of items are relative to it
        self.born = born
        self.place = place
        self.trail = None
        self.size = 1 + sum(item.size for item in items)
        self.nesting = 1 + max((item.nesting for item in items), default=0)
        self._bound()

    def _bound(self) -> None:
        if self.size > MAX_SIZE or self.nesting > MAX_NESTING:
            self.items, self.conditions, self.open = [], [], True
            self.size = self.nesting = 1

    def key(self) -> object:
        if self.kind == "tuple":
            return _key_of(("tuple", tuple(item.key() for item in self.items)), self.size)
        return ("id", id(self))

    def with_items(self, items: list[Value]) -> Items:
        """A container like this one, with these in the places of its items."""
        made = Items(self.kind, items, self.place, list(self.conditions), self.born)
        made.open = made.open or self.open
        return made

    def extend(self, others: Items) -> None:
        """Add the items of ``others``, each under its condition there."""
        self.items.extend(others.items)
        self.conditions.extend(others.conditions)
        self.open = self.open or others.open
        self.size += others.size
        self.nesting = max(self.nesting, others.nesting)
        self._bound()

    def move_last(self, at: int) -> None:
        """Put the item that was added last where ``insert`` puts it."""
        if self.items:
            item, condition = self.items.pop(), self.conditions.pop()
            self.items.insert(at, item)
            self.conditions.insert(at, condition)

    def take(self, item: Value, path: Condition) -> None:
        """Take an item out on ``path``: what stands where is not known from then on."""
        self.taken.append((path, item))
        self.open = True

    def left(self, path: Condition) -> list[Value]:
        """The items without those that were taken out on the way to ``path``."""
        items = list(self.items)
        for way, item in self.taken:
            at = next((at for at, one in enumerate(items) if one is item), None)
            if at is not None and not beyond(way, path):
                del items[at]
        return items

    def append(self, value: Value, path: Condition = ()) -> None:
        """Add an item on ``path``."""
        self.items.append(value)
        self.conditions.append(beyond(path, self.born))
        self.size += value.size
        self.nesting = max(self.nesting, value.nesting + 1)
        self._bound()

    def __repr__(self) -> str:
        return f"{self.kind}{self.items!r}"


class Entries(Value):
    """A dict with known keys (``open``: perhaps more)."""

    __slots__ = ("entries", "keys", "nesting", "open")

    def __init__(self, place: Place | None = None) -> None:
        self.nesting = 1
        self.entries: dict[object, Value] = {}
        self.keys: dict[object, Value] = {}
        self.open = False
        self.place = place
        self.trail = None

    def put(self, name: Value, value: Value) -> None:
        self.keys[name.key()] = name
        self.entries[name.key()] = self.held(value)

    def held(self, value: Value) -> Value:
        """What it holds when ``value`` is put into it."""
        return _held(self, value)

    def get(self, name: Value) -> Value | None:
        return self.entries.get(name.key())

    def items(self) -> list[tuple[Value, Value]]:
        return [(self.keys[key], value) for key, value in self.entries.items() if key in self.keys]

    def __repr__(self) -> str:
        return f"dict{self.items()!r}"


class Record(Value):
    """An object with fields: SimpleNamespace, dataclass, NamedTuple, a class instance, a Rust struct, the tuner's result."""

    __slots__ = ("cls", "fields", "name", "nesting")

    def __init__(
        self, name: str, fields: dict[str, Value] | None = None, cls: Class | None = None, place: Place | None = None
    ) -> None:
        self.name = name
        self.nesting = 1
        self.fields: dict[str, Value] = {field: self.held(value) for field, value in (fields or {}).items()}
        self.cls = cls
        self.place = place
        self.trail = None

    def held(self, value: Value) -> Value:
        """What it holds when ``value`` becomes a field of it."""
        return _held(self, value)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.fields.items())})"


def _held(container: Entries | Record, value: Value) -> Value:
    """``value``, or an unknown one where it is nested too deep."""
    if value.nesting >= MAX_NESTING:
        return Term("unknown", "too much to follow", serial=id(container), place=value.place)
    container.nesting = max(container.nesting, value.nesting + 1)
    return value


class SuperRecord(Record):
    """``super()`` in a method: members come from the bases, methods are bound to the object itself."""

    __slots__ = ("bound",)

    def __init__(self, bound: Record, bases: Class, place: Place | None = None) -> None:
        super().__init__(bound.name, None, bases, place)
        self.fields = bound.fields
        self.bound = bound


class Closure(Value):
    """A function with the scope it was made in. ``tags``: decorators that are not of the project; ``wraps``: the function that a
    project's decorator put this one around; ``receiver``: first arguments that it has when it is run as it was registered."""

    __slots__ = ("defaults", "function", "owner", "receiver", "scope", "tags", "wraps")

    def __init__(self, function: syntax.Function, scope: Scope, place: Place | None = None) -> None:
        self.function = function
        self.scope = scope
        self.defaults: dict[str, Value] = {}
        self.owner: Class | None = None
        self.tags: list[Value] = []
        self.wraps: Closure | None = None
        self.receiver: list[Value] = []
        self.place = place
        self.trail = None

    def __repr__(self) -> str:
        return f"<fn {self.function.name or 'lambda'}>"


class Partial(Value):
    """A callable with arguments bound in front (``functools.partial``, a bound method)."""

    __slots__ = ("args", "func", "keywords")

    def __init__(self, func: Value, args: list[Value], keywords: dict[str, Value], place: Place | None = None) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords
        self.place = place
        self.trail = None

    def __repr__(self) -> str:
        return f"<partial {self.func!r}>"


class Class(Value):
    """A class of the project: its fields in order (dataclass, NamedTuple) and members by name."""

    __slots__ = ("bases", "decorators", "definition", "members", "order", "scope", "tags")

    def __init__(self, definition: syntax.ClassDef, scope: Scope, place: Place | None = None) -> None:
        self.definition = definition
        self.scope = scope
        self.members: dict[str, Value] = {}
        self.order: list[str] = []
        self.bases: list[Value] = []
        self.decorators: list[Value] = []
        #: their names
        self.tags: list[str] = []
        self.place = place
        self.trail = None

    def member(self, name: str) -> Value | None:
        if name in self.members:
            return self.members[name]
        for base in self.bases:
            if isinstance(base, Class) and (found := base.member(name)) is not None:
                return found
        return None

    def fields_in_order(self) -> list[str]:
        inherited = [name for base in self.bases if isinstance(base, Class) for name in base.fields_in_order()]
        return inherited + [name for name in self.order if name not in inherited]

    def __repr__(self) -> str:
        return f"<class {self.definition.name}>"


class ModuleValue(Value):
    """A module of the project."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope, place: Place | None = None) -> None:
        self.scope = scope
        self.place = place
        self.trail = None

    def __repr__(self) -> str:
        return f"<module {self.scope.source.path.stem}>"


@dataclass(slots=True)
class Arguments:
    """Evaluated arguments of a call; ``exact`` is False when a spread could not be resolved.

    ``rest``: there may be more positional ones behind those known; None: if they are not exact.
    """

    positional: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)
    #: places of the argument expressions: by position, then by keyword
    places: list[Place] = field(default_factory=list)
    keyword_places: dict[str, Place] = field(default_factory=dict)
    exact: bool = True
    rest: bool | None = None

    @property
    def may_go_on(self) -> bool:
        return not self.exact and self.rest is not False

    def get(self, position: int, name: str) -> Value | None:
        """The argument at a position or of a name (-1: by name only)."""
        if name in self.keywords:
            return self.keywords[name]
        if 0 <= position < len(self.positional):
            return self.positional[position]
        return None


def alternatives(value: Value) -> list[tuple[Condition, Value]]:
    """The value's alternatives with their conditions; nested choices are flattened."""
    return once(value, _alternatives) if isinstance(value, Choice) else [((), value)]


def _alternatives(value: Choice) -> list[tuple[Condition, Value]]:
    flat: list[tuple[Condition, Value]] = []
    for path, inner in value.alternatives:
        flat.extend((path + more, leaf) for more, leaf in alternatives(inner))
    return flat


def unknown(reason: str, place: Place | None = None) -> Term:
    return Term("unknown", reason, place=place, serial=id(place) if place is not None else 0)


class Changes:
    """Containers grow while programs run: how many do, and how many have ended."""

    running = ended = 0


CHANGES = Changes()
#: Lists of more parts are made anew for each question.
_MAX_KEPT = 2000


def subterms(value: Value) -> Sequence[Value]:
    """The value and everything it is made of (conditions of choices not included)."""
    kind = value.__class__
    if kind is Known or (kind is Term and not value.args and not value.keywords):  # type: ignore[attr-defined]
        return [value]
    if not isinstance(value, (Term, Choice)):
        return _subterms(value)[0]
    answers = value.answers
    now = None if CHANGES.running else CHANGES.ended
    if answers is not None and (known := answers.get(subterms)) is not None and (known[0] is None or known[0] == now):
        return known[1]  # type: ignore[no-any-return]
    found, lasting = _subterms(value)
    if (lasting or now is not None) and len(found) <= _MAX_KEPT:
        if answers is None:
            answers = value.answers = {}
        answers[subterms] = (None if lasting else now, found)
    return found


def with_conditions(value: Value) -> Iterator[Value]:
    """The :func:`subterms`, and those of the conditions of choices among them."""
    for part in subterms(value):
        yield part
        if isinstance(part, Choice):
            for path, _ in part.alternatives:
                for literal in path:
                    yield from with_conditions(literal.test)


def _subterms(value: Value) -> tuple[list[Value], bool]:
    """The parts, and whether they stay the same: containers grow while a program runs."""
    lasting = True
    found: list[Value] = []
    stack = [value]
    seen: set[int] = set()
    while stack:
        item = stack.pop()
        number = id(item)
        if number in seen:
            continue
        seen.add(number)
        found.append(item)
        kind = item.__class__
        if kind is Term:
            if item.args:  # type: ignore[attr-defined]
                stack += item.args  # type: ignore[attr-defined]
            if item.keywords:  # type: ignore[attr-defined]
                stack += item.keywords.values()  # type: ignore[attr-defined]
        elif kind is Known:
            continue
        elif isinstance(item, Choice):
            stack += [inner for _, inner in item.alternatives]
        elif isinstance(item, Items):
            lasting = False
            stack.extend(item.items)
        elif isinstance(item, Entries):
            lasting = False
            stack.extend(item.entries.values())
        elif isinstance(item, Record):
            lasting = False
            stack.extend(item.fields.values())
    return found, lasting
