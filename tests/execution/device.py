"""A device named ``cuda:0`` on a machine without one: real values in host memory, everything that happens there is recorded.

A device tensor wraps a host tensor (``inner``). For PyTorch's C++ side it lies on the CPU, so that no device library is asked for; what
Python code sees (``device``, ``is_cuda``) says ``cuda:0``. New memory is full of NaN, as real memory is full of anything.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map

from tests.execution.trace import Recording

CUDA = torch.device("cuda", 0)
CPU = torch.device("cpu")

_ALLOCATIONS = frozenset("empty empty_like empty_strided new_empty new_empty_strided empty_permuted".split())
_FILLS = frozenset(
    "zeros zeros_like new_zeros ones ones_like new_ones full full_like new_full fill_ zero_ arange linspace logspace eye scalar_tensor "
    "rand rand_like randn randn_like randint randint_like randperm normal_ uniform_ random_ bernoulli_ exponential_ tril_indices".split()
)
_COPIES = frozenset("clone copy_ _to_copy cat stack repeat flip roll rot90".split())
_COPYING_APIS = frozenset(
    "repeat_interleave tile hstack vstack dstack column_stack concat concatenate block_diag fliplr flipud".split()
)
_VIEWS = frozenset("detach alias _unsafe_view lift lift_fresh _reshape_alias set_ resize_ detach_".split())
_WAITS = frozenset(["_local_scalar_dense"])
#: functions that may return their argument where there is nothing to copy
MAY_COPY = frozenset("contiguous to type float half bfloat16 double int long short char byte bool type_as cuda".split())


class DeviceTensor(torch.Tensor):
    """Use :func:`on_device` to make one."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> DeviceTensor:
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), storage_offset=inner.storage_offset(), dtype=inner.dtype, device=CPU
        )
        made.inner = inner
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __deepcopy__(self, memo: dict[int, Any]) -> torch.Tensor:
        return self.clone()  # PyTorch's own copies the attributes of a subclass too, and with them the memory once more

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func} outside of the harness")


def on_device(tensor: torch.Tensor, requires_grad: bool = False) -> DeviceTensor:
    return DeviceTensor(tensor).requires_grad_(requires_grad)


def inner(value: Any) -> Any:
    """The host tensor behind a device tensor; anything else as it is."""
    return value.inner if isinstance(value, DeviceTensor) else value


def storage(tensor: torch.Tensor) -> int:
    """Which memory a tensor looks at."""
    return inner(tensor).untyped_storage()._cdata


def device_type(device: Any) -> str:
    return torch.device(device).type if not isinstance(device, int) else "cuda"


class _Dispatch(TorchDispatchMode):
    """Runs each operation on the host tensors and records it when it is work on the device."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else PyTorch's compiler is imported on first use

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        given = [item for item in tree_leaves((args, kwargs)) if isinstance(item, DeviceTensor)]
        target = kwargs.get("device")
        to_device = device_type(target) == "cuda" if target is not None else bool(given)
        plain, named = tree_map(inner, (args, kwargs))
        if target is not None and device_type(target) == "cuda":
            named["device"] = CPU
        if func.overloadpacket.__name__ == "_to_copy" and target is not None:
            plain = tuple(item.clone() if isinstance(item, torch.Tensor) else item for item in plain)
        result = func(*plain, **named)
        name = func.overloadpacket.__name__
        back = bool(given) and not to_device  # from the device to the host
        if name == "copy_" and not isinstance(args[0], DeviceTensor) and given:
            back, to_device = True, False
        if not (given or to_device):
            return result
        out = (
            tree_map(lambda item: DeviceTensor(item) if isinstance(item, torch.Tensor) else item, result) if to_device else result
        )
        self._record(func, name, back, given, result)
        return return_and_correct_aliasing(func, args, kwargs, out) if to_device else out

    def _record(self, func: Any, name: str, back: bool, given: list[DeviceTensor], result: Any) -> None:
        api = self.device.api or name
        made = [item for item in tree_leaves(result) if isinstance(item, torch.Tensor)]
        if name in _ALLOCATIONS:
            kind = "alloc"
            for tensor in made:
                tensor.fill_(float("nan") if tensor.is_floating_point() else 99)
        elif back or name in _WAITS:
            kind = "sync"
        elif name in _VIEWS or (func.is_view and name not in _COPIES):
            return
        elif name in _FILLS or (api in ("tensor", "as_tensor") and not given):
            kind = "fill"
        elif name in _COPIES or api in _COPYING_APIS:
            kind = "copy"
        else:
            kind = "compute"
        self.device.note(kind, name, api, given, made)


class _Functions(TorchFunctionMode):
    """Knows which function of PyTorch the source calls, and answers for the device what C++ would answer for the CPU."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        subject = args[0] if args else None
        if name == "__get__":
            answer = _ANSWERS.get(func) if isinstance(subject, DeviceTensor) else None
            return answer(subject) if answer is not None else func(*args)
        if isinstance(subject, DeviceTensor):
            if func is torch.Tensor.get_device:
                return CUDA.index
            if name in ("tolist", "numpy", "__repr__", "__str__", "__format__"):
                self.device.note("sync", name, name, [subject], [])
                with _disable_current_modes():
                    return getattr(subject.inner, name)(*args[1:], **kwargs)
            if name == "data_ptr":
                return subject.inner.data_ptr()
            if name == "cpu":
                func, args, name = torch.Tensor.to, (subject, CPU), "cpu"
            if name == "cuda":
                func, args, kwargs = torch.Tensor.to, (subject,), {"dtype": subject.dtype}
        elif name == "cuda" and isinstance(subject, torch.Tensor):
            return self._upload(subject, name)
        if (
            name in ("tensor", "as_tensor", "asarray")
            and kwargs.get("device") is not None
            and device_type(kwargs["device"]) == "cuda"
        ):
            rest = {key: value for key, value in kwargs.items() if key not in ("device", "requires_grad")}
            made = self._upload(func(*args, **rest), name)
            return made.requires_grad_(kwargs.get("requires_grad", False))
        if name in ("tensor", "new_tensor") and "device" not in kwargs and isinstance(data := args[-1], DeviceTensor):
            return self._upload(data, name, dtype=kwargs.get("dtype"))  # it stays where it is, which C++ would take for the CPU
        if name in ("to", "cpu") and isinstance(subject, torch.Tensor):
            moved = self._to(subject, args, kwargs)
            if moved is not None:
                return moved
            args, kwargs = _without_device(args, kwargs) if isinstance(subject, DeviceTensor) else (args, kwargs)
        before, self.device.api = self.device.api, name
        events = len(self.device.recording.events) if self.device.recording is not None else 0
        try:
            result = func(*args, **kwargs)
        finally:
            self.device.api = before
        if name in MAY_COPY and isinstance(subject, DeviceTensor) and self.device.recording is not None:
            if len(self.device.recording.events) == events and isinstance(result, torch.Tensor):
                self.device.note("noop", name, name, [subject], [])
        return result

    def _to(self, subject: torch.Tensor, args: tuple, kwargs: dict) -> torch.Tensor | None:
        """``to`` between host and device; None if the tensor stays where it is."""
        wanted = kwargs.get("device")
        for item in args[1:2]:
            if isinstance(item, (str, torch.device, int)) and not isinstance(item, bool):
                wanted = item
            elif isinstance(item, torch.Tensor):
                wanted = CUDA if isinstance(item, DeviceTensor) else CPU
        if wanted is None or (device_type(wanted) == "cuda") == isinstance(subject, DeviceTensor):
            return None
        dtype = kwargs.get("dtype") or next((item for item in args[1:] if isinstance(item, torch.dtype)), None)
        return self._upload(subject, "to", torch.device(wanted), dtype)

    def _upload(
        self, subject: torch.Tensor, api: str, device: torch.device = CUDA, dtype: torch.dtype | None = None
    ) -> torch.Tensor:
        """A copy in the other memory."""
        before, self.device.api = self.device.api, api
        try:
            return torch.ops.aten._to_copy.default(subject, dtype=dtype or subject.dtype, device=device)
        finally:
            self.device.api = before


def _without_device(args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments of a ``to`` that stays on the device."""
    kept = [args[0]]
    for item in args[1:]:
        if isinstance(item, torch.Tensor):
            kept.append(item.dtype)
        elif not isinstance(item, (str, torch.device)):
            kept.append(item)
    rest = {key: value for key, value in kwargs.items() if key != "device"}
    if len(kept) == 1 and "dtype" not in rest:
        rest["dtype"] = args[0].dtype
    return tuple(kept), rest


_ANSWERS: dict[Any, Callable[[DeviceTensor], Any]] = {
    torch.Tensor.device.__get__: lambda tensor: CUDA,
    torch.Tensor.is_cuda.__get__: lambda tensor: True,
    torch.Tensor.is_cpu.__get__: lambda tensor: False,
}


class _Stream:
    """The one stream, and the events on it."""

    cuda_stream = 7

    def __init__(self, device: Device) -> None:
        self._device = device

    def _wait(self, *_: Any, **__: Any) -> None:
        self._device.note("sync", "synchronize", "synchronize", [], [])

    synchronize = wait_stream = wait_event = wait = _wait

    def record(self, *_: Any) -> None: ...

    def record_event(self, event: Any = None) -> Any:
        return event or _Stream(self._device)

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: Any) -> float:
        return 0.0


class Device:
    """``with device.on(recording):`` runs code on the device."""

    def __init__(self) -> None:
        self.recording: Recording | None = None
        self.api = ""
        self._stream = _Stream(self)

    def note(self, kind: str, name: str, api: str, given: list[torch.Tensor], made: list[torch.Tensor], **detail: Any) -> None:
        if self.recording is not None:
            detail.setdefault("bytes", sum(item.numel() * item.element_size() for item in made))
            # kept alive, so that no later tensor gets the same memory
            detail["tensors"] = [inner(item) for item in (*given, *made)]
            self.recording.add(kind, name, api, [storage(item) for item in given], [storage(item) for item in made], **detail)

    @contextlib.contextmanager
    def on(self, recording: Recording) -> Iterator[None]:
        with self.present():
            self.recording = recording
            try:
                yield
            finally:
                self.recording = None

    @contextlib.contextmanager
    def present(self) -> Iterator[None]:
        """The device is there; nothing is recorded."""
        before = torch._C._only_lift_cpu_tensors()
        kept = {name: getattr(torch.cuda, name) for name in self._api()}
        for name, value in self._api().items():
            setattr(torch.cuda, name, value)
        torch._C._set_only_lift_cpu_tensors(True)
        try:
            with _Dispatch(self), _Functions(self):
                yield
        finally:
            torch._C._set_only_lift_cpu_tensors(before)
            for name, value in kept.items():
                setattr(torch.cuda, name, value)

    def _api(self) -> dict[str, Any]:
        """What replaces functions of ``torch.cuda``."""
        stream = self._stream
        properties = SimpleNamespace(multi_processor_count=148, name="stub", total_memory=2**37, major=10, minor=0)
        return {
            "_lazy_init": lambda: None,
            "Event": lambda *args, **kwargs: _Stream(self),
            "Stream": lambda *args, **kwargs: _Stream(self),
            "current_device": lambda: 0,
            "current_stream": lambda device=None: stream,
            "default_stream": lambda device=None: stream,
            "device": lambda device=None: contextlib.nullcontext(),
            "device_count": lambda: 1,
            "get_device_capability": lambda device=None: (10, 0),
            "get_device_properties": lambda device=None: properties,
            "is_available": lambda: True,
            "set_device": lambda device: None,
            "stream": lambda stream=None: contextlib.nullcontext(),
            "synchronize": lambda device=None: stream.synchronize(),
        }


@contextlib.contextmanager
def unrecorded() -> Iterator[None]:
    """Plain PyTorch inside, as for values that only the harness looks at."""
    with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
        yield
