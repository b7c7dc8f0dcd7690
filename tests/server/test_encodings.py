from __future__ import annotations

import copy

import pytest
from client import CAPABILITIES, span, where
from conftest import Op, Start
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from cutile_lint.server.positions import Encoding, Moved
from cutile_lint.sources import Source, Span

UNITS = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_places_are_right_behind_wide_characters(launch: Start, op: Op, name: str, newline: str) -> None:
    capabilities = copy.deepcopy(CAPABILITIES)
    capabilities["general"]["positionEncodings"] = [name]
    client = launch(op.root)
    assert client.start(capabilities, {"scope": "open"})["capabilities"]["positionEncoding"] == name
    old = "kernel_fn=lambda cfg: _launch("
    new = 'kernel_fn=lambda cfg, 𝜶é="𐍈ü\t": _launch('
    text = op.wrapper.read_text()
    uri = client.open(op.wrapper, text.replace("\n", newline))
    client.diagnostics(uri, 1)
    at = where(text, old, UNITS[name])
    client.change(uri, {"range": at, "text": new})
    found = next(one for one in client.diagnostics(uri, 2) if one["code"] == "CTL101")
    changed = text.replace(old, new)
    assert found["range"]["start"] == where(changed, "torch.zeros_like(x)", UNITS[name])["start"]
    size = UNITS[name]("𝜶é")
    start = where(changed, "𝜶é", UNITS[name])["start"]
    line, column = start["line"], start["character"]
    client.change(uri, {"range": span((line, column), (line, column + size)), "text": "b"})
    found = next(one for one in client.diagnostics(uri, 3) if one["code"] == "CTL101")
    assert found["range"]["start"] == where(changed.replace("𝜶é", "b"), "torch.zeros_like(x)", UNITS[name])["start"]


def test_a_byte_order_mark_counts_where_the_client_sent_it(launch: Start, op: Op) -> None:
    client = launch(op.root)
    client.start(options={"scope": "open"})
    text = op.wrapper.read_text()
    uri = client.open(op.wrapper, "\ufeff" + text)
    found = next(one for one in client.diagnostics(uri, 1) if one["code"] == "CTL101")
    assert found["range"]["start"]["line"] == 91
    client.change(uri, {"range": span((0, 0), (0, 1)), "text": ""})
    client.change(uri, {"range": span((0, 0), (0, 0)), "text": "\n"})
    found = next(one for one in client.diagnostics(uri, 3) if one["code"] == "CTL101")
    assert found["range"]["start"]["line"] == 92


_TEXTS = st.text(alphabet="ab\té𝜶𐍈\n\r\ufeff", max_size=40)


@given(_TEXTS, st.sampled_from(sorted(UNITS)), st.booleans())
def test_offsets_and_positions_are_inverse(text: str, name: str, shows_bom: bool) -> None:
    source = Source.__new__(Source)
    Source.__init__(source, __import__("pathlib").Path("/x.py"), text.encode())
    encoding = Encoding(name)
    offset = 3 if text.startswith("\ufeff") and not shows_bom else 0
    for at, char in enumerate(text):
        before = len(text[:at].encode())
        inside_break = char == "\n" and at and text[at - 1] == "\r"
        if before >= offset and not inside_break:
            assert encoding.offset(source, encoding.position(source, before, shows_bom), shows_bom) == before
    assert encoding.offset(source, Position(10_000, 3)) == len(source.data)


def test_places_between_two_changes_move_with_their_text() -> None:
    lines = [f"line number {number} says something" for number in range(6)]
    before = "\n".join(lines)
    after = "\n".join(["above", "above", *lines[:4], "line((", lines[5]])
    moved, at = Moved(before.encode(), after.encode()), before.index("number 2")
    span_ = moved.span(Span(at, at + 8))
    assert span_ is not None and after.encode()[span_.start : span_.end] == b"number 2"
    assert moved.span(Span(before.index(lines[4]), before.index(lines[4]) + 4)) is None


@given(_TEXTS, _TEXTS, _TEXTS, _TEXTS)
def test_places_outside_of_a_change_move_with_their_text(head: str, old: str, new: str, tail: str) -> None:
    before, after = (head + old + tail).encode(), (head + new + tail).encode()
    moved = Moved(before, after)
    size = len(tail.encode())
    if size:
        span_ = Span(len(before) - size, len(before))
        now = moved.span(span_)
        assert now is None or after[now.start : now.end].endswith(tail.encode()) or before == after
    if head:
        now = moved.span(Span(0, len(head.encode())))
        assert now is None or now.start == 0
