"""Definitions, references, inlay hints and code lenses, looked up in the links of the last analysis."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types as lsp

from cutile_lint.server.links import DEFINED_BY, Spot, Thing, spots_at
from cutile_lint.server.view import View
from cutile_lint.sources import Place, Span

SHOW = "cutile-lint.show"


class Navigation:
    def __init__(self, view: View) -> None:
        self.view = view

    def _things_at(self, path: Path, offset: int) -> list[tuple[Thing, Spot, Place]]:
        """The things that the smallest place around an offset belongs to."""
        found: list[tuple[Thing, Spot, Place]] = []
        links = [outcome.links for outcome in self.view.outcomes.values() if path in outcome.read]
        for thing, spot in spots_at(links, path):
            now = self.view.now(spot.place)
            if now is not None and now.span.start <= offset <= now.span.end:
                found.append((thing, spot, now))
        least = min((now.span.end - now.span.start for _, _, now in found), default=0)
        return [item for item in found if item[2].span.end - item[2].span.start == least]

    def definition(self, path: Path, offset: int) -> tuple[Place | None, list[Place]]:
        """(the place that the definition is asked of, where it is defined)."""
        targets: dict[Place, None] = {}
        asked: Place | None = None
        for thing, spot, now in self._things_at(path, offset):
            asked = now
            for role in DEFINED_BY.get(spot.role, ()):
                if places := thing.places(role):
                    targets.update(dict.fromkeys(places))
                    break
        return asked, self._present(targets)

    def references(self, path: Path, offset: int, declaration: bool) -> list[Place]:
        """All places of what stands at an offset; without ``declaration`` those that define it are left out."""
        found: dict[Place, None] = {}
        defining = ("export", "entry", "parameter")
        for thing in self._everywhere([thing for thing, _, _ in self._things_at(path, offset)]):
            found.update((place, None) for place in thing.places() if declaration or place not in thing.places(*defining))
        return _innermost(self._present(found))

    def _everywhere(self, things: list[Thing]) -> Iterator[Thing]:
        """The things as the ops of all files have them."""
        wanted = {(thing.kind, thing.name, self.view.now(thing.place)) for thing in things}
        names = {name for _, name, _ in wanted}
        for outcome in self.view.outcomes.values():
            for thing in outcome.links.things:
                if thing.name in names and (thing.kind, thing.name, self.view.now(thing.place)) in wanted:
                    yield thing

    def _present(self, places: dict[Place, None]) -> list[Place]:
        return list(dict.fromkeys(now for place in places if (now := self.view.now(place)) is not None))

    def hints(self, path: Path, span: Span) -> list[lsp.InlayHint]:
        """The slot's name before each argument of the FFI calls in a span."""
        made: dict[int, dict[str, lsp.InlayHint]] = {}
        for outcome in self.view.outcomes.values():
            for hint in outcome.links.hints:
                if hint.place.path != path:
                    continue
                now = self.view.now(hint.place)
                if now is not None and span.start <= now.span.start <= span.end:
                    made.setdefault(now.span.start, {})[hint.name] = lsp.InlayHint(
                        self.view.range(now).start,
                        f"{hint.name}:",
                        lsp.InlayHintKind.Parameter,
                        tooltip=f"`{hint.name}: {hint.type}` of the export",
                        padding_right=True,
                    )
        return [hint for _, named in sorted(made.items()) if len(named) == 1 for hint in named.values()]

    def lenses(self, path: Path) -> list[lsp.CodeLens]:
        """Above each export: who calls it, and what it does with its options."""
        by_place: dict[Place, tuple[dict[Place, None], tuple[str, ...]]] = {}
        for outcome in self.view.outcomes.values():
            for lens in outcome.links.lenses:
                if lens.place.path == path and (now := self.view.now(lens.place)) is not None:
                    callers, facts = by_place.get(now, ({}, ()))
                    callers.update(dict.fromkeys(self._present(dict.fromkeys(lens.callers))))
                    by_place[now] = callers, facts or lens.facts
        lenses = []
        for place, (callers, facts) in sorted(by_place.items(), key=lambda item: item[0].span):
            title = " · ".join([_called(list(callers)), *facts])
            where = self.view.location(place)
            locations = [self.view.location(caller) for caller in callers]
            arguments = [where.uri, where.range.start, locations]
            lenses.append(lsp.CodeLens(where.range, lsp.Command(title, SHOW, arguments=arguments)))
        return lenses


def _innermost(places: Iterable[Place]) -> list[Place]:
    """Places in order, without those around another one: an argument ``int(cfg.BM)`` is told by what it reads."""
    kept: list[Place] = []
    for place in sorted(places, key=lambda place: (str(place.path), place.span.start, -place.span.end)):
        while kept and kept[-1].path == place.path and kept[-1].span.covers(place.span):
            kept.pop()
        kept.append(place)
    return kept


def _called(callers: list[Place]) -> str:
    if not callers:
        return "called from nowhere"
    shown = [f"{os.path.basename(place.path)}:{place.start[0]}" for place in callers[:3]]
    more = f" and {len(callers) - 3} more" if len(callers) > 3 else ""
    return f"called from {', '.join(shown)}{more}"
