"""Is a number exactly a size of the buffer, and is a tile at least as long as an axis?"""

from __future__ import annotations

from cutile_lint.unit.device.leaves import POWERS, Leaves
from cutile_lint.unit.device.numbers import Leaf, computed, plain, product
from cutile_lint.unit.device.shared_flags import allows
from cutile_lint.unit.flows import extents
from cutile_lint.unit.machine.values import Choice, Condition, Known, Literal, Term, Value, alternatives


class OwnSizes(Leaves):
    """Numbers of a kernel compared with the own sizes of a buffer."""

    def exactly(self, value: Value) -> Leaf | None:
        """The own axis (or count) that a device value is; None for others."""
        value = plain(value)
        if (parts := product(value)) is not None:
            return self._whole({self.exactly(part) for part in parts})
        if isinstance(value, Term) and value.op == "input" and value.name in self.params:
            return self._exactly_host(self.params[value.name])
        return self._single(set(self.leaves(value))) if not computed(value) else None

    def _exactly_host(self, value: Value) -> Leaf | None:
        """The same for a value of the export."""
        value = plain(value)
        if (parts := product(value)) is not None:
            return self._whole({self._exactly_host(part) for part in parts})
        if isinstance(value, Term) and value.op == "input" and value.name in self.slots:
            return self._exactly_python(self.slots[value.name])
        if isinstance(value, Choice):
            found = {self._exactly_under(path, one) for path, one in value.alternatives} - {("never",)}
            return found.pop() if len(found) == 1 else None
        return self._single(set(self._host(value, False))) if not computed(value) else None

    def _exactly_under(self, path: Condition, value: Value) -> Leaf | None:
        worlds, saved = self._narrowed(path), self.worlds
        if not worlds:
            return ("never",)
        self.worlds = worlds
        found = self._exactly_host(value)
        self.worlds = saved
        return found

    def _exactly_python(self, value: Value) -> Leaf | None:
        if (own := self._own(extents.size(value))) is not None:
            return own
        if isinstance(value, Term) and value.op == "call" and value.name == "int" and len(value.args) == 1:
            return self._exactly_python(value.args[0])
        if isinstance(value, Choice):
            found = {
                self._exactly_python(one) for path, one in value.alternatives if any(allows(world, path) for world in self.worlds)
            }
            return found.pop() if len(found) == 1 else None
        if (parts := product(value)) is not None:
            return self._whole({self._exactly_python(part) for part in parts})
        return None

    def _single(self, leaves: set[Leaf]) -> Leaf | None:
        leaf = next(iter(leaves)) if len(leaves) == 1 else ("other",)
        return leaf if leaf[0] in ("own", "own-count") else None

    def _whole(self, axes: set[Leaf | None]) -> Leaf | None:
        """The number of elements as the product of the sizes of all axes."""
        return ("own-count",) if self.rank == 2 and axes == {("own", 0), ("own", 1)} else None

    def spans(self, extent: Value, axis: int) -> bool:
        """One tile of the extent is at least as long as the axis."""
        target: Leaf = ("own", axis) if axis >= 0 else ("own-count",)
        extent = self._concrete(extent)
        if self._exactly_host(extent) == target or any(self._at_least(literal, extent, target) for literal in self.variant.path):
            return True
        given = self.slots.get(extent.name, extent) if isinstance(extent, Term) and extent.op == "input" else extent
        if isinstance(given, Known):
            tensor = self.tensors.get(self.slot)
            key = extents.dimension(tensor, axis) if tensor is not None and axis >= 0 else ()
            return (
                len(key) == 2
                and key[0] == "known"
                and isinstance(given.value, int)
                and isinstance(key[1], int)
                and key[1] <= given.value
            )
        return all(self._power_of(one, target) for _, one in alternatives(given))

    def _at_least(self, literal: Literal, extent: Value, target: Leaf) -> bool:
        """The condition says that the extent is not smaller than the own size."""
        test = literal.test
        if not (isinstance(test, Term) and test.op == "compare" and len(test.args) == 2):
            return False
        left, right = test.args
        if (test.name, literal.holds) in (("<", False), (">=", True), (">", True), ("==", True)) and plain(
            left
        ).key() == extent.key():
            return self._exactly_host(right) == target
        if (test.name, literal.holds) in ((">", False), ("<=", True), ("<", True), ("==", True)) and plain(
            right
        ).key() == extent.key():
            return self._exactly_host(left) == target
        return False

    def _power_of(self, value: Value, target: Leaf) -> bool:
        while isinstance(value, Term) and value.op == "call" and value.name in ("int", "max") and value.args:
            value = next((arg for arg in value.args if isinstance(arg, Term)), value.args[0])
        if not isinstance(value, Term) or not value.args:
            return False
        last = value.name.replace("::", ".").rsplit(".", 1)[-1]
        if value.op == "call" and last in POWERS:
            return self._own(extents.size(value.args[0])) == target
        return value.op == "method" and last in POWERS and self._exactly_host(value.args[0]) == target

    def _concrete(self, value: Value) -> Value:
        """A tile size of the entry as the export sees it."""
        value = plain(value)
        if isinstance(value, Term) and value.op == "generic" and value.name in self.generics:
            return plain(self.generics[value.name])
        return value
