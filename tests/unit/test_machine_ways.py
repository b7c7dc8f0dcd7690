"""More ways to the same call: classes, tables, generators, state of a module, control flow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.test_machine import TUNED
from tests.unit.wrappers import constants, run, timed

#: (code in front, the op's first line, the expression for the output)
WAYS = {
    "super init": (
        "class A:\n"
        "    def __init__(self, t):\n"
        "        self.t = t\n"
        "class B(A):\n"
        "    def __init__(self, t):\n"
        "        super().__init__(t)\n"
        "    def make(self):\n"
        "        return torch.zeros_like(self.t)\n",
        "b = B(x)",
        "b.make()",
    ),
    "super method": (
        "class A:\n"
        "    def make(self, t):\n"
        "        return torch.zeros_like(t)\n"
        "class B(A):\n"
        "    def make(self, t):\n"
        "        return super().make(t)\n",
        "b = B()",
        "b.make(x)",
    ),
    "post init": (
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class A:\n"
        "    t: object\n"
        "    def __post_init__(self):\n"
        "        self.make = lambda: torch.zeros_like(self.t)\n",
        "a = A(x)",
        "a.make()",
    ),
    "dataclass method": (
        "from dataclasses import dataclass, field\n"
        "@dataclass(frozen=True)\n"
        "class A:\n"
        "    t: object\n"
        "    k: int = field(default=3)\n"
        "    def make(self):\n"
        "        return torch.zeros_like(self.t)\n",
        "a = A(t=x)",
        "a.make()",
    ),
    "lambda table": (
        "T = {True: lambda t: torch.zeros_like(t), False: lambda t: torch.empty_like(t)}\n",
        "pass",
        "T[flag](x)",
    ),
    "lambda table get": (
        "T = {'a': lambda t: torch.zeros_like(t)}\n",
        "pass",
        "T.get('a')(x)",
    ),
    "try import": (
        "try:\n    from torch import zeros_like as mk\nexcept ImportError:\n    mk = None\n",
        "pass",
        "mk(x)",
    ),
    "while break": (
        "def make(t):\n    while True:\n        y = torch.zeros_like(t)\n        break\n    return y\n",
        "pass",
        "make(x)",
    ),
    "while walrus": (
        "def make(t, n=1):\n    while (m := n) > 0:\n        n = n - 1\n        y = torch.zeros_like(t)\n    return y\n",
        "pass",
        "make(x)",
    ),
    "finally return": (
        "def make(t):\n    try:\n        pass\n    finally:\n        return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "except else": (
        "def make(t):\n"
        "    try:\n"
        "        t.numel()\n"
        "    except Exception as e:\n"
        "        raise RuntimeError from e\n"
        "    else:\n"
        "        return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "with as": (
        "import contextlib\n"
        "@contextlib.contextmanager\n"
        "def c(t):\n"
        "    try:\n"
        "        yield torch.zeros_like(t)\n"
        "    finally:\n"
        "        pass\n"
        "def _m(t):\n"
        "    with contextlib.suppress(ValueError), c(t) as y:\n"
        "        return y\n",
        "pass",
        "_m(x)",
    ),
    "starred partial": (
        "from functools import partial\ndef make(a, b, *, k):\n    return torch.zeros_like(b)\n",
        "args = (1, x)\n    make_ = partial(make, *args, k=2)",
        "make_()",
    ),
    "sorted": (
        "",
        "pass",
        "[torch.zeros_like(t) for t in sorted([x], key=id)][0]",
    ),
    "zip": (
        "",
        "pass",
        "[torch.zeros_like(t) for t, n in zip([x], ['x'])][0]",
    ),
    "dict items": (
        "",
        "pass",
        "[torch.zeros_like(t) for k, t in {'x': x}.items() if k == 'x'][0]",
    ),
    "nested comp": (
        "",
        "pass",
        "[[torch.zeros_like(t) for t in row] for row in [[x]]][0][0]",
    ),
    "set": (
        "",
        "pass",
        "[torch.zeros_like(t) for t in {x}][0]",
    ),
    "chain": (
        "import itertools\n",
        "pass",
        "[torch.zeros_like(t) for t in itertools.chain([x], [])][0]",
    ),
    "enum": (
        "import enum\nclass K(enum.Enum):\n    A = 1\n    B = 2\n",
        "k = K.A",
        "torch.zeros_like(x) if k is K.A else torch.empty_like(x)",
    ),
    "any": (
        "",
        "pass",
        "torch.zeros_like(x) if any(n > 2 for n in x.shape) else x",
    ),
    "filter": (
        "",
        "pass",
        "torch.zeros_like(list(filter(None, [x]))[0])",
    ),
    "operator": (
        "import operator\n",
        "pass",
        "operator.itemgetter(0)([torch.zeros_like(x)])",
    ),
    "global def": (
        "def install():\n    global mk\n    mk = torch.zeros_like\ninstall()\n",
        "pass",
        "mk(x)",
    ),
    "setattr cls": (
        "class A:\n    pass\nA.make = staticmethod(lambda t: torch.zeros_like(t))\n",
        "pass",
        "A.make(x)",
    ),
    "class const": (
        "class A:\n    MAKE = torch.zeros_like\n",
        "pass",
        "A.MAKE(x)",
    ),
    "class instance var": (
        "class A:\n"
        "    def __init__(self):\n"
        "        self._make = torch.zeros_like\n"
        "    def make(self, t):\n"
        "        return self._make(t)\n",
        "a = A()",
        "a.make(x)",
    ),
    "module instance": (
        "class A:\n    def make(self, t):\n        return torch.zeros_like(t)\n_A = A()\n",
        "pass",
        "_A.make(x)",
    ),
    "getter cached": (
        "from functools import cache\n"
        "class A:\n"
        "    def make(self, t):\n"
        "        return torch.zeros_like(t)\n"
        "@cache\n"
        "def get():\n"
        "    return A()\n",
        "pass",
        "get().make(x)",
    ),
    "lazy singleton": (
        "class A:\n"
        "    def make(self, t):\n"
        "        return torch.zeros_like(t)\n"
        "_A = None\n"
        "def get():\n"
        "    global _A\n"
        "    if _A is None:\n"
        "        _A = A()\n"
        "    return _A\n",
        "pass",
        "get().make(x)",
    ),
    "dict cache": (
        "class A:\n"
        "    def make(self, t):\n"
        "        return torch.zeros_like(t)\n"
        "_C = {}\n"
        "def get(k):\n"
        "    if k not in _C:\n"
        "        _C[k] = A()\n"
        "    return _C[k]\n",
        "pass",
        "get(x.dtype).make(x)",
    ),
    "dict cache get": (
        "class A:\n"
        "    def make(self, t):\n"
        "        return torch.zeros_like(t)\n"
        "_C = {}\n"
        "def get(k):\n"
        "    a = _C.get(k)\n"
        "    if a is None:\n"
        "        a = _C[k] = A()\n"
        "    return a\n",
        "pass",
        "get(x.dtype).make(x)",
    ),
    "overload": (
        "from typing import overload\n"
        "@overload\n"
        "def make(t: int) -> int: ...\n"
        "@overload\n"
        "def make(t: str) -> str: ...\n"
        "def make(t):\n"
        "    return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "redefine": (
        "def make(t):\n    return t\ndef make(t):\n    return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "cond def": (
        "if torch.cuda.is_available():\n"
        "    def make(t):\n"
        "        return torch.zeros_like(t)\n"
        "else:\n"
        "    def make(t):\n"
        "        return torch.empty_like(t)\n",
        "pass",
        "make(x)",
    ),
    "contextmanager class": (
        "class C:\n"
        "    def __init__(self, t):\n"
        "        self.t = t\n"
        "    def __enter__(self):\n"
        "        return torch.zeros_like(self.t)\n"
        "    def __exit__(self, *a):\n"
        "        return False\n"
        "def _m(t):\n"
        "    with C(t) as y:\n"
        "        return y\n",
        "pass",
        "_m(x)",
    ),
    "ternary chain": (
        "",
        "pass",
        "x if flag else torch.zeros_like(x) if flag is None else torch.empty_like(x)",
    ),
    "string call": (
        "",
        "pass",
        "getattr(x, 'new_' + 'zeros')(3)",
    ),
    "dunder getitem": (
        "class A:\n    def __getitem__(self, t):\n        return torch.zeros_like(t)\n",
        "a = A()",
        "a[x]",
    ),
    "abc": (
        "from abc import ABC, abstractmethod\n"
        "class Base(ABC):\n"
        "    @abstractmethod\n"
        "    def make(self, t): ...\n"
        "    def go(self, t):\n"
        "        return self.make(t)\n"
        "class A(Base):\n"
        "    def make(self, t):\n"
        "        return torch.zeros_like(t)\n",
        "a = A()",
        "a.go(x)",
    ),
    "nested class": (
        "class A:\n    class B:\n        @staticmethod\n        def make(t):\n            return torch.zeros_like(t)\n",
        "pass",
        "A.B.make(x)",
    ),
    "singledispatch": (
        "from functools import singledispatch\n@singledispatch\ndef make(t):\n    return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "compile": (
        "make = torch.compile(lambda t: torch.zeros_like(t))\n",
        "pass",
        "make(x)",
    ),
    "no_grad deco": (
        "@torch.no_grad()\ndef make(t):\n    return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "inference deco": (
        "@torch.inference_mode()\ndef make(t):\n    return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "contextdeco deco": (
        "import contextlib\n"
        "@contextlib.contextmanager\n"
        "def sc():\n"
        "    yield\n"
        "@sc()\n"
        "def make(t):\n"
        "    return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "list append pop": (
        "def make(t):\n    found = []\n    found.append(torch.zeros_like(t))\n    return found.pop()\n",
        "pass",
        "make(x)",
    ),
    "dict setdefault": (
        "def make(t):\n    d = {}\n    return d.setdefault('a', torch.zeros_like(t))\n",
        "pass",
        "make(x)",
    ),
    "namespace attr": (
        "from types import SimpleNamespace\nN = SimpleNamespace(make=torch.zeros_like)\n",
        "pass",
        "N.make(x)",
    ),
    "yield send": (
        "def gen(t):\n    y = torch.zeros_like(t)\n    yield y\n",
        "pass",
        "next(gen(x))",
    ),
    "for over gen": (
        "def gen(t):\n"
        "    for _ in range(1):\n"
        "        yield torch.zeros_like(t)\n"
        "def make(t):\n"
        "    for y in gen(t):\n"
        "        return y\n",
        "pass",
        "make(x)",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_timed_region_reaches_the_fill(tmp_path: Path, way: str) -> None:
    front, before, y = WAYS[way]
    found = run(tmp_path, front + TUNED.format(before=before, y=y))
    assert "fill" in [text.split()[0] for text in timed(found)]
    assert [launch.symbol for launch in found.launches] == ["cutile_op"]


def test_with_runs_what_stands_in_enter_and_exit(tmp_path: Path) -> None:
    front = """\
class Timer:
    def __init__(self, t):
        self.t = t

    def __enter__(self):
        return self.t.clone()

    def __exit__(self, kind, value, trace):
        torch.cuda.synchronize()


def measured(t):
    with Timer(t) as y:
        y.zero_()
    return y


"""
    found = run(tmp_path, front + TUNED.format(before="pass", y="measured(x)"))
    assert timed(found) == ["copy self.t.clone()", "fill y.zero_()", "sync torch.cuda.synchronize()"]


def test_a_table_under_a_key_that_is_not_known_gives_each_entry_its_condition(tmp_path: Path) -> None:
    front = "BLOCKS = {torch.float16: 64, torch.float32: 32}\n\n\n"
    found = run(tmp_path, front + TUNED.format(before="pass", y="torch.empty_like(x)").replace("cfg.BM", "BLOCKS[x.dtype]"))
    [launch] = found.launches
    assert constants(launch.arguments.positional[2]) == {32, 64}


def test_overridden_methods_are_those_of_the_object(tmp_path: Path) -> None:
    front = """\
class Base:
    def size(self):
        return 16

    def block(self):
        return self.size()


class Wide(Base):
    def size(self):
        return 2 * super().size()

    def block(self):
        return super().block() + 1


"""
    found = run(tmp_path, front + TUNED.format(before="pass", y="torch.empty_like(x)").replace("cfg.BM", "Wide().block()"))
    [launch] = found.launches
    assert constants(launch.arguments.positional[2]) == {33}


def test_items_of_a_modules_state_are_read_back(tmp_path: Path) -> None:
    front = """\
_PLANS = {}


def block(dtype):
    if dtype not in _PLANS:
        _PLANS[dtype] = 48
    return _PLANS[dtype]


"""
    found = run(tmp_path, front + TUNED.format(before="pass", y="torch.empty_like(x)").replace("cfg.BM", "block(x.dtype)"))
    [launch] = found.launches
    assert constants(launch.arguments.positional[2]) == {48}


def test_decorated_functions_run_under_their_decorator(tmp_path: Path) -> None:
    front = """\
import functools


def doubled(times):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return times * function(*args, **kwargs)

        return inner

    return wrap


@doubled(2)
@doubled(3)
def block(n, *, extra=0):
    return n + extra


"""
    found = run(tmp_path, front + TUNED.format(before="pass", y="torch.empty_like(x)").replace("cfg.BM", "block(4, extra=1)"))
    [launch] = found.launches
    assert constants(launch.arguments.positional[2]) == {30}


@pytest.mark.parametrize(
    "config",
    [
        "replace(Config(), **kwargs)",
        "Config(**kwargs)",
        "SimpleNamespace(BM=16, **kwargs)",
        "SimpleNamespace(**{'BM': 16, **kwargs})",
    ],
)
def test_what_a_spread_of_unknown_content_may_override_is_not_known(tmp_path: Path, config: str) -> None:
    front = """\
from dataclasses import dataclass, replace
from types import SimpleNamespace


@dataclass
class Config:
    BM: int = 16


"""
    found = run(tmp_path, front + TUNED.format(before="pass", y="torch.empty_like(x)").replace("cfg.BM", f"({config}).BM"))
    [launch] = found.launches
    assert constants(launch.arguments.positional[2]) == {...}
