"""Edits that go together give the same text as one after the other."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cutile_lint.findings import Edit, Finding, Fix
from cutile_lint.fixes.apply import apply, compatible
from cutile_lint.sources import Place, Source, Span

DATA = b"0123456789abcdefghij"
SPANS = st.tuples(st.integers(0, len(DATA)), st.integers(0, 4)).map(lambda pair: (pair[0], min(len(DATA), sum(pair))))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(SPANS, st.text("XYZ", max_size=3)), max_size=8))
def test_chosen_edits_do_not_meet_and_all_apply(wanted: list[tuple[tuple[int, int], str]]) -> None:
    source = Source(Path("/p/a.py"), DATA)
    found = [Finding(Place(source, Span(*span)), "m", fix=Fix("f", (Edit(source, *span, content),))) for span, content in wanted]
    chosen = compatible(found)
    assert chosen[:1] == found[:1]
    edits = sorted((finding.fix.edits[0] for finding in chosen if finding.fix), key=lambda edit: edit.start, reverse=True)
    expected = DATA
    for edit in edits:
        expected = expected[: edit.start] + edit.content.encode() + expected[edit.end :]
    texts = apply([finding.fix for finding in chosen if finding.fix], {source.path: DATA})
    assert texts.get(source.path, DATA) == expected
