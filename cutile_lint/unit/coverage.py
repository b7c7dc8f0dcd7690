"""Does a kernel store all of a buffer? The proof goes over the grid, loops, masks and indices, in the buffer's own sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit import extents
from cutile_lint.unit.device_buffers import Access, is_nothing, last_name, operand, roots
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.machine.paths import literals
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Literal, Term, Value, alternatives

if TYPE_CHECKING:
    from cutile_lint.unit.effects import Effects

#: Operations that leave a number as it is.
_SAME = frozenset(
    [
        "exti",
        "trunci",
        "scalar_to_tile",
        "tile_to_scalar",
        "broadcast_scalar",
        "convert_tile",
        "convert_scalar",
        "broadcast",
        "reshape",
    ]
    + [
        "assume_div_by",
        "assume_bounds_lower",
        "assume_bounds_upper",
        "assume_bounds",
        "int",
        "bitcast",
        "constant",
        "unwrap",
        "value",
    ]
    + ["dim_new", "dim_value", "dim_from_i32", "Dim::new", "broadcast_to"]
)
_CEILING = frozenset(["ceil_div", "div_ceil", "cdiv", "num_tiles"])
_POWERS = frozenset(["next_power_of_2", "next_power_of_two"])

#: A leaf of an expression: ("own", axis), ("own-count",), ("own-stride", axis), ("block",), ("lane",), ("item",), ("free", …) for tile sizes
#: and constants of the launch, ("data",) for loaded values, ("other", …).
Leaf = tuple


#: Tests of the wrapper that are known to hold or not to hold: (key of the test, holds).
World = frozenset
_MAX_WORLDS = 16


class NotShown(Exception):
    """The proof does not go through; the text says where."""


class Coverage:
    """Stores of one buffer by one kernel variant of one launch."""

    def __init__(self, effects: Effects, launch: Launch, variant: KernelLaunch) -> None:
        from cutile_lint.unit.effects import descriptors, given_tensor

        self.variant = variant
        export = effects.unit.exports[launch.symbol]
        assert variant.entry is not None
        self.params = dict(zip([param.name for param in variant.entry.function.params], variant.arguments, strict=True))
        self.generics: dict[str, Value] = {}
        if (items := variant.generics) is not None and not items.open:
            names = [generic.name for generic in variant.entry.generics]
            if len(names) == len(items.items):
                self.generics = dict(zip(names, items.items, strict=True))
        self.slots = dict(zip([param.name for param in export.function.params], launch.arguments.positional, strict=True))
        self.launch = launch
        self.run = run = next(run for run in effects.unit.runs if launch in run.launches)
        self.tensors = {name: given_tensor(value, run.program) for name, value in self.slots.items()}
        self.sources = {name: next(iter(descriptors(value, export)), "") for name, value in self.params.items()}
        #: what the variant's path says about the wrapper's flags
        self.worlds: list[World] = [frozenset()]
        self.worlds = self._narrowed(variant.path)
        self.own: dict[extents.Key, Leaf] = {}
        self.slot = ""
        self.rank = 0

    # ── the buffer's own sizes ──

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

    def _learn_sizes(self, name: str) -> None:
        """Keys of the buffer's axes: the tensor's sizes as Python gives them, and the descriptor's."""
        tensor = self.tensors.get(self.slot)
        assert self.variant.entry is not None
        annotation = next(param.annotation for param in self.variant.entry.function.params if param.name == name)
        self.rank = extents.rank(tensor, self.run.trace, self.launch.path) if tensor is not None else 0
        if not self.rank and "Tensor" in annotation and "[" in annotation:
            self.rank = annotation[annotation.index("[") :].count(",") + 1
        for axis in range(self.rank or 5):
            if tensor is not None:
                self.own.setdefault(extents.dimension(tensor, axis), ("own", axis))
                if self.rank:
                    self.own.setdefault(extents.dimension(tensor, axis - self.rank), ("own", axis))
        if tensor is not None:
            self.own.setdefault(extents.count(tensor), ("own-count",) if self.rank != 1 else ("own", 0))

    # ── one store ──

    def _covering(self, store: Access) -> Condition:
        """The condition under which the store covers its share; raises :class:`NotShown`."""
        name = last_name(store.event.name)
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
        covered: set[Leaf] = set()
        used: list[Value] = []
        for position, item in enumerate(index.items):
            leaves = set(self.leaves(item))
            if ("data",) in leaves:
                raise NotShown("the index of the store depends on loaded values")
            axis = order[position] if position < len(order) else position
            if _moving(leaves):
                self._plain_index(item, axis)
                used.append(item)
                continue
            if not isinstance(item, Known) or item.value != 0:
                raise NotShown("the store has a fixed index")
            if not self._spans(shape.items[position], axis):
                raise NotShown("one tile is not shown to span the axis")
            covered.add(("own", axis))
        return covered, used

    def _plain_index(self, item: Value, axis: int) -> None:
        """The index leaves no tile out: it is no multiple, nothing fixed is added, and a bare block number belongs to the axis' grid."""
        summands = list(_summands(item))
        if not all(_moving(set(self.leaves(summand))) for summand in summands):
            raise NotShown("the index of the store is shifted by something fixed")
        if len(summands) == 1 and any(isinstance(factor, Known) and factor.value != 1 for factor in _factors(item)):
            raise NotShown("the index of the store leaves tiles out")
        block, grid = _block_axis(_plain(item)), self.variant.grid
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
                found = [self._exactly(size) for size in sizes.items]
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
            bound = self._exactly(right)
            if bound is None or bound[0] not in ("own", "own-count"):
                raise NotShown("the mask of the store compares with something else than the buffer's own sizes")
            leaves = set(self.leaves(left))
            if ("block",) in leaves or ("item",) in leaves:
                continue
            tile = next((term for term in _terms(left) if last_name(term.name) == "iota"), None)
            shape = tile.args[0] if tile is not None and tile.args else None
            if (
                not isinstance(shape, Items)
                or len(shape.items) != 1
                or not self._spans(shape.items[0], bound[1] if len(bound) > 1 else -1)
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
        for summand in _summands(offset):
            leaves = set(self.leaves(summand))
            if not _moving(leaves):
                raise NotShown("the store is shifted by a fixed offset")
            if any(leaf[0] in ("data", "other") for leaf in leaves):
                raise NotShown("the address of the store is made from something else than the buffer's own sizes and strides")
            for factor in _factors(summand):
                if (isinstance(factor, Known) and factor.value != 1) or not self._plain_factor(factor):
                    raise NotShown("the store leaves gaps")

    def _plain_factor(self, factor: Value) -> bool:
        """A scalar of the entry is a size, a stride or a tile size as it is, not a multiple of one."""
        if not isinstance(factor, Term) or factor.op != "input" or factor.name not in self.params:
            return True
        host = _plain(self.params[factor.name])
        if self._exactly_host(host) is not None or any(_plain(tile).key() == host.key() for tile in self.generics.values()):
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
        value = _plain(mask)
        if isinstance(value, Term) and value.op == "call" and value.name == "Some" and value.args:
            value = _plain(value.args[0])
        if not isinstance(value, Term):
            raise NotShown("the mask of the store is not known")
        name = last_name(value.name)
        if name == "andi" or (value.op == "binary" and value.name == "&"):
            for part in value.args[:2]:
                yield from self._bounds(part)
        elif name == "cmpi" and len(value.args) > 2 and _predicate(value.args[2]) == "LessThan":
            yield value.args[0], value.args[1]
        elif name == "cmpi" and len(value.args) > 2 and _predicate(value.args[2]) == "GreaterThan":
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
            for term in _terms(pending.pop()):
                if term.op == "element" and term.key() not in seen:
                    seen.add(term.key())
                    end, start, stepped = _range(term.args[0])
                    if end is None:
                        raise NotShown("what the loop around the store goes over is not known")
                    bounds.append(end)
                    if _is_block(start):
                        if not stepped:
                            raise NotShown("the loop around the store starts at the block and does not step over blocks")
                        persistent = True
                    elif not (isinstance(start, Known) and start.value == 0):
                        raise NotShown("the loop around the store does not start at 0")
                    elif stepped:
                        raise NotShown("the loop around the store has a step")
                elif (axis := _block_axis(term)) is not None:
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
                and _moving(set(self.leaves(test.args[0])))
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
        return {leaf for leaf in leaves if leaf[0] in ("own", "own-count")}

    def _conditions(self, store: Access, used: list[Value]) -> Condition:
        """What must hold for the store to happen, loops and bounds on blocks left out."""
        kept: list[Literal] = []
        elements = {term.args[0].key() for value in used for term in _terms(value) if term.op == "element"}
        for literal in store.event.path:
            test = literal.test
            if isinstance(test, Term) and test.op == "unknown" and test.name == "iterates":
                if test.args[0].key() not in elements:
                    raise NotShown("the store stands in a loop that may not run")
                continue
            if literal.holds and isinstance(test, Term) and test.op == "compare" and test.name == "<":
                leaves = set(self.leaves(test.args[0]))
                if _moving(leaves) and not any(
                    leaf[0] in ("data", "other") for leaf in (*leaves, *self.leaves(test.args[1], counting=True))
                ):
                    self.sizes(test.args[1])
                    continue
            if isinstance(test, Term) and ("data",) in set(self.leaves(test)):
                raise NotShown("the store stands under a condition on loaded values")
            kept.append(literal)
        return tuple(kept)

    # ── values ──

    def _exactly(self, value: Value) -> Leaf | None:
        """The own axis (or count) that a device value is; None for others."""
        value = _plain(value)
        if (parts := _product(value)) is not None:
            return self._whole({self._exactly(part) for part in parts})
        if isinstance(value, Term) and value.op == "input" and value.name in self.params:
            return self._exactly_host(self.params[value.name])
        return self._single(set(self.leaves(value))) if not _computed(value) else None

    def _exactly_host(self, value: Value) -> Leaf | None:
        """The same for a value of the export."""
        value = _plain(value)
        if (parts := _product(value)) is not None:
            return self._whole({self._exactly_host(part) for part in parts})
        if isinstance(value, Term) and value.op == "input" and value.name in self.slots:
            return self._exactly_python(self.slots[value.name])
        if isinstance(value, Choice):
            found = {self._exactly_under(path, one) for path, one in value.alternatives} - {("never",)}
            return found.pop() if len(found) == 1 else None
        return self._single(set(self._host(value, False))) if not _computed(value) else None

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
                self._exactly_python(one)
                for path, one in value.alternatives
                if any(_allows(world, path) for world in self.worlds)
            }
            return found.pop() if len(found) == 1 else None
        if (parts := _product(value)) is not None:
            return self._whole({self._exactly_python(part) for part in parts})
        return None

    def _single(self, leaves: set[Leaf]) -> Leaf | None:
        leaf = next(iter(leaves)) if len(leaves) == 1 else ("other",)
        return leaf if leaf[0] in ("own", "own-count") else None

    def _whole(self, axes: set[Leaf | None]) -> Leaf | None:
        """The number of elements as the product of the sizes of all axes."""
        return ("own-count",) if self.rank == 2 and axes == {("own", 0), ("own", 1)} else None

    def _spans(self, extent: Value, axis: int) -> bool:
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
        if (test.name, literal.holds) in (("<", False), (">=", True), (">", True), ("==", True)) and _plain(
            left
        ).key() == extent.key():
            return self._exactly_host(right) == target
        if (test.name, literal.holds) in ((">", False), ("<=", True), ("<", True), ("==", True)) and _plain(
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
        if value.op == "call" and last in _POWERS:
            return self._own(extents.size(value.args[0])) == target
        return value.op == "method" and last in _POWERS and self._exactly_host(value.args[0]) == target

    def _concrete(self, value: Value) -> Value:
        """A tile size of the entry as the export sees it."""
        value = _plain(value)
        if isinstance(value, Term) and value.op == "generic" and value.name in self.generics:
            return _plain(self.generics[value.name])
        return value

    def leaves(self, value: Value | None, counting: bool = False) -> Iterator[Leaf]:
        """What a device value is made of; ``counting`` also says where a quotient may be too small."""
        value = _plain(value)
        if isinstance(value, Choice):
            for _, one in value.alternatives:
                yield from self.leaves(one, counting)
        elif isinstance(value, Items):
            for item in value.items:
                yield from self.leaves(item, counting)
        elif isinstance(value, Term):
            yield from self._leaf(value, counting)

    def _leaf(self, value: Term, counting: bool) -> Iterator[Leaf]:
        name = last_name(value.name)
        if value.op == "generic":
            yield ("free", value.name)
        elif value.op == "input":
            if value.name in self.params and not (self.sources.get(value.name) and self.params[value.name].key() == value.key()):
                yield from self._host(_plain(self.params[value.name]), counting)
            else:
                yield ("other", value.name)
        elif _block_axis(value) is not None or name in ("get_tile_block_id", "get_num_tile_blocks"):
            yield ("block",)
        elif name == "iota":
            yield ("lane",)
        elif value.op == "element":
            yield ("item",)
        elif name.startswith(("load", "atomic")):
            yield ("data",)
        elif (
            value.op == "index"
            and isinstance(value.args[1], Known)
            and (found := self._device_size(value.args[0], value.args[1].value))
        ):
            yield found
        elif name == "get_shape_dim" and len(value.args) > 1 and isinstance(value.args[1], Known):
            yield self._device_size(value.args[0], value.args[1].value) or ("other", name)
        elif name == "num_tiles" and len(value.args) > 1 and isinstance(value.args[1], Known):
            yield self._tiles_of(value.args[0], value.args[1].value)
        else:
            yield from self._parts(value, counting, self.leaves)

    def _parts(self, value: Term, counting: bool, follow) -> Iterator[Leaf]:
        if counting and value.op == "binary" and value.name in ("/", "//") and self._floors(value, follow):
            yield ("floor",)
        if counting and last_name(value.name).rsplit(".", 1)[-1] in ("min", "minimum", "clamp"):
            yield ("capped",)
        for arg in value.args:
            yield from follow(arg, counting)
        for arg in value.keywords.values():
            yield from follow(arg, counting)
        if not value.args and value.op not in ("external", "generic"):
            yield ("other", value.key())

    def _floors(self, quotient: Term, follow) -> bool:
        """``n / T`` with nothing added to the size: the rest is left out."""
        above = _plain(quotient.args[0])
        if isinstance(above, Term) and above.op == "binary" and above.name in ("+", "-"):
            return False
        if isinstance(above, Term) and above.op == "unary":
            return False
        found = set(follow(above, False))
        return any(leaf[0] in ("own", "own-count", "other") for leaf in found) and not _moving(found)

    def _device_size(self, shape: Value, axis: object) -> Leaf | None:
        """``x.shape()[k]``, ``get_tensor_shape(x)[k]``, ``get_index_space_shape(view)[k]``."""
        if not isinstance(shape, Term) or not isinstance(axis, int) or not shape.args:
            return None
        name = last_name(shape.name)
        if name == "get_index_space_shape":
            return self._tiles_of(shape.args[0], axis)
        if name not in ("shape", "get_tensor_shape"):
            return None
        base = shape.args[0]
        if isinstance(base, Term) and last_name(base.name) == "make_tensor_view" and len(base.args) > 1:
            sizes = base.args[1]
            if isinstance(sizes, Items) and axis < len(sizes.items):
                return self._exactly(sizes.items[axis]) or ("other", "view")
            return None
        found = roots(base)
        if len(found) != 1:
            return None
        return self._size_of(self.sources.get(next(iter(found)), ""), axis)

    def _tiles_of(self, view: Value, axis: int) -> Leaf:
        found = roots(view)
        if len(found) != 1:
            return ("other", "tiles")
        return self._size_of(self.sources.get(next(iter(found)), ""), axis)

    def _size_of(self, slot: str, axis: int) -> Leaf:
        if slot == self.slot and slot:
            return ("own", axis)
        tensor = self.tensors.get(slot)
        key = extents.dimension(tensor, axis) if tensor is not None else ()
        return self._own(key) or ("other", slot, axis)

    def _host(self, value: Value, counting: bool) -> Iterator[Leaf]:
        """Leaves of a value of the export."""
        value = _plain(value)
        if isinstance(value, Choice):
            for path, one in value.alternatives:
                yield from self._under(self._narrowed(path), self._host(one, counting))
        elif isinstance(value, Items):
            for item in value.items:
                yield from self._host(item, counting)
        elif isinstance(value, Term):
            fact = self._descriptor_fact(value)
            if fact is not None:
                yield fact
            elif value.op == "input":
                given = self.slots.get(value.name)
                if given is not None:
                    yield from self._python(given, counting)
                else:
                    yield ("other", value.name)
            else:
                yield from self._parts(value, counting, self._host)

    def _own(self, key: extents.Key) -> Leaf | None:
        """The buffer's axis whose size a key is, under the flags of the path being read."""
        if key in self.own:
            return self.own[key]
        for other, leaf in self.own.items():
            if other[0] == "choice":
                fitting = {size for conditions, size in other[1] for world in self.worlds if _consistent(world, conditions)}
                if fitting == {key}:
                    return leaf
        return None

    def _under(self, worlds: list[World], leaves: Iterator[Leaf]) -> Iterator[Leaf]:
        """Leaves found while more is known about the wrapper's flags; none when that cannot be."""
        if worlds:
            saved = self.worlds
            self.worlds = worlds
            found = list(leaves)
            self.worlds = saved
            yield from found

    def _narrowed(self, path: Condition) -> list[World]:
        """The worlds in which the export takes a path."""
        worlds = self.worlds
        for literal in path:
            more = self._in_wrapper(literal)
            joined = [world | facts for world in worlds for facts in more if _consistent(world, facts)]
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

    def _descriptor_fact(self, value: Term) -> Leaf | None:
        """``desc.dim(k)``, ``desc.shape[k]``, ``desc.strides[k]``, products over the shape."""
        base, axis, what = None, None, ""
        if value.op == "index" and isinstance(value.args[0], Term) and value.args[0].op == "attr":
            base, axis, what = value.args[0].args[0], value.args[1], value.args[0].name
        elif value.op == "method" and value.name in ("dim", "stride", "size") and len(value.args) == 2:
            base, axis, what = value.args[0], value.args[1], value.name
        elif value.op == "method" and value.name in ("numel", "product", "nelem"):
            inner = [term for term in _terms(value) if term.op == "input"]
            if inner and all(term.name == self.slot for term in inner):
                return ("own-count",) if self.rank != 1 else ("own", 0)
            return None
        if not isinstance(base, Term) or base.op != "input" or not isinstance(axis, Known) or not isinstance(axis.value, int):
            return None
        if what in ("shape", "dim", "size"):
            return self._size_of(base.name, axis.value)
        if what in ("strides", "stride"):
            return ("own-stride", axis.value) if base.name == self.slot else ("other", base.name, what)
        return None

    def _python(self, value: Value, counting: bool) -> Iterator[Leaf]:
        """Leaves of a slot's argument in the wrapper."""
        if (own := self._own(extents.size(value))) is not None:
            yield own
            return
        if isinstance(value, Choice):
            for path, one in value.alternatives:
                facts = frozenset(literal.key() for literal in path)
                worlds = [world | facts for world in self.worlds if _allows(world, path)]
                yield from self._under(worlds, self._python(one, counting))
            return
        if not isinstance(value, Term):
            return
        if value.op in ("config", "field") or (value.op == "call" and not value.args and not value.keywords):
            yield ("free", value.key())
        elif value.op == "method" and value.name == "stride" and len(value.args) == 2 and isinstance(value.args[1], Known):
            tensor = self.tensors.get(self.slot)
            own = tensor is not None and value.args[0].key() == tensor.key()
            yield ("own-stride", value.args[1].value) if own else ("other", value.key())
        elif value.op in ("binary", "unary", "call", "compare", "not"):
            last = value.name.replace("::", ".").rsplit(".", 1)[-1]
            if value.op == "call" and value.args and last in _CEILING | _POWERS | {"int", "max", "min", "ceil"}:
                if last == "ceil" and isinstance(inner := value.args[0], Term) and inner.op == "binary" and inner.name == "/":
                    for arg in inner.args:
                        yield from self._python(arg, counting)
                    return
                if counting and last == "min":
                    yield ("capped",)
                for arg in value.args:
                    yield from self._python(arg, counting)
            elif value.op == "call":
                yield ("other", value.key())
            else:
                yield from self._parts(value, counting, self._python)
        else:
            yield ("other", value.key())


# ── reading values ──


def _consistent(world: World, facts: World) -> bool:
    return not any((test, not holds) in world for test, holds in facts)


def _allows(world: World, path: Condition) -> bool:
    """Nothing in the world speaks against the path."""
    for literal in path:
        if isinstance(literal.test, Choice):
            options = [(*under, *literals(one, literal.holds)) for under, one in alternatives(literal.test)]
            if not any(_consistent(world, frozenset(part.key() for part in option)) for option in options):
                return False
        elif not _consistent(world, frozenset([literal.key()])):
            return False
    return True


def _plain(value: Value | None) -> Value:
    """A number without conversions and broadcasts."""
    while isinstance(value, Term) and value.args and value.op in ("call", "method") and last_name(value.name) in _SAME:
        value = value.args[0]
    return value if value is not None else Known(None)


def _product(value: Value) -> tuple[Value, ...] | None:
    if isinstance(value, Term) and ((value.op == "binary" and value.name == "*") or last_name(value.name) == "muli"):
        return value.args[:2]
    return None


def _computed(value: Value) -> bool:
    return isinstance(value, Term) and value.op in ("binary", "unary", "call")


def _partition(address: Value) -> Term | None:
    while (
        isinstance(address, Term)
        and last_name(address.name) in ("with_bounds", "set_tensor_token", "partition_with_bounds_mut")
        and address.args
    ):
        address = address.args[0]
    return address if isinstance(address, Term) else None


def _terms(value: Value) -> Iterator[Term]:
    """All terms of a value, elements of loops not entered."""
    stack, seen = [value], set()
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Term):
            yield item
            if item.op != "element" and _block_axis(item) is None:
                stack += item.args
        elif isinstance(item, Choice):
            stack += [inner for _, inner in item.alternatives]
        elif isinstance(item, Items):
            stack += item.items


def _block_axis(value: Value) -> int | None:
    """The axis of ``get_tile_block_id().k``."""
    if isinstance(value, Term) and value.op in ("attr", "index") and value.args:
        base = value.args[0]
        if isinstance(base, Term) and base.op == "call" and last_name(base.name) == "get_tile_block_id":
            if value.op == "attr" and value.name.isdigit():
                return int(value.name)
            if value.op == "index" and isinstance(value.args[1], Known) and isinstance(value.args[1].value, int):
                return value.args[1].value
    return None


def _is_block(value: Value) -> bool:
    return _block_axis(_plain(value)) is not None


def _range(value: Value) -> tuple[Value | None, Value, bool]:
    """(end, start, stepped by the number of blocks or something else) of what a loop iterates over."""
    stepped = False
    while isinstance(value, Term) and value.op == "method" and value.args and value.name in ("step_by", "rev"):
        if value.name == "step_by":
            stepped = True
        value = value.args[0]
    if isinstance(value, Term) and value.op == "range" and value.name == "..":
        return value.args[1], value.args[0], stepped
    return None, Known(None), stepped


def _moving(leaves: set[Leaf]) -> bool:
    return any(leaf[0] in ("block", "item", "lane") for leaf in leaves)


def _predicate(value: Value) -> str:
    return last_name(value.name) if isinstance(value, Term) else ""


def _summands(value: Value) -> Iterator[Value]:
    value = _plain(value)
    if isinstance(value, Term) and (value.op == "binary" and value.name == "+" or last_name(value.name) == "addi"):
        for part in value.args[:2]:
            yield from _summands(part)
    else:
        yield value


def _factors(value: Value) -> Iterator[Value]:
    value = _plain(value)
    if isinstance(value, Term) and (value.op == "binary" and value.name == "*" or last_name(value.name) == "muli"):
        for part in value.args[:2]:
            for inner in _summands(part):
                yield from _factors(inner)
    else:
        yield value


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
