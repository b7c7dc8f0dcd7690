"""Conversions and copies that are known to leave a tensor as it is: of the same dtype, on the same device, contiguous already."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.unit.machine.paths import implies
from cutile_lint.unit.machine.values import SETS, Condition, Items, Known, Term, Value
from cutile_lint.unit.timed import torch_api as api
from cutile_lint.unit.timed.region import Occurrence, TimedWork
from cutile_lint.unit.timed.tensors import Tensors

_CONVERSIONS = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"}
#: Conversions of what they are given first.
_OF_ANYTHING = ("torch.as_tensor", "torch.asarray")
#: Names of dtypes by other names of theirs.
LONG_NAMES = {f"torch.{short}": f"torch.{long}" for short, long in _CONVERSIONS.items()}
#: Comparisons of a number with one that leave 1 for it when it is not 0: operator, constant, whether they hold.
_SINGLE = frozenset([("==", 1, True), (">", 1, False), ("<=", 1, True), ("<", 2, True), (">=", 2, False)])
_SAME_LAYOUT = frozenset(["detach", "detach_", "alias", "requires_grad_", "clone", "data"])


def needless(found: TimedWork) -> str:
    """What the work is called on in every run, in words ("a contiguous tensor", "a tensor of that type"); "" when it may copy."""
    answers = {_is_already(occurrence) for occurrence in found.occurrences}
    return answers.pop() if len(answers) == 1 else ""


def is_contiguous(occurrence: Occurrence) -> bool:
    """The tensor that is worked on is contiguous, by how it was made or by a check on the way."""
    tensor = occurrence.work.operand
    if tensor is None or occurrence.run.tensors.contiguous(tensor) is True:
        return tensor is not None
    path = occurrence.work.event.path
    while not implies(path, Term("method", "is_contiguous", (tensor,))):
        if not isinstance(tensor, Term) or tensor.op not in ("method", "attr") or tensor.name not in _SAME_LAYOUT:
            return False
        tensor = tensor.args[0]
    return True


def _is_already(occurrence: Occurrence) -> str:
    given = occurrence.work.event.arguments
    if occurrence.work.name == ".contiguous()":
        plain = given is not None and not given.positional and not given.keywords
        return "a contiguous tensor" if plain and is_contiguous(occurrence) else ""
    wanted = _wanted(occurrence)
    equal = _Equal(occurrence.run.tensors, occurrence.work.event.path)
    if not wanted or not all(equal.are(name, occurrence.work.operand, value) for name, value in wanted):
        return ""
    names = {name for name, _ in wanted}
    return "a tensor" + " of that type" * ("dtype" in names) + " on that device" * ("device" in names)


def _wanted(occurrence: Occurrence) -> list[tuple[str, Value]]:
    """What a conversion asks for: ("dtype" or "device", value); nothing when that is not known, or when it copies in any case."""
    given = occurrence.work.event.arguments
    verb = occurrence.work.name.strip(".()")
    if given is None:
        return []
    if verb in _CONVERSIONS:
        return [("dtype", Term("external", f"torch.{_CONVERSIONS[verb]}"))] if not given.keywords else []
    if verb not in ("to", "type", "type_as", *_OF_ANYTHING):
        return []
    found: list[tuple[str, Value]] = []
    for name, value in [*((None, value) for value in given.positional[verb in _OF_ANYTHING :]), *given.keywords.items()]:
        if name in ("non_blocking", "copy") or (name is None and isinstance(value, Known) and isinstance(value.value, bool)):
            if name != "non_blocking" and not (isinstance(value, Known) and value.value is False):
                return []
        elif (kinds := _kinds(occurrence.run.tensors, name, value)) is not None:
            found += kinds
        else:
            return []
    return found


def _kinds(tensors: Tensors, name: str | None, value: Value) -> list[tuple[str, Value]] | None:
    if isinstance(value, Term) and value.op == "attr" and value.name in ("dtype", "device"):
        return [(value.name, value)]
    if isinstance(value, Term) and value.op == "external" and value.name.startswith("torch."):
        return [("dtype", value)]
    if name in (None, "other") and tensors.is_tensor(value):
        return [(kind, Term("attr", kind, (value,))) for kind in ("dtype", "device")]
    return None


def _members(value: Value) -> list[Value]:
    """The items of the set whose ``len`` a value is."""
    items = value.args[0] if isinstance(value, Term) and value.op == "call" and value.name == "len" and value.args else None
    return items.items if isinstance(items, Items) and items.kind in SETS else []


def _made_with(tensor: Value, name: str) -> Value | None:
    """The dtype or device that an allocation was asked for; of ``torch.empty_like(x)`` and ``x.new_empty(…)`` that of ``x``."""
    if not isinstance(tensor, Term) or tensor.op not in ("call", "method"):
        return None
    last = tensor.name.rsplit(".", 1)[-1]
    if last not in api.ALLOCATIONS | api.FILLS | api.ALLOCATION_METHODS | api.FILL_METHODS:
        return None
    if name in tensor.keywords:
        return tensor.keywords[name]
    alike = last in api.LIKE or tensor.op == "method"
    return Term("attr", name, tensor.args[:1]) if alike and tensor.args else None


class _Equal:
    """Dtypes and devices that the checks on a path say are the same."""

    def __init__(self, tensors: Tensors, path: Condition) -> None:
        self.tensors = tensors
        self.path = path

    def are(self, name: str, tensor: Value | None, value: Value) -> bool:
        """The ``name`` (dtype, device) of a tensor is the value."""
        start = self._key(Term("attr", name, (tensor,))) if tensor is not None else None
        end = self._key(value)
        if start is None or end is None:
            return False
        reached = {start}
        groups = [group for group in self._groups() if len(group) > 1]
        while end not in reached:
            more = [group for group in groups if not reached.isdisjoint(group) and not group <= reached]
            if not more:
                return False
            reached.update(*more)
        return True

    def _groups(self) -> Iterator[set[object]]:
        for literal in self.path:
            test = literal.test
            if not isinstance(test, Term) or test.op != "compare":
                continue
            if literal.holds and test.name in ("==", "is"):
                yield self._keys(test.args)
            for one, other in (test.args, test.args[::-1]) if test.name == "==" else (test.args,):
                if isinstance(other, Known) and (test.name, other.value, literal.holds) in _SINGLE:
                    yield self._keys(_members(one))

    def _keys(self, values: tuple[Value, ...] | list[Value]) -> set[object]:
        return {key for value in values if (key := self._key(value)) is not None}

    def _key(self, value: Value) -> object:
        """What stands for a dtype or device: the tensor that has it, or its name."""
        if isinstance(value, Term) and value.op == "external" and value.name.startswith("torch."):
            return LONG_NAMES.get(value.name, value.name)
        if not isinstance(value, Term) or value.op != "attr" or value.name not in ("dtype", "device"):
            return None
        owner = self._owner(value.args[0])
        made = _made_with(owner, value.name) if owner is not None else None
        return self._key(made) if made is not None else (value.name, owner.key()) if owner is not None else None

    def _owner(self, value: Value) -> Value | None:
        """The one tensor that a value has its dtype and device from, through views and copies."""
        found: dict[object, Value] = {}
        left = [value]
        while left:
            for root in self.tensors.roots(left.pop()):
                if isinstance(root, Term) and root.op == "method" and root.name in ("contiguous", "clone"):
                    left.append(root.args[0])
                else:
                    found[root.key()] = root
        return next(iter(found.values())) if len(found) == 1 else None
