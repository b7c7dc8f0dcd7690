"""Fixes that detach inputs: in place of a refusal, or before the first use."""

from __future__ import annotations

from cutile_lint.findings import Applicability, Edit, Fix
from cutile_lint.frontends import syntax
from cutile_lint.frontends.python import rewrite
from cutile_lint.unit.autograd.inputs import Refusal, parameter
from cutile_lint.unit.linking.program import Program
from cutile_lint.unit.machine.values import Term, Value
from cutile_lint.unit.runs import Run


def detach_lines(param: syntax.Param, guard: str = "") -> list[str]:
    """``if x.requires_grad: x = x.detach()`` as lines; a parameter that may be None is guarded."""
    name = param.name
    test = f"{name}.requires_grad"
    if guard == "isinstance":
        test = f"isinstance({name}, torch.Tensor) and {test}"
    elif may_be_none(param):
        test = f"{name} is not None and {test}"
    return [f"if {test}:", f"    {name} = {name}.detach()"]


def may_be_none(param: syntax.Param) -> bool:
    default = param.default
    return (
        (isinstance(default, syntax.Const) and default.value is None)
        or "None" in param.annotation
        or "Optional" in param.annotation
    )


def replace_refusal(run: Run, refusal: Refusal, program: Program) -> Fix | None:
    """Detach the tested inputs where they were refused; None when that takes a person."""
    params = [parameter(run, tensor) for tensor in refusal.tensors if isinstance(tensor, Term)]
    module = program.module(run.source.path)
    if module is None or not params or any(param is None or param.kind in ("*", "**") for param in params):
        return None
    target = _statement_to_replace(run, refusal)
    if target is None:
        return None
    guards = dict.fromkeys(_type_checked(refusal), "isinstance") if _imports_torch(module) else {}
    lines = [line for param in params if param is not None for line in detach_lines(param, guards.get(param.name, ""))]
    certain = not refusal.mixed and not _rebound(run, {param.name for param in params if param is not None}, target)
    return _replace(module, target, lines, certain)


def _statement_to_replace(run: Run, refusal: Refusal) -> syntax.Stmt | None:
    """The op's own statement that does nothing but refuse: the ``if`` around the raise, the assert, or the call of a helper that checks."""
    if refusal.mixed:
        return None
    stack = refusal.event.stack if refusal.event is not None else ()
    at = next((at for at, stop in enumerate(stack) if stop.frame.function is run.function), len(stack))  # below decorators
    if at + 1 < len(stack):
        own = stack[at].statement
        if (
            isinstance(own, syntax.ExprStmt)
            and isinstance(own.value, syntax.Call)
            and _only_refuses(stack[at + 1].frame.function)
        ):
            return own
    elif isinstance(refusal.node, (syntax.Assert, syntax.ExprStmt)):
        return refusal.node if _stands_in(run.function, refusal.node) else None
    return refusal.test if _stands_in(run.function, refusal.test) and _is_plain(refusal.test) else None


def _stands_in(function: syntax.Function, statement: syntax.Stmt | None) -> bool:
    return statement is not None and function.span.covers(statement.span)


def _is_plain(statement: syntax.Stmt | None) -> bool:
    """An ``if`` without else whose body only raises (a call that reports the problem may stand before)."""
    return (
        isinstance(statement, syntax.If)
        and not statement.orelse
        and all(
            isinstance(part, (syntax.Raise, syntax.ExprStmt, syntax.Return, syntax.Pass)) or _is_text(part)
            for part in statement.body
        )
    )


def _is_text(statement: syntax.Stmt) -> bool:
    """``message = "…"`` in front of the raise."""
    return isinstance(statement, syntax.Assign) and isinstance(statement.value, (syntax.Const, syntax.Format))


def _only_refuses(function: syntax.Function | None) -> bool:
    """Every statement of a helper is part of the refusal."""
    return (
        function is not None
        and all(
            isinstance(part, (syntax.If, syntax.For, syntax.Assert, syntax.Pass))
            or (isinstance(part, syntax.ExprStmt) and isinstance(part.value, syntax.Const))
            for part in function.body
        )
        and not any(isinstance(node, syntax.Raise) and not _is_grad_raise(function, node) for node in function.walk())
    )


def _is_grad_raise(function: syntax.Function, node: syntax.Raise) -> bool:
    return any(
        isinstance(around, syntax.If)
        and around.span.covers(node.span)
        and any(isinstance(part, syntax.Attr) and part.name == "requires_grad" for part in around.test.walk())
        for around in function.walk()
    )


def _type_checked(refusal: Refusal) -> set[str]:
    """Names of inputs that the refusal checks with ``isinstance`` first."""
    found = set()
    for literal in refusal.path:
        test = literal.test
        for part in [test, *(test.args if isinstance(test, Term) else ())]:
            if isinstance(part, Term) and part.op == "call" and part.name == "isinstance" and isinstance(part.args[0], Term):
                found.add(part.args[0].name)
    return found


def _imports_torch(module: syntax.Module) -> bool:
    return any(node.alias == "torch" for node in module.nodes(syntax.ImportName))


def _rebound(run: Run, names: set[str], before: syntax.Stmt) -> bool:
    """One of the names gets another tensor before the statement (``x = x.contiguous()`` is still ``x``)."""
    for node in run.function.walk():
        if not isinstance(node, syntax.Assign) or node.value is None or node.span.start >= before.span.start:
            continue
        mentioned = {part.id for part in node.value.walk() if isinstance(part, syntax.Name)}
        bound = {
            part.id
            for target in node.targets
            if not isinstance(target, syntax.Attr)
            for part in target.walk()
            if isinstance(part, syntax.Name)
        }
        if any(name not in mentioned for name in bound & names):
            return True
    return False


def _replace(module: syntax.Module, target: syntax.Stmt, lines: list[str], certain: bool) -> Fix | None:
    source = module.source
    indent = rewrite.indentation(source, target.span.start)
    if indent is None or rewrite.is_elif(source, target):
        return None
    text = (source.newline + indent).join(rewrite.with_tabs(lines, indent))
    drops = rewrite.has_comment(source, target.span.start, target.span.end)
    safe = certain and not drops
    edit = Edit(source, target.span.start, target.span.end, text)
    return Fix("detach the inputs instead", (edit,), Applicability.SAFE if safe else Applicability.UNSAFE)


def insert_detach(run: Run, param: syntax.Param, program: Program) -> Fix | None:
    """Detach an input behind the last of its like, or at the start of the op."""
    module = program.module(run.source.path)
    if module is None or param.kind in ("*", "**") or not run.function.body:
        return None
    after = _last_detach(run.function)
    lines = detach_lines(param)
    found = (
        rewrite.insert_after(module, after, lines) if after is not None else rewrite.insert_at_start(module, run.function, lines)
    )
    if found is None or (after is not None and _used_before(run.function, param.name, after)):
        found = rewrite.insert_at_start(module, run.function, lines)
    if found is None:
        return None
    return Fix(f"detach `{param.name}`", found.edits, Applicability.UNSAFE if found.drops_comment else Applicability.SAFE)


def _last_detach(function: syntax.Function) -> syntax.Stmt | None:
    """The last ``if x.requires_grad: …`` of the op's own body."""
    found = None
    for statement in function.body:
        if isinstance(statement, syntax.If) and any(
            isinstance(part, syntax.Attr) and part.name == "requires_grad" for part in statement.test.walk()
        ):
            found = statement
    return found


def _used_before(function: syntax.Function, name: str, statement: syntax.Stmt) -> bool:
    """A value is derived from the name before the statement."""
    return any(
        isinstance(part, syntax.Assign)
        and part.span.start < statement.span.start
        and part.value is not None
        and any(isinstance(inner, syntax.Name) and inner.id == name for inner in part.value.walk())
        for part in function.body
    )


def input_names(values: tuple[Value, ...] | list[Value]) -> list[str]:
    return list(dict.fromkeys(value.name for value in values if isinstance(value, Term)))
