"""PyTorch's work on every call of an op, outside the timed region, beside what the reference's wrapper does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.unit.flows.once import seldom
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Known, Literal, Term, Value, alternatives, subterms
from cutile_lint.unit.runs import Run
from cutile_lint.unit.timed.tensors import Work

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: copies that always copy (``to`` and ``contiguous`` may return their tensor)
CERTAIN_COPIES = frozenset(
    "clone cat concat concatenate stack hstack vstack dstack column_stack row_stack repeat tile repeat_interleave flip fliplr flipud "
    "roll rot90 block_diag index_copy_ deepcopy tensor new_tensor".split()
)
_LAYOUT = frozenset(["is_contiguous", "stride", "data_ptr", "is_set_to", "_is_view", "is_non_overlapping_and_dense"])
_SIZES = frozenset(["shape", "numel", "nelement", "size"])


@dataclass(slots=True, eq=False)
class CallWork:
    """One piece of device work on the per-call path."""

    run: Run
    work: Work

    @property
    def event(self) -> Event:
        return self.work.event

    @property
    def seldom(self) -> bool:
        """Behind a once-only guard, a cache, a switch that is off by default."""
        return seldom(self.run, self.event)

    @property
    def verb(self) -> str:
        """The function's own name: ``clone`` of ``torch.clone`` and ``.clone()``."""
        return verb_of(self.work)


def verb_of(work: Work) -> str:
    return work.name.strip("`.()").rsplit(".", 1)[-1]


def find_call_work(unit: KernelUnit) -> Iterator[CallWork]:
    """Device work outside the timed region, in order (perhaps behind a once-only guard: ask :attr:`CallWork.seldom`).

    A place that runs in the timed region too belongs to the rules on that.
    """
    for run in unit.runs:
        if not run.launches:
            continue
        timed = {event.place for event in run.trace.events if event.timed}
        for work in run.tensors.works(timed=False):
            if work.event.place not in timed and work.kind in ("copy", "fill", "compute"):
                yield CallWork(run, work)


# ── conditions ─────────────────────────────────────────────────────────────


def branches(event: Event) -> list[Literal]:
    """The literals whose ``if`` the event stands in (an early exit before it is none)."""
    spans = [(stop.source, stop.statement.span) for stop in event.stack if stop.statement is not None]
    spans.append((event.place.source, event.place.span))
    return [
        literal
        for literal in event.path
        if isinstance(literal.origin, syntax.Node)
        and any(literal.origin.span.covers(span) and literal.origin.span != span for _, span in spans)
    ]


def behind_layout_check(event: Event) -> bool:
    """A test on the way looks at the tensor's layout."""
    return any(isinstance(part, Term) and part.name in _LAYOUT for literal in event.path for part in subterms(literal.test))


def for_empty_tensors(event: Event) -> bool:
    """A test on the way says that a size is 0: there is nothing to launch for."""
    return any(_says_empty(literal.test, literal.holds) for literal in event.path)


def _says_empty(test: Value, holds: bool) -> bool:
    if not isinstance(test, Term):
        return False
    if test.op in ("or", "and"):
        return (
            all(_says_empty(arg, holds) for arg in test.args)
            if (test.op == "or") is holds
            else any(_says_empty(arg, holds) for arg in test.args)
        )
    if test.op == "not":
        return _says_empty(test.args[0], not holds)
    if test.op == "call" and test.name in ("any", "all", "bool", "int") and test.args:
        return _says_empty(test.args[0], holds)
    if test.op == "compare" and holds and test.name in ("==", "is", "<=", "<"):
        empty = 1 if test.name == "<" else 0
        return any(isinstance(arg, Known) and arg.value == empty for arg in test.args) and any(_is_size(arg) for arg in test.args)
    if test.op == "compare" and holds and test.name == "in":
        return isinstance(test.args[0], Known) and test.args[0].value == 0
    return not holds and test.op in ("method", "index", "attr") and _is_size(test)


def _is_size(value: Value) -> bool:
    return any(isinstance(part, Term) and part.name in _SIZES for part in subterms(value))


def is_validation(run: Run, event: Event) -> bool:
    """The result is only looked at by tests (an ``assert``, an ``if`` that raises)."""
    statement = event.stop.statement
    if isinstance(statement, (syntax.Assert, syntax.If, syntax.While)) and not _in_body(statement, event):
        return True
    key = event.value.key() if event.value is not None else None
    return key is not None and key in run.tested and not _is_used(run, key)


def _in_body(statement: syntax.Stmt, event: Event) -> bool:
    body = [*getattr(statement, "body", ()), *getattr(statement, "orelse", ())]
    return any(part.span.covers(event.place.span) for part in body)


def _is_used(run: Run, key: object) -> bool:
    """The value reaches a launch or the op's result."""
    return key in run.launched or any(part.key() == key for _, value in run.trace.returned for part in subterms(value))


# ── what the reference does too ────────────────────────────────────────────


def reference_does(unit: KernelUnit, item: CallWork) -> bool | None:
    """The reference's wrapper does work of this kind and name; None without a reference, or when it cannot be told."""
    if unit.reference is None or unit.reference.host_work is None:
        return None
    done = unit.reference.host_work
    return (item.work.kind, item.verb) in done or (item.work.kind == "fill" and any(kind == "fill" for kind, _ in done))


# ── a fallback ─────────────────────────────────────────────────────────────


def is_returned(run: Run, item: CallWork) -> bool:
    """The op returns what PyTorch computed, on a path without a launch."""
    value = item.event.value
    if value is None:
        return False
    key = value.key()
    for path, result in run.trace.returned:
        for more, one in alternatives(result):
            if any(part.key() == key for part in subterms(one)) and not contradictory(item.event.path, path + more):
                return not any(not contradictory(item.event.path, launch.path) for launch in run.launches)
    return False


def reaches_launch(unit: KernelUnit, item: CallWork) -> bool:
    """The result goes into a launch."""
    value = item.work.result
    return value is not None and value.key() in item.run.launched
