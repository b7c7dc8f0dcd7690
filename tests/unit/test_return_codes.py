"""Which return codes of launches decide nothing, by what is written behind the launch."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cutile_lint.config.settings import Settings
from cutile_lint.sources.workspace import Workspace
from cutile_lint.unit import load
from cutile_lint.unit.boundary.return_codes import unchecked_codes
from tests.unit.wrappers import write

WRAPPER = """\
import contextlib
import logging
import sys

log = logging.getLogger(__name__)
last = 0


class Suite:
    code = 0


def ignore(code, what="op"):
    if code != 0:
        pass


def judge(code):
    if code != 0:
        raise RuntimeError("op")


def same(code):
    return code


def _run(out, x, bm, debug):
    ffi, lib = bind_kernel_function_cffi("op", "")
    {body}


@register_impl("op", backend="cutile-rs")
def op(x, debug=False, **kwargs):
    def kernel_fn(cfg):
        y = torch.empty_like(x)
        {call}
        return y

    return autotune_launch(kernel_fn, [], key=(x.shape,)).output
"""
LAUNCH = "lib.cutile_op(make_tensor_desc(ffi, out), make_tensor_desc(ffi, x), bm)"


def dropped(tmp_path: Path, body: str, call: str = "_run(y, x, cfg.BM, debug)") -> bool:
    text = textwrap.indent(body.replace("LAUNCH", LAUNCH), "    ").strip()
    paths = write(tmp_path / "ops", WRAPPER.format(body=text, call=textwrap.indent(call, "        ").strip()))
    [unit] = load(Workspace(), paths, Settings())
    return bool(list(unchecked_codes(unit)))


@pytest.mark.parametrize(
    "body",
    [
        "LAUNCH",
        "rc = LAUNCH",
        "rc = LAUNCH\ndel rc",
        "rc = LAUNCH\ncode = rc\ndel rc, code",
        "rc = LAUNCH\nrc",
        "rc = LAUNCH\n_ = rc",
        "_ = LAUNCH\ndel _",
        "rc = LAUNCH\nrc == 0",
        "LAUNCH == 0",
        "rc = LAUNCH\nbool(rc)",
        "rc = LAUNCH\nrc, debug",
        "rc = LAUNCH\nok = rc == 0",
        "ok = LAUNCH == 0",
        "rc = LAUNCH\nok = rc == 0\nif not ok:\n    pass",
        "rc = LAUNCH\nif rc:\n    pass",
        "rc = LAUNCH\nif rc:\n    ...",
        "rc = LAUNCH\nif rc != 0:\n    pass\nelse:\n    pass",
        "rc = LAUNCH\nif rc == -2:\n    pass\nelif rc < 0:\n    'an error'",
        "rc = LAUNCH\nif rc:\n    if debug:\n        pass",
        "rc = LAUNCH\nif int(rc) != 0 and debug:\n    pass",
        "if LAUNCH:\n    pass",
        "if (rc := LAUNCH) != 0:\n    pass",
        "(rc := LAUNCH)",
        "rc = LAUNCH\nmatch rc:\n    case 0:\n        pass\n    case _:\n        pass",
        "rc = LAUNCH\nmessage = f'{rc}'\nprint(message)",
        "rc = LAUNCH\nignore(rc)",
        "rc = LAUNCH\nignore(code=rc, what='op')",
        "ignore(LAUNCH)",
        "for _ in range(2):\n    rc = LAUNCH\n    del rc",
        "with contextlib.suppress(ValueError):\n    rc = LAUNCH\n    rc",
    ],
)
def test_a_code_that_decides_nothing(tmp_path: Path, body: str) -> None:
    assert dropped(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        "check_rc(LAUNCH, 'cutile_op')",
        "rc = LAUNCH\ncheck_rc(int(rc), 'cutile_op')\ndel rc",
        "rc = LAUNCH\nif rc:\n    log.error('failed')",
        "rc = LAUNCH\nif rc:\n    print('failed')",
        "rc = LAUNCH\nif rc == 0:\n    pass\nelse:\n    raise RuntimeError(rc)",
        "rc = LAUNCH\nok = rc == 0\nif not ok:\n    raise RuntimeError('op')",
        "rc = LAUNCH\nok = rc == 0\nassert ok",
        "rc = LAUNCH\nrc == 0 or sys.exit(rc)",
        "if (rc := LAUNCH) != 0:\n    raise RuntimeError(rc)",
        "if (rc := LAUNCH) != 0:\n    pass\ncheck_rc(rc, 'cutile_op')",
        "rc = LAUNCH\nif rc:\n    return None",
        "rc = 0\nwhile rc == 0 and debug:\n    rc = LAUNCH",
        "rc = LAUNCH\nSuite.code = rc",
        "global last\nlast = LAUNCH",
        "rc = LAUNCH\njudge(rc)",
        "rc = LAUNCH\ncode = same(rc)\ncheck_rc(code, 'cutile_op')",
        "rc = LAUNCH\nraise_for_code(rc)",
        "rc = LAUNCH\nraise_for_code(int(rc))",
        "rc = LAUNCH\nwhile rc:\n    pass",
        "codes = {}\ncodes['op'] = LAUNCH",
        "rc = LAUNCH\nyield rc",
        "match LAUNCH:\n    case 0:\n        pass\n    case code:\n        raise RuntimeError(code)",
    ],
)
def test_a_code_that_decides_something(tmp_path: Path, body: str) -> None:
    assert not dropped(tmp_path, body)


@pytest.mark.parametrize("body", ["return LAUNCH", "rc = LAUNCH\nreturn rc", "rc = LAUNCH\nreturn 0 if rc == 0 else -1"])
@pytest.mark.parametrize(
    ("call", "is_dropped"),
    [
        ("_run(y, x, cfg.BM, debug)", True),
        ("code = _run(y, x, cfg.BM, debug)\ndel code", True),
        ("if _run(y, x, cfg.BM, debug):\n    pass", True),
        ("check_rc(_run(y, x, cfg.BM, debug), 'cutile_op')", False),
        ("if _run(y, x, cfg.BM, debug):\n    raise RuntimeError('op')", False),
        ("code = _run(y, x, cfg.BM, debug)\nassert not code", False),
    ],
)
def test_a_code_that_is_returned_is_the_callers(tmp_path: Path, body: str, call: str, is_dropped: bool) -> None:
    assert dropped(tmp_path, body, call) is is_dropped
