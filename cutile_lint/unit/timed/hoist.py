"""Moving work that is the same for every config out of ``kernel_fn``: the conditions on values, and the rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.sources import Place
from cutile_lint.unit.linking.callers import everywhere
from cutile_lint.unit.linking.python_names import bindings, occurs
from cutile_lint.unit.machine.python_methods import METADATA
from cutile_lint.unit.machine.values import Term, Value, subterms
from cutile_lint.unit.timed.copies import is_expanded
from cutile_lint.unit.timed.hoist_sites import Site, exits_before, free_of_locals, mention, site_of
from cutile_lint.unit.timed.percall import CERTAIN_COPIES
from cutile_lint.unit.timed.region import Occurrence, TimedWork, use_in_trial
from cutile_lint.unit.timed.torch_api import names

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: Fills that are another value each time, or that write a tensor which is there already.
_OWN_FILLS = ("rand", "normal", "bernoulli")
#: Methods that change a list, dict or set.
_CHANGES = names("append add update setdefault extend pop clear discard remove insert reverse sort __setitem__ setattr")
#: nodes whose parts are not evaluated exactly once
_CONDITIONAL = (syntax.Cond, syntax.Logic, syntax.Lambda, syntax.Comprehension, syntax.Yield, syntax.Walrus, syntax.PatternTest)
_VIEWS = names("view t transpose unsqueeze squeeze detach permute expand view_as flatten reshape")


def hoist(unit: KernelUnit, found: TimedWork) -> Fix | None:
    """Move the work before the function that it stands in; None where that would change what is computed, or only move the cost."""
    call = found.call
    if call is None or not _may_move(found):
        return None
    answers = [_unchanged(other, occurrence) for other, occurrence in everywhere(unit, found)]
    if False in answers:
        return None
    site = site_of(unit, found)
    if site is None or not free_of_locals(site, call):
        return None
    edits = _moved_statement(site, call)
    if edits is None:
        edits = _named_before(site, call)
    if edits is None:
        return None
    changes, drops = edits
    if not _settled(unit, site, found, call):
        return None
    exits = exits_before(site, found)
    if any(mention(statement, call) for statement in exits):
        return None
    shown = None not in answers and not drops and not exits and not site.function.decorators and not found.first.run.trace.gaps
    what = "copy" if found.kind == "copy" else "fill"
    return Fix(
        f"{what} once, before `{site.function.name}`" if site.function.name else f"{what} once, before the search",
        changes,
        Applicability.SAFE if shown else Applicability.UNSAFE,
    )


# ── conditions on values ───────────────────────────────────────────────────


def _may_move(found: TimedWork) -> bool:
    last = found.work.name.removesuffix("()").rsplit(".", 1)[-1]
    arguments = found.work.event.arguments
    if arguments is not None and ("out" in arguments.keywords or not arguments.exact):
        return False
    if found.kind == "copy":
        return not (_is_certain(last, found.work.operand) or (arguments is not None and "copy" in arguments.keywords))
    return not last.startswith(_OWN_FILLS) and not last.endswith("_")


def _is_certain(function: str, operand: Value | None) -> bool:
    """The copy is made whatever the tensor is: on the per-call path it is a fault of its own (CTL111)."""
    return function in CERTAIN_COPIES | {"copy_", "masked_scatter_"} or (function == "contiguous" and is_expanded(operand))


def _unchanged(unit: KernelUnit, occurrence: Occurrence) -> bool | None:
    """The value is the same in every trial, and nobody writes or returns it: True, False or None (not known)."""
    work, run, tuning = occurrence.work, occurrence.run, occurrence.tuning
    result, tensors = work.result, run.tensors
    if result is None:
        return False
    given = [result, *([work.operand] if work.operand is not None else [])]
    if any(isinstance(term, Term) and term.op in ("config", "field", "element") for value in given for term in subterms(value)):
        return False
    if tuning is None:
        return None
    if tuning.output is not None and any(tensors.shares_memory(part, result) for part in subterms(tuning.output)):
        return False
    operands = [given[-1]] if len(given) > 1 and tensors.is_tensor(given[-1]) else []
    for tensor in [result, *operands]:
        if any(
            other.event is not work.event
            and _writes(other.name)
            and other.operand is not None
            and tensors.shares_memory(other.operand, tensor)
            for other in tensors.works(timed=True)
            if other.event.timed == tuning.number
        ):
            return False
    answer: bool | None = True
    for tensor in [result, *operands]:
        for launch, use in use_in_trial(unit, occurrence, tensor):
            if use.writes is True:
                return False
            if use.writes is None or unit.effects.written_slots(launch) == []:  # a launch without any output was not understood
                answer = None
    if any(isinstance(term, Term) and term.op == "global" for value in given for term in subterms(value)):
        return None
    return answer


def _settled(unit: KernelUnit, site: Site, found: TimedWork, call: syntax.Call) -> bool:
    """Nothing between the new place and the search writes what the call reads: its tensor, items and attributes of objects."""
    first = found.first
    if first.tuning is None:
        return True
    read = [node for node in call.walk() if isinstance(node, (syntax.Attr, syntax.Index)) and node is not call.func]
    through_objects = any(isinstance(node, syntax.Index) or node.name not in METADATA for node in read)
    operand, tensors = first.work.operand, first.run.tensors
    launches = {id(launch.event): launch for launch in first.run.launches if not launch.timed}
    for event in first.run.trace.events[: first.tuning.event.order]:
        here = any(
            stop.frame.function is site.owner and stop.statement is not None and stop.statement.span.start >= site.anchor.span.end
            for stop in event.stack
        )
        if not here:
            continue
        if through_objects and (event.kind in ("setattr", "setitem", "global", "delete") or event.name in _CHANGES):
            return False
        work = tensors.work(event) if operand is not None else None
        if work is not None and work.operand is not None and _writes(work.name) and tensors.shares_memory(work.operand, operand):
            return False
        launch = launches.get(id(event))
        if launch is not None and operand is not None and (use := unit.tensor_use(launch, operand)) is not None:
            if use.writes is not False:
                return False
    return True


def _writes(name: str) -> bool:
    return (
        name.removesuffix("()").endswith("_")
        or name == "item assignment"
        or (name.endswith("=") and name not in ("==", "<=", ">=", "!="))
    )


# ── rewriting ──────────────────────────────────────────────────────────────


def _moved_statement(site: Site, call: syntax.Call) -> tuple[tuple[Edit, ...], bool] | None:
    """``name = <call>`` moves as a whole when the name is nobody else's."""
    from cutile_lint.frontends.python.rewrite import move_before

    statement = site.statement
    if not isinstance(statement, syntax.Assign) or statement.op or len(statement.targets) != 1 or statement.value is None:
        return None
    target = statement.targets[0]
    if not isinstance(target, syntax.Name) or not _is_view_of(statement.value, call) or not _all_free(site, statement.value):
        return None
    if len(bindings(site.function, target.id)) != 1 or occurs(site.owner, target.id, outside=site.function):
        return None
    if any(isinstance(node, syntax.Scope) and target.id in node.names for node in site.owner.walk()):
        return None
    rewrite = move_before(site.module, statement, site.anchor)
    if rewrite is None:
        return None
    return tuple(_with_blank_line(site, item) for item in rewrite.edits), rewrite.drops_comment


def _with_blank_line(site: Site, item: Edit) -> Edit:
    """A blank line behind what is put before a ``def``."""
    if isinstance(site.anchor, syntax.FunctionDef) and item.start == item.end and item.content.endswith(("\n", "\r")):
        return Edit(item.source, item.start, item.end, item.content + site.module.source.newline)
    return item


def _is_view_of(value: syntax.Expr, call: syntax.Call) -> bool:
    """The expression is the call, or views of it."""
    while value is not call:
        if isinstance(value, syntax.Call) and isinstance(value.func, syntax.Attr) and value.func.name in _VIEWS:
            value = value.func.base
        elif isinstance(value, syntax.Attr) and value.name in ("T", "mT", "data"):
            value = value.base
        else:
            return False
    return True


def _all_free(site: Site, value: syntax.Expr) -> bool:
    return all(free_of_locals(site, node) for node in value.walk() if isinstance(node, syntax.Call))


def _named_before(site: Site, call: syntax.Call) -> tuple[tuple[Edit, ...], bool] | None:
    """A new local with a name made of the tensor's, in place of the expression."""
    from cutile_lint.frontends.python.rewrite import insert_before, replace_expression

    name = _new_name(site, call)
    text = Place(site.module.source, call.span).text
    if name is None or "\n" in text or "\r" in text or _is_conditional(site.statement, call):
        return None
    lines = [f"{name} = {text}"] + ([""] if isinstance(site.anchor, syntax.FunctionDef) else [])
    insertion = insert_before(site.module, site.anchor, lines)
    if insertion is None:
        return None
    replacement = replace_expression(site.module, call, name)
    return (*insertion.edits, *replacement.edits), insertion.drops_comment or replacement.drops_comment


def _new_name(site: Site, call: syntax.Call) -> str | None:
    if not isinstance(call.func, syntax.Attr):
        return None
    base = call.func.base
    while isinstance(base, syntax.Call) and isinstance(base.func, syntax.Attr):
        base = base.func.base
    stem = base.id if isinstance(base, syntax.Name) else base.name if isinstance(base, syntax.Attr) else ""
    if not stem or stem in ("torch",):
        return None
    name = f"{stem}_{call.func.name.strip('_')}"
    return None if site.module.source.has(name.encode()) else name


def _is_conditional(statement: syntax.Stmt, call: syntax.Call) -> bool:
    """The call is not evaluated exactly once with its statement."""
    return any(isinstance(node, _CONDITIONAL) and node.span.covers(call.span) for node in statement.walk())
