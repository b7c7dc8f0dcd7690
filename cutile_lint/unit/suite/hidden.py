"""Tests that hide a failure of the backend: expected failures, skips without a reason, tolerances of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.machine.trace import Trace
from cutile_lint.unit.machine.values import Known, Term, Value, alternatives
from cutile_lint.unit.suite.comparisons import compares
from cutile_lint.unit.suite.runs import BACKEND, ENDS, SuiteTest, blanket, mark_kind, only_unavailable, place_of, skipping

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.suite.questions import OpSuite

#: what a text must have before it is read: expected failures, skips without text, tolerances near the backend's name
_SUSPECT = regex(
    rb"(?i)xfail|skipTest\(\s*[\"']{2}\s*\)|\bskip\b(?!\s*\(\s*(?:(?:reason|msg)\s*=\s*)?f?[\"'][^\"'])"
    rb"|except\b[^\n]*\n\s*(?:pytest|self)\.skip|[\"']cutile-rs[\"'][^\n]*:\s*(?:#[^\n]*)?\n\s*return\b"
    rb"|[!=]=\s*[\"']cutile-rs[\"']|[\"']cutile-rs[\"']\s*[!=]=|not in\b[^\n]*[\"']cutile-rs[\"']"
    rb"|cutile-rs[^\n]{0,300}(?:\n[^\n]{0,300}){0,3}tol|tol[^\n]{0,300}(?:\n[^\n]{0,300}){0,3}cutile-rs|[\"']cutile-rs[\"']\s*:\s*[\d({\[]"
)
#: what takes the error of a failed launch
_ERRORS = frozenset(["RuntimeError", "Exception", "BaseException"])
#: PyTorch's own tolerances, the loosest of all element types
_LOOSEST = {
    ("assert_close", "rtol"): 1.6e-2, ("assert_close", "atol"): 1e-5, ("allclose", "rtol"): 1e-5, ("allclose", "atol"): 1e-8,
}  # fmt: skip
_TOLERANCES = ("rtol", "atol", "tol", "tolerance", "rel", "abs", "rtol_", "atol_")


@dataclass(slots=True, eq=False)
class Hidden:
    test: SuiteTest
    place: Place
    message: str
    help: str
    statement: Place | None = None


def hidden_failures(unit: KernelUnit, factor: float = 1) -> Iterator[Hidden]:
    """``factor``: tolerances of the backend may be that many times those of the others."""
    suite = unit.suite
    seen: set[Place] = set()
    for path in suite.candidates:
        data = suite.data(path)
        if b"cutile-rs" in data and _SUSPECT.search(data):
            for test in suite.selecting(path, _SUSPECT):
                for found in _in_test(suite, test, factor):
                    if found.place not in seen:
                        seen.add(found.place)
                        yield found


def _in_test(suite: OpSuite, test: SuiteTest, factor: float) -> Iterator[Hidden]:
    given = test.of(BACKEND)
    others = [test.run(one) for one in [one for one in test.given if one.backend != BACKEND][:3]]
    for mark in given.marks if given is not None else []:
        yield from _mark(test, mark)
    if not others:  # nothing but the backend runs here
        for tag in test.tags:
            yield from _mark(test, tag)
    trace = suite.trace(test)
    yield from _calls(test, trace, others)
    yield from _skipped_errors(suite, test, trace)
    yield from _uncompared(suite, test, trace, others)
    yield from _tolerances(test, trace, others, factor)


def _mark(test: SuiteTest, mark: Value) -> Iterator[Hidden]:
    if not isinstance(mark, Term) or mark.place is None or mark.place.source is not test.source:
        return
    kind = mark_kind(mark)
    if kind == "xfail":
        yield _expected(test, mark.place)
    elif kind == "skip" and not _reason(mark):
        yield _unreasoned(test, mark.place)


def _reason(mark: Term) -> bool:
    values = [*mark.args, mark.keywords.get("reason")]
    return any(not (isinstance(value, Known) and not value.value) for value in values if value is not None)


def _expected(test: SuiteTest, place: Place, statement: Place | None = None) -> Hidden:
    return Hidden(
        test, place, f"`{test.name}` expects cutile-rs to fail",
        "repair the kernel, or refuse in the wrapper what it cannot do and skip that with the reason", statement,
    )  # fmt: skip


def _unreasoned(test: SuiteTest, place: Place, statement: Place | None = None) -> Hidden:
    return Hidden(
        test, place, f"`{test.name}` skips cutile-rs without saying why",
        "say what the backend does not support, and skip only that", statement,
    )  # fmt: skip


def _calls(test: SuiteTest, trace: Trace, others: list[Trace]) -> Iterator[Hidden]:
    shared = {event.place for other in others for event in other.events if event.kind == "call"}
    for event in trace.events:
        if event.kind != "call" or event.arguments is None or event.place in shared or event.place.source is not test.source:
            continue
        if event.name == "pytest.xfail":
            yield _expected(test, event.place, event.statement)
        elif event.name in ("add_marker", "applymarker"):
            values = [one for value in event.arguments.positional for _, one in alternatives(value)]
            if any((isinstance(one, Term) and one.name.endswith("mark.xfail")) or _is_text(one, "xfail") for one in values):
                yield _expected(test, event.place, event.statement)
        elif skipping(event) and blanket(event) and not only_unavailable(event):
            values = [*event.arguments.positional, *event.arguments.keywords.values()]
            if all(isinstance(value, Known) and not value.value for value in values):
                yield _unreasoned(test, event.place, event.statement)


def _skipped_errors(suite: OpSuite, test: SuiteTest, trace: Trace) -> Iterator[Hidden]:
    """Skips in a handler that takes every error of the op; one that takes refusals only is fine."""
    handlers = {
        id(handler)
        for event in trace.events
        if suite.calls_op(event)
        for node in event.tries
        for handler in node.handlers
        if handler.type is None or any(isinstance(part, syntax.Name) and part.id in _ERRORS for part in handler.type.walk())
    }
    for event in trace.events if handlers else ():
        raised = [literal.test.serial for literal in event.path if literal.holds and isinstance(literal.test, Term)]
        if skipping(event) and any(serial in handlers for serial in raised):
            yield Hidden(
                test, event.place, f"`{test.name}` skips when the op fails",
                "skip where the wrapper refuses (`NotImplementedError`) only: a failed launch is a `RuntimeError`", event.statement,
            )  # fmt: skip


def _uncompared(suite: OpSuite, test: SuiteTest, trace: Trace, others: list[Trace]) -> Iterator[Hidden]:
    """The result of the other backends is compared, that of this one is not."""
    if not others or trace.gaps or not all(any(compares(event, other) for event in other.events) for other in others):
        return
    if any(compares(event, trace) or (event.name in ENDS and not only_unavailable(event)) for event in trace.events):
        return
    if any(suite.calls_op(event) for event in trace.events):
        end = next((node for node in test.function.walk() if isinstance(node, syntax.Return)), None)
        yield Hidden(
            test, Place(test.source, end.span) if end is not None else place_of(test), f"`{test.name}` compares nothing with cutile-rs",
            "find out why the result differs, and compare it like the others'",
        )  # fmt: skip


def _is_text(value: Value, text: str) -> bool:
    return isinstance(value, Known) and value.value == text


def _tolerances(test: SuiteTest, trace: Trace, others: list[Trace], factor: float) -> Iterator[Hidden]:
    """Tolerances that are looser than every other backend's at the same call."""
    if not others:
        return
    own = _given(trace)
    theirs = [_given(other) for other in others]
    for key, (number, value) in own.items():
        compared = [found[key][0] for found in theirs if key in found] or _defaults(key, trace, others)
        if compared and all(number > factor * other for other in compared) and value.place is not None:
            place = value.place
            yield Hidden(
                test, place, f"`{test.name}` compares cutile-rs with `{key[1]}` = {number:g}, other backends with {max(compared):g}",
                "find out why the backend is less exact (accumulator, math mode), and test it like the others",
            )  # fmt: skip


def _defaults(key: tuple[Place, str], trace: Trace, others: list[Trace]) -> list[float]:
    """The loosest that PyTorch compares with where the other backends leave a tolerance out; nothing for other calls."""
    place, name = key
    called = next((event.name.rsplit(".", 1)[-1] for event in trace.events if event.kind == "call" and event.place == place), "")
    there = [event for other in others for event in other.events if event.place == place and event.arguments is not None]
    exact = bool(there) and all(event.arguments is not None and event.arguments.exact for event in there)
    default = _LOOSEST.get((called, name))
    return [default] if exact and default is not None else []


def _given(trace: Trace) -> dict[tuple[Place, str], tuple[float, Value]]:
    """Tolerances by call and name, where they are one number."""
    found: dict[tuple[Place, str], tuple[float, Value]] = {}
    for event in trace.events:
        pairs = [(event.place, event.arguments)] + [(stop.frame.call, stop.frame.arguments) for stop in event.stack]
        for place, arguments in pairs:
            for name, value in arguments.keywords.items() if arguments is not None and place is not None else ():
                leaves = [leaf for _, leaf in alternatives(value)]
                if (
                    name in _TOLERANCES
                    and len(leaves) == 1
                    and isinstance(leaves[0], Known)
                    and isinstance(leaves[0].value, (int, float))
                ):
                    found.setdefault((place, name), (float(leaves[0].value), leaves[0]))
    return found
