"""The type that a value certainly has on the host: what ``isinstance`` and ``hasattr`` say of it."""

from __future__ import annotations

from cutile_lint.unit.machine.python_methods import METADATA_METHODS
from cutile_lint.unit.machine.values import Choice, Entries, Items, Known, Term, Value, alternatives

#: facts of a tensor
_FACTS = {
    "shape": "torch.Size",
    "dtype": "torch.dtype",
    "device": "torch.device",
    "layout": "torch.layout",
    "ndim": "int",
    "itemsize": "int",
    "is_cuda": "bool",
    "requires_grad": "bool",
}
_MAKERS = frozenset(["int", "float", "bool", "str", "len"])
_BUILTIN = {one.__name__: one for one in (int, float, bool, str, bytes, tuple, list, dict, set, frozenset, complex, type(None))}
#: types that have no common subclass with those of :data:`_FACTS` and :data:`_BUILTIN` but for what :func:`_bases` says
_TYPES = frozenset([*_BUILTIN, *_FACTS.values(), "torch.Tensor", "torch.nn.Parameter"])
#: names that tensors have, and no value of a type here
TENSOR_NAMES = frozenset(
    ["shape", "dtype", "device", "is_cuda", "requires_grad", "data_ptr", "stride", "contiguous", "is_contiguous"]
)


def type_of(value: Value) -> str | None:
    """The name of the type; None where that is not known."""
    if isinstance(value, Known):
        return type(value.value).__name__
    if isinstance(value, Items):
        return value.kind if value.kind in _BUILTIN else None
    if isinstance(value, Entries):
        return "dict"
    return _of_term(value) if isinstance(value, Term) else None


def _of_term(value: Term) -> str | None:
    if value.op == "attr":
        return _FACTS.get(value.name)
    if value.op == "index" and type_of(value.args[0]) == "torch.Size":
        part = isinstance(value.args[1], Term) and value.args[1].op == "slice"
        return "torch.Size" if part else "int"
    if value.op == "method":
        return "int" if value.name in METADATA_METHODS else None
    if value.op == "call":
        return "int" if value.name == "len" else value.name if value.name in _MAKERS else None
    if value.op == "not":
        return "bool"
    if value.op in ("binary", "unary") and all(type_of(arg) in ("int", "bool") for arg in value.args):
        return "float" if value.name == "/" else "int"
    return None


def is_instance(value: Value, kinds: Value) -> bool | None:
    """``isinstance(value, kinds)``."""
    if isinstance(value, Choice):
        answers = {is_instance(one, kinds) for _, one in alternatives(value)}
        return answers.pop() if len(answers) == 1 else None
    own = type_of(value)
    if own is None:
        return None
    names = names_of(kinds)
    if not _bases(own).isdisjoint(names):
        return True
    return False if _TYPES.issuperset(names) else None


def names_of(kinds: Value) -> list[str]:
    """The names of the types in the second argument of ``isinstance``; "" for one that has none."""
    if isinstance(kinds, Items):
        return [name for kind in kinds.items for name in names_of(kind)]
    if isinstance(kinds, Term) and kinds.op == "binary" and kinds.name == "|":
        return [name for kind in kinds.args for name in names_of(kind)]
    return [kinds.name.removeprefix("builtins.") if isinstance(kinds, Term) and kinds.op == "external" else ""]


def _bases(name: str) -> frozenset[str]:
    return frozenset({"bool": ("bool", "int"), "torch.Size": ("torch.Size", "tuple")}.get(name, (name,)))


def has_attribute(value: Value, name: str) -> bool | None:
    """``hasattr(value, name)``, for values of Python's own types and for names that only tensors have."""
    own = type_of(value)
    if own in _BUILTIN:
        return hasattr(_BUILTIN[own], name)
    return False if own is not None and name in TENSOR_NAMES else None
