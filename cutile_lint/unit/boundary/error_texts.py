"""Texts that tell errors apart, against what the same package raises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.records import dataclass
from cutile_lint.regex import regex
from cutile_lint.sources import Place
from cutile_lint.unit.linking.runtime_files import runtime_files

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit

#: parts of messages of CUDA, PyTorch and operating systems
_FOREIGN = regex(
    r"illegal|memory|misaligned|launch fail|launch out|resources|kernel image|unspecified|assert|cuda|cublas|cudnn|cupti|ptx|nvrtc|nccl|driver|"
    r"device-side|shared|registers|invalid (argument|value|device|configuration)|no such file|permission|timed? ?out|not implemented|triton|tile ?ir|"
    r"mlir|llvm|compil|parse|capture|stream|context|initializ|peer|ecc|hardware|oom",
    re.IGNORECASE,
)
_SPOKEN = regex(r"code|\brc\b|status|return|fail|unsupported|dtype|null|argument|invalid|cutile", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StaleText:
    """``text`` is looked for in messages at ``place``; ``raised`` is where the package raises one of the kind."""

    place: Place
    text: str
    raised: Place
    statement: Place | None


def stale_texts(unit: KernelUnit) -> Iterator[StaleText]:
    folders = {path.parent: None for path in runtime_files(unit, "check-rc", "autotune-launch")}
    for folder in folders:  # a runtime is shared by all ops of a run

        def found(folder: Path = folder) -> list[StaleText]:
            return list(_in_package(list(_modules(unit, folder))))

        yield from unit.program.once((stale_texts, folder), found)
    yield from _in_package([module for module in unit.python_modules if module.source.path.parent not in folders])


def _modules(unit: KernelUnit, folder: Path) -> Iterator[syntax.Module]:
    for path in unit.program.workspace.entries(folder):
        if path.suffix == ".py" and (module := unit.program.module(path)) is not None:
            yield module


def _in_package(modules: list[syntax.Module]) -> Iterator[StaleText]:
    tests = [(module, *found) for module in modules for found in _tests(module)]
    if not tests:
        return
    raised = [(module, *found) for module in modules for found in _raised(module)]
    produced = " \n ".join(text for _, _, text in raised).lower()
    for module, node, statement, text in tests:
        if _FOREIGN.search(text) or not _SPOKEN.search(text) or text.lower() in produced:
            continue
        like = next((one for one in raised if _is_of_the_kind(text, one[2])), None)
        if like is not None:
            yield StaleText(
                Place(module.source, node.span), text, Place(like[0].source, like[1].span), Place(module.source, statement.span)
            )


def _is_of_the_kind(text: str, message: str) -> bool:
    """A message of a failed launch: it tells a return code or says that something failed."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    said = set(re.findall(r"[a-z]+", message.lower()))
    if words & {"code", "rc", "status", "return"}:
        return bool(said & {"rc", "code", "status", "return"})
    return bool(words & said - {"the", "a", "of", "is", "not", "for", "with"})


def _tests(module: syntax.Module) -> Iterator[tuple[syntax.Expr, syntax.Stmt, str]]:
    """Constants looked for in the text of a caught exception: ``"…" in str(e)``, ``str(e).startswith("…")``, with names between."""
    if not module.source.has(b"except"):
        return
    for node in module.nodes(syntax.Handler):
        if not node.name:
            continue
        texts = {node.name}
        for statement in node.body:
            for inner in statement.walk():
                if isinstance(inner, syntax.Assign) and inner.value is not None and _mentions(inner.value, texts):
                    texts |= {target.id for target in inner.targets if isinstance(target, syntax.Name)}
        for statement in node.body:
            for inner in statement.walk():
                if isinstance(inner, syntax.Compare) and inner.op in ("in", "not in") and _mentions(inner.right, texts):
                    yield from ((one, statement, str(one.value)) for one in _constants(inner.left))
                elif (
                    isinstance(inner, syntax.Call)
                    and isinstance(inner.func, syntax.Attr)
                    and inner.func.name in ("startswith", "endswith", "find", "count")
                    and _mentions(inner.func.base, texts)
                ):
                    yield from ((one, statement, str(one.value)) for arg in inner.args for one in _constants(arg.value))
                elif isinstance(inner, syntax.Comprehension) and any(_mentions(part, texts) for part in [inner.element]):
                    for clause in inner.clauses:
                        items = clause.iter.items if isinstance(clause.iter, syntax.Sequence) else []
                        yield from ((one, statement, str(one.value)) for item in items for one in _constants(item))


def _constants(node: syntax.Expr) -> list[syntax.Const]:
    return [node] if isinstance(node, syntax.Const) and isinstance(node.value, str) and len(node.value) > 2 else []


def _mentions(node: syntax.Node, names: set[str]) -> bool:
    return any(isinstance(part, syntax.Name) and part.id in names for part in node.walk())


def _raised(module: syntax.Module) -> Iterator[tuple[syntax.Stmt, str]]:
    """The texts that go into exceptions, with those of the constants and dicts of the module that messages are made of."""
    constants = {
        target.id: " ".join(
            str(part.value) for part in node.value.walk() if isinstance(part, syntax.Const) and isinstance(part.value, str)
        )
        for node in module.body
        if isinstance(node, syntax.Assign) and node.value is not None
        for target in node.targets
        if isinstance(target, syntax.Name)
    }
    for function in module.functions():
        locals_made = {
            target.id: node.value
            for node in function.walk()
            if isinstance(node, syntax.Assign) and node.value is not None
            for target in node.targets
            if isinstance(target, syntax.Name)
        }
        for node in function.walk():
            if isinstance(node, syntax.Raise) and node.value is not None:
                yield node, _text(node.value, constants, locals_made, 3)


def _text(node: syntax.Node, constants: dict[str, str], made: dict[str, syntax.Expr], depth: int) -> str:
    parts = []
    for part in node.walk():
        if isinstance(part, syntax.Const) and isinstance(part.value, str):
            parts.append(part.value)
        elif isinstance(part, syntax.Name) and depth:
            if part.id in made:
                parts.append(_text(made[part.id], constants, made, depth - 1))
            elif part.id in constants:
                parts.append(constants[part.id])
    return " ".join(parts)
