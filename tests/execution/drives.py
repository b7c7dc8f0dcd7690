"""Arguments for ops: sizes, layouts, dtypes, flags, and which inputs require grad."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from tests.execution.device import on_device

#: name of a tensor parameter -> its shape for given sizes
Shapes = Mapping[str, Callable[[Mapping[str, int]], tuple[int, ...]]]


@dataclass(frozen=True)
class Drive:
    """One way to call an op. ``grad``: the inputs that require grad; ``strided``: they are not contiguous."""

    name: str
    parameters: tuple[str, ...]
    shapes: Mapping[str, tuple[int, ...]]
    dtype: torch.dtype = torch.float32
    strided: bool = False
    grad: frozenset[str] = frozenset()
    flags: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    lists: frozenset[str] = frozenset()
    #: the library's return code for every launch
    code: int = 0

    @property
    def tensors(self) -> tuple[str, ...]:
        return tuple(name for name in self.parameters if name in self.shapes)

    @property
    def is_usual(self) -> bool:
        """Launches happen and work, and no input requires grad."""
        return not (self.is_empty or self.grad or self.code)

    @property
    def is_empty(self) -> bool:
        return any(0 in shape for shape in self.shapes.values())

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """New tensors, the same values each time."""
        generator = torch.Generator().manual_seed(7)
        given = []
        for name in self.parameters:
            if name in self.fixed:
                given.append(self.fixed[name])
                continue
            made = self._tensor(name, generator)
            given.append([made, self._tensor(name, generator)] if name in self.lists else made)
        return given, {
            name: on_device(value.clone()) if isinstance(value, torch.Tensor) else value for name, value in self.flags.items()
        }

    def _tensor(self, name: str, generator: torch.Generator) -> torch.Tensor:
        shape = self.shapes[name]
        if self.strided and len(shape) > 1:
            values = torch.randn(*shape[:-2], shape[-1], shape[-2], generator=generator).mT
        elif self.strided:
            values = torch.randn(2 * shape[0], generator=generator)[::2]
        else:
            values = torch.randn(shape, generator=generator)
        return on_device(_laid_out(values, self.dtype), requires_grad=name in self.grad)


def _laid_out(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The values in another dtype, the strides as they are."""
    out = torch.empty_strided(values.shape, values.stride(), dtype=dtype)
    return out.copy_(values)


@dataclass(frozen=True)
class OpInputs:
    """How an op is called: shapes from sizes, the sizes to try, the flags that are part of its contract."""

    shapes: Shapes
    sizes: tuple[Mapping[str, int], ...]
    empty: Mapping[str, int]
    flags: tuple[Mapping[str, Any], ...] = ({},)
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float16)
    lists: frozenset[str] = frozenset()


def _matrix_or_vector(sizes: Mapping[str, int]) -> tuple[int, ...]:
    return (sizes["m"], sizes["n"]) if "m" in sizes else (sizes["n"],)


_ROWS: Shapes = {
    "x": lambda s: (s["m"], s["n"]),
    "scale": lambda s: (s["m"],),
    "other": lambda s: (s["m"], s["n"]),
    "more": lambda s: (s["m"], s["n"]),
    "total": lambda s: (s["m"], s["n"]),
    "bias": lambda s: (s["m"],),
    "scales": lambda s: (s["m"],),
}
_MATRICES: Shapes = {"a": lambda s: (s["m"], s["k"]), "b": lambda s: (s["k"], s["n"])}

ROW_SCALE = OpInputs(
    _ROWS,
    ({"m": 33, "n": 257}, {"m": 1, "n": 256}, {"m": 3, "n": 1}),
    {"m": 0, "n": 4},
    lists=frozenset(["scales"]),
)
GEMM = OpInputs(
    _MATRICES,
    ({"m": 260, "k": 8, "n": 130}, {"m": 16, "k": 8, "n": 8}),
    {"m": 0, "k": 4, "n": 4},
    ({}, {"static_persistent": True}),
)
BATCHED = OpInputs(
    {"a": lambda s: (2, s["m"], s["m"]), "b": lambda s: (2, s["m"], s["m"])},
    ({"m": 130}, {"m": 8}),
    {"m": 0},
    ({}, {"static_persistent": False}, {"transpose_a": True}, {"transpose_b": True}),
)
INPUTS = {
    "row_scale": ROW_SCALE,
    "row_scale_twin": ROW_SCALE,
    "gemm": GEMM,
    "batched": BATCHED,
    "batched_product": BATCHED,
    "gemm_rows": OpInputs(
        {"x": lambda s: (2, s["m"], 24), "w": lambda s: (24, s["n"])}, ({"m": 5, "n": 12},), {"m": 0, "n": 4},
        ({}, {"static_persistent": True}, {"alpha": 0.5}),
    ),
    "gemm_halves": OpInputs({"x": lambda s: (s["m"], 24), "w": lambda s: (24, s["n"])}, ({"m": 5, "n": 12},), {"m": 0, "n": 4}),
    "grouped_gemm": OpInputs(
        {"group_a": lambda s: (s["m"], 24), "group_b": lambda s: (24, s["n"])}, ({"m": 5, "n": 12},), {"m": 0, "n": 4},
        lists=frozenset(["group_a", "group_b"]),
    ),
    "splitk_product": OpInputs(
        _MATRICES, ({"m": 8, "k": 512, "n": 12}, {"m": 8, "k": 40, "n": 12}), {"m": 0, "k": 4, "n": 4},
        dtypes=(torch.float16, torch.bfloat16),
    ),
    "scale_residual": OpInputs(
        {"x": _matrix_or_vector, "residual": _matrix_or_vector},
        ({"m": 4, "n": 6}, {"m": 1, "n": 1030}, {"n": 7}), {"m": 0, "n": 4}, ({}, {"alpha": 0.25}),
    ),
    "fused_rms_norm": OpInputs(
        {"x": lambda s: (2, s["m"], s["n"]), "residual": lambda s: (2, s["m"], s["n"]), "weight": lambda s: (s["n"],)},
        ({"m": 4, "n": 6}, {"m": 1, "n": 40}), {"m": 0, "n": 4},
    ),
}  # fmt: skip


def drives(
    op: str,
    function: Callable,
    more: Mapping[str, Any] | None = None,
    always: Mapping[str, Any] | None = None,
    small: bool = False,
) -> list[Drive]:
    """The calls of an op: sizes, layouts, dtypes, contract flags; nothing, each and all inputs requiring grad; launches that fail.

    ``more``: flags that only one call gets (a case is about them); ``always``: flags that every call gets;
    ``small``: only the smallest size.
    """
    inputs = INPUTS[op]
    found = []
    for parameters, fixed in _parameters(function, inputs):

        def drive(name: str, sizes: Mapping[str, int], parameters=parameters, fixed=fixed, **more: Any) -> Drive:
            shapes = {key: inputs.shapes[key](sizes) for key in parameters if key in inputs.shapes}
            return Drive(name, parameters, shapes, fixed=fixed, lists=inputs.lists & set(parameters), **more)

        first, *rest = inputs.sizes[-1:] if small else inputs.sizes
        plain = drive("plain", first, dtype=inputs.dtypes[0], flags=inputs.flags[0])
        found += [plain, replace(plain, name="strided", strided=True), replace(plain, name="half", dtype=inputs.dtypes[1])]
        found += [drive(f"size {sizes}", sizes, dtype=inputs.dtypes[0], flags=inputs.flags[0]) for sizes in rest]
        found.append(replace(found[-1], name="strided, other sizes", strided=True))
        found += [replace(plain, name=f"flags {flags}", flags=flags) for flags in inputs.flags[1:]]
        if more:
            found.append(replace(plain, name="with more", flags=more))
        found.append(replace(plain, name="launches fail", code=-3))
        found.append(drive("empty", inputs.empty, dtype=inputs.dtypes[0], flags=inputs.flags[0]))
        found += [replace(plain, name=f"grad {name}", grad=frozenset([name])) for name in plain.tensors]
        found.append(replace(plain, name="grad all", grad=frozenset(plain.tensors)))
    return [replace(one, flags={**(always or {}), **one.flags}) for one in found]


def _parameters(function: Callable, inputs: OpInputs) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Names of the positional parameters that are given, and values for those that are no tensors.

    Optional tensors are given and left out; a wrapper that takes ``*args`` gets the op's tensors in order.
    """
    signature = inspect.signature(function)
    named = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not any(parameter.name in inputs.shapes for parameter in named):
        yield tuple(inputs.shapes)[:2], {}
        return
    required = [parameter for parameter in named if parameter.default is parameter.empty]
    fixed = {parameter.name: 0.5 for parameter in required if parameter.name not in inputs.shapes}
    yield tuple(parameter.name for parameter in required), fixed
    optional = [parameter for parameter in named if parameter.default is None and parameter.name in inputs.shapes]
    if optional:
        yield tuple(parameter.name for parameter in [*required, *optional]), fixed
