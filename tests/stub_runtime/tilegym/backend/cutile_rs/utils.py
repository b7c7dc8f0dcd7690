"""The binder, the descriptor and the small helpers of the real runtime; calls go to the recorder."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from ... import recorder

MAX_DIMS = 5
DTYPE_CODES = {
    "torch.float32": 0,
    "torch.float16": 1,
    "torch.bfloat16": 2,
    "torch.int32": 3,
    "torch.int64": 4,
    "torch.float8_e5m2": 5,
    "torch.uint8": 6,
    "torch.float8_e4m3fn": 7,
}
_MESSAGES = {
    -2: "unsupported dtype",
    -3: "kernel launch failed",
    -4: "device init failed",
    -5: "null tensor pointer",
    -6: "invalid arguments",
}


@dataclass
class TensorDesc:
    """What crosses the boundary; the tensor rides along for the implementations of tests."""

    tensor: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: int


@dataclass(frozen=True)
class _Parameter:
    type: str
    name: str

    def check(self, symbol: str, value: Any) -> None:
        if "TensorDesc" in self.type:
            fits = isinstance(value, TensorDesc)
        elif self.type in ("float", "double"):
            fits = isinstance(value, (int, float))
        else:
            fits = isinstance(value, int)
        if not fits:
            raise TypeError(f"{symbol}: {self.name} is {self.type}, got {type(value).__name__}")


class _Library:
    """Calls of the declared symbols, checked against their declaration as cffi would."""

    def __init__(self, declarations: dict[str, list[_Parameter]]) -> None:
        self._declarations = declarations

    def __getattr__(self, symbol: str):
        if symbol not in self._declarations:
            raise AttributeError(f"undefined symbol {symbol}")
        parameters = self._declarations[symbol]

        def call(*arguments: Any) -> int:
            if len(arguments) != len(parameters):
                raise TypeError(f"{symbol}: {len(parameters)} arguments declared, {len(arguments)} given")
            for parameter, value in zip(parameters, arguments, strict=True):
                parameter.check(symbol, value)
            plain = (value.tensor if isinstance(value, TensorDesc) else value for value in arguments)
            return recorder.launch(symbol, tuple(plain))

        return call


class _Ffi:
    """Stands for the cffi handle: wrappers only hand it on."""


@functools.lru_cache(maxsize=64)
def _declarations(cdef: str) -> dict[str, list[_Parameter]]:
    found = {}
    for symbol, parameters in re.findall(r"(\w+)\s*\(([^)]*)\)\s*;", cdef):
        found[symbol] = [
            _Parameter(*re.fullmatch(r"(.*?)(\w+)", part.strip(), re.DOTALL).groups())  # type: ignore[union-attr]
            for part in parameters.split(",")
        ]
        found[symbol] = [_Parameter(parameter.type.strip(), parameter.name) for parameter in found[symbol]]
    return found


def bind_kernel_function_cffi(
    kernel: str,
    cdef: str,
    crate_dir: str | None = None,
    src_roots: str | tuple[str, ...] | None = None,
    so_name: str = "libcutile_kernels.so",
) -> tuple[_Ffi, _Library]:
    return _Ffi(), _Library(_declarations(cdef))


def make_tensor_desc(ffi: _Ffi, t: Any) -> TensorDesc:
    """Describe a tensor on any device.

    Raises:
        ValueError: more than five dimensions.
        NotImplementedError: a dtype without a code.
    """
    if t.dim() > MAX_DIMS:
        raise ValueError(f"TensorDesc supports <= {MAX_DIMS} dims, got {t.dim()}")
    code = DTYPE_CODES.get(str(t.dtype))
    if code is None:
        raise NotImplementedError(f"dtype {t.dtype} not supported")
    return TensorDesc(t, tuple(int(n) for n in t.shape), tuple(int(n) for n in t.stride()), code)


def check_rc(rc: int, fn_name: str) -> None:
    if rc != 0:
        raise RuntimeError(f"{fn_name} failed (rc={rc}): {_MESSAGES.get(rc, 'unknown error')}")


def get_num_sm() -> int:
    return 148


def next_power_of_2(n: int) -> int:
    if n < 1:
        raise ValueError(f"next_power_of_2: n must be >= 1, got {n}")
    return 1 << (n - 1).bit_length()
