"""Where an FFI call is written: the call that names the symbol and gives its arguments, which may be that of a helper."""

from __future__ import annotations

from collections.abc import Sequence

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Span
from cutile_lint.unit.launches import Launch
from cutile_lint.unit.machine.trace import Frame
from cutile_lint.unit.machine.values import Value


@dataclass(frozen=True, slots=True)
class Written:
    """``call``: the outermost call that is given the symbol, else the launch; ``names``: what means the symbol on the way;
    ``arguments``: their places by slot, as far as it is clear which slot they are for."""

    call: Place
    names: tuple[Place, ...]
    arguments: dict[int, Place]
    #: slots whose arguments stand by themselves, without a name and not in a spread
    plain: frozenset[int]


def written(launch: Launch, slots: Sequence[str]) -> Written:
    """How the call of an export with these slots is written."""
    event, node = launch.event, launch.event.node
    if not isinstance(node, syntax.Call):
        return Written(launch.place, (launch.place,), {}, frozenset())
    names, places, calls = _names(launch, node), list(launch.arguments.places), [launch.place]
    at = names[0] if event.taken is not None else None
    for stop in reversed(event.stack):
        frame = stop.frame
        _through_rest(frame, launch.arguments.positional, places)
        if frame.call is None or at is None:
            continue
        at = _passed(frame, at) or _given(frame, event.taken)
        if at is not None:
            calls.append(frame.call)
            places = [_passed(frame, place) or place for place in places]
            if at != frame.call:  # no `partial` of the helper
                names.append(word(at, launch.symbol))
    if launch.place in places:
        early = _bound_early(launch)
        places[: len(early)] = early
    return Written(calls[-1], tuple(dict.fromkeys(names)), *_clear(launch, node, slots, places, calls))


def _clear(
    launch: Launch, node: syntax.Call, slots: Sequence[str], places: list[Place], calls: list[Place]
) -> tuple[dict[int, Place], frozenset[int]]:
    """(places of the arguments that are clear, which of them are plain): behind a spread of unknown length nothing is."""
    arguments = launch.arguments
    leading = next((index for index, arg in enumerate(node.args) if arg.spread or arg.name), len(node.args))
    count = len(slots) if arguments.exact else min(leading, len(slots))
    found = {index: place for index, place in enumerate(places[:count]) if place not in calls}
    spread = [Place(launch.place.source, arg.value.span) for arg in node.args if arg.spread]
    plain = frozenset(index for index, place in found.items() if place not in spread)
    for index, name in enumerate(slots):
        if index not in found and name in arguments.keyword_places:
            found[index] = arguments.keyword_places[name]
    return found, plain


def _names(launch: Launch, node: syntax.Call) -> list[Place]:
    """What is called, and where that was taken from the library when it has a name of its own."""
    source, func, taken = launch.place.source, node.func, launch.event.taken
    own = Place(source, func.name_span if isinstance(func, syntax.Attr) else func.span)
    if taken is None:
        return [own]
    if taken.source is source and own.span.covers(taken.span):  # `getattr(lib, name)(…)`
        return [word(taken, launch.symbol)]
    return [own, word(taken, launch.symbol)]


def _through_rest(frame: Frame, values: Sequence[Value], places: list[Place]) -> None:
    """Set the places of values that a function spreads from its own ``*args`` to those where it was given them."""
    params = frame.function.params if frame.function is not None else []
    first = next((at for at, param in enumerate(params) if param.kind == "*" and param.name), None)
    given = frame.arguments
    if first is None or given is None or frame.call is None:
        return
    rest = given.positional[first:]
    name = params[first].name
    spread = [at for at, place in enumerate(places) if _reads(frame, place, name)]
    if len(spread) == len(rest) == len(given.places[first:]):
        if all(values[at] is value for at, value in zip(spread, rest, strict=True)):
            for at, place in zip(spread, given.places[first:], strict=True):
                places[at] = place


def _passed(frame: Frame, place: Place) -> Place | None:
    """Where a function was given the parameter that a place in it reads; None for anything else there."""
    given = frame.arguments
    if frame.function is None or given is None or frame.call is None:
        return None
    for at, param in enumerate(frame.function.params):
        if param.kind not in ("*", "**") and _reads(frame, place, param.name):
            by_place = param.kind != "keyword" and at < min(len(given.positional), len(given.places))
            return given.places[at] if by_place else given.keyword_places.get(param.name)
    return None


def _given(frame: Frame, taken: Place | None) -> Place | None:
    """The symbol where a function was given it: under a parameter that it was taken by, or within the call."""
    if taken is None or frame.call is None or frame.function is None:
        return None
    if frame.source is taken.source and frame.function.span.covers(taken.span):
        return _passed(frame, taken)
    return taken if frame.call.source is taken.source and frame.call.span.covers(taken.span) else None


def _reads(frame: Frame, place: Place, name: str) -> bool:
    """A place in a function is its name alone."""
    return (
        place.source is frame.source
        and frame.function is not None
        and frame.function.span.covers(place.span)
        and place.source.raw[place.span.start : place.span.end] == name.encode()
    )


def _bound_early(launch: Launch) -> list[Place]:
    """The arguments that a ``partial`` of the symbol itself binds, where a running function makes it and they fit those of the call."""
    taken = launch.event.taken
    for stop in launch.event.stack:
        function = stop.frame.function
        if taken is None or function is None or taken.source is not stop.source or not function.span.covers(taken.span):
            continue
        for node in function.walk():
            if isinstance(node, syntax.Call) and node.args and node.args[0].value.span == taken.span:
                given = [Place(taken.source, arg.value.span) for arg in node.args[1:] if arg.name is None]
                bound = launch.arguments.places[: len(given)]
                return given if all(place == launch.place for place in bound) else []
    return []


def word(place: Place, text: str) -> Place:
    """The first whole occurrence of a word in a place; the place itself when there is none."""
    import re

    found = re.search(rb"\b" + re.escape(text.encode()) + rb"\b", place.source.part(*place.span))
    if found is None:
        return place
    return Place(place.source, Span(place.span.start + found.start(), place.span.start + found.end()))
