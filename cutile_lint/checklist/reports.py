"""What the reports of a porting pipeline say at their head."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cutile_lint.checklist.context import Context, line_place
from cutile_lint.checklist.verdict import Absent, Evidence, Failed, Open, Shown
from cutile_lint.regex import regex

_VERDICT = regex(r"VERDICT:\s*`?([A-Z_]+)")
_GOOD = frozenset(["ALL_PASS", "PASS", "PASS_WITH_NOTES", "DONE", "COMPILED"])
_BAD = ("FAIL", "BLOCKED", "ERROR")


def _verdict(context: Context, *names: str) -> Iterator[Evidence]:
    """The verdict at the head of the first report of these names; nothing when there is no such report."""
    path = context.report(*names)
    if path is None:
        return
    text, place = context.first_line(path)
    found = _VERDICT.match(text)
    word = found.group(1) if found is not None else ""
    if word in _GOOD:
        yield Shown(f"`{path.name}` begins with `{text}`", place, path)
    elif word.startswith(_BAD):
        yield Failed(f"`{path.name}` begins with `{text}`", place, path)
    elif word:
        yield Open(f"`{path.name}` begins with `{text}`", place, path)
    else:
        yield Open(f"`{path.name}` does not begin with a verdict", place, path)


def correctness_report(context: Context) -> Iterator[Evidence]:
    yield from list(_verdict(context, "correctness.md", "agent_d.md")) or [
        Open("whether the tests pass is not known: there is no `reports/correctness.md`")
    ]


def performance_report(context: Context) -> Iterator[Evidence]:
    yield from list(_verdict(context, "performance.md", "agent_e.md")) or [
        Open("nothing was measured: there is no `reports/performance.md`")
    ]


def profile(context: Context) -> Iterator[Evidence]:
    names = [entry.name for entry in context.entries]
    kept = [path for path in context.reports if re.match(r"perf|profile|nsys|cupti", path.name)]
    for path in kept:
        source = context.workspace.source(path)
        for row in range(1, len(source.line_starts) + 1) if source is not None else ():
            hit = next((name for name in names if re.search(rf"\b{re.escape(name)}\b", source.line(row))), None)  # type: ignore[union-attr]
            if hit is not None:
                yield Shown(f"`{path.name}` names the kernel `{hit}`", line_place(source, row), path)  # type: ignore[arg-type]
                return
    yield Open("no report of a profile names a launched kernel")


def investigation(context: Context) -> Iterator[Evidence]:
    asked = next((one for one in _verdict(context, "performance.md", "agent_e.md") if "INVESTIGATE" in one.text), None)
    found = [path for path in context.reports if path.name.startswith("perf_investigation")]
    for path in found:
        text, place = context.first_line(path)
        yield Shown(f"`{path.name}`: {text}" if text else f"`{path.name}` is empty", place, path)
    if not found and asked is not None:
        yield Open(f"{asked.text}, and there is no `reports/perf_investigation_*.md`", asked.place, asked.path)
    elif not found:
        yield Absent("no performance report asks for one")


def build_reports(context: Context) -> Iterator[Evidence]:
    if not context.reports:
        yield Absent("no `reports/` beside the op: it was not made by the pipeline")
        return
    for name in ("build_log.md", "agent_b.md"):
        path = context.report(name)
        if path is None:
            yield Open(f"there is no `reports/{name}`")
        else:
            text, place = context.first_line(path)
            yield Shown(f"`{name}`: {text}", place, path) if text else Open(f"`{name}` is empty", place, path)
