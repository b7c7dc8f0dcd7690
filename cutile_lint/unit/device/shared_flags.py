"""Flags that wrapper and export share: what a path of the export says about the tests of the wrapper."""

from __future__ import annotations

from cutile_lint.unit.machine.paths import literals
from cutile_lint.unit.machine.values import Choice, Condition, Known, Literal, Term, Value, alternatives

#: Tests of the wrapper that are known to hold or not to hold: (key of the test, holds).
World = frozenset
_MAX_WORLDS = 16


class SharedFlags:
    """What is known about the wrapper's flags: a list of worlds, one of which is the case."""

    def __init__(self, slots: dict[str, Value]) -> None:
        self.slots = slots
        self.worlds: list[World] = [frozenset()]

    def _narrowed(self, path: Condition) -> list[World]:
        """The worlds in which the export takes a path."""
        worlds = self.worlds
        for literal in path:
            more = self._in_wrapper(literal)
            joined = [world | facts for world in worlds for facts in more if consistent(world, facts)]
            worlds = joined if len(joined) <= _MAX_WORLDS else worlds
        return worlds

    def _in_wrapper(self, literal: Literal) -> list[World]:
        """A test of a flag's slot in the export as tests of the wrapper, one world for each way in which it comes out."""
        test = literal.test
        if not (isinstance(test, Term) and test.op == "compare" and test.name == "==" and isinstance(test.args[1], Known)):
            return [frozenset()]
        flag, constant = test.args[0], test.args[1].value
        given = self.slots.get(flag.name) if isinstance(flag, Term) and flag.op == "input" else None
        if given is None:
            return [frozenset()]
        worlds: list[World] = []
        for path, one in alternatives(given):
            facts = frozenset((part.test.key(), part.holds) for part in path)
            while isinstance(one, Term) and one.op == "call" and one.name in ("int", "bool") and len(one.args) == 1:
                one = one.args[0]
            if isinstance(one, Known):
                if (one.value == constant) is literal.holds:
                    worlds.append(facts)
            elif one.key() != given.key() and constant in (0, 1):
                worlds.append(facts | {(part.test.key(), part.holds) for part in literals(one, literal.holds is bool(constant))})
            else:
                worlds.append(facts)
        return worlds


def consistent(world: World, facts: World) -> bool:
    return not any((test, not holds) in world for test, holds in facts)


def allows(world: World, path: Condition) -> bool:
    """Nothing in the world speaks against the path."""
    for literal in path:
        if isinstance(literal.test, Choice):
            options = [(*under, *literals(one, literal.holds)) for under, one in alternatives(literal.test)]
            if not any(consistent(world, frozenset(part.key() for part in option)) for option in options):
                return False
        elif not consistent(world, frozenset([literal.key()])):
            return False
    return True
