"""The server as a process over a copy of a small faulty op."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from client import Client

ROOT = Path(__file__).parents[2]
FAULTY = ROOT / "examples" / "faulty" / "skill"

Start = Callable[..., Client]


@dataclass(frozen=True)
class Op:
    """A faulty op: its folder and files."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "scale_residual"

    @property
    def wrapper(self) -> Path:
        return self.folder / "wrapper.py"

    @property
    def ffi(self) -> Path:
        return self.folder / "ffi.rs"

    @property
    def kernel(self) -> Path:
        return self.folder / "kernel.rs"


@pytest.fixture
def op(tmp_path: Path) -> Op:
    root = tmp_path / "work"
    shutil.copytree(FAULTY, root)
    return Op(root)


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Start]:
    """Starts servers; none outlives its test."""
    started: list[Client] = []

    def start(folder: Path | None, *arguments: str) -> Client:
        env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
        client = Client(folder, *arguments, env=env)
        started.append(client)
        return client

    yield start
    for client in started:
        client.kill()


@pytest.fixture
def client(launch: Start, op: Op) -> Client:
    """A started server in the op's workspace."""
    made = launch(op.root)
    made.start()
    return made
