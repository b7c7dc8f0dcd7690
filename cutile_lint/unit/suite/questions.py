"""The tests of an op: whether they select the backend, run backward with it, or hide that it fails.

Files are looked through as bytes first; a file is loaded only when its text may have something to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source
from cutile_lint.unit.machine.trace import Event, Trace
from cutile_lint.unit.machine.values import Closure, Known, Term, Value, alternatives, subterms
from cutile_lint.unit.suite.files import SuiteFiles, find_tests, names, plain_name
from cutile_lint.unit.suite.runs import BACKEND, SELECTS, Suite, SuiteTest, blanket, only_unavailable, skipping

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

_FOREIGN = ("torch.", "numpy.", "np.", "math.", "F.")
_SELECTED_AT = regex(rb"(?:set_backend|use_backend|backend)\s*[(=]\s*[\"']cutile-rs[\"']")
_BACKENDS = regex(rb"set_backend|is_backend_available|[\"']cutile[\"'-]|\bbackend\s*=")


@dataclass(frozen=True, slots=True)
class Untested:
    """The op's tests never select the backend. ``place``: the first test of it, None when no test calls the op at all."""

    place: Place | None


class OpSuite:
    """The tests around one op."""

    def __init__(self, unit: KernelUnit) -> None:
        self.unit = unit
        self.op = unit.name
        self.workspace = unit.program.workspace

    @cached_property
    def files(self) -> SuiteFiles:
        wrapper = self.unit.layout.wrapper
        return find_tests(self.workspace, wrapper, self.op) if wrapper is not None else SuiteFiles()

    def data(self, path: Path) -> bytes:
        source = self.workspace.source(path)
        return source.data if source is not None else b""

    def suite(self, path: Path) -> Suite:
        suites = self.unit.program.suites
        if path not in suites:
            suites[path] = Suite(self.unit.program, path, self.files.roots.get(path, path.parent))
        return suites[path]

    @cached_property
    def naming(self) -> list[Path]:
        """Test files that call or import the op, those of its name first."""
        ordered = [*self.files.named, *(path for path in self.files.all if path not in self.files.named)]
        return [path for path in ordered if names(self.data(path), self.op)]

    @cached_property
    def candidates(self) -> list[Path]:
        """Test files of the op that may select the backend: those of its name, else all that say the backend's."""
        named = any(path.stem == f"test_{plain_name(self.op)}" for path in self.files.named)
        others = [] if named else [path for path in self.files.all if BACKEND.encode() in self.data(path)]
        others = [path for path in others if path not in self.files.named]
        return [path for path in (*self.files.named, *others) if names(self.data(path), self.op)]

    @cached_property
    def keeps_grad(self) -> bool:
        """Backward has something to run, or to fail on."""
        from cutile_lint.unit.suite.backward import keeps_grad

        return keeps_grad(self.unit)

    def may_select(self, path: Path) -> bool:
        """The backend's name is in the file, in a conftest, or in a small module beside it."""
        name = BACKEND.encode()
        if name in self.data(path) or any(name in self.data(other) for other in self.files.conftests):
            return True
        folders = {path.parent, self.files.roots.get(path, path.parent)}
        beside = [other for folder in folders for other in self.workspace.entries(folder) if other.suffix == ".py"]
        return any(other not in self.files.roots and name in self.data(other) for other in beside)

    # ── is the backend selected ──

    def untested(self) -> Untested | None:
        """None when a test of the op selects the backend, or when that is not known."""
        for path in self.files.named:
            if path.stem in (f"test_{plain_name(self.op)}", f"{plain_name(self.op)}_test", f"test_{self.op}") and selects_plainly(
                self.data(path)
            ):
                return None
        if not self.files.complete or any(_decides(self.data(path)) for path in self._conftests()):
            return None
        first: Place | None = None
        for path in self.naming:
            answer, place = self._file(path)
            if answer is not False:
                return None
            first = first or place
        if first is not None:
            return Untested(first)
        if any(path.stem == f"test_{plain_name(self.op)}" for path in self.files.named):
            return None  # its tests reach it in a way that is not known
        others = any(_BACKENDS.search(self.data(path)) for path in self.files.all)
        return Untested(None) if others else None

    def _conftests(self) -> list[Path]:
        """Those that the op's tests run under; without any such test, those of whole test folders."""
        above = {folder for path in self.naming for folder in path.parents} or set(self.files.roots.values())
        return [path for path in self.files.conftests if path.parent in above]

    def _file(self, path: Path) -> tuple[bool | None, Place | None]:
        """Whether a file's tests of the op select the backend, and the first such test."""
        suite = self.suite(path)
        data = self.data(path)
        if suite.module is None or b"pytest_generate_tests" in data or (b"autouse" in data and BACKEND.encode() in data):
            return None, None
        first, spans = None, []
        for test in suite.tests:
            spans.append(test.function.span)
            answer = self._selects(test)
            if answer is not False:
                return answer, None
            if first is None and self.is_about(test):
                first = Place(test.source, test.function.name_span or test.function.span)
        if first is not None and any(_selected_in(trace) is not False for trace in suite.before_tests()):
            return None, None
        for match in _SELECTED_AT.finditer(data):
            if not any(span.start <= match.start() < span.end for span in spans):
                return None, None
        return False, first

    def _selects(self, test: SuiteTest) -> bool | None:
        given = test.of(BACKEND)
        if given is not None:
            if _skipped_at_once(test.run(given)):
                return False
            return True if self.is_about(test, given.backend) else False
        if not self.is_about(test):
            return False
        if test.open:
            return None
        trace = test.run(test.given[0] if test.given else None)
        return None if b"environ" in test.text else _selected_in(trace)

    def is_about(self, test: SuiteTest, backend: str = "") -> bool:
        """The test calls the op."""
        trace = test.run(test.of(backend) if backend else (test.given[0] if test.given else None))
        return any(self.calls_op(event) for event in trace.events) or (
            names(test.text, self.op) and not self.called_others(trace)
        )

    def calls_op(self, event: Event) -> bool:
        return event.kind == "call" and event.target is None and self._is_op(event.name)

    def called_others(self, trace: Trace) -> bool:
        return any(event.kind == "call" and ".ops." in event.name and not self._is_op(event.name) for event in trace.events)

    def _is_op(self, name: str) -> bool:
        return name.rsplit(".", 1)[-1] in (self.op, plain_name(self.op)) and not name.startswith(_FOREIGN) and "." in name

    def result_of_op(self, value: Value) -> bool:
        """The value is computed from what the op returned."""
        return any(isinstance(part, Term) and part.op == "call" and self._is_op(part.name) for part in subterms(value))

    def mentions_op(self, value: Value) -> bool:
        """The value is the op, a function that calls it, or made of what it returned."""
        for part in subterms(value):
            if isinstance(part, Term) and part.op in ("call", "external", "attr") and self._is_op(_dotted(part)):
                return True
            if isinstance(part, Closure) and names(_text(part), self.op):
                return True
        return False

    # ── tests that run with the backend ──

    def selecting(self, path: Path, suspect: re.Pattern[bytes]) -> Iterator[SuiteTest]:
        """Tests of a file that run the op with the backend: by a parameter, or because they select it themselves.

        Those whose own text does not match are left out, unless the text around the tests does.
        """
        tests = self.suite(path).tests
        around = bytearray(self.data(path))
        for test in tests:
            around[test.function.span.start : test.function.span.end] = b" " * (test.function.span.end - test.function.span.start)
        everywhere = suspect.search(bytes(around)) is not None
        shared = everywhere and names(bytes(around), self.op)
        for test in tests:
            if not everywhere and not suspect.search(test.text):
                continue
            given = test.of(BACKEND)
            if given is not None:
                if self.is_about(test, BACKEND) or names(test.text, self.op) or shared:
                    yield test
            elif BACKEND.encode() in test.text or b"cutile-rs" in self.data(path):
                if self._selects(test) is True:
                    yield test

    def trace(self, test: SuiteTest) -> Trace:
        """The run of a test with the backend."""
        return test.run(test.of(BACKEND) or (test.given[0] if test.given else None))


def selects_plainly(data: bytes) -> bool:
    """The text parametrizes with the backend, or with a list that has it, or selects it by name: without a closer look."""
    if re.search(rb"parametrize\([^()]*[\"']cutile-rs[\"']", data) or _SELECTED_AT.search(data):
        return True
    lists = {match[1] for match in re.finditer(rb"(?m)^[ \t]*(\w+)\s*(?:\+=|=)[^=\n]*[\[(,+]\s*\[?[\"']cutile-rs[\"']", data)}
    for name in list(lists):
        lists.update(match[1] for match in re.finditer(rb"(?m)^[ \t]*(\w+)\s*=[^=\n]*\b" + name + rb"\b", data))
    return any(re.search(rb"parametrize\(\s*[\"'][^\"']*[\"'],\s*" + name + rb"\b", data) for name in lists)


def _decides(data: bytes) -> bool:
    """A conftest chooses backends itself."""
    return b"cutile-rs" in data or b"cutile_rs" in data or b"pytest_generate_tests" in data


def _selected_in(trace: Trace) -> bool | None:
    """A run selects the backend by its name."""
    if trace.gaps:
        return None
    for event in trace.events:
        if event.kind != "call" or event.arguments is None or skipping(event):
            continue
        last = event.name.rsplit(".", 1)[-1]
        values = [*event.arguments.positional, *event.arguments.keywords.values()]
        leaves = [leaf for value in values for _, leaf in alternatives(value)]
        if "cutile_rs" in event.name or (last != "is_backend_available" and any(_is_backend(leaf) for leaf in leaves)):
            return True
        if last in SELECTS and not all(isinstance(leaf, Known) for leaf in leaves):
            return None
    return False


def _is_backend(value: Value) -> bool:
    return isinstance(value, Known) and value.value == BACKEND


def _skipped_at_once(trace: Trace) -> bool:
    return any(skipping(event) and blanket(event) and not only_unavailable(event) for event in trace.events)


def _dotted(value: Term) -> str:
    if value.op == "attr" and isinstance(value.base, Term):
        return f"{_dotted(value.base)}.{value.name}"
    return value.name


def _text(value: Closure) -> bytes:
    source: Source = value.scope.source
    return source.data[value.function.span.start : value.function.span.end]
