"""What a change of a text means for its tree: which functions have another body now, and where everything else has gone.

Anything that is not understood here is no :class:`Change`, and everything that looked at the file is analysed again.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import zip_longest
from pathlib import Path

from cutile_lint.findings import Edit, Finding, Fix, Related
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass, field, replace
from cutile_lint.server.idle import idle_statements
from cutile_lint.server.links import Hint, Lens, Links, Spot, Thing
from cutile_lint.server.unbound import mentions, renamed
from cutile_lint.sources import Place, Source, Span
from cutile_lint.sources.texts import unchanged
from cutile_lint.unit.linking.program import written_names


class Lost(Exception):
    """A place is where the text has changed."""


@dataclass(slots=True, eq=False)
class Change:
    """One stretch ``[start, end)`` of the old text has become ``[start, end + shift)``; the functions are outermost ones."""

    old: syntax.Module
    new: syntax.Module
    start: int
    end: int
    shift: int
    #: functions of the old tree that do something else now
    functions: set[syntax.Function] = field(default_factory=set)
    #: those that differ in statements without effect only
    idle: set[syntax.Function] = field(default_factory=set)
    #: all others and the idle ones, with what they are now
    pairs: dict[object, syntax.Function] = field(default_factory=dict)
    #: what they all are now
    became: dict[object, syntax.Function] = field(default_factory=dict)
    #: what sources are now, by the identity of those that were asked for (they are kept, and so is it)
    sources: dict[int, tuple[Source, Source]] = field(default_factory=dict)
    #: kinds of the nodes in functions that have changed, once somebody asked
    kinds: set[type[syntax.Node]] | None = None
    #: the change stands at the end of a function, which may be longer now
    at_end: bool = False
    #: a name that nothing gives a value: it stood where the change is, and another one does now
    word: str = ""
    #: it was found to be one
    is_name: bool = False

    # ── places ──

    def span(self, span: Span) -> Span:
        """Where a span of the old text is now. Raises :class:`Lost` for one that begins, ends or lies in the change."""
        first, last = span
        if self.word:  # what stands around it goes on to do so
            if self.start < first < self.end or self.start < last < self.end:
                raise Lost
            return Span(*(at + self.shift if at >= self.end else at for at in span))
        if first == last == self.start:
            raise Lost
        if first > self.start or (first == self.start == self.end):
            if first < self.end:
                raise Lost
            first += self.shift
        elif first == self.start:
            raise Lost
        if last >= self.end and last > self.start:
            last += self.shift
        elif last > self.start:
            raise Lost
        return Span(first, last)

    def is_in(self, spans: Mapping[Path, Set[tuple[int, int]]]) -> bool:
        """Some of the spans, by file, touch the change."""
        return any(start <= self.end and end >= self.start for start, end in spans.get(self.old.source.path, ()))

    def spans(self, spans: dict[Path, set[tuple[int, int]]]) -> dict[Path, set[tuple[int, int]]]:
        """Where spans, by file, are now."""
        path = self.old.source.path
        moved: set[tuple[int, int]] = {self.span(Span(start, end)) for start, end in spans.get(path, ())}
        return {**spans, path: moved} if path in spans else spans

    def place(self, place: Place) -> Place:
        source = self.source(place.source)
        if source is place.source:
            return place
        if self.at_end and place.span.end == self.start:
            raise Lost
        return Place(source, self.span(place.span))

    def source(self, source: Source) -> Source:
        if source is self.old.source:
            return self.new.source
        known = self.sources.get(id(source))
        if known is None:
            if source.path == self.old.source.path:
                if source.raw != self.old.source.raw:
                    raise Lost
                known = source, self.new.source
            else:
                known = source, source
            self.sources[id(source)] = known
        return known[1]

    def finding(self, finding: Finding) -> Finding:
        """The finding in the new text."""
        return replace(
            finding,
            place=self.place(finding.place),
            related=tuple(Related(self.place(one.place), one.message) for one in finding.related),
            fix=self._fix(finding.fix) if finding.fix is not None else None,
            statement=self.place(finding.statement) if finding.statement is not None else None,
        )

    def is_told(self, finding: Finding) -> bool:
        """The finding speaks of the name that is another one now."""
        if not self.is_name:
            return False
        texts = [finding.message, finding.help, *(one.message for one in finding.related)]
        if finding.fix is not None:
            texts += [finding.fix.message, *(edit.content for edit in finding.fix.edits)]
        return any(mentions(text, self.word) for text in texts)

    def _fix(self, fix: Fix) -> Fix:
        return replace(fix, edits=tuple(self._edit(edit) for edit in fix.edits))

    def _edit(self, edit: Edit) -> Edit:
        source = self.source(edit.source)
        if source is edit.source:
            return edit
        if edit.start <= self.end and edit.end >= self.start:
            raise Lost  # what it writes may rest on what stood there
        shift = self.shift if edit.start > self.end else 0
        return Edit(source, edit.start + shift, edit.end + shift, edit.content)

    def links(self, links: Links) -> Links:
        things = []
        for thing in links.things:
            spots = [Spot(self.place(spot.place), spot.role) for spot in thing.spots.values()]
            things.append(Thing(thing.kind, thing.name, self.place(thing.place), {(one.place, one.role): one for one in spots}))
        hints = tuple(Hint(self.place(one.place), one.name, one.type) for one in links.hints)
        lenses = tuple(
            Lens(self.place(one.place), tuple(self.place(caller) for caller in one.callers), one.facts) for one in links.lenses
        )
        return Links(tuple(things), hints, lenses)

    def concerns(self, kinds: tuple[type[syntax.Node], ...]) -> bool:
        """A function that has changed has nodes of some kinds, or had."""
        if self.kinds is None:
            changed = [one for old in self.functions | self.idle for one in (old, self.became[old])]
            self.kinds = {type(node) for function in changed for node in function.walk()}
        return any(issubclass(kind, kinds) for kind in self.kinds)


# ── finding it ─────────────────────────────────────────────────────────────


def change_between(old: syntax.Module, new: syntax.Module) -> Change | None:
    """The change that made one tree into the other; None when more than bodies of Python functions may have changed."""
    if old.faults or new.faults or old.refused or new.refused:
        return None
    before, after = old.source.raw, new.source.raw
    start, tail = unchanged(before, after)
    end, shift = len(before) - tail, len(after) - len(before)
    if old.language == "python" and (span := renamed(old.source, new.source, start, end)) is not None:
        change = Change(old, new, *span, shift, word=before[span.start : span.end].decode())
        if _is_understood(change) and not change.functions and (change.idle or not change.is_name):
            return change
    change = Change(old, new, start, end, shift)
    return change if _is_understood(change) else None


def _is_understood(change: Change) -> bool:
    try:
        if change.old.language == "python":
            _bodies(change, change.old.body, change.new.body)
        else:
            _equal(change, change.old.body, change.new.body)
    except Lost:
        return False
    return True


def _bodies(change: Change, old: list[syntax.Stmt], new: list[syntax.Stmt]) -> None:
    """Compare the statements of a module or class."""
    if len(old) != len(new):
        raise Lost
    before, after = change.old.source.raw, change.new.source.raw
    for one, other in zip(old, new, strict=True):
        if one is other:  # before the change
            continue
        if isinstance(one, syntax.FunctionDef) and isinstance(other, syntax.FunctionDef) and _ends_at(change, one, other):
            change.at_end = True
            _function(change, one.function, other.function)
            continue
        if type(one) is not type(other) or change.span(one.span) != other.span:
            raise Lost
        if one.span.end <= change.start or one.span.start >= change.end:
            if before[one.span.start : one.span.end] != after[other.span.start : other.span.end]:
                raise Lost
            _pair(change, one, other)
        elif isinstance(one, syntax.FunctionDef) and isinstance(other, syntax.FunctionDef):
            _function(change, one.function, other.function)
        elif isinstance(one, syntax.ClassDef) and isinstance(other, syntax.ClassDef):
            _same(change, one, other, skipped=("body",))
            _bodies(change, one.body, other.body)
        else:
            _same(change, one, other)


def _pair(change: Change, old: syntax.Stmt, new: syntax.Stmt) -> None:
    if isinstance(old, syntax.FunctionDef) and isinstance(new, syntax.FunctionDef):
        change.pairs[old.function] = new.function
    elif isinstance(old, syntax.ClassDef) and isinstance(new, syntax.ClassDef):
        for one, other in zip_longest(old.body, new.body):
            _pair(change, one, other)


def _ends_at(change: Change, old: syntax.FunctionDef, new: syntax.FunctionDef) -> bool:
    """The change begins in a function and goes on at its end, or behind it."""
    within = old.span.start < change.start <= old.span.end <= change.end
    return within and old.span.start == new.span.start and change.start <= new.span.end <= change.end + change.shift


def _function(change: Change, old: syntax.Function, new: syntax.Function) -> None:
    _same(change, old, new, skipped=("body", "docstring", "span"))
    if change.is_name:
        raise Lost  # it stands outside of the body
    change.became[old] = new
    same = old.docstring == new.docstring and not change.at_end
    if same and _equals(change, old.body, new.body):
        change.pairs[old] = new
        if change.is_name:
            change.idle.add(old)
    elif same and _equals(change, old.body, new.body, idle_statements(old) | idle_statements(new)):
        change.idle.add(old)
        change.pairs[old] = new
    elif written_names(old) != written_names(new):
        raise Lost  # the module's state
    else:
        change.functions.add(old)


def _same(
    change: Change, old: syntax.Node, new: syntax.Node, skipped: tuple[str, ...] = (), without: frozenset[int] = frozenset()
) -> None:
    """Raise :class:`Lost` unless the nodes say the same, each at its place; statements ``without`` (by identity) are passed over."""
    if type(old) is not type(new):
        raise Lost
    if change.word and isinstance(old, syntax.Name) and old.span == (change.start, change.end):
        change.is_name = change.span(old.span) == new.span
        if change.is_name:
            return
    for name in old.FIELDS:
        if name not in skipped:
            _equal(change, getattr(old, name), getattr(new, name), without)


def _equal(change: Change, old: object, new: object, without: frozenset[int] = frozenset()) -> None:
    if isinstance(old, syntax.Node) and isinstance(new, syntax.Node):
        _same(change, old, new, without=without)
    elif isinstance(old, Span) and isinstance(new, Span):
        if change.span(old) != new:
            raise Lost
    elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        if without:
            old = [one for one in old if id(one) not in without]
            new = [one for one in new if id(one) not in without]
        if len(old) != len(new):
            raise Lost
        for one, other in zip(old, new, strict=True):
            _equal(change, one, other, without)
    elif type(old) is not type(new) or old != new or (isinstance(old, (dict, float, complex)) and repr(old) != repr(new)):
        raise Lost


def _equals(change: Change, old: list[syntax.Stmt], new: list[syntax.Stmt], without: frozenset[int] = frozenset()) -> bool:
    try:
        _equal(change, old, new, without)
    except Lost:
        return False
    return True
