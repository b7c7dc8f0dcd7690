"""Fixes of the Python side of a compile option: give the slot the config's value, exchange two arguments."""

from __future__ import annotations

from collections.abc import Iterator

from cutile_lint.findings import Applicability, Fix
from cutile_lint.frontends import syntax
from cutile_lint.frontends.python import rewrite
from cutile_lint.frontends.python.layout import enclosing, is_spread
from cutile_lint.sources import Place
from cutile_lint.unit.flows.configs import configs_of, is_config
from cutile_lint.unit.flows.handed_back import helper_named, names_handed_back
from cutile_lint.unit.flows.origins import Origin, named_values, node_at
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.linking.where import level_of
from cutile_lint.unit.machine.values import Term, Value
from cutile_lint.unit.options.arguments import OptionArgument
from cutile_lint.unit.options.lost import LostOption
from cutile_lint.unit.options.option_names import option_named

#: Calls around an argument that do not stand in for a helper of the project.
_CONVERSIONS = frozenset(["int", "float", "bool", "max", "min", "abs"])


def forward_value(lost: LostOption) -> Fix | None:
    """Pass the config's value where the other one is made: safe when that is one argument of a call."""
    origin, argument = lost.origin, lost.argument
    if origin is None or not origin.place.source.is_python:
        return None
    module = argument.program.module(origin.place.source.path)
    field = next((name for config in lost.configs if (name := config.field_of(argument.option)) is not None), None)
    text = _expression(lost, origin, field) if field is not None else None
    if module is None or text is None:
        return None
    text = _in_idiom(lost, origin, module, text)
    message = f"pass `{field}` of the config to the slot `{argument.slot.name}`"
    if origin.kind == "default":
        if not isinstance(origin.node, syntax.Call) or any(arg.spread == "**" for arg in origin.node.args):
            return None  # a dict may bring the argument on another path
        added = rewrite.add_argument(module, origin.node, text, origin.name)
        return _fix(message, added, safe=True)
    if is_spread(module, origin.node):
        return None
    if origin.argument and origin.kind != "helper":  # what else a helper is for is not known
        return _fix(message, rewrite.replace_expression(module, origin.node, text), safe=True)
    node = _whole_choice(module, origin.node, text)
    return _fix(message, rewrite.replace_expression(module, node, text), safe=False)


def _fix(message: str, change: rewrite.Rewrite | None, *, safe: bool) -> Fix | None:
    if change is None:
        return None
    level = Applicability.SAFE if safe and not change.drops_comment else Applicability.UNSAFE
    return Fix(message, change.edits, level)


def _whole_choice(module: syntax.Module, node: syntax.Expr, text: str) -> syntax.Expr:
    """The conditional expression around a node whose other branch is what the node becomes."""
    outer = enclosing(module, node)
    if isinstance(outer, syntax.Cond) and outer.orelse is not None and node is not outer.test:
        other = outer.orelse if node is outer.then else outer.then
        if module.source.slice(other.span) == text:
            return outer
    return node


# ── the config's value as an expression ────────────────────────────────────


def _expression(lost: LostOption, origin: Origin, field: str) -> str | None:
    """How the config's field can be named where the origin stands; None when the config is not at hand there.

    A name of another option that holds it is not used: that is exchanged itself, and will be put right.
    """
    event, tuning = lost.argument.launch.event, lost.argument.tuning
    assert tuning is not None
    for name, value in named_values(event, origin.level):
        if isinstance(value, Term) and value.op == "field" and option_named(value.name) == lost.argument.option:
            if option_named(name) in (None, lost.argument.option):
                return name
    for name, value in named_values(event, origin.level):
        if is_config(value, tuning):
            return _access(lost, name, field)
    return None


def _access(lost: LostOption, name: str, field: str) -> str | None:
    kinds = {config.kind for config in lost.configs}
    everywhere = all(field in config.fields for config in lost.configs)
    if kinds == {"attributes"}:
        return f"{name}.{field}" if everywhere else f'getattr({name}, "{field}", None)'
    if kinds == {"keys"}:
        return f'{name}["{field}"]' if everywhere else f'{name}.get("{field}")'
    return None


def _in_idiom(lost: LostOption, origin: Origin, module: syntax.Module, text: str) -> str:
    """The expression in the wrapper's own idiom: through the helper that turns ``None`` into the sentinel, or ``int(…)``."""
    around = [call for call in origin.calls if call.rsplit(".", 1)[-1] not in _CONVERSIONS]
    if around:
        return text
    siblings = list(_sibling_calls(lost.argument))
    helper = next((call for call in siblings if call not in _CONVERSIONS and not call.endswith("_desc")), None)
    if helper is None and lost.nullable:
        helper = _option_helper(module)
    if helper is not None and _is_visible(module, helper) and _converts(lost.argument.program, module, helper):
        return f"{helper}({text})"
    if lost.nullable:
        return f"(-1 if {text} is None else {text})"
    direct = origin.level == len(lost.argument.launch.event.stack) - 1 and not origin.calls and origin.argument
    return f"int({text})" if direct and "int" in siblings and origin.place == lost.argument.place else text


def _sibling_calls(argument: OptionArgument) -> Iterator[str]:
    """What the other compile options of the launch are passed through, else what any argument is."""
    slots = [slot for slot in argument.boundary.slots if slot.option is not None and slot is not argument.slot]
    for slot in slots:
        node = node_at(argument.program, argument.launch.argument_place(slot.index))
        if isinstance(node, syntax.Call) and len(node.args) == 1 and isinstance(node.func, (syntax.Name, syntax.Attr)):
            yield argument.place.source.slice(node.func.span)


def _option_helper(module: syntax.Module) -> str | None:
    """A function of one argument in the module (or imported) whose name says that it makes an option's value."""
    for statement in module.body:
        if isinstance(statement, syntax.FunctionDef):
            function = statement.function
            required = [param for param in function.params if param.default is None and param.kind not in ("*", "**")]
            if "option" in function.name.lower() and len(required) == 1:
                return function.name
        elif isinstance(statement, syntax.Import):
            for name in statement.names:
                if name.name is not None and "option" in name.alias.lower() and name.alias.islower():
                    return name.alias
    return None


def _converts(program: Program, module: syntax.Module, name: str) -> bool:
    """What a helper gives is made of its argument, as far as can be told: not of a config's fields."""
    function = helper_named(name, module.source.path, [], program)
    return function is None or not names_handed_back(function).isdisjoint(param.name for param in function.params)


def _is_visible(module: syntax.Module, name: str) -> bool:
    head = name.split(".")[0]
    for statement in module.body:
        if isinstance(statement, (syntax.FunctionDef, syntax.ClassDef)):
            if head == (statement.function.name if isinstance(statement, syntax.FunctionDef) else statement.name):
                return True
        elif isinstance(statement, syntax.Import) and any(one.alias == head for one in statement.names):
            return True
        elif isinstance(statement, syntax.Assign) and any(
            isinstance(one, syntax.Name) and one.id == head for one in statement.targets
        ):
            return True
    return False


# ── exchanging ─────────────────────────────────────────────────────────────


def exchange(program: Program, first: Place, second: Place, message: str) -> Fix | None:
    """Exchange two expressions of one Python file; None where one is part of the other (``*(a, b)``)."""
    if first.span.start < second.span.end and second.span.start < first.span.end:
        return None
    module = program.module(first.source.path)
    nodes = [node_at(program, place) for place in (first, second)]
    if module is None or first.source.path != second.source.path or not all(isinstance(node, syntax.Expr) for node in nodes):
        return None
    if any(is_spread(module, node) for node in nodes if node is not None):
        return None
    one = rewrite.replace_expression(module, nodes[0], second.text)  # type: ignore[arg-type]
    other = rewrite.replace_expression(module, nodes[1], first.text)  # type: ignore[arg-type]
    edits = tuple(sorted((*one.edits, *other.edits), key=lambda edit: edit.start))
    level = Applicability.UNSAFE if one.drops_comment or other.drops_comment else Applicability.SAFE
    return Fix(message, edits, level)


def forward_instead(argument: OptionArgument, carried: str) -> Fix | None:
    """The slot's own field where the other option's is read, when configs have it."""
    configs = configs_of(argument.tuning) if argument.tuning is not None else None
    origin = next((one for one in argument.origins() if one.kind == "field" and option_named(one.name) == carried), None)
    if not configs or origin is None or all(config.field_of(argument.option) is None for config in configs):
        return None
    return forward_value(LostOption(argument, [], origin, configs))


# ── not an option at all ───────────────────────────────────────────────────


def leave_or_forward(argument: OptionArgument, place: Place) -> Fix | None:
    """Instead of a value that is no option: the config's own value where configs have one, else the sentinel.

    Unsafe: what was meant is not known. None for a slot that the export exchanges with another: which option it is, is seen when that is right.
    """
    if option_named(argument.slot.name) not in (None, argument.option):
        return None
    module = argument.program.module(place.source.path)
    node = node_at(argument.program, place)
    if module is None or not isinstance(node, syntax.Expr) or is_spread(module, node):
        return None
    configs = configs_of(argument.tuning) if argument.tuning is not None else None
    field = next((name for config in configs or () if (name := config.field_of(argument.option)) is not None), None)
    text, what = None, "leave the option to the compiler"
    if configs and field is not None:
        origin = Origin("other", node, place, level_of(argument.launch.event, place), argument=True)
        lost = LostOption(argument, [], origin, configs)
        own = [name for name, value in named_values(argument.launch.event, origin.level) if _is_own(argument, name, value)]
        expression = own[0] if own else _expression(lost, origin, field)
        if expression is not None:
            text, what = _in_idiom(lost, origin, module, expression), f"pass `{field}` of the config"
    change = rewrite.replace_expression(module, node, text or _sentinel(module))
    return Fix(what, change.edits, Applicability.UNSAFE)


def _is_own(argument: OptionArgument, name: str, value: Value) -> bool:
    """A parameter of the option's name holds some field of the config, perhaps that of another option."""
    return option_named(name) == argument.option and isinstance(value, Term) and value.op == "field"


def _sentinel(module: syntax.Module) -> str:
    """The module's own name for the sentinel, else ``-1``."""
    for statement in module.body:
        if isinstance(statement, syntax.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], syntax.Name):
            value = statement.value
            negative = (
                isinstance(value, syntax.Unary)
                and value.op == "-"
                and isinstance(value.operand, syntax.Const)
                and value.operand.value == 1
            )
            if (negative or (isinstance(value, syntax.Const) and value.value == -1)) and "AUTO" in statement.targets[
                0
            ].id.upper():
                return statement.targets[0].id
    return "-1"
