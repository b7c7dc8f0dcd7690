"""Which slots the findings about the boundary are about, and what they say of the value."""

from __future__ import annotations

from collections.abc import Iterable

from cutile_lint.findings import Finding
from cutile_lint.flow.model import Mark
from cutile_lint.sources import Place
from cutile_lint.unit.boundary.slots import Boundary, Slot

#: Rule -> what its finding means for the value in a slot.
KINDS = {
    "CTL201": "lost",
    "CTL202": "lost",
    "CTL203": "lost",
    "CTL204": "wrong",
    "CTL205": "wrong",
    "CTL206": "wrong",
    "CTL207": "lost",
    "CTL209": "crossed",
    "CTL403": "lost",
    "CTL501": "wrong",
    "CTL502": "crossed",
    "CTL510": "wrong",
    "CTL511": "crossed",
    "CTL512": "wrong",
}


def marks_of(slot: Slot, boundary: Boundary, findings: Iterable[Finding]) -> list[Mark]:
    """The marks of one slot: findings that stand at the slot, at its declaration or at what a call passes in it."""
    own = [slot.place, *([slot.declared_place] if slot.declared_place is not None else [])]
    own += [launch.argument_place(slot.index) for launch in boundary.launches if boundary.is_aligned(launch)]
    own += [use.place for use in slot.uses if use.role in ("option", "generic") and use.place is not None]
    found = []
    for finding in findings:
        kind = KINDS.get(finding.code)
        if kind is None or not _concerns(finding, slot, own, boundary):
            continue
        found.append(Mark(kind, finding.code, finding.message, finding.place))
    return found


def _concerns(finding: Finding, slot: Slot, own: list[Place], boundary: Boundary) -> bool:
    if finding.code == "CTL203":  # a launch without options: about every option that the export takes
        return slot.option is not None and any(finding.place.source is one.place.source for one in boundary.kernel_launches)
    if any(_touches(finding.place, place) for place in own):
        return True
    related = [item.place for item in finding.related]
    if finding.code in ("CTL201", "CTL207"):
        return slot.option is not None and finding.name.startswith(_words(slot.option)) and slot.place in related
    if finding.code in ("CTL202", "CTL204", "CTL403", "CTL206", "CTL205"):
        return slot.place in related
    return any(place in own for place in related)


def _words(option: str) -> str:
    return "num-cta" if option.startswith("num_cta") else option.replace("_", "-")


def _touches(first: Place, second: Place) -> bool:
    """One place lies in the other."""
    if first.source.path != second.source.path:
        return False
    a, b = first.span, second.span
    return (a.start <= b.start and b.end <= a.end and a.end - a.start < 200) or (b.start <= a.start and a.end <= b.end)
