"""Tensors without values: shapes, strides, dtypes and autograd flags, as far as the examples' wrappers look at them.

Every operation that would run on the device is counted in ``torch.device_work``, a list of names.
"""

from __future__ import annotations

from types import SimpleNamespace

device_work: list[str] = []


class dtype:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


float32, float16, bfloat16, int32 = dtype("float32"), dtype("float16"), dtype("bfloat16"), dtype("int32")


class device:
    def __init__(self, name: str) -> None:
        self.type, _, index = str(name).partition(":")
        self.index = int(index) if index else None

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


class Tensor:
    is_cuda = True

    def __init__(self, shape, dtype=float32, device="cuda:0", strides=None, requires_grad=False) -> None:
        self.shape = tuple(int(n) for n in shape)
        self.dtype = dtype
        self.device = device if not isinstance(device, str) else globals()["device"](device)
        self.strides = tuple(strides) if strides is not None else _dense(self.shape)
        self.requires_grad = requires_grad

    def _like(self, shape=None, strides=None, grad=True) -> Tensor:
        shape = self.shape if shape is None else shape
        return Tensor(shape, self.dtype, self.device, strides, self.requires_grad and grad)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def dim(self) -> int:
        return len(self.shape)

    def stride(self, axis: int | None = None):
        return self.strides if axis is None else self.strides[axis]

    def numel(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def data_ptr(self) -> int:
        return id(self)

    def is_contiguous(self) -> bool:
        return self.numel() == 0 or self.strides == _dense(self.shape)

    def detach(self) -> Tensor:
        return self._like(strides=self.strides, grad=False)

    def contiguous(self) -> Tensor:
        if self.is_contiguous():
            return self
        device_work.append("contiguous")
        return self._like()

    def clone(self) -> Tensor:
        device_work.append("clone")
        return self._like(strides=self.strides)

    def new_zeros(self, shape) -> Tensor:
        device_work.append("zeros")
        return Tensor(shape, self.dtype, self.device)

    def view(self, *shape) -> Tensor:
        if not self.is_contiguous():
            raise RuntimeError("view size is not compatible with the strides")
        return self.reshape(*shape)

    def reshape(self, *shape) -> Tensor:
        shape = tuple(shape[0]) if isinstance(shape[0], tuple) else shape
        known = 1
        for extent in shape:
            known *= extent if extent != -1 else 1
        full = tuple(self.numel() // known if extent == -1 else extent for extent in shape)
        if not self.is_contiguous():
            device_work.append("reshape")
        return self._like(full)

    def permute(self, *axes: int) -> Tensor:
        return self._like(tuple(self.shape[axis] for axis in axes), tuple(self.strides[axis] for axis in axes))

    def transpose(self, first: int, second: int) -> Tensor:
        axes = list(range(self.ndim))
        axes[first], axes[second] = axes[second], axes[first]
        return self.permute(*axes)

    def t(self) -> Tensor:
        return self.transpose(0, 1)

    def __mul__(self, other: object) -> Tensor:
        device_work.append("mul")
        return self._like()

    def __getitem__(self, index) -> Tensor:
        last = index[-1]
        width = len(range(*last.indices(self.shape[-1])))
        return self._like((*self.shape[:-1], width), self.strides)


def empty(shape, device="cuda:0", dtype=float32) -> Tensor:
    return Tensor(shape, dtype, device)


def zeros(shape, device="cuda:0", dtype=float32) -> Tensor:
    device_work.append("zeros")
    return Tensor(shape, dtype, device)


def empty_like(tensor: Tensor) -> Tensor:
    return Tensor(tensor.shape, tensor.dtype, tensor.device)


def zeros_like(tensor: Tensor) -> Tensor:
    device_work.append("zeros")
    return empty_like(tensor)


def is_grad_enabled() -> bool:
    return True


class _Guard:
    def __init__(self, device) -> None:
        self.device = device

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


def _wait(*_: object) -> None:
    device_work.append("wait")


class _AutogradFunction:
    @classmethod
    def apply(cls, *arguments):
        return cls.forward(None, *arguments)


autograd = SimpleNamespace(Function=_AutogradFunction)
cuda = SimpleNamespace(
    current_device=lambda: 0,
    current_stream=lambda device=None: SimpleNamespace(cuda_stream=7, synchronize=_wait),
    device=_Guard,
    synchronize=_wait,
)
