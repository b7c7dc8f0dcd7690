"""Fixes of the export's side of compile options: guard a setter, apply an option, attach the options to a launch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.frontends.rust import rewrite
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place, Source, Span
from cutile_lint.sources.lines import line_start
from cutile_lint.unit.boundary.slots import Boundary, Slot
from cutile_lint.unit.flows.origins import node_at
from cutile_lint.unit.launches import KernelLaunch
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.linking.where import statement_in
from cutile_lint.unit.machine.paths import contradictory
from cutile_lint.unit.machine.trace import Event
from cutile_lint.unit.options.arguments import UnappliedOption
from cutile_lint.unit.options.option_names import SETTERS
from cutile_lint.unit.options.setters import inputs_in, setter_events, setter_value

_OPTIONS_MADE = regex(r"\bCompileOptions\b|\w*options!?\s*\(")
_PLAIN = regex(r"\$?\w+(\.\w+|\(\))*")


# ── the guard (CTL204) ─────────────────────────────────────────────────────


def guard_setter(event: Event, program: Program) -> Fix | None:
    """Call the setter only for a positive value."""
    node, source = event.node, event.place.source
    module = program.module(source.path)
    if module is None or not isinstance(node, syntax.Call) or not isinstance(node.func, syntax.Attr) or len(node.args) != 1:
        return None
    if _is_repeated_link(node):  # its rounds are one text
        return None
    if node.func.name not in SETTERS:  # the field is written: no call to guard
        return None
    guarded = _guarded(module, _statement(module, event.place), _Setter(source, node))
    kept = "".join(edit.content for edit in guarded)
    lost = any(comment not in kept for edit in guarded for comment in rewrite.comments_in(source.part(edit.start, edit.end)))
    level = Applicability.UNSAFE if lost else Applicability.SAFE
    return Fix(f"call `{node.func.name}` only for values above 0", tuple(guarded), level)


def _is_repeated_link(node: syntax.Expr) -> bool:
    """The call is a link ``$( .name($x) )*`` in a macro's chain."""
    while isinstance(node, (syntax.Call, syntax.Attr)):
        node = node.func if isinstance(node, syntax.Call) else node.base
    return isinstance(node, syntax.Name) and node.id == syntax.LAST


@dataclass(slots=True)
class _Setter:
    """The call of a setter ``base.name(value)``."""

    source: Source
    node: syntax.Call

    @property
    def method(self) -> syntax.Attr:
        assert isinstance(self.node.func, syntax.Attr)
        return self.node.func

    @property
    def base(self) -> str:
        return self.source.slice(self.method.base.span)

    @property
    def call(self) -> str:
        return f".{self.method.name}({self.source.slice(self.node.args[0].value.span)})"

    @property
    def test(self) -> str:
        return f"{_tested(self.source, self.node.args[0].value)} > 0"

    @property
    def comments(self) -> list[str]:
        """Those beside the call's own name and value."""
        value, link = self.node.args[0].value.span, Span(self.method.base.span.end, self.node.span.end)
        parts = self.source.part(link.start, value.start), self.source.part(value.end, link.end)
        return [comment for part in parts for comment in rewrite.comments_in(part)]

    @property
    def above(self) -> str:
        """The comments as lines above a statement."""
        return "".join(f"{comment}\n" for comment in self.comments)

    @property
    def link(self) -> str:
        """The call for an expression, with its comments where there are any."""
        return self.source.slice(Span(self.method.base.span.end, self.node.span.end)) if self.comments else self.call


def _guarded(module: syntax.Module, statement: syntax.Stmt | None, setter: _Setter) -> list[Edit]:
    source, node, test = setter.source, setter.node, setter.test
    if isinstance(statement, syntax.Assign) and statement.value is node and len(statement.targets) == 1 and not statement.op:
        target = statement.targets[0]
        if isinstance(target, syntax.Name) and statement.pattern is None:
            if not statement.declares and setter.base == target.id:
                text = _block(source, statement, setter.above, f"if {test} {{", f"{target.id} = {target.id}{setter.call};")
                return [rewrite.replace(source, statement.span, text)]
            if statement.declares:
                text = setter.above + _conditional(target.id, setter.call, test, mutable=statement.mutable)
                return [
                    rewrite.replace(source, node.span, setter.base),
                    rewrite.insert_after(source, statement.span, text),
                ]
    name = "options" if re.search(r"\bopts\b", setter.call + test) else "opts"
    choice = f"if {test} {{ {name}{setter.link} }} else {{ {name} }}"
    whole = isinstance(statement, (syntax.Return, syntax.Result)) and statement.value is node
    tail = isinstance(statement, syntax.Result) or (statement is not None and getattr(statement, "implicit", False))
    if whole and tail and statement is not None and rewrite.begins_in_block(module, statement):
        return [
            rewrite.insert_before(source, statement.span, f"let {name} = {setter.base};"),
            rewrite.replace(source, node.span, choice),
        ]
    text = f"{{ let {name} = {setter.base}; {choice} }}"
    if statement is not None and statement.span.start == node.span.start and not whole:
        text = f"({text})"
    return [rewrite.replace(source, node.span, text)]


def _conditional(name: str, call: str, test: str, *, mutable: bool) -> str:
    """Statement(s) that apply a setter to a variable for positive values."""
    if mutable:
        return f"if {test} {{\n    {name} = {name}{call};\n}}"
    return f"let {name} = if {test} {{ {name}{call} }} else {{ {name} }};"


def _block(source: Source, statement: syntax.Stmt, above: str, head: str, line: str) -> str:
    before = source.part(line_start(source, statement.span.start), statement.span.start).decode()
    indent = before if not before.strip() else ""
    above = above.replace("\n", f"\n{indent}")
    return above + (f"{head}\n{indent}    {line}\n{indent}}}" if before and not before.strip() else f"{head} {line} }}")


def _tested(source: Source, value: syntax.Expr) -> str:
    """The number to compare with 0: casts to unsigned types would make a sentinel positive."""
    while isinstance(value, syntax.Cast):
        value = value.value
    text = source.slice(value.span)
    return text if _PLAIN.fullmatch(text) else f"({text})"


# ── attaching (CTL203) ─────────────────────────────────────────────────────


def attach_options(boundary: Boundary, launch: KernelLaunch, program: Program) -> Fix | None:
    """Append ``.compile_options(…)`` to the launch's chain: with the options of the function, else with options built there."""
    place = next(iter(launch.chain.values())).place if launch.chain else launch.call.place
    if place is None:
        return None
    source = place.source
    module, node = program.module(source.path), node_at(program, place)
    if module is None or not isinstance(node, syntax.Expr) or _is_attached_too(boundary, launch):
        return None
    found = _visible_options(module, source, place)
    if found is not None:
        others = [
            other
            for other in boundary.run.launches
            if other is not launch and _uses(other, found.id) and other.place != launch.place
        ]
        shared = [other for other in others if not contradictory(other.path, launch.path)]
        if any(other.event.order < launch.event.order for other in shared):
            return None
        text = f"{found.id}.clone()" if shared else found.id
        edits = rewrite.append_call(source, node, f".compile_options({text})")
        return Fix(f"attach `{found.id}` to the launch of `{launch.entry_name}`", tuple(edits), Applicability.SAFE)
    statement = _statement(module, place)
    function = boundary.export.function
    if statement is None or source is not boundary.export.source or not function.span.covers(statement.span):
        return None
    lines = ["let mut opts = " + _default(source) + "::default();"]
    slots = [slot for slot in boundary.slots if slot.option is not None and not _is_hidden(slot, module, place)]
    lines += [f"if {slot.name} > 0 {{\n    opts = opts.{slot.option}({_typed(slot)});\n}}" for slot in slots]
    if not slots or not rewrite.begins_in_block(module, statement):
        return None
    edits = [
        rewrite.insert_before(source, statement.span, "\n".join(lines)),
        *rewrite.append_call(source, node, ".compile_options(opts)"),
    ]
    return Fix(
        f"build options from the export's arguments and attach them to `{launch.entry_name}`", tuple(edits), Applicability.SAFE
    )


def _is_attached_too(boundary: Boundary, launch: KernelLaunch) -> bool:
    """On another path the same launch gets its options: they are attached further on in its chain."""
    return any(other.place == launch.place and "compile_options" in other.chain for other in boundary.run.launches)


def _default(source: Source) -> str:
    return source.tells(_imported_options) or "cutile::tile_kernel::CompileOptions"


def _imported_options(data: bytes) -> str | None:
    """The name that ``use`` gives to ``CompileOptions``."""
    found = re.search(rb"\buse\s[^;]{0,2000}\bCompileOptions\b(?:\s+as\s+(\w+))?", data)
    return (found[1] or b"CompileOptions").decode() if found is not None else None


def _typed(slot: Slot) -> str:
    return slot.name if slot.type in ("i32", "") else f"{slot.name} as i32"


def _uses(launch: KernelLaunch, name: str) -> bool:
    term = launch.chain.get("compile_options")
    return (
        term is not None
        and term.place is not None
        and re.search(rf"\bcompile_options\(\s*{re.escape(name)}\s*\)", term.place.text) is not None
    )


def _visible_options(module: syntax.Module, source: Source, place: Place) -> syntax.Name | None:
    """The nearest ``let`` of a ``CompileOptions`` that the place can see."""
    found: syntax.Name | None = None
    for statement in _before(module, place):
        if (
            isinstance(statement, syntax.Assign)
            and statement.declares
            and statement.value is not None
            and len(statement.targets) == 1
        ):
            target = statement.targets[0]
            if isinstance(target, syntax.Name) and _makes_options(source.slice(statement.value.span)):
                found = target
    return found


def _makes_options(text: str) -> bool:
    return _OPTIONS_MADE.search(text) is not None and ".generics(" not in text and ".grid(" not in text


def _before(module: syntax.Module, place: Place) -> Iterator[syntax.Stmt]:
    """The statements in front of a place in the blocks around it, outer blocks first."""
    for block in _blocks(module, place):
        for statement in block:
            if statement.span.end <= place.span.start:
                yield statement


def _blocks(module: syntax.Module, place: Place) -> Iterator[list[syntax.Stmt]]:
    """The statement lists around a place, outermost first."""
    body: Iterable[syntax.Node] = module.body
    while True:
        around = next((node for node in body if node.span.covers(place.span)), None)
        if around is None:
            return
        stack: list[syntax.Node] = [around]
        body = []
        while stack:
            node = stack.pop()
            lists = [value for name in ("body", "orelse", "final") if isinstance(value := getattr(node, name, None), list)]
            inner = next((block for block in lists if any(part.span.covers(place.span) for part in block)), None)
            if inner is not None:
                yield inner
                body = inner
                break
            stack += [child for child in node.children() if child.span.covers(place.span)]
        if not body:
            return


def _statement(module: syntax.Module, place: Place) -> syntax.Stmt | None:
    for top in module.body:
        if top.span.covers(place.span):
            found = statement_in(top, place)
            # the function's own body may be one expression
            return found
    return None


# ── applying (CTL202) ──────────────────────────────────────────────────────


def apply_option(unapplied: UnappliedOption, program: Program) -> Fix | None:
    """Give the option to the setter for each launch that is without it."""
    edits: dict[tuple[str, int, int, str], Edit] = {}
    for launch in unapplied.launches:
        for edit in _applied(unapplied, launch, program) or ():
            edits[(str(edit.path), edit.start, edit.end, edit.content)] = edit
    if not edits:
        return None
    ordered = tuple(sorted(edits.values(), key=lambda edit: (str(edit.path), edit.start)))
    if any(first.path == second.path and first.end > second.start for first, second in pairwise(ordered)):
        return None
    return Fix(f"apply `{unapplied.slot.name}` to the options of the launch", ordered, Applicability.SAFE)


def _applied(unapplied: UnappliedOption, launch: KernelLaunch, program: Program) -> list[Edit] | None:
    boundary, slot = unapplied.boundary, unapplied.slot
    term = launch.chain["compile_options"]
    node = node_at(program, term.place) if term.place is not None else None
    source, function = boundary.export.source, boundary.export.function
    module = program.module(source.path)
    if module is None or not isinstance(node, syntax.Call) or len(node.args) != 1 or term.place is None:
        return None
    if term.place.source is not source or not function.span.covers(node.span) or _is_hidden(slot, module, term.place):
        return None
    given = node.args[0].value
    if isinstance(given, syntax.Call) and isinstance(given.func, syntax.Attr) and given.func.name == "clone":
        given = given.func.base
    place = Place(source, given.span)
    if (dropped := _dropped_setter(boundary, slot, module, source)) is not None:
        return dropped
    if isinstance(given, syntax.Name):
        return _to_variable(unapplied, launch, given, module, program)
    if (replaced := _macro_argument(given, slot, source, program, boundary)) is not None:
        return replaced
    name = "options" if slot.name == "opts" else "opts"
    text = source.slice(place.span)
    choice = f"if {slot.name} > 0 {{ {name}.{slot.option}({_typed(slot)}) }} else {{ {name} }}"
    return [rewrite.replace(source, place.span, f"{{ let {name} = {text}; {choice} }}")]


def _dropped_setter(boundary: Boundary, slot: Slot, module: syntax.Module, source: Source) -> list[Edit] | None:
    """``opts.occupancy(v);`` whose result is dropped: bind it."""
    for event in setter_events(boundary.run.trace):
        node = event.node
        if (
            event.place.source is not source
            or not isinstance(node, syntax.Call)
            or slot.name not in inputs_in(setter_value(event))
        ):  # type: ignore[union-attr]
            continue
        statement = _statement(module, event.place)
        base = node.func.base if isinstance(node.func, syntax.Attr) else None
        if isinstance(base, syntax.Call) and isinstance(base.func, syntax.Attr) and base.func.name == "clone":
            base = base.func.base
        if not isinstance(statement, syntax.ExprStmt) or statement.value is not node or not isinstance(base, syntax.Name):
            continue
        declared = _declaration(module, base.id, event.place)
        if declared is not None and declared.mutable:
            call = source.slice(Span(node.func.name_span.start, node.span.end))  # type: ignore[union-attr]
            return [rewrite.replace(source, node.span, f"{base.id} = {base.id}.{call}")]
    return None


def _declaration(module: syntax.Module, name: str, place: Place) -> syntax.Assign | None:
    found = None
    for statement in _before(module, place):
        if isinstance(statement, syntax.Assign) and statement.declares and any(
            isinstance(target, syntax.Name) and target.id == name for target in statement.targets
        ):  # fmt: skip
            found = statement
    return found


def _is_hidden(slot: Slot, module: syntax.Module, place: Place) -> bool:
    """Whether another variable has the name of the export's argument at a place: not one made from the argument."""
    return any(
        isinstance(statement, syntax.Assign)
        and statement.declares
        and any(isinstance(target, syntax.Name) and target.id == slot.name for target in statement.targets)
        and not any(isinstance(node, syntax.Name) and node.id == slot.name for node in (statement.value or statement).walk())
        for statement in _before(module, place)
    )


def _to_variable(
    unapplied: UnappliedOption, launch: KernelLaunch, given: syntax.Name, module: syntax.Module, program: Program
) -> list[Edit] | None:
    boundary, slot = unapplied.boundary, unapplied.slot
    source = boundary.export.source
    place = Place(source, given.span)
    declared = _declaration(module, given.id, place)
    if declared is None or declared.value is None:
        return None
    users = [other for other in boundary.kernel_launches if _uses(other, given.id)]
    shared_by_others = any(other not in unapplied.launches for other in users)
    if not shared_by_others:
        if (replaced := _macro_argument(declared.value, slot, source, program, boundary)) is not None:
            return replaced
        last = declared
        for block in _blocks(module, place):
            if declared in block:
                for statement in block:
                    if statement.span.end <= place.span.start and _rebinds(statement, given.id):
                        last = statement  # type: ignore[assignment]
        call = f".{slot.option}({_typed(slot)})"
        text = _conditional(given.id, call, f"{slot.name} > 0", mutable=declared.mutable)
        return [rewrite.insert_after(source, last.span, text)]
    statement = _statement(module, place)
    if statement is None or not rewrite.begins_in_block(module, statement):
        return None
    text = _conditional(given.id, f".{slot.option}({_typed(slot)})", f"{slot.name} > 0", mutable=False)
    return [rewrite.insert_before(source, statement.span, text)]


def _rebinds(statement: syntax.Stmt, name: str) -> bool:
    """The variable, or a field of it, gets a value, or it is lent to be written."""
    for node in statement.walk():
        if isinstance(node, syntax.Assign):
            bases = [target.base if isinstance(target, syntax.Attr) else target for target in node.targets]
            if any(isinstance(base, syntax.Name) and base.id == name for base in bases):
                return True
        elif isinstance(node, syntax.Unary) and node.op == "&mut" and isinstance(node.operand, syntax.Name):
            if node.operand.id == name:
                return True
    return False


def _macro_argument(value: syntax.Expr, slot: Slot, source: Source, program: Program, boundary: Boundary) -> list[Edit] | None:
    """The argument of a macro of the project (or of a helper function) that goes to the setter: pass the parameter there."""
    if not isinstance(value, syntax.Call) or not isinstance(value.func, syntax.Name) or slot.option not in SETTERS:
        return None
    position = _position(value, slot.option or "", source, program)
    if position is None or position >= len(value.args):
        return None
    argument = value.args[position].value
    if not isinstance(argument, (syntax.Const, syntax.Unary)):
        return None
    return [rewrite.replace(source, argument.span, _typed(slot))]


def _position(call: syntax.Call, option: str, source: Source, program: Program) -> int | None:
    """Which argument of a macro or function becomes the option."""
    assert isinstance(call.func, syntax.Name)
    wanted = call.func.last.removesuffix("!")
    for module in list(program.modules.values()):
        if module is None or module.language != "rust":
            continue
        for node in module.walk():
            if isinstance(node, syntax.MacroDef) and call.macro and node.name == wanted:
                for arm in node.arms:
                    names = [variable.name for variable in arm.variables]
                    for name in _setter_arguments(arm.body, option):
                        if name in names and len(names) == len(call.args):
                            return names.index(name)
            elif isinstance(node, syntax.Function) and not call.macro and node.name == wanted:
                names = [param.name for param in node.params]
                for name in _setter_arguments(node.body, option):
                    if name in names:
                        return names.index(name)
    return None


def _setter_arguments(body: Iterable[syntax.Stmt], option: str) -> Iterator[str]:
    for statement in body:
        for node in statement.walk():
            if (
                isinstance(node, syntax.Call)
                and isinstance(node.func, syntax.Attr)
                and node.func.name == option
                and len(node.args) == 1
            ):
                value = node.args[0].value
                if isinstance(value, syntax.Name):
                    yield value.id
