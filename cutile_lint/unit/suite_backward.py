"""Tests that run backward through the op with the backend selected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.sources import Place, Source
from cutile_lint.unit.autograd import autograd_functions, grad_atom, refusals, undetached
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.machine.values import Condition, Known, Term, Value, subterms
from cutile_lint.unit.suite_runs import BACKEND, SuiteTest

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit
    from cutile_lint.unit.suite import OpSuite

_SURFACE = re.compile(rb"\.backward\(|autograd\.grad\b|autograd\.backward\b|\bgrad(?:grad)?check\b|import[^\n]*\bgrad\b")
_FUNCTIONS = ("torch.autograd.grad", "torch.autograd.backward")
_CHECKS = ("gradcheck", "gradgradcheck")
_NEEDS_GRAD = re.compile(rb"requires_grad\s*=\s*True|requires_grad_\(\s*(?:True\s*)?\)|requires_grad\s*=\s*(?!False)\w")


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
    for path in suite.naming:
        data = suite.data(path)
        if b"cutile-rs" not in data and b"cutile_rs" not in data and not _SURFACE.search(data):
            continue
        helpers = [] if _SURFACE.search(data) else list(_helpers(suite, data, path))
        if not _SURFACE.search(data) and not any(_counts(unit, data, helper) for helper in helpers):
            continue
        for test in suite.selecting(path):
            found = _first(unit, suite, test, helpers)
            if found is not None:
                yield found


def _first(unit: KernelUnit, suite: OpSuite, test: SuiteTest, helpers: list[_Helper]) -> BackwardRun | None:
    helpers = helpers or list(_helpers(suite, test.text, test.source.path))
    for event in suite.trace(test).events:
        if event.kind != "call" or event.arguments is None:
            continue
        what = _backward(suite, event)
        if (
            what
            and not (_guarded(event.path) and not keeps_grad(unit))
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
    return not helper.guarded or (_NEEDS_GRAD.search(data) is not None and keeps_grad(unit))


def _helpers(suite: OpSuite, data: bytes, path) -> Iterator[_Helper]:
    """Functions that a text calls and that stand in larger modules of the test folder."""
    called = set(re.findall(rb"(\w+)\(", data))
    root = suite.files.roots.get(path, path.parent)
    for folder in dict.fromkeys([root, path.parent, *(parent for parent in path.parents if root in parent.parents)]):
        for other in suite.workspace.entries(folder):
            if other.suffix != ".py" or other in suite.files.roots or not _SURFACE.search(suite.data(other)):
                continue
            source = suite.workspace.source(other)
            for name in re.findall(rb"(?m)^[ \t]*def (\w+)", suite.data(other)):
                if name in called and source is not None:
                    helper = _read(source, name)
                    if helper is not None:
                        yield helper


def _read(source: Source, name: bytes) -> _Helper | None:
    """The function's own text, read on its own: a suite's base class is long."""
    from cutile_lint.frontends import python

    start = re.search(rb"(?m)^([ \t]*)def " + name + rb"\b", source.data)
    if start is None:
        return None
    indent = start[1]
    end = re.compile(rb"(?m)^[ \t]{0,%d}[^\s#)]" % len(indent)).search(source.data, source.data.find(b"\n", start.end()))
    text = source.data[start.start() : end.start() if end else len(source.data)]
    surface = _SURFACE.search(text)
    if surface is None:
        return None
    module = python.parse(Source(source.path, re.sub(rb"(?m)^" + indent, b"", text)))
    if module.faults:
        return None
    calls = [(node, guards) for function in module.functions() for node, guards in _calls(function.body, ())]
    where = Place(source, _span(source, start.start() + surface.start(), surface.group()))
    return _Helper(name.decode(), bool(calls) and all(guards for _, guards in calls), where)


def _span(source: Source, start: int, text: bytes):
    from cutile_lint.sources import Span

    skipped = 1 if text.startswith(b".") else 0
    return Span(start + skipped, start + len(text.rstrip(b"(")))


def _calls(body: list[syntax.Stmt], guards: tuple[syntax.Expr, ...]) -> Iterator[tuple[syntax.Call, tuple[syntax.Expr, ...]]]:
    """Calls that run backward, with the tests of ``requires_grad`` around them."""
    for statement in body:
        if isinstance(statement, syntax.If):
            tests = any(isinstance(part, syntax.Attr) and part.name == "requires_grad" for part in statement.test.walk())
            yield from _calls(statement.body, (*guards, statement.test) if tests else guards)
            yield from _calls(statement.orelse, guards)
        elif isinstance(statement, (syntax.For, syntax.While, syntax.With, syntax.Try)):
            yield from _calls(statement.body, guards)
        else:
            for node in statement.walk():
                if (
                    isinstance(node, syntax.Call)
                    and isinstance(node.func, syntax.Attr)
                    and node.func.name in ("backward", "grad", *_CHECKS)
                ):
                    yield node, guards


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
