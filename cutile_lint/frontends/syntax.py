"""The one syntax tree that both languages are read into.

The Python frontend (``ast``) and the Rust frontend (tree-sitter) build these nodes; everything behind them
knows no parser. Spans are byte offsets into the file the node was read from. The tree is small on purpose: it keeps what
the unit model asks about (calls, names, assignments, control flow) and drops what it does not (types beyond their text, comments).

Shared meanings:

- a method call is ``Call(func=Attr(base, name), …)`` in both languages; a Rust path ``a::b::c`` is ``Name("a::b::c")``
  (turbofish generics go to :attr:`Call.generics`, as text);
- a macro call ``m!(…)`` is ``Call(func=Name("m!"), macro=True)``; a metavariable ``$x`` is ``Name("$x")``;
- a Rust ``if``/``match``/block in value position is :class:`Cond` / :class:`MatchExpr` / :class:`Block`; in statement
  position it is :class:`If` / :class:`Match`; ``unsafe {}`` is transparent (a :class:`Block`);
- the value of a Rust function's tail expression is ``Return(implicit=True)``; ``loop`` is ``While(Const(True))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from cutile_lint.frontends.records import Record
from cutile_lint.sources import Source, Span
from cutile_lint.sources.watch import looked, state, watching

if TYPE_CHECKING:  # a type checker sees dataclasses; at run time they would cost a third of a check of one op
    from dataclasses import dataclass, field
else:
    from cutile_lint.frontends.records import field, record

    def dataclass(**_):
        return record


@dataclass(slots=True, eq=False)
class Node(Record):
    span: Span

    def children(self) -> list[Node]:
        """Direct child nodes in field order (fields are declared in source order where that is possible)."""
        found: list[Node] = []
        for name in self.NODE_FIELDS:
            value = getattr(self, name)
            if value.__class__ is list:
                for element in value:
                    if isinstance(element, Node):
                        found.append(element)
                    elif element.__class__ is tuple:
                        found += [part for part in element if isinstance(part, Node)]
            elif value is not None and isinstance(value, Node):
                found.append(value)
        return found

    def walk(self) -> Iterator[Node]:
        """This node and all nodes below it, parents first."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            if node.NODE_FIELDS:
                below = node.children()
                below.reverse()
                stack += below


N = TypeVar("N", bound=Node)
T = TypeVar("T")
P = ParamSpec("P")


class Expr(Node):
    __slots__ = ()


class Stmt(Node):
    __slots__ = ()


def without_brackets(path: str) -> str:
    """``<Tensor<E>>::new`` → ``Tensor::new``; ``<T as Trait>::f`` stays as it is."""
    depth = 0
    for at, char in enumerate(path if path.startswith("<") else ""):
        depth += (char == "<") - (char == ">")
        if depth == 0:
            name = path[1:at].partition("<")[0].strip()
            return name + path[at + 1 :] if name.replace("::", "").removeprefix("$").isidentifier() else path
    return path


# ── expressions ────────────────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class Name(Expr):
    """A name or a Rust path; generics in a path stay in ``id`` as text (``Latency::<3>``, ``Tensor::<E>::from_raw_parts``)."""

    id: str

    @property
    def head(self) -> str:
        """The path without its generics: ``Latency``, ``Tensor::from_raw_parts``; ``<T as Trait>::f`` stays as it is."""
        path = without_brackets(self.id)
        if "<" not in path or path.startswith("<"):
            return path
        kept: list[str] = []
        depth = 0
        for char in path:
            if char == "<":
                depth += 1
            elif char == ">":
                depth -= 1
            elif not depth:
                kept.append(char)
        return "::".join(part for part in "".join(kept).split("::") if part)

    @property
    def last(self) -> str:
        """The last segment without generics."""
        return self.head.rsplit("::", 1)[-1]


@dataclass(slots=True, eq=False)
class Const(Expr):
    """A literal. Rust numbers are ints/floats (suffix dropped, kept in ``suffix``), chars are strings; ``...`` is Ellipsis."""

    value: object
    suffix: str = ""


@dataclass(slots=True, eq=False)
class Attr(Expr):
    """``base.name``; ``name_span`` is the name alone. Rust tuple fields are names "0", "1", …"""

    base: Expr
    name: str
    name_span: Span


@dataclass(slots=True, eq=False)
class Arg(Node):
    """One argument: keyword name or None; ``spread`` is "", "*" or "**"."""

    value: Expr
    name: str | None = None
    spread: str = ""


@dataclass(slots=True, eq=False)
class Call(Expr):
    func: Expr
    args: list[Arg]
    macro: bool = False
    generics: tuple[str, ...] = ()
    #: the argument list with its parentheses
    args_span: Span | None = None


@dataclass(slots=True, eq=False)
class Index(Expr):
    base: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Slice(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True, eq=False)
class Sequence(Expr):
    """``kind``: "tuple", "list" (Rust arrays too), "set". Starred items are ``Unary("*splat", …)``."""

    kind: str
    items: list[Expr]


@dataclass(slots=True, eq=False)
class Repeat(Expr):
    """Rust ``[value; count]``."""

    value: Expr
    count: Expr


@dataclass(slots=True, eq=False)
class Mapping(Expr):
    """A dict display; a None key is a ``**spread``."""

    items: list[tuple[Expr | None, Expr]]


@dataclass(slots=True, eq=False)
class Struct(Expr):
    """Rust struct literal ``Name { field: value, ..base }``; the base has the field name ``..``."""

    name: str
    items: list[tuple[str, Expr]]

    def children(self) -> list[Node]:
        return [value for _, value in self.items]


@dataclass(slots=True, eq=False)
class Unary(Expr):
    """``op``: "-", "+", "~", "not" (Rust ``!`` too), "&", "&mut", "*" (dereference), "?" (Rust try), "*splat", "await".

    "*repeat" marks a list item or an argument of a macro body that stands in a repetition ``$( … ),*``: there once per element."""

    op: str
    operand: Expr


@dataclass(slots=True, eq=False)
class Binary(Expr):
    """Arithmetic and bit operators, "@" included."""

    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Range(Expr):
    """Rust ``start..end`` / ``start..=end``."""

    start: Expr | None
    end: Expr | None
    inclusive: bool = False


@dataclass(slots=True, eq=False)
class Logic(Expr):
    """``op``: "and" | "or" (Rust ``&&``, ``||``). A chained Python comparison is an "and" of comparisons."""

    op: str
    items: list[Expr]


@dataclass(slots=True, eq=False)
class Compare(Expr):
    """``op``: "==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"."""

    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class PatternTest(Expr):
    """Rust ``let PATTERN = value`` as a condition, and ``matches!(value, PATTERN if guard)``."""

    value: Expr
    pattern: Pattern
    guard: Expr | None = None


@dataclass(slots=True, eq=False)
class Cond(Expr):
    """A conditional value. Python: ``then if test else orelse``."""

    test: Expr
    then: Expr
    orelse: Expr | None


@dataclass(slots=True, eq=False)
class Block(Expr):
    """Rust block in value position: statements, then perhaps a tail value."""

    body: list[Stmt]
    value: Expr | None
    label: str = ""


@dataclass(slots=True, eq=False)
class MatchExpr(Expr):
    subject: Expr
    arms: list[Arm]


@dataclass(slots=True, eq=False)
class Lambda(Expr):
    """Python lambda, Rust closure."""

    function: Function


@dataclass(slots=True, eq=False)
class Clause(Node):
    """``for target in iter if conditions``"""

    target: Expr
    iter: Expr
    conditions: list[Expr]


@dataclass(slots=True, eq=False)
class Comprehension(Expr):
    """``kind``: "list", "set", "dict" (``key`` set), "generator"."""

    kind: str
    key: Expr | None
    element: Expr
    clauses: list[Clause]


@dataclass(slots=True, eq=False)
class Format(Expr):
    """f-string: constant and formatted parts in order (format specifications are dropped)."""

    parts: list[Expr]


@dataclass(slots=True, eq=False)
class Walrus(Expr):
    target: Name
    value: Expr


@dataclass(slots=True, eq=False)
class Cast(Expr):
    """Rust ``value as type``."""

    value: Expr
    type: str


@dataclass(slots=True, eq=False)
class Yield(Expr):
    value: Expr | None
    is_from: bool = False


@dataclass(slots=True, eq=False)
class Jump(Expr):
    """Rust ``return``/``break``/``continue`` in value position (``None => return -2``)."""

    statement: Stmt


@dataclass(slots=True, eq=False)
class Links(Expr):
    """``base $( .name($x) )*`` in a macro body: done once per element, each time on what the last one left.

    ``link`` is one round, on :data:`LAST` in the place of what came before; ``around`` the repetition."""

    base: Expr
    link: Expr
    around: Span


#: The name in :attr:`Links.link` of what the chain has come to.
LAST = "$()"


@dataclass(slots=True, eq=False)
class Opaque(Expr):
    """Something the model has no word for; its parts are still walked."""

    kind: str
    parts: list[Expr] = field(default_factory=list)


# ── patterns ───────────────────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class Pattern(Node):
    """``kind``: "wildcard", "capture" (binds ``name``; ``items[0]`` perhaps the ``@`` sub-pattern), "value" (``value``),
    "range" (``value`` is a Range), "or" (``items``), "sequence" (tuple/slice/list ``items``), "rest" (``..``, ``*name``), "constructor"
    (``name``, positional ``items``, then ``fields``), "mapping" (``fields``)."""

    kind: str
    name: str = ""
    value: Expr | None = None
    items: list[Pattern] = field(default_factory=list)
    fields: list[tuple[str, Pattern]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Arm(Node):
    """One ``case``/match arm. A Rust arm's value ``=> expr`` is a body whose last statement is ``Result(expr)``."""

    pattern: Pattern
    guard: Expr | None
    body: list[Stmt]
    #: stands in a repetition ``$( … )*`` of a macro body: there once per element
    repeated: bool = False


# ── statements ─────────────────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    """``targets = value``; ``op`` "+" for ``+=``; ``declares`` for Rust ``let``/``const``/``static`` and annotated Python names.

    ``value`` is None for a bare declaration; a refutable Rust ``let … else`` keeps its block in ``orelse``.
    """

    targets: list[Expr]
    value: Expr | None
    op: str = ""
    declares: bool = False
    annotation: str = ""
    mutable: bool = False
    pattern: Pattern | None = None
    orelse: list[Stmt] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name that is assigned to (first); "" for anything else. A pattern with constructors leaves no target at all."""
        return self.targets[0].id if self.targets and isinstance(self.targets[0], Name) else ""


@dataclass(slots=True, eq=False)
class ExprStmt(Stmt):
    value: Expr


@dataclass(slots=True, eq=False)
class Result(Stmt):
    """The value of a Rust arm or of a block that is read as statements (an ``if``'s branch in value position)."""

    value: Expr


@dataclass(slots=True, eq=False)
class If(Stmt):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(slots=True, eq=False)
class For(Stmt):
    target: Expr
    iter: Expr
    body: list[Stmt]
    orelse: list[Stmt] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class While(Stmt):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Return(Stmt):
    value: Expr | None
    implicit: bool = False


@dataclass(slots=True, eq=False)
class Raise(Stmt):
    value: Expr | None
    cause: Expr | None = None


@dataclass(slots=True, eq=False)
class Assert(Stmt):
    test: Expr
    message: Expr | None


@dataclass(slots=True, eq=False)
class Break(Stmt):
    value: Expr | None = None
    label: str = ""


@dataclass(slots=True, eq=False)
class Continue(Stmt):
    label: str = ""


@dataclass(slots=True, eq=False)
class WithItem(Node):
    value: Expr
    target: Expr | None


@dataclass(slots=True, eq=False)
class With(Stmt):
    items: list[WithItem]
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class Handler(Node):
    type: Expr | None
    name: str | None
    body: list[Stmt]


@dataclass(slots=True, eq=False)
class Try(Stmt):
    body: list[Stmt]
    handlers: list[Handler]
    orelse: list[Stmt]
    final: list[Stmt]


@dataclass(slots=True, eq=False)
class Match(Stmt):
    subject: Expr
    arms: list[Arm]


@dataclass(slots=True, eq=False)
class Delete(Stmt):
    targets: list[Expr]


@dataclass(slots=True, eq=False)
class Scope(Stmt):
    """``global`` / ``nonlocal`` (``kind``)."""

    kind: str
    names: list[str]


@dataclass(slots=True, eq=False)
class Pass(Stmt):
    pass


@dataclass(slots=True, eq=False)
class ImportName(Node):
    """One bound name. Python ``from m import n as a``: module "m", name "n", alias "a"; ``import m.k``: module "m.k", name None.
    Rust ``use a::b::c as d``: module "a::b", name "c", alias "d"; a glob has name "*"."""

    module: str
    name: str | None
    alias: str


@dataclass(slots=True, eq=False)
class Import(Stmt):
    names: list[ImportName]
    level: int = 0


@dataclass(slots=True, eq=False)
class Param(Node):
    """``kind``: "positional" (positional or keyword), "positional_only", "keyword", "*", "**". Rust: ``pattern`` when not a plain name."""

    name: str
    annotation: str = ""
    default: Expr | None = None
    kind: str = "positional"
    pattern: Pattern | None = None
    annotation_span: Span | None = None


@dataclass(slots=True, eq=False)
class Attribute(Node):
    """Rust attribute: ``path`` ("cutile::entry", "unsafe", "no_mangle"), ``bare`` without parentheses; ``text`` is the whole argument
    text; ``settings`` its parsed ``key = value`` tree (nested dicts, values as literals or text)."""

    path: str
    bare: bool = True
    text: str = ""
    settings: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Generic(Node):
    """Rust generic parameter; ``kind``: "type", "const", "lifetime"; ``bound`` as text (``ElementType``, ``i32``)."""

    name: str
    kind: str
    bound: str = ""


@dataclass(slots=True, eq=False)
class Function(Node):
    """A def, lambda, closure or ``fn``. ``name`` is "" for anonymous ones."""

    name: str
    params: list[Param]
    body: list[Stmt]
    decorators: list[Expr] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    generics: list[Generic] = field(default_factory=list)
    returns: str = ""
    abi: str = ""
    is_async: bool = False
    is_generator: bool = False
    is_public: bool = False
    name_span: Span | None = None
    docstring: str = ""


_body_slot: Any = Function.__dict__["body"]


class _Later:
    """A body that is another function's, moved, and is made when it is read."""

    __slots__ = ("by", "function", "move")

    def __init__(self, function: Function, by: int, move: Callable[[list[Stmt], int], list[Stmt]]) -> None:
        self.function = function
        self.by = by
        self.move = move


def set_body_later(function: Function, other: Function, by: int, move: Callable[[list[Stmt], int], list[Stmt]]) -> None:
    """Let a function have the body of another one, ``by`` bytes further on, which ``move`` makes when it is read."""
    body = _body_slot.__get__(other)
    if body.__class__ is _Later:  # a text that is edited for long makes no chain
        other, by = body.function, body.by + by
    _body_slot.__set__(function, _Later(other, by, move))


def _read_body(function: Function) -> list[Stmt]:
    if state.watch is not None:
        state.watch.look(function)
    body = _body_slot.__get__(function)
    if body.__class__ is _Later:
        body = body.move(_body_slot.__get__(body.function), body.by)
        _body_slot.__set__(function, body)
    return body  # type: ignore[no-any-return]


Function.body = property(_read_body, _body_slot.__set__)  # type: ignore[assignment]


def remembered(answer: Callable[P, T]) -> Callable[P, T]:
    """A question about functions whose last answers are kept; who asks looks at the functions each time."""
    kept = lru_cache(maxsize=16)(answer)

    @wraps(answer)
    def asked(*nodes: P.args, **named: P.kwargs) -> T:
        for node in nodes:
            if isinstance(node, Function):
                looked(node)
        return kept(*nodes, **named)

    return asked


@dataclass(slots=True, eq=False)
class FunctionDef(Stmt):
    function: Function


@dataclass(slots=True, eq=False)
class ClassDef(Stmt):
    """Python class; Rust ``impl`` block (``kind`` "impl", methods in body), ``struct``/``enum`` (``kind``, fields as declaring Assigns)."""

    name: str
    bases: list[Expr]
    body: list[Stmt]
    decorators: list[Expr] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    kind: str = "class"


@dataclass(slots=True, eq=False)
class MetaVariable(Node):
    """``$name:fragment`` of a macro arm; ``repeated`` inside ``$(…)``."""

    name: str
    fragment: str
    repeated: bool = False


@dataclass(slots=True, eq=False)
class MacroArm(Node):
    """One arm of a ``macro_rules!``: its metavariables in order and its body, parsed in place.

    ``body`` ends in ``Result(value)`` when the expansion has a value. Statements that stand in a repetition ``$( … )*`` are in ``Repetition``.
    """

    variables: list[MetaVariable]
    body: list[Stmt]
    #: the body of the arm is ``{{ … }}`` (a block of its own), so its lets are not seen by the caller
    block: bool = True
    #: what an invocation's tokens are matched against, without its brackets
    pattern: Span | None = None


@dataclass(slots=True, eq=False)
class Repetition(Stmt):
    """``$( body )sep*`` in a macro body: done once per element of the repeated metavariables in it."""

    body: list[Stmt]


@dataclass(slots=True, eq=False)
class MacroDef(Stmt):
    name: str
    arms: list[MacroArm]
    exported: bool = False


@dataclass(slots=True, eq=False)
class ModuleDef(Stmt):
    """Rust ``mod name { … }`` (``body``) or ``mod name;`` (``body`` None, ``path`` from ``#[path = …]``)."""

    name: str
    body: list[Stmt] | None
    attributes: list[Attribute] = field(default_factory=list)
    path: str = ""


# ── files ──────────────────────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class Fault(Record):
    """A syntax error: its place in the file and what the parser says."""

    span: Span
    message: str


@dataclass(slots=True, eq=False)
class Comment(Record):
    """A comment with its span (``#…`` or ``//…``, without the line ending)."""

    span: Span
    text: str


#: nodes that Python has in no expression, each with the word that its text has
_WORDS: dict[type[Node], bytes] = {Import: b"import", ClassDef: b"class", Handler: b"except"}


@dataclass(slots=True, eq=False)
class Module(Record):
    """A parsed file. With ``faults`` the body holds what could be read around them (Python: nothing)."""

    source: Source
    language: str
    body: list[Stmt]
    faults: list[Fault] = field(default_factory=list)
    #: beyond a limit (size, depth, tokens): why it was not analysed
    refused: str = ""
    #: all nodes, once somebody asked: a file is walked for many questions
    _nodes: list[Node] | None = None
    _kinds: dict[object, list[Node]] = field(default_factory=dict)

    def walk(self) -> Iterator[Node]:
        """All nodes of the file, parents first."""
        looked(self)
        return iter(self._all())

    def nodes(self, *kinds: type[N]) -> Iterator[N]:
        """The nodes of some kinds, in the order of :meth:`walk`."""
        looked((self, kinds))
        found = self._kinds.get(kinds)
        if found is None:
            found = self._kinds[kinds] = [node for node in self._all_of(kinds) if isinstance(node, kinds)]
        return iter(found)  # type: ignore[arg-type]

    def _all_of(self, kinds: tuple[type[Node], ...]) -> list[Node]:
        """All nodes that may be of some kinds: of Python, some need not be looked for everywhere."""
        if self._nodes is not None or self.language != "python" or not _WORDS.keys() >= set(kinds):
            return self._all()
        text, words = self.source.raw, [_WORDS[kind] for kind in kinds]
        where = [one for one in self.body if any(text.find(word, *one.span) != -1 for word in words)]
        with watching(None):
            return _below(where, Expr)

    def _all(self) -> list[Node]:
        if self._nodes is None:
            with watching(None):
                self._nodes = _below(self.body)
        return self._nodes

    def functions(self) -> Iterator[Function]:
        return self.nodes(Function)


def _below(nodes: Iterable[Node], *without: type[Node]) -> list[Node]:
    """The nodes and all below them, parents first, but some kinds and what is below these."""
    found: list[Node] = []
    stack = [*nodes]
    stack.reverse()
    while stack:
        node = stack.pop()
        if isinstance(node, without):
            continue
        found.append(node)
        if node.NODE_FIELDS:
            below = node.children()
            below.reverse()
            stack += below
    return found
