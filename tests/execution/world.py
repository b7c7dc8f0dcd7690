"""A tree of files whose wrappers are imported and called: on the stub runtime, on the device, with kernels that compute."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import itertools
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch
from torch.utils._pytree import tree_flatten

from cutile_lint.engine.cases import Tree
from tests.execution.device import Device, DeviceTensor, inner, storage, unrecorded
from tests.execution.drives import Drive
from tests.execution.kernels import Kernel
from tests.execution.trace import Event, Positions, Recording, Site, Trial

RUNTIME = Path(__file__).parents[1] / "stub_runtime"
_numbers = itertools.count()
_DEVICE = Device()

Skip = Callable[[Event], bool]


def _nothing(event: Event) -> bool:
    return False


@dataclass(slots=True)
class Outcome:
    """What one call of an op did and gave. ``value`` and ``inputs`` hold plain tensors."""

    events: list[Event]
    value: Any = None
    inputs: Any = None
    error: BaseException | None = None
    error_sites: tuple[Site, ...] = ()
    #: memory of the tensors that were returned
    returned: frozenset[int] = frozenset()

    @property
    def launches(self) -> list[Event]:
        return [event for event in self.events if event.kind == "launch"]

    def gives_the_same_as(self, other: Outcome) -> bool:
        if self.error is not None or other.error is not None:
            return type(self.error) is type(other.error)
        return same(self.value, other.value) and same(self.inputs, other.inputs)


def same(one: Any, other: Any) -> bool:
    """Equal values; tensors up to rounding, NaN equals NaN."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        return torch.allclose(one.double(), other.double(), rtol=1e-3, atol=1e-3, equal_nan=True)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other)


def plain(value: Any) -> Any:
    """A copy without device tensors."""
    if isinstance(value, torch.Tensor):
        return inner(value).detach().clone()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@contextlib.contextmanager
def _in_one_thread() -> Iterator[None]:
    """What a call hands to other threads runs where it is started: the device's modes are those of one thread."""

    def start(thread: threading.Thread) -> None:
        with contextlib.suppress(Exception):
            thread.run()

    def wait(event: threading.Event, timeout: float | None = None) -> bool:
        if timeout is None and not event.is_set():
            raise TimeoutError("nothing sets the event that is waited for")
        return event.is_set()

    def submit(pool: ThreadPoolExecutor, function: Callable, /, *args: Any, **kwargs: Any) -> Future:
        future: Future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    with (
        mock.patch.object(threading.Thread, "start", start),
        mock.patch.object(threading.Thread, "join", lambda thread, timeout=None: None),
        mock.patch.object(threading.Event, "wait", wait),
        mock.patch.object(ThreadPoolExecutor, "submit", submit),
    ):
        yield


class World:
    """Use :func:`opened`."""

    def __init__(self, root: Path, kernels: Mapping[str, Kernel]) -> None:
        self.root = root
        self.kernels = kernels
        self.positions = Positions(str(root))
        self.ops: dict[str, Callable] = {}
        #: for tests: the tree has no planted faults
        self.clean = True
        self._recording: Recording | None = None
        self._skip: Skip = _nothing
        self._keep = False
        self._code = 0

    def get(self, symbol: str) -> Callable[..., int]:
        """The implementation of a symbol, as the stub runtime asks for it."""

        def launch(*arguments: Any) -> int:
            return self._launch(symbol, arguments)

        return launch

    def clear(self) -> None: ...

    def call(self, op: str, drive: Drive, repeats: int, skip: Skip = _nothing, keep: bool = False) -> Outcome:
        """One call on new arguments, the tuner's cache empty. ``skip``: launches that do nothing; ``keep``: their values are kept."""
        from tilegym import recorder
        from tilegym.backend.cutile_rs import autotuner

        autotuner.clear_cache()
        recorder.events.clear()
        recorder.repeats, recorder.trial, recorder.tunings, recorder.timing_depth = repeats, None, 0, 0
        recorder.implementations = self  # type: ignore[assignment]
        self._skip, self._keep, self._code = skip, keep, drive.code
        with _DEVICE.present():
            arguments, named = drive.arguments()
        recording = Recording(self.positions, lambda: None if recorder.trial is None else Trial(*recorder.trial))
        self._recording = recording
        outcome = Outcome(recording.events)
        value = None
        with (
            _DEVICE.on(recording),
            _in_one_thread(),
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(action="ignore"),
        ):
            try:
                value = self.ops[op](*arguments, **named)
            except Exception as error:
                outcome.error, outcome.error_sites = error, self.positions.of_traceback(error)
        with unrecorded():
            outcome.returned = frozenset(storage(item) for item in tree_flatten(value)[0] if isinstance(item, torch.Tensor))
            outcome.value, outcome.inputs = plain(value), plain([arguments, named])
        return outcome

    @contextlib.contextmanager
    def device(self) -> Iterator[list[Event]]:
        """The device for code that is no op of the tree; gives the events."""
        from tilegym import recorder

        recorder.repeats, recorder.trial, recorder.implementations = 1, None, self  # type: ignore[assignment]
        self._skip, self._keep, self._code = _nothing, False, 0
        self._recording = Recording(self.positions, lambda: None if recorder.trial is None else Trial(*recorder.trial))
        with _DEVICE.on(self._recording):
            yield self._recording.events

    def module(self, name: str) -> ModuleType:
        """A module of the tree by the last part of its name."""
        below = str(self.root) + "/"
        return next(
            module
            for full, module in sys.modules.items()
            if full.rpartition(".")[2] == name and (getattr(module, "__file__", None) or "").startswith(below)
        )

    def _launch(self, symbol: str, arguments: tuple[Any, ...]) -> int:
        assert self._recording is not None
        tensors = {slot: value for slot, value in enumerate(arguments) if isinstance(value, DeviceTensor)}
        kernel = self.kernels[symbol]
        event = self._recording.add(
            "launch", symbol, symbol, [storage(value) for value in tensors.values()], (),
            grad={slot: value.requires_grad and torch.is_grad_enabled() for slot, value in tensors.items()},
            written=[storage(arguments[slot]) for slot in kernel.writes],
            read=[storage(arguments[slot]) for slot in kernel.reads],
            accumulated=[storage(arguments[slot]) for slot in kernel.accumulates],
            keep_alive=list(tensors.values()), arguments=arguments,
        )  # fmt: skip
        with unrecorded():
            if self._keep:
                event.detail["before"] = [plain(arguments[slot]) for slot in kernel.reads]
            if not self._skip(event) and not self._code:
                kernel.compute(*(inner(value) for value in arguments))
            if self._keep:
                event.detail["after"] = [plain(arguments[slot]) for slot in kernel.writes]
        return self._code


@contextlib.contextmanager
def opened(tree: Tree | Path, kernels: Mapping[str, Kernel], modules: tuple[str, ...] = ("__init__.py",)) -> Iterator[World]:
    """The tree imported under names of its own; ``modules`` are files or packages of it, as paths below its root."""
    with contextlib.ExitStack() as stack:
        if isinstance(tree, Path):
            root = tree.resolve()
        else:
            root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cutile-lint-execution-"))).resolve()
            for path, text in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(text.encode())
        for folder in (str(RUNTIME), str(root)):
            sys.path.insert(0, folder)
            stack.callback(sys.path.remove, folder)
        known = set(sys.modules)
        stack.callback(lambda: _forget(known))
        importlib.invalidate_caches()
        from tilegym import backend

        backend._implementations.clear()
        world = World(root, kernels)
        was, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        stack.callback(setattr, sys, "dont_write_bytecode", was)
        with _DEVICE.present(), warnings.catch_warnings(action="ignore"):
            for path in modules:
                _load(root / path)
        world.ops = {name: function for (name, owner), function in backend._implementations.items() if owner == "cutile-rs"}
        yield world


def _forget(known: set[str]) -> None:
    for name in set(sys.modules) - known:
        if name.partition(".")[0] not in ("torch", "tilegym", "numpy"):
            del sys.modules[name]


def _load(path: Path) -> ModuleType:
    """Import a file, or a package by its ``__init__.py``."""
    name = f"execution_{next(_numbers)}"
    folders = [str(path.parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
