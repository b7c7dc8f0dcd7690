"""What the rules on launch counts say in the same way."""

from __future__ import annotations

from cutile_lint.findings import Finding, Fix, Related
from cutile_lint.sources import Place
from cutile_lint.unit.timed.repeats import Wasted


def finding(wasted: Wasted, message: str, help_text: str, related: list[Related], fix: Fix | None) -> Finding:
    """A finding at the call that leads to the launch; the launch itself is related when it stands in a helper."""
    statement = wasted.stop.statement
    if wasted.launch.place != wasted.place:
        related.insert(0, Related(wasted.launch.place, f"`{wasted.launch.symbol}` is launched here"))
    places = {wasted.place}
    shown = []
    for item in related:
        if item.place not in places:
            places.add(item.place)
            shown.append(item)
    return Finding(
        wasted.place,
        message,
        help=help_text,
        related=tuple(shown),
        fix=fix,
        statement=Place(wasted.stop.source, statement.span) if statement is not None else None,
        symbol=wasted.stop.frame.name,
    )
