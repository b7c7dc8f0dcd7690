"""The machine put together, and its entry points."""

from __future__ import annotations

from cutile_lint.frontends import syntax
from cutile_lint.sources import Place, Span
from cutile_lint.unit.machine.dialect import Dialect
from cutile_lint.unit.machine.scopes import Scope
from cutile_lint.unit.machine.state import TooMuch
from cutile_lint.unit.machine.statements import Statements
from cutile_lint.unit.machine.trace import Frame, Trace
from cutile_lint.unit.machine.values import Closure, Value

#: how the reason of a gap begins where a run was given up for its size
TOO_LARGE = "too large to follow"


class Machine(Statements):
    """One symbolic run; make a new one for each callable."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)

    def load(self, module: syntax.Module, scope: Scope) -> Trace:
        """Run a module's top level in ``scope``; returns what that did (it is no part of the run's own trace).

        One that is cut because it is too large is a gap of both.
        """
        frame = Frame(None, None, module.source, None)
        fresh = Trace()
        mark, cut = len(self.exits), ""
        with self.inside(scope=scope, trace=fresh, path=(), timed=0, loops=(), contexts=(), tries=(), alive=True):
            frames = len(self.frames)
            self.frames.append(frame)
            try:
                self.run(module.body)
            except (TooMuch, RecursionError) as error:
                cut = f"{TOO_LARGE} ({type(error).__name__})"
                self.gap(cut, Span(0, 0))
            finally:
                del self.frames[frames:]
        if cut:
            self.trace.gaps.append((cut, Place(module.source, Span(0, 0))))
        del self.exits[mark:]
        return fresh

    def run_callable(self, closure: Closure, inputs: dict[str, Value] | None = None) -> Trace:
        """Run a callable with symbols as arguments and return the trace; an over-large run is cut and says so in ``gaps``."""
        with self.inside(scope=closure.scope):
            try:
                self.run_root(closure, inputs)
            except (TooMuch, RecursionError) as error:
                function = closure.function
                self.gap(f"{TOO_LARGE} ({type(error).__name__})", function.name_span or function.span)
        return self.trace
