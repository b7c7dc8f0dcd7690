"""Tests that run backward through the op with the backend selected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source
from cutile_lint.unit.autograd.inputs import autograd_functions, grad_atom, refusals, undetached
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Condition, Known, Term, Value, subterms
from cutile_lint.unit.suite.runs import BACKEND, SuiteTest, spares

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.suite.questions import OpSuite

_SURFACE = regex(rb"\.backward\(|autograd\.grad\b|autograd\.backward\b|\bgrad(?:grad)?check\b|import[^\n]{0,300}\bgrad\b")
#: the usual first lines of a test that other backends run
_PLAIN_SKIP = regex(rb"(?m)^([ \t]*)if \w+ == [\"']cutile-rs[\"']:[ \t]*\r?\n[ \t]*pytest\.skip\(")
_FUNCTIONS = ("torch.autograd.grad", "torch.autograd.backward")
_EXPECTS_ERROR = ("raises", "RaisesGroup", "assertRaises", "assertRaisesRegex")
_CHECKS = ("gradcheck", "gradgradcheck")
_NEEDS_GRAD = regex(rb"requires_grad\s*=\s*True|requires_grad_\(\s*(?:True\s*)?\)|requires_grad\s*=\s*(?!False)\w")


@dataclass(slots=True, eq=False)
class BackwardRun:
    """A place in a test at which backward runs. ``inside``: the helper's own place, for a call of a helper."""

    test: SuiteTest
    place: Place
    statement: Place | None
    what: str
    inside: Place | None = None


def backward_runs(unit: KernelUnit) -> Iterator[BackwardRun]:
    """One for each test that runs backward with the backend and does not skip it."""
    suite = unit.suite
    for path in suite.candidates:
        data = suite.data(path)
        if not suite.may_select(path):
            continue
        helpers = list(_helpers(suite, data, path))
        if not _suspicious(data) and not any(_counts(unit, data, helper) for helper in helpers):
            continue
        called = b"|".join([_SURFACE.pattern, *(rb"\b" + helper.name.encode() + rb"\b" for helper in helpers)])
        for test in suite.selecting(path, re.compile(called)):
            found = _first(unit, suite, test, helpers) if not _is_spared(test) else None
            if found is not None:
                yield found


def _suspicious(data: bytes) -> bool:
    """A function of the file runs backward, and does not plainly skip the backend first."""
    for block in re.split(rb"(?m)^(?=[ \t]*(?:async )?def )", data):
        surface = _SURFACE.search(block)
        if surface is not None:
            skip = _PLAIN_SKIP.search(block, 0, surface.start())
            if skip is None or len(skip[1]) != _indentation(block.split(b"\n", 1)[0]) + 4:
                return True
    return False


def _is_spared(test: SuiteTest) -> bool:
    """A mark of the test, or of its parameter, says that it is not run or is expected to fail."""
    given = test.of(BACKEND)
    return any(map(spares, [*test.tags, *(given.marks if given is not None else ())]))


def _is_expected_to_fail(event: Event) -> bool:
    """The event stands in ``with pytest.raises(…)``: the test is one of what the op refuses."""
    return any(isinstance(one, Term) and one.name.rsplit(".", 1)[-1] in _EXPECTS_ERROR for one in event.contexts)


def _first(unit: KernelUnit, suite: OpSuite, test: SuiteTest, helpers: list[_Helper]) -> BackwardRun | None:
    for event in suite.trace(test).events:
        if event.kind != "call" or event.arguments is None or _is_expected_to_fail(event):
            continue
        if event.name in ("add_marker", "applymarker") and any(map(spares, event.arguments.positional)):
            return None
        what = _backward(suite, event)
        if (
            what
            and not (_guarded(event.path) and not unit.suite.keeps_grad)
            and not (_guarded(event.path) and not _NEEDS_GRAD.search(test.text))
        ):
            outer = event.stack[0]
            if len(event.stack) == 1 or outer.statement is None:
                return BackwardRun(test, event.place, event.statement, what)
            call = next((stop.frame.call for stop in event.stack[1:] if stop.frame.call is not None), None)
            return BackwardRun(test, call or event.place, Place(outer.source, outer.statement.span), what, event.place)
        last = event.name.rsplit(".", 1)[-1]
        helper = next((one for one in helpers if one.name == last), None)
        if helper is not None and _counts(unit, test.text, helper) and _given_op(suite, event):
            return BackwardRun(test, event.place, event.statement, f"`{last}` runs backward", helper.place)
    return None


def _backward(suite: OpSuite, event: Event) -> str:
    arguments = event.arguments
    assert arguments is not None
    last = event.name.rsplit(".", 1)[-1]
    if event.name == "backward" and event.target is not None:
        return "`.backward()` runs" if suite.result_of_op(event.target) else ""
    if event.name in _FUNCTIONS:
        first = arguments.get(0, "outputs" if last == "grad" else "tensors")
        return f"`{event.name}` runs backward" if first is not None and suite.result_of_op(first) else ""
    if last in _CHECKS:
        first = arguments.get(0, "func") or arguments.get(0, "fn")
        return f"`{last}` runs backward" if first is not None and suite.mentions_op(first) else ""
    return ""


def _given_op(suite: OpSuite, event: Event) -> bool:
    assert event.arguments is not None
    return any(suite.mentions_op(value) for value in [*event.arguments.positional, *event.arguments.keywords.values()])


def _guarded(path: Condition) -> bool:
    """Backward runs only where something requires grad."""
    return any(_tests_grad(literal.test) for literal in path if literal.holds)


def _tests_grad(test: Value) -> bool:
    return any(grad_atom(part) is not None for part in subterms(test) if isinstance(part, Term))


def keeps_grad(unit: KernelUnit) -> bool:
    """What the op returns may require grad, or the op refuses inputs that do: backward has something to run or to fail on."""
    if any(True for _ in autograd_functions(unit)):
        return True
    return any(any(True for _ in undetached(run)) or any(True for _ in refusals(run)) for run in unit.runs)


# ── helpers of other modules ────────────────────────────────────────────────


@dataclass(slots=True, eq=False)
class _Helper:
    """A function of the suite that runs backward. ``guarded``: only where something requires grad."""

    name: str
    guarded: bool
    place: Place


def _counts(unit: KernelUnit, data: bytes, helper: _Helper) -> bool:
    return not helper.guarded or (_NEEDS_GRAD.search(data) is not None and unit.suite.keeps_grad)


def _helpers(suite: OpSuite, data: bytes, path) -> Iterator[_Helper]:
    """Functions that a text names and that stand in larger modules of the test folder."""
    called = set(re.findall(rb"[^\W\d]\w*", data))
    root = suite.files.roots.get(path, path.parent)
    for folder in dict.fromkeys([root, path.parent, *(parent for parent in path.parents if root in parent.parents)]):
        for other in suite.workspace.entries(folder):
            if other.suffix != ".py" or other in suite.files.roots or not _SURFACE.search(suite.data(other)):
                continue
            source = suite.workspace.source(other)
            for name in re.findall(rb"(?m)^[ \t]*def (\w+)", suite.data(other)):
                if name in called and source is not None:
                    known = suite.workspace.__dict__.setdefault("suite_helpers", {})
                    if (source, name) not in known:
                        known[source, name] = _read(source, name)
                    helper = known[source, name]
                    if helper is not None:
                        yield helper


def _read(source: Source, name: bytes) -> _Helper | None:
    """The function's own text, as bytes: a suite's base class is long."""
    at = source.data.find(b"def " + name + b"(")
    row = source.data.rfind(b"\n", 0, at) + 1
    start = re.compile(rb"([ \t]*)(?:async )?def ").match(source.data, row) if at >= 0 else None
    if start is None:
        return None
    end = re.compile(rb"(?m)^[ \t]{0,%d}[^\s#)]" % len(start[1])).search(source.data, source.data.find(b"\n", start.end()))
    text = source.data[start.start() : end.start() if end else len(source.data)]
    surface = _SURFACE.search(text)
    if surface is None:
        return None
    where = Place(source, _span(source, start.start() + surface.start(), surface.group()))
    return _Helper(name.decode(), all(_under_test(text, found.start()) for found in _SURFACE.finditer(text)), where)


def _span(source: Source, start: int, text: bytes):
    from cutile_lint.sources import Span

    skipped = 1 if text.startswith(b".") else 0
    return Span(start + skipped, start + len(text.rstrip(b"(")))


def _under_test(text: bytes, at: int) -> bool:
    """An ``if`` that reads ``requires_grad`` decides about the line (by indentation): the line is in its body, in the ``else`` of
    one with ``not``, or behind one with ``not`` that returns."""
    rows = text[: text.find(b"\n", at) if text.find(b"\n", at) >= 0 else len(text)].split(b"\n")
    depth, in_else = _indentation(rows[-1]), False
    for number in reversed(range(len(rows) - 1)):
        row = rows[number].strip()
        if not row or row.startswith(b"#") or _indentation(rows[number]) > depth:
            continue
        reads = row.startswith((b"if ", b"elif ")) and b"requires_grad" in row
        if _indentation(rows[number]) < depth:
            depth, in_else = _indentation(rows[number]), row.startswith(b"else")
            if reads:
                return True
        elif reads and b"not " in row and (in_else or rows[number + 1].strip().startswith(b"return")):
            return True
        elif row.startswith(b"if "):
            in_else = False
    return False


def _indentation(row: bytes) -> int:
    return len(row) - len(row.lstrip())


# ── the fix ─────────────────────────────────────────────────────────────────


def skip_fix(unit: KernelUnit, found: BackwardRun) -> Fix | None:
    """``if backend == "cutile-rs": pytest.skip(…)`` at the test's start; None without a parameter that holds the backend."""
    from cutile_lint.frontends.python import rewrite

    test = found.test
    given, module = test.of(BACKEND), test.suite.module
    if given is None or module is None or not _imports_pytest(module):
        return None
    name = next((name for name, value in given.values.items() if isinstance(value, Known)), None)
    if name is None or name not in {param.name for param in test.function.params}:
        return None
    lines = [f'if {name} == "{BACKEND}":', '    pytest.skip("cutile-rs does not support the backward pass")']
    found_edits = rewrite.insert_at_start(module, test.function, lines)
    return Fix("skip the test for cutile-rs", found_edits.edits, Applicability.UNSAFE) if found_edits is not None else None


def _imports_pytest(module: syntax.Module) -> bool:
    return any(
        isinstance(node, syntax.ImportName) and "pytest" in (node.alias, node.module) and node.name is None
        for node in module.walk()
    )
