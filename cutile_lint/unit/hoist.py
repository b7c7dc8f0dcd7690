"""Moving work that is the same for every config out of ``kernel_fn``: the conditions, and the rewrite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.frontends.python.layout import block_of
from cutile_lint.sources import Place
from cutile_lint.unit.callers import everywhere, only_used_here
from cutile_lint.unit.machine.values import Term, subterms
from cutile_lint.unit.python_names import bindings, occurs, own_bindings
from cutile_lint.unit.region import Occurrence, TimedWork, use_in_trial
from cutile_lint.unit.torch_api import names

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: Copies that are made whatever the tensor is: on the per-call path each of them is a fault of its own (CTL111).
_CERTAIN_COPIES = names("""
    clone repeat tile cat concat concatenate stack hstack vstack dstack column_stack row_stack repeat_interleave flip
    fliplr flipud roll rot90 block_diag copy_ index_copy_ masked_scatter_
""")
#: Fills that are another value each time, or that write a tensor which is there already.
_OWN_FILLS = ("rand", "normal", "bernoulli")
#: nodes whose parts are not evaluated exactly once
_CONDITIONAL = (syntax.Cond, syntax.Logic, syntax.Lambda, syntax.Comprehension, syntax.Yield, syntax.Walrus, syntax.PatternTest)
_VIEWS = names("view t transpose unsqueeze squeeze detach permute expand view_as flatten reshape")


@dataclass(frozen=True, slots=True)
class _Site:
    """Where the work stands: the function that runs it, that function's owner, and the owner's statement to put it before."""

    module: syntax.Module
    function: syntax.Function
    owner: syntax.Function
    anchor: syntax.Stmt
    statement: syntax.Stmt


def hoist(unit: KernelUnit, found: TimedWork) -> Fix | None:
    """Move the work before the function that it stands in; None where that would change what is computed, or only move the cost."""
    call = found.call
    if call is None or not _may_move(found):
        return None
    answers = [_unchanged(other, occurrence) for other, occurrence in everywhere(unit, found)]
    if False in answers:
        return None
    site = _site(unit, found)
    if site is None or not _free_of_locals(site, call):
        return None
    edits = _moved_statement(site, call)
    if edits is None:
        edits = _named_before(site, call)
    if edits is None:
        return None
    changes, drops = edits
    exits = _exits_before(site, found)
    if any(_mention(statement, call) for statement in exits):
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
        return last not in _CERTAIN_COPIES and not (arguments is not None and "copy" in arguments.keywords)
    return not last.startswith(_OWN_FILLS) and not last.endswith("_")


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
        for _, use in use_in_trial(unit, occurrence, tensor):
            if use.writes is True:
                return False
            if use.writes is None:
                answer = None
    if any(isinstance(term, Term) and term.op == "global" for value in given for term in subterms(value)):
        return None
    return answer


def _writes(name: str) -> bool:
    return (
        name.removesuffix("()").endswith("_")
        or name == "item assignment"
        or (name.endswith("=") and name not in ("==", "<=", ">=", "!="))
    )


# ── conditions on names ────────────────────────────────────────────────────


def _site(unit: KernelUnit, found: TimedWork) -> _Site | None:
    """The function with the work is nested in a function outside of the timed region, and the work is reached once in each run of it."""
    inside = found.first.inside
    if not inside or inside[-1].frame.function is None:
        return None
    stop = inside[-1]
    function, statement = stop.frame.function, stop.statement
    module = unit.program.module(found.place.source.path)
    if module is None or function is None or statement is None or function.is_generator or function.is_async:
        return None
    owner = _owner(module, function)
    timed = {id(other.frame.function) for occurrence in found.occurrences for other in occurrence.inside}
    if owner is None or id(owner) in timed or not any(item is statement for item in function.body):
        return None
    if not isinstance(statement, (syntax.Assign, syntax.ExprStmt, syntax.Return)):
        return None
    anchor = _statement_of(owner, function)
    return _Site(module, function, owner, anchor, statement) if anchor is not None else None


def _exits_before(site: _Site, found: TimedWork) -> list[syntax.Stmt]:
    """The statements that may keep a run from coming to the work though it comes to the new place."""
    before = site.function.body[: next(at for at, item in enumerate(site.function.body) if item is site.statement)]
    tuning = found.first.tuning
    stops = [
        stop
        for stop in (tuning.event.stack if tuning is not None else ())
        if stop.frame.function is site.owner and stop.statement is not None
    ]
    block = block_of(site.module, site.anchor)
    if not stops or block is None:
        return [site.anchor]  # made by a factory, or run somewhere else: not known
    tuned = stops[-1].statement
    between: list[syntax.Stmt] = []
    for item in block.body[block.index :]:
        if tuned is not None and item.span.covers(tuned.span):
            while item is not tuned and isinstance(item, (syntax.With, syntax.Try)) and tuned is not None:
                inner = next((part for part in item.body if part.span.covers(tuned.span)), None)
                if inner is None:
                    break
                item = inner
            return [*_leaving(before), *_leaving(between), *([item] if item is not tuned else [])]
        if item is not site.anchor:
            between.append(item)
    return [site.anchor]


def _leaving(statements: list[syntax.Stmt]) -> list[syntax.Stmt]:
    """Those with a ``return``, ``raise`` or ``assert`` (inner functions aside)."""
    return [
        item
        for item in statements
        if any(isinstance(node, (syntax.Return, syntax.Raise, syntax.Assert)) for node in _own_nodes(item))
    ]


def _own_nodes(statement: syntax.Stmt) -> Iterator[syntax.Node]:
    if isinstance(statement, (syntax.FunctionDef, syntax.ClassDef)):
        return
    stack: list[syntax.Node] = [statement]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for child in node.children() if not isinstance(child, (syntax.Function, syntax.Lambda))]


def _mention(statement: syntax.Stmt, call: syntax.Call) -> bool:
    """A guard names what the call uses (``if bias is None: return``): the call may not be possible without it."""
    wanted = {node.id for node in call.walk() if isinstance(node, syntax.Name)} - {"torch"}
    tests = [node.test for node in _own_nodes(statement) if isinstance(node, (syntax.If, syntax.Assert))]
    return any(isinstance(node, syntax.Name) and node.id in wanted for test in tests for node in test.walk())


def _owner(module: syntax.Module, function: syntax.Function) -> syntax.Function | None:
    around = [other for other in module.functions() if other is not function and other.span.covers(function.span)]
    return min(around, key=lambda other: other.span.end - other.span.start, default=None)


def _statement_of(owner: syntax.Function, function: syntax.Function) -> syntax.Stmt | None:
    """The innermost statement of ``owner`` around the definition of ``function``."""
    found: syntax.Stmt | None = None
    for node in owner.walk():
        if (
            isinstance(node, syntax.Stmt)
            and node.span.covers(function.span)
            and not any(part is node for part in function.walk())
        ):
            found = node
    return found


def _free_of_locals(site: _Site, call: syntax.Call) -> bool:
    """All names in the call mean at the new place what they mean at the old one."""
    if any(isinstance(node, (syntax.Lambda, syntax.Comprehension, syntax.Yield, syntax.Walrus)) for node in call.walk()):
        return False
    names = {node.id for node in call.walk() if isinstance(node, syntax.Name)}
    own = {name for _, name in own_bindings(site.function)}
    if names & own:
        return False
    for node, name in own_bindings(site.owner):
        if name in names and node.span.end > site.anchor.span.start and not isinstance(node, syntax.Param):
            if not node.span.covers(site.anchor.span) or not isinstance(node, (syntax.FunctionDef, syntax.For, syntax.With)):
                return False
    return not any(isinstance(node, syntax.Scope) and set(node.names) & names for node in site.owner.walk())


# ── rewriting ──────────────────────────────────────────────────────────────


def _moved_statement(site: _Site, call: syntax.Call) -> tuple[tuple[Edit, ...], bool] | None:
    """``name = <call>`` moves as a whole when the name is nobody else's."""
    from cutile_lint.frontends.python.rewrite import move_before

    statement = site.statement
    if not isinstance(statement, syntax.Assign) or statement.op or len(statement.targets) != 1 or statement.value is None:
        return None
    target = statement.targets[0]
    if (
        not isinstance(target, syntax.Name)
        or not _is_view_of(statement.value, call)
        or not _free_of_locals_in(site, statement.value)
    ):
        return None
    if len(bindings(site.function, target.id)) != 1 or occurs(site.owner, target.id, outside=site.function):
        return None
    if any(isinstance(node, syntax.Scope) and target.id in node.names for node in site.owner.walk()):
        return None
    rewrite = move_before(site.module, statement, site.anchor)
    if rewrite is None:
        return None
    return tuple(_with_blank_line(site, item) for item in rewrite.edits), rewrite.drops_comment


def _with_blank_line(site: _Site, item: Edit) -> Edit:
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


def _free_of_locals_in(site: _Site, value: syntax.Expr) -> bool:
    return all(_free_of_locals(site, node) for node in value.walk() if isinstance(node, syntax.Call))


def _named_before(site: _Site, call: syntax.Call) -> tuple[tuple[Edit, ...], bool] | None:
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


def _new_name(site: _Site, call: syntax.Call) -> str | None:
    if not isinstance(call.func, syntax.Attr):
        return None
    base = call.func.base
    while isinstance(base, syntax.Call) and isinstance(base.func, syntax.Attr):
        base = base.func.base
    stem = base.id if isinstance(base, syntax.Name) else base.name if isinstance(base, syntax.Attr) else ""
    if not stem or stem in ("torch",):
        return None
    name = f"{stem}_{call.func.name.strip('_')}"
    return None if name.encode() in site.module.source.data else name


def _is_conditional(statement: syntax.Stmt, call: syntax.Call) -> bool:
    """The call is not evaluated exactly once with its statement."""
    return any(isinstance(node, _CONDITIONAL) and node.span.covers(call.span) for node in statement.walk())


def drop_call(unit: KernelUnit, found: TimedWork) -> Fix | None:
    """``x.contiguous()`` of a tensor that is contiguous is ``x``."""
    from cutile_lint.frontends.python.rewrite import replace_expression

    call = found.call
    module = unit.program.module(found.place.source.path)
    if (
        call is None
        or module is None
        or not isinstance(call.func, syntax.Attr)
        or call.args
        or found.work.name != ".contiguous()"
    ):
        return None
    for _, occurrence in everywhere(unit, found):
        operand = occurrence.work.operand
        if operand is None or occurrence.run.tensors.contiguous(operand) is not True:
            return None
    if not only_used_here(unit, module, found):
        return None
    text = Place(module.source, call.func.base.span).text
    rewrite = replace_expression(module, call, text)
    return Fix(
        "drop the copy: the tensor is contiguous already",
        rewrite.edits,
        Applicability.UNSAFE if rewrite.drops_comment else Applicability.SAFE,
    )


def is_contiguous(found: TimedWork) -> bool:
    """A ``.contiguous()`` that is known to copy nothing."""
    return found.work.name == ".contiguous()" and all(
        occurrence.run.tensors.contiguous(occurrence.work.operand) is True for occurrence in found.occurrences
    )


def protects(unit: KernelUnit, found: TimedWork) -> bool:
    """The copy is what the kernel mutates, so that the original stays as it is for the next trial."""
    last = found.work.name.removesuffix("()").rsplit(".", 1)[-1]
    return last in ("clone", "copy_") and all(_mutated(unit, occurrence) for occurrence in found.occurrences)


def _mutated(unit: KernelUnit, occurrence: Occurrence) -> bool:
    result, tensors = occurrence.work.result, occurrence.run.tensors
    uses = [use for _, use in use_in_trial(unit, occurrence, result)]
    if any(use.writes is True and use.reads is not False for use in uses):
        return True
    output = occurrence.tuning.output if occurrence.tuning is not None else None
    returned = output is not None and any(tensors.shares_memory(part, result) for part in subterms(output))
    return returned and bool(uses) and all(use.writes is None for use in uses)
