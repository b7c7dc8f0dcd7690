"""Adding and dropping arguments of a call: commas, comments, and whether each argument has a line of its own."""

from __future__ import annotations

from cutile_lint.findings import Edit
from cutile_lint.frontends import syntax as s
from cutile_lint.frontends.python.edits import Rewrite, edit
from cutile_lint.frontends.python.layout import has_comment, line_end, line_start, own_comments, trailing, without_comments
from cutile_lint.records import dataclass
from cutile_lint.sources import Source, Span


@dataclass(frozen=True, slots=True)
class _Slot:
    """One argument with the parentheses around it, and the offset of the comma behind it (-1: none)."""

    start: int
    end: int
    comma: int

    @property
    def stop(self) -> int:
        """Behind the argument and its comma."""
        return self.comma + 1 if self.comma != -1 else self.end


def drop_argument(module: s.Module, call: s.Call, argument: s.Arg) -> Rewrite | None:
    """Drop an argument with its comma; one that has its lines for itself goes with them and its comments.

    None when the argument is not one of the call's.
    """
    source, inside = module.source, _inside(call)
    index = next((place for place, item in enumerate(call.args) if item is argument), -1)
    if index == -1 or inside is None:
        return None
    slots = _slots(source, call, inside)
    slot = slots[index]
    if len(slots) == 1:
        return Rewrite((edit(source, inside.start, inside.end, ""),), has_comment(source, inside.start, inside.end))
    previous, last = slots[index - 1] if index else None, index == len(slots) - 1
    if _has_own_lines(source, slot):
        start, end = own_comments(source, slot.start)[0], line_end(source, slot.stop)
        edits = [edit(source, start, end, "")]
        if last and slot.comma == -1 and previous:  # no trailing comma before, none after
            edits.insert(0, edit(source, previous.comma, previous.comma + 1, ""))
        return Rewrite(tuple(edits), has_comment(source, start, end))
    if not last:
        start, end = slot.start, slots[index + 1].start
        if previous and has_comment(source, slot.stop, end):  # that comment stays, and its line with it
            start, end = previous.stop, slot.stop
        return Rewrite((edit(source, start, end, ""),), has_comment(source, start, end))
    assert previous is not None
    if has_comment(source, previous.end, slot.start):
        edits = [edit(source, previous.comma, previous.comma + 1, ""), edit(source, slot.start, slot.stop, "")]
        return Rewrite(tuple(edits), has_comment(source, slot.start, slot.stop))
    return Rewrite((edit(source, previous.end, slot.end, ""),), has_comment(source, slot.start, slot.end))


def add_argument(module: s.Module, call: s.Call, text: str, name: str = "") -> Rewrite | None:
    """Add ``name=text`` as the last argument, or, without a name, ``text`` as the last positional one.

    A call with one argument a line gets one line more, indented like the others. None for a macro or a call without a list.
    """
    source, inside = module.source, _inside(call)
    if inside is None:
        return None
    text = f"{name}={text}" if name else text
    if not call.args:
        return Rewrite((edit(source, inside.start, inside.start, text),))
    if call.args[0].span.start < inside.start:  # `f(x for x in y)`: its parentheses are the call's
        ends = (edit(source, inside.start, inside.start, "("), edit(source, inside.end, inside.end, f"), {text}"))
        return Rewrite(ends)
    slots = _slots(source, call, inside)
    following = len(slots) if name else sum(1 for item in call.args if item.name is None and item.spread != "**")
    if following < len(slots):
        slot = slots[following]
        if _begins_line(source, slot.start):
            start = own_comments(source, slot.start)[0]
            return Rewrite((edit(source, start, start, f"{_line_indent(source, slot.start)}{text},\n"),))
        return Rewrite((edit(source, slot.start, slot.start, f"{text}, "),))
    return Rewrite(tuple(_appended(source, slots[-1], text)))


def _appended(source: Source, last: _Slot, text: str) -> list[Edit]:
    ending = "," if last.comma != -1 else ""
    comma = [] if ending else [edit(source, last.end, last.end, ",")]
    if _begins_line(source, last.start):
        rest = trailing(source, last.stop)
        place = rest.end(1) if rest and rest.group(1) else last.stop
        added = f"\n{_line_indent(source, last.start)}{text}{ending}"
    else:
        place, added = last.stop, f" {text}{ending}"
    if comma and place == last.end:
        return [edit(source, place, place, "," + added)]
    return [*comma, edit(source, place, place, added)]


def _inside(call: s.Call) -> Span | None:
    """The bytes between the parentheses of a call."""
    return Span(call.args_span.start + 1, call.args_span.end - 1) if call.args_span else None


def _slots(source: Source, call: s.Call, inside: Span) -> list[_Slot]:
    slots: list[_Slot] = []
    opening = inside.start
    for index, argument in enumerate(call.args):
        limit = call.args[index + 1].span.start if index + 1 < len(call.args) else inside.end
        between = without_comments(source.part(argument.span.end, limit))
        comma = between.find(b",")
        before = without_comments(source.part(opening, argument.span.start))
        start = opening + len(before) - len(before.lstrip())
        closing = between if comma == -1 else between[:comma]
        end = argument.span.end + len(closing.rstrip(b" \t\f\r\n\\"))
        comma = -1 if comma == -1 else argument.span.end + comma
        slots.append(_Slot(min(start, argument.span.start), end, comma))
        opening = comma + 1
    return slots


def _begins_line(source: Source, offset: int) -> bool:
    return not source.part(line_start(source, offset), offset).strip()


def _line_indent(source: Source, offset: int) -> str:
    return source.part(line_start(source, offset), offset).decode()


def _has_own_lines(source: Source, slot: _Slot) -> bool:
    """Whether nothing but its comma and a comment shares the argument's lines."""
    rest = trailing(source, slot.stop)
    return _begins_line(source, slot.start) and rest is not None and bool(rest.group(2))
