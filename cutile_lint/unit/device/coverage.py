"""Does a kernel store all of a buffer? The proof goes over the grid, loops, masks and indices, in the buffer's own sizes."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.frontends import syntax
from cutile_lint.unit.device.buffers import Access, is_nothing, last_name, operand, roots
from cutile_lint.unit.device.numbers import (
    Leaf,
    block_axis,
    factors,
    is_block,
    loop_range,
    moving,
    plain,
    predicate,
    summands,
    terms,
)
from cutile_lint.unit.device.tile_counts import DEVICE, HOST, TileCounts
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Literal, Term, Value


class NotShown(Exception):
    """The proof does not go through; the text says where."""


class Coverage(TileCounts):
    """Stores of one buffer by one kernel variant of one launch."""

    def stores_all(self, bound: list[str], stores: list[Access]) -> tuple[bool | None, str]:
        """True with "", or None with the reason why it is not shown."""
        if len({self.sources[name] for name in bound}) != 1:
            return None, "the buffer is not known"
        self.slot = self.sources[bound[0]]
        self._learn_sizes(bound[0])
        shown: list[Condition] = []
        reason = ""
        for store in stores:
            try:
                shown.append(self._covering(store))
            except NotShown as failure:
                reason = reason or str(failure)
        if _exhaustive(shown):
            return True, ""
        return None, reason or "a store stands under a condition"

    # ── one store ──

    def _covering(self, store: Access) -> Condition:
        """The condition under which the store covers its share; raises :class:`NotShown`."""
        name = last_name(store.event.name)
        self.axis_tiles = {}
        if name.startswith("store_view") or (
            name in ("store", "store_unchecked", "store_index") and operand(store.event, 2) is not None
        ):
            covered, used = self._view_store(store, name)
        elif name == "store_ptr_tko":
            covered, used = self._pointer_store(store)
        else:
            raise NotShown(f"what `{name}` covers is not known")
        covered |= self._walked(store, used)
        if ("own-count",) not in covered and not all(("own", axis) in covered for axis in self._axes()):
            raise NotShown("the blocks and masks are not those of the buffer's own sizes")
        return self._conditions(store, used)

    def _axes(self) -> range:
        if not self.rank:
            raise NotShown("the buffer's rank is not known")
        return range(self.rank)

    def _view_store(self, store: Access, name: str) -> tuple[set[Leaf], list[Value]]:
        view = _partition(store.address)
        if view is None or view.op != "method" or not last_name(view.name).startswith("partition"):
            raise NotShown("the view that is stored to is not known")
        self._whole_view(view.args[0])
        shape = view.args[1] if len(view.args) > 1 else None
        index = operand(store.event, 1 if name == "store_index" else 2)
        if isinstance(index, Term) and index.op == "call" and index.args and last_name(index.name) == "coord":
            index = index.args[0]
        if not isinstance(shape, Items) or not isinstance(index, Items) or len(shape.items) != len(index.items):
            raise NotShown("the index of the store is not known")
        self.rank = self.rank or len(index.items)
        order = list(range(len(index.items)))
        if len(view.args) > 2:
            permutation = view.args[2]
            if not isinstance(permutation, Items) or not all(isinstance(item, Known) for item in permutation.items):
                raise NotShown("the order of the view's axes is not known")
            order = [item.value for item in permutation.items]  # type: ignore[attr-defined]
        self.axis_tiles = dict(zip(order, shape.items, strict=False))
        covered: set[Leaf] = set()
        used: list[Value] = []
        for position, item in enumerate(index.items):
            leaves = set(self.leaves(item))
            if ("data",) in leaves:
                raise NotShown("the index of the store depends on loaded values")
            axis = order[position] if position < len(order) else position
            if moving(leaves):
                self._plain_index(item, axis)
                used.append(item)
                continue
            if not isinstance(item, Known) or item.value != 0:
                raise NotShown("the store has a fixed index")
            if not self.spans(shape.items[position], axis):
                raise NotShown("one tile is not shown to span the axis")
            covered.add(("own", axis))
        return covered, used

    def _plain_index(self, item: Value, axis: int) -> None:
        """The index leaves no tile out: it is no multiple, nothing fixed is added, and a bare block number belongs to the axis' grid."""
        parts = list(summands(item))
        if not all(moving(set(self.leaves(part))) for part in parts):
            raise NotShown("the index of the store is shifted by something fixed")
        if len(parts) == 1 and any(isinstance(factor, Known) and factor.value != 1 for factor in factors(item)):
            raise NotShown("the index of the store leaves tiles out")
        block, grid = block_axis(plain(item)), self.variant.grid
        if block is not None and isinstance(grid, Items) and block < len(grid.items):
            covered = self.sizes(grid.items[block], grid=True)
            if ("own", axis) not in covered and ("own-count",) not in covered:
                raise NotShown("the grid along an axis is not that of the buffer")

    def _whole_view(self, base: Value) -> None:
        """The partitioned tensor is the entry's parameter, or a view with the buffer's own sizes."""
        while isinstance(base, Term) and base.op == "call" and last_name(base.name).startswith("assume_"):
            base = base.args[0]
        if isinstance(base, Term) and base.op == "input":
            assert self.variant.entry is not None
            param = next((param for param in self.variant.entry.function.params if param.name == base.name), None)
            if param is not None and "mut" in param.annotation.split("Tensor")[0]:
                raise NotShown("the blocks' shares of a mutable tensor are made on the host")
            return
        if isinstance(base, Term) and base.op == "call" and last_name(base.name) == "make_tensor_view" and len(base.args) > 1:
            sizes = base.args[1]
            if isinstance(sizes, Items) and len(roots(base.args[0])) == 1:
                found = [self.exactly(size) for size in sizes.items]
                if found == [("own", axis) for axis in range(len(found))] and len(found) == (self.rank or len(found)):
                    return
                if found == [("own-count",)]:
                    return
        raise NotShown("the view is not shown to span the buffer")

    def _pointer_store(self, store: Access) -> tuple[set[Leaf], list[Value]]:
        mask = operand(store.event, 4)
        if is_nothing(mask):
            raise NotShown("an unmasked store through pointers is not shown to cover the buffer")
        covered: set[Leaf] = set()
        used = list(self._offsets(store.address))
        for left, right in self._bounds(mask):
            bound = self.exactly(right)
            if bound is None or bound[0] not in ("own", "own-count"):
                raise NotShown("the mask of the store compares with something else than the buffer's own sizes")
            leaves = set(self.leaves(left))
            if ("block",) in leaves or ("item",) in leaves:
                continue
            tile = next((term for term in terms(left) if last_name(term.name) == "iota"), None)
            shape = tile.args[0] if tile is not None and tile.args else None
            if (
                not isinstance(shape, Items)
                or len(shape.items) != 1
                or not self.spans(shape.items[0], bound[1] if len(bound) > 1 else -1)
            ):
                raise NotShown("one tile is not shown to span the axis")
            covered.add(bound)
        for offset in used:
            self._plain_offset(offset)
        return covered, used

    def _offsets(self, address: Value) -> Iterator[Value]:
        """The offsets added to a pointer on its way to the store."""
        while isinstance(address, Term) and address.args:
            if last_name(address.name) in ("offset", "offset_tile", "addptr", "addptr_tile") and len(address.args) > 1:
                yield address.args[1]
            elif address.op not in ("call", "method"):
                break
            address = address.args[0]
        if not (isinstance(address, Term) and address.op == "input"):
            raise NotShown("the address of the store is not known")

    def _plain_offset(self, offset: Value) -> None:
        """Each summand moves with blocks or lanes, its factors are tile sizes and the buffer's own sizes and strides."""
        for summand in summands(offset):
            leaves = set(self.leaves(summand))
            if not moving(leaves):
                raise NotShown("the store is shifted by a fixed offset")
            if any(leaf[0] in ("data", "other") for leaf in leaves):
                raise NotShown("the address of the store is made from something else than the buffer's own sizes and strides")
            for factor in factors(summand):
                if (isinstance(factor, Known) and factor.value != 1) or not self._plain_factor(factor):
                    raise NotShown("the store leaves gaps")

    def _plain_factor(self, factor: Value) -> bool:
        """A scalar of the entry is a size, a stride or a tile size as it is, not a multiple of one."""
        if not isinstance(factor, Term) or factor.op != "input" or factor.name not in self.params:
            return True
        host = plain(self.params[factor.name])
        if self._exactly_host(host) is not None or any(plain(tile).key() == host.key() for tile in self.generics.values()):
            return True
        fact = self._descriptor_fact(host) if isinstance(host, Term) else None
        if fact is not None:
            return fact[0] == "own-stride"
        given = self.slots.get(host.name) if isinstance(host, Term) and host.op == "input" else None
        while isinstance(given, Term) and given.op == "call" and given.name == "int" and len(given.args) == 1:
            given = given.args[0]
        return given is not None and [leaf[0] for leaf in self._python(given, False)] == ["own-stride"]

    def _bounds(self, mask: Value | None) -> Iterator[tuple[Value, Value]]:
        """The comparisons ``left < right`` that a mask is made of."""
        value = plain(mask)
        if isinstance(value, Term) and value.op == "call" and value.name == "Some" and value.args:
            value = plain(value.args[0])
        if not isinstance(value, Term):
            raise NotShown("the mask of the store is not known")
        name = last_name(value.name)
        if name == "andi" or (value.op == "binary" and value.name == "&"):
            for part in value.args[:2]:
                yield from self._bounds(part)
        elif name == "cmpi" and len(value.args) > 2 and predicate(value.args[2]) == "LessThan":
            yield value.args[0], value.args[1]
        elif name == "cmpi" and len(value.args) > 2 and predicate(value.args[2]) == "GreaterThan":
            yield value.args[1], value.args[0]
        elif name == "lt_tile" or (value.op == "compare" and value.name == "<"):
            yield value.args[0], value.args[1]
        elif name == "gt_tile":
            yield value.args[1], value.args[0]
        else:
            raise NotShown("the mask of the store is not known")

    # ── blocks and loops ──

    def _walked(self, store: Access, used: list[Value]) -> set[Leaf]:
        """The buffer's axes that blocks and loops go over."""
        bounds: list[Value] = []
        axes: set[int] = set()
        persistent = any(isinstance(loop, syntax.While) for loop in store.event.loops)
        pending = list(used)
        seen: set[object] = set()
        while pending:
            for term in terms(pending.pop()):
                if term.op == "element" and term.key() not in seen:
                    seen.add(term.key())
                    end, start, stepped = loop_range(term.args[0])
                    if end is None:
                        raise NotShown("what the loop around the store goes over is not known")
                    bounds.append(end)
                    if is_block(start):
                        if not stepped:
                            raise NotShown("the loop around the store starts at the block and does not step over blocks")
                        persistent = True
                    elif not (isinstance(start, Known) and start.value == 0):
                        raise NotShown("the loop around the store does not start at 0")
                    elif stepped:
                        raise NotShown("the loop around the store has a step")
                elif (axis := block_axis(term)) is not None:
                    axes.add(axis)
        for loop in store.event.loops:
            if isinstance(loop, syntax.While):
                bounds += [test.args[1] for test in self._loop_tests(store)]
        covered = {leaf for bound in bounds for leaf in self.sizes(bound)}
        grid = self.variant.grid
        if isinstance(grid, Choice):
            raise NotShown("the grid is not known")
        if axes and not persistent:
            if not isinstance(grid, Items) or len(grid.items) <= max(axes):
                raise NotShown("the grid is not known")
            for axis in axes:
                covered |= self.sizes(grid.items[axis], grid=True)
        return covered

    def _loop_tests(self, store: Access) -> Iterator[Term]:
        for literal in store.event.path:
            test = literal.test
            if (
                literal.holds
                and isinstance(test, Term)
                and test.op == "compare"
                and test.name == "<"
                and moving(set(self.leaves(test.args[0])))
            ):
                yield test

    def sizes(self, bound: Value, grid: bool = False) -> set[Leaf]:
        """The buffer's own axes in a number of tiles; raises when it may be too small."""
        leaves = set(self._host(bound, True) if grid else self.leaves(bound, counting=True))
        for leaf in leaves:
            if leaf[0] in ("data", "floor", "capped") or (grid and leaf[0] == "other"):
                raise NotShown("the number of blocks is not shown to cover the buffer")
            if leaf[0] == "other":
                raise NotShown("the loop around the store goes over something else than the buffer's own sizes")
        if not self.enough(bound, HOST if grid else DEVICE):
            raise NotShown("the number of blocks is not shown to cover the buffer")
        return {leaf for leaf in leaves if leaf[0] in ("own", "own-count")}

    def _conditions(self, store: Access, used: list[Value]) -> Condition:
        """What must hold for the store to happen, loops and bounds on blocks left out."""
        kept: list[Literal] = []
        elements = {term.args[0].key() for value in used for term in terms(value) if term.op == "element"}
        for literal in store.event.path:
            test = literal.test
            if isinstance(test, Term) and test.op == "unknown" and test.name == "iterates":
                if test.args[0].key() not in elements:
                    raise NotShown("the store stands in a loop that may not run")
                continue
            if literal.holds and isinstance(test, Term) and test.op == "compare" and test.name == "<":
                leaves = set(self.leaves(test.args[0]))
                if moving(leaves) and not any(
                    leaf[0] in ("data", "other") for leaf in (*leaves, *self.leaves(test.args[1], counting=True))
                ):
                    self.sizes(test.args[1])
                    continue
            if isinstance(test, Term) and ("data",) in set(self.leaves(test)):
                raise NotShown("the store stands under a condition on loaded values")
            kept.append(literal)
        return tuple(kept)


def _partition(address: Value) -> Term | None:
    while (
        isinstance(address, Term)
        and last_name(address.name) in ("with_bounds", "set_tensor_token", "partition_with_bounds_mut")
        and address.args
    ):
        address = address.args[0]
    return address if isinstance(address, Term) else None


def _exhaustive(conditions: list[Condition]) -> bool:
    """On every path at least one of the conditions holds."""
    if any(not condition for condition in conditions):
        return True
    if not conditions or len(conditions) > 16:
        return False
    test = conditions[0][0].test
    return all(_exhaustive(_given(conditions, test.key(), holds)) for holds in (True, False))


def _given(conditions: list[Condition], key: object, holds: bool) -> list[Condition]:
    kept = []
    for condition in conditions:
        if all(literal.holds is holds for literal in condition if literal.test.key() == key):
            kept.append(tuple(literal for literal in condition if literal.test.key() != key))
    return kept
