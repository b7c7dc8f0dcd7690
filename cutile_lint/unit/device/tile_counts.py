"""Is a number of blocks or rounds at least as large as the numbers of tiles that it is made of? Sums, quotients and their roundings."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.unit.device.buffers import last_name
from cutile_lint.unit.device.leaves import CEILING, POWERS
from cutile_lint.unit.device.numbers import Leaf, plain
from cutile_lint.unit.device.own_sizes import OwnSizes
from cutile_lint.unit.machine.values import Choice, Items, Known, Term, Value

#: A layer that a number stands in: the device kernel, the export, the wrapper.
DEVICE, HOST, PYTHON = 0, 1, 2
_OPERATORS = {"addi": "+", "subi": "-", "muli": "*", "divi": "/", "negi": "-"}


class TileCounts(OwnSizes):
    """Numbers of tiles of a buffer, as kernel, export and wrapper compute them."""

    #: the extents of the stored tile by the buffer's axis, where they are known axis by axis
    axis_tiles: dict[int, Value] = {}  # noqa: RUF012 - replaced as a whole

    def enough(self, value: Value, layer: int) -> bool:
        """No rounding, difference or wrong divisor makes the number smaller than the tiles of the buffer's sizes in it."""
        value, layer = self._opened(value, layer)
        if isinstance(value, Choice):
            return all(self.enough(one, layer) for _, one in value.alternatives)
        if isinstance(value, Items):
            return all(self.enough(item, layer) for item in value.items)
        if not isinstance(value, Term) or not self._has_sizes(value, layer) or self._size(value, layer) is not None:
            return True
        match _operator(value), value.args:
            case "*", (left, right, *_):
                return self.enough(left, layer) and self.enough(right, layer)
            case "+", (left, right, *_):
                return self._sum(left, right, layer) or self._sum(right, left, layer)
            case "-", (negative,):  # -(-n // T)
                quotient = plain(negative)
                if isinstance(quotient, Term) and _operator(quotient) in ("//",):
                    above = plain(quotient.args[0])
                    if isinstance(above, Term) and _operator(above) == "-" and len(above.args) == 1:
                        return self._tiled(above.args[0], quotient.args[1], layer)
                return False
            case "/" | "//", (above, tile, *_):
                return self._rounded_up(above, tile, layer)
        return self._called(value, layer)

    def _sum(self, count: Value, more: Value, layer: int) -> bool:
        """A number of tiles and something that is not negative; ``(n - 1) // T + 1``."""
        if self._has_sizes(more, layer) or not self._not_negative(more, layer):
            return False
        quotient, inner = self._opened(count, layer)
        added = plain(more)
        if isinstance(quotient, Term) and _operator(quotient) in ("/", "//") and isinstance(added, Known) and added.value == 1:
            above = plain(quotient.args[0])
            if isinstance(above, Term) and _operator(above) == "-" and len(above.args) == 2:
                return _is_one(above.args[1]) and self._tiled(above.args[0], quotient.args[1], inner)
        return self.enough(count, layer)

    def _rounded_up(self, above: Value, tile: Value, layer: int) -> bool:
        """``(n + T - 1) / T``: what is added to the size is at least one less than the tile."""
        sizes, added, known = [], [], 0
        for sign, part in _summands(above):
            constant, _ = self._opened(part, layer)
            if isinstance(constant, Known) and isinstance(constant.value, int):
                known += sign * constant.value
            elif self._has_sizes(part, layer) and sign > 0:
                sizes.append(part)
            elif sign > 0:
                added.append(part)
            else:
                return False
        below, _ = self._opened(tile, layer)
        if len(sizes) != 1 or not self._tiled(sizes[0], tile, layer):
            return False
        if isinstance(below, Known):
            return not added and isinstance(below.value, int) and known >= below.value - 1
        return known >= -1 and len(added) == 1 and self._opened(added[0], layer)[0].key() == below.key()

    def _called(self, value: Term, layer: int) -> bool:
        last = last_name(value.name).rsplit(".", 1)[-1]
        if value.op not in ("call", "method") or not value.args:
            return False
        if last in ("max", "maximum"):
            return all(self.enough(arg, layer) for arg in value.args)
        if last in POWERS:
            return self._size(value.args[0], layer) is not None
        if last in CEILING and len(value.args) > 1:
            return self._tiled(value.args[0], value.args[1], layer)
        if last == "ceil":
            inner = plain(value.args[0])
            return isinstance(inner, Term) and _operator(inner) == "/" and self._tiled(inner.args[0], inner.args[1], layer)
        return last == "min"  # said to be capped by others

    def _tiled(self, size: Value, tile: Value, layer: int) -> bool:
        """The own size of an axis, and the tile that the kernel stores along it."""
        axis = self._size(size, layer)
        if axis is None:
            return False
        given, _ = self._opened(tile, layer)
        if isinstance(given, Known) and given.value == 1:
            return True
        if axis[0] == "own" and axis[1] in self.axis_tiles:
            made, _ = self._opened(self.axis_tiles[axis[1]], DEVICE)
            return made.key() == given.key()
        return any(self._opened(one, HOST)[0].key() == given.key() for one in self.generics.values())

    # ── crossing the layers ──

    def _opened(self, value: Value, layer: int) -> tuple[Value, int]:
        """What a parameter was given, in the layer of the caller; conversions are left out."""
        while True:
            value = plain(value)
            while (
                isinstance(value, Term) and value.op == "method" and value.name in ("to_string", "clone", "into") and value.args
            ):
                value = plain(value.args[0])
            if not isinstance(value, Term):
                return value, layer
            if layer == DEVICE and value.op == "input" and value.name in self.params:
                value, layer = self.params[value.name], HOST
            elif layer == DEVICE and value.op == "generic" and value.name in self.generics:
                value, layer = self.generics[value.name], HOST
            elif layer == HOST and value.op == "input" and value.name in self.slots:
                value, layer = self.slots[value.name], PYTHON
            else:
                return value, layer

    def _size(self, value: Value, layer: int) -> Leaf | None:
        return (self.exactly, self._exactly_host, self._exactly_python)[layer](value)

    def _has_sizes(self, value: Value, layer: int) -> bool:
        follow = (self.leaves, self._host, self._python)[layer]
        return any(leaf[0] in ("own", "own-count") for leaf in follow(value, False))

    def _not_negative(self, value: Value, layer: int) -> bool:
        value, _ = self._opened(value, layer)
        return isinstance(value, Known) and isinstance(value.value, int) and value.value >= 0


def _operator(value: Term) -> str:
    return value.name if value.op in ("binary", "unary") else _OPERATORS.get(last_name(value.name), "")


def _is_one(value: Value) -> bool:
    value = plain(value)
    return isinstance(value, Known) and value.value == 1


def _summands(value: Value, sign: int = 1) -> Iterator[tuple[int, Value]]:
    """The parts of sums and differences, each with its sign."""
    value = plain(value)
    if isinstance(value, Term) and _operator(value) in ("+", "-") and len(value.args) >= 2:
        yield from _summands(value.args[0], sign)
        yield from _summands(value.args[1], sign if _operator(value) == "+" else -sign)
    else:
        yield sign, value
