"""Tiles that only one branch of an ``if`` assigns and that are read after it."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.sources import Place, Span
from cutile_lint.sources.lines import line_start
from cutile_lint.unit.device.types import TILES, DeviceFunction, head


@dataclass(frozen=True, slots=True)
class OneSided:
    """``place`` is the assignment in the one branch."""

    name: str
    place: Place
    test: Place
    statement: Place
    fix: Fix | None


def one_sided(device: DeviceFunction) -> Iterator[OneSided]:
    inner_ifs = {id(node.orelse[0]) for node, _ in device.statements if isinstance(node, syntax.If) and _is_else_if(device, node)}
    for node, _ in device.statements:
        if isinstance(node, syntax.If) and id(node) not in inner_ifs:
            yield from _of(device, node)


def _of(device: DeviceFunction, node: syntax.If) -> Iterator[OneSided]:
    for name, first in _assigned(device, node).items():
        missing = _missing(device, node, name)
        if missing is None or not _crosses(device, node, name):
            continue
        test = Place(device.source, Span(node.span.start, node.test.span.end))
        yield OneSided(name, device.place(first), test, device.place(first), _fix(device, missing, name))


def _assigned(device: DeviceFunction, node: syntax.If) -> dict[str, syntax.Assign]:
    """Mutable tiles declared before the ``if`` with their first assignment in it."""
    found: dict[str, syntax.Assign] = {}
    for part in node.walk():
        if not isinstance(part, syntax.Assign) or part.declares or len(part.targets) != 1:
            continue
        target = part.targets[0]
        if not isinstance(target, syntax.Name) or target.id in found:
            continue
        made = device.declaration(target.id, part.span.start)
        if made is not None and made.start <= node.span.start and made.mutable:
            if head(made.annotation or device.type_of(made.value)) in TILES:
                found[target.id] = part
    return found


def _missing(device: DeviceFunction, node: syntax.If, name: str) -> syntax.If | None:
    """The ``if`` of the chain (or inside a branch) of which one branch does not assign the name; None when all do."""
    first, second = _covers(device, node.body, name), _covers(device, node.orelse, name)
    if first and second:
        return None
    if _is_else_if(device, node) and first:
        return _missing(device, node.orelse[0], name)  # type: ignore[arg-type]
    return node


def _covers(device: DeviceFunction, body: list[syntax.Stmt], name: str) -> bool:
    """Every way through the branch assigns the name, or leaves the loop or the function."""
    for node in body:
        if isinstance(node, syntax.Assign) and not node.declares and _targets(node, name):
            return True
        if isinstance(node, (syntax.Return, syntax.Break, syntax.Continue)):
            return True
        if isinstance(node, syntax.If) and node.orelse:
            if _covers(device, node.body, name) and _covers(device, node.orelse, name):
                return True
        if isinstance(node, (syntax.For, syntax.While)) and _covers(device, node.body, name):
            return True
        if isinstance(node, syntax.ExprStmt) and isinstance(node.value, syntax.Block):
            if _covers(device, node.value.body, name):
                return True
    return False


def _targets(node: syntax.Assign, name: str) -> bool:
    return any(isinstance(target, syntax.Name) and target.id == name for target in node.targets)


def _crosses(device: DeviceFunction, node: syntax.If, name: str) -> bool:
    """The name is read after the ``if``, or by the next round of a loop around it."""
    made = device.declaration(name, node.span.start)
    loops = [one for one, _ in device.statements if isinstance(one, (syntax.For, syntax.While)) and one.span.covers(node.span)]
    carried = [loop.span for loop in loops if made is not None and made.start <= loop.span.start]
    for part in device.nodes:
        if isinstance(part, syntax.Name) and part.id == name and not node.span.covers(part.span):
            if device.declaration(name, part.span.start) is not made or _is_target(device, part):
                continue
            if part.span.start >= node.span.end or any(span.covers(part.span) for span in carried):
                return True
    return False


def _is_target(device: DeviceFunction, name: syntax.Name) -> bool:
    return any(
        isinstance(one, syntax.Assign) and not one.op and any(target is name for target in one.targets)
        for one, _ in device.statements
    )


def _is_else_if(device: DeviceFunction, node: syntax.If) -> bool:
    if len(node.orelse) != 1 or not isinstance(node.orelse[0], syntax.If):
        return False
    return device.source.part(node.span.start, node.orelse[0].span.start).rstrip().endswith(b"else")


def _fix(device: DeviceFunction, node: syntax.If, name: str) -> Fix | None:
    """The other branch assigns the name to itself."""
    from cutile_lint.frontends.rust.rewrite import insert_after, insert_before

    source, text = device.source, f"{name} = {name};"
    message = f"assign `{name}` in the other branch too"
    bare = _covers(device, node.body, name)
    if bare and not node.orelse:
        before = source.part(line_start(source, node.span.end - 1), node.span.end - 1)
        blank = before[: len(before) - len(before.lstrip(b" \t\xef\xbb\xbf"))].decode().lstrip("\ufeff")
        multi = b"\n" in source.part(*node.span)
        body = f" else {{\n{blank}    {text}\n{blank}}}" if multi else f" else {{ {text} }}"
        return Fix(message, (Edit(source, node.span.end, node.span.end, body.replace("\n", source.newline)),))
    if _is_else_if(device, node):
        return None
    branch = node.orelse if bare else node.body
    if not branch or isinstance(branch[-1], syntax.Result):
        return None
    edit = insert_after(source, branch[-1].span, text) if bare else insert_before(source, branch[0].span, text)
    return Fix(message, (edit,))
