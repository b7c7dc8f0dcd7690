"""What the numbers of a kernel are made of, through export and wrapper, in the own sizes of one buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cutile_lint.unit.device.buffers import last_name, roots
from cutile_lint.unit.device.numbers import Leaf, block_axis, moving, plain, terms
from cutile_lint.unit.device.shared_flags import SharedFlags, World, allows, consistent
from cutile_lint.unit.flows import extents
from cutile_lint.unit.launches import KernelLaunch, Launch
from cutile_lint.unit.machine.values import Choice, Items, Known, Term, Value

if TYPE_CHECKING:
    from cutile_lint.unit.device.effects import Effects

CEILING = frozenset(["ceil_div", "div_ceil", "cdiv", "num_tiles"])
POWERS = frozenset(["next_power_of_2", "next_power_of_two"])


class Leaves(SharedFlags):
    """Leaves of device, host and wrapper values for one kernel variant of one launch."""

    def __init__(self, effects: Effects, launch: Launch, variant: KernelLaunch) -> None:
        from cutile_lint.unit.device.effects import descriptors, given_tensor

        self.variant = variant
        export = effects.unit.exports[launch.symbol]
        assert variant.entry is not None
        self.params = dict(zip([param.name for param in variant.entry.function.params], variant.arguments, strict=True))
        self.generics: dict[str, Value] = {}
        if (items := variant.generics) is not None and not items.open:
            names = [generic.name for generic in variant.entry.generics]
            if len(names) == len(items.items):
                self.generics = dict(zip(names, items.items, strict=True))
        super().__init__(dict(zip([param.name for param in export.function.params], launch.arguments.positional, strict=True)))
        self.launch = launch
        self.run = run = next(run for run in effects.unit.runs if launch in run.launches)
        self.tensors = {name: given_tensor(value, run.program) for name, value in self.slots.items()}
        self.sources = {name: next(iter(descriptors(value, export)), "") for name, value in self.params.items()}
        self.worlds = self._narrowed(variant.path)
        self.own: dict[extents.Key, Leaf] = {}
        self.slot = ""
        self.rank = 0

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

    def leaves(self, value: Value | None, counting: bool = False) -> Iterator[Leaf]:
        """What a device value is made of; ``counting`` also says where a quotient may be too small."""
        value = plain(value)
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
                yield from self._host(plain(self.params[value.name]), counting)
            else:
                yield ("other", value.name)
        elif block_axis(value) is not None or name in ("get_tile_block_id", "get_num_tile_blocks"):
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
        above = plain(quotient.args[0])
        if isinstance(above, Term) and above.op == "binary" and above.name in ("+", "-"):
            return False
        if isinstance(above, Term) and above.op == "unary":
            return False
        found = set(follow(above, False))
        return any(leaf[0] in ("own", "own-count", "other") for leaf in found) and not moving(found)

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
        value = plain(value)
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
                fitting = {size for conditions, size in other[1] for world in self.worlds if consistent(world, conditions)}
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

    def _descriptor_fact(self, value: Term) -> Leaf | None:
        """``desc.dim(k)``, ``desc.shape[k]``, ``desc.strides[k]``, products over the shape."""
        base, axis, what = None, None, ""
        if value.op == "index" and isinstance(value.args[0], Term) and value.args[0].op == "attr":
            base, axis, what = value.args[0].args[0], value.args[1], value.args[0].name
        elif value.op == "method" and value.name in ("dim", "stride", "size") and len(value.args) == 2:
            base, axis, what = value.args[0], value.args[1], value.name
        elif value.op == "method" and value.name in ("numel", "product", "nelem"):
            inner = [term for term in terms(value) if term.op == "input"]
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
                worlds = [world | facts for world in self.worlds if allows(world, path)]
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
            if value.op == "call" and value.args and last in CEILING | POWERS | {"int", "max", "min", "ceil"}:
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
