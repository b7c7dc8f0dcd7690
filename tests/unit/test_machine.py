"""Running a wrapper: what the timed region reaches, what a launch is given, under which conditions."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutile_lint.config.settings import Settings
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit import load
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.values import Items, Record, Term
from tests.unit.wrappers import constants, run, timed, write

TUNED = """\
@register_impl("op", backend="cutile-rs")
def op(x, flag=False, **kwargs):
    {before}

    def kernel_fn(cfg):
        y = {y}
        return _launch(y, x, cfg.BM)

    return autotune_launch(kernel_fn, [], key=(x.shape,)).output
"""

#: ways to come to `torch.zeros_like(t)` from kernel_fn: (code in front, the op's first line, the expression for `y`)
WAYS = {
    "direct": ("", "pass", "torch.zeros_like(x)"),
    "helper": ("def make(t):\n    return torch.zeros_like(t)\n", "pass", "make(x)"),
    "three deep": (
        "def one(t):\n    return torch.zeros_like(t)\ndef two(t):\n    return one(t)\ndef three(t):\n    return two(t)\n",
        "pass",
        "three(x)",
    ),
    "closure": ("", "make = lambda: torch.zeros_like(x)", "make()"),
    "factory": (
        "def factory(t):\n    def make():\n        return torch.zeros_like(t)\n    return make\n",
        "make = factory(x)",
        "make()",
    ),
    "alias": ("z = torch.zeros_like\n", "pass", "z(x)"),
    "alias of an alias": ("z = torch.zeros_like\n", "w = z", "w(x)"),
    "import": ("from torch import zeros_like as mk\n", "pass", "mk(x)"),
    "module alias": ("import torch as t\n", "pass", "t.zeros_like(x)"),
    "import in a function": ("", "from torch import zeros_like", "zeros_like(x)"),
    "partial": ("from functools import partial\n", "make = partial(torch.zeros_like, x)", "make()"),
    "partial of a partial": ("import functools\n", "make = functools.partial(functools.partial(torch.zeros_like), x)", "make()"),
    "default": ("def make(t, how=torch.zeros_like):\n    return how(t)\n", "pass", "make(x)"),
    "keyword default": ("def make(t, *, how=torch.zeros_like):\n    return how(t)\n", "pass", "make(x)"),
    "method": ("class Maker:\n    def make(self, t):\n        return torch.zeros_like(t)\n", "maker = Maker()", "maker.make(x)"),
    "bound method": (
        "class Maker:\n    def __init__(self, t):\n        self.t = t\n"
        "    def make(self):\n        return torch.zeros_like(self.t)\n",
        "make = Maker(x).make",
        "make()",
    ),
    "inherited method": (
        "class Base:\n    def make(self, t):\n        return torch.zeros_like(t)\nclass Maker(Base):\n    pass\n",
        "maker = Maker()",
        "maker.make(x)",
    ),
    "static and class method": (
        "class Maker:\n    @staticmethod\n    def one(t):\n        return torch.zeros_like(t)\n"
        "    @classmethod\n    def two(cls, t):\n        return cls.one(t)\n",
        "pass",
        "Maker.two(x)",
    ),
    "call operator": (
        "class Maker:\n    def __call__(self, t):\n        return torch.zeros_like(t)\n",
        "make = Maker()",
        "make(x)",
    ),
    "property": (
        "class Maker:\n    def __init__(self, t):\n        self.t = t\n    @property\n"
        "    def fresh(self):\n        return torch.zeros_like(self.t)\n",
        "maker = Maker(x)",
        "maker.fresh",
    ),
    "conditional": ("", "pass", "torch.zeros_like(x) if flag else torch.empty_like(x)"),
    "conditional callee": ("", "make = torch.zeros_like if flag else torch.empty_like", "make(x)"),
    "or": ("", "ready = kwargs.get('out')", "ready or torch.zeros_like(x)"),
    "comprehension": ("", "pass", "[torch.zeros_like(t) for t in (x,)][0]"),
    "generator expression": ("", "pass", "next(torch.zeros_like(t) for t in (x,))"),
    "dict comprehension": ("", "pass", "{name: torch.zeros_like(x) for name in ('y',)}['y']"),
    "map": ("", "pass", "list(map(torch.zeros_like, [x]))[0]"),
    "walrus": ("", "pass", "(fresh := torch.zeros_like(x))"),
    "unpacking": ("", "pass", "(torch.zeros_like(x), 1)[0]"),
    "star arguments": (
        "def make(*args, **options):\n    return torch.zeros_like(*args, **options)\n",
        "pass",
        "make(x, dtype=x.dtype)",
    ),
    "keyword forwarding": ("def make(**options):\n    return torch.zeros_like(options['t'])\n", "pass", "make(t=x)"),
    "table of functions": ("MAKE = {'zeros': torch.zeros_like, 'empty': torch.empty_like}\n", "pass", "MAKE['zeros'](x)"),
    "getattr": ("", "pass", "getattr(torch, 'zeros_like')(x)"),
    "generator helper": ("def buffers(t):\n    yield torch.zeros_like(t)\n", "pass", "list(buffers(x))[0]"),
    "unpacked generator": ("def buffers(t):\n    yield torch.zeros_like(t)\n", "pass", "[*buffers(x)][0]"),
    "decorator": (
        "def zeroed(function):\n    def inner(t):\n        return function(torch.zeros_like(t))\n"
        "    return inner\n@zeroed\ndef same(t):\n    return t\n",
        "pass",
        "same(x)",
    ),
    "decorator with arguments": (
        "def with_(make):\n    def wrap(function):\n        def inner(t):\n"
        "            return function(make(t))\n        return inner\n    return wrap\n"
        "@with_(torch.zeros_like)\ndef same(t):\n    return t\n",
        "pass",
        "same(x)",
    ),
    "wraps": (
        "import functools\ndef zeroed(function):\n    @functools.wraps(function)\n"
        "    def inner(t):\n        return function(torch.zeros_like(t))\n    return inner\n"
        "@zeroed\ndef same(t):\n    return t\n",
        "pass",
        "same(x)",
    ),
    "cached helper": (
        "import functools\n@functools.lru_cache(None)\ndef make(t):\n    return torch.zeros_like(t)\n",
        "pass",
        "make(x)",
    ),
    "dataclass field": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Plan:\n    make: object = torch.zeros_like\n",
        "plan = Plan()",
        "plan.make(x)",
    ),
    "named tuple": (
        "from typing import NamedTuple\nclass Plan(NamedTuple):\n    make: object\n    size: int = 1\n",
        "plan = Plan(torch.zeros_like)",
        "plan.make(x)",
    ),
    "recursion": ("def make(t, depth=1):\n    return make(t, depth - 1) if depth else torch.zeros_like(t)\n", "pass", "make(x)"),
    "global state": (
        "_STATE = {}\ndef make(t):\n    _STATE['y'] = torch.zeros_like(t)\n    return _STATE['y']\n",
        "pass",
        "make(x)",
    ),
    "async-free with": (
        "from contextlib import contextmanager\n@contextmanager\ndef scope(t):\n    yield torch.zeros_like(t)\n",
        "pass",
        "_in(x)",
    ),
}
WAYS["async-free with"] = (
    WAYS["async-free with"][0] + "def _in(t):\n    with scope(t) as fresh:\n        return fresh\n",
    *WAYS["async-free with"][1:],
)


@pytest.mark.parametrize("way", WAYS)
def test_the_timed_region_reaches_the_fill(tmp_path: Path, way: str) -> None:
    front, before, y = WAYS[way]
    found = run(tmp_path, front + TUNED.format(before=before, y=y))
    assert [text.split()[0] for text in timed(found)] == ["fill"], way
    assert [launch.symbol for launch in found.launches] == ["cutile_op"]
    fill = next(work for work in found.tensors.works(timed=True) if work.kind == "fill")
    assert fill.name == "torch.zeros_like"


CALLABLES = {
    "nested": ("", "kernel_fn"),
    "lambda": ("", "lambda cfg: kernel_fn(cfg)"),
    "partial": (
        "from functools import partial\ndef trial(x, cfg):\n    return _launch(torch.zeros_like(x), x, cfg.BM)\n",
        "partial(trial, x)",
    ),
    "keyword partial": (
        "from functools import partial\ndef trial(cfg, *, t):\n    return _launch(torch.zeros_like(t), t, cfg.BM)\n",
        "partial(trial, t=x)",
    ),
    "bound method": (
        "class Trial:\n    def __init__(self, x):\n        self.x = x\n    def run(self, cfg):\n"
        "        return _launch(torch.zeros_like(self.x), self.x, cfg.BM)\n",
        "Trial(x).run",
    ),
    "callable object": (
        "class Trial:\n    def __init__(self, x):\n        self.x = x\n    def __call__(self, cfg):\n"
        "        return _launch(torch.zeros_like(self.x), self.x, cfg.BM)\n",
        "Trial(x)",
    ),
    "factory": (
        "def make_trial(x):\n    def trial(cfg):\n        return _launch(torch.zeros_like(x), x, cfg.BM)\n    return trial\n",
        "make_trial(x)",
    ),
    "chosen": ("", "kernel_fn if flag else (lambda cfg: kernel_fn(cfg))"),
}


@pytest.mark.parametrize("how", CALLABLES)
def test_every_kind_of_callable_is_the_timed_one(tmp_path: Path, how: str) -> None:
    front, callable_ = CALLABLES[how]
    text = f"""\
@register_impl("op", backend="cutile-rs")
def op(x, flag=False):
    def kernel_fn(cfg):
        return _launch(torch.zeros_like(x), x, cfg.BM)

    tune = autotune_launch
    return tune(configs=[], key=(x.shape,), kernel_fn={callable_}).output
"""
    found = run(tmp_path, front + text)
    assert {text.split()[0] for text in timed(found)} == {"fill"}
    assert {launch.symbol for launch in found.launches} == {"cutile_op"}


# ── siblings and imports ───────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from .buffers import make", "make(x)"),
        ("from .buffers import *", "make(x)"),
        ("from . import buffers", "buffers.make(x)"),
        ("from . import buffers as b", "b.make(x)"),
        ("from .buffers import Maker", "Maker.make(x)"),
        ("from .buffers import make as torch_free", "torch_free(x)"),
    ],
)
def test_sibling_modules_are_entered(tmp_path: Path, imports: str, call: str) -> None:
    sibling = """\
        import torch

        def make(t):
            return torch.zeros_like(t)

        class Maker:
            make = staticmethod(make)
        """
    found = run(tmp_path, imports + "\n" + TUNED.format(before="pass", y=call), buffers=sibling)
    assert timed(found) == ["fill torch.zeros_like(t)"]


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        "from . import buffers\n" + TUNED.format(before="pass", y="buffers.make(x)"),
        buffers="import torch\nfrom . import op\n\ndef make(t):\n    return torch.zeros_like(t)\n",
    )
    assert timed(found) == ["fill torch.zeros_like(t)"]


def test_code_that_is_not_reached_is_left_alone(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        ONCE = torch.zeros(3)

        def unused(t):
            return torch.zeros_like(t)

        """
        + TUNED.format(before="unused_too = lambda: torch.zeros_like(x)", y="torch.empty_like(x)").replace("\n", "\n        "),
    )
    assert timed(found) == []


# ── configs ────────────────────────────────────────────────────────────────

CONFIGS = {
    "list of namespaces": ("[SimpleNamespace(BM=16), SimpleNamespace(BM=32)]", ""),
    "comprehension": ("[SimpleNamespace(BM=bm) for bm in (16, 32)]", ""),
    "loop": (
        "configs()",
        "def configs():\n    found = []\n    for bm in (16, 32):\n"
        "        found.append(SimpleNamespace(BM=bm))\n    return found\n",
    ),
    "generator": ("list(configs())", "def configs():\n    for bm in (16, 32):\n        yield SimpleNamespace(BM=bm)\n"),
    "yield from": (
        "[*configs()]",
        "def one():\n    yield SimpleNamespace(BM=16)\ndef configs():\n    yield from one()\n    yield SimpleNamespace(BM=32)\n",
    ),
    "dataclass": (
        "[Config(16), Config(BM=32)]",
        "from dataclasses import dataclass\n@dataclass\nclass Config:\n    BM: int = 8\n",
    ),
    "named tuple": ("[Config(16), Config(BM=32)]", "from typing import NamedTuple\nclass Config(NamedTuple):\n    BM: int\n"),
    "namedtuple": ("[Config(16), Config(BM=32)]", "from collections import namedtuple\nConfig = namedtuple('Config', 'BM')\n"),
    "dict": ("[SimpleNamespace(**options) for options in TABLE]", "TABLE = [{'BM': 16}, dict(BM=32)]\n"),
    "product": ("[SimpleNamespace(BM=bm, S=s) for bm, s in itertools.product((16, 32), (1,))]", "import itertools\n"),
    "extend": (
        "configs()",
        "def configs():\n    found = [SimpleNamespace(BM=16)]\n    found.extend([SimpleNamespace(BM=32)])\n    return found\n",
    ),
    "plus": ("[SimpleNamespace(BM=16)] + [SimpleNamespace(BM=32)]", ""),
    "class with init": (
        "[Config(16), Config(32)]",
        "class Config:\n    def __init__(self, bm):\n        self.BM = bm\n",
    ),
    "replace": (
        "[BASE, replace(BASE, BM=32)]",
        "from dataclasses import dataclass, replace\n@dataclass\nclass Config:\n    BM: int = 16\nBASE = Config()\n",
    ),
    "enumerate and zip": ("[SimpleNamespace(BM=bm) for _, (bm, s) in enumerate(zip((16, 32), (1, 2)))]", ""),
}


@pytest.mark.parametrize("form", CONFIGS)
def test_configs_are_known_whatever_they_are_built_by(tmp_path: Path, form: str) -> None:
    configs, front = CONFIGS[form]
    found = run(
        tmp_path,
        "from types import SimpleNamespace\n"
        + front
        + TUNED.format(before="pass", y="torch.empty_like(x)").replace("kernel_fn, []", f"kernel_fn, {configs}"),
    )
    [tuning] = found.tunings
    assert isinstance(tuning.configs, Items) and not tuning.configs.open
    blocks = [constants(item.fields["BM"]) for item in tuning.configs.items if isinstance(item, Record)]
    assert blocks == [{16}, {32}]


def test_a_config_of_one_branch_has_its_condition(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        from types import SimpleNamespace

        def configs(flag):
            found = [SimpleNamespace(BM=16)]
            if flag:
                found.append(SimpleNamespace(BM=32))
            return found

        """
        + TUNED.format(before="pass", y="torch.empty_like(x)")
        .replace("kernel_fn, []", "kernel_fn, configs(flag)")
        .replace("\n", "\n        "),
    )
    [tuning] = found.tunings
    assert isinstance(tuning.configs, Items)
    assert [bool(condition) for condition in tuning.configs.conditions] == [False, True]


# ── paths ──────────────────────────────────────────────────────────────────


def launch_block(found) -> set[object]:
    return {one for launch in found.launches for one in constants(launch.arguments.positional[2])}


def test_correlated_flags_are_not_mixed(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x, mode=0):
            if mode == 0:
                block, scale = 16, 1
            elif mode == 1:
                block, scale = 32, 2
            else:
                block, scale = 64, 4
            return _launch(torch.empty_like(x), x, block * scale)
        """,
    )
    assert launch_block(found) == {16, 64, 256}


def test_a_flag_that_is_tested_twice_keeps_its_value(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x, persistent=False):
            variant = "persistent" if persistent else "direct"
            block = 16
            if variant == "persistent":
                block = 32
            if not persistent:
                block = block + 1
            return _launch(torch.empty_like(x), x, block)
        """,
    )
    assert launch_block(found) == {17, 32}


def test_early_exits_exclude_what_follows(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x, fast=False):
            if x.numel() == 0:
                return torch.empty_like(x)
            if fast:
                return _launch(torch.empty_like(x), x, 8)
            if x.dim() != 2:
                raise ValueError("op: matrix expected")
            return _launch(torch.empty_like(x), x, 16)
        """,
    )
    first, second = found.launches
    assert contradictory(first.path, second.path)
    assert not contradictory(second.path)


def test_a_raise_in_a_helper_ends_the_path(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        def check(x, fast):
            if fast:
                raise NotImplementedError

        @register_impl("op", backend="cutile-rs")
        def op(x, fast=False):
            check(x, fast)
            return _launch(torch.empty_like(x), x, 32 if fast else 16)
        """,
    )
    assert launch_block(found) == {16}


def test_match_gives_each_case_its_own_value(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x, mode="small"):
            match mode:
                case "small":
                    block = 16
                case "large" | "huge":
                    block = 64
                case _:
                    raise ValueError(mode)
            return _launch(torch.empty_like(x), x, block)
        """,
    )
    assert launch_block(found) == {16, 64}


def test_try_runs_body_and_handlers_apart(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x):
            try:
                y = _launch(torch.empty_like(x), x, 16)
            except (RuntimeError, ValueError):
                y = _launch(torch.empty_like(x), x, 32)
            else:
                x.numel()
            finally:
                torch.cuda.current_device()
            return y
        """,
    )
    first, second = found.launches
    assert contradictory(first.path, second.path)
    assert launch_block(found) == {16, 32}


def test_a_handler_that_returns_leaves_the_other_path(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x):
            try:
                block = int("16")
            except ValueError:
                return None
            return _launch(torch.empty_like(x), x, block)
        """,
    )
    assert len(found.launches) == 1


def test_loops_over_known_items_are_unrolled(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x):
            y = torch.empty_like(x)
            for block in (16, 32, 64):
                if block == 32:
                    continue
                _launch(y, x, block)
            return y
        """,
    )
    assert [constants(launch.arguments.positional[2]) for launch in found.launches] == [{16}, {64}]


def test_break_ends_a_known_loop(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x):
            y = torch.empty_like(x)
            for block in (16, 32, 64):
                _launch(y, x, block)
                if block == 32:
                    break
            else:
                _launch(y, x, 128)
            return y
        """,
    )
    assert launch_block(found) == {16, 32}


def test_loops_over_unknown_items_run_once_as_a_loop(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x):
            y = torch.empty_like(x)
            for part in x.split(16):
                _launch(y, part, 16)
            while x.numel() > 3:
                _launch(y, x, 32)
            return y
        """,
    )
    assert [len(launch.event.loops) for launch in found.launches] == [1, 1]


def test_a_name_assigned_in_one_branch_keeps_the_old_value_in_the_other(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        def choose(flag):
            block = 16
            if flag:
                block = 32
            return block

        @register_impl("op", backend="cutile-rs")
        def op(x, flag=False):
            return _launch(torch.empty_like(x), x, choose(flag))
        """,
    )
    assert launch_block(found) == {16, 32}


# ── arguments ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("helper", "call"),
    [
        ("def f(*args, **kw):\n    return _launch(*args, **kw)\n", "f(y, x, 16, occupancy=2)"),
        ("def f(y, *rest):\n    return _launch(y, *rest)\n", "f(y, x, 16, 2)"),
        ("def f(y, x, /, block, *, occ):\n    return _launch(y, x, block, occ)\n", "f(y, x, occ=2, block=16)"),
        ("def f(**kw):\n    kw['occupancy'] = 2\n    return _launch(**kw)\n", "f(out=y, x=x, block=16)"),
        ("def f(y, x, options):\n    return _launch(y, x, *options)\n", "f(y, x, (16, 2))"),
        ("def f(y, x, options):\n    return _launch(y, x, **options)\n", "f(y, x, dict(block=16, occupancy=2))"),
        ("def f(y, x, options=(16, 2)):\n    block, occ = options\n    return _launch(y, x, block, occ)\n", "f(y, x)"),
        ("def f(y, x, first, *rest):\n    [occ] = rest\n    return _launch(y, x, first, occ)\n", "f(y, x, 16, 2)"),
        ("def f(y, x):\n    block, *rest = [16, 2]\n    return _launch(y, x, block, rest[0])\n", "f(y, x)"),
        (
            "def f(y, x, block=None, occ=None):\n    block = block or 16\n"
            "    occ = 2 if occ is None else occ\n    return _launch(y, x, block, occ)\n",
            "f(y, x)",
        ),
    ],
)
def test_arguments_arrive_in_their_slots(tmp_path: Path, helper: str, call: str) -> None:
    found = run(
        tmp_path,
        helper + f'@register_impl("op", backend="cutile-rs")\ndef op(x):\n    y = torch.empty_like(x)\n    return {call}\n',
    )
    [launch] = found.launches
    assert [constants(value) for value in launch.arguments.positional[2:]] == [{16}, {2}]


def test_a_config_field_keeps_its_way(tmp_path: Path) -> None:
    found = run(tmp_path, TUNED.format(before="pass", y="torch.empty_like(x)").replace("cfg.BM", "int(getattr(cfg, 'BM', 8))"))
    [launch] = found.launches
    names = {term.name for term in _terms(launch.arguments.positional[2]) if term.op == "field"}
    assert names == {"BM"}


def _terms(value) -> list[Term]:
    from cutile_lint.unit.machine.values import subterms

    return [term for term in subterms(value) if isinstance(term, Term)]


def test_default_values_are_those_of_the_definition(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        BLOCK = 16

        def f(y, x, block=BLOCK):
            return _launch(y, x, block)

        BLOCK = 32

        @register_impl("op", backend="cutile-rs")
        def op(x):
            return f(torch.empty_like(x), x)
        """,
    )
    assert launch_block(found) == {16}


def test_closures_see_the_last_value(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x):
            block = 16

            def go():
                return _launch(torch.empty_like(x), x, block)

            block = 32
            return go()
        """,
    )
    assert launch_block(found) == {32}


def test_nonlocal_and_global_writes(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x):
            block = 16

            def grow():
                nonlocal block
                block = block * 2

            grow()
            return _launch(torch.empty_like(x), x, block)
        """,
    )
    assert launch_block(found) == {32}


def test_state_of_a_module_is_not_taken_for_its_first_value(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        _READY = False
        _CACHE = {}

        def first():
            global _READY
            if _READY:
                return
            _READY = True
            _CACHE["x"] = 1

        @register_impl("op", backend="cutile-rs")
        def op(x):
            first()
            block = 16 if _READY else 32
            return _launch(torch.empty_like(x), x, block)
        """,
    )
    assert len(found.launches) == 1
    assert any(event.kind == "global" for event in found.trace.events)


def test_a_getter_is_run_for_what_it_returns(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        def swish(x):
            def kernel_fn(cfg):
                return _launch(torch.zeros_like(x), x, cfg.BM)

            return autotune_launch(kernel_fn, [], (x.shape,)).output

        @register_impl("op", backend="cutile-rs")
        def get_op():
            return swish
        """,
    )
    assert timed(found) == ["fill torch.zeros_like(x)"]


def test_recursion_ends_and_is_said(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        def deep(x, n):
            return deep(x, n + 1)

        @register_impl("op", backend="cutile-rs")
        def op(x):
            deep(x, x.numel())
            return _launch(torch.empty_like(x), x, 16)
        """,
    )
    assert [reason for reason, _ in found.trace.gaps]


def test_a_large_run_is_cut_and_says_so(tmp_path: Path) -> None:
    body = "".join(f"    if x.size({n}) == 1:\n        y = y + {n}\n" for n in range(60))
    found = run(
        tmp_path,
        f'@register_impl("op", backend="cutile-rs")\ndef op(x):\n    y = 0\n{body}    return _launch(torch.empty_like(x), x, y)\n',
    )
    assert len(found.launches) == 1


def test_results_of_the_tuner_are_known(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        """
        @register_impl("op", backend="cutile-rs")
        def op(x):
            def kernel_fn(cfg):
                y = torch.empty_like(x)
                return _launch(y, x, cfg.BM), y

            result = autotune_launch(kernel_fn, [], (x.shape,))
            out, _ = result.output
            return out.view(x.shape)
        """,
    )
    [tuning] = found.tunings
    output = tuning.output
    assert isinstance(output, Items)
    (_, returned) = found.trace.returned[-1]
    assert found.tensors.shares_memory(returned, output.items[0])


def test_several_ops_in_one_module(tmp_path: Path) -> None:
    paths = write(
        tmp_path / "ops",
        """
        @register_impl("one", backend="cutile-rs")
        def one(x):
            return _launch(torch.empty_like(x), x, 16)

        @register_impl("two", backend="cutile-rs")
        def two(x):
            return _launch(torch.empty_like(x), x, 32)

        @register_impl("three", backend="triton")
        def three(x):
            return torch.zeros_like(x)
        """,
    )
    units = load(Workspace(), paths, Settings())
    assert [unit.name for unit in units] == ["one", "two"]
    assert [launch_block(unit.runs[0]) for unit in units] == [{16}, {32}]


@pytest.mark.parametrize(
    "test", ["len({x.dtype, y.dtype}) != 1", "len(set([x.dtype, y.dtype])) > 1", "len({t.dtype for t in (x, y)}) != 1"]
)
def test_items_of_a_set_that_may_be_equal(tmp_path: Path, test: str) -> None:
    found = run(
        tmp_path,
        f"""\
        @register_impl("op", backend="cutile-rs")
        def op(x, y):
            if {test}:
                raise TypeError("op")
            return _launch(torch.empty_like(x), y, 1)
        """,
    )
    assert len(found.launches) == 1
