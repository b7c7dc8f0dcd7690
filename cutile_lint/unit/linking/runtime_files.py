"""The project's own files of the runtime, as far as the modules of an op import them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutile_lint.frontends import syntax
from cutile_lint.unit.linking.program import Program, has_def

if TYPE_CHECKING:
    from cutile_lint.unit.model import KernelUnit


def runtime_files(unit: KernelUnit, *roles: str) -> list[Path]:
    """Files that the op's modules import functions of these roles from, by name or as modules."""
    return list(dict.fromkeys(path for module in unit.python_modules for path in _imported(unit, module, roles)))


def _imported(unit: KernelUnit, module: syntax.Module, roles: tuple[str, ...]) -> Iterator[Path]:
    program, importer = unit.program, module.source.path
    for node in module.nodes(syntax.Import):
        for name in node.names:
            if name.name is not None and program.role(name.name) in roles:
                path = program.resolve(importer, name.module, node.level)
                if path is not None:
                    yield path
                continue
            whole = name.module if name.name is None else f"{name.module}.{name.name}"
            path = program.resolve(importer, whole, node.level)
            if path is not None and path != importer and _defines(program, path, roles):
                yield path


def _defines(program: Program, path: Path, roles: tuple[str, ...]) -> bool:
    def found() -> bool:
        source = program.workspace.source(path)
        names = [name for role in roles for name in program.names_of(role)]
        return source is not None and has_def(names, source.data)

    return program.once((_defines, path, roles), found)
