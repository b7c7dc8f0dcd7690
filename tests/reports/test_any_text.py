"""Whatever the source and the place: a report comes out, in lines of the asked width, that move no cursor."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cutile_lint.findings import Edit, Finding, Fix, Related
from cutile_lint.reports import View, render
from cutile_lint.reports.text import width
from cutile_lint.sources import Place, Source, Span

TEXT = st.text(st.sampled_from("ab \t\r\n漢é\u0301\x1b\x00\u202e\u2028😀`<|\\"), max_size=60)


@settings(max_examples=60, deadline=None)
@given(text=TEXT, message=TEXT, start=st.integers(0, 200), length=st.integers(0, 200), columns=st.integers(40, 100))
def test_every_format_takes_any_text(text: str, message: str, start: int, length: int, columns: int) -> None:
    source = Source(Path("/p/a.py"), text.encode())
    begin = len(text[: start % (len(text) + 1)].encode())
    end = min(len(source.data), begin + len(text[start % (len(text) + 1) :][:length].encode()))
    place = Place(source, Span(begin, end))
    fix = Fix(message, (Edit(source, begin, end, message),))
    found = Finding(place, message, message, (Related(place, message),), fix, code="CTL101", name="n")
    view = View(cwd=Path("/p"), root=Path("/p"), width=columns)
    lines = render("full", [found], view).split("\n")
    assert all(width(line) <= max(columns, 30 + 6 * len(message)) for line in lines)
    assert all(line.isprintable() or "\u0301" in line for line in lines)
    source_lines = [line for line in lines if " | " in line and "^" not in line]
    assert all(width(line) <= columns for line in source_lines)
    for name in ("json", "gitlab", "sarif"):
        json.loads(render(name, [found], view))
    for name in ("concise", "github"):
        assert render(name, [found], view).count("\n") == 1
    render("markdown", [found], view)
