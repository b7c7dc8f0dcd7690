"""One input tried: its file read alone, and now and then its whole op checked, fixed, mapped and reported."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

from cutile_lint.checklist import judge
from cutile_lint.config import Configurations
from cutile_lint.engine import api
from cutile_lint.engine.registry import builtin_rules
from cutile_lint.errors import UserError
from cutile_lint.fixes import fix_loop
from cutile_lint.flow import op_map
from cutile_lint.reports import View, render
from cutile_lint.sources import Source, Workspace
from cutile_lint.unit import Plan
from tests.robustness.fuzz.mutate import Input
from tests.robustness.fuzz.targets import READERS, seeds

#: seconds of processor time for one file
SECONDS = 2.0
#: bytes of memory for one file
BYTES = 500 << 20
#: of so many inputs, one has its whole op checked (it costs from 40 to 400 ms), by language
_EVERY = {"python": 4, "rust": 8, "cdef": 8, "config": 4, "toml": 20, "mlir": 60, "json": 60}
FORMATS = ("full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "markdown")


class Fault(Exception):
    """What may not happen."""


def attempt(made: Input, thorough: bool = False) -> str:
    """Try an input; returns what was tried. Raises whatever went wrong. ``thorough``: everything, whatever the number says."""
    language, path = made.seed.language, made.seed.path
    done = "read"
    started = time.process_time()
    try:
        Source(path, made.text)
        part = Source(path, made.part) if language in READERS else None
    except UnicodeDecodeError:
        part = None
    if part is not None:
        READERS[language](part)
    _in_time(started, "reading it", SECONDS)
    turn = made.number // 7
    if thorough or turn % _EVERY[language] == 0:
        done = "check"
        _whole_op(made, thorough or turn % (10 * _EVERY[language]) == 0)
    return done


def _whole_op(made: Input, everything: bool) -> None:
    path = made.seed.path
    overlays = {path: made.text}
    configurations, files, before = _base(made.seed.op, made.seed.language == "config")
    if made.seed.language == "config":
        configurations = Configurations(Workspace(overlays))
    files = sorted({*files, path} - ({path} if made.seed.language == "config" else set()))
    started = time.process_time()
    try:
        report = api.check_files(files, configurations, overlays, before, 1)
    except UserError as error:
        if made.seed.language != "config":
            raise Fault(f"a user's error where there is no user: {error}") from None
        return
    _in_time(started, "checking its op", SECONDS + _base_seconds(made.seed.op))
    _no_errors(report)
    if not everything:
        return
    view = View(cwd=made.seed.op, root=made.seed.op, width=100)
    for name in FORMATS:
        text = render(name, report.findings, view)
        if name in ("json", "sarif", "gitlab"):
            json.loads(text)
    if made.seed.language != "config":

        def again(texts: Any) -> Any:
            checked = api.check_files(files, configurations, texts, before, 1)
            _no_errors(checked)
            return checked.findings

        fix_loop(again, overlays, True, lambda path: "")
        for unit in Plan(Workspace(overlays), files, configurations.for_file(path)).units(0)[:2]:
            op_map(unit, [])
            judge(unit, report.findings, [], [], {info.code for info in builtin_rules()})


def _no_errors(report: api.CheckReport) -> None:
    if report.errors:
        raise Fault("\n".join([*report.errors, *report.traces]))


def _in_time(started: float, doing: str, limit: float) -> None:
    taken = time.process_time() - started
    if taken > limit:
        raise Fault(f"{doing} took {taken:.1f} s")


def prepare() -> None:
    """Read the ops as they are on disk."""
    for listed in seeds().values():
        for seed in listed:
            _base(seed.op, seed.language == "config")


@cache
def _base(op: Path, is_config: bool) -> tuple[Configurations, list[Path], Workspace | None]:
    """The op as it is on disk: what does not change from input to input is read once."""
    configurations = Configurations()
    files = api.find_files([op], configurations).files
    started = time.process_time()
    report = api.check_files(files, configurations, jobs=1)
    _SECONDS[op] = time.process_time() - started
    return configurations, files, report.workspace


_SECONDS: dict[Path, float] = {}


def _base_seconds(op: Path) -> float:
    return _SECONDS.get(op, 0.0)
