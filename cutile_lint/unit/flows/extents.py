"""Sizes of tensors on the Python side, in one form each: two sizes with equal keys are equal."""

from __future__ import annotations

from cutile_lint.unit.machine.trace import Trace
from cutile_lint.unit.machine.values import Choice, Condition, Items, Known, Term, Value, alternatives

_SAME_SHAPE = frozenset(
    "contiguous detach detach_ clone to float half bfloat16 double requires_grad_ zero_ fill_ copy_ cuda type_as".split()
)
_ALLOCATIONS = frozenset(["empty", "zeros", "ones", "full", "rand", "randn"])
_NEW = frozenset(["new_empty", "new_zeros", "new_ones", "new_full"])
_RESHAPES = frozenset(["view", "reshape"])

#: Key of a size: hashable; equal keys, equal sizes.
Key = tuple


def size(value: Value) -> Key:
    """The key of an integer that may be a tensor's size."""
    if isinstance(value, Choice):
        options = [(frozenset(literal.key() for literal in path), size(inner)) for path, inner in alternatives(value)]
        return options[0][1] if len({key for _, key in options}) == 1 else ("choice", tuple(options))
    if isinstance(value, Known):
        return ("known", value.value)
    if isinstance(value, Term):
        if value.op == "call" and value.name == "int" and len(value.args) == 1:
            return size(value.args[0])
        if value.op == "index" and isinstance(value.args[1], Known) and isinstance(value.args[1].value, int):
            if (tensor := _shape_of(value.args[0])) is not None:
                return dimension(tensor, value.args[1].value)
        if value.op == "method" and value.name in ("numel", "nelement"):
            return count(value.args[0])
        if value.op == "call" and value.name == "torch.numel" and value.args:
            return count(value.args[0])
        if value.op in ("binary", "call"):
            return (value.op, value.name, *(size(arg) for arg in value.args))
    return ("value", value.key())


def _shape_of(value: Value) -> Value | None:
    """``t`` of ``t.shape``."""
    if isinstance(value, Term) and value.op == "attr" and value.name == "shape":
        return value.args[0]
    return None


def dimensions(tensor: Value) -> list[Key] | None:
    """The sizes of all axes, where the rank is known."""
    if isinstance(tensor, Choice):
        found = [dimensions(inner) for _, inner in tensor.alternatives]
        return found[0] if found and all(one == found[0] for one in found) else None
    if not isinstance(tensor, Term):
        return None
    last = tensor.name.rsplit(".", 1)[-1]
    if tensor.op == "call" and tensor.name.startswith("torch."):
        if last in _ALLOCATIONS:
            return _listed(_sizes(tensor, 0))
        return dimensions(tensor.args[0]) if last.endswith("_like") and tensor.args else None
    if tensor.op != "method":
        return None
    if last in _SAME_SHAPE:
        return dimensions(tensor.args[0])
    if last in _NEW:
        return _listed(_sizes(tensor, 1))
    if last in _RESHAPES:
        return _reshaped(tensor)
    if last in ("flatten", "ravel") and len(tensor.args) == 1:
        return [count(tensor.args[0])]
    return _rearranged(tensor, last)


def _rearranged(tensor: Term, name: str) -> list[Key] | None:
    """Sizes after ``transpose``, ``permute``, ``t``, ``unsqueeze``."""
    if name not in ("transpose", "swapaxes", "swapdims", "permute", "t", "unsqueeze"):
        return None
    given = dimensions(tensor.args[0])
    args = tensor.args[1:]
    if len(args) == 1 and isinstance(args[0], Items):
        args = tuple(args[0].items)
    axes = [arg.value for arg in args if isinstance(arg, Known) and isinstance(arg.value, int)]
    if given is None or len(axes) != len(args):
        return None
    if name == "t":
        return given[::-1]
    if name == "unsqueeze" and len(axes) == 1:
        at = axes[0] if axes[0] >= 0 else axes[0] + len(given) + 1
        return [*given[:at], ("known", 1), *given[at:]]
    if any(not -len(given) <= axis < len(given) for axis in axes):
        return None
    if name == "permute":
        return [given[axis] for axis in axes] if len(axes) == len(given) else None
    if len(axes) != 2:
        return None
    given = list(given)
    given[axes[0]], given[axes[1]] = given[axes[1]], given[axes[0]]
    return given


def _sizes(call: Term, start: int) -> Value | None:
    """The size argument of a creation call: a sequence, or integers in a row."""
    given = call.keywords.get("size")
    if given is not None:
        return given
    args = call.args[start:]
    if len(args) == 1 or (args and isinstance(args[0], Items)):
        return args[0]
    return Items("tuple", list(args)) if args else None


def _listed(value: Value | None) -> list[Key] | None:
    if isinstance(value, Items) and not value.open and not any(value.conditions):
        return [size(item) for item in value.items]
    if value is not None and (tensor := _shape_of(value)) is not None:
        return dimensions(tensor)
    if isinstance(value, (Known, Term)) and not (isinstance(value, Term) and value.op in ("attr", "binary")):
        return [size(value)]
    return None


def _reshaped(tensor: Term) -> list[Key] | None:
    listed = _listed(_sizes(tensor, 1))
    if listed is None:
        return None
    rest = ("known", -1)
    if listed == [rest]:
        return [count(tensor.args[0])]
    others = tuple(key for key in listed if key != rest)
    return [("rest", count(tensor.args[0]), others) if key == rest else key for key in listed]


def dimension(tensor: Value, axis: int) -> Key:
    """The key of one axis' size."""
    known = dimensions(tensor)
    if known is not None and -len(known) <= axis < len(known):
        return known[axis]
    if isinstance(tensor, Choice):
        keys = {dimension(inner, axis) for _, inner in tensor.alternatives}
        if len(keys) == 1:
            return keys.pop()
    if isinstance(tensor, Term):
        last = tensor.name.rsplit(".", 1)[-1]
        if tensor.op == "method" and last in _SAME_SHAPE:
            return dimension(tensor.args[0], axis)
        if tensor.op == "call" and tensor.name.startswith("torch.") and tensor.args:
            if last.endswith("_like"):
                return dimension(tensor.args[0], axis)
        if (shape := _shape_given(tensor, last)) is not None:
            return dimension(shape, axis)
    return ("dim", tensor.key(), axis)


def shape_owner(tensor: Value) -> object:
    """Key of the tensor whose shape a tensor has."""
    if isinstance(tensor, Choice):
        keys = {shape_owner(inner) for _, inner in tensor.alternatives}
        return keys.pop() if len(keys) == 1 else tensor.key()
    if isinstance(tensor, Term) and tensor.args:
        last = tensor.name.rsplit(".", 1)[-1]
        if (tensor.op == "method" and last in _SAME_SHAPE) or (tensor.name.startswith("torch.") and last.endswith("_like")):
            return shape_owner(tensor.args[0])
        if (shape := _shape_given(tensor, last)) is not None:
            return shape_owner(shape)
    return tensor.key()


def rank(tensor: Value, trace: Trace, path: Condition) -> int:
    """The number of axes, as the tensor is made, or as the wrapper takes its shape apart or tests it on a path; 0: not known."""
    known = dimensions(tensor)
    if known is not None:
        return len(known)
    owner, facts = shape_owner(tensor), {literal.key() for literal in path}
    for value, length, under in trace.unpacked:
        shapes = [_shape_of(one) for _, one in alternatives(value)]
        if all(shape is not None and shape_owner(shape) == owner for shape in shapes):
            if all(literal.key() in facts for literal in under):
                return length
    for at, literal in enumerate(path):
        test = literal.test
        if not literal.holds or not isinstance(test, Term) or test.op != "compare" or test.name != "==":
            continue
        for one, other in (test.args, test.args[::-1]):
            for _, subject in alternatives(one):
                asked = _ranked(subject)
                if (
                    asked is not None
                    and shape_owner(asked) == owner
                    and isinstance(other, Known)
                    and isinstance(other.value, int)
                ):
                    return other.value
                shape = _shape_of(_sequence(subject))
                if shape is not None and shape_owner(shape) == owner and (found := _length(other, trace, path[:at])):
                    return found
    return 0


def _sequence(value: Value) -> Value:
    """``x`` of ``tuple(x)``, ``list(x)``, ``torch.Size(x)``."""
    if isinstance(value, Term) and value.op == "call" and value.name in ("tuple", "list", "torch.Size") and len(value.args) == 1:
        return value.args[0]
    return value


def _length(value: Value, trace: Trace, path: Condition) -> int:
    """How many sizes a shape has that is written out (``(m, n)``), or is a tensor's; 0: not known."""
    value = _sequence(value)
    if isinstance(value, Items):
        return 0 if value.open or any(value.conditions) else len(value.items)
    shape = _shape_of(value)
    return rank(shape, trace, path) if shape is not None else 0


def _ranked(value: Value) -> Value | None:
    """``t`` of ``t.ndim``, ``t.dim()``, ``len(t.shape)``."""
    if isinstance(value, Term) and value.args:
        if (value.op == "attr" and value.name == "ndim") or (value.op == "method" and value.name in ("dim", "ndimension")):
            return value.args[0]
        if value.op == "call" and value.name == "len":
            return _shape_of(value.args[0])
    return None


def _shape_given(tensor: Term, name: str) -> Value | None:
    """``x`` of ``torch.empty(x.shape)`` and ``y.new_empty(x.shape)``."""
    given = None
    if tensor.op == "call" and tensor.name.startswith("torch.") and name in _ALLOCATIONS:
        given = _sizes(tensor, 0)
    elif tensor.op == "method" and name in _NEW:
        given = _sizes(tensor, 1)
    return _shape_of(given) if given is not None else None


def same_sizes(first: Value, second: Value) -> bool:
    """Two tensors are known to have the same sizes, axis by axis."""
    one, other = dimensions(first), dimensions(second)
    if one is not None and other is not None:
        return one == other
    if one is None and other is None:
        return count(first) == count(second)
    known, tensor = (one, second) if one is not None else (other, first)
    return bool(known) and all(key == dimension(tensor, axis) for axis, key in enumerate(known or []))


def count(tensor: Value) -> Key:
    """The key of the number of elements."""
    if isinstance(tensor, Choice):
        keys = {count(inner) for _, inner in tensor.alternatives}
        return keys.pop() if len(keys) == 1 else ("numel", tensor.key())
    if isinstance(tensor, Term):
        last = tensor.name.rsplit(".", 1)[-1]
        if tensor.op == "method" and (
            last in _SAME_SHAPE or last in _RESHAPES or last in ("flatten", "ravel", "unsqueeze", "squeeze", "t")
        ):
            return count(tensor.args[0])
        if tensor.op == "call" and tensor.name.startswith("torch.") and last.endswith("_like") and tensor.args:
            return count(tensor.args[0])
        known = dimensions(tensor)
        if known is not None:
            return known[0] if len(known) == 1 else ("product", tuple(sorted(known, key=repr)))
        if (shape := _shape_given(tensor, last)) is not None:
            return count(shape)
    return ("numel", tensor.key())
