"""Sample calls of an op: flags and sizes of inputs that the wrapper lets pass, to find two that share a key but launch different work."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations, product
from operator import ne

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.unit.flows.configs import Config, configs_of, is_config
from cutile_lint.unit.flows.determined import bare, canonical
from cutile_lint.unit.flows.fold import UNKNOWN, Folder
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.trace import Tuning
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value, alternatives, with_conditions
from cutile_lint.unit.runs import Run

#: sizes that one may stand for another: with each other they make equal products
_SIZES = (1024, 512, 2048, 128)
_MAX_CALLS = 512
_MAX_RANK = 5
_PROCESSORS = 148
_SHAPE = frozenset(["shape", "ndim", "numel", "nelement", "size", "dim"])
_TEXTS = frozenset(["str", "repr", "hash", "tuple"])

Axis = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What one call is given: flags by name, and the shapes of tensors, made of ``sizes`` (axes that must be equal share one)."""

    flags: Mapping[str, bool]
    shapes: Mapping[str, tuple[int, ...]]
    sizes: tuple[int, ...]


class Calls:
    """The sample for one tuner call: all combinations of the flags that ``values`` (the key, what must be told apart) ask for, and of
    some sizes. An answer is certain; what cannot be worked out for a call leaves that call out."""

    def __init__(self, run: Run, tuning: Tuning, key: Iterable[Value], program: Program) -> None:
        self.run = run
        self.tuning = tuning
        self.program = program
        self.key = list(key)

    def share_a_key(self, value: Value, path: Condition, apart: Iterable[Value]) -> bool | None:
        """Two calls on ``path`` have the same key and another ``value``, whatever the values ``apart`` are (as long as it varies).

        None: that is not known.
        """
        if len(configs_of(self.tuning) or ()) < 2:
            return None
        groups: dict[object, dict[object, set[object]]] = {}
        apart = list(apart)
        for key, call in self._keyed:
            results = call.results(value)
            parts = tuple(call.result(one) for one in apart)
            if results is not None and UNKNOWN not in parts and call.passes(path):
                groups.setdefault(parts, {}).setdefault(key, set()).add(results)
        varying = [group for group in groups.values() if len(set().union(*group.values())) > 1]
        return all(any(len(found) > 1 for found in group.values()) for group in varying) if varying else None

    @cached_property
    def rounds(self) -> bool:
        """The key is the same for calls that differ in one size only: it rounds sizes, perhaps on purpose."""
        alike: dict[object, list[tuple[int, ...]]] = {}
        for key, call in self._keyed:
            alike.setdefault((key, *call.inputs.flags.items()), []).append(call.inputs.sizes)
        pairs = (pair for sizes in alike.values() for pair in combinations(sizes, 2))
        return any(sum(map(ne, one, other)) == 1 for one, other in pairs)

    @cached_property
    def _keyed(self) -> list[tuple[object, _Call]]:
        """The calls that get to the tuner, each with its key."""
        found: list[tuple[object, _Call]] = []
        for inputs in self._inputs():
            call = _Call(self, inputs)
            if call.passes(self.tuning.event.path):
                key = tuple(call.element(one) for one in self.key)
                if UNKNOWN not in key:
                    found.append((key, call))
        return found

    # ── what is varied ──

    @cached_property
    def _asked(self) -> list[Value]:
        return [
            part
            for value in [*self.key, *(one.test for one in self.tuning.event.path), *self._needed]
            for part in with_conditions(value)
        ]

    @cached_property
    def _needed(self) -> list[Value]:
        launches = [launch for launch in self.run.launches if launch.timed == self.tuning.number]
        return [value for launch in launches for value in launch.arguments.positional]

    @cached_property
    def flags(self) -> list[str]:
        """Parameters that are on or off: their default says so, or a test of nothing else."""
        tested: set[str] = set()
        for part in self._asked:
            tests = [literal.test for path, _ in part.alternatives for literal in path] if isinstance(part, Choice) else []
            if isinstance(part, Term) and part.op in ("not", "and", "or"):
                tests += part.args
            tested.update(test.name for one in tests if isinstance(test := bare(one), Term) and test.op == "input")
        asked = {part.name for part in self._asked if isinstance(part, Term) and part.op == "input"}
        for param in self.run.function.params:
            if isinstance(param.default, syntax.Const) and isinstance(param.default.value, bool):
                tested.add(param.name)
        return sorted((tested & asked) - set(self.ranks))

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The number of axes of each tensor that is asked for its shape; where nothing says it, one that keeps the asked ones apart."""
        axes: dict[str, set[int]] = {}
        for part in self._asked:
            if isinstance(part, Term) and part.args and part.name in _SHAPE and _is_input(part.args[0]):
                axes.setdefault(part.args[0].name, set())  # type: ignore[attr-defined]
            if (axis := _axis(part)) is not None:
                axes.setdefault(axis[0], set()).add(axis[1])
        said = self._said_ranks
        return {name: said.get(name, max(2, max(asked, default=-1) + 1 - min([*asked, 0]))) for name, asked in axes.items()}

    @cached_property
    def _said_ranks(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for value, count, _ in self.run.trace.unpacked:
            if isinstance(value, Term) and value.name == "shape" and _is_input(value.args[0]):
                found[value.args[0].name] = count  # type: ignore[attr-defined]
        for literal in self.tuning.event.path:
            test = literal.test
            if literal.holds and isinstance(test, Term) and test.op == "compare" and test.name == "==":
                asked, rank = test.args
                if (
                    isinstance(asked, Term)
                    and asked.name in ("ndim", "dim")
                    and _is_input(asked.args[0])
                    and isinstance(rank, Known)
                ):
                    if isinstance(rank.value, int):
                        found[asked.args[0].name] = rank.value  # type: ignore[attr-defined]
        return found

    def _inputs(self) -> Iterator[Inputs]:
        if any(rank > _MAX_RANK for rank in self.ranks.values()) or len(self.flags) > 6:
            return
        settings = [dict(zip(self.flags, values, strict=True)) for values in product((False, True), repeat=len(self.flags))]
        shapes = list(self._shapes())
        if len(settings) * len(shapes) <= _MAX_CALLS:
            yield from (Inputs(flags, *one) for flags in settings for one in shapes)
        else:
            yield from (Inputs(flags, *shapes[0]) for flags in settings)
            yield from (Inputs(settings[0], *one) for one in shapes[1:_MAX_CALLS])

    def _shapes(self) -> Iterator[tuple[dict[str, tuple[int, ...]], tuple[int, ...]]]:
        """Shapes of all tensors: all sizes alike, then others that keep equal what the path says to be equal."""
        groups = self._equal_axes()
        for sizes in _vectors(len(groups)):
            size = {axis: one for group, one in zip(groups, sizes, strict=True) for axis in group}
            shapes = {name: [size.get((name, at), _SIZES[0]) for at in range(rank)] for name, rank in self.ranks.items()}
            yield {name: tuple(shape) for name, shape in shapes.items()}, sizes

    def _equal_axes(self) -> list[set[Axis]]:
        """The axes that the key or a launch asks for, those together that must be equal."""
        groups = [{(name, at)} for name, rank in self.ranks.items() for at in range(rank)]
        for literal in self.tuning.event.path:
            test = literal.test
            if literal.holds and isinstance(test, Term) and test.op == "compare" and test.name == "==":
                axes = [self._counted(axis) for arg in test.args if (axis := _axis(bare(arg))) is not None]
                joined = [group for group in groups if not group.isdisjoint(axes)]
                if len(axes) == 2 and len(joined) == 2:
                    groups = [group for group in groups if group not in joined] + [joined[0] | joined[1]]
        asked = set(self._axes_asked([part for value in (*self.key, *self._needed) for part in with_conditions(value)]))
        return [group for group in groups if not group.isdisjoint(asked)]

    def _axes_asked(self, parts: list[Value]) -> Iterator[Axis]:
        alone = {id(part.args[0]) for part in parts if isinstance(part, Term) and _axis(part) is not None}
        for part in parts:
            if (axis := _axis(part)) is not None:
                yield self._counted(axis)
            elif (
                isinstance(part, Term) and part.name in _SHAPE and part.args and _is_input(part.args[0]) and id(part) not in alone
            ):
                name: str = part.args[0].name  # type: ignore[attr-defined]
                yield from ((name, at) for at in range(self.ranks[name]))

    def _counted(self, axis: Axis) -> Axis:
        name, at = axis
        return name, at % self.ranks[name] if name in self.ranks else at

    def is_varied(self, value: Value) -> bool:
        """The value is made of what differs between the calls."""
        parts = with_conditions(value)
        return any(
            isinstance(part, Term)
            and (
                (part.op == "input" and part.name in self.flags)
                or (part.name in _SHAPE and bool(part.args) and _is_input(part.args[0]))
            )
            for part in parts
        )


class _Call:
    """Works out values for one call."""

    def __init__(self, calls: Calls, inputs: Inputs) -> None:
        self.calls = calls
        self.inputs = inputs
        self._plain = self._folder(None)

    def _folder(self, config: Config | None) -> Folder:
        folder = Folder(lambda term: self._lookup(folder, term, config))
        return folder

    def passes(self, path: Condition) -> bool:
        """The call surely takes the path, as far as the inputs that are varied decide."""
        truths = ((literal, self._plain.holds((literal,))) for literal in path)
        return all(truth is True or (truth is None and not self.calls.is_varied(literal.test)) for literal, truth in truths)

    def result(self, value: Value) -> object:
        return only(self._plain, value)

    def element(self, value: Value) -> object:
        """An element of the key; what is the same for all calls is told apart by its name."""
        if isinstance(value, Choice) and self.calls.is_varied(value):
            taken = self._taken(value)
            return self.element(taken) if taken is not None else UNKNOWN
        if isinstance(value, Items):
            parts = tuple(map(self.element, value.items))
            return UNKNOWN if UNKNOWN in parts else parts
        return only(self._plain, value) if self.calls.is_varied(value) else canonical(value)

    def results(self, value: Value) -> object:
        """What a value is under each config of the call's; None when that is not known."""
        configs: list[Config | None] = [None]
        if any(isinstance(part, Term) and part.op == "config" for part in with_conditions(value)):
            known = configs_of(self.calls.tuning) or []
            configs = [config for config in known if self._plain.holds(config.path) is True]
        found = tuple([only(self._folder(config), value) for config in configs])
        return None if not found or UNKNOWN in found else found

    def _lookup(self, folder: Folder, term: Term, config: Config | None) -> Value | None:
        if term.op == "input":
            return Known(self.inputs.flags[term.name]) if term.name in self.inputs.flags else None
        if term.op == "field" and config is not None and is_config(term.base, self.calls.tuning):
            return config.fields.get(term.name)
        if (fact := self._fact(term)) is not None:
            return fact
        return self._called(folder, term) if term.op in ("call", "format") else None

    def _fact(self, term: Term) -> Value | None:
        """A size of a tensor, or all of them."""
        axis = _axis(term)
        shape = self.inputs.shapes.get(axis[0] if axis else getattr(term.args[0], "name", "") if term.args else "")
        if shape is None or not (axis or _is_input(term.args[0])):
            return None
        if axis is not None:
            return Known(shape[axis[1]]) if -len(shape) <= axis[1] < len(shape) else None
        if term.name == "shape" or (term.name == "size" and len(term.args) == 1):
            return Items("tuple", [Known(size) for size in shape])
        if term.name in ("numel", "nelement"):
            return Known(math.prod(shape))
        return Known(len(shape)) if term.name in ("ndim", "dim") else None

    def _called(self, folder: Folder, term: Term) -> Value | None:
        name = term.name.rsplit(".", 1)[-1]
        if self.calls.program.role(term.name) == "get-num-sm":
            return Known(_PROCESSORS)
        if term.op == "format" or name in _TEXTS:
            parts = [self.element(arg) for arg in term.args]
            return None if UNKNOWN in parts else Known((term.name, *parts))
        if name == "len" and term.args:
            held = self._taken(term.args[0])
            return Known(len(held.items)) if isinstance(held, Items) and not held.open and not any(held.conditions) else None
        numbers = [only(folder, arg) for arg in term.args] if name in ("next_power_of_2", "cdiv") else []
        if not all(isinstance(number, int) and number > 0 for number in numbers):
            return None
        match numbers:
            case [int(number)]:
                return Known(1 << (number - 1).bit_length())
            case [int(number), int(divisor)]:
                return Known(-(-number // divisor))
        return None

    def _taken(self, value: Value) -> Value | None:
        """The alternative that the call takes."""
        taken = [one for path, one in alternatives(value) if self._plain.holds(path) is not False]
        return taken[0] if len(taken) == 1 else None


def only(folder: Folder, value: Value) -> object:
    """The one result of a value, else UNKNOWN."""
    found = folder.outcomes(value)
    result = found[0][1] if len(found) == 1 and not found[0][0] else UNKNOWN
    try:
        hash(result)
    except TypeError:
        return UNKNOWN
    return result


def _is_input(value: Value) -> bool:
    return isinstance(value, Term) and value.op == "input"


def _axis(value: Value) -> Axis | None:
    """("x", 0) for ``x.shape[0]`` and ``x.size(0)``."""
    if not isinstance(value, Term) or len(value.args) != 2 or not isinstance(value.args[1], Known):
        return None
    base, at = value.args[0], value.args[1].value
    if value.op == "index" and isinstance(base, Term) and base.op == "attr" and base.name == "shape":
        base = base.args[0]
    elif value.op != "method" or value.name != "size":
        return None
    return (base.name, at) if isinstance(base, Term) and base.op == "input" and isinstance(at, int) else None


def _vectors(count: int) -> Iterator[tuple[int, ...]]:
    """Sizes for so many axes, all alike first."""
    if len(_SIZES) ** count <= _MAX_CALLS // 4:
        yield from product(_SIZES, repeat=count)
        return
    yield (_SIZES[0],) * count
    for one, other in product(range(count), repeat=2):
        yield tuple([_SIZES[2] if at == one else _SIZES[1] if at == other else _SIZES[0] for at in range(count)])
